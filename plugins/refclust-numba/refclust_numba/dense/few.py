"""A block of dense rows from anywhere: those that are not proven in blocks where most are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from refclust_numba.dense.packing import turn
from refclust_numba.dense.reading import shift
from refclust_numba.dense.screening import ROWS
from refclust_numba.lowlevel.build import LANES
from refclust_numba.lowlevel.compiling import borrowing_apart, inlined, room


class Few(NamedTuple):
    """A block of rows from anywhere: their numbers, their y column after column, their lengths.

    The others are room to work in.
    """

    rows: Any  # int64; twice as many as a block holds, so that more may wait
    block: Any  # float32, d x ROWS
    lengths: Any
    part: Any
    square: Any
    spare: Any


@inlined
def no_few(table, middle, wanted):  # type: ignore[no-untyped-def]
    """An empty block for rows from anywhere, or hardly any memory if it is not wanted."""
    columns = middle.shape[0] if wanted else 0
    return Few(
        room(2 * ROWS, np.int64),
        np.zeros(table.shape[1] * ROWS if wanted else 0, np.float32),
        np.zeros(ROWS, np.float32),
        np.zeros((LANES, columns), np.float32),
        room((LANES, LANES), np.float32),
        np.zeros(columns, table.dtype),
    )


@borrowing_apart
def pack_few(table, size, packed, few):  # type: ignore[no-untyped-def]
    """Fill a block with the first rows that wait for it: singles as ``pack_blocks`` makes them."""
    n, d = table.shape
    columns = packed.middle.shape[0]
    for first in range(0, size, LANES):
        for r in range(min(LANES, size - first)):
            place, at = few.rows[first + r] * d, r * columns
            if place + columns <= n * d:
                shift(table, place, columns, packed.middle, packed.factor, few.part, at)
            else:
                # The last vector of this row would pass the end of the table.
                for j in range(d):
                    few.spare[j] = table[few.rows[first + r], j]
                shift(few.spare, 0, columns, packed.middle, packed.factor, few.part, at)
        turn(few.part, few.square, few.block, first, d)
    for r in range(size):
        few.lengths[r] = packed.lengths[few.rows[r]]
