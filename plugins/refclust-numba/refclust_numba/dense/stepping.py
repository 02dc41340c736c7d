"""The compiled pass over dense rows: labels, margins, and the rows that change clusters.

Threads take chunks of blocks one after another; no result depends on which one takes which.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from refclust_numba.dense.ladder import climb
from refclust_numba.dense.lanes import lowest
from refclust_numba.dense.moving import move_rows
from refclust_numba.dense.packing import pack_few
from refclust_numba.dense.screening import ROWS, fetch, screen, unproven
from refclust_numba.lowlevel.build import LANES
from refclust_numba.lowlevel.compiling import compiled, inlined
from refclust_numba.lowlevel.scalars import ones, taken

_LIST: Final = 1024  # rows that changed, before they are moved
_BYTES: Final = 1 << 19  # of such rows, so that they stay in the cache
_LINE: Final = 64  # bytes of the cache that come together
_SHRINK: Final = np.float32(1.0 - 2.0**-20)


@compiled
def step_blocks(  # type: ignore[no-untyped-def]
    table, weights, blocks, lengths, middle, factor, group, first, slope, start, drift, by_columns,
    cosine, names, old, new, margins, limit, sums, net, counts, magic, weight_magic, turn,
    chunk, told,
):  # fmt: skip
    """Label blocks of rows until none is left; -1 for rows in doubt after the third rung.

    ``told`` counts the rows that each rung decided, those left, and those whose label changed.
    """
    n, d = table.shape
    count, volume = -(-n // ROWS), d * ROWS
    screened, compared = blocks.shape[0] > 0, old.shape[0] > 0
    adding = sums.shape[0] > 0
    bounded, keeping = drift.shape[0] > 0, margins.shape[0] > 0
    squares, lows = np.empty(by_columns.shape[1]), np.empty(by_columns.shape[1])
    index, margin = np.empty(ROWS, np.int32), np.empty(ROWS, np.float32)
    listed = max(2 * ROWS, min(_LIST, _BYTES // (d * np.int64(table.itemsize))))
    rows, was, now = (
        np.empty(listed, np.int64),
        np.empty(listed, np.int32),
        np.empty(listed, np.int32),
    )
    moving = np.int64(0)
    # Rows that are not proven in blocks where most are: collected in a block of their own.
    few = np.zeros(volume if bounded else 1, np.float32)
    few_rows, few_lengths = np.empty(2 * ROWS, np.int64), np.zeros(ROWS, np.float32)
    columns = middle.shape[0]
    part, spare = np.zeros((LANES, columns), np.float32), np.zeros(columns, table.dtype)
    square = np.empty((LANES, LANES), np.float32)
    filled = 0
    # Addresses are asked for once: each time costs as much as a few rows.
    all_blocks, all_lengths = blocks.ctypes.data, lengths.ctypes.data
    few_blocks, all_few_lengths = few.ctypes.data, few_lengths.ctypes.data
    centres, starts, groups = group.ctypes.data, first.ctypes.data, group.shape[0]
    indices, found, tickets = index.ctypes.data, margin.ctypes.data, turn.ctypes.data
    bounds = margins.ctypes.data
    numbers, size_of_row = table.ctypes.data, np.int64(table.itemsize) * d
    b, last, done = 0, 0, False
    while True:
        whole = not (filled >= ROWS or (done and filled > 0))
        i, size = b * ROWS, min(filled, ROWS)
        if moving > listed - ROWS or (whole and done):
            told[4] += moving
            if adding:
                move_rows(
                    table, weights, rows, was, now, moving, sums, net, counts, magic, weight_magic
                )
            moving = np.int64(0)
        if whole:
            if done:
                break
            if b == last:
                b = taken(tickets) * chunk
                last = min(b + chunk, count)
                done = b >= count
                continue
            size = min(ROWS, n - i)
            b += 1
            if bounded:
                lower(margins, drift, old, i, size)
                mask = unproven(bounds + 4 * i)
                if size < ROWS:
                    mask &= (np.uint64(1) << np.uint64(size)) - np.uint64(1)
                failing = np.int64(ones(mask))
                if failing <= limit:
                    told[0] += size - failing
                    for r in range(np.uint64(size)):
                        new[np.uint64(i) + r] = old[np.uint64(i) + r]
                    while mask != 0:
                        chosen = i + np.int64(lowest(mask))
                        mask &= mask - np.uint64(1)
                        few_rows[filled] = chosen
                        filled += 1
                        fetch_row(numbers + size_of_row * chosen, size_of_row)
                    continue
            x = all_blocks + 4 * i * d
            far = all_lengths + 4 * i
            ahead = x + 4 * volume if b < count else x
        else:
            pack_few(table, few_rows, size, middle, factor, few, part, square, spare)
            for r in range(size):
                few_lengths[r] = lengths[few_rows[r]]
            x, far, ahead = few_blocks, all_few_lengths, few_blocks
        doubts = np.int64(1)
        if screened:
            doubts = screen(
                x, centres, starts, d, groups, indices, found, far, slope, start, keeping, ahead
            )
        if doubts == 0:
            told[0] += size
        else:
            for r in range(size):
                if screened and margin[r] > 0:
                    told[0] += 1
                    continue
                row = i + r if whole else few_rows[r]
                label, rung = climb(table, row, by_columns, cosine, squares, lows)
                index[r] = label if rung else -1
                margin[r] = np.float32(0.0)
                told[3 if rung == 0 else rung] += 1
        if names.shape[0]:
            for r in range(size):
                index[r] = names[index[r]] if index[r] >= 0 else -1
        if whole:
            at = np.uint64(i)
            for r in range(np.uint64(size)):
                new[at + r] = index[r]
            if keeping:
                for r in range(np.uint64(size)):
                    margins[at + r] = margin[r]
            if compared:
                differ = np.int32(0)
                for r in range(np.uint64(size)):
                    differ |= old[at + r] ^ index[r]
                if differ != 0:
                    for r in range(np.uint64(size)):
                        if index[r] >= 0 and index[r] != old[at + r]:
                            rows[moving], was[moving], now[moving] = i + r, old[at + r], index[r]
                            fetch_row(numbers + size_of_row * (i + r), size_of_row)
                            moving += 1
            elif adding:
                for r in range(np.uint64(size)):
                    # Written always, counted only if decided: no branch to guess.
                    rows[moving], was[moving], now[moving] = i + r, -1, index[r]
                    moving += 0 if index[r] < 0 else 1
                for place in range(0, size_of_row * size, _LINE):
                    fetch(numbers + size_of_row * i + place)
        else:
            for r in range(size):
                row = few_rows[r]
                margins[row] = margin[r]
                new[row] = index[r]
                if index[r] >= 0 and index[r] != old[row]:
                    rows[moving], was[moving], now[moving] = row, old[row], index[r]
                    fetch_row(numbers + size_of_row * row, size_of_row)
                    moving += 1
            filled -= size
            for r in range(filled):
                few_rows[r] = few_rows[size + r]


@inlined
def fetch_row(address, size):  # type: ignore[no-untyped-def]
    """Ask for the beginning of a row that will be read soon: who reads on is served anyway."""
    for place in range(0, min(size, 4 * _LINE) + _LINE - 1, _LINE):
        fetch(address + place)


@inlined
def lower(margins, drift, labels, i, size):  # type: ignore[no-untyped-def]
    """Lower the margins of some rows by what the centres moved."""
    at = np.uint64(i)
    for r in range(np.uint64(size)):
        left = margins[at + r] - drift[np.uint32(labels[at + r])]
        margins[at + r] = left * _SHRINK
