"""How far a fit of a mixture has come, and that as plain JSON values (EM-CKPT of chapter 30)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Generic, TypeVar

from refclust.data.files.parts import Part, whole
from refclust.data.files.records import UNWRITTEN, plain
from refclust.mixture.course.certificate import Ascent, Real
from refclust.mixture.families.family import Densities, Family
from refclust.mixture.results import Event, Iteration, Run

P = TypeVar("P")
D = TypeVar("D", bound=Densities)
M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Reached:
    """The objective of the pass made last, and what it may err by."""

    objective: float
    rounding: float


@dataclass(frozen=True, slots=True)
class Before:
    """The objective before the M-step made last, and the bound that step reached."""

    objective: Real
    bound: Real | None = None  # none: nobody watches, or nothing is promised
    rounding: Real = 0.0


@dataclass(frozen=True, slots=True)
class Pending(Generic[P]):
    """The run under way, after its last M-step."""

    start: P
    parameters: P
    # Random numbers used before the next pass.
    draws: Annotated[int, whole(0, "draws allowed")]
    done: Annotated[int, whole(0, "limit")] = 0  # M-steps
    # The logarithm of the prior and what it may err by, as the M-step told them: worked out from
    # the parameters, sums in another order may differ in the last bit.
    prior: tuple[Real, Real] | None = None
    before: Before | None = None
    now: Annotated[Reached | None, UNWRITTEN] = None
    best: tuple[Real, P] | None = None  # of sampled steps
    events: tuple[Event, ...] = ()
    ascents: tuple[Ascent, ...] = ()
    trace: tuple[Iteration[P], ...] = ()


@dataclass(frozen=True, slots=True)
class Progress(Generic[P]):
    """Finished runs, and the one under way."""

    finished: tuple[Run[P], ...] = ()
    draws: Annotated[int, whole(0, "draws allowed")] = 0
    pending: Pending[P] | None = None


def content_of(progress: Progress[P], family: Family[P, D, M]) -> dict[str, Any]:
    """The progress as plain values."""
    pending = progress.pending
    if pending is not None:
        # A pass that was seen but led to no M-step yet will be made again, with its traces.
        ascents = tuple(ascent for ascent in pending.ascents if ascent.iteration < pending.done)
        kept = replace(pending, ascents=ascents, trace=pending.trace[: pending.done])
        progress = replace(progress, draws=pending.draws, pending=kept)
    parameters = Part(_unread, _unread, plain=lambda value, _known, _line: family.content(value))
    record: dict[str, Any] = plain(progress, {"P": parameters}, line=True)
    return record


def _unread(*_: Any) -> Any:
    raise AssertionError("parameters are read by their family")
