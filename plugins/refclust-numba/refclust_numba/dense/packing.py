"""One look at dense rows: how large their numbers are, and all of them in single precision.

For the first rung rows are moved and scaled, a block at a time by columns: y = (x - o) * s with an
offset o near the middle of the data and a power of two s that brings all components to at most 1.
The subtraction is rounded once, relative to the result, so an offset of the data, however large,
costs nothing; the scaling is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from refclust_numba.blocks import blocks
from refclust_numba.dense.reading import survey, transpose
from refclust_numba.dense.screening import ROWS
from refclust_numba.lowlevel.arrays import aligned
from refclust_numba.lowlevel.build import DOUBLES, LANES
from refclust_numba.lowlevel.compiling import borrowing, compiled, room
from refclust_numba.lowlevel.threads import even, in_threads

if TYPE_CHECKING:
    from refclust_numba.prepared import Rows

_LARGEST: Final = 900  # exponents: beyond these, differences and squares of doubles may overflow
_SAMPLE: Final = 512  # rows
_ROOM: Final = 2  # how many binary orders larger than in the sample numbers may be


class Packed(NamedTuple):
    """y in blocks of ``ROWS`` rows, the length of each y (rounded up), and o and s."""

    blocks: Any  # float32, blocks x d x ROWS
    lengths: Any  # float32
    offset: Any
    middle: Any  # the offset with zeros behind it, so that whole vectors fit
    factor: float


NOT_PACKED: Final = Packed(
    np.empty((0, 1, 1), np.float32), np.empty(0, np.float32), np.empty(0), np.empty(0), 1.0
)


class Columns(NamedTuple):
    """Of each column the offset, the largest number, the lowest bit and the largest y so far."""

    middle: Any
    tops: Any
    lows: Any
    largest: Any


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of each column an exponent above all numbers (-2000 if all are zero); the lowest bit of any.

    A lowest bit of 2000 is none.
    """

    tops: Any
    low: int


def sizes(rows: Rows) -> Sizes:
    """The sizes of dense numbers."""
    nothing = np.empty((0, rows.d, ROWS), np.float32)
    extents = _pass(rows, np.zeros(rows.d), 1.0, nothing, np.empty(0, np.float32))
    return _sizes(extents)


def pack(rows: Rows) -> tuple[Packed | None, Sizes | None]:
    """Pack dense rows, unless their numbers are too large for it, and tell the sizes if found."""
    if rows.d > 100_000:
        return None, None
    table = rows.table
    # Any offset is right; the mean of a sample is near enough to the middle.
    sample = table[:: max(1, rows.n // _SAMPLE)].astype(np.float64)
    offset = sample.mean(axis=0)
    largest = np.abs(sample - offset).max(initial=0.0)
    if not largest < 2.0**_LARGEST:
        return None, None
    count = -(-rows.n // ROWS)
    packed = aligned((count, rows.d, ROWS), np.float32)
    lengths = aligned((count * ROWS,), np.float32)
    # The sample may know the scale already; if not, the first pass tells it.
    exponent = _exponent(largest) + _ROOM if largest else 0
    while True:
        factor = float(np.ldexp(1.0, -exponent)) if exponent > -_LARGEST else 1.0
        extents = _pass(rows, offset, factor, packed, lengths)
        number_sizes = _sizes(extents)
        if int(number_sizes.tops.max()) > _LARGEST:
            return None, number_sizes
        largest = extents[2].max()
        if largest <= 1.0:
            middle = np.concatenate((offset, np.zeros(-rows.d % LANES)))
            return Packed(packed, lengths, offset, middle, factor), number_sizes
        exponent += _exponent(largest)


def _exponent(value: Any) -> int:
    return int(np.frexp(value)[1])


def _pass(rows: Rows, offset: Any, factor: float, packed: Any, lengths: Any) -> Any:
    """Of each column the largest number, the lowest bit and the largest y."""
    pieces = in_threads(
        lambda b, e: pack_blocks(rows.table, offset, factor, packed, lengths, b, e),
        even(-(-rows.n // ROWS), blocks.packed),
    )
    tops, lows, largest = zip(*pieces, strict=True)
    return np.max(tops, axis=0), np.min(lows, axis=0), np.max(largest, axis=0)


def _sizes(extents: Any) -> Sizes:
    tops, lows, _ = extents
    least = lows.min(initial=np.inf)
    return Sizes(
        np.where(tops > 0, np.frexp(tops)[1], -2000).astype(np.int64),
        2000 if least == np.inf else _exponent(least) - 1,
    )


@compiled
def pack_blocks(table, offset, factor, packed, lengths, begin, end):  # type: ignore[no-untyped-def]
    """Fill some blocks, if there are any to fill; rows after the last one are zero.

    Returns of each column the largest number, the lowest bit (as a power of two) and the largest y.
    """
    d = table.shape[1]
    packing = packed.shape[0] > 0
    columns = -(-d // LANES) * LANES
    extents = Columns(
        np.zeros(columns), np.zeros(columns), np.full(columns, np.inf), np.zeros(columns)
    )
    for j in range(d):
        extents.middle[j] = offset[j]
    part = np.zeros((LANES, columns), np.float32)
    square, squares = room((LANES, LANES), np.float32), room(ROWS, np.float64)
    spare = np.zeros((LANES, columns), table.dtype)
    flat = packed.reshape(-1)
    for b in range(begin, end):
        for first in range(0, ROWS, LANES):
            read_rows(table, b * ROWS + first, factor, extents, part, spare)
            if packing:
                turn(part, square, flat, b * d * ROWS + first, d)
        if packing:
            measure_block(flat, b, d, squares, lengths)
    return extents.tops[:d], extents.lows[:d], extents.largest[:d]


@borrowing
def read_rows(table, i, factor, extents, part, spare):  # type: ignore[no-untyped-def]
    """Write y of ``LANES`` rows, those from i on, and of rows after the last one zero."""
    n, d = table.shape
    columns = part.shape[1]
    count = max(min(LANES, n - i), 0)
    # Else the last vector of these rows would pass the end of the table.
    inside = (i + count - 1) * d + columns <= n * d
    if not inside:
        for r in range(count):
            for j in range(d):
                spare[r, j] = table[i + r, j]
    for r in range(count, LANES):
        for j in range(columns):
            part[r, j] = np.float32(0.0)
    for j in range(0, d, DOUBLES):
        if inside:
            survey(
                table, i * d, d, count, extents.middle, factor, extents.tops, extents.lows,
                extents.largest, j, part, columns,
            )  # fmt: skip
        else:
            survey(
                spare, 0, columns, count, extents.middle, factor, extents.tops, extents.lows,
                extents.largest, j, part, columns,
            )  # fmt: skip


@borrowing
def turn(part, square, target, at, d):  # type: ignore[no-untyped-def]
    """Write d columns of ``LANES`` rows into a block that holds them column after column."""
    columns = part.shape[1]
    for j in range(0, d, LANES):
        if j + LANES <= d:
            transpose(part, j, columns, target, at + j * ROWS, ROWS)
        else:
            transpose(part, j, columns, square, 0, LANES)
            for c in range(d - j):
                for r in range(LANES):
                    target[at + (j + c) * ROWS + r] = square[c, r]


@borrowing
def measure_block(flat, b, d, squares, lengths):  # type: ignore[no-untyped-def]
    """Write the lengths of the rows of one block."""
    squares[:] = 0.0
    at = np.uint64(b * d * ROWS)
    for _ in range(d):
        for r in range(np.uint64(ROWS)):
            y = np.float64(flat[at + r])
            squares[r] += y * y
        at += np.uint64(ROWS)
    # Up by 14 u, u = 2**-24: rounding y to single and the length to single costs 2 u and
    # all else far less, so the length kept is never below |y| and at most 17 u above it.
    for r in range(ROWS):
        lengths[b * ROWS + r] = np.float32(np.sqrt(squares[r]) * (1.0 + 14 * 2.0**-24))


@dataclass(frozen=True, slots=True)
class Singles:
    """Sparse numbers times a power of two as singles, and the length of each row, rounded up."""

    values: Any
    lengths: Any  # float64, of the scaled rows
    factor: float


def singles(rows: Rows) -> Singles | None:
    """Sparse rows in single precision, or nothing if their numbers are too large for it."""
    top, _ = rows.span
    if not -_LARGEST < top < _LARGEST:
        return None
    factor = float(np.ldexp(1.0, -top))
    values = np.empty(len(rows.values), np.float32)
    lengths = np.empty(rows.n)
    in_threads(
        lambda b, e: single_rows(rows.starts, rows.values, factor, values, lengths, b, e),
        even(rows.n, blocks.measured),
    )
    return Singles(values, lengths, factor)


@compiled
def single_rows(starts, values, factor, into, lengths, begin, end):  # type: ignore[no-untyped-def]
    """Scale the numbers of some sparse rows and measure the rows."""
    for i in range(begin, end):
        square = 0.0
        for place in range(starts[i], starts[i + 1]):
            y = np.float64(values[place]) * factor
            into[place] = np.float32(y)
            square += y * y
        lengths[i] = np.sqrt(square) * (1.0 + 2.0**-20)
