"""Two kernels, as plainly as they can be written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from refclust.data.dataset import Dataset
from refclust.kernels.contingency import Cell, Count, LabelPairs


class PreparedRows:
    """The rows in the form that the kernels here like best: for each row w |x|², exactly."""

    def __init__(self, data: Dataset) -> None:
        weights = [1.0] * data.n if data.weights is None else data.weights
        self.squares: list[Fraction] = []
        for row, weight in zip(data.rows(), weights, strict=True):
            numbers = row.values() if isinstance(row, dict) else row
            # Never float * float here: the product of two doubles has up to 106 bits.
            total = sum((Fraction(x) ** 2 for x in numbers), Fraction(0))
            self.squares.append(Fraction(weight) * total)


def squares(rows: PreparedRows, labels: Sequence[int], k: int) -> tuple[Fraction, ...]:
    """Add up w |x|² for every cluster. Keeps the contract of kmeans.squares: Rationals."""
    totals = [Fraction(0)] * k
    for label, square in zip(labels, rows.squares, strict=True):
        totals[label] += square
    return tuple(totals)


def table(pairs: LabelPairs) -> dict[Cell, Count]:
    """Count the pairs of labels. Keeps the contract of contingency.table: Exact."""
    if pairs.weights is None:
        return dict(Counter(zip(pairs.clusters, pairs.classes, strict=True)))
    cells: dict[Cell, Count] = {}
    for cell, weight in zip(
        zip(pairs.clusters, pairs.classes, strict=True), pairs.weights, strict=True
    ):
        cells[cell] = cells.get(cell, 0) + weight
    return cells
