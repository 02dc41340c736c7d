"""Where bytes come from: a file, which can be opened again, or a pipe, which gives them once.

Realises DATA-SOURCE of chapter 09. Whoever looks at the beginning of a pipe, a device or standard
input, and whoever reads it then, gets the same bytes from the first one on: what was taken is kept
and put in front again. So no guess about a format costs a row.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import IO, Final

from refclust.data.files import packing as packings
from refclust.data.files.packing import Packing
from refclust.errors import BadOption, FileNotReadable
from refclust.escape import for_terminal
from refclust.limits import beyond, limit

STDIN: Final = "-"
_IN_MEMORY: Final = 1 << 26  # what is kept beyond this goes to an unnamed temporary file
_CHUNK: Final = 1 << 20
_DESCRIPTOR: Final = re.compile(r"/(?:dev|proc/self)/fd/([0-9]{1,9})")
_Key = tuple[int, int] | int


def display_name(path: str) -> str:
    """Return what messages call a file.

    >>> display_name("-"), display_name("a.csv")
    ('standard input', 'a.csv')
    """
    return "standard input" if path == STDIN else for_terminal(path)


def comes_once(path: str) -> bool:
    """Tell whether a source gives its bytes only once: standard input, a pipe, a device.

    >>> comes_once("-"), comes_once(os.curdir), comes_once("no such file")
    (True, False, False)
    """
    if path == STDIN:
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False  # opening it will tell
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def opened(path: str, *, seekable: bool = False) -> AbstractContextManager[IO[bytes]]:
    """Open a source at its first byte, however much of it was looked at before.

    Spec: DATA-SOURCE
    """
    if not comes_once(path):
        return open(path, "rb")
    return _pipe(path).view(seekable=seekable)


@contextmanager
def unpacked(path: str) -> Iterator[IO[bytes]]:
    """Open a source at its first byte, without its packing.

    Spec: DATA-SOURCE
    """
    packing = packing_of(path)
    with opened(path) as stream:
        if packing is None:
            yield stream
            return
        with packings.opened(stream, packing) as content:
            yield io.BufferedReader(_Bounded(content, display_name(path)), _CHUNK)


def packing_of(path: str) -> Packing | None:
    """Tell what is unpacked: by the ending of the name; a pipe has none, so by its bytes.

    Spec: DATA-SOURCE
    """
    packing = packings.by_ending(path)
    if packing is not None or not comes_once(path):
        return packing
    with opened(path) as stream:
        return packings.by_magic(stream.read(packings.MAGIC))


def is_packed(path: str) -> bool:
    """Tell whether a source is unpacked when it is read.

    >>> is_packed("a.csv.GZ"), is_packed("a.csv")
    (True, False)
    """
    return packing_of(path) is not None


def size_of(path: str) -> int | None:
    """Return how many bytes a file holds; None if only reading can tell.

    Spec: none (asks about a file)
    """
    return None if comes_once(path) else os.path.getsize(path)


@contextmanager
def keeping(path: str, *, afterwards: bool = False) -> Iterator[None]:
    """Keep all that comes from a source, so that it can be read several times meanwhile.

    Spec: DATA-SOURCE
    """
    pipe = _begun(path)
    if pipe is None:
        yield
        return
    pipe.holders += 1
    try:
        yield
    finally:
        pipe.holders -= 1
        if not afterwards:
            _drop(pipe)


def hold(path: str) -> None:
    """Keep all that comes from a source until the program ends: it will be read once more.

    Spec: DATA-SOURCE
    """
    pipe = _begun(path)
    if pipe is not None:
        pipe.holders += 1


@contextmanager
def passing(path: str) -> Iterator[None]:
    """Read a source for the last time, so that it need not be kept.

    Spec: DATA-SOURCE
    """
    pipe = _begun(path)
    if pipe is None:
        yield
        return
    pipe.last = True
    try:
        yield
    finally:
        _drop(pipe)


def finish(path: str) -> None:
    """Forget a source that was read to its end, unless it is kept."""
    pipe = _begun(path)
    if pipe is not None:
        _drop(pipe)


@contextmanager
def as_file(path: str, most: int | None = None) -> Iterator[str]:
    """Give a name that anybody can open: the path, or that of a copy while this lasts.

    ``most`` bounds the copy: so many first bytes are enough.

    Spec: DATA-SOURCE
    """
    if not comes_once(path):
        yield path
        return
    import tempfile

    ending = os.path.basename(path)[-40:].lstrip(STDIN)
    with tempfile.NamedTemporaryFile(prefix="refclust-", suffix=f"-{ending}") as copy:
        with opened(path) as stream:
            left = sys.maxsize if most is None else most
            while left and (chunk := stream.read(min(_CHUNK, left))):
                copy.write(chunk)
                left -= len(chunk)
        copy.flush()
        if most is None:
            finish(path)
        yield copy.name


def refuse_twice(paths: Iterable[str | None]) -> None:
    """Refuse to read one pipe for two things: the second would get nothing.

    Spec: DATA-SOURCE
    """
    seen: set[_Key] = set()
    for path in paths:
        if path is None or not comes_once(path):
            continue
        key = _key(path)
        if key in seen:
            source = "standard input (-)" if path == STDIN else f"{path} is no file: it"
            raise BadOption(f"{source} can be read only once")
        seen.add(key)


def forget() -> None:
    """Close all that is open and drop what is kept."""
    while _pipes:
        _pipes.popitem()[1].close()


class _Pipe:
    """A source that gives its bytes once; what was taken is kept in front of what is to come."""

    def __init__(self, stream: IO[bytes], name: str, *, ours: bool) -> None:
        import tempfile

        self._stream, self._name, self._ours = stream, name, ours
        self._kept = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 — closed by close()
        self._length = 0  # of what is kept
        self._passed = 0  # bytes that went by and were not kept
        self._ended = False
        self.holders = 0
        self.last = False

    def view(self, *, seekable: bool) -> IO[bytes]:
        """Begin once more at the first byte."""
        if self._passed:
            raise FileNotReadable(f"cannot read {self._name}: it was read already, and comes once")
        if seekable:
            self.last = False
            while self.read_at(self._length, _CHUNK):
                pass
        return io.BufferedReader(_View(self, seekable), _CHUNK)

    def read_at(self, offset: int, size: int) -> bytes:
        """Return bytes from there on, no more than ``size``, none at the end."""
        if offset < self._length:
            self._kept.seek(offset)
            return self._kept.read(min(size, self._length - offset))
        chunk = b"" if self._ended else self._stream.read(size)
        if not chunk:
            self._ended = True
            return b""
        # The beginning is kept in any case: it tells whether all this is packed.
        if self.last and not self.holders and self._length >= _CHUNK:
            self._passed += len(chunk)
        else:
            self._kept.seek(self._length)
            self._kept.write(chunk)
            self._length += len(chunk)
        if self._length + self._passed > limit("stream"):
            raise beyond("stream", f"{self._name}, which is no file, goes on")
        return chunk

    @property
    def length(self) -> int:
        """How many bytes are kept."""
        return self._length

    def close(self) -> None:
        """Close what is ours."""
        self._kept.close()
        if self._ours:
            self._stream.close()


class _View(io.RawIOBase):
    """One reading of a pipe, with a place of its own."""

    def __init__(self, pipe: _Pipe, seekable: bool) -> None:
        self._pipe, self._seekable, self._place = pipe, seekable, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._seekable

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if not self._seekable:
            raise io.UnsupportedOperation("seek")
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._pipe.length}[whence]
        if start + offset < 0:
            # As a file says it: whoever catches that of a file catches it here.
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._place = start + offset
        return self._place

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        chunk = self._pipe.read_at(self._place, len(buffer))
        buffer[: len(chunk)] = chunk
        self._place += len(chunk)
        return len(chunk)


class _Bounded(io.RawIOBase):
    """What is unpacked, up to the limit."""

    def __init__(self, content: io.RawIOBase | gzip.GzipFile, name: str) -> None:
        self._content, self._name = content, name
        self._left = limit("stream")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        chunk = self._content.read(len(buffer)) or b""
        self._left -= len(chunk)
        if self._left < 0:
            raise beyond("stream", f"{self._name}, unpacked, goes on")
        buffer[: len(chunk)] = chunk
        return len(chunk)


_pipes: Final[dict[_Key, _Pipe]] = {}


def _pipe(path: str) -> _Pipe:
    key = _key(path)
    if key not in _pipes:
        _pipes[key] = _Pipe(_raw(path), display_name(path), ours=path != STDIN)
    return _pipes[key]


def _begun(path: str) -> _Pipe | None:
    """The pipe of that name; nothing for a file, and for what cannot be opened: reading tells."""
    with suppress(OSError):
        return _pipe(path) if comes_once(path) else None
    return None


def _drop(pipe: _Pipe) -> None:
    if not pipe.holders:
        for key in [key for key, known in _pipes.items() if known is pipe]:
            del _pipes[key]
        pipe.close()


def _key(path: str) -> _Key:
    """What tells one source from another, however it is called."""
    if path != STDIN:
        status = os.stat(path)
        return status.st_dev, status.st_ino
    if sys.stdin is None:
        raise FileNotReadable("cannot read standard input: it is closed")
    with suppress(OSError, ValueError, AttributeError):
        status = os.fstat(sys.stdin.fileno())
        if not stat.S_ISREG(status.st_mode):
            return status.st_dev, status.st_ino
    return id(sys.stdin.buffer)  # a file, or no real one; it lives as long as it is kept


def _raw(path: str) -> IO[bytes]:
    if path == STDIN:
        return sys.stdin.buffer
    try:
        return open(path, "rb")
    except OSError as error:
        number = _DESCRIPTOR.fullmatch("/dev/fd/0" if path == "/dev/stdin" else path)
        if error.errno != errno.ENXIO or number is None:
            raise
        return os.fdopen(os.dup(int(number[1])), "rb")  # sockets have no name to open
