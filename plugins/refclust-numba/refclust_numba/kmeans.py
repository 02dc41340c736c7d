"""The kernels of k-means over prepared rows (chapter 10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from refclust.kernels import kmeans as reference
from refclust.kernels.kmeans import Step
from refclust_numba import assignment, sparse, sparse_sums, sums, totals
from refclust_numba.centres import matrix
from refclust_numba.prepared import Rows
from refclust_numba.totals import LimbSums


def assign(rows: Rows, centres: Sequence[Any], metric: str = "euclidean") -> Any:
    """Keeps the contract of ``kmeans.assign``."""
    if not rows.d:
        return reference.assign(rows.points, centres, metric)
    table = matrix(centres)
    nearest = assignment.nearest if rows.dense else sparse.nearest
    return nearest(rows, table, metric)


def accumulate(rows: Rows, labels: Any, k: int) -> Any:
    """Keeps the contract of ``kmeans.accumulate``."""
    return sums.accumulate(rows, labels, k)


def lloyd_step(
    rows: Rows, centres: Sequence[Any], before: Step | None, metric: str = "euclidean"
) -> Step:
    """Keeps the contract of ``kmeans.lloyd_step``."""
    rows.read()
    k = len(centres)
    if rows.dense and totals.cells(rows):
        return _dense_step(rows, centres, before, metric)
    labels = assign(rows, centres, metric)
    if not totals.cells(rows):
        changed = rows.n
        if before is not None:
            changed = int(np.count_nonzero(labels != totals.buffer(before.labels)))
        return Step(labels, changed, reference.accumulate(rows.points, labels, k))
    if before is None:
        return Step(labels, rows.n, sums.accumulate(rows, labels, k))
    old = totals.buffer(before.labels)
    own = before.sums
    if isinstance(own, LimbSums) and own.rows is rows and len(own.limbs) == k:
        made, changed = sparse_sums.moved(rows, old, labels, k, own)
        return Step(labels, changed, made)
    changed = int(np.count_nonzero(labels != old))
    return Step(labels, changed, sums.accumulate(rows, labels, k))


def _dense_step(rows: Rows, centres: Sequence[Any], before: Step | None, metric: str) -> Step:
    """Labels and sums in one pass over the rows."""
    table = matrix(centres)
    own = None if before is None else before.sums
    if not (isinstance(own, LimbSums) and own.rows is rows and len(own.limbs) == len(table)):
        # Sums of another make, or of other clusters: all rows are added up again.
        adding = sums.Adding(rows, len(table), None)
        labels, changed = assignment.passed(rows, table, metric, None, adding)
        if before is not None:
            changed = int(np.count_nonzero(labels != totals.buffer(before.labels)))
        return Step(labels, changed, adding.finished())
    assert before is not None
    adding = sums.Adding(rows, len(table), own)
    labels, changed = assignment.passed(rows, table, metric, before.labels, adding)
    return Step(labels, changed, adding.finished() if changed else own)
