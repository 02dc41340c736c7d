"""Which centres are still what they were: numbers that name the contents of clusters and buffers.

Means of sparse rows are large, K times d doubles, and late in a fit most clusters stay as they are.
Every state of a cluster gets a number of its own. Two means with the same number are equal, so
neither they nor what was made of them need be computed again.
"""

from __future__ import annotations

import weakref
from typing import Any, Final

import numpy as np

from refclust_numba.exact.totals import LimbSums
from refclust_numba.lowlevel.arrays import same_place
from refclust_numba.prepared import Rows

_BUFFERS: Final = 4  # the driver holds on to up to three


class Buffer:
    """Means one after another, and for each cluster the number of the state they belong to."""

    def __init__(self, k: int, d: int) -> None:
        self.values = np.empty(k * d)
        self.states = np.zeros(k, np.int64)
        self._seen: Any = lambda: None  # what was handed out, as long as somebody looks at it

    @property
    def free(self) -> bool:
        """Whether nobody looks at the means any more."""
        return self._seen() is None

    def finished(self, states: Any) -> memoryview:
        """The means of these states, to be handed out.

        Whatever looks at them keeps the array made here alive.
        """
        self.states = states.copy()
        handed: Any = self.values.view()
        self._seen = weakref.ref(handed)
        return memoryview(handed).toreadonly()


class Versions:
    """The numbers given out so far, the last sums that got some, and buffers of means."""

    def __init__(self) -> None:
        self._last = 0
        self._sums: Any = lambda: None
        self._states: Any = None
        self._buffers: list[Buffer] = []

    @staticmethod
    def of(rows: Rows) -> Versions:
        """Those of some rows."""
        versions: Versions = rows.memory.setdefault("versions", Versions())
        return versions

    def new(self, k: int) -> Any:
        """Numbers that nothing has yet."""
        self._last += 1
        return np.full(k, self._last)

    def note(self, made: LimbSums, before: LimbSums | None, old: Any, new: Any) -> None:
        """Number the clusters of new sums: those that no row joined or left are what they were."""
        states = self.new(len(made.counts))
        if before is not None and self._sums() is before and len(before.counts) == len(states):
            moved = old != new
            same = np.ones(len(states), np.bool_)
            same[new[moved]] = False
            left = old[moved]
            same[left[left >= 0]] = False
            states[same] = self._states[same]
        self._sums, self._states = weakref.ref(made), states

    def states(self, sums: LimbSums) -> Any:
        """The numbers of the clusters of some sums."""
        return self._states if self._sums() is sums else self.new(len(sums.counts))

    def buffer(self, k: int, d: int) -> Buffer:
        """A buffer for means that nobody reads any more, or a new one."""
        self._buffers = [b for b in self._buffers if b.values.size == k * d and len(b.states) == k]
        free = [b for b in self._buffers if b.free]
        chosen = free[-1] if free else Buffer(k, d)
        # The one used last stands last.
        others = [b for b in self._buffers if b is not chosen]
        self._buffers = [*others[1 - _BUFFERS :], chosen]
        return chosen

    def known(self, table: Any) -> Any:
        """The numbers of the centres of a table: those of our own means, or new ones."""
        for buffer in self._buffers:
            if len(buffer.states) == len(table) and same_place(buffer.values, table):
                return buffer.states.copy()
        return self.new(len(table))
