"""Whether one column has nearly all variance, so that it decides distances alone (PREP-DECIDES)."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from refclust.data.dataset import Dataset, Dense
from refclust.data.preparing.scales import integers

ROWS: Final = 1000
MOST: Final = Fraction(9, 10)


def deciding_column(data: Dataset) -> tuple[int, float] | None:
    """The column with more than nine tenths of all variance, and its share; none if none has.

    Spec: PREP-DECIDES

    >>> from refclust.data.accepting.door import dataset
    >>> deciding_column(dataset([[1, 100], [2, 300]]))
    (1, 0.9999750006249843)
    """
    matrix = data.matrix
    if not isinstance(matrix, Dense) or matrix.d < 2:
        return None
    rows = range(matrix.n) if matrix.n <= ROWS else [i * matrix.n // ROWS for i in range(ROWS)]
    variances = [
        _variance([matrix.values[i * matrix.d + j] for i in rows]) for j in range(matrix.d)
    ]
    whole, largest = sum(variances), max(variances)
    if not whole or largest <= MOST * whole:
        return None
    return variances.index(largest), float(largest / whole)


def _variance(values: list[float]) -> Fraction:
    """The variance times the square of the number of values: all columns have as many."""
    numbers, shift = integers(values)
    total = sum(numbers)
    return Fraction(len(numbers) * sum(x * x for x in numbers) - total * total, 1 << 2 * shift)
