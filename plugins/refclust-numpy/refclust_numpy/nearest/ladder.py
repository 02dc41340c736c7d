"""The upper rungs of the ladder: rows whose nearest centre the screen left in doubt.

Input are pairs of a row and a centre that may be its nearest. Plain doubles on just those pairs
decide nearly all rows, with a bound of their own; integers decide the rest, each distinct row once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from refclust.kernels.clusters.nearness import Cosine, Euclidean, Field
from refclust.kernels.points import Points, binary
from refclust_numpy.exact.floats import (
    ROUND,
    TINY,
    Array,
    additions,
    exponent,
    largest,
    square_sums,
)
from refclust_numpy.rows import Rows, fits_grid, lengths, segment_sums

_BLOCK = 1 << 18  # numbers held at a time


class Ladder:
    """Decides among some centres for some rows, the lowest index of equals."""

    def __init__(self, rows: Rows, centres: Array, metric: str) -> None:
        self.rows, self.centres, self.cosine = rows, centres, metric == "cosine"

    @cached_property
    def units(self) -> Array:
        """Centres of length one, each off by at most (d + 8) u of its length."""
        sizes = np.abs(self.centres).max(axis=1, keepdims=True)
        scaled = self.centres / sizes  # first, since the length itself might overflow
        units: Array = scaled / np.sqrt(square_sums(scaled))[:, None]
        return units

    @cached_property
    def squares(self) -> Array:
        """The squared lengths of the centres."""
        return lengths(self.centres) ** 2

    @cached_property
    def _power(self) -> int:
        size = max(self.rows.largest, largest(self.centres))
        return 0 if 2.0**-400 < size < 2.0**400 or not size else -exponent(size)

    @cached_property
    def grid(self) -> bool:
        """Whether there is no rounding at all."""
        return not self.cosine and self.rows.dense and fits_grid(self.rows, self.centres)

    def decide(self, rows: Array, centres: Array, labels: Array) -> None:
        """Write the nearest centre of each row among its pairs; pairs are sorted by row, centre."""
        for begin, end in self._blocks(rows):
            self._decide(rows[begin:end], centres[begin:end], labels)

    def _blocks(self, rows: Array) -> Iterator[tuple[int, int]]:
        """Cut the pairs between rows, so that not too many numbers are held at a time."""
        width = self.rows.d if self.rows.dense else int(self.rows.counts.max(initial=1))
        step, begin = max(1, _BLOCK // max(width, 1)), 0
        while begin < rows.size:
            end = int(np.searchsorted(rows, rows[min(begin + step, rows.size) - 1], side="right"))
            yield begin, end
            begin = end

    def _decide(self, rows: Array, centres: Array, labels: Array) -> None:
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        counts = np.diff(starts, append=rows.size)
        with np.errstate(all="ignore"):
            estimates, factor, slacks = self._estimates(rows, centres)
            least = np.minimum.reduceat(estimates, starts)
            reaches = least * factor + np.maximum.reduceat(slacks, starts)
            near = ~(estimates > np.repeat(reaches, counts))  # what is no number stays in doubt
        many = np.add.reduceat(near.astype(np.int64), starts) > 1
        if many.any() and self.grid:
            near, many = estimates == np.repeat(least, counts), np.zeros_like(many)
            self.rows.rungs["grid"] += starts.size
        else:
            self.rows.rungs["float64"] += int(starts.size - np.count_nonzero(many))
        # Written from the last to the first: of equally near centres the first one stays.
        chosen = np.flatnonzero(near)[::-1]
        labels[rows[chosen]] = centres[chosen]
        if many.any():
            doubtful = near & np.repeat(many, counts)
            self._exact(rows[doubtful], centres[doubtful], labels)

    def _estimates(self, rows: Array, centres: Array) -> tuple[Array, float, Array]:
        """Estimates, proven in order where b > a * factor + slack."""
        data, d = self.rows, self.rows.d
        if not data.dense:
            return self._sparse_estimates(rows, centres)
        x = data.values[rows].astype(np.float64)
        if self.cosine:
            # |x - unit| falls as the cosine rises. A difference is rounded once, the sum of d
            # squares d + 1 times, the root once, in all (d + 8) u of a distance up to |x| + 1; a
            # unit that is off by (d + 8) u moves the distance by no more than that. Four times
            # the sum of both, on either side, leaves room for the roundings of the bound.
            size = np.sqrt(square_sums(x))
            distances = np.sqrt(square_sums(x - self.units[centres]))
            return distances, 1.0, 16 * (additions(d) + 10) * ROUND * (1.0 + size)
        # Differences first, so that an offset does no harm: each is rounded once, its square and
        # the sum of the squares, all positive, ``additions`` times: less than (additions + 4) u of
        # the square. Two estimates and the bound itself take four times that.
        # A power of two, where one is needed, keeps squares from overflowing.
        if self._power:
            x = np.ldexp(x, self._power) - np.ldexp(self.centres[centres], self._power)
        else:
            x -= self.centres[centres]
        squares = square_sums(x)
        return squares, 1.0 + 4 * (additions(d) + 8) * ROUND, np.full(squares.size, TINY)

    def _sparse_estimates(self, rows: Array, centres: Array) -> tuple[Array, float, Array]:
        data = self.rows
        places, counts = data.picked(rows)
        vectors = self.units if self.cosine else self.centres
        terms = vectors[np.repeat(centres, counts), data.columns[places]] * data.values[places]
        products = segment_sums(terms, counts)
        size = data.lengths[rows]
        unit = 4 * ROUND * (counts + additions(data.d) + 16)
        if self.cosine:
            # A product of m terms errs by (m + 1) u |x| |unit|, the unit by (additions + 8) u.
            return -products, 1.0, unit * (size + TINY)
        # |c|^2 errs by (additions + 4) u of itself, 2 x.c by 2 (m + 1) u |x| |c|.
        longest = np.sqrt(self.squares.max())
        return self.squares[centres] - 2.0 * products, 1.0, 2 * unit * (size + longest) ** 2 + TINY

    def _exact(self, rows: Array, centres: Array, labels: Array) -> None:
        """Integers for what is left; rows that are equal are decided once."""
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        self.rows.rungs["integers"] += starts.size
        groups = np.split(centres, starts[1:])
        unique = rows[starts]
        known: dict[bytes, int] = {}
        names = [self._bytes(int(i)) for i in unique]
        firsts = {name: place for place, name in reversed(list(enumerate(names)))}
        order = sorted(firsts.values())
        field = self._field([int(unique[place]) for place in order])
        for position, place in enumerate(order):
            known[names[place]] = field.exact(position, groups[place].tolist())
        labels[unique] = [known[name] for name in names]

    def _bytes(self, i: int) -> bytes:
        data = self.rows
        if data.dense:
            return bytes((data.values[i] + 0.0).tobytes())
        places = slice(data.starts[i], data.starts[i + 1])
        columns, values = data.columns[places], data.values[places]
        present = values != 0.0  # zeros may be stored or not, and have two signs
        return bytes(columns[present].tobytes() + values[present].tobytes())

    def _field(self, rows: Sequence[int]) -> Field | SparseField:
        points = self.rows.some_points(rows)
        if not self.rows.dense:
            return SparseField(points, self.centres, self.cosine)
        vectors = list(map(tuple, self.centres.tolist()))
        return Cosine(points, vectors) if self.cosine else Euclidean(points, vectors)


class SparseField:
    """The exact order of sparse rows, without turning whole centres into integers."""

    def __init__(self, points: Points, centres: Array, cosine: bool) -> None:
        self.points, self.centres, self.cosine = points, centres, cosine
        self._squares: dict[int, Fraction] = {}

    def exact(self, i: int, centres: list[int]) -> int:
        """The nearest of some centres to row i, the lowest index of equals."""
        columns = list(self.points.columns[i])
        products = {k: self._product(i, self.centres[k, columns].tolist()) for k in centres}
        if not self.cosine:
            return min(centres, key=lambda k: (self._square(k) - 2 * products[k], k))
        # By sign and square: x.c / |c| itself is irrational.
        signed = {k: p * abs(p) / self._square(k) for k, p in products.items()}
        return max(centres, key=lambda k: (signed[k], -k))

    def _product(self, i: int, vector: list[float]) -> Fraction:
        if not vector:
            return Fraction(0)
        whole, shift = binary(vector)
        total = sum(a * b for a, b in zip(whole, self.points.integers[i], strict=True))
        return Fraction(total, 1 << (shift + self.points.shift))

    def _square(self, k: int) -> Fraction:
        if k not in self._squares:
            centre = self.centres[k]
            whole, shift = binary(centre[centre != 0].tolist())
            self._squares[k] = Fraction(sum(c * c for c in whole), 1 << (2 * shift))
        return self._squares[k]
