"""Metrics of fuzzy clusters as calls on the shares of objects (chapters 42 and 45)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from refclust.data.accepting.door import dataset
from refclust.data.accepting.spellings import spelled
from refclust.errors import LabelLengthMismatch, NegativeCount
from refclust.formulas.memberships import Memberships, TwoMemberships
from refclust.limits import within
from refclust.metrics import catalogue
from refclust.metrics.catalogue import Entry, Formula
from refclust.metrics.contingency import exact_weights
from refclust.metrics.score import Score, evaluate

__all__ = [
    "FuzzyMetric",
    "FuzzyPairMetric",
    "fuzzy_pair_scorer",
    "fuzzy_scorer",
    "memberships",
    "two_memberships",
]


@dataclass(frozen=True, slots=True)
class FuzzyMetric:
    """A metric of fuzzy clusters, ready to be called on the shares of objects in them."""

    entry: Entry

    @spelled
    def __call__(
        self,
        shares: Any,
        *,
        weights: Iterable[Any] | None = None,
        profile: str | None = None,
        **options: Any,
    ) -> Score:
        """Score the shares of objects, one row for each of them."""
        return evaluate(self.entry, memberships(shares, weights=weights), options, profile=profile)

    def __repr__(self) -> str:
        return f"<refclust metric {self.entry.name}>"


@dataclass(frozen=True, slots=True)
class FuzzyPairMetric:
    """A metric of two fuzzy clusterings, ready to be called on the shares of objects in both."""

    entry: Entry

    def __call__(
        self,
        first: Any,
        second: Any,
        *,
        weights: Iterable[Any] | None = None,
        profile: str | None = None,
        **options: Any,
    ) -> Score:
        """Compare the shares of the same objects in the clusters of two clusterings."""
        evidence = two_memberships(first, second, weights=weights)
        return evaluate(self.entry, evidence, options, profile=profile)

    def __repr__(self) -> str:
        return f"<refclust metric {self.entry.name}>"


def fuzzy_pair_scorer(formula: Formula) -> FuzzyPairMetric:
    """Return the metric of two fuzzy clusterings that a formula declares."""
    return FuzzyPairMetric(catalogue.ENTRIES[formula.__name__])


def fuzzy_scorer(formula: Formula) -> FuzzyMetric:
    """Return the metric of fuzzy clusters that a formula declares."""
    return FuzzyMetric(catalogue.ENTRIES[formula.__name__])


def memberships(shares: Any, *, weights: Iterable[Any] | None = None) -> Memberships:
    """The shares of objects in clusters, checked; objects of weight 0 are left out.

    Spec: CONV-EVIDENCE, CT-WEIGHT

    >>> memberships([[1, 0], [0.5, 0.5]]).total
    2
    """
    data = dataset(shares)
    rows = []
    for i, row in enumerate(data.rows()):
        full = tuple(row.get(j, 0.0) for j in range(data.d)) if isinstance(row, dict) else row
        if min(full) < 0:
            column = full.index(min(full))
            raise NegativeCount(
                f"object {i} has the share {full[column]!r} in cluster {column}; "
                "shares are not negative"
            )
        rows.append(full)
    names = data.features
    if weights is None:
        weights = data.weights
    if weights is None:
        return Memberships.of(rows, names)
    counts = exact_weights(weights, len(rows))
    kept = [i for i, count in enumerate(counts) if count]
    return Memberships.of([rows[i] for i in kept], names, [counts[i] for i in kept])


def two_memberships(
    first: Any, second: Any, *, weights: Iterable[Any] | None = None
) -> TwoMemberships:
    """The shares of the same objects in the clusters of two clusterings, checked.

    Spec: CONV-EVIDENCE, CT-WEIGHT

    >>> two_memberships([[1, 0], [0.5, 0.5]], [[1, 0], [1, 0]]).size()
    '2 objects in 2 and 2 fuzzy clusters'
    """
    known = None if weights is None else list(weights)
    sides = [memberships(shares, weights=known) for shares in (first, second)]
    if len(sides[0].shares) != len(sides[1].shares):
        raise LabelLengthMismatch(
            f"{len(sides[0].shares)} objects have shares in the first clustering, "
            f"{len(sides[1].shares)} in the second"
        )
    n = len(sides[0].shares)
    within("terms", n * n * (sides[0].k + sides[1].k) // 2, f"the pairs of {n:,} objects")
    return TwoMemberships(*sides)
