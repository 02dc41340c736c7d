"""The kernels of k-means over prepared rows (chapter 10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from refclust.kernels.clusters import kmeans as reference
from refclust.kernels.clusters.kmeans import LloydStep
from refclust_numba.centres import matrix
from refclust_numba.dense import assignment
from refclust_numba.exact import sums, totals
from refclust_numba.exact.totals import LimbSums
from refclust_numba.prepared import Rows
from refclust_numba.sparse import assignment as sparse
from refclust_numba.sparse import sums as sparse_sums


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
    rows: Rows, centres: Sequence[Any], before: LloydStep | None, metric: str = "euclidean"
) -> LloydStep:
    """Keeps the contract of ``kmeans.lloyd_step``."""
    rows.read()
    k, own = len(centres), _own_sums(rows, before, len(centres))
    if rows.dense and totals.cells(rows):
        return _dense_step(rows, centres, before, own, metric)
    labels = assign(rows, centres, metric)
    if before is not None and own is not None:
        made, changed = sparse_sums.moved(rows, totals.buffer(before.labels), labels, k, own)
        return LloydStep(labels, changed, made)
    return LloydStep(labels, _changed(labels, before), sums.accumulate(rows, labels, k))


def _own_sums(rows: Rows, before: LloydStep | None, k: int) -> LimbSums | None:
    """The sums of the step before, if we made them of these rows for as many clusters."""
    own = None if before is None else before.sums
    ours = isinstance(own, LimbSums) and own.rows is rows and len(own.counts) == k
    return own if ours else None  # type: ignore[return-value]


def _changed(labels: Any, before: LloydStep | None) -> int:
    """How many labels are not those of the step before."""
    if before is None:
        return len(labels)
    return int(np.count_nonzero(labels != totals.buffer(before.labels)))


def _dense_step(
    rows: Rows, centres: Sequence[Any], before: LloydStep | None, own: LimbSums | None, metric: str
) -> LloydStep:
    """Labels and sums in one pass over the rows; all are added up again if no sums are ours."""
    table = matrix(centres)
    adding = sums.Adding(rows, len(table), own)
    if before is None or own is None:
        labels, _ = assignment.passed(rows, table, metric, None, adding)
        return LloydStep(labels, _changed(labels, before), adding.finished())
    labels, changed = assignment.passed(rows, table, metric, before.labels, adding)
    return LloydStep(labels, changed, adding.finished() if changed else own)
