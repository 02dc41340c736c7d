"""Squared distances in singles, with proven bounds: most of what seeding asks is decided by them.

All numbers here are in the units of the packed rows: squares are times ``scale`` squared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from refclust_numpy.exact.floats import ROUND, SINGLE, Array, additions, square_sums
from refclust_numpy.packing import multiply
from refclust_numpy.rows import Rows

_NUMBERS: Final = 1 << 17  # numbers held at a time


class Singles:
    """Squared distances of all rows to a few centres, off by at most ``errors``.

    Let u = 2**-24. Entries of x and c are off by 2 u each, so a product by 4 u; the products and
    |c|^2, which is rounded once, are added up in d + 2 roundings of 2 |x| |c| + |c|^2; |x|^2 errs
    by d + 8 roundings and is added with one more of the result: less than (d + 14) u of
    (|x| + |c|)^2 in all, and ROUND times ``additions`` + 4 of that for what is done in doubles.
    Sizes are taken 1 percent too large, which covers their own errors, those of the bound and
    terms of second order; underflow takes less than 2**-100.
    """

    def __init__(self, rows: Rows, centres: list[tuple[float, ...]]) -> None:
        self.rows, self.packed, self.names = rows, rows.packed, centres
        moved = self.packed.placed(np.array(centres))
        squares = square_sums(moved)
        self.table = np.hstack([-2.0 * moved, squares[:, None]]).astype(np.float32)
        self.size = float(1.01 * np.sqrt(squares.max())) + rows.d * 2.0**-60
        self.unit = 1.02 * ((rows.d + 16) * SINGLE + (additions(rows.d) + 8) * ROUND)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Estimates, centre by centre, for a few rows at a time."""
        for part in _parts(self.rows.n, max(self.table.shape)):
            columns = self.packed.columns[:, part]
            room = np.empty((len(self.table), columns.shape[1]), dtype=np.float32)
            estimates = multiply(self.table, columns, room)
            estimates += self.packed.squares[part]
            yield part, estimates

    def known(self) -> list[tuple[slice, Array]]:
        """The estimates of the one centre if it was a candidate just before; else nothing."""
        kept = self.rows.scores.get(self.names[0])
        if kept is None:
            return []
        return [(part, kept[None, part]) for part in _parts(self.rows.n, 8)]

    def errors(self, part: slice) -> Array:
        """How far off the estimates of some rows may be."""
        size = 1.01 * self.packed.sizes[part] + self.size
        size *= size
        size *= self.unit
        size += 2.0**-100
        return size

    def bounds(self, squares: Array, part: slice) -> tuple[Array, Array]:
        """Squares of some rows as singles, and how far off they and an estimate are together.

        Estimates of squares that are doubles err by less than ROUND times 4096 and by TINY. Sums
        and differences of squares and estimates round less than 8 times, by no more than u of
        a square where the estimate is below it.
        """
        scaled = squares[part] * self.packed.scale**2
        singles: Array = scaled.astype(np.float32)
        errors = self.errors(part)
        errors += 16 * SINGLE * singles
        return singles, errors

    def near(self, squares: Array) -> Array:
        """The rows that may be nearer to the one centre than the root of these squares."""
        near = np.empty(self.rows.n, dtype=bool)
        for part, estimates in self.known() or self.blocks():
            bound, errors = self.bounds(squares, part)
            bound += errors
            near[part] = ~(estimates[0] > bound)
        return np.flatnonzero(near)

    def gains(self, squares: Array) -> tuple[Array, Array]:
        """How much each centre would take from the potential, at the least and at the most.

        Only rows that are nearer, or may be, count: for the others all is as before. Products with
        weights and sums of doubles round less than 2**20 times, and underflow where weights are
        next to nothing.
        """
        rows = self.rows
        least, most = np.zeros(len(self.table)), np.zeros(len(self.table))
        kept = None
        if len(self.table) <= rows.d:  # less room than the packed rows take
            kept = np.empty((len(self.table), rows.n), dtype=np.float32)
        for part, estimates in self.blocks():
            if kept is not None:
                kept[:, part] = estimates
            bound, errors = self.bounds(squares, part)
            for sums, limit in (least, bound - errors), (most, bound + errors):
                gain = np.subtract(limit, estimates)
                np.maximum(gain, 0.0, out=gain)
                if rows.weights is None:
                    sums += np.add.reduce(gain, axis=1, dtype=np.float64)
                else:
                    sums += gain.astype(np.float64) @ rows.weights[part]
        if kept is not None:
            rows.scores = dict(zip(self.names, kept, strict=True))
        tiny = rows.n * 2.0**-1060
        return least * (1 - 2.0**-32) - tiny, most * (1 + 2.0**-32) + tiny


def _parts(n: int, width: int) -> Iterator[slice]:
    step = max(64, _NUMBERS // width)
    for begin in range(0, n, step):
        yield slice(begin, min(begin + step, n))


def screened(rows: Rows) -> bool:
    """Whether singles help, and doubles of squares are no larger and no smaller than they show."""
    return rows.dense and rows.packed.singles and 2.0**-400 < rows.packed.scale < 2.0**400


def plausible(rows: Rows, squares: Array, centres: list[tuple[float, ...]]) -> list[int]:
    """Which of some centres may leave the least potential."""
    with np.errstate(all="ignore"):
        least, most = Singles(rows, centres).gains(squares)
        candidates: list[int] = np.flatnonzero(~(most < least.max())).tolist()
    return candidates
