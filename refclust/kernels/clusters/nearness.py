"""Estimates of all distances to some centres, with proven bounds, and the exact order behind them.

A field answers two questions about a row: roughly how far each centre is, and, among centres that
the estimates cannot tell apart, which one is nearest, the lowest index of equals. Realises the
comparisons of KM-ASSIGN and KM-COSASSIGN (chapter 10).

u is ``ROUND``, half a unit in the last place of 1.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, repeat
from operator import mul
from typing import Protocol

from refclust.kernels.points import Points, Vector, binary
from refclust.numbers.argmin import ROUND, first_minima

_CHUNK = 4096  # rows whose estimates are held at a time
TINY = 2.0**-1000  # far above all underflow, far below every distance that matters


class Field(Protocol):
    """What ``nearest_labels`` needs to know about rows and centres."""

    @property
    def points(self) -> Points:
        """The rows."""

    @property
    def factor(self) -> float:
        """Estimates a < b are proven in order where b > a * factor + slack."""

    def estimates(self, begin: int, end: int) -> list[list[float]]:
        """One column of estimates per centre, for some rows."""

    def slacks(self, begin: int, end: int) -> Iterable[float]:
        """The slack of each of these rows."""

    def exact(self, i: int, centres: list[int]) -> int:
        """The nearest of some centres to row i, the lowest index of equals."""


def nearest_labels(field: Field) -> array[int]:
    """The index of the nearest centre for every row, the lowest of equals.

    Spec: KM-ASSIGN, KM-COSASSIGN
    """
    labels = array("i")
    for begin in range(0, field.points.n, _CHUNK):
        end = min(begin + _CHUNK, field.points.n)

        def exact(i: int, centres: list[int], begin: int = begin) -> int:
            return field.exact(begin + i, centres)

        labels.fromlist(
            first_minima(field.estimates(begin, end), field.factor, field.slacks(begin, end), exact)
        )
    return labels


def products(points: Points, vector: Vector, begin: int, end: int) -> list[float]:
    """Estimated inner products of sparse rows with a vector; each errs by m u |x| |vector|.

    m is the number of the row's numbers plus one: one rounding per product and per addition.

    Spec: VEC-DOT
    """
    pick = vector.__getitem__
    return [
        # Built-in sum on floats, for once: its error is inside the bound stated above.
        sum(map(mul, row, map(pick, columns)))
        for row, columns in zip(points.rows[begin:end], points.columns[begin:end], strict=True)
    ]


class Euclidean:
    """Distances; of sparse rows |c|^2 - 2 x.c, which differs from the square by |x|^2 only."""

    def __init__(self, points: Points, centres: Sequence[Vector]) -> None:
        self.points, self.centres = points, centres

    @cached_property
    def factor(self) -> float:
        """Each distance errs by at most (d + 8) u of itself.

        Differences are rounded once each, and any summation of d squares that scales against
        overflow errs by less than (d + 4) u of the root; ``math.dist`` is far better than that.
        """
        return 1.0 + 4 * (self.points.d + 8) * ROUND if self.points.dense else 1.0

    def estimates(self, begin: int, end: int) -> list[list[float]]:
        """Distances by ``math.dist``, which takes differences first: an offset does no harm."""
        if self.points.dense:
            rows = self.points.rows[begin:end]
            return [list(map(math.dist, rows, repeat(centre))) for centre in self.centres]
        return [
            [square - 2.0 * product for product in products(self.points, centre, begin, end)]
            for centre, square in zip(self.centres, self._squares, strict=True)
        ]

    def slacks(self, begin: int, end: int) -> Iterable[float]:
        """Twice the absolute error: of a sparse row 2 (m + 4) u (|x| + |c|)^2."""
        if self.points.dense:
            return repeat(TINY, end - begin)
        longest = math.sqrt(max(self._squares))
        return (
            8 * (len(row) + 8) * ROUND * squared(math.hypot(*row) + longest) + TINY
            for row in self.points.rows[begin:end]
        )

    @cached_property
    def _squares(self) -> list[float]:
        return [squared(math.hypot(*centre)) for centre in self.centres]

    def exact(self, i: int, centres: list[int]) -> int:
        """The least |c|^2 - 2 x.c in integers."""
        doubled, squares = self._integers
        return min(centres, key=lambda k: (squares[k] - self.points.product(i, doubled[k]), k))

    @cached_property
    def _integers(self) -> tuple[list[list[int]], list[int]]:
        """2 c and |c|^2, so scaled that subtracting a product with a row of integers is exact."""
        integers, t = scaled_vectors(self.centres)
        doubled = [[c << (t + 1) for c in centre] for centre in integers]
        squares = [sum(map(mul, c, c)) << self.points.shift for c in integers]
        return doubled, squares


class Cosine:
    """Angles between rows of length one and centres that are not zero."""

    def __init__(self, points: Points, centres: Sequence[Vector]) -> None:
        self.points, self.centres = points, centres

    @property
    def factor(self) -> float:
        """All errors are absolute."""
        return 1.0

    def estimates(self, begin: int, end: int) -> list[list[float]]:
        """Distances to centres of length one, or minus the cosine: both fall as it rises."""
        if self.points.dense:
            rows = self.points.rows[begin:end]
            return [list(map(math.dist, rows, repeat(unit))) for unit in self._units]
        return [[-c for c in products(self.points, unit, begin, end)] for unit in self._units]

    def slacks(self, begin: int, end: int) -> Iterable[float]:
        """Twice the absolute error of an estimate.

        A unit centre errs by 4 u in length. Dense: a distance of at most 2.1 errs by (d + 8) u of
        itself. Sparse: a product errs by (m + 4) u times a length just above one.
        """
        if self.points.dense:
            return repeat(8 * (self.points.d + 10) * ROUND, end - begin)
        return (4 * (len(row) + 10) * ROUND for row in self.points.rows[begin:end])

    @cached_property
    def _units(self) -> list[Vector]:
        return [_unit(centre) for centre in self.centres]

    def exact(self, i: int, centres: list[int]) -> int:
        """The largest x.c / |c|, compared by sign and square in integers."""
        vectors, squares = self._integers
        best, *others = centres
        dot = self.points.product(i, vectors[best])
        for k in others:
            other = self.points.product(i, vectors[k])
            if other * abs(other) * squares[best] > dot * abs(dot) * squares[k]:
                best, dot = k, other
        return best

    @cached_property
    def _integers(self) -> tuple[list[list[int]], list[int]]:
        integers, _ = scaled_vectors(self.centres)
        return integers, [sum(map(mul, c, c)) for c in integers]


def squared(x: float) -> float:
    """The square of an estimate, infinite where ``x ** 2`` would raise.

    Spec: VEC-SQDIST

    >>> squared(1e200)
    inf
    """
    return x * x


def scaled_vectors(vectors: Sequence[Vector]) -> tuple[list[list[int]], int]:
    """Vectors as integers over one power of two.

    Spec: NUM-NEAR

    >>> scaled_vectors([(5.0, 1.0), (2.0, 0.0)])
    ([[5, 1], [2, 0]], 0)
    """
    flat, shift = binary(list(chain.from_iterable(vectors)))
    d = len(vectors[0])
    return [flat[k * d : (k + 1) * d] for k in range(len(vectors))], shift


def _unit(vector: Vector) -> Vector:
    # Scaled by the largest component first, since the length itself might overflow or underflow.
    largest = max(map(abs, vector))
    scaled = [c / largest for c in vector]
    length = math.hypot(*scaled)
    return tuple(c / length for c in scaled)
