"""Nearest centres of dense rows: a ladder on which every rung decides what it can prove.

Keeps the contract of ``kmeans.assign``: the lowest index of the exact minimum.

1. *Single precision*, all rows. With y = (x - o) s and e_k = (c_k - o) s the score is
   |e_k|**2 / 2 - y.e_k, which orders centres as distances do. Let u = 2**-24. y and e_k become
   singles with relative error u(1 + 2**-20) each (the subtractions in doubles included), the start
   |e|**2 / 2 with u(1 + 2**-20), and the d steps of the sum round at most d + 1 times in a row,
   fused or not. So a score errs by at most (d + 4) u 1.02 (|y| |e_k| + |e_k|**2 / 2), by
   Cauchy-Schwarz, as long as (d + 4) u < 0.01, and by (d + 4) 2**-140 max(1, |e_k|) where singles
   underflow (2**-150 is the largest such loss of a component or of a product, and all components
   are below 2**60). Two scores farther apart than twice that are in proven order; the factor 1.1
   below covers the roundings of the test itself.
2. *Doubles*, rows in doubt. Differences first: the sum of d rounded squares errs by less than
   (d + 4) 2**-53 of itself (and 2**-1000 for underflow).
3. *Double-double*, centres still in doubt. A difference is exact as s + e; its square p + f + 2 s e
   misses e**2 and two roundings, less than 2**-103 of itself. The low parts of d terms add up to
   at most 4 d 2**-53 of the sum, so d more roundings of theirs cost 4 d**2 2**-106. A sum errs by
   less than (d + 8)**2 2**-103 of itself.
4. *Integers*, in limbs: |c|**2 - 2 x.c exactly. Only numbers whose products leave the range of
   doubles go on to the reference's integers.

Under the cosine the score is -x.c/|c|, that is -s o.e_k - y.e_k with e_k = c_k/|c_k|; the doubles
follow with an absolute bound, and what they leave goes to the reference.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refclust.kernels.fields import Cosine, Euclidean
from refclust_numba import limbs
from refclust_numba.centres import distinct, grouped, units
from refclust_numba.compiling import compiled
from refclust_numba.limbs import carry, deposit_product
from refclust_numba.prepared import Rows, joined_span
from refclust_numba.scalars import two_product, two_sum
from refclust_numba.screening import ROWS, screen
from refclust_numba.threads import chunks, even, shared

TINY: Final = 2.0**-1000
_HUGE: Final = 2.0**60


def nearest(rows: Rows, table: Any, metric: str) -> Any:
    """The labels of all dense rows."""
    centres, index = distinct(table)
    if len(centres) == 1:
        rows.rungs["single"] += rows.n
        return np.full(rows.n, index[0], np.int32)
    labels, left = _estimated(rows, centres, metric == "cosine")
    if len(left):
        _exactly(rows, centres, metric, labels, left)
    return labels if len(index) == len(table) else index[labels]


def _estimated(rows: Rows, centres: Any, cosine: bool) -> tuple[Any, Any]:
    """Labels by rungs one to three, and the rows they could not decide."""
    n, d = rows.n, rows.d
    packed = rows.packed
    vectors = units(centres) if cosine else centres
    scaled, starts = centres[:0], np.empty(0, np.float32)
    slope = start = np.float32(np.inf)
    if packed is not None:
        if cosine:
            scaled, starts = vectors, -(vectors @ packed.offset) * packed.factor
            longest = 1.0 + 2.0**-20
            half = float(np.sqrt((packed.offset**2).sum())) * packed.factor * (1 + 2.0**-20)
        else:
            scaled = (centres - packed.offset) * packed.factor
            starts = 0.5 * (scaled * scaled).sum(axis=1)
            half = float(starts.max()) * (1 + 2.0**-20)
            longest = float(np.sqrt(2 * half))
        if max(longest, half) < _HUGE:
            share = 2 * 1.1 * (d + 4) * 2.0**-24
            slope = np.float32(share * longest)
            start = np.float32(share * half + (d + 4) * 2.0**-138 * max(1.0, longest))
    screened = bool(np.isfinite(slope))
    if screened:
        group, first = grouped(scaled, starts)
        blocks, lengths = packed.blocks, packed.lengths  # type: ignore[union-attr]
    else:
        group, first = np.empty((0, 1, 1), np.float32), np.empty(0, np.float32)
        blocks, lengths = np.empty((0, 1, 1), np.float32), np.empty(0, np.float32)
    by_columns = np.ascontiguousarray(vectors.T)
    pieces = even(-(-n // ROWS), 32)
    labels = np.empty(n, np.int32)
    counts = np.zeros((len(pieces), 3), np.int64)
    undecided: list[Any] = [None] * len(pieces)

    def work(piece: int, _worker: int) -> None:
        begin, end = pieces[piece]
        undecided[piece] = assign_blocks(
            rows.table, blocks, lengths, group, first, slope, start, by_columns,
            cosine, screened, labels, counts[piece], begin, end,
        )  # fmt: skip

    shared(work, len(pieces))
    for rung, count in zip(("single", "double", "double-double"), counts.sum(axis=0), strict=True):
        rows.rungs[rung] += int(count)
    return labels, np.concatenate(undecided)


@compiled
def assign_blocks(  # type: ignore[no-untyped-def]
    table, blocks, lengths, group, first, slope, start, by_columns,
    cosine, screened, labels, counts, begin, end,
):  # fmt: skip
    """Label the rows of some blocks; return those in doubt after the third rung."""
    n, d = table.shape
    best, second = np.empty(ROWS, np.float32), np.empty(ROWS, np.float32)
    index = np.empty(ROWS, np.int32)
    squares = np.empty(by_columns.shape[1])
    lows = np.empty(by_columns.shape[1])
    left = np.empty(min(n, end * ROWS) - begin * ROWS, np.int64)
    waiting = 0
    for b in range(begin, end):
        i = b * ROWS
        size = min(ROWS, n - i)
        doubts = np.int64(1)
        if screened:
            into = index.ctypes.data if size < ROWS else labels.ctypes.data + 4 * i
            doubts = screen(
                blocks.ctypes.data + 4 * i * d, group.ctypes.data, first.ctypes.data, d,
                group.shape[0], best.ctypes.data, second.ctypes.data, into,
                lengths.ctypes.data + 4 * i, slope, start,
            )  # fmt: skip
            if size < ROWS:
                labels[i : i + size] = index[:size]
        if doubts == 0:
            counts[0] += size
            continue
        for r in range(size):
            if screened and second[r] - best[r] > slope * lengths[i + r] + start:
                counts[0] += 1
                continue
            label, rung = climb(table, i + r, by_columns, cosine, squares, lows)
            labels[i + r] = label
            if rung:
                counts[rung] += 1
            else:
                left[waiting] = i + r
                waiting += 1
    return left[:waiting].copy()


@compiled
def estimate(table, i, by_columns, cosine, squares):  # type: ignore[no-untyped-def]
    """Squared distances (or minus the cosines) of one row in doubles; what proves a difference."""
    d, k = by_columns.shape
    squares[:] = 0.0
    length = 0.0
    for j in range(d):
        x = np.float64(table[i, j])
        if cosine:
            length += x * x
            for c in range(k):
                squares[c] -= x * by_columns[j, c]
        else:
            for c in range(k):
                t = x - by_columns[j, c]
                squares[c] += t * t
    least = np.inf
    for c in range(k):
        least = min(least, squares[c])
    if cosine:
        return least + 4 * (d + 12) * 2.0**-53 * np.sqrt(length) + TINY
    return least * (1.0 + 4 * (d + 4) * 2.0**-53) + TINY


@compiled
def climb(table, i, by_columns, cosine, squares, lows):  # type: ignore[no-untyped-def]
    """The nearest centre of one row and the rung that proved it (1 or 2; 0 if none did)."""
    d, k = by_columns.shape
    reach = estimate(table, i, by_columns, cosine, squares)
    label, doubtful = -1, 0
    for c in range(k):
        if not squares[c] > reach:
            doubtful += 1
            if label < 0:
                label = c
    if doubtful == 1:
        return label, 1
    if cosine:
        return max(label, 0), 0
    least, low = np.inf, 0.0
    for c in range(k):
        if squares[c] > reach:
            squares[c] = np.inf
            continue
        high, rest = 0.0, 0.0
        for j in range(d):
            s, e = two_sum(np.float64(table[i, j]), -by_columns[j, c])
            p, f = two_product(s, s)
            high, g = two_sum(high, p)
            rest += g + (f + 2.0 * s * e)
        high, rest = two_sum(high, rest)
        squares[c], lows[c] = high, rest
        if high < least or (high == least and rest < low):
            least, low, label = high, rest, c
    bound = least * ((d + 8) * (d + 8) * 2.0**-100) + TINY
    for c in range(k):
        if (
            c != label
            and squares[c] < np.inf
            and not (squares[c] - least) + (lows[c] - low) > bound
        ):
            return label, 0
    # Where doubles overflow nothing is proven.
    return max(label, 0), 2 if least < 2.0**1000 else 0


def _exactly(rows: Rows, centres: Any, metric: str, labels: Any, left: Any) -> None:
    """Decide the last rows in integers."""
    top, low = rows.span
    centre_top, centre_low = joined_span(centres.reshape(-1))
    both = max(top, centre_top) + centre_top + 2
    cut = limbs.scale(np.array([both]), min(low, centre_low) + centre_low, 4 * rows.d + 8)
    if metric != "cosine" and cut is not None:
        magic = np.ascontiguousarray(cut.magic[:, 0])
        pieces = chunks(len(left), 256)
        by_columns = np.ascontiguousarray(centres.T)

        def work(piece: int, _worker: int) -> None:
            begin, end = pieces[piece]
            exact_rows(rows.table, by_columns, left[begin:end], labels, magic, cut.width)

        shared(work, len(pieces))
        rows.rungs["integers"] += len(left)
        return
    rows.rungs["reference"] += len(left)
    points = rows.subset(left)
    tuples = [tuple(centre) for centre in centres.tolist()]
    field = Cosine(points, tuples) if metric == "cosine" else Euclidean(points, tuples)
    everywhere = list(range(len(tuples)))
    for place, i in enumerate(left.tolist()):
        labels[i] = field.exact(place, everywhere)


@compiled
def exact_rows(table, by_columns, rows, labels, magic, width):  # type: ignore[no-untyped-def]
    """The lowest index of the least |c|**2 - 2 x.c, among centres doubles cannot tell apart."""
    d, k = by_columns.shape
    count = magic.shape[0]
    squares = np.empty(k)
    lengths = np.zeros((k, count), np.int64)
    known = np.zeros(k, np.bool_)
    score, best = np.empty(count, np.int64), np.empty(count, np.int64)
    for i in rows:
        reach = estimate(table, i, by_columns, False, squares)
        label = -1
        for c in range(k):
            if squares[c] > reach:
                continue
            if not known[c]:
                for j in range(d):
                    deposit_product(lengths[c], by_columns[j, c], by_columns[j, c], magic, 1)
                known[c] = True
            score[:] = lengths[c]
            for j in range(d):
                x = np.float64(table[i, j])
                deposit_product(score, x + x, by_columns[j, c], magic, -1)
            carry(score, width)
            less = label < 0
            if not less:
                for level in range(count):
                    if score[level] != best[level]:
                        less = score[level] < best[level]
                        break
            if less:
                best[:] = score
                label = c
        labels[i] = label
