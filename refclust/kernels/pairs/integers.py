"""Distances in integers: every sum of roots between two integers over one power of two.

Rows are integers over a power of two, so squared distances are integers g, and ``math.isqrt`` of
g 4**s is the root to s more bits, rounded down: exact if its square is what it is the root of.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import repeat
from operator import add, mul

from refclust.data.dataset import Dataset
from refclust.kernels.distances import squared_gaps
from refclust.kernels.points import Points, grouped

WORD = 96  # bits of the largest root for the first thirty digits


@dataclass(frozen=True, slots=True)
class Cell:
    """A sum between low and low + slack units of 2**-shift."""

    low: int
    slack: int
    shift: int

    def ends(self) -> tuple[Fraction, Fraction]:
        """The two ends as rationals.

        Spec: NUM-NEAR

        >>> Cell(3, 1, 1).ends()
        (Fraction(3, 2), Fraction(2, 1))
        """
        unit = 1 << self.shift
        return Fraction(self.low, unit), Fraction(self.low + self.slack, unit)


def bits_for(digits: int) -> int:
    """How many bits the largest root gets where so many decimal digits are worked with.

    Spec: NUM-ROUND

    >>> bits_for(30), bits_for(60)
    (96, 200)
    """
    return WORD if digits <= 30 else max(WORD, 10 * digits // 3)


def more_bits(largest: int, bits: int) -> int:
    """By how many bits the roots of integers up to a largest one are prolonged.

    Spec: NUM-NEAR

    >>> more_bits(1 << 100, 96)
    46
    """
    return max(0, bits - largest.bit_length() // 2)


class Lines:
    """The rows of clusters one after another, and the integer squared distances among them."""

    def __init__(self, data: Dataset, labels: Sequence[int], k: int) -> None:
        self.groups = grouped(labels, range(data.n), k)
        self.order = [i for members in self.groups for i in members]
        self.place = {i: place for place, i in enumerate(self.order)}
        self.points = Points(data.select(self.order))
        self.starts = [0]
        for members in self.groups:
            self.starts.append(self.starts[-1] + len(members))
        self.owners = [c for c, members in enumerate(self.groups) for _ in members]

    @cached_property
    def largest(self) -> int:
        """A bound of all squared distances: that of the corners of the box around the rows."""
        points = self.points
        if points.dense:
            columns = zip(*points.integers, strict=True)
            return sum((max(column) - min(column)) ** 2 for column in columns)
        stored: dict[int, list[int]] = {}
        for places, row in zip(points.columns, points.integers, strict=True):
            for column, x in zip(places, row, strict=True):
                stored.setdefault(column, []).append(x)
        ends = ([*some, *([0] if len(some) < points.n else [])] for some in stored.values())
        return sum((max(column) - min(column)) ** 2 for column in ends)

    def gaps(self) -> Iterator[Sequence[int]]:
        """For each row in order its squared distances to those after it, times 4**shift."""
        return squared_gaps(self.points)


def table(lines: Lines, weights: Sequence[int], bits: int) -> list[list[Cell]]:
    """The sums of distances from every row, in order, to every cluster.

    Spec: KER-DISTSUM

    >>> from array import array
    >>> from refclust.data.dataset import dense
    >>> lines = Lines(dense(array("d", [0, 3, 4]), 1), [0, 0, 1], 2)
    >>> [cell.ends()[0] == cell.ends()[1] for cell in table(lines, [1, 1, 1], 96)[0]]
    [True, True]
    """
    n, k, starts = len(lines.order), len(lines.groups), lines.starts
    extra = more_bits(lines.largest, bits)
    sums, slacks = ([[0] * k for _ in range(n)] for _ in range(2))
    isqrt, twice, plain = math.isqrt, 2 * extra, all(w == 1 for w in weights)
    column, doubts = [0] * n, [0] * n  # from the cluster at hand to every row after it
    for i, gaps in enumerate(lines.gaps()):
        own = lines.owners[i]
        scaled = [gap << twice for gap in gaps]
        roots = list(map(isqrt, scaled))
        rough = [root * root != square for root, square in zip(roots, scaled, strict=True)]
        after = weights[i + 1 :]
        heavy = roots if plain else list(map(mul, roots, after))
        loose = rough if plain else list(map(mul, rough, after))
        for c in range(own, k):
            begin, end = max(starts[c], i + 1) - i - 1, starts[c + 1] - i - 1
            if begin < end:
                sums[i][c] += sum(heavy[begin:end])
                slacks[i][c] += sum(loose[begin:end])
        mine = roots if plain else map(mul, roots, repeat(weights[i]))
        column[i + 1 :] = map(add, column[i + 1 :], mine)
        uneven = rough if plain else map(mul, rough, repeat(weights[i]))
        doubts[i + 1 :] = map(add, doubts[i + 1 :], uneven)
        sums[i][own] += column[i]
        slacks[i][own] += doubts[i]
        if i + 1 == starts[own + 1]:  # the last row of its cluster: later rows have all of it
            for j in range(i + 1, n):
                sums[j][own] += column[j]
                slacks[j][own] += doubts[j]
            column, doubts = [0] * n, [0] * n
    shift = lines.points.shift + extra
    return [
        [Cell(*cell, shift) for cell in zip(*pair, strict=True)]
        for pair in zip(sums, slacks, strict=True)
    ]


def centre_cell(points: Points, weights: Sequence[int], bits: int) -> tuple[Cell, int]:
    """The sum of W w |x - m| over rows with mean m and weight W, and W.

    With s = sum w x it is W |x - m| = |W x - s|, whose square is an integer.

    Spec: KER-CENTREDIST

    >>> from array import array
    >>> from refclust.data.dataset import dense
    >>> centre_cell(Points(dense(array("d", [0, 0, 3, 4]), 2)), [1, 1], 20)
    (Cell(low=2621440, slack=0, shift=18), 2)
    """
    whole, gaps = centre_gaps(points, weights)
    extra = more_bits(max(gaps, default=0), bits)
    low = slack = 0
    for gap, weight in zip(gaps, weights, strict=True):
        square = gap << 2 * extra
        root = math.isqrt(square)
        low += weight * root
        slack += weight * (root * root != square)
    return Cell(low, slack, points.shift + extra), whole


def centre_gaps(points: Points, weights: Sequence[int]) -> tuple[int, list[int]]:
    """The weight W of some rows, and of each |W x - s|**2 with the sum s of w x, times 4**shift.

    Spec: KER-CENTREDIST

    >>> from array import array
    >>> from refclust.data.dataset import dense
    >>> centre_gaps(Points(dense(array("d", [0, 0, 3, 4]), 2)), [1, 1])
    (2, [25, 25])
    """
    whole, sums = sum(weights), [0] * points.d
    for i, (row, weight) in enumerate(zip(points.integers, weights, strict=True)):
        columns = range(points.d) if points.dense else points.columns[i]
        for column, x in zip(columns, row, strict=True):
            sums[column] += weight * x
    # Expanded, for once: nothing is rounded, so nothing cancels.
    length = sum(map(mul, sums, sums))
    return whole, [
        whole * (whole * square - 2 * points.product(i, sums)) + length
        for i, square in enumerate(points.squares)
    ]
