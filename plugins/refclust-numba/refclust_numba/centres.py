"""Centres as compiled kernels take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from refclust.kernels.centres import CentreMatrix
from refclust_numba.dense.screening import GROUP
from refclust_numba.lowlevel.arrays import array_over
from refclust_numba.lowlevel.compiling import compiled, room


def matrix(centres: Sequence[Sequence[float]]) -> Any:
    """The centres as a K x d array, in place if they are a ``CentreMatrix``."""
    centre_matrix = CentreMatrix.of(centres)
    whole = array_over(centre_matrix.values, np.float64).reshape(centre_matrix.k, centre_matrix.d)
    whole.flags.writeable = False  # one kind of array, so that kernels are compiled once
    return whole


def distinct(table: Any) -> tuple[Any, Any]:
    """The centres that differ, in order, and the first index of each: ties go to the lowest."""
    totals = table.sum(axis=1)
    if len(np.unique(totals)) == len(table):  # equal rows have equal sums: one order of additions
        return table, np.arange(len(table), dtype=np.int32)
    seen: dict[bytes, int] = {}
    plain = table + 0.0  # a negative zero is a zero
    for k in range(len(plain)):
        seen.setdefault(plain[k].tobytes(), k)
    index = np.fromiter(seen.values(), np.int32, len(seen))
    chosen = np.ascontiguousarray(plain[index])
    chosen.flags.writeable = False
    return chosen, index


def grouped(vectors: Any, starts: Any) -> tuple[Any, Any]:
    """Negative vectors in single precision, a group at a time by columns, and their starts.

    The last group is filled up with centres that no row prefers.
    """
    count, d = vectors.shape
    groups = -(-count // GROUP)
    negative = np.zeros((groups * GROUP, d), np.float32)
    negative[:count] = -vectors
    first = np.full(groups * GROUP, np.inf, np.float32)
    first[:count] = starts
    by_columns = negative.reshape(groups, GROUP, d).transpose(0, 2, 1)
    return np.ascontiguousarray(by_columns), first


def units(table: Any) -> Any:
    """Centres scaled to length one, by the largest component first: no over- or underflow."""
    largest = np.abs(table).max(axis=1, keepdims=True)
    scaled = table / largest
    lengths = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    unit = scaled / lengths
    unit.flags.writeable = False
    return unit


@compiled
def place(table, offset, factor, known, group, first, drift):  # type: ignore[no-untyped-def]
    """Write the centres into the space of the first rung; return the largest half square.

    ``drift`` gets, rounded up, how far each centre and the farthest of all others moved from where
    they were known to be: by far more than roundings, and by 2**-100 for what underflows.
    """
    k, d = table.shape
    largest = 0.0
    for c in range(k):
        square = 0.0
        for j in range(d):
            e = (table[c, j] - offset[j]) * factor
            square += e * e
            group[c // GROUP, j, c % GROUP] = np.float32(-e)
        first[c] = np.float32(0.5 * square)
        # What is no number counts as the largest of all.
        largest = 0.5 * square if not 0.5 * square <= largest else largest
    if drift.shape[0]:
        moved = room(k, np.float64)
        for c in range(k):
            square = 0.0
            for j in range(d):
                e = (table[c, j] - known[c, j]) * factor
                square += e * e
            moved[c] = np.sqrt(square) * (1.0 + 2.0**-20) + 2.0**-100
        most, next_most, which = 0.0, 0.0, -1
        for c in range(k):
            if not moved[c] <= most:
                most, next_most, which = moved[c], most, c
            elif moved[c] > next_most:
                next_most = moved[c]
        for c in range(k):
            drift[c] = np.float32(
                (moved[c] + (next_most if c == which else most)) * (1.0 + 2.0**-20)
            )
    return largest
