"""Standardised mutual information: exact where sets of cells can be counted out (chapter 43).

Margins are fixed, so mutual information varies only with the sum of n log n over the cells, and
tables with the same cells, wherever they stand, are counted together. The definition is the plain
one of ``refclust.formulas.information``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from refclust.errors import TooLarge
from refclust.formulas.contingency import Contingency
from refclust.formulas.declared import INFINITY, metric
from refclust.formulas.undefined import Undefined
from refclust.metrics.adjusted.estimates import SAMPLES, SEED, Estimate, drawn_tables
from refclust.metrics.adjusted.information import is_trivial
from refclust.numbers.combinatorics import table_statistics
from refclust.numbers.real import Rational, Real, log, sqrt, total

MOST_SETS: Final = 20_000  # different sets of cells whose logarithms are added up exactly

_SAME: Final = "0/0: every permutation of the labels gives the same"

Cells = tuple[int, ...]  # those of two objects or more, in rising order


@metric(
    "Standardised mutual information",
    range=(-INFINITY, INFINITY),
    better="higher",
    symmetric=True,
    integer=True,
    cost="heavy",
    aliases=("smi",),
)
def standardized_mutual_information(
    table: Contingency, *, samples: Rational = SAMPLES, seed: Rational = SEED
) -> Real | Estimate:
    """By how many standard deviations mutual information exceeds its mean over permuted labels.

    Spec: SMI

    >>> standardized_mutual_information(Contingency.of_rows([[2, 0], [0, 2]])) == sqrt(2)
    True
    """
    if is_trivial(table.row) or is_trivial(table.col):
        raise Undefined(_SAME)
    observed = _larger(int(n_ij) for n_ij in table.counts.values())
    try:
        law = cells_law(table)
    except TooLarge:
        return _estimated(table, observed, samples, seed)
    if len({math.prod(n_ij**n_ij for n_ij in cells) for cells in law}) == 1:
        raise Undefined(_SAME)
    sums = {cells: total(n_ij * log(n_ij) for n_ij in cells) for cells in law}
    mean = total(chance * sums[cells] for cells, chance in law.items())
    variance = total(chance * (sums[cells] - mean) ** 2 for cells, chance in law.items())
    return (sums[observed] - mean) / sqrt(variance)


def cells_law(table: Contingency) -> dict[Cells, Fraction]:
    """The chance of each set of cells when labels are permuted.

    Spec: SMI, NUM-TABLES

    >>> cells_law(Contingency.of_rows([[2, 0], [0, 2]]))
    {(2, 2): Fraction(1, 3), (): Fraction(2, 3)}
    """
    columns, rows = sorted(
        ([int(size) for size in side] for side in (table.row, table.col)), key=len
    )
    start: Cells = ()
    law = table_statistics(
        rows, columns, start, lambda so_far, _, cells: _larger((*so_far, *cells))
    )
    if len(law) > MOST_SETS:
        raise TooLarge(f"{len(law)} different sets of cells; {MOST_SETS} are added up exactly")
    return law


def _larger(cells: Iterable[int]) -> Cells:
    return tuple(sorted(n_ij for n_ij in cells if n_ij > 1))


def _estimated(table: Contingency, observed: Cells, samples: Rational, seed: Rational) -> Estimate:
    tables = drawn_tables(table, samples=samples, seed=seed, what="an estimate")
    draws = [_sum(cell for row in rows for cell in row) for rows in tables]
    count = len(draws)
    mean = math.fsum(draws) / count
    variance = math.fsum((draw - mean) ** 2 for draw in draws) / max(count - 1, 1)
    if variance == 0:
        raise TooLarge(f"all of {count} random tables give the same: too few for an estimate")
    value = (_sum(observed) - mean) / math.sqrt(variance)
    return Estimate(value, math.sqrt((1 + value * value / 2) / count), count, int(seed))


def _sum(cells: Iterable[int]) -> float:
    return math.fsum(cell * math.log(cell) for cell in cells if cell)
