"""Counting label pairs, compiled for integers; other labels are numbered first.

Keeps the contract of ``contingency.table``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final

import numpy as np

from refclust.kernels import contingency as reference
from refclust.kernels.contingency import Cell, Count, LabelPairs
from refclust_numba.compiling import compiled
from refclust_numba.threads import chunks, shared

_CELLS: Final = 1 << 22  # a table of counts up to this size is counted in place
_CHUNK: Final = 1 << 17


def table(data: LabelPairs) -> dict[Cell, Count]:
    """Count, for each cluster and class that meet, the objects (or the weight) in both."""
    if data.weights is not None or len(data.clusters) != len(data.classes):
        return reference.table(data)
    n = len(data.clusters)
    if not n:
        return {}
    rows, row_names = _numbered(data.clusters)
    columns, column_names = _numbered(data.classes)
    height, width = len(row_names), len(column_names)
    if height * width > max(_CELLS, n):
        pairs, counts = np.unique(rows * width + columns, return_counts=True)
    else:
        pieces = chunks(n, _CHUNK)
        own: dict[int, Any] = {}

        def work(piece: int, worker: int) -> None:
            into = own.setdefault(worker, np.zeros(height * width, np.int64))
            count_pairs(rows, columns, width, into, *pieces[piece])

        shared(work, len(pieces))
        whole = sum(own.values())
        pairs = np.nonzero(whole)[0]
        counts = whole[pairs]
    return {
        (row_names[pair // width], column_names[pair % width]): count
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True)
    }


def _numbered(labels: Sequence[Hashable]) -> tuple[Any, Sequence[Hashable]]:
    """Labels as numbers from 0, and what each number stands for."""
    given = _integers(labels)
    if given is not None:
        low, high = int(given.min()), int(given.max())
        if high - low <= max(4 * len(given), 1024) and low > -(2**62) and high < 2**62:
            return given.astype(np.int64, copy=False) - low, range(low, high + 1)
        names, numbers = np.unique(given, return_inverse=True)
        return numbers.astype(np.int64, copy=False), names.tolist()
    known: dict[Hashable, int] = {}
    numbers = np.fromiter(
        (known.setdefault(label, len(known)) for label in labels), np.int64, len(labels)
    )
    return numbers, list(known)


def _integers(labels: Sequence[Hashable]) -> Any:
    """The labels as an array, if all are integers of 64 bits."""
    try:
        view = memoryview(labels)  # type: ignore[arg-type]
    except TypeError:
        # Truth values and floats equal some integers; the kinds must not mix unseen.
        if not isinstance(labels, list | tuple) or set(map(type, labels)) != {int}:
            return None
        try:
            return np.array(labels, np.int64)
        except OverflowError:
            return None
    if view.ndim == 1 and view.format in tuple("bBhHiIlLqQ") and view.format not in ("Q", "L"):
        return np.asarray(view)
    return None


@compiled
def count_pairs(rows, columns, width, into, begin, end):  # type: ignore[no-untyped-def]
    """Count some pairs of numbers."""
    for i in range(begin, end):
        into[rows[i] * width + columns[i]] += 1
