"""Sums of distances from the objects of clusters to their means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Final

from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import ClusterSums
from refclust.kernels.contracts.comparing import TINY
from refclust.kernels.pairs.fine import split_means
from refclust.kernels.pairs.integers import Cell, bits_for, centre_cell, centre_gaps
from refclust.kernels.points import Points
from refclust.metrics.passes.decimals import between
from refclust.metrics.passes.source import FIRST, Source
from refclust.numbers.real import Interval, Real, enclosed

_KERNEL: Final = "scatter.centre_distances"


class CentreSums:
    """Sums over rows: exact squares, and distances in integers or by a kernel."""

    def __init__(self, source: Source, totals: Callable[[], ClusterSums] | None = None) -> None:
        self._source, self._totals = source, totals or self._added_up
        self._cells: dict[tuple[int, int], tuple[Cell, int]] = {}

    def _added_up(self) -> ClusterSums:
        source = self._source
        sums = source.run("kmeans.accumulate", source.numbers, source.k, k=source.k)
        exact: ClusterSums = sums.exact()
        return exact

    @cached_property
    def _means(self) -> tuple[CentreMatrix, CentreMatrix]:
        return split_means(self._totals())

    @cached_property
    def _fine(self) -> list[tuple[float, float, float]]:
        """The fine sums, and how far each may be off since the rests of means are rounded.

        A rest is off by half a unit in its last place, which moves the distance of every row; the
        sum of squares about another point than the mean is larger by that of the way to it.
        """
        source, totals = self._source, self._totals()
        numbers = source.doubles(_KERNEL, source.numbers, *self._means, k=source.k)
        moved = [sum(map(abs, rest)) * 2.0**-52 + TINY for rest in self._means[1]]
        weights = [float(totals.weight(k) * source.unit) for k in range(source.k)]
        slacks = [*map(mul, moved, weights), *map(mul, map(mul, moved, moved), weights)]
        half = 2 * source.k
        return list(zip(numbers[:half], numbers[half:], slacks, strict=True))

    @cached_property
    def _quick(self) -> bool:
        """Whether a kernel has the first digits sooner than integers."""
        source = self._source
        if not source.whole:
            return False
        return source.elsewhere(_KERNEL, source.numbers, *self._means, k=source.k)

    def _members(self, k: int) -> tuple[Points, list[int]]:
        own = self._source.groups[k]
        return Points(self._source.bare.select(own)), [self._source.counts[i] for i in own]

    def squared(self, k: int) -> Fraction:
        """The sum of squared distances from the objects of cluster k to their mean."""
        points, counts = self._members(k)
        whole, gaps = centre_gaps(points, counts)
        weighed = sum(map(mul, counts, gaps))
        return Fraction(weighed, whole**2 * self._source.unit << 2 * points.shift)

    def quick_squares(self, k: int, exact: Callable[[], Fraction]) -> Real | None:
        """The same for many rows by the kernel that adds up distances; exactly if asked for more.

        Nothing where integers are as quick.
        """
        source = self._source
        if source.certified_rows or not self._quick:
            return None

        def interval(digits: int) -> Interval:
            if digits <= FIRST:
                return source.around_fine(*self._fine[source.k + k], digits)
            value = exact()
            return between(value.numerator, 0, value.denominator, digits)

        return enclosed(interval, lambda: Real(exact()))

    def distances(self, k: int) -> Real:
        """The sum of distances from the objects of cluster k to their mean."""
        source = self._source

        def interval(digits: int) -> Interval:
            if not source.certified_rows or (digits <= FIRST and self._quick):
                return source.around_fine(*self._fine[k], digits)
            key = bits_for(digits), k
            if key not in self._cells:
                self._cells[key] = centre_cell(*self._members(k), key[0])
            cell, whole = self._cells[key]
            return between(cell.low, cell.slack, whole * source.unit << cell.shift, digits)

        def squares() -> Counter[Fraction]:
            points, weights = self._members(k)
            whole, gaps = centre_gaps(points, weights)
            counts: Counter[Fraction] = Counter()
            for gap, weight in zip(gaps, weights, strict=True):
                counts[Fraction(gap, whole**2 << 2 * points.shift)] += weight
            return counts

        return source.real(interval, squares, terms=source.sizes[k], unit=source.unit)

    def pairs_squared(self) -> Fraction:
        """The sum of squared distances over all pairs of different objects, each once.

        It is the weight of all objects times the sum of squared distances from their mean.
        """
        points = Points(self._source.bare)
        counts = self._source.counts
        whole, gaps = centre_gaps(points, counts)
        weighed = sum(map(mul, counts, gaps))
        return Fraction(weighed, whole * self._source.unit**2 << 2 * points.shift)
