"""Sums of distances from every row to every cluster, in doubles (chapter 80)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from operator import mul

from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.contracts.lengths import Lengths
from refclust.kernels.points import Points, grouped
from refclust.kernels.registry import kernel


@kernel("silhouette.distance_sums", contract=Lengths())
def distance_sums(points: Points, labels: Labels, k: int) -> array[float]:
    """The sum of w |x_i - x_j| over the rows j of each of k clusters, for every row i.

    The sum of row i and cluster c stands at i k + c. An empty cluster has the sum 0.

    Spec: KER-DISTSUM, DIST-L2

    >>> from refclust.data.dataset import dense
    >>> distance_sums(Points(dense(array("d", [0, 3, 4]), 1)), array("i", [0, 0, 1]), 2)
    array('d', [3.0, 4.0, 3.0, 1.0, 5.0, 0.0])
    """
    weights = _weights(points)
    members = _members(points, labels, k)
    sums = array("d")
    gaps = _dense_gaps(points, members) if points.dense else _sparse_gaps(points, members)
    shares = [[weights[j] for j in cluster] for cluster in members] if points.weighted else None
    for of_row in gaps:
        for c, of_cluster in enumerate(of_row):
            sums.append(added(of_cluster if shares is None else map(mul, shares[c], of_cluster)))
    return sums


def added(terms: Iterable[float]) -> float:
    """The sum of numbers that are not negative, rounded once; infinite beyond the doubles.

    Spec: NUM-NEAR

    >>> added([0.1] * 10), added([1e308, 1e308])
    (1.0, inf)
    """
    try:
        return abs(math.fsum(terms))
    except OverflowError:
        return math.inf


def _weights(points: Points) -> list[float]:
    weights = points.data.weights
    return [] if weights is None else list(map(float, weights))


def _members(points: Points, labels: Labels, k: int) -> list[list[int]]:
    """The rows of each cluster that weigh anything: others count for nothing, however far."""
    members = grouped(memoryview(labels), range(points.n), k)
    if not points.weighted:
        return members
    return [[i for i in cluster if points.weights[i]] for cluster in members]


def _dense_gaps(
    points: Points, members: Sequence[Sequence[int]]
) -> Iterator[Iterator[Iterable[float]]]:
    """For each row its distances to the rows of each cluster."""
    rows = [[points.rows[j] for j in cluster] for cluster in members]
    for row in points.rows:
        # ``math.dist`` takes differences first: an offset does no harm.
        yield (map(math.dist, repeat(row), cluster) for cluster in rows)


def _sparse_gaps(
    points: Points, members: Sequence[Sequence[int]]
) -> Iterator[Iterator[Iterable[float]]]:
    """The same for sparse rows, whose columns are put together pair by pair."""
    rows = [dict(zip(*pair, strict=True)) for pair in zip(points.columns, points.rows, strict=True)]
    for row in rows:
        yield ([sparse_distance(row, rows[j]) for j in cluster] for cluster in members)


def sparse_distance(x: dict[int, float], y: dict[int, float]) -> float:
    """The distance of two sparse rows, from differences in the columns that either has.

    Spec: DIST-L2

    >>> sparse_distance({0: 3.0}, {1: 4.0})
    5.0
    """
    shared = [a - y.get(column, 0.0) for column, a in x.items()]
    return math.hypot(*shared, *[b for column, b in y.items() if column not in x])
