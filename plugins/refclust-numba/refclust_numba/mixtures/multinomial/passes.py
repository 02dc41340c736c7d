"""The compiled passes over rows of counts.

Log-densities are added up row by row in the order of columns, shares are made a block of rows at a
time; what a chunk of blocks tells is added up in the order of chunks. Sums of counts belong to
columns: whoever takes a column adds its counts in the order of rows. So no answer depends on the
number of threads.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import compiled, inlined
from refclust_numba.mixtures.blocks import TOTALS, look, share_out, tell
from refclust_numba.mixtures.gaussian.blocks import turn_block
from refclust_numba.mixtures.multinomial.lanes import gather, scatter
from refclust_numba.mixtures.responsibilities import BLOCK

CHUNK: Final = 8 * BLOCK  # rows whose sums are told together
TOLD: Final = 3  # numbers before the counts of a chunk: J, the bound, the entropy
_TILE: Final = 64  # columns


@inlined
def layout(k, lanes):  # type: ignore[no-untyped-def]
    """Where things are in a worker's room, counted in doubles; the last one is its size.

    In order: log p(x, k) of a block row by row, the same or shares component by component, one more
    block of them as chosen, weights, ones, log p(x), totals, columns found that must be there.
    """
    joint = BLOCK * lanes
    chosen = joint + BLOCK * lanes
    weights = chosen + BLOCK * lanes
    ones = weights + BLOCK
    found = ones + BLOCK
    totals = found + BLOCK
    seen = totals + TOTALS
    return joint, chosen, weights, ones, found, totals, seen, seen + k


@inlined
def _mend(rows, densities, certain, work, first, real):  # type: ignore[no-untyped-def]
    """Put -inf where products cannot tell that a component cannot have made a row."""
    starts, columns, _, signed = rows
    k, lanes, d, never, slopes = densities[:5]
    due, lists, names = certain
    joint, _, _, _, _, _, seen, _ = layout(k, lanes)
    if signed and never:
        # A slope of -inf times a negative count is no -inf, and two of them are no number.
        for r in range(real):
            for c in range(k):
                at = joint + c * BLOCK + r
                if not np.isfinite(work[at]):
                    for place in range(starts[first + r], starts[first + r + 1]):
                        if slopes[c * d + columns[place]] == -np.inf:
                            work[at] = -np.inf
    if due.shape[0]:
        for r in range(real):
            for c in range(k):
                work[seen + c] = 0.0
            for place in range(starts[first + r], starts[first + r + 1]):
                column = columns[place]
                for i in range(lists[column], lists[column + 1]):
                    work[seen + names[i]] += 1.0
            for c in range(k):
                if work[seen + c] < due[c]:
                    work[joint + c * BLOCK + r] = -np.inf


@inlined
def _segments(owners, low, high, row):  # type: ignore[no-untyped-def]
    """The first of some segments, in the order of their rows, that belongs to a row or a later."""
    while low < high:
        middle = (low + high) // 2
        if owners[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def _gather_rows(packed, densities, begin, end, before, shares):  # type: ignore[no-untyped-def]
    """Write log p(x, k) of some rows to where their shares will be."""
    owners, begins, columns, values, _, firsts = packed
    table, offsets = densities[5], densities[6]
    groups, width = table.shape[0], table.shape[2]
    columns_at, values_at = np.int64(columns.ctypes.data), np.int64(values.ctypes.data)
    for g in range(groups):
        for i in range(begin - before, end - before):
            for lane in range(width):
                shares[g, i, lane] = offsets[g * width + lane]
        lines, sums = np.int64(table[g].ctypes.data), np.int64(shares[g].ctypes.data)
        for b in range(firsts.shape[0] - 1):
            # Lines of a block stay in the cache while all rows pass by.
            last = _segments(owners, firsts[b], firsts[b + 1], end)
            for s in range(_segments(owners, firsts[b], last, begin), last):
                at = begins[s]
                gather(
                    width // DOUBLES, columns_at + 4 * at, values_at + 8 * at, begins[s + 1] - at,
                    lines, sums + 8 * width * (owners[s] - before),
                )  # fmt: skip


@compiled
def share_rows(  # type: ignore[no-untyped-def]
    rows, packed, densities, certain, rule, draws, weights, span, work, shares, told
):
    """Share out the rows of some chunks: from, to, the first row in ``shares``."""
    k, lanes = densities[0], densities[1]
    groups, width = shares.shape[0], shares.shape[2]
    begin, end, before = span
    base = np.int64(work.ctypes.data)
    joint, chosen, weighed, ones, found, totals, _, _ = layout(k, lanes)
    for r in range(BLOCK):
        work[ones + r] = 1.0
    _gather_rows(packed, densities, begin, end, before, shares)
    for start in range(begin, end, CHUNK):
        stop = min(start + CHUNK, end)
        sums = told[start // CHUNK]
        sums[:] = 0.0
        for i in range(totals, totals + TOTALS):
            work[i] = 0.0
        for first in range(start, stop, BLOCK):
            real, at = min(BLOCK, stop - first), first - before
            for g in range(groups):
                shares[g, at + real : at + BLOCK] = 0.0
                source = np.int64(shares[g, at:].ctypes.data)
                turn_block(source, False, width, base + 8 * (joint + g * width * BLOCK))
            _mend(rows, densities, certain, work, first, real)
            for r in range(BLOCK):
                own = weights[first + r] if weights.shape[0] and r < real else 1.0
                work[weighed + r] = own if r < real else 0.0
            places = joint, chosen, found, totals
            weight, one = base + 8 * weighed, base + 8 * ones
            q = share_out(work, base, places, k, weight, one, rule, draws, first, real)
            for c in range(k):
                mass, lane, into = 0.0, c % width, shares[c // width]
                for r in range(real):
                    x = work[q + c * BLOCK + r]
                    mass += x
                    into[at + r, lane] = x
                sums[TOLD + c] += mass
        tell(work, totals, rule, sums)


@compiled
def given_rows(labels, q, k, weights, span, shares, told):  # type: ignore[no-untyped-def]
    """Write the weighted shares that labels (-1: none) or n times K numbers tell."""
    begin, end, before = span
    width = shares.shape[2]
    for i in range(begin, end):
        sums = told[i // CHUNK]
        if i % CHUNK == 0:
            sums[:] = 0.0
        weight = weights[i] if weights.shape[0] else 1.0
        for c in range(k):
            x = q[i * k + c] if q.shape[0] else (1.0 if labels[i] == c else 0.0)
            shares[c // width, i - before, c % width] = weight * x
            sums[TOLD + c] += weight * x


@compiled
def posterior_rows(  # type: ignore[no-untyped-def]
    rows, densities, certain, begin, end, work, labels, logs, whole
):
    """Write labels, log p(x) and, if there is room for it, log p(x, k) of some rows."""
    starts, columns, values, _ = rows
    k, lanes = densities[0], densities[1]
    table, offsets = densities[5], densities[6]
    groups, width = table.shape[0], table.shape[2]
    columns_at, values_at = np.int64(columns.ctypes.data), np.int64(values.ctypes.data)
    lines, base = np.int64(table.ctypes.data), np.int64(work.ctypes.data)
    joint, _, _, ones, found, totals, _, _ = layout(k, lanes)
    for r in range(BLOCK):
        work[ones + r] = 1.0
    for first in range(begin, end, BLOCK):
        real = min(BLOCK, end - first)
        for r in range(real):
            at, place = r * lanes, starts[first + r]
            count = starts[first + r + 1] - place
            for lane in range(lanes):
                work[at + lane] = offsets[lane]
            for g in range(groups):
                gather(
                    width // DOUBLES, columns_at + 4 * place, values_at + 8 * place, count,
                    lines + 8 * g * table.shape[1] * width, base + 8 * (at + g * width),
                )  # fmt: skip
        turn_block(base, False, lanes, base + 8 * joint)
        _mend(rows, densities, certain, work, first, real)
        places = joint, found, totals
        look(work, base, places, k, base + 8 * ones, first, real, labels, logs, whole)


@compiled
def add_counts(packed, b, before, after, shares, table):  # type: ignore[no-untyped-def]
    """Add the counts of some rows in a block of columns, times their shares, to the table.

    The lines of these columns are cleared before the first row.
    """
    owners, begins, columns, values, edges, firsts = packed
    width = table.shape[1]
    columns_at, values_at = np.int64(columns.ctypes.data), np.int64(values.ctypes.data)
    lines, given = np.int64(table.ctypes.data), np.int64(shares.ctypes.data)
    if before == 0:
        table[edges[b] : edges[b + 1]] = 0.0
    last = _segments(owners, firsts[b], firsts[b + 1], after)
    for s in range(_segments(owners, firsts[b], last, before), last):
        at = begins[s]
        scatter(
            width // DOUBLES, columns_at + 4 * at, values_at + 8 * at, begins[s + 1] - at,
            lines, given + 8 * width * (owners[s] - before),
        )  # fmt: skip


@compiled
def lay(slopes, k, table, begin, end):  # type: ignore[no-untyped-def]
    """Write some lines of the table; tell whether there is a slope of -inf."""
    groups, d, width = table.shape
    never = False
    for first in range(begin, end, _TILE):
        last = min(first + _TILE, end)
        for g in range(groups):
            for lane in range(width):
                c = g * width + lane
                for j in range(first, last):
                    x = slopes[c * d + j] if c < k else 0.0
                    never |= x == -np.inf
                    table[g, j, lane] = x
    return never


@compiled
def unlay(table, k, sums, begin, end):  # type: ignore[no-untyped-def]
    """Write some columns of the sums, component after component; tell whether all are finite."""
    _, d, width = table.shape
    finite = True
    for first in range(begin, end, _TILE):
        last = min(first + _TILE, end)
        for c in range(k):
            g, lane = c // width, c % width
            for j in range(first, last):
                x = table[g, j, lane]
                finite &= x - x == 0.0
                sums[c * d + j] = x
    return finite
