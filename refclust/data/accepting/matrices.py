"""Sparse matrices as compressed rows, from other libraries or from loose entries (DATA-ACCEPT).

Anything with ``tocsr`` and a shape is taken. If its rows are in order, without repeated columns and
without stored zeros, its three buffers are used in place; otherwise they are put in order here,
repeated entries added exactly and rounded once. Nothing the object says about itself is trusted.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from fractions import Fraction
from itertools import accumulate, pairwise
from operator import ge, gt, index
from typing import Any, TypeAlias

from refclust.data.accepting.buffers import surely_in_order
from refclust.data.accepting.trust import items
from refclust.data.dataset import DOUBLES, INTEGERS, SINGLES, Sparse, readonly
from refclust.errors import BadNumber, DimensionMismatch, IndexOutOfRange, NotFinite
from refclust.limits import within
from refclust.numbers.reading import shown

Doubles: TypeAlias = Callable[[Sequence[Any], Callable[[int], str]], Sequence[float]]


def looks_sparse(data: Any) -> bool:
    """Whether an object offers compressed rows.

    >>> looks_sparse([[1, 0]])
    False
    """
    return callable(getattr(data, "tocsr", None)) and hasattr(data, "shape")


def sparse_matrix(data: Any, doubles: Doubles) -> Sparse:
    """The compressed rows of a sparse matrix; ``doubles`` turns other numbers into doubles.

    Spec: DATA-ACCEPT
    """
    n, d = _sizes(data.shape)
    if getattr(data, "format", None) == "coo":
        # Its own tocsr adds repeated entries in floats, one after the other.
        return loose(_indices(data, "row"), _indices(data, "col"), _numbers(data, doubles), n, d)
    rows = data.tocsr()
    starts, columns = _indices(rows, "indptr"), _indices(rows, "indices")
    values = _numbers(rows, doubles)
    return compressed(starts, columns, values, n, d)


def loose(rows: memoryview, columns: memoryview, values: memoryview, n: int, d: int) -> Sparse:
    """Rows from entries in any order; repeated ones are added exactly.

    Spec: DATA-ACCEPT
    """
    if len(rows) and not 0 <= min(rows) <= max(rows) < n:
        wrong = next(row for row in rows if not 0 <= row < n)
        raise IndexOutOfRange(f"an entry stands in row {wrong}; there are {n} rows")
    if len(columns) and not 0 <= min(columns) <= max(columns) < d:
        wrong = next(column for column in columns if not 0 <= column < d)
        raise IndexOutOfRange(f"an entry stands in column {wrong}; there are {d} columns")
    if not len(rows) == len(columns) == len(values):
        raise IndexOutOfRange(
            f"the entries have {len(rows)} rows, {len(columns)} columns and {len(values)} values"
        )
    within("memory", 8 * n, f"the {n:,} rows that the sparse data claim")
    entries: array[float] = array(values.format)
    entries.extend(values)
    starts, placed, numbers = grouped(array("q", rows), array("q", columns), entries, n)
    return compressed(readonly(starts), readonly(placed), readonly(numbers), n, d)


def compressed(
    starts: memoryview, columns: memoryview, values: memoryview, n: int, d: int
) -> Sparse:
    """Rows from three buffers, put in order where they are not.

    Spec: DATA-ACCEPT
    """
    if len(starts) == n + 1 and surely_in_order(starts, columns, values, d):
        return Sparse(starts, columns, values, n, d)
    check_starts(starts, len(columns), len(values), n)
    columns, values = columns[: starts[n]], values[: starts[n]]
    if len(columns) and not 0 <= min(columns) <= max(columns) < d:
        wrong = next(i for i, column in enumerate(columns) if not 0 <= column < d)
        row = next(i for i in range(n) if starts[i + 1] > wrong)
        raise IndexOutOfRange(f"row {row} has the column {columns[wrong]}; there are {d} columns")
    if is_ordered(starts, columns, n) and 0.0 not in values:
        return Sparse(starts, columns, values, n, d)
    return _ordered(starts, columns, values, n, d)


def grouped(
    rows: array[int], columns: array[int], values: array[float], n: int
) -> tuple[array[int], array[int], array[float]]:
    """Entries in any order as row positions, columns and values; each row keeps its order.

    Spec: DATA-ACCEPT

    >>> grouped(array("q", [1, 0, 1]), array("q", [5, 6, 4]), array("d", [1, 2, 3]), 2)[1]
    array('q', [6, 5, 4])
    """
    sizes = Counter(rows)
    starts = array("q", accumulate((sizes[i] for i in range(n)), initial=0))
    if not any(map(gt, memoryview(rows), memoryview(rows)[1:])):
        return starts, columns, values
    free, placed = starts[:], array("q", bytes(8 * len(rows)))
    numbers: array[float] = array(
        values.typecode,
        bytes(values.itemsize * len(rows)),
    )
    for row, column, value in zip(rows, columns, values, strict=True):
        place = free[row]
        placed[place], numbers[place] = column, value
        free[row] = place + 1
    return starts, placed, numbers


def first_repeat(starts: memoryview, columns: memoryview, n: int) -> tuple[int, int] | None:
    """The first row that holds a column twice, and that column, or None.

    Spec: DATA-ACCEPT
    """
    if is_ordered(starts, columns, n):
        return None
    for i in range(n):
        row = sorted(columns[starts[i] : starts[i + 1]])
        for column, following in pairwise(row):
            if column == following:
                return i, column
    return None


def check_starts(starts: memoryview, columns: int, values: int, n: int) -> None:
    """Refuse row positions that do not rise from 0 to within the entries."""
    if len(starts) != n + 1 or starts[0] != 0 or any(map(gt, starts, starts[1:])):
        raise IndexOutOfRange(f"the {len(starts)} row positions do not rise from 0 over {n} rows")
    if starts[n] > columns or starts[n] > values:
        raise IndexOutOfRange(
            f"the rows need {starts[n]} entries, but there are {columns} columns, {values} values"
        )


def is_ordered(starts: memoryview, columns: memoryview, n: int) -> bool:
    """Whether columns strictly ascend within each row."""
    falls = [i for i, fall in enumerate(map(ge, columns, columns[1:]), 1) if fall]
    return not falls or set(falls) <= set(starts[: n + 1])


def _ordered(starts: memoryview, columns: memoryview, values: memoryview, n: int, d: int) -> Sparse:
    new_starts, new_columns, new_values = array("q", [0]), array("q"), array(DOUBLES)
    for i in range(n):
        entries: dict[int, float | list[float]] = {}
        for place in range(starts[i], starts[i + 1]):
            column, value = columns[place], values[place]
            before = entries.get(column)
            if before is None:
                entries[column] = value
            elif isinstance(before, list):
                before.append(value)
            else:
                entries[column] = [before, value]
        for column in sorted(entries):
            entry = entries[column]
            total = _added(entry, i, column) if isinstance(entry, list) else entry
            if total:
                new_columns.append(column)
                new_values.append(total)
        new_starts.append(len(new_columns))
    return Sparse(readonly(new_starts), readonly(new_columns), readonly(new_values), n, d)


def _added(entries: list[float], row: int, column: int) -> float:
    try:
        return float(sum(map(Fraction, entries)))
    except (OverflowError, ValueError):
        raise NotFinite(
            f"row {row}, column {column}: the {len(entries)} entries {entries[:3]!r}… have no "
            "finite sum"
        ) from None


def _sizes(shape: Any) -> tuple[int, int]:
    """How many rows and columns a matrix says it has."""

    def refusal() -> DimensionMismatch:
        return DimensionMismatch(
            f"the sparse data have the shape {shown(shape)}; rows and columns are two"
        )

    sizes = items(shape, refusal)
    if len(sizes) != 2:
        raise refusal()
    try:
        n, d = map(index, sizes)
    except TypeError:  # no whole numbers
        raise refusal() from None
    if not (0 <= n <= sys.maxsize and 0 <= d <= sys.maxsize):
        raise refusal()
    return n, d


def _indices(matrix: Any, part: str) -> memoryview:
    places = getattr(matrix, part, None)
    view = _buffer(places)
    if view is not None and view.format in INTEGERS:
        return view.toreadonly()
    values = _listed(places, part)
    for value in values:
        if not isinstance(value, int) or not -sys.maxsize <= value <= sys.maxsize:
            raise BadNumber(f"{part} of the sparse data holds {shown(value)}; it numbers places")
    return readonly(array("q", values))


def _numbers(matrix: Any, doubles: Doubles) -> memoryview:
    entries = getattr(matrix, "data", None)
    view = _buffer(entries)
    if view is not None and view.format in (DOUBLES, SINGLES):
        return view.toreadonly()
    return readonly(array(DOUBLES, doubles(_listed(entries, "data"), "stored entry {}".format)))


def _buffer(holder: Any) -> memoryview | None:
    """The memory of a flat array, if it shows it."""
    try:
        view = memoryview(holder)
    except (TypeError, ValueError, BufferError):
        return None
    return view if view.c_contiguous and view.ndim == 1 else None


def _listed(holder: Any, part: str) -> list[Any]:
    tolist = getattr(holder, "tolist", None)
    listing = tolist() if callable(tolist) else holder

    def refusal() -> BadNumber:
        return BadNumber(f"{part} of the sparse data is {shown(holder)}; an array is needed")

    if isinstance(listing, str | Mapping | Set):
        raise refusal()
    return items(listing, refusal)
