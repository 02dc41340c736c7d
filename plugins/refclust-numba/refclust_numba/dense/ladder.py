"""The upper rungs of the ladder for dense rows: doubles, double-doubles, integers.

See ``refclust_numba.dense.assignment`` for the bounds.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refclust.kernels.clusters.nearness import Cosine, Euclidean
from refclust_numba.blocks import blocks
from refclust_numba.exact import limbs
from refclust_numba.exact.double_doubles import plus_square
from refclust_numba.exact.limbs import carry, deposit_product, is_less
from refclust_numba.lowlevel.compiling import compiled, room
from refclust_numba.lowlevel.scalars import two_sum
from refclust_numba.lowlevel.threads import chunks, shared
from refclust_numba.prepared import Rows, joined_span

TINY: Final = 2.0**-1000


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
            high, rest = plus_square(high, rest, np.float64(table[i, j]), by_columns[j, c])
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


def exactly(rows: Rows, centres: Any, metric: str, labels: Any, left: Any) -> None:
    """Decide the last rows in integers."""
    top, low = rows.span
    centre_top, centre_low = joined_span(centres.reshape(-1))
    both = max(top, centre_top) + centre_top + 2
    cut = limbs.scale(np.array([both]), min(low, centre_low) + centre_low, 4 * rows.d + 8)
    if metric != "cosine" and cut is not None:
        magic = np.ascontiguousarray(cut.magic[:, 0])
        pieces = chunks(len(left), blocks.exact)
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
    squares = room(k, np.float64)
    lengths = np.zeros((k, count), np.int64)
    known = np.zeros(k, np.bool_)
    score, best = room(count, np.int64), room(count, np.int64)
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
            if label < 0 or is_less(score, best):
                best[:] = score
                label = c
        labels[i] = label
