"""Shares of objects in clusters: what the fuzzy indices of chapters 42 and 45 are given."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from refclust.formulas.contingency import Count
from refclust.formulas.evidence import Grid, Kind, objects
from refclust.formulas.vectors import Exact, Number, exact
from refclust.numbers.reading import counted


@dataclass(frozen=True, slots=True, eq=False)
class Memberships:
    """The share of each object in each cluster; the shares of an object need not add up to 1.

    Spec: CONV-EVIDENCE

    >>> memberships = Memberships.of([[1, 0], [0.5, 0.5]])
    >>> memberships.k, memberships.size()
    (2, '2 objects in 2 fuzzy clusters')
    """

    clusters: tuple[Hashable, ...]
    shares: tuple[tuple[Exact, ...], ...]
    weights: tuple[Count, ...] | None = None

    @classmethod
    def of(
        cls,
        shares: Sequence[Sequence[Number]],
        clusters: Sequence[Hashable] | None = None,
        weights: Sequence[Count] | None = None,
    ) -> Memberships:
        """Take the shares object by object."""
        rows = tuple(tuple(map(exact, row)) for row in shares)
        names = range(len(rows[0])) if clusters is None else clusters
        return cls(tuple(names), rows, None if weights is None else tuple(weights))

    @property
    def kind(self) -> Kind:
        """Shares of objects in clusters."""
        return "memberships"

    @property
    def k(self) -> int:
        """How many clusters there are."""
        return len(self.clusters)

    def weight(self, i: int) -> Count:
        """How often an object counts."""
        return 1 if self.weights is None else self.weights[i]

    @property
    def is_empty(self) -> bool:
        """Whether there is no object at all."""
        return not self.shares

    @property
    def is_integer(self) -> bool:
        """Whether every weight is a whole number."""
        return self.weights is None or all(w.denominator == 1 for w in self.weights)

    @property
    def is_small(self) -> bool:
        """Whether looking for a simpler exact form of a value is quick."""
        return len(self.shares) <= 64

    @property
    def total(self) -> Count:
        """How many objects there are, weights counted."""
        return len(self.shares) if self.weights is None else sum(self.weights)

    def size(self) -> str:
        """How much there is, in words."""
        return f"{objects(self.total)} in {counted(self.k, 'fuzzy cluster')}"

    def grid(self) -> Grid | None:
        """The shares, where they are rational."""
        if not all(isinstance(share, Fraction) for row in self.shares for share in row):
            return None
        rows = tuple((i + 1, row) for i, row in enumerate(self.shares))
        return Grid("rows are objects, columns are clusters", self.clusters, rows)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, eq=False)
class TwoMemberships:
    """The shares of the same objects in the clusters of two clusterings.

    Spec: CONV-EVIDENCE

    >>> TwoMemberships.of([[1, 0], [0, 1]], [[1, 0], [1, 0]]).size()
    '2 objects in 2 and 2 fuzzy clusters'
    """

    first: Memberships
    second: Memberships  # of the same objects, with the same weights

    @classmethod
    def of(
        cls,
        first: Sequence[Sequence[Number]],
        second: Sequence[Sequence[Number]],
        weights: Sequence[Count] | None = None,
    ) -> TwoMemberships:
        """Take the shares object by object."""
        return cls(Memberships.of(first, None, weights), Memberships.of(second, None, weights))

    @property
    def kind(self) -> Kind:
        """Shares of objects in the clusters of two clusterings."""
        return "two_memberships"

    @property
    def n(self) -> int:
        """How many objects are listed, whatever they weigh."""
        return len(self.first.shares)

    @property
    def is_empty(self) -> bool:
        """Whether there is no object at all."""
        return self.first.is_empty

    @property
    def is_integer(self) -> bool:
        """Whether every weight is a whole number."""
        return self.first.is_integer

    @property
    def is_small(self) -> bool:
        """Whether looking for a simpler exact form of a value is quick."""
        return self.first.is_small

    @property
    def total(self) -> Count:
        """How many objects there are, weights counted."""
        return self.first.total

    def size(self) -> str:
        """How much there is, in words."""
        second = counted(self.second.k, "fuzzy cluster")
        return f"{objects(self.total)} in {self.first.k} and {second}"

    def grid(self) -> Grid | None:
        """The shares in the clusters of the first clustering beside those of the second."""
        sides = self.first.grid(), self.second.grid()
        if sides[0] is None or sides[1] is None:
            return None
        rows = tuple(
            (i, (*left, *right))
            for (i, left), (_, right) in zip(sides[0].rows, sides[1].rows, strict=True)
        )
        caption = "rows are objects, columns are clusters of the first and of the second"
        return Grid(caption, (*sides[0].columns, *sides[1].columns), rows)
