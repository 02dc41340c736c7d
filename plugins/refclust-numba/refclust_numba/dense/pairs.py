"""All distances of rows, each the nearest double, by double-doubles with a proven error.

Keeps the contract of ``distances.pairwise``. A squared distance in double-double errs by less than
(d + 8)**2 2**-103 of itself (see ``refclust_numba.dense.assignment``, third rung), a root by half
of that and 2**-100. If the value less and plus that error round to the same double, so does the
exact one. Pairs left over are computed in integers.
"""

from __future__ import annotations

from operator import mul
from typing import Any, Final

import numpy as np

from refclust.errors import NotFinite
from refclust.kernels import distances as reference
from refclust.kernels.distances import METRICS, one_minus_cosine
from refclust.kernels.points import binary
from refclust.numbers.nearest import nearest, nearest_sqrt
from refclust_numba.exact.double_doubles import plus_product, plus_square
from refclust_numba.lowlevel.compiling import compiled, inlined, room, with_room
from refclust_numba.lowlevel.scalars import two_product, two_sum
from refclust_numba.lowlevel.threads import shared
from refclust_numba.prepared import Rows

_CODES: Final = {"euclidean": 0, "sqeuclidean": 1, "cosine": 2}


def pairwise(rows: Rows, metric: str) -> Any:
    """The distances of all pairs of rows in condensed form."""
    n = rows.n
    if metric not in METRICS or not rows.d or n < 2:
        return reference.pairwise(rows.points, metric)
    if metric == "cosine" and not bool(_filled(rows).all()):
        return reference.pairwise(rows.points, metric)  # it names the zero row
    out = np.empty(n * (n - 1) // 2)
    doubts: list[Any] = [None] * (n - 1)
    # Rows in pairs of a long and a short one would balance; workers taking the next row do too.
    step = max(1, min(32, n // 8))
    tasks = [(b, min(b + step, n - 1)) for b in range(0, n - 1, step)]

    def work(task: int, _worker: int) -> None:
        begin, end = tasks[task]
        if rows.dense:
            doubts[task] = pairs_dense(rows.table, _CODES[metric], out, begin, end)
        else:
            doubts[task] = pairs_sparse(
                rows.starts, rows.columns, rows.values, rows.d, _CODES[metric], out, begin, end
            )

    shared(work, len(tasks))
    for doubtful in doubts[: len(tasks)]:
        for i, j in doubtful.tolist():
            place = i * n - i * (i + 1) // 2 + j - i - 1
            try:
                out[place] = _exact(rows, metric, i, j)
            except NotFinite as error:
                raise NotFinite(f"row {i} and a row after it: {error}") from None
    return memoryview(out)  # type: ignore[arg-type]


def _filled(rows: Rows) -> Any:
    """Which rows are not zero."""
    if rows.dense:
        return (rows.table != 0).any(axis=1)
    ends = np.concatenate(([0], np.cumsum(rows.values != 0)))[rows.starts]
    return np.diff(ends) > 0


def _exact(rows: Rows, metric: str, i: int, j: int) -> float:
    d = rows.d
    whole = [rows.points.whole_row(row) if not rows.dense else rows.data.row(row) for row in (i, j)]
    flat, shift = binary([*whole[0], *whole[1]])
    x, y = flat[:d], flat[d:]
    if metric == "cosine":
        return one_minus_cosine(sum(map(mul, x, y)), sum(map(mul, x, x)) * sum(map(mul, y, y)))
    square = sum((a - b) ** 2 for a, b in zip(x, y, strict=True))
    return (nearest if metric == "sqeuclidean" else nearest_sqrt)(square, 1 << 2 * shift)


@inlined
def rounded_root(high, low, share, root):  # type: ignore[no-untyped-def]
    """The nearest double of a double-double (or of its root), and whether that is proven."""
    if not root:
        error = high * share
        below, above = high + (low - error), high + (low + error)
        return below, below == above
    r = np.sqrt(high)
    p, e = two_product(r, r)
    # One step of Newton's method: the next term is below (2**-53)**2 / 2 of the root.
    rest = (((high - p) - e) + low) / (2.0 * r)
    error = r * (share + 2.0**-100)
    below, above = r + (rest - error), r + (rest + error)
    return below, below == above


@inlined
def rounded_cosine(dot, dot_low, size, x, x_low, y, y_low, share):  # type: ignore[no-untyped-def]
    """1 - dot / sqrt(x y), and whether its rounding is proven; size is the sum of |products|."""
    p, e = two_product(x, y)
    e += x * y_low + x_low * y
    r = np.sqrt(p)
    q, f = two_product(r, r)
    rest = (((p - q) - f) + e) / (2.0 * r)
    c = dot / r
    g, h = two_product(c, r)
    c_low = (((dot - g) - h) + (dot_low - c * rest)) / r
    s, t = two_sum(1.0, -c)
    t -= c_low
    s, t = two_sum(s, t)
    error = (size / r) * (share + 2.0**-96) + 2.0**-96
    below, above = s + (t - error), s + (t + error)
    return below, below == above


@inlined
def rounded(code, high, low, size, x, x_low, y, y_low, share):  # type: ignore[no-untyped-def]
    """The distance of a pair by its metric, and whether its rounding is proven."""
    high, low = two_sum(high, low)
    if code < 2:
        value, proven = rounded_root(high, low, share, code == 0)
        return value, proven and 2.0**-900 < high < 2.0**1000
    value, proven = rounded_cosine(high, low, size, x, x_low, y, y_low, share)
    return value, proven and 2.0**-400 < x < 2.0**400 and 2.0**-400 < y < 2.0**400


@inlined
def plus_pair(code, high, low, size, y, y_low, a, b):  # type: ignore[no-untyped-def]
    """Add one pair of numbers: a squared difference, or a product with its size and b's square."""
    if code < 2:
        high, low = plus_square(high, low, a, b)
    else:
        size += abs(a * b)
        high, low = plus_product(high, low, a, b)
        y, y_low = plus_product(y, y_low, b, b)
    return high, low, size, y, y_low


@compiled
def pairs_dense(table, code, out, begin, end):  # type: ignore[no-untyped-def]
    """Distances of some rows to all rows after them; return the pairs that are not proven."""
    n, d = table.shape
    share = (d + 8) * (d + 8) * 2.0**-103
    left = room((64, 2), np.int64)
    waiting = 0
    for i in range(begin, end):
        place = i * n - i * (i + 1) // 2 - i - 1
        for j in range(i + 1, n):
            same = True
            high, low, size = 0.0, 0.0, 0.0
            x, x_low, y, y_low = 0.0, 0.0, 0.0, 0.0
            for c in range(d):
                a, b = np.float64(table[i, c]), np.float64(table[j, c])
                same = same and a == b
                high, low, size, y, y_low = plus_pair(code, high, low, size, y, y_low, a, b)
                if code == 2:
                    x, x_low = plus_product(x, x_low, a, a)
            value, proven = rounded(code, high, low, size, x, x_low, y, y_low, share)
            out[place + j] = 0.0 if same else value
            if not same and not proven:
                left = with_room(left, waiting)
                left[waiting, 0], left[waiting, 1] = i, j
                waiting += 1
    return left[:waiting].copy()


@compiled
def pairs_sparse(starts, columns, values, d, code, out, begin, end):  # type: ignore[no-untyped-def]
    """The same for sparse rows: row i is written out, so that j's numbers find their partners."""
    n = starts.shape[0] - 1
    share = (d + 8.0) * (d + 8.0) * 2.0**-103
    left = room((64, 2), np.int64)
    waiting = 0
    whole = np.zeros(d)
    seen = np.full(d, -1)
    for i in range(begin, end):
        place = i * n - i * (i + 1) // 2 - i - 1
        for at in range(starts[i], starts[i + 1]):
            whole[columns[at]] = np.float64(values[at])
        for j in range(i + 1, n):
            high, low, size = 0.0, 0.0, 0.0
            x, x_low, y, y_low = 0.0, 0.0, 0.0, 0.0
            same = True
            for at in range(starts[j], starts[j + 1]):
                b = np.float64(values[at])
                a = whole[columns[at]]
                seen[columns[at]] = j
                same = same and a == b
                high, low, size, y, y_low = plus_pair(code, high, low, size, y, y_low, a, b)
            for at in range(starts[i], starts[i + 1]):
                a = np.float64(values[at])
                alone = seen[columns[at]] != j
                same = same and not (alone and a != 0.0)
                if code == 2:
                    x, x_low = plus_product(x, x_low, a, a)
                elif alone:
                    high, low = plus_product(high, low, a, a)
            value, proven = rounded(code, high, low, size, x, x_low, y, y_low, share)
            out[place + j] = 0.0 if same else value
            if not same and not proven:
                left = with_room(left, waiting)
                left[waiting, 0], left[waiting, 1] = i, j
                waiting += 1
        for at in range(starts[i], starts[i + 1]):
            whole[columns[at]] = 0.0
        seen[:] = -1
    return left[:waiting].copy()
