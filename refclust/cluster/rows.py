"""Rows as directions: every row scaled to length one (KM-COSROWS of chapter 10)."""

from __future__ import annotations

from array import array
from dataclasses import replace
from operator import mul

from refclust.data.dataset import Dataset, readonly
from refclust.errors import ZeroVector
from refclust.kernels.points import binary
from refclust.numbers.nearest import nearest_sqrt


def unit_rows(data: Dataset) -> Dataset:
    """Every row divided by its length, each component the nearest double of its exact value.

    Spec: KM-COSROWS

    >>> from refclust.data.dataset import dense
    >>> unit_rows(dense(array("d", [3, -4, 0, 2]), 2)).row(0)
    (0.6, -0.8)
    """
    values = array("d")
    for i in range(data.n):
        row = data.row(i)
        given = list(row.values()) if isinstance(row, dict) else list(row)
        integers, _ = binary(given)  # the power of two cancels
        square = sum(map(mul, integers, integers))
        if not square:
            raise ZeroVector(
                f"row {data.row_name(i)} is the zero vector, which has no direction; "
                "leave it out or use the Euclidean distance"
            )
        roots = (nearest_sqrt(x * x, square) if x else 0.0 for x in integers)
        values.extend(-root if x < 0 else root for x, root in zip(integers, roots, strict=True))
    return replace(data, matrix=replace(data.matrix, values=readonly(values)))
