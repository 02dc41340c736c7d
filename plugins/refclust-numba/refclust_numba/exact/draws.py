"""Where a random number falls among the masses of rows, proven by sums with bounds."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from refclust.kernels.clusters.seeding import Potential
from refclust.numbers.argmin import ROUND, locate_exact
from refclust_numba.dense.distances import believed, relative, slack
from refclust_numba.lowlevel.arrays import array_over
from refclust_numba.lowlevel.compiling import compiled, room
from refclust_numba.prepared import Rows

_CHUNK: Final = 1024


class Masses:
    """Masses of rows, and their sums chunk by chunk: a draw looks into one chunk only."""

    def __init__(self, squares: Any, weights: Any) -> None:
        self.squares, self.weights = squares, weights
        self.ends = np.cumsum(chunk_sums(squares, weights))

    def fall(self, error: float, r: float) -> int | None:
        """The least i whose masses up to i exceed r times all of them, if that is proven.

        As ``refclust.numbers.argmin.locate``: in whatever order n masses of one sign are added,
        no sum errs by more than n roundings of the whole.
        """
        n, whole = len(self.squares), float(self.ends[-1])
        doubt = 4 * (error + (n + 4) * (ROUND * whole + 5e-324))
        target = r * whole
        chunk = int(np.searchsorted(self.ends, target, side="right"))
        if not math.isfinite(doubt) or chunk >= len(self.ends):
            return None
        start = float(self.ends[chunk - 1]) if chunk else 0.0
        begin = chunk * _CHUNK
        end = min(begin + _CHUNK, n)
        row, below, above = passing(self.squares, self.weights, start, target, begin, end)
        if row < 0 or not above - target > doubt:
            return None
        return int(row) if row == 0 or target - below > doubt else None


@compiled
def passing(squares, weights, start, target, begin, end):  # type: ignore[no-untyped-def]
    """The first row at which a running sum exceeds the target, and the sums before and there."""
    above = start
    for i in range(begin, end):
        below = above
        above += squares[i] * weights[i] if weights.shape[0] else squares[i]
        if above > target:
            return i, below, above
    return -1, above, above


@compiled
def chunk_sums(squares, weights):  # type: ignore[no-untyped-def]
    """The sums of the masses of each chunk, in eight partial sums."""
    n = squares.shape[0]
    sums = room(-(-n // _CHUNK), np.float64)
    part = room(8, np.float64)
    for chunk in range(sums.shape[0]):
        begin = np.uint64(chunk * _CHUNK)
        end = np.uint64(min(n, (chunk + 1) * _CHUNK))
        part[:] = 0.0
        whole = end - (end - begin) % np.uint64(8)
        for i in range(begin, whole, np.uint64(8)):
            for lane in range(np.uint64(8)):
                mass = squares[i + lane]
                part[lane] += mass * weights[i + lane] if weights.shape[0] else mass
        total = 0.0
        for i in range(whole, end):
            total += squares[i] * weights[i] if weights.shape[0] else squares[i]
        sums[chunk] = total + part.sum()
    return sums


def by_squares(rows: Rows, before: Potential, r: float) -> int | None:
    """The row that r falls on by weight times squared distance, if it is proven."""
    kept = rows.memory.get("masses")
    if kept is None or kept[0] is not before:
        squares = believed(rows, before)
        masses = Masses(squares, rows.weights)
        error = 2 * (relative(rows) + ROUND) * float(masses.ends[-1])
        each = slack(rows, before.centres)
        error += 4 * float((each * rows.weights if rows.weighted else each).sum())
        kept = rows.memory["masses"] = (before, masses, error)
    _, masses, error = kept
    return masses.fall(error, r)


def by_weight(rows: Rows, allowed: Any, r: float) -> int:
    """The row that r falls on by weight, among the allowed ones; -1 if there is none."""
    if not rows.weighted:
        counted = np.cumsum(allowed, dtype=np.int64)
        numerator, denominator = r.as_integer_ratio()
        place = int(np.searchsorted(counted, numerator * int(counted[-1]) // denominator, "right"))
        return place if place < rows.n else -1
    row = Masses(np.where(allowed, rows.weights, 0.0), np.empty(0)).fall(0.0, r)
    if row is None:
        exact = [
            w if yes else 0 for w, yes in zip(rows.points.weights, allowed.tolist(), strict=True)
        ]
        row = locate_exact(exact, r)
    return row if row < rows.n else -1


def different(rows: Rows, before: Potential) -> Any:
    """Which rows differ from their nearest centre: a distance is 0 only for equal ones."""
    nearest = array_over(before.nearest, np.int32)
    equal = np.empty(rows.n, np.bool_)
    vectors = np.array(before.centres)
    if rows.dense:
        equal_dense(rows.table, vectors, nearest, equal)
    else:
        filled = np.count_nonzero(vectors, axis=1)
        equal_sparse(rows.starts, rows.columns, rows.values, vectors, filled, nearest, equal)
    return ~equal


@compiled
def equal_dense(table, vectors, nearest, equal):  # type: ignore[no-untyped-def]
    """Mark the rows that equal the centre named for them."""
    for i in range(table.shape[0]):
        same = True
        for j in range(table.shape[1]):
            if np.float64(table[i, j]) != vectors[nearest[i], j]:
                same = False
                break
        equal[i] = same


@compiled
def equal_sparse(starts, columns, values, vectors, filled, nearest, equal):  # type: ignore[no-untyped-def]
    """Mark the sparse rows that equal the centre named for them."""
    for i in range(nearest.shape[0]):
        k = nearest[i]
        count, same = 0, True
        for place in range(starts[i], starts[i + 1]):
            x = np.float64(values[place])
            if x != vectors[k, columns[place]]:
                same = False
                break
            if x != 0.0:
                count += 1
        equal[i] = same and count == filled[k]
