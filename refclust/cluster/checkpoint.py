"""Checkpoints: a fit that was stopped goes on to the same bits (KM-CKPT of chapter 10).

One JSON file, replaced as a whole or not at all. What a fit writes into it is its own business; it
is only given back to the same fit: the same algorithm, options and data. Beside it stands what ran
so far: the result of a fit that was stopped tells of all kernels, not of the last ones only.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from refclust.backends.session import Decided, KernelRun, Provenance, Session
from refclust.data.atomic import remove, write_atomically
from refclust.errors import BadCheckpoint, FileNotReadable

FORMAT: Final = "refclust-checkpoint"
VERSION: Final = 2  # 1 had no provenance: what ran before a stop was lost
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


@dataclass(slots=True)
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

    def begin(
        self, fitting: Fitting, read: Callable[[dict[str, Any]], T], fresh: T, session: Session
    ) -> T:
        """Return how far the fit has come: what the file says, if the fit is to be resumed.

        Then kernels stay on the backends that the file tells of, if none was asked for.

        Spec: KM-CKPT
        """
        if not self.resume:
            return fresh
        try:
            text = Path(self.path).read_text(encoding="utf-8")
        except OSError as error:
            raise FileNotReadable(
                f"cannot read the checkpoint {self.path}: {(error.strerror or str(error)).lower()}"
            ) from None
        except ValueError:
            raise BadCheckpoint(f"{self.path} is no checkpoint: it is not UTF-8 text") from None
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
        if self.keep:
            return
        remove(self.path)


def whole_provenance(session: Session, checkpoint: Checkpoint | None) -> Provenance:
    """What ran for a fit, before it was stopped and resumed, too.

    Spec: KM-CKPT
    """
    provenance = session.provenance()
    return provenance if checkpoint is None else checkpoint.whole(provenance)


def _read(
    name: str, text: str, fitting: Fitting, read: Callable[[dict[str, Any]], T]
) -> tuple[T, tuple[tuple[KernelRun, ...], tuple[Decided, ...]]]:
    try:
        content = json.loads(text)
        for key, due in fitting.header().items():
            _check(name, key, content[key], due)
        ran, progress = content["ran"], content["progress"]
        if content["checksum"] != _checksum([ran, progress]):
            raise BadCheckpoint(f"{name} is damaged: its contents do not match its checksum")
        kernels = tuple(KernelRun(**run) for run in ran["kernels"])
        decided = tuple(Decided(**rung) for rung in ran["decided"])
        return read(progress), (kernels, decided)
    except BadCheckpoint:
        raise
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError) as error:
        raise BadCheckpoint(
            f"{name} is no checkpoint of refclust, or a damaged one: "
            f"{type(error).__name__}: {error}"
        ) from None


def _added(earlier: Sequence[KernelRun], now: Sequence[KernelRun]) -> tuple[KernelRun, ...]:
    """Runs of kernels with those before them; a kernel that changed its backend has both."""
    found: dict[KernelRun, KernelRun] = {}
    for run in (*earlier, *now):
        key = replace(run, calls=0, seconds=0.0)
        before = found.get(key, key)
        calls, seconds = before.calls + run.calls, before.seconds + run.seconds
        found[key] = replace(key, calls=calls, seconds=seconds)
    return tuple(sorted(found.values(), key=lambda run: run.kernel))


def _counted(earlier: Sequence[Decided], now: Sequence[Decided]) -> tuple[Decided, ...]:
    """Rows decided on each rung, with those before them."""
    found: Counter[tuple[str, str]] = Counter()
    for rung in (*earlier, *now):
        found[rung.backend, rung.rung] += rung.rows
    return tuple(Decided(*key, rows) for key, rows in found.items())


def _checksum(content: list[Any]) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _check(name: str, key: str, found: Any, due: Any) -> None:
    if found == due:
        return
    if key == "data":
        raise BadCheckpoint(f"{name} belongs to a fit of other data than those given")
    if key != "options":
        raise BadCheckpoint(f"{name}: {key} is {found!r}; {due!r} is needed")
    which = next(option for option in {**due, **found} if found.get(option) != due.get(option))
    if which == "given":
        raise BadCheckpoint(f"{name} belongs to a fit from other given centres")
    raise BadCheckpoint(
        f"{name} belongs to a fit with {which} = {found.get(which)!r}, not {due.get(which)!r}"
    )
