"""Estimated squared distances of rows to centres, as doubles with proven errors.

The errors are those the reference states (``refclust.kernels.clusters.seeding``): of dense rows
relative, 4 (d + 10) 2**-53, of sparse rows 4 (m + 40) 2**-53 (|x| + |c|)**2, where 40 covers the
pairwise sum of squares of up to 2**24 columns, and four roundings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refclust.kernels.clusters.seeding import Potential
from refclust.numbers.argmin import ROUND
from refclust_numba.blocks import blocks
from refclust_numba.dense.ladder import TINY
from refclust_numba.dense.lanes import squared_gap
from refclust_numba.lowlevel.arrays import array_over
from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import borrowing, compiled
from refclust_numba.lowlevel.threads import even, shared
from refclust_numba.prepared import Rows


def measure(rows: Rows, centre: Any, into: Any) -> None:
    """Estimated squared distances of all rows to one centre."""
    pieces = even(rows.n, blocks.measured)
    if rows.dense:
        shared(lambda p, _: measure_dense(rows.values, centre, into, *pieces[p]), len(pieces))
        return
    square, lengths = float((centre * centre).sum()), squared_rows(rows)
    shared(
        lambda p, _: measure_sparse(
            rows.starts, rows.columns, rows.values, lengths, centre, square, into, *pieces[p]
        ),
        len(pieces),
    )


def measure_some(rows: Rows, asked: Any, centre: Any) -> Any:
    """Estimated squared distances of some rows to one centre."""
    made = np.empty(len(asked))
    if rows.dense:
        measure_rows(rows.values, asked, centre, made)
    else:
        measure(rows, centre, every := np.empty(rows.n))
        made[:] = every[asked]
    return made


def believed(rows: Rows, before: Potential) -> Any:
    """The estimates of a potential, made anew if another backend made it."""
    if before.made_by is rows:
        return array_over(before.squares, np.float64)
    squares, made = np.empty(rows.n), np.empty(rows.n)
    nearest = array_over(before.nearest, np.int32)
    for k, centre in enumerate(before.centres):
        measure(rows, np.array(centre), made)
        own = nearest == k
        squares[own] = made[own]
    return squares


def relative(rows: Rows) -> float:
    """The relative error of a square."""
    return 4 * (rows.d + 10) * ROUND if rows.dense else 4 * ROUND


def slack(rows: Rows, centres: Any) -> Any:
    """The absolute error of the square of each row to any of some centres."""
    if rows.dense:
        return np.broadcast_to(TINY, (rows.n,))
    both = np.sqrt(squared_rows(rows)) + _longest(rows, centres) * (1.0 + 2.0**-20)
    sizes = np.diff(rows.starts)
    return 4 * (sizes + 40) * ROUND * both * both * (1 + 2.0**-20) + TINY


def _longest(rows: Rows, centres: Any) -> float:
    """The length of the longest centre; those of the last call are still known."""
    known, lengths = rows.memory.get("lengths", ((), ()))
    same = 0
    while same < min(len(known), len(centres)) and known[same] is centres[same]:
        same += 1
    more = (float(np.sqrt(np.dot(c, c))) for c in map(np.array, centres[same:]))
    all_lengths: tuple[float, ...] = (*lengths[:same], *more)
    rows.memory["lengths"] = (tuple(centres), all_lengths)
    return max(all_lengths)


def squared_rows(rows: Rows) -> Any:
    """The squared lengths of sparse rows."""
    if "squares" not in rows.memory:
        squares = np.empty(rows.n)
        pieces = even(rows.n, blocks.measured)
        shared(lambda p, _: row_squares(rows.starts, rows.values, squares, *pieces[p]), len(pieces))
        rows.memory["squares"] = squares
    return rows.memory["squares"]


@compiled
def row_squares(starts, values, into, begin, end):  # type: ignore[no-untyped-def]
    """The squared lengths of some sparse rows."""
    for i in range(begin, end):
        square = 0.0
        for place in range(starts[i], starts[i + 1]):
            square += np.float64(values[place]) * np.float64(values[place])
        into[i] = square


@borrowing
def square_of(numbers, i, centre):  # type: ignore[no-untyped-def]
    """The squared distance of row i by differences.

    In any order the sum of d squares errs by less than d roundings of itself.
    """
    d = centre.shape[0]
    total = squared_gap(numbers, i * d, centre, d // DOUBLES)
    for j in range(d - d % DOUBLES, d):
        t = np.float64(numbers[i * d + j]) - centre[j]
        total += t * t
    return total


@compiled
def measure_dense(numbers, centre, into, begin, end):  # type: ignore[no-untyped-def]
    """Squared distances of some rows, one after another."""
    for i in range(begin, end):
        into[i] = square_of(numbers, i, centre)


@compiled
def measure_rows(numbers, asked, centre, into):  # type: ignore[no-untyped-def]
    """Squared distances of the rows asked for."""
    for at in range(asked.shape[0]):
        into[at] = square_of(numbers, asked[at], centre)


@compiled
def measure_sparse(  # type: ignore[no-untyped-def]
    starts, columns, values, lengths, centre, square, into, begin, end
):
    """|x|**2 + |c|**2 - 2 x.c of some sparse rows, at least 0."""
    for i in range(begin, end):
        product = 0.0
        for place in range(starts[i], starts[i + 1]):
            product += np.float64(values[place]) * centre[columns[place]]
        into[i] = max(lengths[i] + (square - 2.0 * product), 0.0)
