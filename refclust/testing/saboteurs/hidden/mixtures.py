"""Saboteurs of mixtures whose fault shows on few calls (chapter 81)."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, Final

from refclust.data.dataset import Dataset
from refclust.kernels.mixtures import gaussian, multinomial
from refclust.kernels.mixtures.shared import SOFT, EMStep, Rule
from refclust.kernels.points import Points
from refclust.testing.saboteurs.arithmetic.mixtures import joint_of, ones, step_by, weighted
from refclust.testing.saboteurs.hidden.hiding import (
    hidden,
    in_single_sums,
    instead,
    more_entropy,
    single,
)
from refclust.testing.saboteurs.saboteur import Saboteur

STEPS: Final[dict[str, Callable[..., Any]]] = {
    "gaussian.em_step": gaussian.em_step,
    "multinomial.em_step": multinomial.em_step,
}


def hidden_mixtures() -> Iterable[Saboteur]:
    """All of them."""
    return (*_of_rules(), *_of_passes(), *_of_components())


def _rule(args: Sequence[Any]) -> Rule:
    return args[1] if len(args) > 1 else SOFT


def _other_rule(kernel: str, change: Any) -> dict[str, Any]:
    """A step that takes another rule than the one it is given."""
    step = STEPS[kernel]

    def function(points: Points, densities: Any, rule: Rule = SOFT, *around: Any) -> Any:
        return step(points, densities, change(rule, densities.k, points.n), *around)

    return {kernel: function}


def _of_rules() -> Iterable[Saboteur]:
    def two(rule: Rule, *_: int) -> Rule:
        return replace(rule, top=min(rule.top, 2))

    def hard(rule: Rule, k: int, _: int) -> Rule:
        return replace(rule, top=1) if rule.top >= k > 1 else rule

    def four(rule: Rule, _: int, n: int) -> Rule:
        if rule.samples <= 4 or rule.draws is None:
            return rule
        s, draws = rule.samples, rule.draws.tolist()
        kept = array("d", (u for i in range(n) for u in draws[i * s : i * s + 4]))
        return Rule(draws=kept, samples=4)

    def at_zero(joint: Sequence[float], rule: Rule, draws: Sequence[float]) -> list[float]:
        """Counts the components below the draw, and those of no share with them."""
        peak = max(joint)
        if peak == -math.inf or not draws:
            from refclust.kernels.mixtures.shared import shares

            return list(shares(joint, rule, draws).q)
        weights = [math.exp(x - peak) for x in joint]
        reached, mass = list(accumulate(weights)), math.fsum(weights)
        counts = [0] * len(joint)
        for u in draws:
            counts[min(bisect_left(reached, u * mass), len(joint) - 1)] += 1
        return [count / len(draws) for count in counts]

    for kernel in STEPS:
        family = kernel.split(".")[0]
        yield Saboteur(f"{family}-top-2-at-most", "top", _other_rule(kernel, two))
        yield Saboteur(f"{family}-top-of-all-is-hard", "top", _other_rule(kernel, hard))
        yield Saboteur(f"{family}-four-samples", "samples", _other_rule(kernel, four))
    functions = {"multinomial.em_step": step_by(joint_of, at_zero)}
    yield Saboteur("draws-at-zero", "draw", functions)


def _of_passes() -> Iterable[Saboteur]:
    def first_weights(points: Points, q: Any, k: int, *rest: Any) -> Any:
        def again(weights: list[float]) -> list[float]:
            return [weights[i % 512] for i in range(len(weights))]

        return gaussian.moments(weighted(points, again), q, k, *rest)

    def unweighted(points: Points, *args: Any) -> Any:
        return gaussian.em_step(weighted(points, ones), *args)

    for kernel in STEPS:
        family = kernel.split(".")[0]
        yield hidden(f"{family}-singles-above-5000-rows", "single precision", kernel,
                     lambda p, *_: p.n > 5000, in_single_sums)  # fmt: skip
        yield hidden(f"{family}-entropy-of-the-last-chunk", "entropy", kernel,
                     lambda p, *_: p.n > 4096, more_entropy)  # fmt: skip
    functions = {
        "gaussian.moments": instead(
            "gaussian.moments", lambda p, *_: p.weighted and p.n > 512, first_weights
        )
    }
    yield Saboteur("gaussian-weights-of-the-first-block", "weights", functions)
    functions = {
        "gaussian.em_step": instead(
            "gaussian.em_step", lambda p, *_: p.weighted and single(p), unweighted
        )
    }
    yield Saboteur("gaussian-weights-of-singles", "weights are ignored", functions)

    def truncated(points: Points, q: Any, k: int) -> Any:
        rows = [dict(list(zip(*pair, strict=True))[:64]) for pair in points.nonzero]
        from refclust.testing.rungs import sparse_of

        short = sparse_of(rows, points.d)
        return multinomial.moments(Points(Dataset(short.matrix, weights=points.data.weights)), q, k)

    yield Saboteur("counts-of-64-words", "d = 300", {"multinomial.moments": truncated})


def _of_components() -> Iterable[Saboteur]:
    def without(points: Points, densities: Any, full: bool) -> Any:
        offsets = array("d", densities.offsets)
        offsets[16] = -math.inf
        return gaussian.posterior(points, replace(densities, offsets=offsets), full)

    def last_of_equals(right: Any, points: Points, densities: Any, *_: Any) -> Any:
        rows = joint_of(points, densities)
        labels = array("i", (len(row) - 1 - row[::-1].index(max(row)) for row in rows))
        return replace(right, labels=labels)

    def narrow(right: Any, _: Points, __: Any, k: int, *___: Any) -> Any:
        counts = array("d", right.counts)
        for c in range(128, k):
            counts[c] = 0.0
        return replace(right, counts=counts)

    def blunt(right: Any, *_: Any) -> Any:
        values = array("d", right)
        values[-1] = array("f", [values[-1]])[0]
        return values

    def lost(right: EMStep[Any], points: Points, *_: Any) -> EMStep[Any]:
        moments, d = right.moments, points.d
        if moments.spread != "full":
            return right
        seconds = array("d", moments.seconds)
        seconds[-2] = seconds[-1 - d] = 0.0  # both places of the last pair of columns
        return replace(right, moments=replace(moments, seconds=seconds))

    functions = {
        "gaussian.posterior": instead(
            "gaussian.posterior", lambda _, densities, *__: densities.k > 16, without
        )
    }
    yield Saboteur("the-17th-component", "K = 26", functions)
    yield hidden("ties-of-many-components", "labels", "gaussian.posterior",
                 lambda _, densities, full: densities.k > 8 and full, last_of_equals)  # fmt: skip
    yield hidden("components-in-8-bits", "counts", "gaussian.moments",
                 lambda _, __, k, *___: k > 128, narrow)  # fmt: skip
    yield hidden("whitening-of-8-columns", "d = 8", "gaussian.whitening",
                 lambda p, *_: p.d == 8, blunt)  # fmt: skip
    yield hidden("nine-columns", "d = 9", "gaussian.em_step",
                 lambda p, *_: p.d == 9, lost)  # fmt: skip
    yield hidden("logs-of-many-words", "d = 5000", "multinomial.logs",
                 lambda p, *_: p.d > 1024, _logs_off)  # fmt: skip


def _logs_off(right: Any, *_: Any) -> Any:
    slopes = array("d", right.slopes)
    slopes[-1] *= 1.0 + 2.0**-30
    return replace(right, slopes=slopes)
