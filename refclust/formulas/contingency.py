"""Contingency tables: rows are clusters, columns are classes (chapter 40).

A table grants what the formulas of chapters 41 to 44 assume: no empty row, no empty column, no
negative cell, every number an ``int`` or a ``Fraction``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeAlias

from refclust.errors import (
    BadTable,
    BadWeight,
    NegativeCount,
    NotFinite,
    RaggedRows,
    WeightsNotInteger,
)
from refclust.formulas.evidence import Grid, Kind, objects
from refclust.numbers.reading import counted, exact_value, refuse_long, shown

Count: TypeAlias = int | Fraction
Cell: TypeAlias = tuple[Hashable, Hashable]
Sides: TypeAlias = tuple[Sequence[Hashable], Sequence[Hashable], Sequence[Count] | None]
NOISE_POLICIES: Final = ("ordinary", "singletons", "ignore")
PERMUTED: Final = "objects can only be permuted with whole weights"
_LONGEST_VALUE: Final = 40  # in a message
_SMALL: Final = 64  # cells


@dataclass(frozen=True, slots=True, eq=False)
class Contingency:
    """How many objects (or how much weight) each cluster shares with each class.

    Spec: CT-TABLE

    >>> table = Contingency.of_rows([[2, 1], [0, 2]])
    >>> table.row, table.col, table.total
    ((3, 2), (2, 3), 5)
    """

    clusters: tuple[Hashable, ...]
    classes: tuple[Hashable, ...]
    counts: Mapping[tuple[int, int], Count]
    row: tuple[Count, ...]
    col: tuple[Count, ...]
    total: Count
    sizes: Mapping[Count, int]  # how many cells there are of each count

    def cells(self) -> Iterator[tuple[tuple[int, int], Count]]:
        """Yield the cells that are not empty, row by row."""
        return iter(self.counts.items())

    def rows(self) -> list[list[Count]]:
        """Return the table with its zeros, row by row."""
        full: list[list[Count]] = [[0] * len(self.col) for _ in self.row]
        for (i, j), n_ij in self.cells():
            full[i][j] = n_ij
        return full

    def largest_in_row(self) -> tuple[Count, ...]:
        """Return max_j n_ij for each cluster i."""
        largest: list[Count] = [0] * len(self.row)
        for (i, _), n_ij in self.cells():
            largest[i] = max(largest[i], n_ij)
        return tuple(largest)

    def largest_in_column(self) -> tuple[Count, ...]:
        """Return max_i n_ij for each class j."""
        return self.transposed().largest_in_row()

    def transposed(self) -> Contingency:
        """Return the table with the roles of clusters and classes exchanged."""
        turned = {(j, i): n_ij for (i, j), n_ij in self.cells()}
        counts = dict(sorted(turned.items()))
        return Contingency(
            self.classes, self.clusters, counts, self.col, self.row, self.total, self.sizes
        )

    @property
    def kind(self) -> Kind:
        """What metrics of this kind compare: two labelings."""
        return "labelings"

    @property
    def is_empty(self) -> bool:
        """Whether there is no object at all."""
        return not self.row

    @property
    def is_integer(self) -> bool:
        """Whether every cell is a whole number."""
        return all(n_ij.denominator == 1 for n_ij in self.sizes)

    @property
    def is_small(self) -> bool:
        """Whether looking for a simpler exact form of a value is quick."""
        return len(self.counts) <= _SMALL

    def size(self) -> str:
        """How much there is, in words."""
        sides = counted(len(self.row), "cluster"), counted(len(self.col), "class")
        return f"{objects(self.total)} in {sides[0]} and {sides[1]}"

    def grid(self) -> Grid:
        """The table with its margins."""
        return Grid(
            "rows are clusters, columns are classes",
            self.classes,
            tuple(zip(self.clusters, map(tuple, self.rows()), strict=True)),
            self.row,
            self.col,
            self.total,
        )

    @classmethod
    def of_cells(cls, cells: Mapping[Cell, Count]) -> Contingency:
        """Build a table from the counts of label pairs (cluster, class)."""
        kept = {cell: count for cell, count in cells.items() if count}
        clusters = ordered_labels(cluster for cluster, _ in kept)
        classes = ordered_labels(label for _, label in kept)
        row_of = {cluster: i for i, cluster in enumerate(clusters)}
        col_of = {label: j for j, label in enumerate(classes)}
        counts: dict[tuple[int, int], Count] = {}
        row: list[Count] = [0] * len(clusters)
        col: list[Count] = [0] * len(classes)
        for (cluster, label), count in kept.items():
            i, j = row_of[cluster], col_of[label]
            counts[i, j] = count
            row[i] += count
            col[j] += count
        ordered = dict(sorted(counts.items()))
        sizes = Counter(ordered.values())
        return cls(clusters, classes, ordered, tuple(row), tuple(col), sum(row), sizes)

    @classmethod
    def of_rows(cls, rows: Any) -> Contingency:
        """Build a table from its rows; rows and columns without an object are dropped."""
        cells: Mapping[Cell, Count] = cells_of_rows(rows)  # type: ignore[assignment]
        return cls.of_cells(cells)


def cells_of_rows(rows: Any) -> dict[tuple[int, int], Count]:
    """The cells of a rectangle of counts, zeros too, by row and column.

    Spec: CT-TABLE

    >>> cells_of_rows([[2, 0.5]])
    {(0, 0): 2, (0, 1): Fraction(1, 2)}
    """
    table = listed(rows)
    if not isinstance(table, Sequence) or isinstance(table, str):
        raise BadTable(f"a table is a sequence of rows, not a {type(table).__name__}")
    cells: dict[tuple[int, int], Count] = {}
    width: int | None = None
    for i, row in enumerate(map(listed, table)):
        if not isinstance(row, Sequence) or isinstance(row, str):
            raise BadTable(f"row {i} of the table is {shown(row)}, not a sequence of numbers")
        width = len(row) if width is None else width
        if len(row) != width:
            raise RaggedRows(f"row {i} of the table has {len(row)} cells, row 0 has {width}")
        for j, cell in enumerate(row):
            cells[i, j] = exact_count(cell, f"cell ({i}, {j}) of the table", BadTable)
    refuse_long(cells.values(), "exact arithmetic with these cells")
    return cells


def table(clusters: Sequence[Hashable], classes: Sequence[Hashable]) -> Contingency:
    """The objects that each cluster shares with each class, counted.

    Defines: CT-TABLE

    >>> table([1, 2, 2], ["x", "x", "y"]).rows()
    [[1, 0], [1, 1]]
    """
    return Contingency.of_cells(Counter(zip(clusters, classes, strict=True)))


@dataclass(frozen=True, slots=True)
class Lonely:
    """The label that a noise object gets when noise objects are singletons."""

    position: int


def without_noise(
    clusters: Sequence[Hashable],
    classes: Sequence[Hashable],
    weights: Sequence[Count] | None,
    *,
    noise: Hashable,
    policy: str,
) -> Sides:
    """Clusters, classes and weights with the noise label ordinary, in singletons, or ignored.

    Defines: CT-NOISE

    >>> without_noise([0, -1, 0], "xxy", [1, 2, 3], noise=-1, policy="ignore")
    ([0, 0], ['x', 'y'], [1, 3])
    """
    if policy == "singletons":
        alone = [
            [Lonely(i) if label == noise else label for i, label in enumerate(side)]
            for side in (clusters, classes)
        ]
        return alone[0], alone[1], weights
    if policy == "ignore":
        keep = [a != noise and b != noise for a, b in zip(clusters, classes, strict=True)]
        kept = None if weights is None else _kept(weights, keep)
        return _kept(clusters, keep), _kept(classes, keep), kept
    return clusters, classes, weights


def weighted_table(
    clusters: Sequence[Hashable], classes: Sequence[Hashable], weights: Sequence[Count]
) -> Contingency:
    """The weight that each cluster shares with each class.

    Defines: CT-WEIGHT

    >>> weighted_table([1, 1, 2], "xxy", [1, Fraction(1, 2), 2]).row
    (Fraction(3, 2), 2)
    """
    cells: dict[Cell, Count] = {}
    for cluster, label, w in zip(clusters, classes, weights, strict=True):
        cells[cluster, label] = cells.get((cluster, label), 0) + w
    return Contingency.of_cells(cells)


# What several clauses share.


def refuse_fractions(table: Contingency, reason: str = PERMUTED) -> None:
    """Refuse cells that are not whole, where pairs are counted or objects are permuted."""
    if not table.is_integer:
        raise WeightsNotInteger(reason)


def listed(values: Any) -> Any:
    """Turn the arrays of other libraries into lists, without importing those libraries."""
    return values.tolist() if hasattr(values, "tolist") else values


def exact_count(value: Any, place: str, kind: type[BadTable] | type[BadWeight]) -> Count:
    """Return a count as an exact number, refusing what is none.

    Spec: CT-TABLE, CT-WEIGHT

    >>> exact_count(0.5, "the weight", BadWeight)
    Fraction(1, 2)
    """
    exact = None if isinstance(value, Decimal) else exact_value(value, place)
    if exact is None:
        if _is_not_finite(value):
            raise NotFinite(f"{place} is {value}; it must be finite")
        raise kind(f"{place} is {shown(value)}, which is not a number")
    if exact < 0:
        raise NegativeCount(f"{place} is {_told(value)}; it must not be negative")
    return exact.numerator if exact.denominator == 1 else exact


def _told(value: Any) -> str:
    return shown(value) if isinstance(value, int | Fraction) else str(value)[:_LONGEST_VALUE]


def _is_not_finite(value: Any) -> bool:
    """Tell whether a float or a text is NaN or an infinity."""
    text = value.strip().lower().lstrip("+-") if isinstance(value, str) else None
    return text in ("nan", "inf", "infinity") or (
        isinstance(value, float) and not math.isfinite(value)
    )


def ordered_labels(labels: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return distinct labels in their natural order, or as met if they have none."""
    distinct = list(dict.fromkeys(labels))
    try:
        return tuple(sorted(distinct))  # type: ignore[type-var]
    except (TypeError, ArithmeticError):  # NaN of the decimals has no place among numbers
        return tuple(distinct)


def _kept(values: Sequence[Any], keep: list[bool]) -> list[Any]:
    return [value for value, stays in zip(values, keep, strict=True) if stays]
