"""Metrics from information theory: entropies, mutual information and what is built of them (43).

Natural logarithms unless ``base`` says otherwise. Cells that are empty are not stored, so that
0 log 0 never arises.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Final

from refclust.errors import BadOption, TooLarge
from refclust.kernels.contingency import Count
from refclust.metrics.catalogue import INFINITY, metric
from refclust.metrics.contingency import Contingency
from refclust.metrics.undefined import ratio
from refclust.numbers.decide import MOST_DIGITS
from refclust.numbers.logs import log_sum
from refclust.numbers.reading import shown
from refclust.numbers.real import Rational, Real, log, maximum, minimum, real, sqrt, total

SIDES: Final = ("clusters", "classes")
# n log n + Σ n_ij log n_ij − Σ n_i log n_i − Σ m_j log m_j, which is n times the information.
_MOST_BITS: Final = 13_400  # of a count: about 10^4000 and a little more
_INFORMATION: Final = {"whole": 1, "cells": 1, "rows": -1, "columns": -1}
AVERAGES: Final = ("geometric", "arithmetic", "min", "max", "joint")


@metric("Entropy of the clusters", range=(0, INFINITY), better="neither", symmetric=False)
def entropy_clusters(table: Contingency, *, base: Rational | None = None) -> Real:
    """Information in knowing the cluster of an object.

    Spec: ENT-C

    >>> entropy_clusters(Contingency.of_rows([[2, 0], [0, 2]]), base=2).fraction
    Fraction(1, 1)
    """
    # With the minus sign that one source lost (ERR-03).
    entropy = _total_of_logs(table, lambda: _entropy(table.row, table.total), whole=1, rows=-1)
    return in_base(entropy.named("H(C)", r"H(\mathcal C)"), base)


@metric("Entropy of the classes", range=(0, INFINITY), better="neither", symmetric=False)
def entropy_classes(table: Contingency, *, base: Rational | None = None) -> Real:
    """Information in knowing the class of an object.

    Spec: ENT-T

    >>> entropy_classes(Contingency.of_rows([[2, 0], [0, 2]])) == log(2)
    True
    """
    entropy = _total_of_logs(table, lambda: _entropy(table.col, table.total), whole=1, columns=-1)
    return in_base(entropy.named("H(T)", r"H(\mathcal T)"), base)


@metric("Joint entropy", range=(0, INFINITY), better="neither", symmetric=True)
def joint_entropy(table: Contingency, *, base: Rational | None = None) -> Real:
    """Information in knowing both the cluster and the class of an object.

    Spec: ENT-JOINT

    >>> joint_entropy(Contingency.of_rows([[1, 1], [1, 1]])) == log(4)
    True
    """
    joint = _total_of_logs(
        table, lambda: _entropy(table.counts.values(), table.total), whole=1, cells=-1
    )
    return in_base(joint.named("H(C,T)", r"H(\mathcal C,\mathcal T)"), base)


@metric(
    "Conditional entropy",
    range=(0, INFINITY),
    better="lower",
    symmetric=False,
    choices={"of": SIDES},
)
def conditional_entropy(
    table: Contingency, *, of: str = "classes", base: Rational | None = None
) -> Real:
    """Information in knowing the one label of an object when the other is known already.

    Spec: ENT-COND

    >>> conditional_entropy(Contingency.of_rows([[1, 1], [0, 2]])) == log(2) / 2
    True
    """
    if of == "clusters":
        remaining = _total_of_logs(
            table, lambda: _conditional_entropy(table.transposed()), columns=1, cells=-1
        )
        return in_base(remaining.named("H(C|T)", r"H(\mathcal C\mid\mathcal T)"), base)
    remaining = _total_of_logs(table, lambda: _conditional_entropy(table), rows=1, cells=-1)
    return in_base(remaining.named("H(T|C)", r"H(\mathcal T\mid\mathcal C)"), base)


@metric("Mutual information", range=(0, INFINITY), better="higher", symmetric=True, aliases=("mi",))
def mutual_information(table: Contingency, *, base: Rational | None = None) -> Real:
    """Information the clustering carries about the classes.

    Spec: MI-CT

    >>> mutual_information(Contingency.of_rows([[2, 0], [0, 2]])) == log(2)
    True
    """
    n = table.total
    information = _total_of_logs(
        table,
        lambda: (
            Fraction(n_ij, n) * log(Fraction(n * n_ij, table.row[i] * table.col[j]))
            for (i, j), n_ij in table.cells()
        ),
        **_INFORMATION,
    )
    return in_base(information.named("I", r"I(\mathcal C,\mathcal T)"), base)


@metric(
    "Information ratio",
    range=(0, 1),
    better="higher",
    symmetric=False,
    choices={"of": SIDES},
)
def information_ratio(table: Contingency, *, of: str = "clusters") -> Real:
    """Share of the entropy of one side that the other side explains.

    Spec: NMI-RATIO

    >>> information_ratio(Contingency.of_rows([[2, 0], [0, 2]])).fraction
    Fraction(1, 1)
    """
    entropy = entropy_clusters(table) if of == "clusters" else entropy_classes(table)
    return ratio(mutual_information(table), entropy, undefined=f"the {of} are one group")


@metric(
    "Normalised mutual information",
    range=(0, 1),
    better="higher",
    symmetric=True,
    aliases=("normalized_mutual_information",),
    choices={"average": AVERAGES},
    variants={
        "average": {
            "geometric": "NMI-GEO",
            "arithmetic": "NMI-ARI",
            "min": "NMI-MIN",
            "max": "NMI-MAX",
            "joint": "NMI-JOINT",
        }
    },
)
def nmi(table: Contingency, *, average: str = "geometric") -> Real:
    """Mutual information over a mean of the two entropies.

    Spec: NMI-GEO, NMI-ARI, NMI-MIN, NMI-MAX, NMI-JOINT

    >>> float(nmi(Contingency.of_rows([[39, 6, 1], [8, 31, 1], [2, 1, 11]])))
    0.42503627500679453
    """
    return ratio(
        mutual_information(table),
        mean_entropy(table, average),
        undefined="the entropies that should normalise are zero",
    )


@metric(
    "Normalised mutual information of Strehl and Ghosh",
    range=(0, 1),
    better="higher",
    symmetric=True,
)
def nmi_strehl_ghosh(table: Contingency) -> Real:
    """Normalised mutual information written in counts instead of shares.

    Spec: NMI-SG

    >>> float(nmi_strehl_ghosh(Contingency.of_rows([[39, 6, 1], [8, 31, 1], [2, 1, 11]])))
    0.42503627500679453
    """
    n = table.total
    top = _total_of_logs(
        table,
        lambda: (
            n_ij * log(Fraction(n * n_ij, table.row[i] * table.col[j]))
            for (i, j), n_ij in table.cells()
        ),
        **_INFORMATION,
        over=1,
    )
    by_cluster = total(n_i * log(Fraction(n_i, n)) for n_i in table.row)
    by_class = total(m_j * log(Fraction(m_j, n)) for m_j in table.col)
    # Both sums are negative; their product is not.
    return ratio(top, sqrt(by_cluster * by_class), undefined="one side is a single group")


@metric("Homogeneity", range=(0, 1), better="higher", symmetric=False)
def homogeneity(table: Contingency) -> Real:
    """Share of the entropy of the classes that the clusters explain.

    Spec: HOM

    >>> homogeneity(Contingency.of_rows([[1, 0], [1, 0], [0, 1], [0, 1]])).fraction
    Fraction(1, 1)
    """
    if len(table.col) == 1:
        return real(1)  # fixed by the defining paper
    return information_ratio(table, of="classes")


@metric("Completeness", range=(0, 1), better="higher", symmetric=False)
def completeness(table: Contingency) -> Real:
    """Share of the entropy of the clusters that the classes explain.

    Spec: COMPL

    >>> completeness(Contingency.of_rows([[1, 0], [1, 0], [0, 1], [0, 1]])).fraction
    Fraction(1, 2)
    """
    if len(table.row) == 1:
        return real(1)  # fixed by the defining paper
    return information_ratio(table, of="clusters")


@metric("V-measure", range=(0, 1), better="higher", symmetric=True)
def v_measure(table: Contingency, *, beta: Rational = 1) -> Real:
    """Weighted harmonic mean of homogeneity and completeness.

    Spec: V-BETA

    >>> v_measure(Contingency.of_rows([[1, 0], [1, 0], [0, 1], [0, 1]])).fraction
    Fraction(2, 3)
    """
    # From I and the entropies: (1+β)hc/(βh+c) would lose the case h = c = 0.
    b = Fraction(beta)
    if b < 0:
        raise BadOption(f"v_measure: beta={shown(b)} must not be negative")
    return ratio(
        (1 + b) * mutual_information(table),
        b * entropy_clusters(table) + entropy_classes(table),
        undefined="the entropies that should normalise are zero",
    )


@metric(
    "Variation of information",
    range=(0, INFINITY),
    better="lower",
    symmetric=True,
    aliases=("vi",),
)
def variation_of_information(table: Contingency, *, base: Rational | None = None) -> Real:
    """Information that is lost and gained on the way from the clusters to the classes.

    Spec: VI

    >>> variation_of_information(Contingency.of_rows([[1, 1], [1, 1]])) == 2 * log(2)
    True
    """
    lost, gained = (conditional_entropy(table, of=side) for side in SIDES)
    return in_base((lost + gained).named("VI"), base)


@metric(
    "Normalised variation of information",
    range=(0, 1),
    better="lower",
    symmetric=True,
    aliases=("nvi",),
)
def normalized_variation_of_information(table: Contingency) -> Real:
    """Variation of information over the joint entropy.

    Spec: VI-NORM

    >>> normalized_variation_of_information(Contingency.of_rows([[1, 1], [1, 1]])).fraction
    Fraction(1, 1)
    """
    return ratio(
        variation_of_information(table),
        joint_entropy(table),
        undefined="all objects are in one cluster and one class",
    )


@metric(
    "Normalised information distance",
    range=(0, 1),
    better="lower",
    symmetric=True,
    aliases=("nid",),
)
def normalized_information_distance(table: Contingency) -> Real:
    """Share of the larger entropy that the other side does not explain.

    Spec: NID

    >>> normalized_information_distance(Contingency.of_rows([[2, 0], [0, 2]])).fraction
    Fraction(0, 1)
    """
    larger = mean_entropy(table, "max")
    return ratio(
        larger - mutual_information(table),
        larger,
        undefined="all objects are in one cluster and one class",
    )


def mean_entropy(table: Contingency, average: str) -> Real:
    """Return the mean of the two entropies that normalises mutual information.

    Spec: NMI-GEO, NMI-ARI, NMI-MIN, NMI-MAX, NMI-JOINT

    >>> mean_entropy(Contingency.of_rows([[2, 0], [0, 2]]), "geometric") == log(2)
    True
    """
    if average == "joint":
        return joint_entropy(table)
    of_clusters, of_classes = entropy_clusters(table), entropy_classes(table)
    if average == "geometric":
        return sqrt(of_clusters * of_classes)
    if average == "arithmetic":
        return (of_clusters + of_classes) / 2
    return (minimum if average == "min" else maximum)(of_clusters, of_classes)


def _total_of_logs(
    table: Contingency,
    written: Callable[[], Iterable[Real]],
    *,
    whole: int = 0,
    cells: int = 0,
    rows: int = 0,
    columns: int = 0,
    over: Count | None = None,
) -> Real:
    """Return the total of terms as they are written, but computed from the distinct counts.

    It must also be so many times f(n), Σ f(n_ij), Σ f(n_i), Σ f(m_j) with f(x) = x log x, divided
    by n or what else it is ``over``. Then a table of many cells needs few logarithms. Where counts
    are not whole, the terms are added up as they are written.
    """
    if not table.is_integer:
        return total(written())
    refuse_huge(table)
    weights = defaultdict(int, {int(table.total): whole * int(table.total)})
    sides = (cells, table.sizes), (rows, Counter(table.row)), (columns, Counter(table.col))
    for times, sizes in sides:
        if times:
            for size, number in sizes.items():
                weights[int(size)] += times * number * int(size)
    return log_sum(weights, int(table.total if over is None else over), written)


def refuse_huge(table: Contingency) -> None:
    """Refuse counts so large that the digits worked out do not settle the logarithms."""
    if int(table.total).bit_length() > _MOST_BITS:
        raise TooLarge(
            f"the information in {shown(int(table.total))} objects is not settled within the "
            f"{MOST_DIGITS:,} digits that are worked out; counts go up to 10^4000"
        )


def _entropy(counts: Iterable[Count], n: Count) -> Iterator[Real]:
    """Yield −c/n log c/n for each count."""
    return (-Fraction(count, n) * log(Fraction(count, n)) for count in counts)


def _conditional_entropy(table: Contingency) -> Iterator[Real]:
    """Yield −n_ij/n log n_ij/n_i for each cell."""
    n = table.total
    return (
        -Fraction(n_ij, n) * log(Fraction(n_ij, table.row[i])) for (i, _), n_ij in table.cells()
    )


def in_base(nats: Real, base: Rational | None) -> Real:
    """Return an amount of information, given in nats, in the units of another base.

    Spec: CONV-LOG

    >>> in_base(log(8), 2).fraction
    Fraction(3, 1)
    """
    if base is None:
        return nats
    if base <= 1:
        raise BadOption(f"base={shown(base)}: the base of a logarithm must be above 1")
    return nats / log(base)
