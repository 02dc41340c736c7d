"""Chapter 42: pairs of objects, together or apart in clusters and in classes.

``pairs="unordered"`` counts the n(n−1)/2 pairs of different objects; ``pairs="ordered"`` counts all
n² pairs, each object with itself included, as one of the sources does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Final, NamedTuple

from refclust.errors import BadOption
from refclust.formulas.contingency import Contingency, Count, refuse_fractions
from refclust.formulas.declared import INFINITY, metric
from refclust.formulas.matching import adjusted, expected
from refclust.formulas.memberships import Memberships, TwoMemberships
from refclust.formulas.undefined import Undefined, ratio
from refclust.formulas.vectors import Exact, absolute, total
from refclust.numbers.reading import shown
from refclust.numbers.real import Rational, Real, real, sqrt

UNORDERED: Final = "unordered"
CONVENTION: Final = {"pairs": (UNORDERED, "ordered")}
SIDES: Final = ("clusters", "classes")
_COUNTS: Final = "pairs=ordered"  # with this option fractional counts make sense


def same_cluster(labels: Sequence[Hashable], i: int, j: int) -> int:
    """Return 1 if two objects carry the same label, else 0.

    Defines: PC-IND

    >>> same_cluster(["a", "b", "a"], 0, 2)
    1
    """
    return int(labels[i] == labels[j])


def number_of_pairs(n: int) -> int:
    """The pairs of different objects, each taken once.

    Defines: PC-NPAIRS

    >>> number_of_pairs(5)
    10
    """
    return n * (n - 1) // 2


def unordered_pairs(table: Contingency) -> PairCounts:
    """The pairs of different objects together in both, in clusters or classes only, in neither.

    Defines: PC-UNORD

    >>> [int(x) for x in map(float, unordered_pairs(Contingency.of_rows([[2, 1], [0, 2]])))]
    [2, 2, 2, 4]
    """
    refuse_fractions(
        table, "unordered pairs can only be counted with whole weights; use pairs='ordered'"
    )
    tp, p, q, n = _together(table, lambda count: number_of_pairs(int(count)))
    fp, fn = p - tp, q - tp
    return _named(("TP", "FP", "FN", "TN"), (tp, fp, fn, n - tp - fp - fn))


def ordered_pairs(table: Contingency) -> PairCounts:
    """All n² pairs, each object with itself too: together in both, in one only, in neither.

    Defines: PC-ORD

    >>> [int(x) for x in map(float, ordered_pairs(Contingency.of_rows([[2, 1], [0, 2]])))]
    [9, 4, 4, 8]
    """
    ss, p, q, n = _together(table, lambda count: count * count)
    return _named(("SS", "SD", "DS", "DD"), (ss, p - ss, q - ss, n - p - q + ss))


def pair_metric(
    coefficient: Callable[[Rational, Rational, Rational, Rational], Real | Rational],
    table: Contingency,
    *,
    pairs: str = UNORDERED,
) -> Real:
    """Apply any coefficient of a 2×2 table (tp, fp, fn, tn) to the pairs of a clustering.

    Defines: PAIR-OP

    >>> from fractions import Fraction
    >>> hamann = lambda a, b, c, d: Fraction(a + d - b - c, a + b + c + d)
    >>> pair_metric(hamann, Contingency.of_rows([[2, 1], [0, 2]]))
    Real('1/5')
    """
    tallies = [counted.fraction for counted in pair_counts(table, pairs=pairs)]
    tp, fp, fn, tn = (tally for tally in tallies if tally is not None)
    try:
        return real(coefficient(tp, fp, fn, tn))
    except ZeroDivisionError:
        raise Undefined("the coefficient divides by zero on these pair counts") from None


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

    Defines: RAND

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

    Defines: JAC

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

    Defines: PC-PREC

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

    Defines: PC-REC

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

    Defines: PC-F

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

    Defines: FM

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

    Defines: HUB-COS

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

    Defines: HUB-STAT

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

    Defines: HUB-NORM

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
    "Adjusted Rand index",
    range=(-0.5, 1),
    better="higher",
    symmetric=True,
    integer=True,
    aliases=("ari", "adjusted_rand_index"),
)
def adjusted_rand(table: Contingency) -> Real:
    """Rand index corrected for chance, with the group sizes fixed (Hubert and Arabie).

    Defines: ARI

    >>> adjusted_rand(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('1/6')
    """
    tp, fp, fn, tn = pair_counts(table)
    return ratio(
        2 * (tp * tn - fn * fp),
        (tp + fn) * (fn + tn) + (tp + fp) * (fp + tn),
        undefined="both partitions are one group, or both are all singletons",
    )


@metric(
    "Adjusted Fowlkes–Mallows index",
    range=(-INFINITY, 1),
    better="higher",
    symmetric=True,
    integer=True,
    aliases=("afm",),
)
def adjusted_fowlkes_mallows(table: Contingency) -> Real:
    """Fowlkes–Mallows index corrected for chance, with the group sizes fixed.

    Defines: FM-ADJ

    >>> adjusted_fowlkes_mallows(Contingency.of_rows([[2, 1], [0, 2]])).fraction
    Fraction(1, 6)
    """
    c = pair_counts(table)
    n, p, q = c.all, c.in_clusters, c.in_classes
    root = sqrt(p * q)
    return ratio(
        n * c.tp - p * q,
        root * (n - root),
        undefined="one side keeps no pair together, or both keep all",
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

    Defines: WAL

    >>> wallace(Contingency.of_rows([[3, 1], [0, 2]]), given="classes")
    Real('2/3')
    """
    if given == "clusters":
        return pair_precision(table, pairs=pairs)
    return pair_recall(table, pairs=pairs)


@metric(
    "Adjusted Wallace coefficient",
    range=(-INFINITY, 1),
    better="higher",
    symmetric=False,
    integer=True,
    choices={"given": SIDES},
)
def adjusted_wallace(table: Contingency, *, given: str = "clusters") -> Real:
    """Wallace coefficient corrected for chance, with the group sizes fixed.

    Defines: WAL-ADJ

    >>> adjusted_wallace(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('1/6')
    """
    c = pair_counts(table)
    n, p, q = c.all, c.in_clusters, c.in_classes
    kept, other = (p, q) if given == "clusters" else (q, p)
    return ratio(
        n * c.tp - p * q,
        kept * (n - other),
        undefined="the given side keeps no pair together, or the other keeps all",
    )


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

    Defines: KULC

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

    Defines: ROGTAN

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

    Defines: SOKSN1

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

    Defines: SOKSN2

    >>> sokal_sneath_2(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('3/4')
    """
    c = pair_counts(table, pairs=pairs)
    agree = 2 * (c.tp + c.tn)
    return ratio(agree, agree + c.fp + c.fn, undefined="there is no pair of objects")


@metric("Mirkin distance", range=(0, INFINITY), better="lower", symmetric=True)
def mirkin(table: Contingency) -> Real:
    """Number of ordered pairs on which clusters and classes disagree.

    Defines: MIRKIN

    >>> mirkin(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('8')
    """
    c = pair_counts(table, pairs="ordered")
    return c.fp + c.fn


def adjusted_jaccard(table: Contingency) -> Real:
    """Jaccard coefficient of pairs, rescaled so that its mean over all permutations becomes 0.

    Defines: JAC-ADJ

    >>> adjusted_jaccard(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('1/15')
    """
    return adjusted(jaccard(table), expected(jaccard, table))


@metric(
    "Pair F-measure corrected for chance",
    range=(-0.5, 1),
    better="higher",
    symmetric=True,
    integer=True,
)
def adjusted_pair_f(table: Contingency) -> Real:
    """Pair F-measure corrected for chance; it *is* the adjusted Rand index.

    F = 2TP/(p + q), and the group sizes fix p + q, so E[F] = 2E[TP]/(p + q) with E[TP] = pq/N.

    Defines: PC-FADJ

    >>> adjusted_pair_f(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('1/6')
    """
    c = pair_counts(table)
    n, p, q = c.all, c.in_clusters, c.in_classes
    return ratio(
        2 * (n * c.tp - p * q),
        n * (p + q) - 2 * p * q,
        undefined="both partitions are one group, or both are all singletons",
    )


# What several clauses share.


class PairCounts(NamedTuple):
    """The 2×2 table of pairs: together in both, only in clusters, only in classes, in neither."""

    tp: Real
    fp: Real
    fn: Real
    tn: Real

    @property
    def all(self) -> Real:
        """Every pair."""
        return (self.tp + self.fp + self.fn + self.tn).named("N")

    @property
    def in_clusters(self) -> Real:
        """Pairs together in the clustering."""
        return (self.tp + self.fp).named("p")

    @property
    def in_classes(self) -> Real:
        """Pairs together in the classes."""
        return (self.tp + self.fn).named("q")


def pair_counts(table: Contingency, *, pairs: str = UNORDERED) -> PairCounts:
    """Count the pairs of objects that clusters and classes keep together or apart.

    Spec: PC-UNORD, PC-ORD, CONV-PAIRS

    >>> [int(x) for x in map(float, pair_counts(Contingency.of_rows([[2, 1], [0, 2]])))]
    [2, 2, 2, 4]
    """
    return unordered_pairs(table) if pairs == UNORDERED else ordered_pairs(table)


def _together(table: Contingency, count: Callable[[Count], Count]) -> tuple[Count, ...]:
    """Return the pairs together in both, in clusters, in classes, and all pairs."""
    both = sum(times * count(n_ij) for n_ij, times in table.sizes.items())
    return both, sum(map(count, table.row)), sum(map(count, table.col)), count(table.total)


def _named(names: Sequence[str], counts: Sequence[Count]) -> PairCounts:
    return PairCounts(*(real(c).named(name) for c, name in zip(counts, names, strict=True)))


# -- fuzzy clusters -------------------------------------------------------------------------


def sameness(memberships: Memberships, i: int, j: int) -> Exact:
    """How far two objects have the same shares: 1 if all are equal, 0 if no cluster has both.

    Defines: PC-SAME

    >>> sameness(Memberships.of([[1, 0], [0.5, 0.5]]), 0, 1)
    Fraction(1, 2)
    """
    x, y = (normalized(memberships.shares[o]) for o in (i, j))
    return 1 - total(absolute(a - b) for a, b in zip(x, y, strict=True)) / 2


@metric(
    "Soft Rand index",
    evidence="two_memberships",
    range=(0, 1),
    better="higher",
    symmetric=True,
    integer=True,
    aliases=("fuzzy_rand",),
)
def soft_rand(two: TwoMemberships) -> Real:
    """One less the mean difference of what two fuzzy clusterings say about a pair of objects.

    Defines: RAND-SOFT

    >>> soft_rand(TwoMemberships.of([[1, 0], [0.5, 0.5]], [[1, 0], [0, 1]])).fraction
    Fraction(1, 2)
    """
    pairs = weighted_pairs(two)
    gaps = total(w * absolute(x - y) for w, x, y in pairs)
    share = ratio(gaps, total(w for w, _, _ in pairs), undefined="there is no pair of objects")
    return (1 - share).named("R")


@metric(
    "Soft adjusted Rand index",
    evidence="two_memberships",
    range=(-INFINITY, 1),
    better="higher",
    symmetric=True,
    integer=True,
    aliases=("fuzzy_adjusted_rand", "adjusted_concordance"),
)
def soft_adjusted_rand(two: TwoMemberships) -> Real:
    """The soft Rand index, adjusted for its mean over all permutations of the objects.

    Defines: ARI-SOFT

    >>> hard = TwoMemberships.of([[1, 0], [1, 0], [0, 1]], [[1, 0], [0, 1], [0, 1]])
    >>> soft_adjusted_rand(hard).fraction  # as of the labels 0, 0, 1 and 0, 1, 1
    Fraction(-1, 2)
    """
    pairs = weighted_pairs(two)
    rand = soft_rand(two)
    first, second = [(w, x) for w, x, _ in pairs], [(w, y) for w, _, y in pairs]
    by_chance = (1 - mean_gap(first, second)).named("E")
    return ratio(rand - by_chance, 1 - by_chance, undefined="all pairs are alike on both sides")


def weighted_pairs(two: TwoMemberships) -> list[tuple[Count, Exact, Exact]]:
    """Every pair of different objects: how often it counts, and both of its samenesses.

    Spec: RAND-SOFT

    >>> weighted_pairs(TwoMemberships.of([[1], [1]], [[1, 0], [0, 1]], [1, 2]))
    [(2, Fraction(1, 1), Fraction(0, 1)), (1, Fraction(1, 1), Fraction(1, 1))]
    """
    weight, n = two.first.weight, two.n
    pairs: list[tuple[Count, Exact, Exact]] = [
        (weight(i) * weight(j), sameness(two.first, i, j), sameness(two.second, i, j))
        for i in range(n)
        for j in range(i + 1, n)
    ]
    alike = sum(number_of_pairs(int(weight(i))) for i in range(n))  # copies of one object
    return [*pairs, (alike, Fraction(1), Fraction(1))] if alike else pairs


def mean_gap(first: Sequence[tuple[Count, Exact]], second: Sequence[tuple[Count, Exact]]) -> Real:
    """The mean distance of a number of one list from one of the other; weights stand before.

    Spec: ARI-SOFT

    >>> mean_gap([(1, Fraction(0)), (1, Fraction(1))], [(3, Fraction(0))]).fraction
    Fraction(1, 2)
    """
    everything = sum(w for w, _ in first) * sum(w for w, _ in second)
    steps = sorted([(x, w, 0) for w, x in first] + [(y, 0, w) for w, y in second])
    below_first = accumulate(w for _, w, _ in steps)
    below_second = accumulate(w for _, _, w in steps)
    ends = [x for x, _, _ in steps]
    n, m = (sum(w for w, _ in side) for side in (first, second))
    # Between two neighbours the distance runs over those with one number on either side.
    gaps = total(
        (high - low) * (f * (m - g) + g * (n - f))
        for low, high, f, g in zip(ends, ends[1:], below_first, below_second, strict=False)
    )
    return real(gaps / everything)


def normalized(shares: Sequence[Exact]) -> list[Exact]:
    """The shares of an object, divided by their sum.

    Spec: PC-SAME

    >>> normalized([Fraction(1), Fraction(3)])
    [Fraction(1, 4), Fraction(3, 4)]
    """
    whole = total(shares)
    if whole == 0:
        raise Undefined("0/0: an object has no share in any cluster")
    return [share / whole for share in shares]
