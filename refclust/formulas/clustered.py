"""Rows, or proximities of objects, with the cluster of each: what chapters 45 and 46 are given.

Numbers are exact; a weight counts an object as often as it says. How sums over rows or over pairs
of rows are found is a matter of ``passes``: by the definitions here, by kernels elsewhere, with the
same exact values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from refclust.errors import WrongEvidence
from refclust.formulas.contingency import Count, ordered_labels
from refclust.formulas.evidence import Grid, Kind, objects
from refclust.formulas.vectors import Vector
from refclust.numbers.reading import counted as worded
from refclust.numbers.real import Real

_SMALL: Final = 20  # objects: beyond, the square roots of all pairs are too many to sort out
P = ParamSpec("P")
T = TypeVar("T")


class Passes(Protocol):
    """Sums, extremes and orders over rows and pairs of rows, found by kernels.

    Each says the same exact value as the definitions of chapters 45 and 46 do, for data too large
    to write every pair down. Without passes the definitions themselves run.
    """

    def distance_sum(self, i: int, k: int) -> Real:
        """The sum of distances from object i to the objects of cluster k, weights counted."""
        ...

    def cluster_sum(self, k: int, l: int) -> Real:  # noqa: E741  (the letters of the clause)
        """The sum of distances over ordered pairs of objects of clusters k and l."""
        ...

    def nearest_squared(self, k: int, l: int) -> Fraction:  # noqa: E741
        """The least squared distance between different objects of clusters k and l."""
        ...

    def farthest_squared(self, k: int, l: int) -> Fraction:  # noqa: E741
        """The largest squared distance between objects of clusters k and l."""
        ...

    def centre_distances(self, k: int, squared: bool = False) -> Real:
        """The sum of distances, or squared ones, from the objects of cluster k to their mean."""
        ...

    def hausdorff_squared(self, k: int, l: int) -> Fraction:  # noqa: E741
        """The largest squared distance from an object of cluster k to its nearest one in l."""
        ...

    def squared_sum(self) -> Fraction:
        """The sum of squared distances over all pairs of different objects, each once."""
        ...

    def least_sum(self, count: int) -> Real:
        """The sum of so many least distances among all pairs of different objects."""
        ...

    def largest_sum(self, count: int) -> Real:
        """The sum of so many largest distances among all pairs of different objects."""
        ...

    def orders(self) -> tuple[int, int]:
        """How often a pair within a cluster is closer, and farther, than a pair between clusters.

        Every pair within is compared with every pair between; equal distances count nowhere. An
        object of weight w is w objects, which make w(w − 1)/2 pairs at distance 0 within.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Clustered:
    """Objects by their rows or by their proximities, with the cluster of each.

    Spec: CONV-EVIDENCE

    >>> clustered = Clustered.of([[0], [1], [5]], "aab")
    >>> clustered.sizes, clustered.members(0), clustered.size()
    ((2, 1), (0, 1), '3 objects in 2 clusters')
    """

    labels: Sequence[int]  # the number of each object's cluster
    clusters: tuple[Hashable, ...]  # what the clusters are called, by their numbers
    rows: Sequence[Vector] | None = None
    proximities: Sequence[Sequence[Any]] | None = None  # symmetric, exact numbers
    similarities: bool = False  # whether a large proximity means close
    weights: tuple[Count, ...] | None = None
    passes: Passes | None = field(default=None, repr=False)
    columns: Sequence[Any] | None = field(default=None, repr=False)  # of sparse rows
    moments: object = field(default=None, repr=False)  # what kernels know, by names of functions
    store: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)  # see ``kept``

    @classmethod
    def of(
        cls,
        rows: Sequence[Vector],
        labels: Sequence[Hashable],
        weights: Sequence[Count] | None = None,
    ) -> Clustered:
        """Objects given by their rows."""
        clusters = ordered_labels(labels)
        number = {cluster: k for k, cluster in enumerate(clusters)}
        counts = None if weights is None else tuple(weights)
        return cls(tuple(number[y] for y in labels), clusters, rows, weights=counts)

    @classmethod
    def of_proximities(
        cls,
        proximities: Sequence[Sequence[Any]],
        labels: Sequence[Hashable],
        weights: Sequence[Count] | None = None,
        *,
        similarities: bool = False,
    ) -> Clustered:
        """Objects given by their proximities, a symmetric matrix."""
        known = cls.of((), labels, weights)
        return cls(known.labels, known.clusters, None, proximities, similarities, known.weights)

    @property
    def kind(self) -> Kind:
        """Rows serve where proximities are needed, but not the other way round."""
        return "rows" if self.rows is not None else "proximities"

    @property
    def n(self) -> int:
        """How many objects are listed, whatever they weigh."""
        return len(self.labels)

    @property
    def k(self) -> int:
        """How many clusters there are."""
        return len(self.clusters)

    def weight(self, i: int) -> Count:
        """How often an object counts."""
        return 1 if self.weights is None else self.weights[i]

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The objects of each cluster."""
        if "groups" not in self.store:
            groups: list[list[int]] = [[] for _ in self.clusters]
            for i, label in enumerate(self.labels):
                groups[label].append(i)
            self.store["groups"] = tuple(map(tuple, groups))
        members: tuple[tuple[int, ...], ...] = self.store["groups"]
        return members

    def members(self, k: int) -> tuple[int, ...]:
        """The objects of a cluster."""
        return self.groups[k]

    @property
    def sizes(self) -> tuple[Count, ...]:
        """How many objects each cluster has, weights counted."""
        if "sizes" not in self.store:
            quick: Callable[[], tuple[Count, ...]] | None = getattr(self.moments, "sizes", None)
            self.store["sizes"] = (
                tuple(sum(map(self.weight, members)) for members in self.groups)
                if quick is None
                else quick()
            )
        sizes: tuple[Count, ...] = self.store["sizes"]
        return sizes

    @property
    def total(self) -> Count:
        """How many objects there are, weights counted."""
        return sum(self.sizes)

    @property
    def points(self) -> Sequence[Vector]:
        """The rows, where coordinates are needed."""
        if self.rows is None:
            raise WrongEvidence("coordinates are needed, and only proximities were given")
        return self.rows

    @property
    def is_empty(self) -> bool:
        """Whether there is no object at all."""
        return not self.labels

    @property
    def is_integer(self) -> bool:
        """Whether every weight is a whole number."""
        return self.weights is None or all(w.denominator == 1 for w in self.weights)

    @property
    def is_small(self) -> bool:
        """Whether looking for a simpler exact form of a value is quick."""
        return self.n <= _SMALL

    def size(self) -> str:
        """How much there is, in words."""
        return f"{objects(self.total)} in {worded(self.k, 'cluster')}"

    def grid(self) -> Grid:
        """The clusters with their sizes."""
        sizes = [(name, (size,)) for name, size in zip(self.clusters, self.sizes, strict=True)]
        return Grid("sizes of the clusters", ("objects",), tuple(sizes), None, (self.total,))


def kept(
    function: Callable[Concatenate[Clustered, P], T],
) -> Callable[Concatenate[Clustered, P], T]:
    """Work out once per clustering what a function says of it, so that metrics share their passes.

    Where the moments of the clustering have a method of the function's name, it is asked instead:
    the same exact value, added up by kernels.

    Spec: CONV-EVIDENCE

    >>> @kept
    ... def objects_of(clustered: Clustered, k: int) -> int:
    ...     print("counted")
    ...     return len(clustered.members(k))
    >>> clustered = Clustered.of([[0], [1], [5]], "aab")
    >>> objects_of(clustered, 0) + objects_of(clustered, 0)
    counted
    4
    """

    @wraps(function)
    def remembered(clustered: Clustered, /, *args: P.args, **options: P.kwargs) -> T:
        key = (function.__name__, *args)
        if key not in clustered.store:
            quick: Callable[P, T] | None = getattr(clustered.moments, function.__name__, None)
            clustered.store[key] = (
                function(clustered, *args, **options) if quick is None else quick(*args, **options)
            )
        answer: T = clustered.store[key]
        return answer

    return remembered


def pairs(n: int) -> Iterator[tuple[int, int]]:
    """All pairs of different objects, each once.

    Spec: CONV-PAIRS

    >>> list(pairs(3))
    [(0, 1), (0, 2), (1, 2)]
    """
    return ((i, j) for i in range(n) for j in range(i + 1, n))


def choose_2(count: Count) -> Fraction:
    """How many pairs of different objects there are among so many.

    Spec: CONV-PAIRS

    >>> choose_2(4)
    Fraction(6, 1)
    """
    return Fraction(count * (count - 1), 2)
