"""What compiled passes over rows of counts are told: rows, densities, spans, places."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from refclust_numba.lowlevel.compiling import inlined
from refclust_numba.mixtures.blocks import TOTALS, Places
from refclust_numba.mixtures.sizes import BLOCK

OBJECTIVES: Final = 3  # numbers before the counts of a chunk: J, the bound, the entropy


class Lists(NamedTuple):
    """The numbers of all rows that are not zero: beginnings of rows, columns, numbers."""

    starts: Any
    columns: Any
    values: Any
    signed: bool  # whether some are negative


class Packed(NamedTuple):
    """The same in blocks of columns; what a row has in a block is a segment."""

    owners: Any  # rows of segments
    begins: Any  # of segments, and the end
    columns: Any
    values: Any
    edges: Any  # of blocks
    firsts: Any  # segments of blocks, and the end


class Densities(NamedTuple):
    """Log-densities of words: slopes as given, and in a table of groups, columns and lanes."""

    k: int
    lanes: int
    d: int
    never: bool  # whether some slope is -inf
    slopes: Any
    table: Any
    offsets: Any  # -inf in the lanes of no component


class Certain(NamedTuple):
    """How many columns each component asks for, and for each column the components that do."""

    due: Any  # empty if none does
    lists: Any
    names: Any


class Span(NamedTuple):
    """Rows from, to; the first row that has shares; rows whose sums are told together."""

    begin: int
    end: int
    before: int
    chunk: int


class Room(NamedTuple):
    """Where things are in a worker's room, counted in doubles; row by row comes first."""

    places: Places
    seen: int  # columns found that must be there
    end: int


@inlined
def layout(k, lanes):  # type: ignore[no-untyped-def]
    """Where things are in a worker's room: blocks row by row, then component by component."""
    joint = BLOCK * lanes
    chosen = joint + BLOCK * lanes
    weights = chosen + BLOCK * lanes
    ones = weights + BLOCK
    per_row = ones + BLOCK
    totals = per_row + BLOCK
    seen = totals + TOTALS
    return Room(Places(joint, chosen, weights, ones, per_row, totals), seen, seen + k)
