"""Rows sorted by cluster, in blocks of ``STRANDS`` that stand in the lanes, column by column.

Row s of block b has its number of column c at (b d + c) STRANDS + s. The last block of a cluster is
filled up with copies of its last row, whose weight is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refclust_numba.lowlevel.arrays import aligned, array_over
from refclust_numba.lowlevel.compiling import compiled
from refclust_numba.lowlevel.elementary import STRANDS
from refclust_numba.prepared import Rows


@dataclass(frozen=True, slots=True)
class Sorted:
    """The rows of all clusters, one cluster after another, in whole blocks."""

    starts: Any  # the first block of each cluster, and the end of the last
    sizes: Any  # rows of each cluster
    order: Any  # the row at each place; -1 for a copy
    owners: Any  # the cluster of each block
    lines: Any  # numbers, row after row
    packed: Any  # numbers, block after block
    weights: Any

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return len(self.owners)


def by_cluster(rows: Rows, labels: Any, k: int) -> Sorted:
    """Dense rows of k clusters; within one they keep their order."""
    own = array_over(labels, np.int32)
    sizes = np.bincount(own, minlength=k)
    counts = -(-sizes // STRANDS)
    starts = np.concatenate(([0], np.cumsum(counts)))
    owners = np.repeat(np.arange(k), counts)
    blocks = len(owners)
    order = np.full(blocks * STRANDS, -1)
    lines = aligned((blocks * STRANDS * rows.d,), np.float64)
    packed = aligned((blocks * STRANDS * rows.d,), np.float64)
    weights = aligned((blocks * STRANDS,), np.float64)
    place_rows(own, starts[:-1] * STRANDS, order)
    lay_out(rows.table, rows.weights, order, lines, packed, weights)
    return Sorted(starts, sizes, order, owners, lines, packed, weights)


def ordinary(rows: Rows) -> bool:
    """Whether no square, product or sum leaves the range in which roundings are relative.

    Differences are multiples of the lowest bit of any number: their squares are above 2**-900.
    """
    spans = (rows.span, rows.weight_span)
    return bool(rows.dense and rows.d) and all(top < 400 and low > -450 for top, low in spans)


@compiled
def place_rows(labels, places, order):  # type: ignore[no-untyped-def]
    """Write every row to the next place of its cluster."""
    free = places.copy()
    for i in range(labels.shape[0]):
        c = labels[i]
        order[free[c]] = i
        free[c] += 1


@compiled
def lay_out(table, row_weights, order, lines, packed, weights):  # type: ignore[no-untyped-def]
    """Copy the rows in their order, both ways, and their weights."""
    d = table.shape[1]
    i = 0
    for place in range(order.shape[0]):
        copied = order[place] < 0
        if not copied:
            i = order[place]
        block, s = place // STRANDS, place % STRANDS
        for c in range(d):
            x = np.float64(table[i, c])
            lines[place * d + c] = x
            packed[(block * d + c) * STRANDS + s] = x
        weights[place] = 0.0 if copied else row_weights[i] if row_weights.shape[0] else 1.0
