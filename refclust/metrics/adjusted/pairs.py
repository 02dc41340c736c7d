"""The Jaccard coefficient corrected for chance: exact where tables can be enumerated (42).

The definition is the plain mean of ``refclust.formulas.pairs``.
"""

from __future__ import annotations

from fractions import Fraction

from refclust.errors import TooLarge
from refclust.formulas.contingency import Contingency
from refclust.formulas.declared import INFINITY, metric
from refclust.formulas.matching import adjusted
from refclust.formulas.pairs import jaccard
from refclust.metrics.adjusted.estimates import SAMPLES, SEED, Estimate, estimated
from refclust.numbers.combinatorics import pairs, table_statistics
from refclust.numbers.real import Rational, Real


def expected_jaccard(table: Contingency) -> Fraction:
    """Mean Jaccard coefficient over all permutations of the labels, by going through the tables.

    Spec: JAC-ADJ, NUM-TABLES

    >>> expected_jaccard(Contingency.of_rows([[2, 0], [0, 2]]))
    Fraction(1, 3)
    """
    # J is symmetric, and many rows cost less than many columns.
    columns, rows = sorted(
        ([int(size) for size in side] for side in (table.row, table.col)), key=len
    )
    either = sum(map(pairs, rows)) + sum(map(pairs, columns))
    law = table_statistics(rows, columns, 0, lambda tp, _, cells: tp + sum(map(pairs, cells)))
    return sum((chance * Fraction(tp, either - tp) for tp, chance in law.items()), Fraction())


@metric(
    "Jaccard coefficient corrected for chance",
    range=(-INFINITY, 1),
    better="higher",
    symmetric=True,
    integer=True,
    cost="heavy",
)
def adjusted_jaccard(
    table: Contingency, *, samples: Rational = SAMPLES, seed: Rational = SEED
) -> Real | Estimate:
    """Jaccard coefficient of pairs, rescaled so that its mean over all permutations becomes 0.

    Spec: JAC-ADJ

    >>> adjusted_jaccard(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('1/15')
    """
    value = jaccard(table)
    try:
        return adjusted(value, expected_jaccard(table))
    except TooLarge:
        either = sum(pairs(int(size)) for size in (*table.row, *table.col))
        return estimated(
            table, value, lambda drawn: _float_jaccard(drawn, either), samples=samples, seed=seed
        )


def _float_jaccard(drawn: list[list[int]], either: int) -> float:
    together = sum(pairs(cell) for row in drawn for cell in row)
    return together / (either - together)
