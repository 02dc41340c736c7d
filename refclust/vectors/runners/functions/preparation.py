"""What golden vectors ask about chapter 07."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from refclust.formulas import preparation
from refclust.vectors.runners.functions.table import Functions

_COLUMN = ("cells", "weights")


def _gower(rows: list[list[Any]], nominal: list[int]) -> list[Any]:
    """The distances of all pairs; the ranges of columns of numbers are those of the rows."""
    columns = [[cell for cell in column if cell is not None] for column in zip(*rows, strict=True)]
    ranges = [
        None if j in nominal else preparation.span(column or [0], [1] * max(len(column), 1))[1]
        for j, column in enumerate(columns)
    ]
    return [preparation.gower(x, y, ranges) for x, y in combinations(rows, 2)]


FUNCTIONS: Functions = {
    "prep_standard": (preparation.standard, _COLUMN),
    "prep_range": (preparation.span, _COLUMN),
    "prep_robust": (preparation.robust, _COLUMN),
    "prep_quantile": (preparation.quantile, (*_COLUMN, "share")),
    "prep_mean": (lambda x, w: preparation.fill(x, w, "mean"), _COLUMN),
    "prep_median": (lambda x, w: preparation.fill(x, w, "median"), _COLUMN),
    "prep_scaled": (
        lambda cells, c, s: [preparation.scaled(x, c, s) for x in cells],
        ("cells", "centre", "divisor"),
    ),
    "prep_units": (
        lambda cells, c, s: [preparation.in_units(z, c, s) for z in cells],
        ("cells", "centre", "divisor"),
    ),
    "prep_one_hot": (preparation.one_hot, ("category", "categories", "weight")),
    "gower": (_gower, ("table", "nominal")),
}
