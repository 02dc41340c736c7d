"""Purity and BCubed F corrected for chance: exact means where they can be had, else estimates (41).

The definitions are the plain means of ``refclust.formulas.matching``.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Final

from refclust.errors import TooLarge
from refclust.formulas.contingency import Contingency
from refclust.formulas.declared import INFINITY, metric
from refclust.formulas.matching import adjusted, bcubed_f, purity
from refclust.formulas.undefined import Undefined
from refclust.metrics.adjusted.estimates import SAMPLES, SEED, Estimate, estimated
from refclust.numbers.combinatorics import expected_maximum, table_statistics
from refclust.numbers.real import Interval, Rational, Real, enclosed, total
from refclust.numbers.reals.intervals import arithmetic

FEW_TERMS: Final = 300  # up to this many, a sum of fractions is worked out exactly


def expected_purity(table: Contingency) -> Fraction:
    """Mean purity over all permutations of the labels.

    Spec: PUR-EXP

    >>> expected_purity(Contingency.of_rows([[2, 0], [0, 2]]))
    Fraction(2, 3)
    """
    classes = [int(size) for size in table.col]
    sizes = Counter(int(size) for size in table.row)
    expected = sum(count * expected_maximum(size, classes) for size, count in sizes.items())
    return Fraction(expected, int(table.total))


@metric(
    "Purity corrected for chance",
    range=(-INFINITY, 1),
    better="higher",
    symmetric=False,
    integer=True,
    cost="heavy",
)
def adjusted_purity(
    table: Contingency, *, samples: Rational = SAMPLES, seed: Rational = SEED
) -> Real | Estimate:
    """Purity, rescaled so that its mean over all permutations of the labels becomes 0.

    Spec: PUR-ADJ

    >>> adjusted_purity(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('1/3')
    """
    value, n = purity(table), int(table.total)
    if len(table.row) == n or len(table.col) == 1:
        # Decided by the shape: a large table of this kind would end among the estimates.
        raise Undefined("0/0: every permutation of the labels gives 1")
    try:
        return adjusted(value, expected_purity(table))
    except TooLarge:
        return estimated(
            table,
            value,
            lambda drawn: sum(map(max, drawn)) / n,
            samples=samples,
            seed=seed,
        )


def expected_bcubed_f(table: Contingency) -> Real:
    """Mean BCubed F over all permutations of the labels, by going through the tables.

    Spec: BC-FADJ, NUM-TABLES

    >>> expected_bcubed_f(Contingency.of_rows([[2, 0], [0, 2]]))
    Real('2/3')
    """
    # F is symmetric, and many rows cost less than many columns.
    columns, rows = sorted(
        ([int(size) for size in side] for side in (table.row, table.col)), key=len
    )
    over_rows, over_columns = math.lcm(*rows), math.lcm(*columns)

    def add_row(so_far: tuple[int, int], i: int, cells: tuple[int, ...]) -> tuple[int, int]:
        squares = [cell * cell for cell in cells]
        precision = sum(squares) * (over_rows // rows[i])
        recall = sum(s * (over_columns // m_j) for s, m_j in zip(squares, columns, strict=True))
        return so_far[0] + precision, so_far[1] + recall

    n, terms = int(table.total), []
    for (p, r), chance in table_statistics(rows, columns, (0, 0), add_row).items():
        precision, recall = Fraction(p, n * over_rows), Fraction(r, n * over_columns)
        terms.append(chance * 2 * precision * recall / (precision + recall))
    mean = total(terms)
    if len(terms) <= FEW_TERMS:
        return mean
    # The exact sum of thousands of unlike fractions is out of proportion to a doubt that hardly
    # ever arises; enclosures of the terms settle the double.
    return enclosed(lambda digits: _sum_enclosed(terms, digits), lambda: mean)


def _sum_enclosed(terms: list[Fraction], digits: int) -> Interval:
    numbers = arithmetic(digits)
    return numbers.add(map(numbers.rational, terms))


@metric(
    "BCubed F corrected for chance",
    range=(-INFINITY, 1),
    better="higher",
    symmetric=True,
    integer=True,
    cost="heavy",
)
def adjusted_bcubed_f(
    table: Contingency, *, samples: Rational = SAMPLES, seed: Rational = SEED
) -> Real | Estimate:
    """BCubed F, rescaled so that its mean over all permutations becomes 0.

    Spec: BC-FADJ

    >>> adjusted_bcubed_f(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('7/27')
    """
    value, groups = bcubed_f(table), (len(table.row), len(table.col))
    if groups in ((1, 1), (table.total, table.total)):
        raise Undefined("0/0: every permutation of the labels gives 1")
    try:
        return adjusted(value, expected_bcubed_f(table))
    except TooLarge:
        return estimated(table, value, _float_bcubed_f, samples=samples, seed=seed)


def _float_bcubed_f(drawn: list[list[int]]) -> float:
    """BCubed F of a random table in floats: an estimate needs no more."""
    columns = [sum(column) for column in zip(*drawn, strict=True)]
    p = math.fsum(sum(cell * cell for cell in row) / sum(row) for row in drawn)
    r = math.fsum(c * c / m_j for row in drawn for c, m_j in zip(row, columns, strict=True))
    return float(2 * p * r / (p + r) / sum(columns))
