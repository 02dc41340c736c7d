"""Centres of sparse rows in single precision side by side, and what is known of their scores.

The score |c|**2 / 2 - x.c (under the cosine -x.c/|c|) needs a row's own numbers only, if the
centres stand side by side, column by column. They stand in groups of ``LANES``: a column of a group
is one line of the cache, and the columns that occur often stay there while a group is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from refclust_numba.lowlevel.arrays import aligned
from refclust_numba.lowlevel.build import LANES
from refclust_numba.lowlevel.compiling import compiled
from refclust_numba.lowlevel.threads import chunks, shared
from refclust_numba.prepared import Rows

_COLUMNS: Final = 2048


@dataclass(slots=True)
class GroupedCentres:
    """A table of centres, and for each row what the last scores proved.

    ``low`` holds for each group and row a number that no score of the group is below, that of the
    row's own centre apart; ``best`` is the score of that centre, and ``own`` is its place, -1 if
    none is known.
    """

    cosine: bool
    states: Any  # numbers of the centres, see ``refclust_numba.sparse.versions``
    names: Any  # which centre stands at each place; -1 for none
    places: Any  # at which place each centre stands
    table: Any  # float32, groups x columns x LANES
    start: Any  # float32, groups * LANES; infinite for no centre
    squares: Any  # |c|**2 in doubles
    marks: Any  # equal for equal centres, as squares are
    reach: float
    half: float
    own: Any
    best: Any
    low: Any


class SparseRows(NamedTuple):
    """Sparse rows as compiled code takes them."""

    starts: Any  # of each row among the numbers, and one more: the end
    columns: Any
    values: Any
    singles: Any  # the values times a power of two, in single precision
    lengths: Any  # of the scaled rows, rounded up


class Centres(NamedTuple):
    """The centres of one call as compiled code takes them."""

    table: Any  # these three as in ``GroupedCentres``
    start: Any
    places: Any
    vectors: Any  # the centres in doubles, under the cosine of length one
    squares: Any  # their squared lengths
    reach: float  # the longest centre in the scale of the table
    half: float  # half its square; 0 under the cosine
    longest: float  # the longest centre
    screened: bool  # whether the table can be used
    cosine: bool


class Changes(NamedTuple):
    """What is new since the last call: which places, and how the least score of a group falls."""

    fresh: Any
    slopes: Any
    drops: Any


class Known(NamedTuple):
    """What the last call proved of each row, as in ``GroupedCentres``; it is brought up to date."""

    own: Any
    best: Any
    low: Any
    names: Any


def empty(rows: Rows, k: int, cosine: bool) -> GroupedCentres:
    """A table of no centres yet."""
    groups = -(-k // LANES)
    table = aligned((groups, rows.d, LANES), np.float32)
    table[:] = 0.0
    return GroupedCentres(
        cosine=cosine,
        states=np.zeros(k, np.int64),
        names=np.where(np.arange(groups * LANES) < k, np.arange(groups * LANES), -1),
        places=np.arange(k),
        table=table,
        start=np.full(groups * LANES, np.inf, np.float32),
        squares=np.zeros(k),
        marks=np.zeros(k),
        reach=0.0,
        half=0.0,
        own=np.full(rows.n, -1, np.int32),
        best=np.full(rows.n, np.inf, np.float32),
        low=np.full((groups, rows.n), -np.inf, np.float32),
    )


def gather(grouped: GroupedCentres, fresh: Any) -> None:
    """Let the fresh centres stand together, if that leaves more groups as they are.

    A group then holds centres of several groups before it, and its low numbers are the least of
    theirs.
    """
    groups, k = len(grouped.table), len(fresh)
    spread_over = len(np.unique(grouped.places[fresh] // LANES))
    if spread_over + int(-fresh.sum() // LANES) < max(1, groups // 3):
        return
    order = np.concatenate((np.nonzero(fresh)[0], np.nonzero(~fresh)[0]))
    old, low = grouped.places, np.empty_like(grouped.low)
    table = aligned(grouped.table.shape, np.float32)
    table[-1] = 0.0
    start = np.full_like(grouped.start, np.inf)
    places = np.empty(k, np.int64)
    places[order] = np.arange(k)
    for c in range(k):
        (g, lane), (was, before) = divmod(int(places[c]), LANES), divmod(int(old[c]), LANES)
        table[g, :, lane] = grouped.table[was, :, before]
        start[places[c]] = grouped.start[old[c]]
    for g in range(groups):
        members = order[g * LANES : (g + 1) * LANES]
        low[g] = grouped.low[np.unique(old[members] // LANES)].min(axis=0)
    # The last entry stands for no centre.
    own = grouped.own
    own = np.append(places, -1)[grouped.names[own] * (own >= 0) - (own < 0)]
    grouped.own = own.astype(np.int32)
    grouped.names = np.append(order, np.full(len(grouped.names) - k, -1))
    grouped.places, grouped.table, grouped.low, grouped.start = places, table, low, start


def bring(grouped: GroupedCentres, vectors: Any, fresh: Any, unit: float) -> Any:
    """Write the fresh vectors into the table; return how far each one moved, rounded up.

    Groups with a fresh vector are written as a whole: the others in them are what they were.
    Sums of up to 2**24 squares are made of blocks of 16, 128 blocks to a piece, and the pairwise
    sum of all pieces: not more than 200 roundings in a row.
    """
    pieces, groups = chunks(vectors.shape[1], _COLUMNS), len(grouped.table)
    parts = np.zeros((groups, len(pieces), 3, LANES))
    wanted = np.unique(grouped.places[fresh] // LANES).tolist()

    def work(task: int, _worker: int) -> None:
        g, piece = wanted[task // len(pieces)], task % len(pieces)
        names = grouped.names[g * LANES : (g + 1) * LANES]
        write_columns(vectors, unit, grouped.table[g], names, parts[g, piece], *pieces[piece])

    shared(work, len(wanted) * len(pieces))
    # Only along numbers that lie side by side does NumPy add pairwise.
    whole = np.ascontiguousarray(parts.transpose(2, 0, 3, 1)).sum(axis=-1)
    whole = whole.reshape(3, -1)[:, grouped.places]
    grouped.squares[fresh] = whole[0][fresh]
    grouped.marks[fresh] = whole[1][fresh]
    # A gap of two singles is exact in doubles but for 2**-53 of itself.
    return np.sqrt(whole[2]) * (1.0 + 2.0**-20)


@compiled
def write_columns(vectors, unit, table, names, parts, begin, end):  # type: ignore[no-untyped-def]
    """Write minus the scaled vectors of one group for some columns, and add up what is asked.

    The sums are those of squares, of the numbers times their places, and of the squares of what
    changed in the table. They stand behind the numbers in one array: of several arrays a compiler
    could not tell that they are apart.
    """
    flat = table.reshape(-1)
    width, size = np.uint64(LANES), np.uint64(16 * LANES)
    work = np.zeros(19 * LANES)
    for start in range(begin, end, 16):
        count = np.uint64(min(16, end - start))
        for lane in range(width):
            c = np.uint64(names[lane])
            if names[lane] >= 0:
                for j in range(count):
                    work[j * width + lane] = vectors[c, np.uint64(start) + j]
        for lane in range(width):
            work[size + lane] = 0.0
        for j in range(count):
            at = (np.uint64(start) + j) * width
            place = np.float64(np.uint64(start) + j)
            for lane in range(width):
                v = work[j * width + lane]
                y = np.float32(-v * unit)
                gap = np.float64(y) - np.float64(flat[at + lane])
                flat[at + lane] = y
                work[size + lane] += v * v
                work[size + width + lane] += v * place
                work[size + np.uint64(2) * width + lane] += gap * gap
        for lane in range(width):
            parts[0, lane] += work[size + lane]
    for lane in range(width):
        parts[1, lane] = work[size + width + lane]
        parts[2, lane] = work[size + np.uint64(2) * width + lane]
