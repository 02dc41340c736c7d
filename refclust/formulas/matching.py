"""Chapter 41: matching. Purity, F-measures, matchings, BCubed, and the adjustment for chance."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from refclust.formulas.contingency import Contingency, Count, refuse_fractions
from refclust.formulas.declared import INFINITY, metric
from refclust.formulas.undefined import ratio
from refclust.numbers.assignment import best_matching
from refclust.numbers.combinatorics import pairs, tables_with_margins
from refclust.numbers.real import Rational, Real, real, total

Matching = tuple[tuple[int, int], ...]


def cluster_purity(table: Contingency) -> tuple[Real, ...]:
    """Share of each cluster that belongs to its largest class; also its precision.

    Defines: PUR-I, XM-PREC

    >>> cluster_purity(Contingency.of_rows([[2, 1], [0, 2]]))
    (Real('2/3'), Real('1'))
    """
    return tuple(real(table.counts[i, j]) / table.row[i] for i, j in _largest_classes(table))


@metric("Purity", range=(0, 1), better="higher", symmetric=False)
def purity(table: Contingency) -> Real:
    """Share of objects that belong to the largest class of their cluster.

    Defines: PUR

    >>> purity(Contingency.of_rows([[5, 1, 0], [1, 4, 1], [2, 0, 3]]))
    Real('12/17')
    """
    return _sum_of_largest(table) / table.total


@metric("Inverse purity", range=(0, 1), better="higher", symmetric=False)
def inverse_purity(table: Contingency) -> Real:
    """Share of objects that belong to the largest cluster of their class.

    Defines: PUR-INV

    >>> inverse_purity(Contingency.of_rows([[2, 0, 1], [0, 2, 1]]))
    Real('5/6')
    """
    return _sum_of_largest(table.transposed(), "Σ_j max_i n_ij") / table.total


@metric("F-measure of purity and inverse purity", range=(0, 1), better="higher", symmetric=True)
def purity_f(table: Contingency) -> Real:
    """Harmonic mean of purity and inverse purity.

    Defines: PUR-F

    >>> purity_f(Contingency.of_rows([[2, 0, 1], [0, 2, 1]]))
    Real('20/27')
    """
    p = purity(table).named("P")
    q = inverse_purity(table).named("Q")
    return 2 * p * q / (p + q)


def cluster_recall(table: Contingency) -> tuple[Real, ...]:
    """Share of its largest class that each cluster holds.

    Defines: XM-REC

    >>> cluster_recall(Contingency.of_rows([[2, 1], [0, 2]]))
    (Real('1'), Real('2/3'))
    """
    # The class size m_j, not the cluster size n_j that one source prints (ERR-07).
    return tuple(real(table.counts[i, j]) / table.col[j] for i, j in _largest_classes(table))


def cluster_f(table: Contingency) -> tuple[Real, ...]:
    """F of each cluster with its largest class: twice their overlap over both sizes.

    Defines: XM-FI

    >>> cluster_f(Contingency.of_rows([[2, 1], [0, 2]]))
    (Real('4/5'), Real('4/5'))
    """
    return tuple(
        real(2 * table.counts[i, j]) / (table.row[i] + table.col[j])
        for i, j in _largest_classes(table)
    )


@metric("Cluster F-measure, mean over clusters", range=(0, 1), better="higher", symmetric=False)
def f_macro(table: Contingency) -> Real:
    """Mean over the clusters of their F with their largest class.

    Defines: XM-F

    >>> f_macro(Contingency.of_rows([[50, 100, 0], [10, 1000, 50], [100, 90, 150]]))
    Real('961/1809')
    """
    return total(cluster_f(table)).named("Σ_i F_i") / len(table.row)


@metric("Cluster F-measure, weighted by class", range=(0, 1), better="higher", symmetric=False)
def f_measure(table: Contingency) -> Real:
    """Mean over the classes, by size, of their best F with any cluster.

    Defines: XM-FCLASS

    >>> f_measure(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('4/5')
    """
    best: list[Fraction] = [Fraction()] * len(table.col)
    for (i, j), n_ij in table.cells():
        best[j] = max(best[j], Fraction(2 * n_ij) / (table.row[i] + table.col[j]))
    return total(m_j * f_j for m_j, f_j in zip(table.col, best, strict=True)) / table.total


def optimal_matching(table: Contingency) -> Matching:
    """Return pairs (cluster, class) that match the most objects one to one.

    Spec: MATCH, MATCH-HUNG

    >>> optimal_matching(Contingency.of_rows([[50, 100, 0], [10, 1000, 50], [100, 90, 150]]))
    ((0, 0), (1, 1), (2, 2))
    """
    return _matching_by(table.counts)


@metric(
    "Accuracy under the best one-to-one matching",
    range=(0, 1),
    better="higher",
    symmetric=True,
    cost="table",
    aliases=("clustering_accuracy", "acc"),
    matching=optimal_matching,
)
def matching_accuracy(table: Contingency) -> Real:
    """Share of objects in the cells of the best one-to-one matching.

    Defines: MATCH, CLACC

    >>> matching_accuracy(Contingency.of_rows([[50, 100, 0], [10, 1000, 50], [100, 90, 150]]))
    Real('24/31')
    """
    matched = total(table.counts[cell] for cell in optimal_matching(table))
    return matched.named("max_f Σ_i n_if(i)", r"\max_f\sum_i n_{i,f(i)}") / table.total


def recall_matching(table: Contingency) -> Matching:
    """Return pairs (cluster, class) with the greatest sum of recalls n_ij/m_j.

    Spec: NCA

    >>> recall_matching(Contingency.of_rows([[3, 1], [2, 1]]))
    ((0, 0), (1, 1))
    """
    return _matching_by({(i, j): Fraction(n) / table.col[j] for (i, j), n in table.cells()})


@metric(
    "Normalised clustering accuracy",
    range=(-INFINITY, 1),
    better="higher",
    symmetric=False,
    cost="table",
    aliases=("normalized_clustering_accuracy",),
    matching=recall_matching,
)
def nca(table: Contingency) -> Real:
    """Mean recall of the classes under the best matching, rescaled so that 1/k becomes 0.

    Defines: NCA

    >>> nca(Contingency.of_rows([[3, 1], [1, 3]]))
    Real('1/2')
    """
    matched = recall_matching(table)
    recalls = total(real(table.counts[i, j]) / table.col[j] for i, j in matched)
    return ratio(recalls.named("M") - 1, len(table.col) - 1, undefined="there is only one class")


@metric(
    "Normalised pivoted accuracy",
    range=(0, 1),
    better="higher",
    symmetric=True,
    cost="table",
    aliases=("normalized_pivoted_accuracy",),
    matching=optimal_matching,
)
def npa(table: Contingency) -> Real:
    """Matching accuracy, rescaled so that 1/K becomes 0, with K the larger number of groups.

    Defines: NPA

    >>> npa(Contingency.of_rows([[3, 1], [1, 3]]))
    Real('1/2')
    """
    k = max(len(table.row), len(table.col))
    accuracy = matching_accuracy(table).named("A")
    return ratio(k * accuracy - 1, k - 1, undefined="there is one cluster and one class")


def overlap_matching(table: Contingency) -> Matching:
    """Return pairs (cluster, class) with the greatest sum of n_ij/max(n_i, m_j).

    Spec: PSI

    >>> overlap_matching(Contingency.of_rows([[3, 1], [2, 1]]))
    ((0, 0), (1, 1))
    """
    return _matching_by(
        {(i, j): Fraction(n) / max(table.row[i], table.col[j]) for (i, j), n in table.cells()}
    )


def matched_similarity(table: Contingency) -> Real:
    """The similarity of matched clusters and classes, S.

    Spec: PSI, PSI-SIMPLE

    >>> matched_similarity(Contingency.of_rows([[3, 1], [1, 3]]))
    Real('3/2')
    """
    return total(
        real(table.counts[i, j]) / max(table.row[i], table.col[j])
        for i, j in overlap_matching(table)
    )


@metric(
    "Pair sets index",
    range=(0, 1),
    better="higher",
    symmetric=True,
    cost="table",
    aliases=("pair_sets_index",),
    matching=overlap_matching,
)
def psi(table: Contingency) -> Real:
    """Similarity of matched clusters and classes, corrected for what sorted sizes give by chance.

    Defines: PSI

    >>> psi(Contingency.of_rows([[3, 1], [1, 3]]))
    Real('1/2')
    """
    if len(table.row) == len(table.col) == 1:
        return real(1)  # fixed by the defining paper
    s = matched_similarity(table).named("S")
    sizes = zip(sorted(table.row, reverse=True), sorted(table.col, reverse=True), strict=False)
    e = total(real(a * b) / (table.total * max(a, b)) for a, b in sizes).named("E")
    return real(0) if s <= e else (s - e) / (max(len(table.row), len(table.col)) - e)


@metric(
    "Simplified pair sets index",
    range=(0, 1),
    better="higher",
    symmetric=True,
    cost="table",
    aliases=("spsi",),
    matching=overlap_matching,
)
def simplified_psi(table: Contingency) -> Real:
    """Similarity of matched clusters and classes, chance taken to be one whole pair.

    Defines: PSI-SIMPLE

    >>> simplified_psi(Contingency.of_rows([[3, 1], [1, 3]]))
    Real('1/2')
    """
    widest = max(len(table.row), len(table.col))
    if widest == 1:
        return real(1)  # as PSI has it
    s = matched_similarity(table).named("S")
    return real(0) if s <= 1 else (s - 1) / (widest - 1)


@metric("BCubed precision", range=(0, 1), better="higher", symmetric=False)
def bcubed_precision(table: Contingency) -> Real:
    """Mean over objects of the share of their cluster that has their class.

    Defines: BC-P

    >>> bcubed_precision(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('11/15')
    """
    squares: list[Count] = [0] * len(table.row)
    for (i, _), n_ij in table.cells():
        squares[i] += n_ij * n_ij
    terms = zip(squares, table.row, strict=True)
    return total(Fraction(square) / n_i for square, n_i in terms) / table.total


@metric("BCubed recall", range=(0, 1), better="higher", symmetric=False)
def bcubed_recall(table: Contingency) -> Real:
    """Mean over objects of the share of their class that is in their cluster.

    Defines: BC-R

    >>> bcubed_recall(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('11/15')
    """
    return bcubed_precision(table.transposed())


@metric("BCubed F", range=(0, 1), better="higher", symmetric=True)
def bcubed_f(table: Contingency) -> Real:
    """Harmonic mean of BCubed precision and recall.

    Defines: BC-F

    >>> bcubed_f(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('11/15')
    """
    p = bcubed_precision(table).named("P")
    r = bcubed_recall(table).named("R")
    return 2 * p * r / (p + r)


@metric(
    "van Dongen distance",
    range=(0, INFINITY),
    better="lower",
    symmetric=True,
    aliases=("split_join",),
)
def van_dongen(table: Contingency) -> Real:
    """Objects to move so that each partition becomes a refinement of the other.

    Defines: VD

    >>> van_dongen(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('2')
    """
    by_cluster = _sum_of_largest(table)
    by_class = _sum_of_largest(table.transposed(), "Σ_j max_i n_ij")
    return 2 * table.total - by_cluster - by_class


def adjusted(value: Real, expected: Real | Rational) -> Real:
    """Return a similarity with maximum 1, rescaled so that its expectation becomes 0.

    Defines: ADJ-CHANCE

    >>> adjusted(real("3/4"), Fraction(1, 2))
    Real('1/2')
    """
    e = real(expected).named("E")
    return ratio(value - e, 1 - e, undefined="every permutation of the labels gives 1")


def expected(score: Callable[[Contingency], Real], table: Contingency) -> Real:
    """Mean of a score over all ways to permute the labels: over the tables with these margins.

    Spec: ADJ-CHANCE, NUM-TABLES

    >>> expected(purity, Contingency.of_rows([[2, 0], [0, 2]]))
    Real('2/3')
    """
    return total(chance * score(other) for other, chance in permuted(table))


def expected_purity(table: Contingency) -> Fraction:
    """Mean purity over all permutations of the labels: the mean of each largest cell by its tails.

    Defines: PUR-EXP

    >>> expected_purity(Contingency.of_rows([[2, 0], [0, 2]]))
    Fraction(2, 3)
    """
    refuse_fractions(table)
    n, m = int(table.total), [int(m_j) for m_j in table.col]

    def no_cell_above(t: int, a: int) -> Fraction:
        choices = ([math.comb(m_j, c) for c in range(min(t, m_j) + 1)] for m_j in m)
        return Fraction(_coefficient(a, choices), math.comb(n, a))

    tails = (1 - no_cell_above(t, a) for a in map(int, table.row) for t in range(a))
    return sum(tails, Fraction(0)) / n


def adjusted_purity(table: Contingency) -> Real:
    """Purity, rescaled so that its mean over all permutations of the labels becomes 0.

    Defines: PUR-ADJ

    >>> adjusted_purity(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('1/3')
    """
    return adjusted(purity(table), expected_purity(table))


def expected_bcubed_precision(table: Contingency) -> Fraction:
    """Mean BCubed precision over all permutations of the labels, in closed form.

    An object sees itself, and each other member of its cluster has its class with the chance that
    a random pair of objects shares a class.

    Defines: BC-PEXP

    >>> expected_bcubed_precision(Contingency.of_rows([[2, 0], [0, 2]]))
    Fraction(2, 3)
    """
    refuse_fractions(table)
    n, r = int(table.total), len(table.row)
    if n == 1:
        return Fraction(1)
    same_class = Fraction(sum(pairs(int(m_j)) for m_j in table.col), pairs(n))
    return Fraction(r, n) + (1 - Fraction(r, n)) * same_class


@metric(
    "BCubed precision corrected for chance",
    range=(-INFINITY, 1),
    better="higher",
    symmetric=False,
    integer=True,
)
def adjusted_bcubed_precision(table: Contingency) -> Real:
    """BCubed precision, rescaled so that its mean over all permutations becomes 0.

    Defines: BC-PADJ

    >>> adjusted_bcubed_precision(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('7/27')
    """
    return adjusted(bcubed_precision(table), expected_bcubed_precision(table))


@metric(
    "BCubed recall corrected for chance",
    range=(-INFINITY, 1),
    better="higher",
    symmetric=False,
    integer=True,
)
def adjusted_bcubed_recall(table: Contingency) -> Real:
    """BCubed recall, rescaled so that its mean over all permutations becomes 0.

    Defines: BC-RADJ

    >>> adjusted_bcubed_recall(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('7/27')
    """
    return adjusted(bcubed_recall(table), expected_bcubed_precision(table.transposed()))


def adjusted_bcubed_f(table: Contingency) -> Real:
    """BCubed F, rescaled so that its mean over all permutations of the labels becomes 0.

    Defines: BC-FADJ

    >>> adjusted_bcubed_f(Contingency.of_rows([[2, 1], [0, 2]]))
    Real('7/27')
    """
    return adjusted(bcubed_f(table), expected(bcubed_f, table))


# What several clauses share.


def _sum_of_largest(table: Contingency, symbol: str = "Σ_i max_j n_ij") -> Real:
    latex = symbol.replace("Σ", r"\sum").replace("max", r"\max").replace("n_ij", "n_{ij}")
    return total(table.largest_in_row()).named(symbol, latex)


def _largest_classes(table: Contingency) -> Matching:
    """Return (i, j*) for each cluster; equal counts go to the smaller class (ERR-73).

    The lowest index would let a renamed class change the value; the smaller class does not.
    """
    best: dict[int, tuple[Count, Count, int]] = {}
    for (i, j), n_ij in table.cells():
        candidate = (n_ij, -table.col[j], -j)
        best[i] = max(best.get(i, candidate), candidate)
    return tuple((i, -minus_j) for i, (_, _, minus_j) in sorted(best.items()))


def _matching_by(weights: Mapping[tuple[int, int], Count]) -> Matching:
    """Return the best matching for rational weights, brought to a common denominator."""
    common = math.lcm(*(weight.denominator for weight in weights.values()))
    return best_matching({cell: int(weight * common) for cell, weight in weights.items()})


def _coefficient(power: int, polynomials: Iterable[Sequence[int]]) -> int:
    """The coefficient of a power of x in a product of polynomials, given by their coefficients."""
    product = [1]
    for polynomial in polynomials:
        longer = [0] * (len(product) + len(polynomial) - 1)
        for (i, a), (j, b) in itertools.product(enumerate(product), enumerate(polynomial)):
            longer[i + j] += a * b
        product = longer
    return product[power] if power < len(product) else 0


def permuted(table: Contingency) -> Iterator[tuple[Contingency, Fraction]]:
    """Yield the tables that permuting the labels gives, each with its chance.

    Spec: ADJ-CHANCE, NUM-TABLES

    >>> [str(chance) for _, chance in permuted(Contingency.of_rows([[2, 0], [0, 2]]))]
    ['1/6', '2/3', '1/6']
    """
    refuse_fractions(table)
    rows, columns = [int(size) for size in table.row], [int(size) for size in table.col]
    arranged = math.prod(map(math.factorial, (*rows, *columns)))
    for cells in tables_with_margins(rows, columns):
        ways = math.prod(math.factorial(n_ij) for row in cells for n_ij in row)
        chance = Fraction(arranged, math.factorial(sum(rows)) * ways)
        yield Contingency.of_rows(cells), chance
