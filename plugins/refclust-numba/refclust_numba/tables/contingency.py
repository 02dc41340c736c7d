"""Counting label pairs, compiled for integers; other labels are numbered first.

Keeps the contract of ``contingency.table``. Integers that lie in a buffer are counted where they
lie. Few cells are counted in a table for each thread; many are brought into order by two counting
sorts, the columns first, and then counted as runs.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from refclust.data.dataset import INTEGERS
from refclust.kernels import contingency as reference
from refclust.kernels.contingency import Cell, CellTable, Count, LabelPairs
from refclust_numba.lowlevel.compiling import compiled, room
from refclust_numba.lowlevel.threads import even, in_threads, shared

_CHUNK: Final = 1 << 17
_LONG_CHUNK: Final = 1 << 19  # for work that is much shorter
_SPREAD: Final = 4  # a range of labels is counted directly up to so many times their number
_FEW: Final = 1 << 14  # cells that are counted in a table for each thread
_SAMPLE: Final = 1024  # labels
_MOST: Final = 1 << 28  # labels whose numbers have 32 bits


def table(data: LabelPairs) -> Mapping[Cell, Count]:
    """Count, for each cluster and class that meet, the objects (or the weight) in both."""
    n = len(data.clusters)
    if data.weights is not None or n != len(data.classes) or n >= _MOST:
        return reference.table(data)
    if not n:
        return {}
    clusters, classes = _integers(data.clusters), _integers(data.classes)
    if clusters is None or classes is None:
        return _of_others(data.clusters, data.classes)
    if clusters.dtype != classes.dtype:
        clusters, classes = clusters.astype(np.int64), classes.astype(np.int64)
    clusters.flags.writeable = classes.flags.writeable = False  # one kind of array to compile for
    # A sample tells the range of few labels nearly always; counting finds out if it did not.
    step = max(1, n // _SAMPLE)
    cells = _few(clusters, classes, _spans(clusters[::step].copy(), classes[::step].copy()))
    if cells is not None:
        return cells
    spans = _spans(clusters, classes)
    cells = _few(clusters, classes, spans)
    return _many(clusters, classes, spans) if cells is None else cells


def _integers(labels: Sequence[Hashable]) -> Any:
    """The labels as an array of 32 or 64 bits, if all are integers below 2**63."""
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
    if view.ndim != 1 or view.format not in INTEGERS:
        return None
    numbers = np.asarray(view)
    if numbers.dtype == np.uint64 and int(numbers.max()) >= 1 << 63:
        return None
    narrow = numbers.dtype.itemsize < 4 or numbers.dtype == np.int32
    # A view of its own: whether it can be written to is nobody else's business.
    wanted = np.int32 if narrow else np.int64
    return np.ascontiguousarray(numbers, wanted).view()


def _few(clusters: Any, classes: Any, spans: tuple[range, range]) -> CellTable | None:
    """Count in one table for each thread; nothing if it would be large or a label is beyond it."""
    (rows, columns), own = spans, dict[int, Any]()
    height, width = rows[-1] - rows[0] + 1, columns[-1] - columns[0] + 1
    if height * width > min(_FEW, len(clusters)):
        return None
    pieces = even(len(clusters), _CHUNK)
    within = [False] * len(pieces)

    def work(piece: int, worker: int) -> None:
        into = own.setdefault(worker, np.zeros((4, height * width), np.int64))
        within[piece] = count_pairs(
            clusters, classes, rows[0], columns[0], height, width, into, *pieces[piece]
        )

    shared(work, len(pieces))
    if not all(within):
        return None
    whole = sum(own.values()).sum(axis=0).reshape(len(rows), len(columns))
    places = np.nonzero(whole)
    return _table(spans, (*places, whole[places]), (whole.sum(axis=1), whole.sum(axis=0)))


def _many(clusters: Any, classes: Any, spans: tuple[range, range]) -> CellTable:
    """Bring the pairs into order and count runs of equal ones."""
    clusters, row_names = _narrowed(clusters, spans[0])
    classes, column_names = _narrowed(classes, spans[1])
    row_sums = np.zeros(len(row_names), np.int64)
    column_sums = np.zeros(len(column_names), np.int64)
    lows = [names[0] if isinstance(names, range) else 0 for names in (row_names, column_names)]
    cells = runs(clusters, classes, *lows, row_sums, column_sums)
    return _table((row_names, column_names), cells, (row_sums, column_sums))


def _spans(clusters: Any, classes: Any) -> tuple[range, range]:
    """From the least to the greatest label, of both sides."""
    pieces = even(len(clusters), _LONG_CHUNK)
    extents = in_threads(lambda b, e: (*extent(clusters[b:e]), *extent(classes[b:e])), pieces)
    row_low, row_high, column_low, column_high = zip(*extents, strict=True)
    return (
        range(min(row_low), max(row_high) + 1),
        range(min(column_low), max(column_high) + 1),
    )


def _narrowed(labels: Any, span: range) -> tuple[Any, Sequence[int]]:
    """Labels that span a range not much longer than they are many, and what they stand for."""
    if span[-1] - span[0] < _SPREAD * len(labels):
        return labels, span
    names, numbers = np.unique(labels, return_inverse=True)
    numbers = numbers.astype(labels.dtype)
    numbers.flags.writeable = False
    return numbers, names.tolist()


def _table(
    names: tuple[Sequence[int], Sequence[int]],
    cells: tuple[Any, Any, Any],
    sums: tuple[Any, Any],
) -> CellTable:
    """The table without the labels that nobody carries."""
    rows, columns, counts = cells
    kept, places = [], []
    for side, totals, numbers in zip(names, sums, (rows, columns), strict=True):
        met = totals > 0
        if met.all():
            kept.append((list(side), totals))
            places.append(numbers.astype(np.int32, copy=False))
        else:
            chosen = np.nonzero(met)[0]
            kept.append(([side[i] for i in chosen.tolist()], totals[chosen]))
            places.append((np.cumsum(met, dtype=np.int32) - 1)[numbers])
    (clusters, row_sums), (classes, column_sums) = kept
    return CellTable(
        (clusters, classes), (*places, counts), (row_sums, column_sums), _sizes(counts)
    )


def _sizes(counts: Any) -> dict[Count, int]:
    """How many cells there are of each count."""
    if int(counts.max()) <= _SPREAD * len(counts):
        times = np.bincount(counts)
        met = np.nonzero(times)[0]
        return dict(zip(met.tolist(), times[met].tolist(), strict=True))
    sizes, times = np.unique(counts, return_counts=True)
    return dict(zip(sizes.tolist(), times.tolist(), strict=True))


def _of_others(clusters: Sequence[Hashable], classes: Sequence[Hashable]) -> dict[Cell, Count]:
    """Count labels of any kind under numbers of their own, in the order they are met."""
    known: tuple[dict[Hashable, int], dict[Hashable, int]] = ({}, {})
    numbers = [
        np.fromiter((names.setdefault(label, len(names)) for label in side), np.int64, len(side))
        for names, side in zip(known, (clusters, classes), strict=True)
    ]
    row_names, column_names = map(list, known)
    cells = table(LabelPairs(*map(memoryview, numbers)))  # type: ignore[arg-type]
    return {
        (row_names[row], column_names[column]): count  # type: ignore[call-overload]
        for (row, column), count in cells.items()
    }


@compiled
def extent(labels):  # type: ignore[no-untyped-def]
    """The least and the greatest label."""
    low = high = labels[0]
    for i in range(labels.shape[0]):
        low = min(low, labels[i])
        high = max(high, labels[i])
    return np.int64(low), np.int64(high)


@compiled
def count_pairs(  # type: ignore[no-untyped-def]
    rows, columns, row_low, column_low, height, width, into, begin, end
):
    """Count some pairs into four tables in turn; say whether all labels were within the ranges.

    Pairs next to each other are often equal, and adding to one place twice waits for the first.
    """
    rows, columns = rows[begin:end], columns[begin:end]
    flat, cells = into.reshape(-1), np.uint64(height * width)
    tall, wide = np.uint64(height), np.uint64(width)
    for i in range(rows.shape[0]):
        # Below the range means beyond it, without a sign.
        row = np.uint64(np.int64(rows[i]) - row_low)
        column = np.uint64(np.int64(columns[i]) - column_low)
        if row >= tall or column >= wide:
            return False
        flat[np.uint64(i & 3) * cells + row * wide + column] += 1
    return True


@compiled
def runs(rows, columns, row_low, column_low, row_sums, column_sums):  # type: ignore[no-untyped-def]
    """The distinct pairs in order with their numbers, and the sums of rows and columns."""
    n, height, width = rows.shape[0], row_sums.shape[0], column_sums.shape[0]
    for i in range(n):
        row_sums[rows[i] - row_low] += 1
        column_sums[columns[i] - column_low] += 1
    place = np.zeros(max(height, width) + 1, np.int64)
    for j in range(width):
        place[j + 1] = place[j] + column_sums[j]
    cell_rows = room(n, np.int32)  # at first the rows of all objects, column by column
    for i in range(n):
        column = columns[i] - column_low
        cell_rows[place[column]] = rows[i] - row_low
        place[column] += 1
    place[0] = 0
    for j in range(height):
        place[j + 1] = place[j] + row_sums[j]
    cell_columns = room(n, np.int32)  # at first the columns of all objects, row by row
    i = 0
    for column in range(width):
        for _ in range(column_sums[column]):
            row = cell_rows[i]
            cell_columns[place[row]] = column
            place[row] += 1
            i += 1
    # A cell is written at or before the first of its objects, all of which are read by then.
    counts = room(n, np.int32)
    cells, i = 0, 0
    for row in range(height):
        last = -1
        for _ in range(row_sums[row]):
            if cell_columns[i] == last:
                counts[cells - 1] += 1
            else:
                last = cell_columns[i]
                cell_rows[cells], cell_columns[cells], counts[cells] = row, last, 1
                cells += 1
            i += 1
    return cell_rows[:cells], cell_columns[:cells], counts[:cells]
