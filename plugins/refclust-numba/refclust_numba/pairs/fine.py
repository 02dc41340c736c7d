"""Fine sums of distances: KER-FINESUM between rows, KER-CENTREDIST to centres.

Every sum is two doubles. Rows that sums are made for belong to one thread, and rows whose distances
to centres are added up together to one task: the order of additions depends on the number of rows
alone. The bound is that of ``refclust.kernels.contracts.lengths``: at most ``CHAIN`` terms in a row
go to one low part, then it is brought below a unit of the high one.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refclust.kernels.centres import CentreMatrix
from refclust.kernels.pairs import fine as reference
from refclust_numba.blocks import blocks
from refclust_numba.lowlevel.arrays import array_over, doubles
from refclust_numba.lowlevel.compiling import compiled, inlined, room
from refclust_numba.lowlevel.elementary import STRANDS
from refclust_numba.lowlevel.scalars import fused, two_product, two_sum
from refclust_numba.lowlevel.threads import chunks, even, shared
from refclust_numba.pairs.finelanes import ORIGINS, fine_distances, fine_square
from refclust_numba.pairs.lanes import CHAIN, LENGTHS
from refclust_numba.pairs.sorting import by_cluster, ordinary
from refclust_numba.prepared import Rows

_LEAST: Final = 2.0**-450


def fine_sums(rows: Rows, labels: Any, k: int) -> Any:
    """Keeps the contract of silhouette.fine_sums."""
    if not ordinary(rows):
        return reference.fine_sums(rows.points, labels, k)
    table = by_cluster(rows, labels, k)
    sums = np.zeros((2, rows.n, k))
    pieces = even(table.blocks, blocks.origins)

    def work(piece: int, _worker: int) -> None:
        add_fine(
            table.packed, table.lines, table.weights, table.starts, table.order, rows.d, sums,
            *pieces[piece],
        )  # fmt: skip

    shared(work, len(pieces))
    return memoryview(sums.reshape(-1))  # type: ignore[arg-type]


@inlined
def joined(high, low, other, rest):  # type: ignore[no-untyped-def]
    """The sum of two sums, with a low part below a unit of the high one."""
    total, lost = two_sum(high, other)
    return two_sum(total, lost + (low + rest))


@compiled
def add_fine(  # type: ignore[no-untyped-def]
    packed, lines, weights, starts, order, d, sums, begin, end
):
    """Write the sums of the rows of some blocks."""
    highs, lows = room(ORIGINS * STRANDS, np.float64), room(ORIGINS * STRANDS, np.float64)
    for first in range(begin * STRANDS, end * STRANDS, ORIGINS):
        if order[first] < 0:
            continue  # copies alone
        for c in range(starts.shape[0] - 1):
            for block in range(starts[c], starts[c + 1], CHAIN):
                some = min(CHAIN, starts[c + 1] - block)
                fine_distances(packed, block, some, d, lines, first * d, weights, highs, lows)
                for o in range(ORIGINS):
                    i = order[first + o]
                    if i < 0:
                        continue
                    high, low = sums[0, i, c], sums[1, i, c]
                    for s in range(o * STRANDS, (o + 1) * STRANDS):
                        high, low = joined(high, low, highs[s], lows[s])
                    sums[0, i, c], sums[1, i, c] = high, low


def centre_distances(rows: Rows, labels: Any, centres: Any, rests: Any) -> Any:
    """Keeps the contract of scatter.centre_distances."""
    points, lost = (doubles(CentreMatrix.of(each).values) for each in (centres, rests))
    small = np.abs(lost[lost != 0]).min(initial=1.0) < _LEAST
    top = 2 * rows.span[0] + rows.weight_span[0]  # of squares times weights
    if not ordinary(rows) or small or top > 900 or np.abs(points).max(initial=0.0) > 2.0**400:
        return reference.centre_distances(rows.points, labels, centres, rests)
    k, own = len(centres), array_over(labels, np.int32)
    tasks = chunks(rows.n, LENGTHS)
    sums = np.zeros((len(tasks), 2, 2 * k))

    def work(task: int, _worker: int) -> None:
        add_lengths(rows.values, rows.d, rows.weights, own, points, lost, *tasks[task], sums[task])

    shared(work, len(tasks))
    return memoryview(all_joined(sums))


@inlined
def plus(high, low, c, value, rest):  # type: ignore[no-untyped-def]
    """Add two doubles to one of the sums of a chain."""
    high[c], lost = two_sum(high[c], value)
    low[c] += lost + rest


@compiled
def add_lengths(  # type: ignore[no-untyped-def]
    values, d, weights, labels, centres, rests, begin, end, sums
):
    """Add the distances of some rows, and their squares, to the sums of their clusters."""
    k, groups = sums.shape[1] // 2, d // STRANDS
    high, low = np.zeros(2 * k), np.zeros(2 * k)
    for first in range(begin, end, CHAIN):
        for i in range(first, min(first + CHAIN, end)):
            c = labels[i]
            square, low_square = fine_square(values, i * d, centres, c * d, rests, groups)
            for j in range(groups * STRANDS, d):
                gap, rest = two_sum(np.float64(values[i * d + j]), -centres[c * d + j])
                gap, lost = two_sum(gap, -rests[c * d + j])
                part, left = two_product(gap, gap)
                square, more = two_sum(square, part)
                low_square += more + fused(gap + gap, rest + lost, left)
            square, low_square = two_sum(square, low_square)
            root = np.sqrt(square)
            rest = 0.0
            if root > 0.0:
                rest = (fused(-root, root, square) + low_square) / (root + root)
            if weights.shape[0]:
                root, lost = two_product(weights[i], root)
                rest = fused(weights[i], rest, lost)
                square, lost = two_product(weights[i], square)
                low_square = fused(weights[i], low_square, lost)
            plus(high, low, c, root, rest)
            plus(high, low, k + c, square, low_square)
        for c in range(2 * k):
            sums[0, c], sums[1, c] = joined(sums[0, c], sums[1, c], high[c], low[c])
            high[c], low[c] = 0.0, 0.0


@compiled
def all_joined(sums):  # type: ignore[no-untyped-def]
    """The sums of all tasks: the high parts, then the low ones."""
    count = sums.shape[2]
    whole = room(2 * count, np.float64)
    for c in range(count):
        high, low = 0.0, 0.0
        for task in range(sums.shape[0]):
            high, low = joined(high, low, sums[task, 0, c], sums[task, 1, c])
        whole[c], whole[count + c] = high, low
    return whole
