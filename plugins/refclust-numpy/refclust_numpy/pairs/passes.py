"""Passes over rows and pairs of rows, a tile at a time: sums of distances, nearest and farthest.

A tile holds the squared distances of a few rows to a few others, added up column by column from
differences: an offset loses nothing, and memory does not grow with the square of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from refclust.kernels.pairs import extremes as extremes_reference
from refclust.kernels.pairs import lengths as reference
from refclust.kernels.pairs.extremes import NONE, Pair, first_extreme
from refclust_numpy.exact.floats import ROUND, Array, two_sum
from refclust_numpy.rows import Rows

_TILE: Final = 1 << 16  # pairs worked on at a time
_WIDTH: Final = 1 << 11  # rows of a cluster in a tile
_CHAIN: Final = 32  # numbers that are added up in any order


class Sorted(NamedTuple):
    """Rows one cluster after another, column by column; within a cluster in their order."""

    order: Array
    starts: list[int]  # of clusters, and the end
    columns: Array
    weights: Array | None

    def squares(self, ours: slice, theirs: slice) -> Array:
        """The squared distances of some rows to others, off by (d + 2) roundings of themselves."""
        total = np.zeros((ours.stop - ours.start, theirs.stop - theirs.start))
        gaps = np.empty_like(total)
        for column in self.columns:
            np.subtract(column[ours, None], column[None, theirs], out=gaps)
            gaps *= gaps
            total += gaps
        return total


def by_cluster(rows: Rows, labels: Any, k: int) -> Sorted:
    """Sort the rows of a data set."""
    owners = np.asarray(memoryview(labels))
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(k + 1)).tolist()
    columns = np.ascontiguousarray(rows.values[order].astype(np.float64).T)
    weights = None if rows.weights is None else rows.weights[order]
    return Sorted(order, starts, columns, weights)


def ordinary(rows: Rows) -> bool:
    """Whether no square or product leaves the range in which roundings are relative."""
    if not (rows.dense and rows.d):
        return False
    least, most = rows.weight_sizes
    inside = not rows.largest or (rows.largest < 2.0**400 and rows.smallest > 2.0**-400)
    return inside and (not most or (most < 2.0**100 and least > 2.0**-100))


def pieces(first: int, last: int, step: int) -> Iterator[slice]:
    """Cut a range into pieces of a size, the last one shorter."""
    for begin in range(first, last, step):
        yield slice(begin, min(begin + step, last))


def _row_sums(tile: Array) -> Array:
    """The sums of the rows of a tile, which is used up: halves are added until few are left.

    A tile of 2**11 columns takes six additions, and ``_CHAIN`` - 1 more in whatever order.
    """
    while tile.shape[1] > _CHAIN:
        half = (tile.shape[1] + 1) // 2
        tile[:, : tile.shape[1] - half] += tile[:, half:]
        tile = tile[:, :half]
    total: Array = tile.sum(axis=1)
    return total


def distance_sums(rows: Rows, labels: Any, k: int) -> Any:
    """Keeps the contract of silhouette.distance_sums."""
    if not ordinary(rows):
        return reference.distance_sums(rows.points, labels, k)
    sorted_rows = by_cluster(rows, labels, k)
    sums = np.zeros((rows.n, k))
    for ours in pieces(0, rows.n, max(1, _TILE // min(_WIDTH, rows.n))):
        for c in range(k):
            high = low = np.zeros(ours.stop - ours.start)
            for theirs in pieces(sorted_rows.starts[c], sorted_rows.starts[c + 1], _WIDTH):
                gaps = sorted_rows.squares(ours, theirs)
                np.sqrt(gaps, out=gaps)
                if sorted_rows.weights is not None:
                    gaps *= sorted_rows.weights[theirs]
                high, error = two_sum(high, _row_sums(gaps))
                low = low + error
            sums[sorted_rows.order[ours], c] = high + low
    return sums.reshape(-1).data


def extremes(rows: Rows, labels: Any, k: int) -> Any:
    """Keeps the contract of pairs.extremes."""
    if not ordinary(rows):
        return extremes_reference.extremes(rows.points, labels, k)
    sorted_rows = by_cluster(rows, labels, k)
    search = _Search(rows, sorted_rows)
    pairs = np.empty((k * (k + 1) // 2, 4), dtype=np.int32)
    place = 0
    for a in range(k):
        for b in range(a, k):
            low, high = search.bounds(a, b)
            pairs[place, :2] = search.nearest(a, b, low)
            pairs[place, 2:] = search.farthest(a, b, high)
            place += 1
    return pairs.reshape(-1).data


class _Search:
    """Squared distances with a bound; rows in doubt are measured again, pairs in rationals."""

    def __init__(self, rows: Rows, sorted_rows: Sorted) -> None:
        self._rows, self._sorted_rows = rows, sorted_rows
        self._factor = 1.0 + 4 * (rows.d + 8) * ROUND

    def _own(self, a: int) -> slice:
        return slice(self._sorted_rows.starts[a], self._sorted_rows.starts[a + 1])

    def bounds(self, a: int, b: int) -> tuple[Array, Array]:
        """The least and the greatest squared distance of each row of a to those of b."""
        own, other = self._own(a), self._own(b)
        low = np.full(own.stop - own.start, np.inf)
        high = np.full(own.stop - own.start, -np.inf)
        for ours in pieces(own.start, own.stop, max(1, _TILE // _WIDTH)):
            here = slice(ours.start - own.start, ours.stop - own.start)
            for theirs in pieces(ours.start if a == b else other.start, other.stop, _WIDTH):
                squares = self._sorted_rows.squares(ours, theirs)
                if a == b:  # rows before, and the row itself, make no pair
                    before = np.arange(theirs.start, theirs.stop) <= np.arange(
                        ours.start, ours.stop
                    ).reshape(-1, 1)
                    np.copyto(squares, np.inf, where=before)
                np.minimum(low[here], squares.min(axis=1), out=low[here])
                if a == b:
                    np.copyto(squares, -np.inf, where=before)
                np.maximum(high[here], squares.max(axis=1), out=high[here])
        return low, high

    def nearest(self, a: int, b: int, low: Array) -> Pair:
        """The first of the nearest pairs of two clusters."""
        least = float(low.min(initial=np.inf))
        if least == np.inf:
            return NONE
        reach = least * self._factor
        pairs = self._pairs(a, b, np.flatnonzero(low <= reach), -1.0, reach)
        # Without underflow a distance of 0 is that of equal rows.
        return first_extreme(pairs, self._row, nearest=True) if least else next(pairs)

    def farthest(self, a: int, b: int, high: Array) -> Pair:
        """The first of the farthest pairs of two clusters."""
        most = float(high.max(initial=-np.inf))
        if most == -np.inf:
            return NONE
        reach = most / self._factor
        pairs = self._pairs(a, b, np.flatnonzero(high >= reach), reach, np.inf)
        return first_extreme(pairs, self._row, nearest=False) if most else next(pairs)

    def _pairs(self, a: int, b: int, doubtful: Array, low: float, high: float) -> Iterator[Pair]:
        """The pairs of some rows of a cluster whose squared distance lies within bounds."""
        first, other, order = self._sorted_rows.starts[a], self._own(b), self._sorted_rows.order
        for place in (doubtful + first).tolist():
            begin = place + 1 if a == b else other.start
            for theirs in pieces(begin, other.stop, _TILE):
                squares = self._sorted_rows.squares(slice(place, place + 1), theirs)[0]
                for partner in np.flatnonzero((squares >= low) & (squares <= high)).tolist():
                    yield int(order[place]), int(order[theirs.start + partner])

    def _row(self, i: int) -> tuple[float, ...]:
        return tuple(map(float, self._rows.values[i].tolist()))
