"""How rows are cut for mixtures: read when a kernel is called, so a test may make everything small.

Some of these sizes decide in which order sums are taken, so other sizes give other last bits, all
within the bounds of the contracts. None depends on the machine or on the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

BLOCK: Final = 128  # rows that are read together; compiled in


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes for normal densities, then sizes for counts."""

    batch: int = 8  # blocks whose rows and masses stay in the cache
    batch_bytes: int = 1 << 18  # of them at the most
    chunks: int = 128  # stretches of rows with sums of their own
    sums_bytes: int = 1 << 22  # of all chunks; more only so that a few threads have work
    most_bytes: int = 1 << 28
    few_chunks: int = 8
    near_rows: int = 64  # whose differences stay in the nearest cache; at most a block

    chunk_rows: int = 8 * BLOCK  # whose sums are added up together; whole blocks
    shares: int = 1 << 21  # kept between the two halves of a step
    columns: int = 1 << 11  # of the table that a thread lays out
    count_rows: int = 1 << 12  # that a thread makes ready
    block_columns: int = 1 << 12  # of counts whose lines of the table stay in the cache
    block_tasks: int = 4  # blocks of columns beyond those, for threads to share
    segment: int = 4  # numbers of a row in a block of columns, if they can be had


USUAL: Final = Sizes()
# Two blocks of rows are two batches and two chunks, 16 columns are several blocks of columns.
TINY: Final = Sizes(
    batch=1, chunks=1 << 20, sums_bytes=1 << 28, near_rows=8, chunk_rows=BLOCK, shares=1, columns=4,
    count_rows=16, block_columns=4, segment=1,
)  # fmt: skip

_in_force: list[Sizes] = [USUAL]


def sizes() -> Sizes:
    """The sizes that count now."""
    return _in_force[-1]


@contextmanager
def sized(other: Sizes) -> Iterator[None]:
    """Use other sizes for a while; sessions begun before keep what they have made ready."""
    _in_force.append(other)
    try:
        yield
    finally:
        _in_force.pop()
