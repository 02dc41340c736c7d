"""Sums over the rows of clusters, added up exactly by kernels (chapter 45).

Methods bear the names of the functions of ``refclust.formulas.scatter`` whose values they give:
``kept`` asks them instead. Numbers are integers over powers of two until the very end, so there is
one rational for each sum and none for a row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain
from operator import mul
from typing import Any, Final

from refclust.backends.protocol import Problem
from refclust.backends.session import Session
from refclust.data.dataset import Dataset
from refclust.formulas.contingency import Count
from refclust.formulas.vectors import Vector, components
from refclust.kernels.clusters.kmeans import ClusterSums
from refclust.kernels.points import Points
from refclust.numbers.linalg import ExactMatrix
from refclust.numbers.real import Real

LEAST: Final = 256  # rows; below, the definitions themselves are quick enough


class Moments:
    """Sizes, sums, squares and scatters of the clusters of a data set.

    >>> from array import array
    >>> from refclust.data.dataset import dense
    >>> rows = dense(array("d", [0, 2, 5]), 1)
    >>> moments = Moments(rows, array("i", [0, 0, 1]), 2, Session("reference"))
    >>> moments.cluster_mean(0), moments.cluster_sse(0), moments.tss()
    ((Fraction(1, 1),), Fraction(2, 1), Fraction(38, 3))
    """

    def __init__(self, data: Dataset, labels: Any, k: int, session: Session) -> None:
        self.data, self.labels, self.k, self.session = data, labels, k, session
        self.problem = Problem(data.kind, data.n, len(data.matrix.values), k)
        # Somebody else's way to the squares of a cluster that does without exact ones.
        self.quick_squares: Callable[[int, Callable[[], Fraction]], Real | None] | None = None

    @cached_property
    def _sums(self) -> ClusterSums:
        sums = self.session.run("kmeans.accumulate", self.problem, self.data, self.labels, self.k)
        exact: ClusterSums = sums.exact()
        return exact

    def cluster_sums(self) -> ClusterSums:
        """The exact weights and sums of the clusters.

        Spec: KER-SUMS
        """
        return self._sums

    @cached_property
    def _squares(self) -> tuple[Fraction, ...]:
        squares = self.session.run("kmeans.squares", self.problem, self.data, self.labels, self.k)
        return tuple(squares)

    @cached_property
    def _points(self) -> Points:
        return Points(self.data)

    @cached_property
    def _members(self) -> list[list[int]]:
        members: list[list[int]] = [[] for _ in range(self.k)]
        for i, label in enumerate(self.labels):
            members[label].append(i)
        return members

    def _sum(self, k: int | None) -> tuple[Sequence[int], Fraction]:
        """The sums of the columns of a cluster or of all rows, over 2**shift, and the weight."""
        sums = self._sums
        if k is not None:
            return sums.sums[k], sums.weight(k)
        columns = [sum(column) for column in zip(*sums.sums, strict=True)]
        return columns, Fraction(sum(sums.weights), 1 << sums.weight_shift)

    def sizes(self) -> tuple[Count, ...]:
        """The weight of each cluster.

        Spec: INT-SIZE
        """
        weights = map(self._sums.weight, range(self.k))
        return tuple(w.numerator if w.denominator == 1 else w for w in weights)

    def size(self, k: int) -> Fraction:
        """The weight of a cluster.

        Spec: INT-SIZE
        """
        return self._sums.weight(k)

    def cluster_mean(self, k: int) -> Any:
        """The mean of a cluster.

        Spec: INT-MEAN
        """
        return self._mean(k)

    def overall_mean(self) -> Any:
        """The mean of all rows.

        Spec: INT-TMEAN
        """
        return self._mean(None)

    def _mean(self, k: int | None) -> Any:
        columns, weight = self._sum(k)
        unit = weight * (1 << self._sums.shift)
        mean = tuple(Fraction(s) / unit for s in columns)
        return mean if self.data.kind == "dense" else {j: x for j, x in enumerate(mean) if x}

    def cluster_sse(self, k: int) -> Fraction | Real:
        """The sum of squares of a cluster: that of its rows less that of its mean.

        Of many rows it is known by an interval, and exactly if somebody asks for more.

        Spec: INT-SSE
        """

        def exact() -> Fraction:
            return self._squares[k] - self._square_of_mean(k)

        quick = None if self.quick_squares is None else self.quick_squares(k, exact)
        return exact() if quick is None else quick

    def between_means(self, k: int, m: int) -> Fraction:
        """The squared distance of the means of two clusters, in integers until the end.

        Spec: INT-RT
        """
        sums, own, other = self._sums, self._sums.weights[k], self._sums.weights[m]
        pairs = zip(sums.sums[k], sums.sums[m], strict=True)
        gaps = [s * other - t * own for s, t in pairs]
        square = sum(map(mul, gaps, gaps)) << (2 * sums.weight_shift)
        return Fraction(square, (own * other) ** 2 << (2 * sums.shift))

    def tss(self) -> Fraction:
        """The sum of squares of all rows about their mean.

        Spec: INT-TSS
        """
        return sum(self._squares) - self._square_of_mean(None)

    def _square_of_mean(self, k: int | None) -> Fraction:
        columns, weight = self._sum(k)
        return Fraction(sum(map(mul, columns, columns)), 1 << (2 * self._sums.shift)) / weight

    def cluster_scatter(self, k: int) -> ExactMatrix:
        """The scatter of a cluster: that of its rows about the origin less that of its mean.

        Spec: INT-SI
        """
        return self._scatter(k)

    def total_scatter(self) -> ExactMatrix:
        """The scatter of all rows.

        Spec: INT-ST
        """
        return self._scatter(None)

    def _scatter(self, k: int | None) -> ExactMatrix:
        columns, weight = self._sum(k)
        raw = self._products if k is None else self._own_products[k]
        places = range(self.data.d)
        shift = 2 * self._points.shift + self._points.weight_shift
        upper = {
            (a, b): Fraction(raw[a][b - a], 1 << shift)
            - Fraction(columns[a] * columns[b], 1 << (2 * self._sums.shift)) / weight
            for a in places
            for b in places[a:]
        }
        return tuple(tuple(upper[min(a, b), max(a, b)] for b in places) for a in places)

    @cached_property
    def _own_products(self) -> list[list[list[int]]]:
        """For each cluster the weighted products of columns a and b, a at most b."""
        return [self._products_of(members) for members in self._members]

    @cached_property
    def _products(self) -> list[list[int]]:
        first, *others = self._own_products
        return [
            [sum(entries) for entries in zip(*lines, strict=True)]
            for lines in zip(first, *others, strict=True)
        ]

    def _products_of(self, members: Sequence[int]) -> list[list[int]]:
        columns = self._columns(members)
        weights = [self._points.weights[i] for i in members]
        lines = []
        for a, column in enumerate(columns):
            weighted = list(map(mul, weights, column)) if self._points.weighted else column
            lines.append([sum(map(mul, weighted, other)) for other in columns[a:]])
        return lines

    def _columns(self, members: Sequence[int]) -> list[Sequence[int]]:
        """The integers of some rows, column by column."""
        points = self._points
        if points.dense:
            return list(zip(*map(points.integers.__getitem__, members), strict=True))
        columns = [[0] * len(members) for _ in range(points.d)]
        for place, i in enumerate(members):
            for j, number in zip(points.columns[i], points.integers[i], strict=True):
                columns[j][place] = number
        return list(columns)

    def variances(self, k: int | None) -> tuple[Fraction, ...]:
        """The variance of each column, in a cluster or in all rows.

        Spec: INT-SDSCAT
        """
        columns, weight = self._sum(k)
        raw = self._column_squares(k)
        shift = 2 * self._points.shift + self._points.weight_shift
        return tuple(
            Fraction(square, 1 << shift) / weight
            - Fraction(s * s, 1 << (2 * self._sums.shift)) / weight**2
            for square, s in zip(raw, columns, strict=True)
        )

    def _column_squares(self, k: int | None) -> list[int]:
        members = range(self.data.n) if k is None else self._members[k]
        weights = [self._points.weights[i] for i in members]
        return [
            sum(map(mul, map(mul, weights, column), column)) for column in self._columns(members)
        ]

    def squared_to_means(self, i: int) -> tuple[Fraction, ...]:
        """The squared distances of a row from all means.

        Spec: INT-WG, INT-SSIL
        """
        sums, row = self._sums, self._row(i)
        # Sums carry the power of two of the weights beside that of the rows.
        means = zip(sums.sums, sums.weights, strict=True)
        return tuple(self._squared(row, own, weight) for own, weight in means)

    def density(self, k: int, m: int, u: Vector, near: Callable[[Fraction], bool]) -> Fraction:
        """The weight of the rows of two clusters that are near a point.

        Spec: INT-SDBW
        """
        point = components(u)
        exact = [Fraction(point.get(j, 0)) for j in range(self.data.d)]  # type: ignore[arg-type]
        unit = math.lcm(*(x.denominator for x in exact))
        place = [int(x * unit) << self._points.shift for x in exact]
        members = chain(self._members[k], self._members[m])
        close = (i for i in members if near(self._squared(self._row(i), place, unit)))
        weights = sum(map(self._points.weights.__getitem__, close))
        return Fraction(weights, 1 << self._points.weight_shift)

    def _row(self, i: int) -> Sequence[int]:
        """The integers of a row, with its zeros."""
        points = self._points
        if points.dense:
            return points.integers[i]
        row = [0] * points.d
        for j, number in zip(points.columns[i], points.integers[i], strict=True):
            row[j] = number
        return row

    def _squared(self, row: Sequence[int], place: Sequence[int], unit: int) -> Fraction:
        """The squared distance of a row from a point that is given ``unit`` times as large."""
        parts = [unit * x - y for x, y in zip(row, place, strict=True)]
        return Fraction(sum(map(mul, parts, parts)), unit * unit << (2 * self._points.shift))
