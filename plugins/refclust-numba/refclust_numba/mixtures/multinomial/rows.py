"""Rows of counts made ready: the numbers that are not zero, and the same in blocks of columns.

In blocks of columns the lines of a table that belong to one block stay in the cache while all rows
pass by; and different threads may add to different blocks. What a row has in a block is a segment.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Final

import numpy as np

from refclust_numba.lowlevel.arrays import aligned, fixed, spoiled
from refclust_numba.lowlevel.compiling import compiled
from refclust_numba.lowlevel.threads import even, in_threads
from refclust_numba.mixtures.multinomial.records import Lists, Packed
from refclust_numba.mixtures.sizes import sizes
from refclust_numba.prepared import Rows

_SHAPES: Final = 8  # of memory kept for the next call
_SAMPLE: Final = 1 << 16  # numbers that tell well enough where they are many


class Counted:
    """The numbers of all rows that are not zero, as doubles; in place if that is what they are."""

    def __init__(self, rows: Rows) -> None:
        self.n, self.d = rows.n, rows.d
        values = rows.values
        starts = fixed(np.arange(rows.n + 1) * rows.d) if rows.dense else rows.starts
        columns = fixed(np.empty(0, np.int32)) if rows.dense else rows.columns
        if rows.dense or values.dtype != np.float64 or not values.all():
            lengths, pieces = np.zeros(rows.n + 1, np.int64), even(rows.n, sizes().count_rows)
            in_threads(lambda b, e: measure(starts, values, lengths, b, e), pieces)
            filled = np.cumsum(lengths)
            kept, numbers = np.empty(filled[-1], np.int32), np.empty(filled[-1])
            both = np.stack((starts, filled))
            in_threads(lambda b, e: squeeze(both, columns, values, kept, numbers, b, e), pieces)
            starts, columns, values = filled, kept, numbers
        signed = bool(len(values) and values.min() < 0.0)
        self.lists = Lists(fixed(starts), fixed(columns), fixed(values), signed)

    @cached_property
    def packed(self) -> Packed:
        """In blocks of columns."""
        edges = self._edges()
        blocks = len(edges) - 1
        names = np.repeat(np.arange(blocks, dtype=np.int32), np.diff(edges))
        lists, pieces = self.lists, even(self.n, sizes().count_rows)
        piece_counts = in_threads(lambda b, e: count(lists, names, edges, b, e), pieces)
        # Block after block, in each of them piece after piece.
        tallies = np.stack(piece_counts, axis=1).reshape(-1, 2)
        ends = np.cumsum(tallies, axis=0)
        places = (ends - tallies).reshape(blocks, len(pieces), 2)
        numbers, segments = ends[-1].tolist()
        owners, begins = np.empty(segments, np.int32), np.empty(segments + 1, np.int64)
        columns, values = np.empty(numbers, np.int32), np.empty(numbers)
        begins[-1] = numbers
        firsts = np.append(places[:, 0, 1], segments)
        packed = Packed(owners, begins, columns, values, edges, firsts)
        where = dict(zip(pieces, np.swapaxes(places, 0, 1).copy(), strict=True))
        in_threads(
            lambda b, e: pack(lists, names, where[b, e], packed, b, e),
            pieces,
        )
        return packed

    def _edges(self) -> Any:
        """Blocks of not too many columns and not too many numbers."""
        limits, columns = sizes(), self.lists.columns
        most = max(2, len(columns) // (limits.segment * self.n))
        wanted = -(-self.d // limits.block_columns) + limits.block_tasks
        wanted = max(1, min(wanted, most, self.d))
        some = columns[:: max(1, len(columns) // _SAMPLE)]
        tallies = np.bincount(some, minlength=self.d)
        share = min(limits.block_tasks, wanted) / 2
        cost = (wanted - share) / self.d + share * tallies / max(1, len(some))
        inner = np.searchsorted(np.cumsum(cost), np.arange(1, wanted))
        return np.unique(np.concatenate(([0], inner, [self.d])))


def counted(rows: Rows) -> Counted:
    """The counts of some rows, made ready once."""
    if "counted" not in rows.memory:
        rows.memory["counted"] = Counted(rows)
    known: Counted = rows.memory["counted"]
    return known


@contextmanager
def room(rows: Rows, *shape: int) -> Iterator[Any]:
    """Memory that nobody else uses meanwhile, kept for the next time: fresh memory costs time."""
    known = rows.memory.setdefault("rooms", {})
    if shape not in known and len(known) >= _SHAPES:
        known.clear()
    free = known.setdefault(shape, [])
    try:
        memory = free.pop()
    except IndexError:
        memory = aligned(shape, np.float64)
        memory[...] = 0.0
    try:
        yield spoiled(memory)
    finally:
        free.append(memory)


@compiled
def measure(starts, values, lengths, begin, end):  # type: ignore[no-untyped-def]
    """Count the numbers of some rows that are not zero, each row's behind those before it."""
    for i in range(begin, end):
        for place in range(starts[i], starts[i + 1]):
            lengths[i + 1] += values[place] != 0.0


@compiled
def squeeze(starts, columns, values, kept, numbers, begin, end):  # type: ignore[no-untyped-def]
    """Write the numbers of some rows that are not zero, and their columns.

    Dense rows have no ``columns``; the beginnings of rows among what is kept are ``starts[1]``.
    """
    for i in range(begin, end):
        at = starts[1, i]
        for place in range(starts[0, i], starts[0, i + 1]):
            if values[place] != 0.0:
                kept[at] = columns[place] if columns.shape[0] else place - starts[0, i]
                numbers[at] = values[place]
                at += 1


@compiled
def count(lists, names, edges, begin, end):  # type: ignore[no-untyped-def]
    """How many numbers and segments some rows have in each block of columns."""
    starts, columns = lists.starts, lists.columns
    tallies = np.zeros((edges.shape[0] - 1, 2), np.int64)
    for i in range(begin, end):
        place, last = starts[i], starts[i + 1]
        while place < last:
            b, first = names[columns[place]], place
            edge = edges[b + 1]
            while place < last and columns[place] < edge:
                place += 1
            tallies[b, 0] += place - first
            tallies[b, 1] += 1
    return tallies


@compiled
def pack(lists, names, places, packed, begin, end):  # type: ignore[no-untyped-def]
    """Write the numbers of some rows to their blocks; ``places`` say where those go on."""
    starts, columns, values = lists.starts, lists.columns, lists.values
    for i in range(begin, end):
        place, last = starts[i], starts[i + 1]
        while place < last:
            b = names[columns[place]]
            at, edge = places[b, 0], packed.edges[b + 1]
            packed.owners[places[b, 1]] = i
            packed.begins[places[b, 1]] = at
            while place < last and columns[place] < edge:
                packed.columns[at], packed.values[at] = columns[place], values[place]
                at += 1
                place += 1
            places[b, 0] = at
            places[b, 1] += 1
