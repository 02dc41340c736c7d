"""Sums of distances from every row to every cluster: KER-DISTSUM, never n x n numbers.

Keeps the bound of ``refclust.kernels.contracts.lengths``: a strand adds at most ``CHUNK`` terms in
a chain, three more additions join the strands of a chunk, and chunks are added up with what each
addition loses: 37 roundings touch a term, and 64 are allowed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refclust.kernels.pairs import lengths as reference
from refclust_numba.blocks import blocks
from refclust_numba.lowlevel.compiling import compiled, inlined, room
from refclust_numba.lowlevel.elementary import STRANDS
from refclust_numba.lowlevel.scalars import two_sum
from refclust_numba.lowlevel.threads import chunks, shared
from refclust_numba.pairs.lanes import CHUNK, ORIGINS, add_distances
from refclust_numba.pairs.sorting import by_cluster, ordinary
from refclust_numba.prepared import Rows


def distance_sums(rows: Rows, labels: Any, k: int) -> Any:
    """Keeps the contract of silhouette.distance_sums."""
    if not ordinary(rows):
        return reference.distance_sums(rows.points, labels, k)
    given = by_cluster(rows, labels, k)
    sums = np.zeros(rows.n * k)
    tasks = chunks(given.blocks, blocks.origins)

    def work(task: int, _worker: int) -> None:
        add_clusters(
            given.packed, given.lines, given.weights, given.order, given.starts, rows.d, sums,
            *tasks[task],
        )  # fmt: skip

    shared(work, len(tasks))
    return memoryview(sums)  # type: ignore[arg-type]


@inlined
def of_strands(strands, first):  # type: ignore[no-untyped-def]
    """The sum of the strands from a place on: neighbours first, then their sums."""
    a = (strands[first] + strands[first + 1]) + (strands[first + 2] + strands[first + 3])
    b = (strands[first + 4] + strands[first + 5]) + (strands[first + 6] + strands[first + 7])
    return a + b


@compiled
def add_clusters(  # type: ignore[no-untyped-def]
    packed, lines, weights, order, starts, d, sums, begin, end
):
    """The sums of the rows of some blocks to all clusters."""
    k = starts.shape[0] - 1
    strands = room(ORIGINS * STRANDS, np.float64)
    high, low = room(ORIGINS, np.float64), room(ORIGINS, np.float64)
    for first in range(begin * STRANDS, end * STRANDS, ORIGINS):
        if order[first] < 0:
            continue  # copies alone
        for c in range(k):
            high[:] = 0.0
            low[:] = 0.0
            for block in range(starts[c], starts[c + 1], CHUNK):
                some = min(CHUNK, starts[c + 1] - block)
                add_distances(packed, block, some, d, lines, first * d, weights, strands)
                for o in range(ORIGINS):
                    high[o], rest = two_sum(high[o], of_strands(strands, o * STRANDS))
                    low[o] += rest
            for o in range(ORIGINS):
                i = order[first + o]
                if i >= 0:
                    sums[i * k + c] = high[o] + low[o]
