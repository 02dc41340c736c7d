"""Pair metrics corrected for chance, with the sizes of all groups fixed (chapter 42)."""

from __future__ import annotations

from fractions import Fraction

from refclust.errors import TooLarge
from refclust.metrics.catalogue import INFINITY, metric
from refclust.metrics.chance import SAMPLES, SEED, Estimate, adjusted, estimated
from refclust.metrics.contingency import Contingency
from refclust.metrics.pairs import SIDES, jaccard
from refclust.metrics.pairs_counts import pair_counts
from refclust.metrics.undefined import ratio
from refclust.numbers.combinatorics import pairs, table_statistics
from refclust.numbers.real import Rational, Real, sqrt


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

    Spec: ARI

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

    Spec: FM-ADJ

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
    "Adjusted Wallace coefficient",
    range=(-INFINITY, 1),
    better="higher",
    symmetric=False,
    integer=True,
    choices={"given": SIDES},
)
def adjusted_wallace(table: Contingency, *, given: str = "clusters") -> Real:
    """Wallace coefficient corrected for chance, with the group sizes fixed.

    Spec: WAL-ADJ

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
    "Pair F-measure corrected for chance",
    range=(-0.5, 1),
    better="higher",
    symmetric=True,
    integer=True,
)
def adjusted_pair_f(table: Contingency) -> Real:
    """Pair F-measure corrected for chance; it *is* the adjusted Rand index.

    F = 2TP/(p + q), and the group sizes fix p + q, so E[F] = 2E[TP]/(p + q) with E[TP] = pq/N.

    Spec: PC-FADJ

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
