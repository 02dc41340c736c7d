"""Names that one fit has for itself while it runs: a locked file beside them (KM-CKPT).

The lock is the system's, held by an open file: it ends with its process, however that ends. So the
hidden file that a killed process leaves is nobody's, and whoever comes next takes it over. Where
the system or the place has no such locks, names are kept apart within one process only.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import weakref
from dataclasses import dataclass
from typing import Final

from refclust.data.files.unfinished import beginning
from refclust.errors import CheckpointInUse
from refclust.escape import for_terminal

try:
    import fcntl
except ImportError:  # pragma: no cover  (Windows)
    fcntl = None  # type: ignore[assignment]

_LOCKS: Final[bool] = fcntl is not None
_LONGEST_NAME: Final = 100  # leaves room for what is added, within 255 bytes
_TRIES: Final = 20
_ITSELF: Final = getattr(os, "O_NOFOLLOW", 0)


@dataclass(slots=True)
class _Held:
    """A name of this process: the descriptor of its lock, if any, and the fit that has it."""

    number: int | None
    owner: weakref.ref[object] | None
    process: int


_held: Final[dict[str, _Held]] = {}


def take(path: str, owner: object | None = None) -> None:
    """Have a name for oneself, or be told that another process has it.

    Within a process the last fit that begins has it; ``refuse_other`` tells the one before.

    Spec: KM-CKPT
    """
    target = os.path.realpath(path)
    if target not in _held:
        if not _held:
            atexit.register(release_all)
        _held[target] = _Held(_locked(target, path), None, os.getpid())
    if owner is not None:
        # A fit that nobody can go on with any more lets go of its name.
        _held[target].owner = weakref.ref(owner, lambda ref: _let_go(target, ref))


def refuse_other(path: str, owner: object) -> None:
    """Have a name again, unless another fit of this process has begun with it since.

    Spec: KM-CKPT
    """
    held = _held.get(os.path.realpath(path))
    if held is None:
        take(path, owner)
    elif held.owner is not None and held.owner() is not owner:
        raise CheckpointInUse(
            f"the checkpoint {for_terminal(path)} is in use: another fit of this process has begun "
            "with it since; give each fit a name of its own"
        )


def is_owner(path: str, owner: object) -> bool:
    """Tell whether a fit has the name.

    Spec: KM-CKPT
    """
    held = _held.get(os.path.realpath(path))
    return held is not None and held.owner is not None and held.owner() is owner


def release(path: str) -> None:
    """Let go of a name, and take away the file that locked it.

    Spec: KM-CKPT
    """
    _unlocked(os.path.realpath(path))


def release_all() -> None:
    """Let go of all names of this process."""
    while _held:
        _unlocked(next(iter(_held)))


def _let_go(target: str, owner: weakref.ref[object]) -> None:
    held = _held.get(target)
    if held is not None and held.owner is owner:
        _unlocked(target)


def _unlocked(target: str) -> None:
    held = _held.pop(target, None)
    if held is None or held.number is None:
        return
    with contextlib.suppress(OSError):
        if held.process == os.getpid():  # not in a copy of the process that took it
            os.unlink(_place(target))  # before the lock ends: nobody else can have it now
    with contextlib.suppress(OSError):
        os.close(held.number)


def _place(target: str) -> str:
    """The hidden file beside a name, the same for everybody who asks for it."""
    folder, name = os.path.split(target)
    short = beginning(name, _LONGEST_NAME)
    if short != name:  # names that begin alike are different names
        short += f".{hashlib.sha256(os.fsencode(name)).hexdigest()[:12]}"
    return os.path.join(folder, f".{short}.lock")


def _locked(target: str, path: str) -> int | None:
    """The descriptor of a locked file beside a name; none where there are no locks."""
    if not _LOCKS:  # pragma: no cover
        return None
    place = _place(target)
    for _ in range(_TRIES):
        try:
            number = os.open(place, os.O_RDWR | os.O_CREAT | _ITSELF, 0o644)
        except OSError:
            return None  # whoever writes the checkpoint there tells what is wrong
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            process = os.read(number, 20).decode("ascii", "replace").strip()
            os.close(number)
            who = f" (process {process})" if process.isdecimal() else ""
            raise CheckpointInUse(
                f"the checkpoint {for_terminal(path)} is in use by another fit that runs{who}; "
                "wait for its end, or give this one another name"
            ) from None
        except OSError:  # no locks here, so the file is of no use
            os.close(number)
            with contextlib.suppress(OSError):
                os.unlink(place)
            return None
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(number), os.stat(place)):
                os.ftruncate(number, 0)
                os.write(number, f"{os.getpid()}\n".encode())
                return number
        os.close(number)  # whoever had it took the file away between two calls
    return None
