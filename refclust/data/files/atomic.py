"""Files written whole or not at all: beside their place first, then moved there (DATA-FILE).

After a crash, a full disk or an interrupt the old file is still there, complete, and what somebody
else put into the place meanwhile is not lost. Only a process that is killed outright can leave its
unfinished file, hidden, beside it; whoever writes there next takes that away.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator
from typing import Final

from refclust.data.files.packing import by_ending
from refclust.data.files.unfinished import Unfinished, beginning, swept
from refclust.errors import FileExists, FileNotReadable
from refclust.escape import for_terminal

# What systems say of a place that has no hard links; others say ENOSYS.
_NO_LINKS: Final = frozenset(
    (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
)
_MOST_KEPT: Final = 1000  # names that are tried for a result whose own name was taken
_swept: set[str] = set()  # places beside which this process has tidied up


def write_atomically(path: str, content: bytes | Iterable[bytes], *, replace: bool = True) -> None:
    """Put content into a file, or leave everything as it was.

    A file that is replaced keeps its permissions, and its owner and group where that is allowed;
    behind a symbolic link the file it points to is replaced, and a device or a pipe, which cannot
    be replaced, is written to. Without ``replace`` the name must be free, also when all is
    written: otherwise the error is ``exists``, what is there stays, and what was written is kept
    beside it under a free name, which the error tells. Raises ``file-not-found`` where the place
    cannot be written; what the content raises while it is made comes out unchanged.

    Spec: DATA-FILE
    """
    chunks = (content,) if isinstance(content, bytes) else content
    with _told(path):
        before = _status(path)
        if not replace and (before is not None or os.path.islink(path)):
            raise FileExists(f"{path} exists already")
        if before is not None and not os.access(path, os.W_OK):
            # Its folder may allow to replace it all the same, but its owner said no.
            raise PermissionError(0, "permission denied")
    if before is not None and not stat.S_ISREG(before.st_mode):
        _write_into(path, chunks)
        return
    target = os.path.realpath(path)
    _sweep_once(target)
    with _told(path):
        file = Unfinished(target, private=before is not None)
    try:
        for chunk in chunks:  # what raises here is not ours to name
            with _told(path):
                file.write(chunk)
        with _told(path):
            file.settle(before)
            if replace:
                file.move(target)
            elif not _moved(file, target):
                kept = _kept(file, target)
                raise FileExists(
                    f"{path} has come to exist meanwhile and was not replaced; what was to be "
                    f"written there is kept in {os.path.join(os.path.dirname(path), kept)}"
                )
    finally:
        file.close()
    _settle_folder(os.path.dirname(target))


def remove(path: str) -> None:
    """Take a file away, if it is there, and what killed processes left of it.

    Spec: DATA-FILE
    """
    with _told(path, "remove"), contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    swept(os.path.realpath(path))


def check_place(path: str) -> None:
    """Refuse a place where no file can be, before any work is done for it.

    Spec: DATA-FILE
    """
    with _told(path):
        status = _status(path)
        if status is not None and not stat.S_ISREG(status.st_mode):
            return
        folder = os.path.dirname(os.path.realpath(path) if os.path.islink(path) else path)
        if not os.path.isdir(folder or os.curdir):
            raise FileNotFoundError(0, f"there is no folder {folder}")
        if not os.access(folder or os.curdir, os.W_OK):
            raise PermissionError(0, f"the folder {folder or os.curdir} cannot be written to")
        if status is not None and not os.access(path, os.W_OK):
            raise PermissionError(0, "permission denied")


def _moved(file: Unfinished, target: str) -> bool:
    """Give the finished file a name that nobody has; false if somebody has it."""
    try:
        file.link(target)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # An empty file takes the name; no one else can from then on.
        try:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return False
        file.move(target)
    return True


def _kept(file: Unfinished, target: str) -> str:
    """Put the finished file under a free name beside its own; the name is returned."""
    folder, name = os.path.split(target)
    stem, ending = os.path.splitext(name)
    if by_ending(ending) is not None:
        stem, inner = os.path.splitext(stem)
        ending = inner + ending
    for number in range(1, _MOST_KEPT):
        added = f".{number}{ending}"
        # Within the length that names may have; the beginning tells whose it is.
        kept = beginning(stem, 255 - len(os.fsencode(added))) + added
        if _moved(file, os.path.join(folder, kept)):
            _settle_folder(folder)
            return kept
    raise FileExistsError(0, f"exists, and so do {_MOST_KEPT - 1} names beside it")


def _write_into(path: str, chunks: Iterable[bytes]) -> None:
    """Write to what is no file and cannot be replaced."""
    with _told(path):
        # O_BINARY exists where lines would be changed.
        file = os.fdopen(os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0)), "wb")
    try:
        for chunk in chunks:
            with _told(path):
                file.write(chunk)
    finally:
        with _told(path):
            file.close()


def _status(path: str) -> os.stat_result | None:
    """What is at a place where a file may be; nothing if nothing is."""
    if not path:
        raise FileNotFoundError(0, "the name is empty")
    try:
        status = os.stat(path)
    except FileNotFoundError:
        status = None
    if path.endswith(os.sep) or (status is not None and stat.S_ISDIR(status.st_mode)):
        raise IsADirectoryError(0, "is a directory")
    return status


@contextlib.contextmanager
def _told(path: str, what: str = "write") -> Iterator[None]:
    try:
        yield
    except (BrokenPipeError, FileExists):
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FileNotReadable(
            f"cannot {what} {for_terminal(path)}: {reason[:1].lower()}{reason[1:]}"
        ) from None


def _sweep_once(target: str) -> None:
    """Tidy up beside a place; once in a process, since the folder may be large."""
    if target not in _swept:
        _swept.add(target)
        swept(target)


def _settle_folder(folder: str) -> None:
    """Make the new name last; some systems cannot, and the file is complete all the same."""
    with contextlib.suppress(OSError):
        number = os.open(folder or os.curdir, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
