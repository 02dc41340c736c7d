"""How far a fit of a mixture has come, and that as plain JSON values (EM-CKPT of chapter 30)."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Generic, TypeVar

from refclust.mixture.certificate import Ascent
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

    objective: float
    bound: float | None = None  # none: nobody watches, or nothing is promised
    rounding: float = 0.0


@dataclass(frozen=True, slots=True)
class Pending(Generic[P]):
    """The run under way, after its last M-step."""

    start: P
    parameters: P
    draws: int  # random numbers used before the next pass
    done: int = 0  # M-steps
    # The logarithm of the prior and what it may err by, as the M-step told them: worked out from
    # the parameters, sums in another order may differ in the last bit.
    prior: tuple[float, float] | None = None
    before: Before | None = None
    now: Reached | None = None
    best: tuple[float, P] | None = None  # of sampled steps
    events: tuple[Event, ...] = ()
    ascents: tuple[Ascent, ...] = ()
    trace: tuple[Iteration[P], ...] = ()


@dataclass(frozen=True, slots=True)
class Progress(Generic[P]):
    """Finished runs, and the one under way."""

    finished: tuple[Run[P], ...] = ()
    draws: int = 0
    pending: Pending[P] | None = None


def told(progress: Progress[P], family: Family[P, D, M]) -> dict[str, Any]:
    """The progress as plain values."""
    pending = progress.pending
    content = {
        "finished": [_told_run(run, family) for run in progress.finished],
        "draws": progress.draws if pending is None else pending.draws,
        "pending": None if pending is None else _told_pending(pending, family),
    }
    plain: dict[str, Any] = _spelled(content)
    return plain


def _spelled(value: Any) -> Any:
    """The same values with infinities as words: an objective is one where a prior excludes a start.

    JSON has no infinities.
    """
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {key: _spelled(one) for key, one in value.items()}
    return [_spelled(one) for one in value] if isinstance(value, list | tuple) else value


def _told_pending(pending: Pending[P], family: Family[P, D, M]) -> dict[str, Any]:
    # A pass that was seen but led to no M-step yet will be made again, with its traces.
    return {
        "start": family.told(pending.start),
        "parameters": family.told(pending.parameters),
        "draws": pending.draws,
        "done": pending.done,
        "prior": None if pending.prior is None else list(pending.prior),
        "before": None if pending.before is None else asdict(pending.before),
        "best": None if pending.best is None else [pending.best[0], family.told(pending.best[1])],
        "events": [asdict(event) for event in pending.events],
        "ascents": [asdict(one) for one in pending.ascents if one.iteration < pending.done],
        "trace": [_told_iteration(one, family) for one in pending.trace[: pending.done]],
    }


def _told_run(run: Run[P], family: Family[P, D, M]) -> dict[str, Any]:
    return {
        **{one.name: getattr(run, one.name) for one in fields(run)},
        "sizes": list(run.sizes),
        "events": [asdict(event) for event in run.events],
        "ascents": [asdict(one) for one in run.ascents],
        "parameters": family.told(run.parameters),
        "start": family.told(run.start),
        "trace": [_told_iteration(one, family) for one in run.trace],
    }


def _told_iteration(one: Iteration[P], family: Family[P, D, M]) -> dict[str, Any]:
    told = None if one.parameters is None else family.told(one.parameters)
    return {**asdict(replace(one, parameters=None)), "parameters": told}
