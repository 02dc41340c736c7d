"""Checkpoints: a fit that was stopped goes on to the same bits (KM-CKPT of chapter 10).

One JSON file, replaced as a whole or not at all. What a fit writes into it is its own business; it
is only given back to the same fit: the same algorithm, options and data. Beside it stands what ran
so far: the result of a fit that was stopped tells of all kernels, not of the last ones only.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Final, TypeVar

from refclust.backends.session import Decided, KernelRun, Provenance, Session
from refclust.data.files.atomic import remove, write_atomically
from refclust.data.files.document import Node, parse, shown
from refclust.data.files.taken import is_owner, refuse_other, release, take
from refclust.errors import BadCheckpoint, FileNotReadable, RefclustError
from refclust.limits import limit, within

FORMAT: Final = "refclust-checkpoint"
# 1 had no provenance: what ran before a stop was lost; 2 not the prior that an M-step told.
VERSION: Final = 3
_SHOWN: Final = 60
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fitting:
    """What a checkpoint belongs to."""

    algorithm: str
    data: str  # the digest of the rows
    options: Mapping[str, Any]  # plain values, given centres included

    def header(self) -> dict[str, Any]:
        """What the file must say to be taken back."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "algorithm": self.algorithm,
            "data": self.data,
            "options": dict(self.options),
        }


@dataclass(slots=True, weakref_slot=True)
class Checkpoint:
    """A file that a fit writes every so many seconds, and may begin from.

    Spec: KM-CKPT
    """

    path: str
    every: float = 30.0
    resume: bool = False
    keep: bool = False  # also when the fit is done: whoever writes its result takes it away
    _written: float = field(default_factory=time.monotonic, init=False, repr=False)
    _earlier: tuple[tuple[KernelRun, ...], tuple[Decided, ...]] = field(
        default=((), ()), init=False, repr=False
    )

    def due(self) -> bool:
        """Tell whether it is time to write again."""
        return time.monotonic() - self._written >= self.every

    def begin(self, fitting: Fitting, read: Callable[[Node], T], fresh: T, session: Session) -> T:
        """Return how far the fit has come: what the file says, if the fit is to be resumed.

        Then kernels stay on the backends that the file tells of, if none was asked for.

        Spec: KM-CKPT
        """
        take(self.path, self)
        if not self.resume:
            return fresh
        text = _text(self.path)
        progress, self._earlier = _read(self.path, text, fitting, read)
        session.go_on(self._earlier[0])
        return progress

    def whole(self, provenance: Provenance) -> Provenance:
        """What ran since the fit began, if this ran since it was resumed.

        Spec: KM-CKPT
        """
        runs, decided = self._earlier
        return replace(
            provenance,
            kernels=_added(runs, provenance.kernels),
            decided=_counted(decided, provenance.decided),
        )

    def write(self, fitting: Fitting, progress: dict[str, Any], provenance: Provenance) -> None:
        """Replace the file by one that tells how far the fit has come, and what ran.

        Spec: KM-CKPT
        """
        refuse_other(self.path, self)
        whole = self.whole(provenance)
        ran = {
            "kernels": [asdict(run) for run in whole.kernels],
            "decided": [asdict(rung) for rung in whole.decided],
        }
        content = {
            **fitting.header(),
            "checksum": _checksum([ran, progress]),
            "ran": ran,
            "progress": progress,
        }
        write_atomically(self.path, [json.dumps(content, allow_nan=False).encode(), b"\n"])
        self._written = time.monotonic()

    def done(self) -> None:
        """Take the file away, unless it is to be kept: the result is there."""
        if self.keep or not is_owner(self.path, self):
            return
        remove(self.path)
        release(self.path)

    def let_go(self) -> None:
        """Leave the name to others: the fit was stopped; if it goes on it takes the name again.

        Spec: KM-CKPT
        """
        if is_owner(self.path, self):
            release(self.path)


def whole_provenance(session: Session, checkpoint: Checkpoint | None) -> Provenance:
    """What ran for a fit, before it was stopped and resumed, too.

    Spec: KM-CKPT
    """
    provenance = session.provenance()
    return provenance if checkpoint is None else checkpoint.whole(provenance)


def _text(name: str) -> str:
    """The text of a checkpoint, of bounded length."""
    try:
        with open(name, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise FileNotReadable(f"cannot read the checkpoint {name}: it is no file")
            most = limit("document")
            content = file.read(most + 1)
            if len(content) > most:
                within("document", os.fstat(file.fileno()).st_size, f"the checkpoint {name}")
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise BadCheckpoint(f"{name} is no checkpoint: it is not UTF-8 text") from None
    except RefclustError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FileNotReadable(f"cannot read the checkpoint {name}: {reason.lower()}") from None


def _read(
    name: str, text: str, fitting: Fitting, read: Callable[[Node], T]
) -> tuple[T, tuple[tuple[KernelRun, ...], tuple[Decided, ...]]]:
    """Check a checkpoint like foreign input: its sum guards against accidents only."""
    top = parse(text, name, error=BadCheckpoint)
    entries, header = top.mapping(), fitting.header()
    for key, due in header.items():  # first of all: another version may have other keys
        if key not in entries:
            top.fail(f"this is no checkpoint of refclust, or a damaged one: it has no {key!r}")
        _check(name, key, entries[key], due)
    *_, checksum, ran, progress = top.members(*header, "checksum", "ran", "progress")
    try:
        if checksum.text() != _checksum([ran.value, progress.value]):
            top.fail("it is damaged: its contents do not match its checksum")
        return read(progress), _ran(ran)
    except BadCheckpoint:
        raise
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError) as error:
        raise BadCheckpoint(
            f"{name} is no checkpoint of refclust, or a damaged one: "
            f"{type(error).__name__}: {error}"
        ) from None


def _ran(node: Node) -> tuple[tuple[KernelRun, ...], tuple[Decided, ...]]:
    kernels, decided = node.members("kernels", "decided")
    return tuple(map(_kernel_run, kernels.items())), tuple(map(_rung, decided.items()))


def _kernel_run(node: Node) -> KernelRun:
    *words, calls, seconds = node.members(*(field.name for field in fields(KernelRun)))
    kernel, backend, distribution, version, reason = (word.text() for word in words)
    return KernelRun(
        kernel, backend, distribution, version, reason, calls.whole(0), seconds.double(0)
    )


def _rung(node: Node) -> Decided:
    backend, rung, rows = node.members(*(field.name for field in fields(Decided)))
    return Decided(backend.text(), rung.text(), rows.whole(0))


def _added(earlier: Sequence[KernelRun], now: Sequence[KernelRun]) -> tuple[KernelRun, ...]:
    """Runs of kernels with those before them; a kernel that changed its backend has both."""
    sums: dict[KernelRun, KernelRun] = {}
    for run in (*earlier, *now):
        key = replace(run, calls=0, seconds=0.0)
        before = sums.get(key, key)
        calls, seconds = before.calls + run.calls, before.seconds + run.seconds
        sums[key] = replace(key, calls=calls, seconds=seconds)
    return tuple(sorted(sums.values(), key=lambda run: run.kernel))


def _counted(earlier: Sequence[Decided], now: Sequence[Decided]) -> tuple[Decided, ...]:
    """Rows decided on each rung, with those before them."""
    counts: Counter[tuple[str, str]] = Counter()
    for rung in (*earlier, *now):
        counts[rung.backend, rung.rung] += rung.rows
    return tuple(Decided(*key, rows) for key, rows in counts.items())


def _checksum(content: list[Any]) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _check(name: str, key: str, written: Any, due: Any) -> None:
    if written == due:
        return
    if key == "data":
        raise BadCheckpoint(f"{name} belongs to a fit of other data than those given")
    if key != "options":
        raise BadCheckpoint(f"{name}: {key} is {_short(written)}; {due!r} is needed")
    if not isinstance(written, dict):
        raise BadCheckpoint(f"{name}: options are {shown(written)}; an object is needed")
    nothing = object()
    for option in {**due, **written}:
        old, new = written.get(option, nothing), due.get(option, nothing)
        if old is nothing or new is nothing:
            difference = "has no option" if old is nothing else "has the unknown option"
            raise BadCheckpoint(
                f"{name} {difference} {_short(option)}; it belongs to another version"
            )
        if old != new and option == "given":
            raise BadCheckpoint(f"{name} belongs to a fit from other given centres")
        if old != new:
            raise BadCheckpoint(
                f"{name} belongs to a fit with {option} = {_short(old)}, not {new!r}"
            )


def _short(value: Any) -> str:
    """A value of the file, in no more than a few words."""
    text = shown(value) if isinstance(value, list | dict | int) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
