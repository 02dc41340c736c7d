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
from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import compiled, inlined, room
from refclust_numba.lowlevel.elementary import STRANDS
from refclust_numba.lowlevel.scalars import two_sum
from refclust_numba.lowlevel.threads import chunks, even, shared
from refclust_numba.pairs.finelanes import (
    ORIGINS,
    add_rows,
    fine_distances,
    fine_roots,
    fine_strands,
)
from refclust_numba.pairs.lanes import CHAIN, LENGTHS
from refclust_numba.pairs.sorting import by_cluster, ordinary
from refclust_numba.prepared import Rows

ROWS: Final = 64  # rows whose squares are kept before their roots are taken
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
    points, lost = (
        doubles(CentreMatrix.of(each).values).reshape(-1, rows.d) for each in (centres, rests)
    )
    small = np.abs(lost[lost != 0]).min(initial=1.0) < _LEAST
    top = 2 * rows.span[0] + rows.weight_span[0]  # of squares times weights
    if not ordinary(rows) or small or top > 900 or np.abs(points).max(initial=0.0) > 2.0**400:
        return reference.centre_distances(rows.points, labels, centres, rests)
    k, own = len(centres), array_over(labels, np.int32)
    tasks = chunks(rows.n, LENGTHS)
    sums = np.zeros((len(tasks), 2, 2 * k))
    lines = whole_strands(points), whole_strands(lost)

    def work(task: int, _worker: int) -> None:
        add_lengths(rows.values, rows.d, rows.weights, own, *lines, *tasks[task], sums[task])

    shared(work, len(tasks))
    return memoryview(all_joined(sums))


@compiled
def add_lengths(  # type: ignore[no-untyped-def]
    values, d, weights, labels, centres, rests, begin, end, sums
):
    """Add the distances of some rows, and their squares, to the sums of their clusters."""
    k, width = sums.shape[1] // 2, centres.shape[0] // (sums.shape[1] // 2)
    totals = np.zeros(4 * k)
    strands, lengths = room(2 * DOUBLES * ROWS, np.float64), room(4 * ROWS, np.float64)
    spare, owners = np.zeros(ROWS * width, values.dtype), np.zeros(ROWS, np.int32)
    # The last vector of later rows would pass the end of the table: they are copied.
    safe = (values.shape[0] - width) // d + 1
    for first in range(begin, end, CHAIN):
        last = min(first + CHAIN, end)
        for row in range(first, last, ROWS):
            some = min(ROWS, last - row)
            inside = max(0, min(some, safe - row))
            fine_strands(values, row * d, d, d, labels, row, centres, rests, strands, 0, inside)
            for r in range(inside, some):
                owners[r - inside] = labels[row + r]
                for j in range(d):
                    spare[(r - inside) * width + j] = values[(row + r) * d + j]
            fine_strands(spare, 0, width, d, owners, 0, centres, rests, strands, inside, some)
            fine_roots(strands, -(-some // DOUBLES), lengths)
            add_rows(lengths, some, labels, row, weights, weights.shape[0] > 0, totals)
        for c in range(k):
            for at, part in ((c, 0), (k + c, 1)):
                sums[0, at], sums[1, at] = joined(
                    sums[0, at], sums[1, at], totals[4 * c + part], totals[4 * c + part + 2]
                )
        totals[:] = 0.0


def whole_strands(table: Any) -> Any:
    """Lines with zeros behind them, so many columns that strands fit, one after another."""
    return np.ascontiguousarray(np.pad(table, ((0, 0), (0, -table.shape[1] % STRANDS)))).reshape(-1)


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
