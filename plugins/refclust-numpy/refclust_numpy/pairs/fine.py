"""Fine sums of distances, a tile at a time: every number is two doubles, the second much smaller.

What an operation loses is a double again, and goes to the low part: the proof is in
``refclust.kernels.contracts.lengths``. Sums over rows are made of halves, so no chain is longer
than that of the columns.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refclust.kernels.pairs import fine as reference
from refclust_numpy.exact.floats import Array, two_product, two_square, two_sum
from refclust_numpy.pairs.passes import by_cluster, ordinary, pieces
from refclust_numpy.rows import Rows, matrix

_TILE: Final = 1 << 14  # pairs worked on at a time
_WIDTH: Final = 1 << 10  # rows of a cluster in a tile
_NUMBERS: Final = 1 << 15  # numbers of rows measured from centres at a time


def fine_sums(rows: Rows, labels: Any, k: int) -> Any:
    """Keeps the contract of silhouette.fine_sums."""
    if not ordinary(rows):
        return reference.fine_sums(rows.points, labels, k)
    table = by_cluster(rows, labels, k)
    sums = np.zeros((2, rows.n, k))
    for ours in pieces(0, rows.n, max(1, _TILE // min(_WIDTH, rows.n))):
        own = table.order[ours]
        for c in range(k):
            for theirs in pieces(table.starts[c], table.starts[c + 1], _WIDTH):
                high = low = np.zeros((ours.stop - ours.start, theirs.stop - theirs.start))
                for column in table.columns:
                    gap, rest = two_sum(column[ours, None], -column[None, theirs])
                    high, low = _plus_square(high, low, gap, rest)
                weights = None if table.weights is None else table.weights[None, theirs]
                part = _folded(*_times(*_root(high, low), weights))
                sums[:, own, c] = _joined(sums[0, own, c], sums[1, own, c], *part)
    return sums.reshape(-1).data


def centre_distances(rows: Rows, labels: Any, centres: Any, rests: Any) -> Any:
    """Keeps the contract of scatter.centre_distances."""
    points, lost = matrix(centres), matrix(rests)
    small = np.abs(lost[lost != 0]).min(initial=1.0) < 2.0**-450
    if not ordinary(rows) or small or np.abs(points).max(initial=0.0) > 2.0**400:
        return reference.centre_distances(rows.points, labels, centres, rests)
    own, k = np.asarray(memoryview(labels)), len(points)
    order = np.argsort(own, kind="stable")
    starts = np.searchsorted(own[order], np.arange(k + 1)).tolist()
    sums = np.zeros((2, 2 * k))
    for c in range(k):
        for some in pieces(starts[c], starts[c + 1], max(1, _NUMBERS // rows.d)):
            chosen = order[some]
            gap, rest = two_sum(rows.values[chosen].astype(np.float64), -points[c])
            gap, error = two_sum(gap, -lost[c])
            squares = _folded(*_square(gap, rest + error))
            weights = None if rows.weights is None else rows.weights[chosen]
            for place, part in ((c, _root(*squares)), (k + c, squares)):
                one_row = [side[None, :] for side in _times(*part, weights)]
                total = _folded(*one_row)
                both = _joined(sums[:1, place], sums[1:, place], *total)
                sums[:, place] = both[0][0], both[1][0]
    return sums.reshape(-1).data


def _square(gap: Array, rest: Array) -> tuple[Array, Array]:
    """The square of gap + rest; that of the rest is left out."""
    square, lost = two_square(gap)
    return square, lost + (gap + gap) * rest


def _plus_square(high: Array, low: Array, gap: Array, rest: Array) -> tuple[Array, Array]:
    """Add such a square to a sum."""
    square, small = _square(gap, rest)
    high, lost = two_sum(high, square)
    return high, low + (lost + small)


def _root(high: Array, low: Array) -> tuple[Array, Array]:
    """The root of a sum of two; of 0 it is 0."""
    high, low = two_sum(high, low)
    root = np.sqrt(high)
    square, lost = two_square(root)
    left = ((high - square) - lost) + low
    return root, np.divide(left, root + root, out=np.zeros_like(root), where=root > 0)


def _times(high: Array, low: Array, weights: Array | None) -> tuple[Array, Array]:
    if weights is None:
        return high, low
    product, lost = two_product(weights, high)
    return product, lost + weights * low


def _folded(high: Array, low: Array) -> tuple[Array, Array]:
    """The sums of rows: the second half of the columns is added to the first, until one is left."""
    while high.shape[1] > 1:
        half = (high.shape[1] + 1) // 2
        rest = high.shape[1] - half
        total, lost = two_sum(high[:, :rest], high[:, half:])
        lost += low[:, :rest] + low[:, half:]
        high = np.concatenate((total, high[:, rest:half]), axis=1)
        low = np.concatenate((lost, low[:, rest:half]), axis=1)
    return high[:, 0], low[:, 0]


def _joined(high: Array, low: Array, other: Array, rest: Array) -> tuple[Array, Array]:
    """The sum of two sums, with a low part below a unit of the high one."""
    total, lost = two_sum(high, other)
    return two_sum(total, lost + (low + rest))
