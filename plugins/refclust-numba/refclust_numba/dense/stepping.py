"""The compiled pass over dense rows: labels, margins, and the rows that change clusters.

Threads take chunks of blocks one after another; no result depends on which one takes which.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from refclust_numba.dense.few import no_few, pack_few
from refclust_numba.dense.ladder import climb
from refclust_numba.dense.records import BlockLabels, Moves
from refclust_numba.dense.screening import ROWS, screen, unproven
from refclust_numba.exact.cluster_sums import move_rows
from refclust_numba.lowlevel.compiling import (
    borrowing,
    borrowing_apart,
    compiled,
    inlined,
    room,
)
from refclust_numba.lowlevel.scalars import fetch, lowest, ones, taken

_BYTES: Final = 1 << 19  # of rows that changed, so that they stay in the cache
_LINE: Final = 64  # bytes of the cache that come together
_SHRINK: Final = np.float32(1.0 - 2.0**-20)
LEFT, CHANGED = 3, 4  # where ``tally`` counts rows; before these those that each rung decided


@compiled
def step_blocks(table, weights, packed, centres, labels, own, share, tally):  # type: ignore[no-untyped-def]
    """Label blocks of rows until none is left; -1 for rows in doubt after the third rung.

    ``tally`` counts the rows that each rung decided, those left, and those whose label changed.
    """
    n, d = table.shape
    count = -(-n // ROWS)
    bounded = centres.drift.shape[0] > 0
    block = block_room(centres.by_columns.shape[1])
    listed = max(2 * ROWS, min(share.listed, _BYTES // (d * np.int64(table.itemsize))))
    moves = Moves(room(listed, np.int64), room(listed, np.int32), room(listed, np.int32))
    # Rows that are not proven in blocks where most are: collected in a block of their own.
    few = no_few(table, packed.middle, bounded)
    turn, chunk = share.turn, share.chunk
    waiting, moving = 0, 0
    while True:
        begin = taken(turn) * chunk
        if begin >= count:
            break
        for b in range(begin, min(begin + chunk, count)):
            more = left_alone(table, b, centres, labels, few, waiting, tally) if bounded else -1
            if more < 0:
                moving = label_block(
                    table, b, packed, centres, labels, block, moves, moving, own, tally
                )
            else:
                waiting += more
            if waiting >= ROWS:
                moving = label_few(
                    table, np.int64(ROWS), packed, centres, labels, block, few, moves, moving, tally
                )
                waiting -= ROWS
                for r in range(waiting):
                    few.rows[r] = few.rows[ROWS + r]
            if moving > listed - ROWS:
                moving = moved(table, weights, moves, moving, own, tally)
    if waiting > 0:
        moving = label_few(
            table, waiting, packed, centres, labels, block, few, moves, moving, tally
        )
        waiting = 0
    moved(table, weights, moves, moving, own, tally)


@inlined
def block_room(k):  # type: ignore[no-untyped-def]
    """Room for what is found out of one block."""
    return BlockLabels(
        room(ROWS, np.int32), room(ROWS, np.float32), room(ROWS, np.int64), room(k, np.float64),
        room(k, np.float64),
    )  # fmt: skip


@borrowing
def left_alone(table, b, centres, labels, few, waiting, tally):  # type: ignore[no-untyped-def]
    """Leave the rows of a block alone whose margins prove their labels, and collect the others.

    Returns how many these are, or -1 if there are so many that the whole block is to be labelled.
    """
    n, i = table.shape[0], b * ROWS
    size = min(ROWS, n - i)
    lower(labels.margins, centres.drift, labels.old, i, size)
    mask = unproven(labels.margins, i)
    if size < ROWS:
        mask &= (np.uint64(1) << np.uint64(size)) - np.uint64(1)
    failing = np.int64(ones(mask))
    if failing > labels.limit:
        return -1
    tally[0] += size - failing
    for r in range(np.uint64(size)):
        labels.new[np.uint64(i) + r] = labels.old[np.uint64(i) + r]
    while mask != 0:
        row = i + np.int64(lowest(mask))
        mask &= mask - np.uint64(1)
        few.rows[waiting] = row
        waiting += 1
        fetch_row(table, row)
    return failing


@borrowing
def lower(margins, drift, labels, i, size):  # type: ignore[no-untyped-def]
    """Lower the margins of some rows by what the centres moved."""
    at = np.uint64(i)
    for r in range(np.uint64(size)):
        left = margins[at + r] - drift[np.uint32(labels[at + r])]
        margins[at + r] = left * _SHRINK


@borrowing
def label_block(table, b, packed, centres, labels, block, moves, moving, own, tally):  # type: ignore[no-untyped-def]
    """Label a whole block and list the rows that change; returns how many are listed now."""
    (n, d), i = table.shape, b * ROWS
    size = min(ROWS, n - i)
    screened, keeping = packed.blocks.shape[0] > 0, labels.margins.shape[0] > 0
    doubts = np.int64(1)
    if screened:
        doubts = screen(
            packed.blocks, i * d, centres.group, centres.first, d, centres.group.shape[0],
            block.index, block.margin, packed.lengths, i, centres.slope, centres.start, keeping,
            (i + ROWS if i + ROWS < n else i) * d,
        )  # fmt: skip
    if doubts == 0:
        tally[0] += size
    else:
        for r in range(size):
            block.rows[r] = i + r
        climb_rows(table, block.rows, size, screened, centres, block, tally)
    rename(block.index, size, centres.names)
    at = np.uint64(i)
    for r in range(np.uint64(size)):
        labels.new[at + r] = block.index[r]
    if keeping:
        for r in range(np.uint64(size)):
            labels.margins[at + r] = block.margin[r]
    if labels.old.shape[0] > 0:
        return list_changed(table, i, size, labels.old, block.index, moves, moving)
    if own.sums.shape[0] > 0:
        return list_all(table, i, size, block.index, moves, moving)
    return moving


@borrowing_apart
def label_few(table, size, packed, centres, labels, block, few, moves, moving, tally):  # type: ignore[no-untyped-def]
    """The same for the first rows that wait in a block of their own."""
    pack_few(table, size, packed, few)
    doubts = screen(
        few.block, 0, centres.group, centres.first, table.shape[1], centres.group.shape[0],
        block.index, block.margin, few.lengths, 0, centres.slope, centres.start, True, 0,
    )  # fmt: skip
    if doubts == 0:
        tally[0] += size
    else:
        climb_rows(table, few.rows, size, True, centres, block, tally)
    rename(block.index, size, centres.names)
    for r in range(size):
        row, label = few.rows[r], block.index[r]
        labels.margins[row] = block.margin[r]
        labels.new[row] = label
        if label >= 0 and label != labels.old[row]:
            moves.rows[moving], moves.was[moving], moves.now[moving] = row, labels.old[row], label
            fetch_row(table, row)
            moving += 1
    return moving


@borrowing
def climb_rows(table, rows, size, screened, centres, block, tally):  # type: ignore[no-untyped-def]
    """Take the rows of a block that the first rung did not decide to the next ones."""
    for r in range(size):
        if screened and block.margin[r] > 0:
            tally[0] += 1
            continue
        label, rung = climb(
            table, rows[r], centres.by_columns, centres.cosine, block.squares, block.lows
        )
        block.index[r] = label if rung else -1
        block.margin[r] = np.float32(0.0)
        tally[LEFT if rung == 0 else rung] += 1


@borrowing
def rename(index, size, names):  # type: ignore[no-untyped-def]
    """Give centres their own numbers, if some were left out."""
    if names.shape[0]:
        for r in range(size):
            index[r] = names[index[r]] if index[r] >= 0 else -1


@borrowing
def list_changed(table, i, size, old, index, moves, moving):  # type: ignore[no-untyped-def]
    """List the rows of a block whose label is not the old one; returns how many are listed now."""
    at = np.uint64(i)
    differ = np.int32(0)
    for r in range(np.uint64(size)):
        differ |= old[at + r] ^ index[r]
    if differ != 0:
        for r in range(np.uint64(size)):
            was, now, row = old[at + r], index[r], i + np.int64(r)
            if now >= 0 and now != was:
                moves.rows[moving], moves.was[moving], moves.now[moving] = row, was, now
                fetch_row(table, row)
                moving += 1
    return moving


@borrowing
def list_all(table, i, size, index, moves, moving):  # type: ignore[no-untyped-def]
    """List all rows of a block that are decided; returns how many are listed now."""
    d = table.shape[1]
    for r in range(np.uint64(size)):
        # Written always, counted only if decided: no branch to guess.
        at = np.uint64(moving)
        moves.rows[at], moves.was[at], moves.now[at] = i + np.int64(r), -1, index[r]
        moving += 0 if index[r] < 0 else 1
    fetch_lines(table, i * d, d * size * np.int64(table.itemsize))
    return moving


@borrowing
def fetch_row(table, row):  # type: ignore[no-untyped-def]
    """Ask for the beginning of a row that will be read soon: who reads on is served anyway."""
    size = table.shape[1] * np.int64(table.itemsize)
    fetch_lines(table, row * table.shape[1], min(size, 4 * _LINE) + _LINE - 1)


@borrowing
def fetch_lines(table, place, size):  # type: ignore[no-untyped-def]
    """Ask for so many bytes from a place of the table on."""
    # Steps of one: those of a size known late would need a division, which takes long.
    numbers = _LINE // 8 if table.itemsize == 8 else _LINE // 4
    for line in range((size + _LINE - 1) // _LINE):
        fetch(table, place + line * numbers)


@inlined
def moved(table, weights, moves, moving, own, tally):  # type: ignore[no-untyped-def]
    """Count the rows that are listed, and move them if anything is added up; none is left."""
    tally[CHANGED] += moving
    if own.sums.shape[0] > 0:
        move_rows(table, weights, moves.rows, moves.was, moves.now, moving, own)
    return 0
