"""Rows with missing cells, grouped by which cells those are (chapter 36).

Rows that lack the same cells share one marginal density: their cells that are seen make a data set
without gaps, in fewer columns, which the kernels for whole rows take as it is.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

from refclust.data.dataset import DOUBLES, Dataset, Dense, readonly
from refclust.errors import MissingValue


@dataclass(frozen=True, slots=True)
class Pattern:
    """The rows that lack the same cells."""

    seen: tuple[int, ...]  # columns
    missing: tuple[int, ...]
    rows: tuple[int, ...]  # in ascending order
    data: Dataset | None  # the cells that are seen; none if no column is
    weights: tuple[float, ...] | None  # of these rows, if rows have weights

    @property
    def idle(self) -> bool:
        """Whether none of the rows counts."""
        return self.weights is not None and not any(self.weights)


def patterns_of(data: Dataset) -> tuple[Pattern, ...]:
    """All patterns of missing cells, that of whole rows first, the others by their columns.

    Spec: MISS-CELL, MISS-COST

    >>> from refclust.data.accepting.door import dataset
    >>> [(each.missing, each.rows) for each in patterns_of(dataset([[1, 2], [None, 3], [4, 5]],
    ...                                                            gaps=True))]
    [((), (0, 2)), ((0,), (1,))]
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for i, row in enumerate(data.rows()):
        cells = row.values() if isinstance(row, dict) else row
        missing = tuple(j for j, x in enumerate(cells) if x != x)
        groups.setdefault(missing, []).append(i)
    if groups.keys() == {()}:
        return (_pattern(data, (), range(data.n), whole=data),)
    return tuple(_pattern(data, missing, groups[missing]) for missing in sorted(groups))


def _pattern(
    data: Dataset, missing: tuple[int, ...], rows: Sequence[int], whole: Dataset | None = None
) -> Pattern:
    seen = tuple(j for j in range(data.d) if j not in missing)
    weights = None if data.weights is None else tuple(data.weights[i] for i in rows)
    kept = whole
    if kept is None and seen:
        matrix = data.matrix
        assert isinstance(matrix, Dense)
        cells: array[float] = array(matrix.values.format)
        for i in rows:
            row = matrix.values[i * data.d : (i + 1) * data.d]
            cells.extend(row[j] for j in seen)
        counted = weights is not None and any(weights)
        kept = Dataset(
            Dense(readonly(cells), len(rows), len(seen)),
            weights=readonly(array(DOUBLES, weights)) if counted and weights else None,
        )
    return Pattern(seen, missing, tuple(rows), kept, weights)


def column_of(data: Dataset, j: int) -> Dataset:
    """The cells of one column that are seen, in rows that count, with the weights of these rows.

    Spec: MISS-INIT
    """
    matrix = data.matrix
    assert isinstance(matrix, Dense)
    column = matrix.values[j :: matrix.d].tolist()
    weights = [1.0] * data.n if data.weights is None else data.weights.tolist()
    kept = [(x, w) for x, w in zip(column, weights, strict=True) if x == x and w]
    if not kept:
        raise MissingValue(
            f"column {data.feature_name(j)} is missing in all rows that count; leave it out"
        )
    cells: array[float] = array(matrix.values.format, (x for x, _ in kept))
    masses = None if data.weights is None else readonly(array(DOUBLES, (w for _, w in kept)))
    return Dataset(Dense(readonly(cells), len(kept), 1), weights=masses)


def seen_shares(data: Dataset) -> tuple[float, ...]:
    """Of every column the share of the weight of all rows in which it is seen.

    Spec: MISS-LL
    """
    matrix = data.matrix
    assert isinstance(matrix, Dense)
    weights = [1.0] * data.n if data.weights is None else data.weights.tolist()
    whole = math.fsum(weights)
    return tuple(
        math.fsum(w for x, w in zip(matrix.values[j :: matrix.d], weights, strict=True) if x == x)
        / whole
        for j in range(matrix.d)
    )


def filled(data: Dataset, cells: Sequence[float]) -> Dataset:
    """The same rows with a number of its column in place of each missing cell.

    Spec: MISS-INIT

    >>> from refclust.data.accepting.door import dataset
    >>> list(filled(dataset([[1, None], [None, 4]], gaps=True), [7.0, 8.0]).rows())
    [(1.0, 8.0), (7.0, 4.0)]
    """
    matrix = data.matrix
    assert isinstance(matrix, Dense)
    numbers: array[float] = array(matrix.values.format, matrix.values)
    for place, x in enumerate(numbers):
        if x != x:
            numbers[place] = cells[place % matrix.d]
    return replace(data, matrix=Dense(readonly(numbers), matrix.n, matrix.d), gaps=False)
