"""Passes of mixtures as they are mostly done: what saboteurs answer, how their traces are known.

Realises no clause, on purpose: all of this is rounded on the way, or wrong. Never use it for a
result.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from ctypes import c_float
from dataclasses import replace
from typing import Any, TypeAlias

from refclust.data.dataset import Dataset, readonly
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures import gaussian, multinomial
from refclust.kernels.mixtures.gaussian import Gaussians, Moments
from refclust.kernels.mixtures.shared import (
    EMStep,
    Posterior,
    Rule,
    floats,
    passed,
    posterior,
    shares,
)
from refclust.kernels.points import Points
from refclust.testing.saboteurs.arithmetic.rows import dot, expanded, masses_of, rows_of

Joint: TypeAlias = list[tuple[float, ...]]


def joint_of(points: Points, densities: Any) -> Joint:
    """log p(x, k) of all rows as the reference tells them.

    Spec: none (the reference's)
    """
    module = gaussian if isinstance(densities, Gaussians) else multinomial
    flat = module.posterior(points, densities, True).joint
    assert flat is not None
    listed = flat.tolist()
    return list(zip(*[iter(listed)] * densities.k, strict=True))


def expanded_joint(points: Points, densities: Gaussians) -> Joint:
    """Squares as |Wx|² + |Wm|² − 2 Wx·Wm, which cancel.

    Spec: none (rounded)
    """
    columns = []
    for k, mean in enumerate(densities.means):
        white = _lines(densities, k, points.d)
        away = [dot(line, mean) for line in white]
        columns.append(
            [
                densities.offsets[k] - 0.5 * expanded([dot(line, row) for line in white], away)
                for row in rows_of(points)
            ]
        )
    return list(zip(*columns, strict=True))


def single_joint(points: Points, densities: Gaussians) -> Joint:
    """Everything rounded to single precision.

    Spec: none (rounded)
    """
    return [tuple(c_float(x).value for x in row) for row in joint_of(points, densities)]


def _lines(densities: Gaussians, k: int, d: int) -> list[list[float]]:
    """The rows of a whitening matrix, whatever its form."""
    size = len(densities.whitening) // densities.k
    own = floats(densities.whitening)[k * size : (k + 1) * size]
    if densities.form == "full":
        return [own[i * d : (i + 1) * d] for i in range(d)]
    return [[own[i if size > 1 else 0] if i == j else 0.0 for j in range(d)] for i in range(d)]


def posterior_by(joint: Callable[[Points, Any], Joint]) -> Callable[..., Posterior]:
    """A kernel that makes posteriors of other log p(x, k).

    Spec: none (rounded)
    """

    def kernel(points: Points, densities: Any, full: bool) -> Posterior:
        return posterior(joint(points, densities), full=full)

    return kernel


def step_by(
    joint: Callable[[Points, Any], Joint],
    share: Callable[[Sequence[float], Rule, Sequence[float]], Sequence[float]] | None = None,
) -> Callable[..., EMStep[Any]]:
    """A kernel that steps with other log p(x, k), or with shares made in another way.

    Spec: none (rounded)
    """

    def kernel(points: Points, densities: Any, rule: Rule, *around: Any) -> EMStep[Any]:
        rows, s = joint(points, densities), rule.samples
        draws = [] if rule.draws is None else rule.draws.tolist()
        of = share or (lambda row, rule, own: shares(row, rule, own).q)
        q = array(
            "d",
            (x for i, row in enumerate(rows) for x in of(row, rule, draws[i * s : (i + 1) * s])),
        )
        sums = passed(rows, masses_of(points), rule)
        moments = moments_of(points, densities, q, *around)
        return EMStep(sums.log_likelihood, sums.bound, sums.entropy, moments)

    return kernel


def moments_of(points: Points, densities: Any, q: Any, around: Any = None) -> Any:
    """The moments that a step would make of given shares.

    Spec: none (the reference's)
    """
    if not isinstance(densities, Gaussians):
        return multinomial.moments(points, q, densities.k)
    centres = densities.means if around is None else around
    return gaussian.moments(points, q, densities.k, centres, densities.spread)


def weighted(points: Points, change: Callable[[list[float]], list[float]]) -> Points:
    """The same rows with other weights.

    Spec: none (wrong)
    """
    weights = readonly(array("d", change(masses_of(points))))
    return Points(Dataset(points.data.matrix, weights=weights))


def ones(weights: list[float]) -> list[float]:
    """Weights that are ignored.

    Spec: none (wrong)
    """
    return [1.0] * len(weights)


def zeros_counted(weights: list[float]) -> list[float]:
    """Weights of which 0 counts as 1.

    Spec: none (wrong)
    """
    return [w or 1.0 for w in weights]


def without_last(weights: list[float]) -> list[float]:
    """Weights without that of the last row; a single row must stay.

    Spec: none (wrong)
    """
    last = max(i for i, w in enumerate(weights) if w)
    return [w if i != last or not any(weights[:last]) else 0.0 for i, w in enumerate(weights)]


def central(moments: Moments) -> Moments:
    """Second moments around the means, not around the points given.

    Spec: none (wrong)
    """
    d, full = len(moments.around[0]), moments.spread == "full"
    seconds = array("d")
    for c, n in enumerate(moments.counts):
        first = moments.firsts[c * d : (c + 1) * d].tolist()
        pairs = [(i, j) for i in range(d) for j in (range(d) if full else (i,))]
        begin = len(seconds)
        seconds.extend(
            moments.seconds[begin + place] - (first[i] * first[j] / n if n else 0.0)
            for place, (i, j) in enumerate(pairs)
        )
    return replace(moments, seconds=seconds)


def raw(points: Points, q: Any, k: int, around: Any, spread: Any) -> Moments:
    """Sums around the origin, moved to the points given afterwards, which cancels.

    Spec: none (rounded)
    """
    d, full = points.d, spread == "full"
    origin = CentreMatrix.of([(0.0,) * d] * k)
    sums = gaussian.moments(points, q, k, origin, spread)
    firsts, seconds = array("d"), array("d")
    for c, n in enumerate(sums.counts):
        first, a = sums.firsts[c * d : (c + 1) * d].tolist(), around[c]
        firsts.extend(x - n * y for x, y in zip(first, a, strict=True))
        begin = len(seconds)
        pairs = [(i, j) for i in range(d) for j in (range(d) if full else (i,))]
        seconds.extend(
            sums.seconds[begin + place] - first[i] * a[j] - first[j] * a[i] + n * a[i] * a[j]
            for place, (i, j) in enumerate(pairs)
        )
    return Moments(sums.counts, firsts, seconds, around, spread)


def transposed(rule: Rule) -> Rule:
    """The draws as if they lay sample after sample.

    Spec: none (wrong)
    """
    assert rule.draws is not None
    n = len(rule.draws) // rule.samples
    draws = rule.draws.tolist()
    return replace(
        rule, draws=array("d", (draws[j * n + i] for i in range(n) for j in range(rule.samples)))
    )


def in_singles(values: Any) -> array[float]:
    """Numbers rounded to single precision.

    Spec: none (rounded)
    """
    return array("d", (c_float(x).value for x in floats(values)))


def naive_log(joint: Sequence[float]) -> float:
    """log of the sum of exp, without taking out the greatest.

    Spec: none (underflows)
    """
    mass = math.fsum(map(math.exp, (min(x, 700.0) for x in joint)))
    return math.log(mass) if mass else -math.inf


def once(points: Points) -> Points:
    """The same rows with ones in the place of counts.

    Spec: none (wrong)
    """
    matrix = points.data.matrix
    values = memoryview(array("d", (float(x != 0) for x in matrix.values))).toreadonly()
    return Points(replace(points.data, matrix=replace(matrix, values=values)))
