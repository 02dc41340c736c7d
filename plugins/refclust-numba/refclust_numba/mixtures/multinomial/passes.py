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
from refclust_numba.mixtures.blocks import (
    clear_totals,
    fill_ones,
    fill_weights,
    look,
    share_out,
    tell,
)
from refclust_numba.mixtures.gaussian.blocks import turn_block
from refclust_numba.mixtures.multinomial.lanes import gather, scatter
from refclust_numba.mixtures.multinomial.records import OBJECTIVES, layout
from refclust_numba.mixtures.sizes import BLOCK

_TILE: Final = 64  # columns


@inlined
def _mend(rows, densities, certain, work, room, first, real):  # type: ignore[no-untyped-def]
    """Put -inf where products cannot tell that a component cannot have made a row."""
    starts, columns, k, d = rows.starts, rows.columns, densities.k, densities.d
    joint, seen = room.places.block, room.seen
    if rows.signed and densities.never:
        # A slope of -inf times a negative count is no -inf, and two of them are no number.
        for r in range(real):
            for c in range(k):
                at = joint + c * BLOCK + r
                if not np.isfinite(work[at]):
                    for place in range(starts[first + r], starts[first + r + 1]):
                        if densities.slopes[c * d + columns[place]] == -np.inf:
                            work[at] = -np.inf
    if certain.due.shape[0]:
        for r in range(real):
            for c in range(k):
                work[seen + c] = 0.0
            for place in range(starts[first + r], starts[first + r + 1]):
                column = columns[place]
                for i in range(certain.lists[column], certain.lists[column + 1]):
                    work[seen + certain.names[i]] += 1.0
            for c in range(k):
                if work[seen + c] < certain.due[c]:
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
def _gather_rows(packed, densities, span, shares):  # type: ignore[no-untyped-def]
    """Write log p(x, k) of some rows to where their shares will be."""
    owners, begins, firsts = packed.owners, packed.begins, packed.firsts
    table, before = densities.table, span.before
    groups, d, width = table.shape
    for g in range(groups):
        for i in range(span.begin - before, span.end - before):
            for lane in range(width):
                shares[g, i, lane] = densities.offsets[g * width + lane]
        lines, sums = g * d * width, g * shares.shape[1] * width
        for b in range(firsts.shape[0] - 1):
            # Lines of a block stay in the cache while all rows pass by.
            last = _segments(owners, firsts[b], firsts[b + 1], span.end)
            for s in range(_segments(owners, firsts[b], last, span.begin), last):
                at = begins[s]
                gather(
                    width // DOUBLES, packed.columns, packed.values, at, begins[s + 1] - at,
                    table, lines, shares, sums + width * (owners[s] - before),
                )  # fmt: skip


@inlined
def _turn_shares(shares, at, real, work, joint):  # type: ignore[no-untyped-def]
    """Write log p(x, k) of a block of rows component by component."""
    groups, lines, width = shares.shape
    for g in range(groups):
        for r in range(real, BLOCK):
            for lane in range(width):
                shares[g, at + r, lane] = 0.0
        first = (g * lines + at) * width
        turn_block(shares, first, width, work, joint + g * width * BLOCK)


@compiled
def share_rows(  # type: ignore[no-untyped-def]
    rows, packed, densities, certain, choice, weights, span, work, shares, chunk_sums
):
    """Share out the rows of some chunks."""
    k, width = densities.k, shares.shape[2]
    room = layout(k, densities.lanes)
    places = room.places
    fill_ones(work, places)
    _gather_rows(packed, densities, span, shares)
    for start in range(span.begin, span.end, span.chunk):
        stop, line = min(start + span.chunk, span.end), start // span.chunk
        chunk_sums[line, :] = 0.0
        clear_totals(work, places.totals)
        for first in range(start, stop, BLOCK):
            real, at = min(BLOCK, stop - first), first - span.before
            _turn_shares(shares, at, real, work, places.block)
            _mend(rows, densities, certain, work, room, first, real)
            fill_weights(work, places, weights, first, real)
            q = share_out(work, places, k, choice, first, real)
            for c in range(k):
                mass, lane, g = 0.0, c % width, c // width
                for r in range(real):
                    x = work[q + c * BLOCK + r]
                    mass += x
                    shares[g, at + r, lane] = x
                chunk_sums[line, OBJECTIVES + c] += mass
        tell(work, places.totals, choice, chunk_sums, line)


@compiled
def assigned_rows(labels, q, k, weights, span, shares, chunk_sums):  # type: ignore[no-untyped-def]
    """Write the weighted shares that labels (-1: none) or n times K numbers tell."""
    width = shares.shape[2]
    for i in range(span.begin, span.end):
        line = i // span.chunk
        if i % span.chunk == 0:
            chunk_sums[line, :] = 0.0
        weight = weights[i] if weights.shape[0] else 1.0
        for c in range(k):
            x = q[i * k + c] if q.shape[0] else (1.0 if labels[i] == c else 0.0)
            shares[c // width, i - span.before, c % width] = weight * x
            chunk_sums[line, OBJECTIVES + c] += weight * x


@compiled
def posterior_rows(  # type: ignore[no-untyped-def]
    rows, densities, certain, begin, end, work, labels, logs, whole
):
    """Write labels, log p(x) and, if there is room for it, log p(x, k) of some rows."""
    k, lanes, table = densities.k, densities.lanes, densities.table
    groups, d, width = table.shape
    room = layout(k, lanes)
    places = room.places
    fill_ones(work, places)
    clear_totals(work, places.totals)
    for first in range(begin, end, BLOCK):
        real = min(BLOCK, end - first)
        for r in range(real):
            at, place = r * lanes, rows.starts[first + r]
            count = rows.starts[first + r + 1] - place
            for lane in range(lanes):
                work[at + lane] = densities.offsets[lane]
            for g in range(groups):
                gather(
                    width // DOUBLES, rows.columns, rows.values, place, count,
                    table, g * d * width, work, at + g * width,
                )  # fmt: skip
        turn_block(work, 0, lanes, work, places.block)
        _mend(rows, densities, certain, work, room, first, real)
        look(work, places, k, first, real, labels, logs, whole)


@compiled
def add_counts(packed, b, before, after, shares, table, g):  # type: ignore[no-untyped-def]
    """Add the counts of some rows in a block of columns, times their shares, to the table.

    That is done for one group of lanes. The lines of these columns are cleared before the first
    row.
    """
    owners, begins, edges, firsts = packed.owners, packed.begins, packed.edges, packed.firsts
    _, d, width = table.shape
    if before == 0:
        table[g, edges[b] : edges[b + 1]] = 0.0
    lines, first_share = g * d * width, g * shares.shape[1] * width
    last = _segments(owners, firsts[b], firsts[b + 1], after)
    for s in range(_segments(owners, firsts[b], last, before), last):
        at = begins[s]
        scatter(
            width // DOUBLES, packed.columns, packed.values, at, begins[s + 1] - at,
            table, lines, shares, first_share + width * (owners[s] - before),
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
