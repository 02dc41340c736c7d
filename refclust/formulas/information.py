"""Chapter 43: information. Entropies, mutual information and what is built of them.

Natural logarithms unless ``base`` says otherwise. Cells that are empty are not stored, so that
0 log 0 never arises. A sum over all cells, clusters or classes is written as its term.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Final

from refclust.data.accepting.trust import items
from refclust.errors import (
    BadDistribution,
    BadOption,
    DimensionMismatch,
    EmptyInput,
    NotFinite,
    TooLarge,
)
from refclust.formulas.contingency import Contingency, Count, refuse_fractions
from refclust.formulas.declared import INFINITY, metric
from refclust.formulas.matching import permuted
from refclust.formulas.undefined import Undefined, ratio
from refclust.numbers.combinatorics import hypergeometric
from refclust.numbers.reading import exact_value, refuse_long, shown
from refclust.numbers.real import Rational, Real, maximum, minimum, real, sqrt, total
from refclust.numbers.reals.decide import MOST_DIGITS
from refclust.numbers.reals.log_terms import Sizes, Term, log, total_of_logs

SIDES: Final = ("clusters", "classes")
AVERAGES: Final = ("geometric", "arithmetic", "min", "max", "joint")
_MOST_BITS: Final = 13_400  # of a count: about 10^4000 and a little more


def entropy(p: Iterable[Rational | str], *, base: Rational | None = None) -> Real:
    """Return −Σ p log p, in nats unless a base is given, with 0 log 0 = 0.

    Defines: IT-ENT

    >>> entropy(["1/2", "1/4", "1/4"]) == 3 * log(2) / 2
    True
    """
    return in_base(total(-share * log(share) for share in _distribution(p) if share), base)


def kl(
    q: Iterable[Rational | str], p: Iterable[Rational | str], *, base: Rational | None = None
) -> Real:
    """Return the divergence KL(q‖p) = Σ q log(q/p); infinite where q has mass and p none.

    Defines: IT-KL

    >>> kl(["1/2", "1/2"], ["1/2", "1/2"]) == 0
    True
    """
    left, right = _distribution(q), _distribution(p)
    if len(left) != len(right):
        raise DimensionMismatch(f"distributions over {len(left)} and {len(right)} values")
    if any(a and not b for a, b in zip(left, right, strict=True)):
        raise Undefined("q has mass where p has none", math.inf)
    return in_base(total(a * log(a / b) for a, b in zip(left, right, strict=True) if a), base)


def joint_mutual_information(
    joint: Sequence[Sequence[Rational | str]], *, base: Rational | None = None
) -> Real:
    """Return the mutual information of a joint distribution given row by row.

    Defines: IT-MI
    Spec: IT-MIKL, CT-EMPIR

    >>> joint_mutual_information([["1/2", 0], [0, "1/2"]]) == log(2)
    True
    """
    table = [
        _items(row, f"row {i}") for i, row in enumerate(_items(joint, "the joint distribution"))
    ]
    shares = _distribution(share for row in table for share in row)
    widths = {len(row) for row in table}
    if len(widths) != 1:
        raise DimensionMismatch(f"the rows have the lengths {sorted(widths)}; they must agree")
    width = widths.pop()
    rows = [shares[start : start + width] for start in range(0, len(shares), width)]
    row_sums = [sum(row) for row in rows]
    col_sums = [sum(column) for column in zip(*rows, strict=True)]
    information = total(
        share * log(share / (row_sums[i] * col_sums[j]))
        for i, row in enumerate(rows)
        for j, share in enumerate(row)
        if share
    )
    return in_base(information, base)


@metric("Entropy of the clusters", range=(0, INFINITY), better="neither", symmetric=False)
def entropy_clusters(table: Contingency, *, base: Rational | None = None) -> Real:
    """Information in knowing the cluster of an object.

    Defines: ENT-C

    >>> entropy_clusters(Contingency.of_rows([[2, 0], [0, 2]]), base=2).fraction
    Fraction(1, 1)
    """
    n = table.total
    # With the minus sign that one source lost (ERR-03).
    entropy = over_clusters(table, lambda n_i: -n_i / n * log(n_i / n))
    return in_base(entropy.named("H(C)", r"H(\mathcal C)"), base)


@metric("Entropy of the classes", range=(0, INFINITY), better="neither", symmetric=False)
def entropy_classes(table: Contingency, *, base: Rational | None = None) -> Real:
    """Information in knowing the class of an object.

    Defines: ENT-T

    >>> entropy_classes(Contingency.of_rows([[2, 0], [0, 2]])) == log(2)
    True
    """
    n = table.total
    entropy = over_classes(table, lambda m_j: -m_j / n * log(m_j / n))
    return in_base(entropy.named("H(T)", r"H(\mathcal T)"), base)


@metric("Joint entropy", range=(0, INFINITY), better="neither", symmetric=True)
def joint_entropy(table: Contingency, *, base: Rational | None = None) -> Real:
    """Information in knowing both the cluster and the class of an object.

    Defines: ENT-JOINT

    >>> joint_entropy(Contingency.of_rows([[1, 1], [1, 1]])) == log(4)
    True
    """
    n = table.total
    joint = over_cells(table, lambda n_ij, *_: -n_ij / n * log(n_ij / n))
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

    Defines: ENT-COND

    >>> conditional_entropy(Contingency.of_rows([[1, 1], [0, 2]])) == log(2) / 2
    True
    """
    n = table.total
    if of == "clusters":
        remaining = over_cells(table, lambda n_ij, _, m_j: -n_ij / n * log(n_ij / m_j))
        return in_base(remaining.named("H(C|T)", r"H(\mathcal C\mid\mathcal T)"), base)
    remaining = over_cells(table, lambda n_ij, n_i, _: -n_ij / n * log(n_ij / n_i))
    return in_base(remaining.named("H(T|C)", r"H(\mathcal T\mid\mathcal C)"), base)


@metric("Mutual information", range=(0, INFINITY), better="higher", symmetric=True, aliases=("mi",))
def mutual_information(table: Contingency, *, base: Rational | None = None) -> Real:
    """Information the clustering carries about the classes.

    Defines: MI-CT

    >>> mutual_information(Contingency.of_rows([[2, 0], [0, 2]])) == log(2)
    True
    """
    n = table.total
    nats = over_cells(table, lambda n_ij, n_i, m_j: n_ij / n * log(n * n_ij / (n_i * m_j)))
    return in_base(nats.named("I", r"I(\mathcal C,\mathcal T)"), base)


@metric(
    "Information ratio",
    range=(0, 1),
    better="higher",
    symmetric=False,
    choices={"of": SIDES},
)
def information_ratio(table: Contingency, *, of: str = "clusters") -> Real:
    """Share of the entropy of one side that the other side explains.

    Defines: NMI-RATIO

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

    Defines: NMI-GEO, NMI-ARI, NMI-MIN, NMI-MAX, NMI-JOINT

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

    Defines: NMI-SG

    >>> float(nmi_strehl_ghosh(Contingency.of_rows([[39, 6, 1], [8, 31, 1], [2, 1, 11]])))
    0.42503627500679453
    """
    n = table.total
    top = over_cells(table, lambda n_ij, n_i, m_j: n_ij * log(n * n_ij / (n_i * m_j)))
    by_cluster = over_clusters(table, lambda n_i: n_i * log(n_i / n))
    by_class = over_classes(table, lambda m_j: m_j * log(m_j / n))
    # Both sums are negative; their product is not.
    return ratio(top, sqrt(by_cluster * by_class), undefined="one side is a single group")


@metric("Homogeneity", range=(0, 1), better="higher", symmetric=False)
def homogeneity(table: Contingency) -> Real:
    """Share of the entropy of the classes that the clusters explain.

    Defines: HOM

    >>> homogeneity(Contingency.of_rows([[1, 0], [1, 0], [0, 1], [0, 1]])).fraction
    Fraction(1, 1)
    """
    if len(table.col) == 1:
        return real(1)  # fixed by the defining paper
    return information_ratio(table, of="classes")


@metric("Completeness", range=(0, 1), better="higher", symmetric=False)
def completeness(table: Contingency) -> Real:
    """Share of the entropy of the clusters that the classes explain.

    Defines: COMPL

    >>> completeness(Contingency.of_rows([[1, 0], [1, 0], [0, 1], [0, 1]])).fraction
    Fraction(1, 2)
    """
    if len(table.row) == 1:
        return real(1)  # fixed by the defining paper
    return information_ratio(table, of="clusters")


@metric("V-measure", range=(0, 1), better="higher", symmetric=True)
def v_measure(table: Contingency, *, beta: Rational = 1) -> Real:
    """Weighted harmonic mean of homogeneity and completeness.

    Defines: V-BETA

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

    Defines: VI

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

    Defines: VI-NORM

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

    Defines: NID

    >>> normalized_information_distance(Contingency.of_rows([[2, 0], [0, 2]])).fraction
    Fraction(0, 1)
    """
    larger = mean_entropy(table, "max")
    return ratio(
        larger - mutual_information(table),
        larger,
        undefined="all objects are in one cluster and one class",
    )


def expected_mutual_information(table: Contingency, *, base: Rational | None = None) -> Real:
    """Mean mutual information over all permutations of the labels.

    Defines: EMI

    >>> expected_mutual_information(Contingency.of_rows([[1, 1], [1, 1]])) == log(2) / 3
    True
    """
    refuse_fractions(table)
    n = int(table.total)
    expected = total(
        Fraction(t, n) * log(Fraction(n * t, n_i * m_j)) * hypergeometric(n_i, m_j, n, t)
        for n_i in map(int, table.row)
        for m_j in map(int, table.col)
        for t in range(max(1, n_i + m_j - n), min(n_i, m_j) + 1)
    )
    return in_base(expected.named("E[I]", r"\mathrm E[I]"), base)


def standardized_mutual_information(table: Contingency) -> Real:
    """By how many standard deviations mutual information exceeds its mean over permuted labels.

    Defines: SMI

    >>> standardized_mutual_information(Contingency.of_rows([[2, 0], [0, 2]])) == sqrt(2)
    True
    """
    law = [(mutual_information(other), chance) for other, chance in permuted(table)]
    mean = total(chance * value for value, chance in law)
    if all(value == law[0][0] for value, _ in law):
        raise Undefined("0/0: every permutation of the labels gives the same")
    variance = total(chance * (value - mean) ** 2 for value, chance in law)
    return (mutual_information(table) - mean) / sqrt(variance)


def ami(table: Contingency, *, average: str = "arithmetic") -> Real:
    """Mutual information, rescaled so that chance gives 0 and the mean entropy gives 1.

    Defines: AMI

    >>> ami(Contingency.of_rows([[1, 1], [1, 1]])).fraction
    Fraction(-1, 2)
    """
    expected = expected_mutual_information(table)
    return ratio(
        mutual_information(table) - expected,
        mean_entropy(table, average) - expected,
        undefined="mutual information, its mean and its bound are all the same",
    )


# What several clauses share.


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


def over_cells(table: Contingency, term: Term) -> Real:
    """Return the sum over all cells of a term in n_ij, n_i and m_j.

    Spec: CT-EMPIR

    >>> table = Contingency.of_rows([[2, 1], [0, 1]])
    >>> over_cells(table, lambda n_ij, n_i, m_j: n_ij * log(n_i / m_j)) == log(Fraction(27, 16))
    True
    """
    return _added(
        table,
        term,
        lambda: ((n_ij, table.row[i], table.col[j]) for (i, j), n_ij in table.cells()),
        [lambda: table.sizes, lambda: Counter(table.row), lambda: Counter(table.col)],
    )


def over_clusters(table: Contingency, term: Term) -> Real:
    """Return the sum over all clusters of a term in n_i.

    Spec: CT-EMPIR

    >>> over_clusters(Contingency.of_rows([[2, 1], [0, 2]]), lambda n_i: n_i * log(n_i)) == log(108)
    True
    """
    return _added(table, term, lambda: ((n_i,) for n_i in table.row), [lambda: Counter(table.row)])


def over_classes(table: Contingency, term: Term) -> Real:
    """Return the sum over all classes of a term in m_j.

    Spec: CT-EMPIR

    >>> over_classes(Contingency.of_rows([[2, 1], [0, 2]]), lambda m_j: m_j * log(m_j)) == log(108)
    True
    """
    return _added(table, term, lambda: ((m_j,) for m_j in table.col), [lambda: Counter(table.col)])


def _added(
    table: Contingency,
    term: Term,
    rows: Callable[[], Iterable[Sequence[Count]]],
    sizes: Sequence[Sizes],
) -> Real:
    """Add a term up: by distinct counts where they are whole, else as it is written."""
    if not table.is_integer:
        return total(term(*map(Fraction, row)) for row in rows())
    refuse_huge(table)
    return total_of_logs(term, rows, sizes, int(table.total))


def refuse_huge(table: Contingency) -> None:
    """Refuse counts so large that the digits worked out do not settle the logarithms."""
    if int(table.total).bit_length() > _MOST_BITS:
        raise TooLarge(
            f"the information in {shown(int(table.total))} objects is not settled within the "
            f"{MOST_DIGITS:,} digits that are worked out; counts go up to 10^4000"
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


def _distribution(values: Iterable[Rational | str]) -> list[Fraction]:
    shares = []
    for position, value in enumerate(_items(values, "the distribution")):
        share = exact_value(value, f"probability {position}")
        if share is None:
            if _is_not_finite(value):
                raise NotFinite(f"probability {position} is {shown(value)}; it must be finite")
            raise BadDistribution(f"probability {position} is {shown(value)}, not a number")
        if share < 0:
            raise BadDistribution(
                f"probability {position} is {shown(share)}; it must not be negative"
            )
        shares.append(share)
    refuse_long(shares, "exact arithmetic with these probabilities")
    if not shares:
        raise EmptyInput("a distribution without outcomes")
    if sum(shares) != 1:
        raise BadDistribution(
            f"the {len(shares)} probabilities add up to {shown(sum(shares))}, not to 1; "
            "give exact numbers, fractions such as '1/3' for instance"
        )
    return shares


def _items(numbers: Any, what: str) -> list[Any]:
    """What a caller gave as a sequence, the arrays of other libraries as lists."""
    plain = numbers.tolist() if hasattr(numbers, "tolist") else numbers
    return items(plain, lambda: BadDistribution(f"{what} is {shown(numbers)}, not a sequence"))


def _is_not_finite(value: Rational | str) -> bool:
    try:
        return not math.isfinite(float(value))
    except (ValueError, TypeError):
        return False
