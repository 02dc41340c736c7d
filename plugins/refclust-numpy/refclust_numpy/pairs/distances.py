"""All distances of pairs, each the nearest double: in double-double, or in integers (chapter 08).

A tile of pairs is worked on at a time, column by column, with every difference, product and sum
carrying its rounding error along.
"""

from __future__ import annotations

from array import array

import numpy as np

from refclust.errors import BadOption
from refclust.kernels import distances as reference
from refclust.kernels.distances import METRICS, one_minus_cosine
from refclust.kernels.points import binary
from refclust.numbers.nearest import nearest, nearest_sqrt
from refclust_numpy.exact.floats import (
    ROUND,
    Array,
    halves,
    quick_two_sum,
    settled,
    two_product,
    two_sum,
)
from refclust_numpy.rows import Rows

_TILE = 1 << 13  # pairs worked on at a time
_FEW_COLUMNS = 64


def pairwise(rows: Rows, metric: str) -> memoryview | array[float]:
    """Keeps the contract of distances.pairwise."""
    if metric not in METRICS:
        raise BadOption(f"metric={metric!r}; allowed: {', '.join(METRICS)}")
    n, d = rows.n, rows.d
    ordinary = not rows.largest or (rows.largest < 2.0**400 and rows.smallest > 2.0**-400)
    # Sparse rows share few columns; the reference multiplies only those.
    small = rows.dense or d <= _FEW_COLUMNS or rows.values.size * 4 > n * d
    if not (ordinary and small) or n < 2 or not d:
        return reference.pairwise(rows.points, metric)
    columns = np.ascontiguousarray(_whole(rows).T)
    if metric == "cosine":
        if not columns.any(axis=0).all():
            return reference.pairwise(rows.points, metric)  # tells which row has no direction
        work: _Gaps | _Cosines = _Cosines(columns)
    else:
        work = _Gaps(columns, metric == "euclidean")
    answer = np.empty(n * (n - 1) // 2)
    begin, i = 0, 0
    while i < n - 1:
        # As many rows as fill a tile, each with all rows after it.
        last, size = i + 1, n - 1 - i
        while last < n - 1 and size + n - 1 - last <= _TILE:
            size += n - 1 - last
            last += 1
        left = np.repeat(np.arange(i, last), np.arange(n - 1 - i, n - 1 - last, -1))
        right = np.concatenate([np.arange(row + 1, n) for row in range(i, last)])
        for cut in range(0, size, _TILE):
            part = slice(cut, min(cut + _TILE, size))
            answer[begin + cut : begin + part.stop] = work.distances(left[part], right[part])
        begin, i = begin + size, last
    return answer.data  # not the array: its numbers would be NumPy's


def _whole(rows: Rows) -> Array:
    if rows.dense:
        return rows.values.astype(np.float64)
    whole = np.zeros((rows.n, rows.d))
    whole[np.repeat(np.arange(rows.n), rows.counts), rows.columns] = rows.values
    return whole


class _Gaps:
    """Euclidean distances and their squares."""

    def __init__(self, columns: Array, root: bool) -> None:
        self.columns, self.root = columns, root

    def distances(self, left: Array, right: Array) -> Array:
        """The distances of some pairs.

        For each column the difference is s + e exactly, |e| <= u |s|; its square is s^2, exact in
        two doubles, plus 2 s e, rounded twice, up to e^2: an error below 6 u^2 s^2. A step of the
        sum adds three numbers of at most 5 u of the sum in two rounded additions: 9 u^2 of the
        sum. All squares are positive, so the whole is off by less than (9 d + 6) u^2 of itself.
        """
        d = len(self.columns)
        high = low = None
        for column in self.columns:
            s, e = two_sum(column[left], -column[right])
            square = s * s
            s_high, s_low = halves(s)
            cross = s_high * s_low
            rest = s_low * s_low - (((square - s_high * s_high) - cross) - cross)
            rest += (s + s) * e
            if high is None or low is None:
                high, low = square, rest
            else:
                high, error = two_sum(high, square)
                low = low + (error + rest)
            high, low = quick_two_sum(high, low)
        assert high is not None
        assert low is not None
        unit = 16 * (d + 4) * ROUND * ROUND
        if not self.root:
            value, doubt = high, unit * high
        else:
            # One step of Newton in double-double: r + (h - r^2) / 2 r, off by t^2 / 2 r for the
            # step t, |t| <= 2 u r, and by the rounding of t: less than 8 u^2 r together.
            first = np.sqrt(high)
            product, error = two_product(first, first)
            with np.errstate(all="ignore"):
                step = (((high - product) - error) + low) / (first + first)
            step[high == 0] = 0.0
            value, low = two_sum(first, step)
            doubt = (unit + 16 * ROUND * ROUND) * first
        # With numbers between 2**-400 and 2**400 a square is 0 only if all differences are.
        sure = settled(value, low, doubt) | (high == 0)
        for place in np.flatnonzero(~sure).tolist():
            value[place] = self._exact(int(left[place]), int(right[place]))
        return value

    def _exact(self, i: int, j: int) -> float:
        whole, shift = binary([*self.columns[:, i].tolist(), *self.columns[:, j].tolist()])
        d = len(self.columns)
        square = sum((a - b) ** 2 for a, b in zip(whole[:d], whole[d:], strict=True))
        return (nearest_sqrt if self.root else nearest)(square, 1 << (2 * shift))


class _Cosines:
    """Cosine distances 1 - x.y / sqrt(x.x y.y)."""

    def __init__(self, columns: Array) -> None:
        # A power of two for each row changes no cosine and keeps products near 1.
        _, exponents = np.frexp(np.abs(columns).max(axis=0))
        self.columns = np.ldexp(columns, -exponents)
        every = np.arange(columns.shape[1])
        self.high, self.low = self._products(every, every)

    def _products(self, left: Array, right: Array) -> tuple[Array, Array]:
        """Inner products in double-double, off by less than 4 (d + 2)^2 u^2 |x| |y|.

        The low parts add up to at most 2 d u |x| |y| and are rounded twice in each of d steps.
        """
        high, low = np.zeros(left.size), np.zeros(left.size)
        for column in self.columns:
            product, rest = two_product(column[left], column[right])
            high, error = two_sum(high, product)
            low = low + (error + rest)
        return two_sum(high, low)

    def distances(self, left: Array, right: Array) -> Array:
        """The distances of some pairs.

        The product, and with it the root of the squared lengths, is off by 4 (d + 2)^2 u^2 of
        |x| |y|, the steps of root and quotient by less than 16 u^2 each: less than
        (16 (d + 2)^2 + 128) u^2 in all, and the distance from 1 loses nothing more.
        """
        d = len(self.columns)
        dot_high, dot_low = self._products(left, right)
        # The product of the squared lengths, in double-double.
        high, rest = two_product(self.high[left], self.high[right])
        rest += self.high[left] * self.low[right] + self.low[left] * self.high[right]
        high, rest = quick_two_sum(high, rest)
        root = np.sqrt(high)
        square, error = two_product(root, root)
        root, root_low = quick_two_sum(root, (((high - square) - error) + rest) / (root + root))
        # The quotient.
        first = dot_high / root
        product, error = two_product(first, root)
        remainder = (((dot_high - product) - error) + dot_low) - first * root_low
        value, low = two_sum(np.ones_like(first), -first)
        value, low = two_sum(value, low - remainder / root)
        doubt = np.full(value.size, (16 * (d + 2) ** 2 + 128) * ROUND * ROUND)
        sure = settled(value, low, doubt)
        doubtful = np.flatnonzero(~sure)
        same = (self.columns[:, left[doubtful]] == self.columns[:, right[doubtful]]).all(axis=0)
        value[doubtful[same]] = 0.0
        for place in doubtful[~same].tolist():
            value[place] = self._exact(int(left[place]), int(right[place]))
        return value + 0.0

    def _exact(self, i: int, j: int) -> float:
        x, _ = binary(self.columns[:, i].tolist())
        y, _ = binary(self.columns[:, j].tolist())
        squares = sum(a * a for a in x) * sum(b * b for b in y)
        return one_minus_cosine(sum(a * b for a, b in zip(x, y, strict=True)), squares)
