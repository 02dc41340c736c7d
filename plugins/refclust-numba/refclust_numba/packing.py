"""Dense rows in single precision for the first rung: moved, scaled, a block at a time by columns.

y = (x - o) * s with an offset o near the middle of the data and a power of two s that brings all
components to at most 1. The subtraction is rounded once, relative to the result, so an offset of
the data, however large, costs nothing; the scaling is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from refclust_numba.compiling import compiled
from refclust_numba.screening import ROWS
from refclust_numba.threads import even, spread

if TYPE_CHECKING:
    from refclust_numba.prepared import Rows

_LARGEST: Final = 900  # exponents: beyond these, differences and squares of doubles may overflow


@dataclass(frozen=True, slots=True)
class Packed:
    """y in blocks of ``ROWS`` rows, the length of each y (rounded up), and o and s."""

    blocks: Any  # float32, blocks x d x ROWS
    lengths: Any  # float32
    offset: Any
    factor: float


def pack(rows: Rows) -> Packed | None:
    """Pack dense rows, or say that their numbers are too large for it."""
    top, _ = rows.span
    if top > _LARGEST or rows.d > 100_000:
        return None
    table = rows.table
    # Any offset is right; the mean of a sample is near enough to the middle.
    sample = table[:: max(1, rows.n // 4096)]
    offset = np.asarray(sample.mean(axis=0, dtype=np.float64))
    largest = max(spread(lambda b, e: greatest(table, offset, b, e), even(rows.n, ROWS)))
    exponent = int(np.frexp(largest)[1]) if largest else 0
    factor = float(np.ldexp(1.0, -exponent)) if exponent > -_LARGEST else 1.0
    count = -(-rows.n // ROWS)
    blocks = np.empty((count, rows.d, ROWS), np.float32)
    lengths = np.empty(count * ROWS, np.float32)
    spread(
        lambda b, e: pack_blocks(table, offset, factor, blocks, lengths, b, e),
        even(count, 32),
    )
    return Packed(blocks, lengths, offset, factor)


@compiled
def greatest(table, offset, begin, end):  # type: ignore[no-untyped-def]
    """The largest component of some rows after the move."""
    d = np.uint64(table.shape[1])
    numbers = table.reshape(-1)
    largest = np.zeros(table.shape[1])
    for i in range(np.uint64(begin), np.uint64(end)):
        for j in range(d):
            gap = abs(np.float64(numbers[i * d + j]) - offset[j])
            largest[j] = gap if gap > largest[j] else largest[j]
    return largest.max()


@compiled
def pack_blocks(table, offset, factor, blocks, lengths, begin, end):  # type: ignore[no-untyped-def]
    """Fill some blocks; rows after the last one are zero."""
    n, d = table.shape
    squares = np.empty(ROWS)
    numbers, flat = table.reshape(-1), blocks.reshape(-1)
    for b in range(begin, end):
        first = b * ROWS
        size = min(ROWS, n - first)
        squares[:] = 0.0
        # Flat and unsigned, so that no index can be negative: that is what lets loops vectorise.
        source, target = np.uint64(first * d), np.uint64(first * d)
        for j in range(np.uint64(d)):
            o = offset[j]
            for r in range(np.uint64(size)):
                y = (np.float64(numbers[source + r * np.uint64(d) + j]) - o) * factor
                flat[target + r] = np.float32(y)
                squares[r] += y * y
            for r in range(np.uint64(size), np.uint64(ROWS)):
                flat[target + r] = np.float32(0.0)
            target += np.uint64(ROWS)
        for r in range(ROWS):
            # Up by 2**-20: far more than the roundings of the sum, of the root and to single.
            lengths[first + r] = np.float32(np.sqrt(squares[r]) * (1.0 + 2.0**-20))


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
    spread(
        lambda b, e: single_rows(rows.starts, rows.values, factor, values, lengths, b, e),
        even(rows.n, 4096),
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
