"""Chapter 44: association. Clusters and classes as two nominal variables."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from refclust.formulas.contingency import Contingency
from refclust.formulas.declared import INFINITY, metric
from refclust.formulas.information import information_ratio, nmi
from refclust.formulas.matching import bcubed_precision
from refclust.formulas.undefined import ratio
from refclust.numbers.real import Real, real, sqrt, total

TARGETS: Final = ("classes", "clusters")


@metric("Pearson's chi-squared", range=(0, INFINITY), better="higher", symmetric=True)
def chi_squared(table: Contingency) -> Real:
    """Distance of the table from the one that independence would give.

    Defines: CHI2

    >>> chi_squared(Contingency.of_rows([[2, 0], [0, 2]]))
    Real('4')
    """
    terms = (Fraction(n_ij * n_ij, table.row[i] * table.col[j]) for (i, j), n_ij in table.cells())
    return (table.total * (total(terms) - 1)).named("χ²", r"\chi^2")


@metric("Cramér's V", range=(0, 1), better="higher", symmetric=True)
def cramers_v(table: Contingency) -> Real:
    """Chi-squared, scaled to the unit interval.

    Defines: CRAMER

    >>> cramers_v(Contingency.of_rows([[2, 0], [0, 2]])).fraction
    Fraction(1, 1)
    """
    fewer = min(len(table.row), len(table.col))
    squared = ratio(
        chi_squared(table), table.total * (fewer - 1), undefined="one side is a single group"
    )
    return sqrt(squared)


@metric(
    "Goodman and Kruskal's lambda",
    range=(0, 1),
    better="higher",
    symmetric=False,
    choices={"predict": (*TARGETS, "both")},
)
def goodman_kruskal_lambda(table: Contingency, *, predict: str = "classes") -> Real:
    """Share of the errors of guessing the largest group that knowing the other side removes.

    Defines: GK-LAMBDA

    >>> goodman_kruskal_lambda(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('1/2')
    """
    sides = {"classes": [table], "clusters": [table.transposed()]}
    chosen = sides.get(predict) or [table, table.transposed()]
    hits = total(total(side.largest_in_row()) - max(side.col) for side in chosen)
    misses = total(side.total - max(side.col) for side in chosen)
    return ratio(hits, misses, undefined="what is predicted is a single group")


@metric(
    "Goodman and Kruskal's tau",
    range=(0, 1),
    better="higher",
    symmetric=False,
    choices={"predict": TARGETS},
)
def goodman_kruskal_tau(table: Contingency, *, predict: str = "classes") -> Real:
    """Share of the errors of guessing in proportion that knowing the other side removes.

    Defines: GK-TAU

    >>> goodman_kruskal_tau(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('4/9')
    """
    if predict == "clusters":
        return goodman_kruskal_tau(table.transposed())
    n = table.total
    known = (bcubed_precision(table) * n).named("K")
    unknown = (real(sum(m_j * m_j for m_j in table.col)) / n).named("U")
    return ratio(known - unknown, n - unknown, undefined="what is predicted is a single group")


@metric(
    "Theil's uncertainty coefficient",
    range=(0, 1),
    better="higher",
    symmetric=False,
    choices={"predict": (*TARGETS, "both")},
)
def theils_u(table: Contingency, *, predict: str = "classes") -> Real:
    """Share of the uncertainty about one side that knowing the other removes.

    Defines: THEIL-U

    >>> theils_u(Contingency.of_rows([[1, 0], [1, 0], [0, 1], [0, 1]])).fraction
    Fraction(1, 1)
    """
    if predict == "both":
        return nmi(table, average="arithmetic")
    return information_ratio(table, of=predict)
