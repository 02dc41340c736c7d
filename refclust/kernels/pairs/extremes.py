"""The nearest and the farthest pair of rows between clusters, decided exactly (chapter 80)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import repeat
from typing import Final, TypeAlias

from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.clusters.nearness import TINY
from refclust.kernels.contracts.basic import Equal
from refclust.kernels.pairs.lengths import sparse_distance
from refclust.kernels.points import Points, Vector, grouped
from refclust.kernels.registry import kernel
from refclust.numbers.argmin import ROUND

Pair: TypeAlias = tuple[int, int]
NONE: Final = (-1, -1)


@kernel("pairs.extremes", contract=Equal())
def extremes(points: Points, labels: Labels, k: int) -> array[int]:
    """The nearest and the farthest two different rows of clusters a <= b, for all pairs of k.

    For (0, 0), (0, 1), ..., (1, 1), ... four integers each: the rows i and j of the nearest pair,
    then those of the farthest; i of cluster a, j of b, within a cluster i < j; of equally near or
    far pairs the first by i, then by j; -1 where there is no pair.

    Spec: KER-EXTREMES, VEC-SQDIST

    >>> from refclust.data.dataset import dense
    >>> extremes(Points(dense(array("d", [0, 1, 5, 8]), 1)), array("i", [0, 0, 1, 1]), 2)
    array('i', [0, 1, 0, 1, 1, 2, 0, 3, 2, 3, 2, 3])
    """
    members = grouped(memoryview(labels), range(points.n), k)
    field = _Field(points)
    pairs = array("i")
    for a in range(k):
        for b in range(a, k):
            pairs.extend(field.nearest(members[a], members[b], same=a == b))
            pairs.extend(field.farthest(members[a], members[b], same=a == b))
    return pairs


def squared_gap(x: Vector, y: Vector) -> Fraction:
    """The exact squared distance of two rows.

    Spec: VEC-SQDIST

    >>> squared_gap((0.0, 0.5), (1.0, 0.0))
    Fraction(5, 4)
    """
    return sum(((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, y, strict=True)), Fraction())


def first_extreme(
    candidates: Iterable[Pair], row: Callable[[int], Vector], *, nearest: bool
) -> Pair:
    """Of pairs in order the first whose exact distance is least, or greatest.

    Spec: KER-EXTREMES

    >>> first_extreme([(0, 1), (1, 2)], [(0.0,), (1.0,), (2.0,)].__getitem__, nearest=True)
    (0, 1)
    """
    known: dict[tuple[Vector, Vector], Fraction] = {}  # equal rows are often the reason for a tie
    best, extreme = NONE, Fraction()
    for i, j in candidates:
        rows = row(i), row(j)
        if rows not in known:
            known[rows] = squared_gap(*rows)
        gap = known[rows]
        if best == NONE or (gap < extreme if nearest else gap > extreme):
            best, extreme = (i, j), gap
    return best


class _Field:
    """Distances of rows in doubles, with their bound, and the pairs that these leave in doubt."""

    def __init__(self, points: Points) -> None:
        self._points = points
        # See ``nearness.Euclidean``: estimates err by (d + 8) u of themselves.
        self._factor = 1.0 + 4 * (points.d + 8) * ROUND
        self._sparse = (
            []
            if points.dense
            else [
                dict(zip(*pair, strict=True))
                for pair in zip(points.columns, points.rows, strict=True)
            ]
        )

    def _gaps(self, i: int, others: Sequence[int]) -> list[float]:
        if self._points.dense:
            rows = self._points.rows
            return list(map(math.dist, repeat(rows[i]), map(rows.__getitem__, others)))
        return [sparse_distance(self._sparse[i], self._sparse[j]) for j in others]

    def nearest(self, ours: Sequence[int], theirs: Sequence[int], *, same: bool) -> Pair:
        """The first of the nearest pairs."""
        least = [
            (min(self._gaps(i, others)), i, others) for i, others in _lines(ours, theirs, same)
        ]
        reach = min((low for low, _, _ in least), default=0.0)
        if reach:  # rows at the estimated distance 0 are equal
            reach = reach * self._factor + TINY
        doubtful = (
            (i, j)
            for low, i, others in least
            if not low > reach
            for j, gap in zip(others, self._gaps(i, others), strict=True)
            if not gap > reach
        )
        if not reach:
            return next(doubtful, NONE)
        return first_extreme(doubtful, self._points.whole_row, nearest=True)

    def farthest(self, ours: Sequence[int], theirs: Sequence[int], *, same: bool) -> Pair:
        """The first of the farthest pairs."""
        most = [(max(self._gaps(i, others)), i, others) for i, others in _lines(ours, theirs, same)]
        reach = max((high for high, _, _ in most), default=0.0)
        doubtful = (
            (i, j)
            for high, i, others in most
            if not high * self._factor + TINY < reach
            for j, gap in zip(others, self._gaps(i, others), strict=True)
            if not gap * self._factor + TINY < reach
        )
        if not reach:
            return next(doubtful, NONE)
        return first_extreme(doubtful, self._points.whole_row, nearest=False)


def _lines(
    ours: Sequence[int], theirs: Sequence[int], same: bool
) -> Iterable[tuple[int, Sequence[int]]]:
    """Each row of a cluster with those of the other one that pairs are made with."""
    if same:
        return ((i, ours[place:]) for place, i in enumerate(ours[:-1], 1))
    return ((i, theirs) for i in ours) if theirs else ()
