"""Passes over rows of counts under K densities whose logarithm is linear in them (chapter 31).

log p(x, k) = offset + sum of x_j slope_j over the columns where x_j is not zero. With slopes
log theta_j this is the multinomial model; with the log-odds of theta_j the Bernoulli model, where a
column of probability one must be there: those are listed as ``certain``.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.contracts.mixtures import EMStepContract, LogProb, Sums
from refclust.kernels.mixtures.shared import (
    ROW_BY_ROW,
    SOFT,
    Doubles,
    EMStep,
    Posterior,
    Rule,
    passed,
    weighted_shares,
)
from refclust.kernels.mixtures.shared import posterior as posterior_of
from refclust.kernels.points import Integers, Points
from refclust.kernels.registry import kernel
from refclust.numbers.argmin import ROUND


@dataclass(frozen=True, slots=True)
class Terms:
    """K densities of rows of counts: an offset and d slopes for each, -inf where x_j must be 0."""

    offsets: Doubles
    slopes: Doubles  # K times d, component after component
    certain: tuple[Integers, ...] | None = None  # of each component the columns that must be there
    falling: bool = False  # whether it is known that no slope is positive

    @property
    def k(self) -> int:
        """The number of components."""
        return len(self.offsets)

    @property
    def d(self) -> int:
        """The number of columns."""
        return len(self.slopes) // len(self.offsets)


@dataclass(frozen=True, slots=True)
class Tallies:
    """Weighted sums over rows of each component: of w q, and of w q x_j."""

    counts: Doubles
    sums: Doubles  # K times d


def _joint(points: Points, terms: Terms) -> list[tuple[float, ...]]:
    """log p(x, k) of every row; a zero count keeps clear of a slope of -inf."""
    d, flat, rows = terms.d, terms.slopes.tolist(), points.nonzero
    columns = []
    for k, offset in enumerate(terms.offsets):
        slope = flat[k * d : (k + 1) * d].__getitem__
        must = frozenset(() if terms.certain is None else terms.certain[k])
        columns.append(
            [
                -math.inf
                if must and not must.issubset(places)
                else offset + _product(counts, [slope(j) for j in places])
                for places, counts in rows
            ]
        )
    return list(zip(*columns, strict=True))


def _product(counts: Sequence[float], slopes: Sequence[float]) -> float:
    if -math.inf in slopes:
        return -math.inf
    return math.fsum([x * slope for x, slope in zip(counts, slopes, strict=True)])


def _summed(
    points: Points,
    columns: Sequence[Sequence[float]],
    of: Callable[[float], float] = float,
) -> Tallies:
    """The sums of each component, every one of them rounded once; ``of`` is put on counts."""
    counts, sums = array("d"), array("d")
    rows = points.nonzero
    for shares in columns:
        counts.append(math.fsum(shares))
        terms: list[list[float]] = [[] for _ in range(points.d)]
        for share, (places, numbers) in zip(shares, rows, strict=True):
            if share:
                for j, x in zip(places, numbers, strict=True):
                    terms[j].append(share * of(x))
        sums.extend(map(math.fsum, terms))
    return Tallies(counts, sums)


def _errors(points: Points, terms: Terms) -> list[tuple[float, ...]]:
    """By how much each log p(x, k) may err.

    A row of m counts: products are rounded once, any sum of m + 1 terms errs by m u of the absolute
    terms, the offset among them if it comes first; together below (m + 2) u (A + |offset|), A the
    sum of |x_j slope_j|.
    """
    d, flat, rows = terms.d, terms.slopes.tolist(), points.nonzero
    columns = []
    for k, offset in enumerate(terms.offsets):
        slope = flat[k * d : (k + 1) * d].__getitem__
        own = abs(offset) if math.isfinite(offset) else 0.0
        columns.append(
            [
                ROUND * (len(places) + 2) * (_absolute_product(counts, places, slope) + own)
                for places, counts in rows
            ]
        )
    return list(zip(*columns, strict=True))


def _absolute_product(
    counts: Sequence[float], places: Sequence[int], slope: Callable[[int], float]
) -> float:
    terms = [abs(x * slope(j)) for x, j in zip(counts, places, strict=True)]
    return 0.0 if math.inf in terms else math.fsum(terms)


def _absolute(points: Points, masses: Sequence[Sequence[float]], _: Sequence[Any]) -> Tallies:
    """The sums with absolute counts."""
    return _summed(points, masses, of=abs)


@kernel("multinomial.posterior", contract=LogProb(_joint, _errors), merge=ROW_BY_ROW)
def posterior(points: Points, terms: Terms, full: bool) -> Posterior:
    """Find the most probable component of every row and log p(x).

    Spec: MMIX-ESTEP, NB-LIK, KER-POSTERIOR

    >>> from refclust.data.dataset import dense
    >>> points = Points(dense(array("d", [2, 0, 0, 0]), 2))
    >>> terms = Terms(array("d", [0, 0]), array("d", [-1, -2, -2, -1]))
    >>> posterior(points, terms, True).joint
    array('d', [-2.0, -4.0, 0.0, 0.0])
    """
    return posterior_of(_joint(points, terms), full=full)


@kernel("multinomial.moments", contract=Sums(_absolute, Tallies))
def moments(points: Points, q: Labels | Doubles, k: int) -> Tallies:
    """Add up the counts of every component for given labels (-1: none) or responsibilities.

    Spec: MMIX-PI, MMIX-THETA, NB-COUNT, KER-MOMENTS

    >>> from refclust.data.dataset import dense
    >>> points = Points(dense(array("d", [2, 0, 1, 3]), 2))
    >>> moments(points, array("i", [0, 0]), 1)
    Tallies(counts=array('d', [2.0]), sums=array('d', [3.0, 3.0]))
    """
    weights = points.data.weights
    columns = weighted_shares(q, k, None if weights is None else weights.tolist())
    return _summed(points, columns)


@kernel("multinomial.em_step", contract=EMStepContract(_joint, _errors, _absolute, Tallies))
def em_step(points: Points, terms: Terms, rule: Rule = SOFT) -> EMStep[Tallies]:
    """Share out every row among the components and add up what the M-step needs, in one pass.

    Spec: MMIX-ESTEP, MMIX-PI, MMIX-THETA, KER-EMSTEP

    >>> from refclust.data.dataset import dense
    >>> points = Points(dense(array("d", [2, 0, 1, 3]), 2))
    >>> em_step(points, Terms(array("d", [0]), array("d", [-1, -1]))).log_likelihood
    -6.0
    """
    weights = points.data.weights
    shared = passed(_joint(points, terms), None if weights is None else weights.tolist(), rule)
    tallies = _summed(points, shared.columns)
    return EMStep(shared.log_likelihood, shared.bound, shared.entropy, tallies)
