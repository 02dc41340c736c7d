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

from refclust_numba.lowlevel.arrays import aligned
from refclust_numba.lowlevel.compiling import compiled
from refclust_numba.lowlevel.threads import even, spread
from refclust_numba.prepared import Rows

_ROWS: Final = 1 << 12
_SHAPES: Final = 8  # of memory kept for the next call
_COLUMNS: Final = 1 << 12  # of a block at the most
_TASKS: Final = 4  # blocks beyond those, for threads to share
_SAMPLE: Final = 1 << 16  # numbers that tell well enough where they are many
_FEW: Final = 4  # numbers of a segment, if they can be had


class Counted:
    """The numbers of all rows that are not zero, as doubles; in place if that is what they are."""

    def __init__(self, rows: Rows) -> None:
        self.n, self.d = rows.n, rows.d
        values = rows.values
        starts = _fixed(np.arange(rows.n + 1) * rows.d) if rows.dense else rows.starts
        columns = _fixed(np.empty(0, np.int32)) if rows.dense else rows.columns
        if rows.dense or values.dtype != np.float64 or not values.all():
            sizes = np.zeros(rows.n + 1, np.int64)
            spread(lambda b, e: measure(starts, values, sizes, b, e), even(rows.n, _ROWS))
            filled = np.cumsum(sizes)
            kept, numbers = np.empty(filled[-1], np.int32), np.empty(filled[-1])
            both = np.stack((starts, filled))
            spread(
                lambda b, e: squeeze(both, columns, values, kept, numbers, b, e),
                even(rows.n, _ROWS),
            )
            starts, columns, values = filled, kept, numbers
        self.starts, self.columns, self.values = map(_fixed, (starts, columns, values))
        self.signed = bool(len(values) and values.min() < 0.0)

    @property
    def told(self) -> tuple[Any, Any, Any, bool]:
        """As compiled code takes it."""
        return self.starts, self.columns, self.values, self.signed

    @cached_property
    def packed(self) -> tuple[Any, ...]:
        """In blocks: rows and beginnings of segments, columns, numbers, edges, first segments."""
        edges = self._edges()
        blocks = len(edges) - 1
        names = np.repeat(np.arange(blocks, dtype=np.int32), np.diff(edges))
        pieces = even(self.n, _ROWS)
        sizes = spread(lambda b, e: count(self.starts, self.columns, names, edges, b, e), pieces)
        # Block after block, in each of them piece after piece.
        tallies = np.stack(sizes, axis=1).reshape(-1, 2)
        ends = np.cumsum(tallies, axis=0)
        places = (ends - tallies).reshape(blocks, len(pieces), 2)
        numbers, segments = ends[-1].tolist()
        owners, begins = np.empty(segments, np.int32), np.empty(segments + 1, np.int64)
        columns, values = np.empty(numbers, np.int32), np.empty(numbers)
        begins[-1] = numbers
        where = dict(zip(pieces, np.swapaxes(places, 0, 1).copy(), strict=True))
        spread(
            lambda b, e: pack(
                *self.told[:3], names, edges, where[b, e], owners, begins, columns, values, b, e
            ),
            pieces,
        )
        firsts = np.append(places[:, 0, 1], segments)
        return owners, begins, columns, values, edges, firsts

    def _edges(self) -> Any:
        """Blocks of not too many columns and not too many numbers."""
        most = max(2, len(self.values) // (_FEW * self.n))
        wanted = max(1, min(-(-self.d // _COLUMNS) + _TASKS, most, self.d))
        some = self.columns[:: max(1, len(self.columns) // _SAMPLE)]
        tallies = np.bincount(some, minlength=self.d)
        share = min(_TASKS, wanted) / 2
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
        yield memory
    finally:
        free.append(memory)


def _fixed(values: Any) -> Any:
    """The same array, which nobody can change through this one."""
    view = values.view()
    view.flags.writeable = False
    return view


@compiled
def measure(starts, values, sizes, begin, end):  # type: ignore[no-untyped-def]
    """Count the numbers of some rows that are not zero, each row's behind those before it."""
    for i in range(begin, end):
        for place in range(starts[i], starts[i + 1]):
            sizes[i + 1] += values[place] != 0.0


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
def count(starts, columns, names, edges, begin, end):  # type: ignore[no-untyped-def]
    """How many numbers and segments some rows have in each block of columns."""
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
def pack(  # type: ignore[no-untyped-def]
    starts, columns, values, names, edges, places, owners, begins, kept, numbers, begin, end
):
    """Write the numbers of some rows to their blocks; ``places`` say where those go on."""
    for i in range(begin, end):
        place, last = starts[i], starts[i + 1]
        while place < last:
            b = names[columns[place]]
            at, edge = places[b, 0], edges[b + 1]
            owners[places[b, 1]] = i
            begins[places[b, 1]] = at
            while place < last and columns[place] < edge:
                kept[at], numbers[at] = columns[place], values[place]
                at += 1
                place += 1
            places[b, 0] = at
            places[b, 1] += 1
