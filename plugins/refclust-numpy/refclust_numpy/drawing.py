"""Draws: on which row a random number falls, when rows have masses."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np

from refclust.numbers.argmin import locate_exact
from refclust_numpy.exact.floats import ROUND, Array

BLOCK: Final = 1024


class Draws:
    """Masses of rows and their running sums, by blocks.

    ``error`` bounds that of any partial sum, roundings of the sums aside. A running sum of blocks
    and of masses within one block rounds less than blocks + 2 BLOCK times, always less than u of
    the total.
    """

    def __init__(self, masses: Array, error: float) -> None:
        self.masses = masses
        with np.errstate(all="ignore"):
            self.sums = np.cumsum(_blocks(masses))
            self.whole = float(self.sums[-1])
            rounds = self.sums.size + 2 * BLOCK + 8
            self.doubt = 4 * (error + rounds * (ROUND * self.whole + 5e-324))

    def locate(self, r: float, exact: Callable[[], list[int]]) -> int:
        """The least i whose masses up to i exceed the share r of all; -1 if there is none."""
        row = self._surely(r * self.whole)
        if row is None:
            row = locate_exact(exact(), r)
        return row if row < self.masses.size else -1

    def beyond(self, mass: Fraction, exact: Callable[[], int]) -> int:
        """The least i whose masses up to i exceed a mass, -1 if there is none; exactly on doubt."""
        try:
            row = self._surely(float(mass))
        except OverflowError:
            row = None
        return exact() if row is None else row

    def _surely(self, goal: float) -> int | None:
        """The least i whose masses up to i exceed the goal, if the errors leave no doubt.

        One more rounding of the goal is far within it.
        """
        sums, doubt = self.sums, self.doubt
        with np.errstate(all="ignore"):
            block = int(np.searchsorted(sums, goal, side="right"))
            if math.isfinite(doubt) and block < sums.size:
                begin = block * BLOCK
                inside = np.cumsum(self.masses[begin : begin + BLOCK])
                inside += sums[block - 1] if block else 0.0
                i = int(np.searchsorted(inside, goal, side="right"))
                below = inside[i - 1] if i else (sums[block - 1] if block else -math.inf)
                if i < inside.size and inside[i] - goal > doubt and goal - below > doubt:
                    return begin + i
            return -1 if goal - self.whole > doubt else None


def total(masses: Any) -> float:
    """The sum of numbers of one sign, off by at most BLOCK + 1 roundings of itself."""
    if np.ndim(masses) == 0:
        return float(masses)
    try:
        return math.fsum(_blocks(masses).tolist())
    except OverflowError:
        return math.inf  # no estimate: exact numbers will decide


def locate_whole(masses: Array, r: float) -> int:
    """The place of r among whole masses; -1 if there is no mass."""
    shares = np.cumsum(masses, dtype=np.int64)
    numerator, denominator = r.as_integer_ratio()
    goal = numerator * int(shares[-1]) // denominator
    row = int(np.searchsorted(shares, goal, side="right"))
    return row if row < shares.size else -1


def _blocks(masses: Any) -> Array:
    values = np.asarray(masses, dtype=np.float64)
    blocks: Array = np.add.reduceat(values, np.arange(0, values.size, BLOCK))
    return blocks
