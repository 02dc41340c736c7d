"""Mutual information corrected for chance, by a kernel that encloses its mean (chapter 43).

The definitions are the plain sums of ``refclust.formulas.information``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Final, TypeAlias

from refclust.formulas.contingency import Contingency, Count
from refclust.formulas.declared import INFINITY, metric
from refclust.formulas.information import (
    AVERAGES,
    in_base,
    mean_entropy,
    mutual_information,
    refuse_huge,
)
from refclust.formulas.undefined import Undefined
from refclust.kernels import information as kernels
from refclust.kernels.information import Margins, Sizes
from refclust.numbers.combinatorics import hypergeometric
from refclust.numbers.real import Interval, Rational, Real, enclosed, log, total
from refclust.numbers.reals.decide import FIRST_DIGITS

ExpectedMI: TypeAlias = Callable[[Margins, int], Interval]

EXACT_LIMIT: Final = 200  # up to this many objects the exact form can settle a doubt
_KERNEL: Final = {"expected_mi": "information.expected_mi"}


@metric(
    "Expected mutual information",
    range=(0, INFINITY),
    better="neither",
    symmetric=True,
    integer=True,
    cost="table",
    aliases=("emi",),
    kernels=_KERNEL,
)
def expected_mutual_information(
    table: Contingency,
    *,
    base: Rational | None = None,
    expected_mi: ExpectedMI = kernels.expected_mi,
) -> Real:
    """Mean mutual information over all permutations of the labels.

    Spec: EMI

    >>> expected_mutual_information(Contingency.of_rows([[1, 1], [1, 1]])) == log(2) / 3
    True
    """
    if is_trivial(table.row) or is_trivial(table.col):
        return mutual_information(table, base=base)  # no permutation changes it
    refuse_huge(table)
    margins = margins_of(table)

    def interval(digits: int) -> Interval:
        # A backend answers first; where its interval is too wide, the reference refines it.
        run = expected_mi if digits <= FIRST_DIGITS else kernels.expected_mi
        return run(margins, digits)

    exact = (lambda: _written_out(table)) if table.total <= EXACT_LIMIT else None
    return in_base(enclosed(interval, exact).named("E[I]", r"\mathrm E[I]"), base)


@metric(
    "Adjusted mutual information",
    range=(-INFINITY, 1),
    better="higher",
    symmetric=True,
    integer=True,
    cost="table",
    aliases=("adjusted_mutual_information",),
    choices={"average": AVERAGES},
    kernels=_KERNEL,
)
def ami(
    table: Contingency,
    *,
    average: str = "arithmetic",
    expected_mi: ExpectedMI = kernels.expected_mi,
) -> Real:
    """Mutual information, rescaled so that chance gives 0 and the mean entropy gives 1.

    Spec: AMI

    >>> ami(Contingency.of_rows([[1, 1], [1, 1]])).fraction
    Fraction(-1, 2)
    """
    if ami_is_undefined(table, average):
        raise Undefined("0/0: mutual information, its mean and its bound are all the same")
    expected = expected_mutual_information(table, expected_mi=expected_mi)
    information = mutual_information(table)
    return (information - expected) / (mean_entropy(table, average) - expected)


def ami_is_undefined(table: Contingency, average: str) -> bool:
    """Decide, by the shape of the partitions alone, where numerator and denominator vanish.

    Spec: AMI

    >>> ami_is_undefined(Contingency.of_rows([[1, 0], [1, 0], [0, 1], [0, 1]]), "min")
    True
    """
    sides = (table.row, table.col)
    one_group = [len(side) == 1 for side in sides]
    singletons = [_all_single(side) for side in sides]
    if average == "min":
        return any(one_group) or any(singletons)
    if average == "geometric":
        return any(one_group) or all(singletons)
    return all(one_group) or all(singletons)


def is_trivial(sizes: tuple[Count, ...]) -> bool:
    """Tell whether a partition is one group or all singletons, which no permutation changes."""
    return len(sizes) == 1 or _all_single(sizes)


def margins_of(table: Contingency) -> Margins:
    """Return the group sizes of a table of whole counts, equal ones taken together.

    Spec: KER-EMI

    >>> margins_of(Contingency.of_rows([[1, 1], [1, 1]])).rows
    ((2, 2),)
    """
    return Margins(_sizes(table.row), _sizes(table.col), int(table.total))


def _sizes(side: tuple[Count, ...]) -> Sizes:
    return tuple(sorted(Counter(map(int, side)).items()))


def _all_single(sizes: tuple[Count, ...]) -> bool:
    return all(size == 1 for size in sizes)


def _written_out(table: Contingency) -> Real:
    """Return the double sum of the definition itself, for the normal form."""
    n, margins = int(table.total), margins_of(table)
    return total(
        times_a
        * times_b
        * Fraction(k, n)
        * hypergeometric(a, b, n, k)
        * log(Fraction(n * k, a * b))
        for a, times_a in margins.rows
        for b, times_b in margins.columns
        for k in range(max(1, a + b - n), min(a, b) + 1)
    )
