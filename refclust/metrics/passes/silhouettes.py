"""The mean silhouette from sums of distances in doubles, with a proven bound.

A sum of distances errs by e of itself (``relative_bound``), a mean distance by e + 2 u. Let r be
the quotient of the mean distance to the own cluster and the least one to another. A silhouette is
1 - r or 1 / r - 1, which changes by no more than log r does: 2 (e + 2 u). Which of the two it is
does not matter where r is near 1: there both are near 0, and one goes over into the other. Its
quotient and difference are rounded, a mean of silhouettes is rounded three times: 16 u more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import mul, truediv

from refclust.kernels.contracts.lengths import relative_bound
from refclust.numbers.argmin import ROUND


@dataclass(frozen=True, slots=True)
class Bounded:
    """A value in doubles, and by how much it may be off."""

    value: float
    bound: float


def mean_silhouette(
    sums: Sequence[float],
    groups: Sequence[Sequence[int]],
    weights: Sequence[float],
    d: int,
    *,
    average: str = "points",
) -> Bounded | None:
    """The mean silhouette of all objects, or the mean of the means of clusters, or of larger ones.

    ``sums`` are the distances of every object to every cluster, added up with the weights.

    Spec: KER-DISTSUM

    >>> mean_silhouette([1, 5, 1, 4, 9, 0], [[0, 1], [2]], [1, 1, 1], 1).value
    0.5166666666666667
    """
    k = len(groups)
    columns = [sums[c::k] for c in range(k)]
    sizes = [math.fsum(weights[i] for i in group) for group in groups]
    totals = [
        _added(columns, group, c, sizes, [weights[i] for i in group])
        for c, group in enumerate(groups)
    ]
    if average == "points":
        value = math.fsum(totals) / math.fsum(sizes)
    else:
        chosen = [c for c, size in enumerate(sizes) if average != "larger" or size > 1]
        if not chosen:
            return None
        value = math.fsum(totals[c] / sizes[c] for c in chosen) / len(chosen)
    return Bounded(value, 2 * (relative_bound(d) + 2 * ROUND) + 16 * ROUND)


def _added(
    columns: Sequence[Sequence[float]],
    group: Sequence[int],
    c: int,
    sizes: Sequence[float],
    weights: Sequence[float],
) -> float:
    """The silhouettes of a cluster's objects, added up with their weights."""
    if sizes[c] == 1:
        return 0.0
    own = map(truediv, map(columns[c].__getitem__, group), repeat(sizes[c] - 1))
    others = (
        map(truediv, map(column.__getitem__, group), repeat(sizes[other]))
        for other, column in enumerate(columns)
        if other != c
    )
    nearest = map(min, *others) if len(columns) > 2 else next(others)
    return math.fsum(map(mul, weights, map(_width, own, nearest)))


def _width(a: float, b: float) -> float:
    if a < b:
        return 1.0 - a / b
    return b / a - 1.0 if a else 0.0
