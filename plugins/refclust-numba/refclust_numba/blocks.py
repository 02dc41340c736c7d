"""How much compiled code takes at a time, in one place: no answer depends on any of it.

What Python code decides stands in ``blocks`` and can be made as small as possible for a while, so
that a few rows already need a second piece. How many rows a block of the first rung holds is part
of the build (see ``refclust_numba.lowlevel.build``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields

from refclust_numba.dense.screening import GROUP, ROWS
from refclust_numba.lowlevel.build import DOUBLES, LANES
from refclust_numba.lowlevel.elementary import STRANDS
from refclust_numba.pairs.lanes import CHUNK, LENGTHS


@dataclass(slots=True)
class Blocks:
    """The least size of a piece of work, of each kind."""

    chunk: int = 16  # blocks that a thread takes at a time in a pass of k-means
    cycles: int = 200_000  # of such a pass, below which another thread costs more than it does
    listed: int = 1024  # rows that change clusters before they are moved; two blocks at least
    packed: int = 32  # blocks
    gained: int = 16  # blocks whose gains are added up together
    marked: int = 64  # blocks whose marked rows may go over to a new centre
    measured: int = 4096  # rows
    exact: int = 256  # rows decided in integers
    numbers: int = 1 << 16  # whose sizes are looked at
    origins: int = 8  # blocks of rows that a thread measures from


blocks = Blocks()


@contextmanager
def tiny() -> Iterator[None]:
    """Take as little as possible at a time, for a while."""
    usual = asdict(blocks)
    for field in fields(blocks):
        setattr(blocks, field.name, 1)
    try:
        yield
    finally:
        for name, size in usual.items():
            setattr(blocks, name, size)


def sizes() -> Mapping[str, int]:
    """All numbers of rows, columns or centres at which something begins anew."""
    return {
        "rows of a block": ROWS,
        "rows of a chunk of blocks": blocks.chunk * ROWS,
        "rows listed before they are moved": max(blocks.listed, 2 * ROWS),
        "rows packed at a time": blocks.packed * ROWS,
        "rows whose gains are added up together": blocks.gained * ROWS,
        "rows marked at a time": blocks.marked * ROWS,
        "rows measured at a time": blocks.measured,
        "rows decided in integers at a time": blocks.exact,
        "numbers looked at together": blocks.numbers,
        "columns of a vector of singles": LANES,
        "columns of a vector of doubles": DOUBLES,
        "centres of a group": GROUP,
        "rows of a cluster whose distances are added up together": CHUNK * STRANDS,
        "rows whose distances to centres are added up together": LENGTHS,
    }
