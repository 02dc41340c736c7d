"""How answers for parts of the rows are put together: exactly, and for sums in any order.

Realises BK-MERGE of chapter 80. What a kernel sums over rows is a rational number, and addition of
rationals knows no order; what it tells row by row stands one after another.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeVar, cast

from refclust.data.dataset import Dataset, Dense, readonly
from refclust.kernels.points import Points
from refclust.kernels.registry import Merge

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class _NoRows:
    """What ``Points`` asks of a data set; a real one has at least one row."""

    matrix: Dense
    n: int
    d: int
    weights: None = None


def no_rows(d: int) -> Points:
    """The empty part of a data set: the reference's answer on it changes no sum.

    Spec: BK-MERGE

    >>> no_rows(2).integers
    []
    """
    return Points(cast(Dataset, _NoRows(Dense(readonly(array("d")), 0, d), 0, d)))


def concatenated(parts: Sequence[Any]) -> array[Any]:
    """Flat buffers of one format, one after another.

    Spec: BK-MERGE

    >>> concatenated([array("i", [2]), array("i"), memoryview(array("i", [0, 1]))])
    array('i', [2, 0, 1])
    """
    views = [memoryview(part) for part in parts]
    whole: array[Any] = array(views[0].format)
    for view in views:
        if view.format != views[0].format:
            raise ValueError(f"buffers of formats {views[0].format!r} and {view.format!r}")
        whole.frombytes(view.tobytes())
    return whole


def added(parts: Sequence[Sequence[Fraction | int]]) -> tuple[Fraction, ...]:
    """Tuples of rationals, added place by place.

    Spec: BK-MERGE

    >>> added([(Fraction(1, 2), 1), (Fraction(1, 3), 0)])
    (Fraction(5, 6), Fraction(1, 1))
    """
    return tuple(sum(numbers, Fraction(0)) for numbers in zip(*parts, strict=True))


def added_cells(parts: Sequence[Mapping[K, Fraction | int]]) -> dict[K, Fraction | int]:
    """Cells of tables, added where they are the same.

    Spec: BK-MERGE

    >>> added_cells([{("a", "x"): 1}, {}, {("a", "x"): 2, ("b", "x"): 1}])
    {('a', 'x'): 3, ('b', 'x'): 1}
    """
    cells: dict[K, Fraction | int] = {}
    for part in parts:
        for cell, count in part.items():
            cells[cell] = cells.get(cell, 0) + count
    return cells


IN_ROW_ORDER: Final = Merge(concatenated, ordered=True)
RATIONALS: Final = Merge(added)
CELLS: Final = Merge(added_cells)
