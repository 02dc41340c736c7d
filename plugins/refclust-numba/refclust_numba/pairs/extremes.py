"""The nearest and the farthest pair of rows between clusters: KER-EXTREMES.

A squared distance in doubles errs by (d + 2) 2**-53 of itself: a difference, its square, and d - 1
additions. Of each row the least and the greatest one to each cluster are kept; rows that these
leave in doubt are measured again, and pairs that remain are decided in rationals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from refclust.kernels.pairs import extremes as reference
from refclust.kernels.pairs.extremes import NONE, Pair, first_extreme
from refclust_numba.blocks import blocks
from refclust_numba.lowlevel.compiling import compiled
from refclust_numba.lowlevel.elementary import STRANDS
from refclust_numba.lowlevel.threads import chunks, shared
from refclust_numba.pairs.lanes import ORIGINS, spans
from refclust_numba.pairs.sorting import Sorted, by_cluster, ordinary
from refclust_numba.prepared import Rows

_ROUND: Final = 2.0**-53


def extremes(rows: Rows, labels: Any, k: int) -> Any:
    """Keeps the contract of pairs.extremes."""
    if not ordinary(rows):
        return reference.extremes(rows.points, labels, k)
    sorted_rows = by_cluster(rows, labels, k)
    places = sorted_rows.blocks * STRANDS
    # Column by column, so that four lines stand side by side.
    lows, highs = np.full((k, places), np.inf), np.full((k, places), -np.inf)
    tasks = chunks(sorted_rows.blocks, blocks.origins)

    def work(task: int, _worker: int) -> None:
        bound_rows(
            sorted_rows.packed, sorted_rows.lines, sorted_rows.order, sorted_rows.owners,
            sorted_rows.starts, rows.d, lows, highs, *tasks[task],
        )  # fmt: skip

    shared(work, len(tasks))
    pairs = np.empty((k * (k + 1) // 2, 4), np.int32)
    search = _Search(rows, sorted_rows)
    place = 0
    for a in range(k):
        for b in range(a, k):
            pairs[place, :2] = search.nearest(a, b, lows)
            pairs[place, 2:] = search.farthest(a, b, highs)
            place += 1
    return memoryview(pairs.reshape(-1))  # type: ignore[arg-type]


class _Search:
    """Looks for the first extreme pair among the rows that bounds leave in doubt."""

    def __init__(self, rows: Rows, sorted_rows: Sorted) -> None:
        self._rows, self._sorted_rows = rows, sorted_rows
        self._table = sorted_rows.lines.reshape(-1, rows.d)
        self._factor = 1.0 + 4 * (rows.d + 8) * _ROUND

    def _own(self, a: int) -> slice:
        first = int(self._sorted_rows.starts[a]) * STRANDS
        return slice(first, first + int(self._sorted_rows.sizes[a]))

    def nearest(self, a: int, b: int, lows: Any) -> Pair:
        """The first of the nearest pairs of two clusters."""
        own = lows[b, self._own(a)]
        least = own.min(initial=np.inf)
        if least == np.inf:
            return NONE
        reach = least * self._factor
        pairs = self._pairs(a, b, np.flatnonzero(own <= reach), 0.0, reach)
        # Without underflow a distance of 0 is that of equal rows.
        return first_extreme(pairs, self._row, nearest=True) if least else next(pairs)

    def farthest(self, a: int, b: int, highs: Any) -> Pair:
        """The first of the farthest pairs of two clusters."""
        own = highs[b, self._own(a)]
        most = own.max(initial=-np.inf)
        if most == -np.inf:
            return NONE
        reach = most / self._factor
        pairs = self._pairs(a, b, np.flatnonzero(own >= reach), reach, np.inf)
        return first_extreme(pairs, self._row, nearest=False) if most else next(pairs)

    def _pairs(self, a: int, b: int, doubtful: Any, low: float, high: float) -> Iterator[Pair]:
        """The pairs of some rows of a cluster whose squared distance may lie within bounds."""
        ours, theirs = self._own(a), self._own(b)
        order = self._sorted_rows.order
        for place in doubtful.tolist():
            others = slice(ours.start + place + 1, ours.stop) if a == b else theirs
            gaps = self._table[others] - self._table[ours.start + place]
            squares = np.einsum("ij,ij->i", gaps, gaps)
            within = (squares >= low / self._factor) & (squares <= high * self._factor)
            for other in np.flatnonzero(within).tolist():
                yield int(order[ours.start + place]), int(order[others.start + other])

    def _row(self, i: int) -> tuple[float, ...]:
        return tuple(map(float, self._rows.table[i].tolist()))


@compiled
def bound_rows(  # type: ignore[no-untyped-def]
    packed, lines, order, owners, starts, d, lows, highs, begin, end
):
    """The least and greatest squared distance of rows of some blocks to clusters from theirs on."""
    k, places = lows.shape
    flat_lows, flat_highs = lows.reshape(-1), highs.reshape(-1)
    for block in range(begin, end):
        own = owners[block]
        for first in range(block * STRANDS, (block + 1) * STRANDS, ORIGINS):
            if order[first] < 0:
                continue  # copies alone
            for c in range(own, k):
                begins = block + 1 if c == own else starts[c]
                if begins < starts[c + 1]:
                    some = starts[c + 1] - begins
                    spans(
                        packed, begins, some, d, lines, first * d, flat_lows, flat_highs,
                        c * places + first,
                    )  # fmt: skip
        # The rows of the same block, which copies must not be taken for.
        for i in range(block * STRANDS, (block + 1) * STRANDS):
            for j in range(i + 1, (block + 1) * STRANDS):
                if order[j] < 0:
                    break
                square = 0.0
                for c in range(d):
                    gap = lines[i * d + c] - lines[j * d + c]
                    square += gap * gap
                lows[own, i] = min(lows[own, i], square)
                highs[own, i] = max(highs[own, i], square)
