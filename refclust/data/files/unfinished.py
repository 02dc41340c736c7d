"""Files on their way: hidden beside their place, locked while their writer lives (DATA-FILE).

The name tells which start of which machine they belong to, so that a file of ours that nobody
locks is one whose writer is dead. Files of other machines and of earlier starts are left alone:
nothing here can tell whether somebody writes them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from functools import cache
from typing import Final

try:
    import fcntl
except ImportError:  # pragma: no cover  (Windows: no locks, and so nothing is swept)
    fcntl = None  # type: ignore[assignment]

_LOCKS: Final[bool] = fcntl is not None
_BOOT: Final = "/proc/sys/kernel/random/boot_id"
_LONGEST_NAME: Final = 100  # leaves room for what is added, within 255 bytes
_TRIES: Final = 20
_BINARY: Final = getattr(os, "O_BINARY", 0)  # exists where lines would be changed
_ITSELF: Final = getattr(os, "O_NOFOLLOW", 0)


class Unfinished:
    """A new file beside a place; ``close`` takes it away unless it was moved or linked there."""

    def __init__(self, target: str, *, private: bool) -> None:
        # A file that replaces another is nobody else's until it has the permissions of that one;
        # one for a free name gets what any new file gets.
        number, self._place = _opened(target, 0o600 if private else 0o666)
        self._there = True
        self._file = os.fdopen(number, "wb")

    def write(self, chunk: bytes) -> None:
        """Add to the file."""
        self._file.write(chunk)

    def settle(self, like: os.stat_result | None) -> None:
        """Give the file owner and permissions of another, and put all of it on the disk."""
        self._file.flush()
        if like is not None:
            _give(self._file.fileno(), self._place, like)
        os.fsync(self._file.fileno())
        if not _LOCKS:  # pragma: no cover
            self._file.close()  # an open file cannot be moved there

    def move(self, target: str) -> None:
        """Put the file into its place, whatever is there."""
        os.replace(self._place, target)
        self._there = False

    def link(self, target: str) -> None:
        """Put the file into its place if that is free."""
        os.link(self._place, target)

    def close(self) -> None:
        """Take away the hidden name, if it is still there, and let go of the file."""
        try:
            if self._there:
                with contextlib.suppress(OSError):
                    os.unlink(self._place)
        finally:
            with contextlib.suppress(OSError):  # all that counts was settled
                self._file.close()


def beginning(name: str, longest: int) -> str:
    """As much of a name as fits into so many bytes.

    >>> beginning("labels.csv", 6), beginning("labels.csv", 60)
    ('labels', 'labels.csv')
    """
    return os.fsdecode(os.fsencode(name)[:longest])


def swept(target: str) -> None:
    """Take away what killed processes left beside a place.

    Only files of this start of this machine, owned by us, named by us and locked by nobody.
    """
    folder, name = os.path.split(target)
    if not (_LOCKS and boot()):
        return
    ours = re.compile(re.escape(f".{_short(name)}.{boot()}.") + r"[0-9a-f]{12}\.new")
    with contextlib.suppress(OSError):
        for entry in os.listdir(folder or os.curdir):
            if ours.fullmatch(entry):
                with contextlib.suppress(OSError):
                    _unlink_dead(os.path.join(folder, entry))


@cache
def boot() -> str:
    """A few signs for this start of this machine; none where the system does not tell."""
    try:
        with open(_BOOT, "rb") as file:
            return hashlib.sha256(file.read(100)).hexdigest()[:12]
    except OSError:
        return ""


def _short(name: str) -> str:
    return beginning(name, _LONGEST_NAME)


def _opened(target: str, mode: int) -> tuple[int, str]:
    """Make a hidden file and lock it; one that cannot be locked has no name that would be swept."""
    folder, name = os.path.split(target)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
    for start in (f"{boot()}.",) * _TRIES if boot() else ():
        place = os.path.join(folder, f".{_short(name)}.{start}{os.urandom(6).hex()}.new")
        number = os.open(place, flags, mode)
        locked = _locked(number)
        if locked and os.fstat(number).st_nlink:
            return number, place
        # Either locks do not work here, or whoever tidied up between two calls took it for a dead
        # one: then it is gone, and the next one will live.
        os.close(number)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)
        if not locked:
            break
    place = os.path.join(folder, f".{_short(name)}.{os.urandom(6).hex()}.new")
    return os.open(place, flags, mode), place


def _locked(number: int) -> bool:
    if not _LOCKS:  # pragma: no cover
        return False
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _unlink_dead(place: str) -> None:
    number = os.open(place, os.O_WRONLY | os.O_NONBLOCK | _ITSELF)
    try:
        status, there = os.fstat(number), os.lstat(place)
        ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
        if ours and os.path.samestat(status, there) and _locked(number):
            os.unlink(place)
    finally:
        os.close(number)


def _give(number: int, place: str, like: os.stat_result) -> None:
    """Owner, group and permissions of another file, as far as that is allowed."""
    own = os.fstat(number)
    mode = stat.S_IMODE(like.st_mode)
    if hasattr(os, "fchown") and (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
        with contextlib.suppress(OSError):
            os.fchown(number, -1, like.st_gid)
        with contextlib.suppress(OSError):
            os.fchown(number, like.st_uid, -1)
        if os.fstat(number).st_gid != like.st_gid:
            # Another group gets no more than everybody.
            mode = mode & ~0o070 | (mode & 0o007) << 3
    os.chmod(number if os.chmod in os.supports_fd else place, mode)
