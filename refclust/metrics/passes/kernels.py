"""Passes over the rows of a clustering: integers where a score can be certified, else kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from refclust.backends.session import Session
from refclust.data.dataset import Dataset
from refclust.errors import TooLarge
from refclust.formulas.contingency import Count
from refclust.kernels.clusters.kmeans import ClusterSums
from refclust.kernels.pairs.extremes import squared_gap
from refclust.metrics.passes.centres import CentreSums
from refclust.metrics.passes.orders import Orders, least_gaps
from refclust.metrics.passes.silhouette_intervals import Between, mean_between
from refclust.metrics.passes.silhouettes import Bounded, mean_silhouette
from refclust.metrics.passes.source import CERTIFIED, Source
from refclust.metrics.passes.sums import PairSums
from refclust.numbers.real import Real

LEAST: Final = 64  # objects; up to here the definitions themselves run
MOST_CLUSTERS: Final = 4096  # of which all pairs are looked at


class KernelPasses:
    """The passes over one clustering; each is made when first asked for, and kept.

    Spec: CONV-EVIDENCE

    >>> from array import array
    >>> from refclust.data.dataset import dense
    >>> passes = KernelPasses(dense(array("d", [0, 3, 4]), 1), [0, 0, 1], 2)
    >>> float(passes.distance_sum(0, 1)), float(passes.centre_distances(0))
    (4.0, 3.0)
    """

    def __init__(
        self,
        data: Dataset,
        labels: Sequence[int],
        k: int,
        weights: Sequence[Count] | None = None,
        session: Session | None = None,
        *,
        totals: Callable[[], ClusterSums] | None = None,  # of the clusters, if somebody has them
        sizes: Sequence[int] | None = None,  # rows of each cluster, the same
    ) -> None:
        self._source = Source(data, labels, k, weights, session or Session(), sizes)
        self._sums, self._centres = PairSums(self._source), CentreSums(self._source, totals)

    def insist(self) -> bool:
        """Work everything out in integers from now on, whatever it costs; say if that is news."""
        news, self._source.insists = not self._source.insists, True
        return news

    def distance_sum(self, i: int, k: int) -> Real:
        """The sum of distances from object i to the objects of cluster k, weights counted."""
        return self._sums.of_object(i, k)

    def cluster_sum(self, k: int, l: int) -> Real:  # noqa: E741  (the letters of the clause)
        """The sum of distances over ordered pairs of objects of clusters k and l."""
        return self._sums.of_clusters(k, l)

    def centre_distances(self, k: int, squared: bool = False) -> Real:
        """The sum of distances, or squared ones, from the objects of cluster k to their mean."""
        return Real(self._centres.squared(k)) if squared else self._centres.distances(k)

    def quick_squares(self, k: int, exact: Callable[[], Fraction]) -> Real | None:
        """The sum of squared distances to the mean of cluster k, if there is a short way to it."""
        return self._centres.quick_squares(k, exact)

    def squared_sum(self) -> Fraction:
        """The sum of squared distances over all pairs of different objects, each once."""
        return self._centres.pairs_squared()

    # -- extremes ---------------------------------------------------------------------------

    @cached_property
    def _extremes(self) -> list[int]:
        source = self._source
        if source.k > MOST_CLUSTERS:
            raise TooLarge(f"pairs of {source.k:,} clusters; at most {MOST_CLUSTERS:,} are allowed")
        answer = source.run("pairs.extremes", source.numbers, source.k, k=source.n)
        return list(map(int, memoryview(answer)))

    def _extreme(self, k: int, other: int, place: int) -> Fraction:
        a, b = min(k, other), max(k, other)
        first = 4 * (a * self._source.k - a * (a - 1) // 2 + b - a) + place
        i, j = self._extremes[first : first + 2]
        return Fraction() if i < 0 else squared_gap(self._source.row(i), self._source.row(j))

    def nearest_squared(self, k: int, l: int) -> Fraction:  # noqa: E741
        """The least squared distance between different objects of clusters k and l."""
        return self._extreme(k, l, 0)

    def farthest_squared(self, k: int, l: int) -> Fraction:  # noqa: E741
        """The largest squared distance between objects of clusters k and l."""
        return self._extreme(k, l, 2)

    @cached_property
    def _least_gaps(self) -> list[list[int]]:
        n, d = self._source.n, max(self._source.d, 1)
        if n * n * d > 4 * CERTIFIED:
            raise TooLarge(f"all pairs of {n:,} rows of {d:,} columns, each measured exactly")
        return least_gaps(self._source.lines)

    def hausdorff_squared(self, k: int, l: int) -> Fraction:  # noqa: E741
        """The largest squared distance from an object of cluster k to its nearest one in l."""
        lines = self._source.lines
        gaps = (row[l] for row in self._least_gaps[lines.starts[k] : lines.starts[k + 1]])
        return Fraction(max(gaps), 1 << 2 * lines.points.shift)

    # -- orders -----------------------------------------------------------------------------

    @cached_property
    def _orders(self) -> Orders:
        return Orders(self._source.lines, self._source.counts)

    def orders(self) -> tuple[int, int]:
        """How often a pair within a cluster is closer, and farther, than a pair between them."""
        return self._orders.compared()

    def least_sum(self, count: int) -> Real:
        """The sum of so many least distances among all pairs of different objects."""
        return self._orders.extreme_sum(count, largest=False)

    def largest_sum(self, count: int) -> Real:
        """The sum of so many largest distances among all pairs of different objects."""
        return self._orders.extreme_sum(count, largest=True)

    # -- scores that are not certified ------------------------------------------------------

    def between(self, metric: str, options: Mapping[str, Any]) -> Between | None:
        """A score that can be certified between two rationals, if there is a short way to them."""
        source = self._source
        if not self._is_mean(metric, options) or not source.certified:
            return None
        sums = self._sums.integers
        if sums is None:
            return None
        average = options.get("average", "points")
        return mean_between(sums, source.groups, source.counts, average=average)

    def estimate(
        self, metric: str, options: Mapping[str, Any], *, undecided: bool = False
    ) -> Bounded | None:
        """A score in doubles with its bound, where certifying it takes too long or failed."""
        source = self._source
        if not self._is_mean(metric, options) or (source.certified and not undecided):
            return None
        sums = self._sums.doubles
        if not all(map(math.isfinite, sums)):
            return None
        average = options.get("average", "points")
        weights = list(map(float, source.counts))
        return mean_silhouette(sums, source.groups, weights, source.d, average=average)

    def _is_mean(self, metric: str, options: Mapping[str, Any]) -> bool:
        """Whether a score is a mean silhouette of objects that count in whole numbers."""
        plain = metric == "silhouette" and options.get("point") is options.get("cluster") is None
        return plain and self._source.unit == 1 and self._source.k > 1
