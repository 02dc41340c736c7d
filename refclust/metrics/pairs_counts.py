"""The pairs of objects that two partitions keep together or apart (chapter 42).

``pairs="unordered"`` counts the n(n−1)/2 pairs of different objects; ``pairs="ordered"`` counts all
n² pairs, each object with itself included, as one of the sources does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final, NamedTuple

from refclust.errors import WeightsNotInteger
from refclust.kernels.contingency import Count
from refclust.metrics.contingency import Contingency
from refclust.metrics.undefined import Undefined
from refclust.numbers.combinatorics import pairs as unordered_pairs
from refclust.numbers.real import Rational, Real, real

UNORDERED: Final = "unordered"


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

    Spec: PC-UNORD, PC-ORD, PC-NPAIRS

    >>> [int(x) for x in map(float, pair_counts(Contingency.of_rows([[2, 1], [0, 2]])))]
    [2, 2, 2, 4]
    """
    if pairs == UNORDERED and not table.is_integer:
        raise WeightsNotInteger(
            "unordered pairs can only be counted with whole weights; use pairs='ordered'"
        )
    count = _unordered if pairs == UNORDERED else _ordered
    together = sum(times * count(n_ij) for n_ij, times in table.sizes.items())
    in_clusters = sum(map(count, table.row))
    in_classes = sum(map(count, table.col))
    everything = count(table.total)
    names = ("TP", "FP", "FN", "TN") if pairs == UNORDERED else ("SS", "SD", "DS", "DD")
    counts = (
        together,
        in_clusters - together,
        in_classes - together,
        everything - in_clusters - in_classes + together,
    )
    return PairCounts(*(real(c).named(name) for c, name in zip(counts, names, strict=True)))


def same_cluster(labels: Sequence[Hashable], i: int, j: int) -> int:
    """Return 1 if two objects carry the same label, else 0.

    Spec: PC-IND

    >>> same_cluster(["a", "b", "a"], 0, 2)
    1
    """
    return int(labels[i] == labels[j])


def pair_metric(
    coefficient: Callable[[Rational, Rational, Rational, Rational], Real | Rational],
    table: Contingency,
    *,
    pairs: str = UNORDERED,
) -> Real:
    """Apply any coefficient of a 2×2 table (tp, fp, fn, tn) to the pairs of a clustering.

    Spec: PAIR-OP

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


def _unordered(count: Count) -> int:
    return unordered_pairs(int(count))


def _ordered(count: Count) -> Count:
    return count * count
