"""Rows once more in singles, moved near the origin and column by column, as a BLAS likes them.

A copy half as large as the doubles it comes from, made once for all passes over the data. What is
decided by it is proven by bounds; what is not goes back to the rows themselves.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from refclust_numpy.exact.floats import SINGLE, Array, largest

if TYPE_CHECKING:
    from refclust_numpy.rows import Rows

_BLOCK: Final = 1 << 18  # numbers moved at a time
_ALONE: Final = 1 << 18  # products that one thread of a BLAS does alone


class Packed:
    """Dense rows less an offset, times a power of two, and what of them stays the same.

    All numbers are below 2**20 and the largest is above 2**-20, so that singles neither overflow
    nor lose a number that matters. ``scale`` is 0.0 where no power of two achieves that. An entry
    is moved, scaled and rounded: off by at most 2 u. ``squares`` of d such entries err by d + 8
    roundings, ``sizes`` are their roots. A last column of ones takes constants into a product.
    """

    def __init__(self, rows: Rows, centred: bool) -> None:
        self.rows = rows
        self.offset = rows.middle if centred else np.zeros(rows.d)
        self.scale = self._scale()
        # The bounds leave out terms of second order.
        self.singles = bool(self.scale) and (rows.d + 24) * SINGLE <= 0.005
        if self.singles:
            self._pack()

    def _scale(self) -> float:
        with np.errstate(all="ignore"):
            return power(float(np.max([largest(side - self.offset) for side in self.rows.box])))

    def _pack(self) -> None:
        rows, d = self.rows, self.rows.d
        self.columns = np.empty((d + 1, rows.n), dtype=np.float32)
        self.columns[d] = 1.0
        self.squares = np.empty(rows.n, dtype=np.float32)
        for begin, end in rows.blocks(_BLOCK):
            part = self.columns[:d, begin:end]
            part[...] = self.moved(slice(begin, end)).T
            np.einsum("ij,ij->j", part, part, out=self.squares[begin:end])
        self.sizes = np.sqrt(self.squares)

    def moved(self, chosen: slice | Array) -> Array:
        """Some rows in doubles, moved and scaled."""
        return self.placed(self.rows.values[chosen])

    def placed(self, points: Array) -> Array:
        """Any points in doubles, moved and scaled as the rows are."""
        moved: Array = points - self.offset
        if self.scale != 1.0:
            moved *= self.scale
        return moved


def power(size: float) -> float:
    """The power of two that brings numbers up to this size close to 1; 0.0 if none does."""
    if not 2.0**-900 < size < 2.0**900:
        return 0.0
    return 1.0 if 2.0**-20 < size < 2.0**20 else float(2.0 ** -math.frexp(size)[1])


def multiply(centres: Array, columns: Array, scores: Array) -> Array:
    """Products of all centres with all columns, written to ``scores``.

    A BLAS that shares out work this small among threads has them wait for each other; in parts
    below its threshold it does not.
    """
    part = _ALONE // centres.size
    if part < 256 or part >= columns.shape[1]:
        return np.matmul(centres, columns, out=scores)
    for begin in range(0, columns.shape[1], part):
        some = slice(begin, begin + part)
        np.matmul(centres, columns[:, some], out=scores[:, some])
    return scores
