"""Counting label pairs; whatever is not plain integers is counted as the reference does."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from refclust.kernels import contingency, information
from refclust.kernels.contingency import Cell, CellTable, Count, LabelPairs
from refclust.kernels.information import Margins
from refclust.numbers.real import Interval
from refclust_numpy.exact.floats import Array

_DENSE = 1 << 22  # cells counted in one array
_FEW = 256


def table(data: LabelPairs) -> Mapping[Cell, Count]:
    """Keeps the contract of contingency.table."""
    if len(data.clusters) != len(data.classes) or len(data.clusters) < _FEW:
        return contingency.table(data)
    clusters, classes = _codes(data.clusters), _codes(data.classes)
    weights = None if data.weights is None else _whole(data.weights)
    if clusters is None or classes is None or (weights is None) != (data.weights is None):
        return contingency.table(data)
    (rows, row), (columns, column) = clusters, classes
    size = len(rows) * len(columns)
    if isinstance(data.clusters, memoryview) and weights is None and size < 1 << 62:
        return _in_order((rows, columns), (row, column))
    if size > _DENSE:
        return contingency.table(data)
    cells = row * len(columns) + column
    # Where each cell is met first: written from the last to the first, the first one stays.
    first = np.full(size, -1)
    first[cells[::-1]] = np.arange(cells.size - 1, -1, -1)
    if weights is None:
        counts = np.bincount(cells, minlength=size)
    else:
        counts = np.bincount(cells, weights=weights, minlength=size).astype(np.int64)
    met = np.flatnonzero(first >= 0)
    met = met[np.argsort(first[met])]
    return {
        (rows[cell // len(columns)], columns[cell % len(columns)]): count
        for cell, count in zip(met.tolist(), counts[met].tolist(), strict=True)
    }


def _in_order(names: tuple[list[int], list[int]], codes: tuple[Array, Array]) -> CellTable:
    """The cells row by row, in buffers; no object of Python is made for them."""
    (rows, columns), (row, column) = names, codes
    cells = row * len(columns) + column
    if len(rows) * len(columns) > min(_DENSE, 8 * cells.size):
        met, counts = np.unique(cells, return_counts=True)
    else:
        whole = np.bincount(cells)
        met = np.flatnonzero(whole)
        counts = whole[met]
    sizes, times = np.unique(counts, return_counts=True)
    return CellTable(
        names,
        ((met // len(columns)).astype(np.int32), (met % len(columns)).astype(np.int32), counts),
        (np.bincount(row), np.bincount(column)),
        dict(zip(sizes.tolist(), times.tolist(), strict=True)),
    )


def expected_mi(margins: Margins, digits: int) -> Interval:
    """Keeps the contract of information.expected_mi, by the reference's own integers.

    Certified digits need more than doubles; nothing here is made faster.
    """
    return information.expected_mi(margins, digits)


def _codes(labels: Sequence[Hashable]) -> tuple[list[Any], Array] | None:
    """Distinct labels and for each object the place of its label, if labels are integers."""
    values = _integers(labels)
    if values is None:
        return None
    low, high = int(values.min()), int(values.max())
    if high - low < 4 * values.size:
        present = np.bincount(values - low) > 0
        names = np.flatnonzero(present)
        places = np.cumsum(present) - 1
        return (names + low).tolist(), places[values - low]
    names, codes = np.unique(values, return_inverse=True)
    return names.tolist(), codes.reshape(-1)


def _integers(labels: Any) -> Array | None:
    """The labels as 64-bit integers, or ``None`` if they are anything else."""
    if isinstance(labels, list | tuple):
        if set(map(type, labels)) != {int}:
            return None
        try:
            return np.array(labels, dtype=np.int64)
        except OverflowError:
            return None
    try:
        values = np.asarray(memoryview(labels))
    except (TypeError, ValueError):
        return None
    if values.ndim != 1 or values.dtype.kind not in "iu" or not values.size:
        return None
    if values.dtype == np.uint64 and int(values.max()) >= 1 << 63:
        return None
    return values.astype(np.int64, copy=False)


def _whole(weights: Sequence[Count]) -> Array | None:
    """Weights as doubles, if they are integers whose sum any order of additions gives exactly."""
    if set(map(type, weights)) != {int}:
        return None
    try:
        values = np.array(weights, dtype=np.int64)
    except OverflowError:
        return None
    top = max(abs(int(values.min())), abs(int(values.max())))
    return values.astype(np.float64) if top * len(weights) < 1 << 53 else None
