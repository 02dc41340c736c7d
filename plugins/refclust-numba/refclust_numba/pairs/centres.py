"""Sums of distances from the rows of clusters to their centres, and of squares: KER-CENTREDIST.

Keeps the bound of ``refclust.kernels.contracts.lengths``: every sum of a cluster keeps what its
additions lose, so three roundings touch a term.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refclust.kernels.centres import CentreMatrix
from refclust.kernels.pairs import lengths as reference
from refclust_numba.lowlevel.arrays import array_over, doubles
from refclust_numba.lowlevel.compiling import compiled, room
from refclust_numba.lowlevel.elementary import STRANDS
from refclust_numba.lowlevel.scalars import fused, two_sum
from refclust_numba.lowlevel.threads import chunks, shared
from refclust_numba.pairs.lanes import LENGTHS, squared_length
from refclust_numba.pairs.sorting import ordinary
from refclust_numba.prepared import Rows

_LEAST: Final = 2.0**-450


def centre_distances(rows: Rows, labels: Any, centres: Any, rests: Any) -> Any:
    """Keeps the contract of scatter.centre_distances."""
    points, lost = (doubles(CentreMatrix.of(each).values) for each in (centres, rests))
    small = np.abs(lost[lost != 0]).min(initial=1.0) < _LEAST
    top = 2 * rows.span[0] + rows.weight_span[0]  # of squares times weights
    if not ordinary(rows) or small or top > 900 or np.abs(points).max(initial=0.0) > 2.0**400:
        return reference.centre_distances(rows.points, labels, centres, rests)
    k, own = len(centres), array_over(labels, np.int32)
    tasks = chunks(rows.n, LENGTHS)
    high, low = np.zeros((len(tasks), 2 * k)), np.zeros((len(tasks), 2 * k))

    def work(task: int, _worker: int) -> None:
        add_lengths(
            rows.values, rows.d, rows.weights, own, points, lost, *tasks[task], high[task],
            low[task],
        )  # fmt: skip

    shared(work, len(tasks))
    return memoryview(joined(high, low))


@compiled
def add_lengths(  # type: ignore[no-untyped-def]
    values, d, weights, labels, centres, rests, begin, end, high, low
):
    """Add the distances of some rows to the sums of their clusters."""
    k, groups, whole = high.shape[0] // 2, d // STRANDS, d - d % STRANDS
    for i in range(begin, end):
        c = labels[i]
        square = squared_length(values, i * d, centres, c * d, rests, groups)
        for j in range(whole, d):
            gap = (np.float64(values[i * d + j]) - centres[c * d + j]) - rests[c * d + j]
            square = fused(gap, gap, square)
        length = np.sqrt(square)
        if weights.shape[0]:
            length *= weights[i]
            square *= weights[i]
        high[c], rest = two_sum(high[c], length)
        low[c] += rest
        high[k + c], rest = two_sum(high[k + c], square)
        low[k + c] += rest


@compiled
def joined(high, low):  # type: ignore[no-untyped-def]
    """The sums of all parts."""
    count = high.shape[1]
    sums = room(count, np.float64)
    for c in range(count):
        total, rest = 0.0, 0.0
        for part in range(high.shape[0]):
            total, lost = two_sum(total, high[part, c])
            rest += lost + low[part, c]
        sums[c] = total + rest
    return sums
