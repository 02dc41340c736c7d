"""What plugins print is caught, thread by thread: nobody else's words are taken for theirs.

Only Python's own streams are looked at. What compiled code writes to the descriptors of standard
output is the business of whoever owns the process (the command line sends it to stderr).
"""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

_MOST: Final = 2000  # characters kept of what was printed

_here = threading.local()  # .printed: where the words of this thread go now
_lock = threading.Lock()
_open: set[int] = set()  # what is being caught now, in all threads


class Printed:
    """What one thread printed, as far as it is worth keeping.

    >>> with caught() as printed:
    ...     print("hello")
    >>> printed.text
    'hello'
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._kept = 0

    def add(self, text: str) -> None:
        """Keep some more of it."""
        if self._kept < _MOST:
            self._parts.append(text[: _MOST - self._kept])
            self._kept += len(text)

    @property
    def text(self) -> str:
        """All of it in one line."""
        return " ".join("".join(self._parts).split())


@contextmanager
def caught(
    *, restore: bool = False, names: tuple[str, ...] = ("stdout", "stderr")
) -> Iterator[Printed]:
    """Catch what this thread prints; ``restore`` also undoes that the streams were replaced."""
    printed = Printed()
    before = getattr(_here, "printed", None)
    with _lock:
        _open.add(id(printed))
        streams = {name: getattr(sys, name) for name in names}
        for name, stream in streams.items():
            if not isinstance(stream, _Routed):
                setattr(sys, name, _Routed(stream))
    _here.printed = printed
    try:
        yield printed
    finally:
        _here.printed = before
        with _lock:
            _open.discard(id(printed))
            for name, stream in streams.items():
                _put_back(name, stream, restore)


def _put_back(name: str, before: Any, restore: bool) -> None:
    """Give a stream back its place, unless somebody put another one there or still listens."""
    now = getattr(sys, name)
    if restore and not isinstance(now, _Routed):
        setattr(sys, name, before)
        now = before
    if isinstance(now, _Routed) and not _open:
        setattr(sys, name, now.behind)


class _Routed:
    """A stream that keeps aside what is printed by threads whose words are caught."""

    def __init__(self, behind: Any) -> None:
        self.behind = behind

    def write(self, text: str) -> int:
        printed = getattr(_here, "printed", None)
        if printed is not None:
            printed.add(str(text))
        elif self.behind is not None:
            self.behind.write(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        if getattr(_here, "printed", None) is None and self.behind is not None:
            self.behind.flush()

    @property
    def buffer(self) -> Any:
        printed = getattr(_here, "printed", None)
        return self.behind.buffer if printed is None else _Bytes(printed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


class _Bytes(io.RawIOBase):
    """The bytes below a stream whose words are caught."""

    def __init__(self, printed: Printed) -> None:
        super().__init__()
        self._printed = printed

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        chunk = bytes(data)
        self._printed.add(chunk.decode("utf-8", "replace"))
        return len(chunk)
