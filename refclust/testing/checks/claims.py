"""What a backend tells of itself: estimates do not shrink, and what it counts adds up (chapter 81).

Nobody computes with either, so no answer shows a fault in them: a wrong estimate has another
backend chosen, and a wrong count of decided rows stands in the provenance of a result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any, Final

from refclust.backends.protocol import Backend, Estimate, Problem
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.registry import KERNELS
from refclust.testing.ladder import ladder
from refclust.testing.outcomes import Outcome
from refclust.testing.rungs import Rung
from refclust.testing.scripts.lockstep import Call, script
from refclust.testing.scripts.player import offered
from refclust.testing.scripts.row_calls import first_rows

CHECK: Final = "told"
_PASSES: Final = ("kmeans.assign", "kmeans.lloyd_step")
_MORE: Final = 1_000_000
_RUNGS: Final = ("plain", "ties", "near-ties", "largest", "sparse-counts", "sparse-empty-rows",
                 "cosine", "cosine-ties", "labels", "margins", "distances", "gaussian",
                 "counts")  # fmt: skip


@cache
def _rungs() -> tuple[Rung, ...]:
    return tuple(rung for rung in ladder(quick=True) if rung.name in _RUNGS)


def kernels() -> frozenset[str]:
    """The kernels whose estimates are asked for."""
    return frozenset(KERNELS)


def claims(backend: Backend) -> list[Outcome]:
    """Ask for estimates of small and large problems, and count the rows of passes."""
    functions = offered(backend)
    faults: dict[str, str] = {}
    asked: dict[str, int] = {}
    for call in _calls():
        if call.kernel in functions:
            asked[call.kernel] = asked.get(call.kernel, 0) + 1
            for steady in (False, True):
                problem = replace(call.problem, steady=steady)
                fault = _estimated(backend, call.kernel, problem)
                if fault:
                    faults.setdefault(call.kernel, fault)
    if callable(getattr(backend, "decided", None)):
        for kernel, fault in _miscounted(backend):
            faults.setdefault(kernel, fault)
    return [Outcome(kernel, CHECK, calls, faults.get(kernel)) for kernel, calls in asked.items()]


def _calls() -> Iterator[Call]:
    """One call of each kernel on each rung."""
    for rung in _rungs():
        yield from {call.kernel: call for call in script(rung).calls}.values()


def _estimated(backend: Backend, kernel: str, problem: Problem) -> str:
    seconds = _seconds(backend, kernel, problem)
    if seconds is not None and not seconds >= 0.0:
        return f"it expects {seconds} seconds ({problem.kind})"
    larger = replace(problem, n=problem.n * _MORE, size=problem.size * _MORE)
    for more, what in (
        (larger, "rows"),
        (replace(problem, calls=problem.calls * _MORE), "calls"),
        (replace(problem, k=problem.k * _MORE), "centres"),
    ):
        longer = _seconds(backend, kernel, more)
        if seconds is None or longer is None or math.isinf(seconds):
            continue  # it declines, or wants to be asked for by name
        if longer < seconds:
            return (
                f"it expects {seconds} seconds, and {longer} for a million times as many {what}"
                f" ({problem.kind})"
            )
    return ""


def _seconds(backend: Backend, kernel: str, problem: Problem) -> float | None:
    support = backend.supports(kernel, problem)
    return support.seconds if isinstance(support, Estimate) else None


def _miscounted(backend: Any) -> Iterator[tuple[str, str]]:
    """Each pass over rows adds as many decided rows as there are."""
    functions = offered(backend)
    for rung in _rungs():
        if rung.kind not in ("rows", "cosine"):
            continue
        metric = "cosine" if rung.kind == "cosine" else "euclidean"
        centres = rung.centres or first_rows(rung.data, rung.k)
        prepared, before = backend.prepare(rung.data), 0
        for kernel in (*_PASSES, *_PASSES[::-1]):
            if kernel not in functions:
                continue
            state = () if kernel == _PASSES[0] else (None,)
            try:
                functions[kernel](prepared, CentreMatrix.of(centres), *state, metric)
                counts = dict(backend.decided(prepared))
            except Exception as error:
                yield kernel, f"it raised {type(error).__name__}: {error} ({rung.name})"
                return
            now, n = sum(counts.values()), rung.data.n
            if now - before != n or not all(type(rows) is int for rows in counts.values()):
                yield kernel, f"a pass over {n} rows counts {now - before}: {counts} ({rung.name})"
            before = now
