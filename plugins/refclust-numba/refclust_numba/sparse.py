"""Nearest centres of sparse rows, on the same ladder as dense ones.

The score |c|**2 / 2 - x.c needs a row's own numbers only, if the centres stand side by side, column
by column: one table of d x K singles. With m numbers in a row a score in singles errs by at most
(m + 4) 2**-24 1.02 (|x| |c| + |c|**2 / 2) (see ``refclust_numba.assignment``); in doubles
|c|**2 - 2 x.c errs by (m + 40) 2**-53 (|x| + |c|)**2, where 40 covers the pairwise sum of squares
of up to 2**24 columns; integers in limbs decide the rest.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refclust.kernels.fields import Cosine, Euclidean
from refclust_numba import limbs
from refclust_numba.assignment import TINY
from refclust_numba.centres import distinct, units
from refclust_numba.compiling import compiled
from refclust_numba.limbs import carry, deposit_product
from refclust_numba.prepared import Rows, joined_span
from refclust_numba.screening import LANES, sparse_eight, sparse_four, sparse_one, sparse_two
from refclust_numba.threads import even, shared

_HUGE: Final = 2.0**60
_ROWS: Final = 512


def nearest(rows: Rows, table: Any, metric: str) -> Any:
    """The labels of all sparse rows."""
    centres, index = distinct(table)
    if len(centres) == 1:
        rows.rungs["single"] += rows.n
        return np.full(rows.n, index[0], np.int32)
    cosine = metric == "cosine"
    labels, left = _estimated(rows, centres, cosine)
    if len(left):
        _exactly(rows, centres, cosine, labels, left)
    return labels if len(index) == len(table) else index[labels]


def _estimated(rows: Rows, centres: Any, cosine: bool) -> tuple[Any, Any]:
    single = rows.singles
    vectors = units(centres) if cosine else centres
    squares = np.zeros(len(centres)) if cosine else squared_lengths(centres)
    longest = 1.0 + 2.0**-20 if cosine else float(np.sqrt(squares.max())) * (1.0 + 2.0**-20)
    factor = 1.0 if single is None else single.factor
    reach = longest if cosine else longest * factor
    screened = single is not None and reach < _HUGE and bool(np.isfinite(squares).all())
    vector_count = -(-len(centres) // LANES)
    # A few vectors more are better than another walk over the row.
    width = (vector_count + (0, 0, 0, 1, 0, 3, 2, 1)[vector_count % 8]) * LANES
    side = rows.memory.get("side", _NO_SIDE)
    if side.shape != (rows.d, width if screened else 0):
        side = rows.memory["side"] = np.zeros((rows.d, width if screened else 0), np.float32)
    start = np.full(width, np.inf, np.float32)
    if screened:
        unit = 1.0 if cosine else factor
        pieces = even(rows.d, 2048)
        shared(lambda p, _: beside(vectors, unit, side, *pieces[p]), len(pieces))
        start[: len(centres)] = 0.5 * squares * unit * unit
    given = rows.values if single is None else single.values
    lengths = np.zeros(0) if single is None else single.lengths
    tasks = even(rows.n, _ROWS)
    labels = np.empty(rows.n, np.int32)
    counts = np.zeros((len(tasks), 2), np.int64)
    undecided: list[Any] = [None] * len(tasks)

    def work(task: int, _worker: int) -> None:
        begin, end = tasks[task]
        undecided[task] = assign_sparse(
            rows.starts, rows.columns, rows.values, given if screened else _NONE, lengths, side,
            start, reach, 0.0 if cosine else 0.5 * reach * reach, vectors, squares, longest,
            cosine, screened, labels, counts[task], begin, end,
        )  # fmt: skip

    shared(work, len(tasks))
    rows.rungs["single"] += int(counts[:, 0].sum())
    rows.rungs["double"] += int(counts[:, 1].sum())
    return labels, np.concatenate(undecided)


_NONE, _NO_SIDE = np.empty(0, np.float32), np.empty((0, 0), np.float32)


def squared_lengths(vectors: Any) -> Any:
    """The squared length of each vector, by pairwise sums, without a matrix of squares."""
    part, lengths = np.empty(vectors.shape[1]), np.empty(len(vectors))
    for k, vector in enumerate(vectors):
        lengths[k] = np.multiply(vector, vector, out=part).sum()
    return lengths


@compiled
def beside(vectors, unit, side, begin, end):  # type: ignore[no-untyped-def]
    """Write minus the scaled centres side by side, for some columns, a few at a time."""
    for first in range(begin, end, 16):
        last = np.uint64(min(first + 16, end))
        for k in range(np.uint64(vectors.shape[0])):
            for j in range(np.uint64(first), last):
                side[j, k] = np.float32(-vectors[k, j] * unit)
        for j in range(np.uint64(first), last):
            for k in range(np.uint64(vectors.shape[0]), np.uint64(side.shape[1])):
                side[j, k] = np.float32(0.0)


@compiled
def assign_sparse(  # type: ignore[no-untyped-def]
    starts, columns, values, singles, lengths, side, start, reach, half, vectors, squares, longest,
    cosine, screened, labels, counts, begin, end,
):  # fmt: skip
    """Label some sparse rows; return those in doubt after the second rung."""
    k, width = vectors.shape[0], start.shape[0]
    score = np.empty(width, np.float32)
    precise = np.empty(k)
    left = np.empty(end - begin, np.int64)
    waiting = 0
    for i in range(begin, end):
        first, m = starts[i], starts[i + 1] - starts[i]
        if screened:
            at = 0
            while at < width:
                own = columns.ctypes.data + 4 * first
                numbers = singles.ctypes.data + 4 * first
                begun, into = start.ctypes.data + 4 * at, score.ctypes.data + 4 * at
                place = side.ctypes.data + 4 * at
                if width - at >= 8 * LANES:
                    sparse_eight(own, numbers, m, place, width, begun, into)
                    at += 8 * LANES
                elif width - at >= 4 * LANES:
                    sparse_four(own, numbers, m, place, width, begun, into)
                    at += 4 * LANES
                elif width - at >= 2 * LANES:
                    sparse_two(own, numbers, m, place, width, begun, into)
                    at += 2 * LANES
                else:
                    sparse_one(own, numbers, m, place, width, begun, into)
                    at += LANES
            best = np.float32(np.inf)
            for c in range(k):
                best = min(best, score[c])
            share = 2 * 1.1 * (m + 4) * 2.0**-24
            bound = share * (lengths[i] * reach + half) + (m + 4) * 2.0**-138 * max(1.0, reach)
            limit = np.float32((np.float64(best) + bound) + abs(best) * 2.0**-22)
            near = 0
            for c in range(k):
                near += 0 if score[c] > limit else 1
            if near == 1:
                for c in range(k):
                    if not score[c] > limit:
                        labels[i] = c
                counts[0] += 1
                continue
        edge = estimate(starts, columns, values, i, vectors, squares, longest, cosine, precise)
        label, near = 0, 0
        for c in range(k - 1, -1, -1):
            if not precise[c] > edge:
                label = c
                near += 1
        labels[i] = label
        if near == 1:
            counts[1] += 1
        else:
            left[waiting] = i
            waiting += 1
    return left[:waiting].copy()


@compiled
def estimate(  # type: ignore[no-untyped-def]
    starts, columns, values, i, vectors, squares, longest, cosine, precise
):
    """|c|**2 - 2 x.c (or minus the cosine) of one row in doubles; what proves a difference."""
    m = starts[i + 1] - starts[i]
    length = 0.0
    for place in range(starts[i], starts[i + 1]):
        length += np.float64(values[place]) * np.float64(values[place])
    length = np.sqrt(length)
    least = np.inf
    for c in range(vectors.shape[0]):
        product = 0.0
        for place in range(starts[i], starts[i + 1]):
            product += np.float64(values[place]) * vectors[c, columns[place]]
        precise[c] = -product if cosine else squares[c] - 2.0 * product
        least = min(least, precise[c])
    if cosine:
        return least + 4 * (m + 12) * 2.0**-53 * length + TINY
    return least + 8 * (m + 40) * 2.0**-53 * (length + longest) * (length + longest) + TINY


def _exactly(rows: Rows, centres: Any, cosine: bool, labels: Any, left: Any) -> None:
    top, low = rows.span
    centre_top, centre_low = joined_span(centres.reshape(-1))
    both = max(top, centre_top) + centre_top + 2
    cut = limbs.scale(np.array([both]), min(low, centre_low) + centre_low, 4 * rows.d + 8)
    if not cosine and cut is not None:
        magic = np.ascontiguousarray(cut.magic[:, 0])
        squares = squared_lengths(centres)
        longest = float(np.sqrt(squares.max())) * (1.0 + 2.0**-20)
        exact_sparse(
            rows.starts, rows.columns, rows.values, centres, squares, longest, left, labels, magic,
            cut.width,
        )  # fmt: skip
        rows.rungs["integers"] += len(left)
        return
    rows.rungs["reference"] += len(left)
    points = rows.subset(left)
    tuples = [tuple(centre) for centre in centres.tolist()]
    field = Cosine(points, tuples) if cosine else Euclidean(points, tuples)
    everywhere = list(range(len(tuples)))
    for place, i in enumerate(left.tolist()):
        labels[i] = field.exact(place, everywhere)


@compiled
def exact_sparse(  # type: ignore[no-untyped-def]
    starts, columns, values, vectors, squares, longest, rows, labels, magic, width
):
    """The lowest index of the least |c|**2 - 2 x.c, among centres doubles cannot tell apart."""
    k, d = vectors.shape
    count = magic.shape[0]
    precise = np.empty(k)
    lengths = np.zeros((k, count), np.int64)
    known = np.zeros(k, np.bool_)
    score, best = np.empty(count, np.int64), np.empty(count, np.int64)
    for i in rows:
        edge = estimate(starts, columns, values, i, vectors, squares, longest, False, precise)
        label = -1
        for c in range(k):
            if precise[c] > edge:
                continue
            if not known[c]:
                for j in range(d):
                    deposit_product(lengths[c], vectors[c, j], vectors[c, j], magic, 1)
                known[c] = True
            score[:] = lengths[c]
            for place in range(starts[i], starts[i + 1]):
                x = np.float64(values[place])
                deposit_product(score, x + x, vectors[c, columns[place]], magic, -1)
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
