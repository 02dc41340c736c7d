"""Files written whole or not at all: beside their place first, then moved there (no chapter).

After a crash, a full disk or an interrupt the old file is still there, complete. Only a process
that is killed outright can leave its unfinished file, hidden, beside it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator

from refclust.errors import FileNotReadable
from refclust.escape import for_terminal

_LONGEST_NAME = 100  # leaves room for what is added, within the 255 bytes of most file systems


def write_atomically(path: str, content: bytes | Iterable[bytes]) -> None:
    """Put content into a file, or leave everything as it was.

    The file keeps its permissions; behind a symbolic link the file it points to is replaced, and a
    device or a pipe, which cannot be replaced, is written to. Raises ``file-not-found`` where the
    place cannot be written; what the content raises while it is made comes out unchanged.
    """
    chunks = (content,) if isinstance(content, bytes) else content
    with _told(path):
        target = os.path.realpath(path)
        before = _status(target)
        if before is not None and stat.S_ISDIR(before.st_mode):
            raise IsADirectoryError(0, "is a directory")
        if before is not None and not os.access(target, os.W_OK):
            # Its folder may allow to replace it all the same, but its owner said no.
            raise PermissionError(0, "permission denied")
    if before is not None and not stat.S_ISREG(before.st_mode):
        with _Output(path, target, os.O_WRONLY) as output:
            output.write(chunks)
        return
    folder, name = os.path.split(target)
    short = os.fsdecode(os.fsencode(name)[:_LONGEST_NAME])
    beside = os.path.join(folder, f".{short}.{os.urandom(6).hex()}.new")
    made = False
    try:
        with _Output(path, beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as output:
            made = True
            output.write(chunks)
            with _told(path):
                if before is not None:
                    os.chmod(beside, stat.S_IMODE(before.st_mode))
                output.settle()
        with _told(path):
            os.replace(beside, target)
        made = False
    finally:
        if made:
            with contextlib.suppress(OSError):
                os.unlink(beside)
    _settle_folder(folder)


class _Output:
    """An open file whose troubles are told under the name the user gave."""

    def __init__(self, path: str, place: str, flags: int) -> None:
        self._path = path
        with _told(path):
            # 0o666 less the umask, as any new file; O_BINARY exists where lines would be changed.
            number = os.open(place, flags | getattr(os, "O_BINARY", 0), 0o666)
            self._file = os.fdopen(number, "wb")

    def __enter__(self) -> _Output:
        return self

    def __exit__(self, *_: object) -> None:
        with _told(self._path):
            self._file.close()

    def write(self, chunks: Iterable[bytes]) -> None:
        for chunk in chunks:  # what raises here is not ours to name
            with _told(self._path):
                self._file.write(chunk)

    def settle(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())


@contextlib.contextmanager
def _told(path: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FileNotReadable(
            f"cannot write {for_terminal(path)}: {told[:1].lower()}{told[1:]}"
        ) from None


def _status(target: str) -> os.stat_result | None:
    try:
        return os.stat(target)
    except FileNotFoundError:
        return None


def _settle_folder(folder: str) -> None:
    """Make the new name last; some systems cannot, and the file is complete all the same."""
    with contextlib.suppress(OSError):
        number = os.open(folder or os.curdir, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
