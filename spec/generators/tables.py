"""Contingency tables: rows are clusters, columns are classes; and the objects behind them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

Cells = tuple[tuple[Fraction, ...], ...]
OBJECT_LIMIT = 60


@dataclass(frozen=True, slots=True)
class Table:
    """A table without empty rows or columns, cell weights exact."""

    cells: Cells

    @property
    def rows(self) -> tuple[Fraction, ...]:
        """Cluster sizes."""
        return tuple(_add(row) for row in self.cells)

    @property
    def columns(self) -> tuple[Fraction, ...]:
        """Class sizes."""
        return tuple(_add(column) for column in zip(*self.cells, strict=True))

    @property
    def total(self) -> Fraction:
        """The number (or weight) of objects."""
        return _add(self.rows)

    @property
    def integral(self) -> bool:
        """Whether every cell is a whole number."""
        return all(cell.denominator == 1 for row in self.cells for cell in row)

    def filled(self) -> Iterator[tuple[int, int, Fraction]]:
        """The non-zero cells: row, column, weight."""
        for i, row in enumerate(self.cells):
            for j, weight in enumerate(row):
                if weight:
                    yield i, j, weight

    def objects(self) -> list[tuple[int, int]]:
        """One (cluster, class) pair per object of an integral table."""
        return [(i, j) for i, j, weight in self.filled() for _ in range(int(weight))]

    def transposed(self) -> Table:
        """Clusters and classes exchanged."""
        return Table(tuple(zip(*self.cells, strict=True)))


def _add(numbers: Sequence[Fraction]) -> Fraction:
    result = Fraction(0)
    for number in numbers:
        result += number
    return result


def make_table(rows: Sequence[Sequence[int | str | Fraction]]) -> Table:
    """A table from numbers or strings such as "3/4", empty rows and columns dropped.

    >>> make_table([[2, 0, 1], [0, 0, 0]]).columns
    (Fraction(2, 1), Fraction(1, 1))
    """
    cells = [[Fraction(cell) for cell in row] for row in rows]
    cells = [row for row in cells if any(row)]
    keep = [j for j in range(len(cells[0])) if any(row[j] for row in cells)]
    return Table(tuple(tuple(row[j] for j in keep) for row in cells))


def from_labels(
    labels_true: Sequence[Hashable],
    labels_pred: Sequence[Hashable],
    weights: Sequence[Fraction] | None = None,
) -> Table:
    """Count objects; rows and columns in order of first appearance.

    >>> from_labels("aab", "xyy").rows
    (Fraction(1, 1), Fraction(2, 1))
    """
    clusters, classes = list(dict.fromkeys(labels_pred)), list(dict.fromkeys(labels_true))
    cells = [[Fraction(0) for _ in classes] for _ in clusters]
    for position, (true, pred) in enumerate(zip(labels_true, labels_pred, strict=True)):
        weight = weights[position] if weights is not None else Fraction(1)
        cells[clusters.index(pred)][classes.index(true)] += weight
    return make_table(cells)


def partitions(size: int) -> Iterator[tuple[int, ...]]:
    """All set partitions of ``size`` objects as restricted-growth label lists."""

    def grow(prefix: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(prefix) == size:
            yield prefix
            return
        for label in range(max(prefix, default=-1) + 2):
            yield from grow((*prefix, label))

    return grow(())


def canonical(cells: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """The representative of a table under permutations of rows and of columns.

    It is the greatest, read row by row, of all of them; rows are sorted, columns tried in every
    order.
    """
    width = len(cells[0])
    return max(
        tuple(sorted((tuple(row[j] for j in order) for row in cells), reverse=True))
        for order in permutations(range(width))
    )


def all_tables(size: int) -> list[tuple[tuple[int, ...], ...]]:
    """Every table two partitions of ``size`` objects can form, up to row and column order."""
    found = set()
    seen = set()
    # Up to renaming the objects, the first partition may be taken with its blocks in sequence.
    firsts = {
        tuple(label for label, count in enumerate(sizes) for _ in range(count))
        for sizes in {
            tuple(sorted((p.count(label) for label in set(p)), reverse=True))
            for p in partitions(size)
        }
    }
    for first in firsts:
        for second in partitions(size):
            cells = [[0] * (max(second) + 1) for _ in range(max(first) + 1)]
            for i, j in zip(first, second, strict=True):
                cells[i][j] += 1
            shape = tuple(sorted(map(tuple, cells)))
            if shape not in seen:
                seen.add(shape)
                found.add(canonical(cells))
    return sorted(found, reverse=True)
