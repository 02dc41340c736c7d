"""Metrics that count pairs of objects, together or apart in clusters and in classes (42)."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from refclust.errors import BadOption
from refclust.metrics.catalogue import INFINITY, metric
from refclust.metrics.contingency import Contingency
from refclust.metrics.pairs_counts import UNORDERED, pair_counts
from refclust.metrics.undefined import ratio
from refclust.numbers.reading import shown
from refclust.numbers.real import Rational, Real, sqrt

CONVENTION: Final = {"pairs": (UNORDERED, "ordered")}
SIDES: Final = ("clusters", "classes")
_COUNTS: Final = "pairs=ordered"  # with this option fractional counts make sense


@metric(
    "Rand index",
    range=(0, 1),
    better="higher",
    symmetric=True,
    integer=_COUNTS,
    aliases=("rand_index",),
    choices=CONVENTION,
)
def rand(table: Contingency, *, pairs: str = UNORDERED) -> Real:
    """Share of the pairs on which clusters and classes agree.

    Spec: RAND

    >>> rand(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('3/5')
    """
    c = pair_counts(table, pairs=pairs)
    return ratio(c.tp + c.tn, c.all, undefined="there is no pair of objects")


@metric(
    "Jaccard coefficient of pairs",
    range=(0, 1),
    better="higher",
    symmetric=True,
    integer=_COUNTS,
    aliases=("pair_jaccard",),
    choices=CONVENTION,
)
def jaccard(table: Contingency, *, pairs: str = UNORDERED) -> Real:
    """Share of the pairs kept together in both among those kept together in either.

    Spec: JAC

    >>> jaccard(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('1/3')
    """
    c = pair_counts(table, pairs=pairs)
    return ratio(c.tp, c.tp + c.fp + c.fn, undefined="no pair is together in either partition")


@metric(
    "Pair precision",
    range=(0, 1),
    better="higher",
    symmetric=False,
    integer=_COUNTS,
    choices=CONVENTION,
)
def pair_precision(table: Contingency, *, pairs: str = UNORDERED) -> Real:
    """Share of the pairs together in a cluster that are together in a class.

    Spec: PC-PREC

    >>> pair_precision(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('1/2')
    """
    c = pair_counts(table, pairs=pairs)
    return ratio(c.tp, c.in_clusters, undefined="no cluster holds two objects")


@metric(
    "Pair recall",
    range=(0, 1),
    better="higher",
    symmetric=False,
    integer=_COUNTS,
    choices=CONVENTION,
)
def pair_recall(table: Contingency, *, pairs: str = UNORDERED) -> Real:
    """Share of the pairs together in a class that are together in a cluster.

    Spec: PC-REC

    >>> pair_recall(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('1/2')
    """
    c = pair_counts(table, pairs=pairs)
    return ratio(c.tp, c.in_classes, undefined="no class holds two objects")


@metric(
    "Pair F-measure",
    range=(0, 1),
    better="higher",
    symmetric=True,
    integer=_COUNTS,
    aliases=("czekanowski_dice",),
    choices=CONVENTION,
)
def pair_f(table: Contingency, *, beta: Rational = 1, pairs: str = UNORDERED) -> Real:
    """Weighted harmonic mean of pair precision and pair recall, from the counts.

    Spec: PC-F

    >>> pair_f(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('1/2')
    """
    if beta < 0:
        raise BadOption(f"pair_f: beta={shown(beta)} must not be negative")
    c, b = pair_counts(table, pairs=pairs), Fraction(beta) ** 2
    hits = (1 + b) * c.tp
    return ratio(hits, hits + b * c.fn + c.fp, undefined="no pair is together in either partition")


@metric(
    "Fowlkes–Mallows index",
    range=(0, 1),
    better="higher",
    symmetric=True,
    integer=_COUNTS,
    aliases=("fm",),
    choices=CONVENTION,
)
def fowlkes_mallows(table: Contingency, *, pairs: str = UNORDERED) -> Real:
    """Geometric mean of pair precision and pair recall.

    Spec: FM

    >>> fowlkes_mallows(Contingency.of_rows([[2, 1], [0, 2]])).fraction
    Fraction(1, 2)
    """
    c = pair_counts(table, pairs=pairs)
    return ratio(
        c.tp, sqrt(c.in_clusters * c.in_classes), undefined="one side keeps no pair together"
    )


@metric(
    "Hubert: cosine of the pair indicators",
    range=(0, 1),
    better="higher",
    symmetric=True,
    integer=_COUNTS,
    choices=CONVENTION,
)
def hubert_cosine(table: Contingency, *, pairs: str = UNORDERED) -> Real:
    """Cosine of the angle between the two vectors of pair indicators.

    Spec: HUB-COS

    >>> hubert_cosine(Contingency.of_rows([[2, 1], [0, 2]]), pairs="ordered").fraction
    Fraction(9, 13)
    """
    # Indicators are their own squares: the lengths of the vectors are √p and √q.
    c = pair_counts(table, pairs=pairs)
    lengths = sqrt(c.in_clusters) * sqrt(c.in_classes)
    return ratio(c.tp, lengths, undefined="one of the indicator vectors is zero")


@metric(
    "Hubert's raw statistic",
    range=(0, 1),
    better="higher",
    symmetric=True,
    integer=_COUNTS,
    aliases=("russel_rao",),
    choices=CONVENTION,
)
def hubert_raw(table: Contingency, *, pairs: str = UNORDERED) -> Real:
    """Share of all pairs that both partitions keep together.

    Spec: HUB-STAT

    >>> hubert_raw(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('1/5')
    """
    c = pair_counts(table, pairs=pairs)
    return ratio(c.tp, c.all, undefined="there is no pair of objects")


@metric(
    "Hubert's normalised statistic",
    range=(-1, 1),
    better="higher",
    symmetric=True,
    integer=_COUNTS,
    aliases=("pair_phi", "pair_mcc"),
    choices=CONVENTION,
)
def hubert_normalized(table: Contingency, *, pairs: str = UNORDERED) -> Real:
    """Pearson correlation of the two vectors of pair indicators.

    Spec: HUB-NORM

    >>> hubert_normalized(Contingency.of_rows([[2, 1], [0, 2]])).fraction
    Fraction(1, 6)
    """
    c = pair_counts(table, pairs=pairs)
    n, p, q = c.all, c.in_clusters, c.in_classes
    return ratio(
        n * c.tp - p * q,
        sqrt(p * q * (n - p) * (n - q)),
        undefined="one partition keeps all pairs together or all apart",
    )


@metric(
    "Wallace coefficient",
    range=(0, 1),
    better="higher",
    symmetric=False,
    integer=_COUNTS,
    choices={"given": SIDES, **CONVENTION},
)
def wallace(table: Contingency, *, given: str = "clusters", pairs: str = UNORDERED) -> Real:
    """Chance that a pair together on the given side is together on the other side too.

    Spec: WAL

    >>> wallace(Contingency.of_rows([[3, 1], [0, 2]]), given="classes")
    Real('2/3')
    """
    if given == "clusters":
        return pair_precision(table, pairs=pairs)
    return pair_recall(table, pairs=pairs)


@metric(
    "Kulczynski coefficient of pairs",
    range=(0, 1),
    better="higher",
    symmetric=True,
    integer=_COUNTS,
    choices=CONVENTION,
)
def kulczynski(table: Contingency, *, pairs: str = UNORDERED) -> Real:
    """Arithmetic mean of pair precision and pair recall.

    Spec: KULC

    >>> kulczynski(Contingency.of_rows([[3, 1], [0, 2]]))
    Real('13/21')
    """
    c = pair_counts(table, pairs=pairs)
    p, q = c.in_clusters, c.in_classes
    return ratio(c.tp * (p + q), 2 * p * q, undefined="one side keeps no pair together")


@metric(
    "Rogers–Tanimoto coefficient of pairs",
    range=(0, 1),
    better="higher",
    symmetric=True,
    integer=_COUNTS,
    choices=CONVENTION,
)
def rogers_tanimoto(table: Contingency, *, pairs: str = UNORDERED) -> Real:
    """Rand index in which a disagreement counts twice.

    Spec: ROGTAN

    >>> rogers_tanimoto(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('3/7')
    """
    c = pair_counts(table, pairs=pairs)
    agree = c.tp + c.tn
    return ratio(agree, agree + 2 * (c.fp + c.fn), undefined="there is no pair of objects")


@metric(
    "Sokal–Sneath coefficient 1 of pairs",
    range=(0, 1),
    better="higher",
    symmetric=True,
    integer=_COUNTS,
    choices=CONVENTION,
)
def sokal_sneath_1(table: Contingency, *, pairs: str = UNORDERED) -> Real:
    """Jaccard coefficient in which a disagreement counts twice.

    Spec: SOKSN1

    >>> sokal_sneath_1(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('1/5')
    """
    c = pair_counts(table, pairs=pairs)
    return ratio(
        c.tp, c.tp + 2 * (c.fp + c.fn), undefined="no pair is together in either partition"
    )


@metric(
    "Sokal–Sneath coefficient 2 of pairs",
    range=(0, 1),
    better="higher",
    symmetric=True,
    integer=_COUNTS,
    choices=CONVENTION,
)
def sokal_sneath_2(table: Contingency, *, pairs: str = UNORDERED) -> Real:
    """Rand index in which an agreement counts twice.

    Spec: SOKSN2

    >>> sokal_sneath_2(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('3/4')
    """
    c = pair_counts(table, pairs=pairs)
    agree = 2 * (c.tp + c.tn)
    return ratio(agree, agree + c.fp + c.fn, undefined="there is no pair of objects")


@metric("Mirkin distance", range=(0, INFINITY), better="lower", symmetric=True)
def mirkin(table: Contingency) -> Real:
    """Number of ordered pairs on which clusters and classes disagree.

    Spec: MIRKIN

    >>> mirkin(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('8')
    """
    c = pair_counts(table, pairs="ordered")
    return c.fp + c.fn
