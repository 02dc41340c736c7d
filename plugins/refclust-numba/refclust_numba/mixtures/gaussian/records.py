"""What compiled passes under normal densities are told: rows, densities, the cut, places.

Arrays in a record live as long as the record; one compilation serves singles and doubles.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import inlined
from refclust_numba.lowlevel.elementary import STRANDS
from refclust_numba.mixtures.blocks import TOTALS, Places
from refclust_numba.mixtures.gaussian.diagonal import COLUMNS
from refclust_numba.mixtures.gaussian.full import OUT, SIDE, TILE
from refclust_numba.mixtures.sizes import BLOCK


class Blocks(NamedTuple):
    """Rows in blocks: ``whole`` blocks are read in place, the last ones from a filled-up copy.

    Numbers are doubles or singles; the arrays of the other kind are empty, and so are the weights
    if there are none.
    """

    n: int
    d: int
    whole: int
    single: bool
    doubles: Any
    last_doubles: Any
    singles: Any
    last_singles: Any
    weights: Any


class Densities(NamedTuple):
    """Normal densities: means ``apart`` numbers apart, whitening matrices ``size`` numbers."""

    k: int
    full: bool
    apart: int
    size: int
    means: Any
    whitening: Any
    offsets: Any


class Around(NamedTuple):
    """Moments are taken around points, ``apart`` numbers apart; of all pairs of columns or not."""

    k: int
    full: bool
    apart: int
    points: Any


class Cut(NamedTuple):
    """How rows are cut: blocks in a batch and in a chunk, sums of a component, rows kept near."""

    size: int
    chunk: int
    slots: int
    near: int


class Room(NamedTuple):
    """Where things are in a worker's room, counted in doubles."""

    volume: int  # of a block of rows; those of a batch come first
    joint: int  # log p(x, k) or masses of a batch
    chosen: int  # one block of them as chosen
    few: int  # differences of some rows
    gaps: int  # differences of a block
    weighed: int  # one tile of them times their masses
    strands: int
    weights: int
    ones: int
    per_row: int
    totals: int
    end: int


@inlined
def width(d):  # type: ignore[no-untyped-def]
    """So many columns that whole vectors and whole tiles fit."""
    vectors, tiles, groups = -(-d // DOUBLES), -(-d // TILE), -(-d // COLUMNS)
    return max(vectors * DOUBLES, tiles * TILE, groups * COLUMNS)


@inlined
def layout(cut, d, k):  # type: ignore[no-untyped-def]
    """Where things are in a worker's room."""
    volume = width(d) * BLOCK
    joint = cut.size * volume
    chosen = joint + cut.size * k * BLOCK
    few = chosen + k * BLOCK
    gaps = few + (d + OUT) * SIDE
    weighed = gaps + width(d) * BLOCK
    strands = weighed + TILE * BLOCK
    weights = strands + cut.slots * STRANDS
    ones = weights + BLOCK
    per_row = ones + BLOCK
    totals = per_row + BLOCK
    return Room(
        volume, joint, chosen, few, gaps, weighed, strands, weights, ones, per_row, totals,
        totals + TOTALS,
    )  # fmt: skip


@inlined
def places_of(room, block):  # type: ignore[no-untyped-def]
    """The places of one block of log p(x, k), as the rules of sharing take them."""
    return Places(block, room.chosen, room.weights, room.ones, room.per_row, room.totals)
