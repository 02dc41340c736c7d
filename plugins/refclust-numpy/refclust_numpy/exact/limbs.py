"""Exact sums of doubles: every number is cut into limbs on a fixed grid, which add without error.

A limb of level t is a multiple of its unit 2**(top - (t + 1) * width) and less than 2**width units,
so that as many numbers as there are can be added in doubles, in any order, without ever needing
more than 53 bits. Rounding to a grid is one addition and one subtraction of a large constant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from refclust_numpy.exact.floats import Array, exponent, largest

HIGHEST = 960  # numbers below 2**HIGHEST: neither a constant nor a sum can overflow
_LOWEST = -1074
_NUMBERS = 1 << 13  # numbers held at a time: five arrays of them fit a cache


@dataclass(frozen=True, slots=True)
class Grid:
    """Where the limbs of some numbers lie."""

    top: int  # all numbers are below 2**top
    width: int

    @staticmethod
    def of(top: int, count: int) -> Grid:
        """The grid for sums of at most ``count`` numbers below 2**top.

        A sum stays below count * 2**width units, and below 2**52 with two bits to spare for sums
        that take in new numbers before they give away old ones.
        """
        return Grid(top, 50 - count.bit_length())

    def unit(self, level: int) -> int:
        """The exponent of the unit of a level."""
        return max(self.top - (level + 1) * self.width, _LOWEST)

    def level(self, size: float) -> int:
        """The first level on which a number of this size has a limb."""
        return max(0, (self.top - exponent(size)) // self.width)


def limbs(values: Array, grid: Grid) -> Iterator[tuple[int, Array | None, Array]]:
    """Cut numbers into limbs: level, places (``None`` for all) and limbs, until nothing is left.

    ``values`` is used up. |rest| is at most half a unit after each level, so a lower limb is at
    most 2**(width - 1) units, and the first less than 2**width or, rounded up, equal to it.
    """
    rest, places = values.reshape(-1), None
    size = largest(rest)
    level = grid.level(size)
    while size:
        # Doubles near this number are one unit apart; a smaller one would not hold the limb.
        grate = 1.5 * 2.0 ** (52 + grid.unit(level))
        part = rest + grate
        part -= grate
        rest -= part
        yield level, places, part
        left = np.count_nonzero(rest)
        if not left:
            return
        if 4 * left < rest.size:  # few numbers reach so far down: go on with those alone
            chosen = np.flatnonzero(rest)
            places = chosen if places is None else places[chosen]
            rest = rest[chosen]
        level += 1


class Bins:
    """Exact sums of numbers by group, one row of bins per level."""

    __slots__ = ("grid", "levels", "size")

    def __init__(self, grid: Grid, size: int) -> None:
        self.grid, self.size = grid, size
        self.levels: list[Array] = []

    def copy(self) -> Bins:
        """The same sums, to be changed apart."""
        other = Bins(self.grid, self.size)
        other.levels = [level.copy() for level in self.levels]
        return other

    def add(self, groups: Array, values: Array, others: Array | None = None) -> None:
        """Add each number to the bin of its group; ``values`` is used up.

        If ``others`` are given, the numbers are taken from the bins of those.
        """
        if not values.size:
            return
        for level, places, part in limbs(values, self.grid):
            self._put(level, groups if places is None else groups[places], part)
            if others is not None:
                np.negative(part, out=part)
                self._put(level, others if places is None else others[places], part)

    def add_rows(self, groups: Array, values: Array) -> None:
        """Add all numbers of a row to the bin of the row's group; ``values`` is used up."""
        if not values.size:
            return
        width = values.shape[1]
        for level, places, part in limbs(values, self.grid):
            if width == 1:
                self._put(level, groups if places is None else groups[places], part)
            elif places is None:
                # A matrix product, exact as every sum of limbs, and faster than sums of short rows.
                self._put(level, groups, part.reshape(values.shape) @ np.ones(width))
            else:
                self._put(level, groups[places // width], part)

    def _put(self, level: int, groups: Array, part: Array) -> None:
        while len(self.levels) <= level:
            self.levels.append(np.zeros(self.size))
        if self.size == 1:
            self.levels[level][0] += part.sum()
        elif 8 * part.size < self.size:
            np.add.at(self.levels[level], groups, part)
        else:
            self.levels[level] += np.bincount(groups, weights=part, minlength=self.size)

    def filled(self) -> Array:
        """The places whose sum may be other than 0."""
        some = np.zeros(self.size, dtype=bool)
        for level in self.levels:
            some |= level != 0
        return np.flatnonzero(some)

    def integers(self) -> tuple[list[int], int]:
        """The sums as integers over 2**shift."""
        if not self.levels:
            return [0] * self.size, 0
        shift = max(0, -self.grid.unit(len(self.levels) - 1))
        totals = [0] * self.size
        for level, bins in enumerate(self.levels):
            unit = self.grid.unit(level)
            up = unit + shift
            whole = np.ldexp(bins, -unit).astype(np.int64)
            for place in np.flatnonzero(whole).tolist():
                totals[place] += int(whole[place]) << up
        return totals, shift

    def cell(self, place: int) -> tuple[int, int]:
        """One sum as an integer over 2**shift."""
        small = Bins(self.grid, 1)
        small.levels = [level[place : place + 1] for level in self.levels]
        [total], shift = small.integers()
        return total, shift

    def fractions(self) -> tuple[Fraction, ...]:
        """The sums as fractions."""
        totals, shift = self.integers()
        return tuple(Fraction(total, 1 << shift) for total in totals)


def totals(terms: Sequence[Array], groups: Array, size: int) -> tuple[Fraction, ...]:
    """The exact sums by group of some arrays of one length; they are used up."""
    top = max(exponent(largest(term)) for term in terms)
    bins = Bins(Grid.of(top, max(1, terms[0].size) * len(terms)), size)
    for term in terms:
        bins.add(groups, term)
    return bins.fractions()


def cut_squares(values: Array, top: int) -> tuple[Array, Array]:
    """The squares of whole rows as a few doubles that add up to them, and the rows left out.

    Every number, below 2**top, is cut into at most three limbs a, b, c on a grid. Then |x|^2
    consists of the inner products a.a, 2 a.b, 2 a.c + b.b, 2 b.c and c.c, which are whole numbers
    of their units and below 3 d 4**width < 2**53 of them: exact in doubles, in whatever order they
    are added. Rows that need more bits are left out: they get zeros.
    """
    n, d = values.shape
    grid = Grid(top, (50 - d.bit_length()) // 2)
    # As in ``limbs``: doubles near this number are one unit apart.
    grates = [1.5 * 2.0 ** (52 + grid.unit(level)) for level in range(3)]
    products, long = np.zeros((5, n)), np.zeros(n, dtype=bool)
    step = max(1, _NUMBERS // max(d, 1))
    room = np.empty((5, min(step, n), d))
    single, double = np.ones(d), np.full(d, 2.0)
    for begin in range(0, n, step):
        part = slice(begin, min(begin + step, n))
        *cut, rest, terms = room[:, : part.stop - begin]
        rest[...] = values[part]
        for limb, grate in zip(cut, grates, strict=True):
            np.add(rest, grate, out=limb)
            limb -= grate
            rest -= limb
        if rest.any():
            long[part] = (rest != 0).any(axis=1)
            for limb in cut:
                limb[long[part]] = 0.0
        for i in range(3):
            for j in range(i, 3):
                np.multiply(cut[i], cut[j], out=terms)
                products[i + j, part] += terms @ (single if i == j else double)
    return products, np.flatnonzero(long)
