"""What new centres would gain: which dense rows may come nearer, and by how much in all.

The gain of a centre c is the sum of w (D - |x - c|**2) over the rows nearer to c than to their
centre so far, whose squared distance is D: the centre of the greatest gain leaves the least
potential. Packed rows say first which rows can gain at all; all others add exactly nothing, with no
error, and need not be looked at again when c becomes a centre.

*Singles.* With y, e, s and u = 2**-24 of ``refclust_numba.dense.assignment`` the score
|e|**2 / 2 - y.e errs by at most B = (d + 4) u 1.02 (|y| |e| + |e|**2 / 2), which is below
0.51 (d + 4) u (|y| + |e|)**2. A row cannot gain if its exact score is at least
(D s**2 - |y|**2) / 2. The length z kept for y is rounded up, by less than 2**-20 (1 + 2**-4)
of itself, so z**2 exceeds |y|**2 by less than 34.1 u |y|**2 and half of it by 17.1 u |y|**2.
So no row gains whose score is at least b + (0.51 (d + 4) + 17.1) u (z + |e|)**2, where
b = (D s**2 - z**2) / 2. In singles b, the square and two sums are rounded. If D s**2 is
more than 2 (z + |e|)**2, the limit, at least 0.99 (z + |e|)**2 - z**2 / 2, is above every score and
nothing is left out; if not, |b| is at most (z + |e|)**2, and those roundings cost less than
5 u (z + |e|)**2. The share 0.55 (d + 48) u covers it all. Twice that bounds the error of a gain
of singles, D apart. Underflow costs at most (d + 4) 2**-140 max(1, |e|).

*Doubles* decide between candidates that singles leave in doubt, by the rows that may gain only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from refclust.numbers.argmin import ROUND
from refclust_numba.blocks import blocks
from refclust_numba.centres import grouped
from refclust_numba.dense.distances import relative, square_of
from refclust_numba.dense.ladder import TINY
from refclust_numba.dense.lanes import within
from refclust_numba.dense.screening import GROUP, ROWS, scores
from refclust_numba.lowlevel.compiling import borrowing, compiled, room
from refclust_numba.lowlevel.scalars import lowest
from refclust_numba.lowlevel.threads import chunks, shared
from refclust_numba.prepared import Rows

_SCALES: Final = 400  # exponents of a scale whose square is an ordinary double


@dataclass(frozen=True, slots=True)
class Gains:
    """For each candidate the rows that may gain, as bits of blocks, and the gain with its error."""

    bits: Any  # uint64, candidates x blocks
    totals: Any
    errors: Any


class Candidates(NamedTuple):
    """New centres in the space of the first rung, and their lengths there."""

    group: Any  # float32, groups x d x GROUP
    starts: Any  # float32
    reach: Any  # float32


def pieces_of(rows: Rows) -> list[tuple[int, int]]:
    """Blocks in chunks that depend on the number of rows only, as sums of doubles need them."""
    count = -(-rows.n // ROWS)
    return chunks(count, max(blocks.gained, -(-count // 16)))


def gains(rows: Rows, old: Any, vectors: Any) -> Gains:
    """The gains of some candidates in singles; where these do not serve, any row may gain."""
    packed, count = rows.packed, len(vectors)
    bits = np.empty((count, -(-rows.n // ROWS)), np.uint64)
    scaled = lengths = np.empty(0)
    if packed is not None and 2.0**-_SCALES < packed.factor < 2.0**_SCALES:
        scaled = (vectors - packed.offset) * packed.factor
        lengths = np.sqrt((scaled * scaled).sum(axis=1)) * (1.0 + 2.0**-20)
    if packed is None or not len(lengths) or not lengths.max() < 2.0**50:
        bits[:] = (1 << ROWS) - 1
        if rows.n % ROWS:
            bits[:, -1] = (1 << rows.n % ROWS) - 1
        return Gains(bits, np.zeros(count), np.full(count, np.inf))
    group, starts = grouped(scaled, 0.5 * (scaled * scaled).sum(axis=1))
    candidates = Candidates(group, starts, lengths.astype(np.float32))
    pieces = pieces_of(rows)
    totals, errors = np.zeros((len(pieces), count)), np.zeros((len(pieces), count))

    def work(piece: int, _worker: int) -> None:
        gain_blocks(
            packed, candidates, old, rows.weights, bits, totals[piece], errors[piece],
            *pieces[piece],
        )  # fmt: skip

    shared(work, len(pieces))
    return Gains(bits, *_summed(rows, totals, errors))


def _summed(rows: Rows, totals: Any, errors: Any) -> tuple[Any, Any]:
    """The sums over all chunks; n terms of one sign err by at most n roundings of their sum."""
    total, error = totals.sum(axis=0), errors.sum(axis=0)
    return total, (error + (total + error) * (rows.n + 64) * ROUND) * (1.0 + 2.0**-20) + TINY


@compiled
def gain_blocks(packed, candidates, old, weights, bits, totals, errors, begin, end):  # type: ignore[no-untyped-def]
    """Mark the rows of some blocks that may gain, and add up what they gain (in scaled units)."""
    n, d = old.shape[0], packed.blocks.shape[1]
    group, count = candidates.group, candidates.reach.shape[0]
    out, bases = room((group.shape[0] * GROUP, ROWS), np.float32), room(ROWS, np.float32)
    share = np.float32(0.55 * (d + 48) * 2.0**-24)
    square_factor = packed.factor * packed.factor
    # D itself errs by far less than 2**-30 of itself.
    up = 0.5 * square_factor * (1.0 + 2.0**-30)
    for b in range(begin, end):
        first = np.uint64(b * ROWS)
        size = np.uint64(min(ROWS, n - b * ROWS))
        scores(packed.blocks, b * ROWS * d, group, candidates.starts, d, group.shape[0], out)
        for r in range(size):
            own = np.float64(packed.lengths[first + r])
            bases[r] = np.float32(old[first + r] * up - 0.5 * own * own)
        for r in range(size, np.uint64(ROWS)):
            bases[r] = -np.float32(np.inf)
        for k in range(count):
            length = candidates.reach[k] * np.float32(1.0 + 2.0**-20)
            fixed = np.float32((d + 4) * 2.0**-130) * max(length, np.float32(1.0))
            marks = within(out, k * ROWS, bases, packed.lengths, b * ROWS, length, share, fixed)
            bits[k, b] = marks
            limits = np.float64(length), np.float64(share), np.float64(fixed)
            total, doubt = gain_marked(marks, first, packed, out, k, limits, old, weights)
            totals[k] += total
            errors[k] += doubt


@borrowing
def gain_marked(marks, first, packed, out, k, limits, old, weights):  # type: ignore[no-untyped-def]
    """What the marked rows of a block gain by one candidate, and a bound of the error."""
    length, share, fixed = limits
    d, square_factor = packed.blocks.shape[1], packed.factor * packed.factor
    own_error = 8 * (d + 10) * 2.0**-53 * square_factor
    weighted = weights.shape[0] > 0
    total, doubt = 0.0, 0.0
    while marks != 0:
        r = lowest(marks)
        marks &= marks - np.uint64(1)
        own = np.float64(packed.lengths[first + r])
        square = old[first + r] * square_factor
        gain = max((square - own * own) - 2.0 * np.float64(out[k, r]), 0.0)
        both = own + length
        error = 2.0 * (share * both * both + fixed)
        error += square * 2.0**-48 + old[first + r] * own_error
        weight = weights[first + r] if weighted else 1.0
        total += weight * gain
        doubt += weight * error
    return total, doubt


def precise_gains(rows: Rows, old: Any, vectors: Any, bits: Any) -> tuple[Any, Any]:
    """The gains of some candidates in doubles, over the rows that may gain, and their errors."""
    pieces = pieces_of(rows)
    totals, errors = (np.zeros((len(pieces), len(vectors))) for _ in range(2))
    share = relative(rows)

    def work(piece: int, _worker: int) -> None:
        for k, vector in enumerate(vectors):
            totals[piece, k], errors[piece, k] = gain_rows(
                rows.values, bits[k], vector, old, rows.weights, share, *pieces[piece]
            )

    shared(work, len(pieces))
    return _summed(rows, totals, errors)


@compiled
def gain_rows(numbers, bits, centre, old, weights, share, begin, end):  # type: ignore[no-untyped-def]
    """The gain over the marked rows of some blocks, and a bound of its error."""
    weighted = weights.shape[0] > 0
    total, doubt = 0.0, 0.0
    for b in range(begin, end):
        marks = bits[b]
        while marks != 0:
            i = b * ROWS + np.int64(lowest(marks))
            marks &= marks - np.uint64(1)
            square = square_of(numbers, i, centre)
            weight = weights[i] if weighted else 1.0
            total += weight * max(old[i] - square, 0.0)
            # Both squares err by this share of themselves at most; twice that leaves room.
            doubt += weight * (2.0 * share * (old[i] + square) + TINY)
    return total, doubt
