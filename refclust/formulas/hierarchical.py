"""Chapter 20: agglomerative clustering. Clusters are sets of rows, a tree is its list of merges.

Letters: w distances of rows as a square matrix, A and B clusters (sorted tuples of rows), a, b and
k also their sizes. The rules of HC-LW are float operations by definition, so that ``in_floats`` is
the one place of the room where arithmetic is rounded; the linkages themselves are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

from refclust.errors import BadOption, KOutOfRange, NotSymmetric
from refclust.formulas.vectors import (
    Exact,
    Number,
    Vector,
    absolute,
    cosine,
    exact,
    scaled,
    some,
    squared_distance,
    sum_of,
    total,
)
from refclust.numbers.real import Real, sqrt

Cluster: TypeAlias = tuple[int, ...]
Merge: TypeAlias = tuple[int, int, Any, int]  # two clusters, a height, how many rows
Update: TypeAlias = Callable[[int, int, int, Any, Any, Any], Any]
SQUARES: Final = ("centroid", "median", "ward")  # linkages on squared distances


def merges(w: Sequence[Sequence[Any]], update: Update) -> list[Merge]:
    """Join the two closest clusters until one is left.

    ``update(a, b, k, x, y, d)`` is the distance of a joined cluster from another (HC-LW).

    Defines: HC-AGG

    >>> merges([[0, 1, 5], [1, 0, 4], [5, 4, 0]], lambda a, b, k, x, y, d: min(x, y))
    [(0, 1, 1, 2), (2, 3, 4, 3)]
    """
    some(w)
    n = len(w)
    number = {i: i for i in range(n)}  # of the cluster whose smallest row is i
    size = dict.fromkeys(range(n), 1)
    d = {(i, j): w[i][j] for i in range(n) for j in range(i + 1, n)}
    table: list[Merge] = []
    while d:
        i, j = closest(d)
        first, second = sorted((number[i], number[j]))
        table.append((first, second, d[i, j], size[i] + size[j]))
        for k in number.keys() - {i, j}:
            x, y = d[min(i, k), max(i, k)], d.pop((min(j, k), max(j, k)))
            d[min(i, k), max(i, k)] = update(size[i], size[j], size[k], x, y, d[i, j])
        number[i], size[i] = n + len(table) - 1, size[i] + size.pop(j)
        del number[j], d[i, j]
    return table


def closest(d: dict[tuple[int, int], Any]) -> tuple[int, int]:
    """The pair to merge: of the closest ones the first, clusters being known by smallest rows.

    Defines: HC-TIE

    >>> closest({(0, 2): 1, (0, 1): 1, (1, 2): 5})
    (0, 1)
    """
    return min(d, key=lambda pair: (d[pair], pair))


def lance_williams(linkage: str, a: int, b: int, k: int, x: Number, y: Number, d: Number) -> Exact:
    """The distance of a joined cluster from another, from the three distances before.

    Defines: HC-LW

    >>> lance_williams("average", 1, 3, 2, 4, 8, 5), lance_williams("single", 1, 3, 2, 4, 8, 5)
    (Fraction(7, 1), Fraction(4, 1))
    """
    half, ab, abk = Fraction(1, 2), a + b, a + b + k
    alpha_a, alpha_b, beta, gamma = {
        "single": (half, half, Fraction(), -half),
        "complete": (half, half, Fraction(), half),
        "average": (Fraction(a, ab), Fraction(b, ab), Fraction(), Fraction()),
        "weighted": (half, half, Fraction(), Fraction()),
        "centroid": (Fraction(a, ab), Fraction(b, ab), -Fraction(a * b, ab**2), Fraction()),
        "median": (half, half, -Fraction(1, 4), Fraction()),
        "ward": (Fraction(a + k, abk), Fraction(b + k, abk), -Fraction(k, abk), Fraction()),
    }[linkage]
    x, y, d = exact(x), exact(y), exact(d)
    return alpha_a * x + alpha_b * y + beta * d + gamma * absolute(x - y)


def single(w: Sequence[Sequence[Number]], a: Cluster, b: Cluster) -> Exact:
    """The distance of the nearest pair.

    Defines: HC-SINGLE

    >>> single([[0, 1, 5], [1, 0, 4], [5, 4, 0]], (0, 1), (2,))
    Fraction(4, 1)
    """
    return min(exact(w[x][y]) for x in a for y in b)


def complete(w: Sequence[Sequence[Number]], a: Cluster, b: Cluster) -> Exact:
    """The distance of the farthest pair.

    Defines: HC-COMPLETE

    >>> complete([[0, 1, 5], [1, 0, 4], [5, 4, 0]], (0, 1), (2,))
    Fraction(5, 1)
    """
    return max(exact(w[x][y]) for x in a for y in b)


def average(w: Sequence[Sequence[Number]], a: Cluster, b: Cluster) -> Exact:
    """The mean distance of all pairs.

    Defines: HC-AVERAGE

    >>> average([[0, 1, 5], [1, 0, 4], [5, 4, 0]], (0, 1), (2,))
    Fraction(9, 2)
    """
    return total(w[x][y] for x in a for y in b) / (len(a) * len(b))


def weighted(x: Number, y: Number) -> Exact:
    """The mean of the distances of two joined clusters from another, whatever their sizes.

    Defines: HC-WEIGHTED

    >>> weighted(4, 5)
    Fraction(9, 2)
    """
    return (exact(x) + exact(y)) / 2


def centroid(rows: Sequence[Vector], a: Cluster, b: Cluster) -> Real:
    """The distance of the means.

    Defines: HC-CENTROID

    >>> float(centroid([[0, 0], [0, 8], [3, 0]], (0, 1), (2,)))
    5.0
    """
    return sqrt(squared_distance(centre_of(rows, a), centre_of(rows, b)))


def median(first: tuple[Any, Any], second: tuple[Any, Any]) -> Real:
    """The distance of two points, each half-way between those of the clusters it was made of.

    Defines: HC-MEDIAN

    >>> float(median(([0, 0], [0, 8]), ([3, 0], [3, 0])))
    5.0
    """
    return sqrt(squared_distance(*(scaled(Fraction(1, 2), sum_of(two)) for two in (first, second))))


def ward(rows: Sequence[Vector], a: Cluster, b: Cluster) -> Real:
    """The root of twice the rise of the sum of squares.

    Defines: HC-WARD

    >>> float(ward([[0], [2], [5]], (0, 1), (2,)))
    4.618802153517006
    """
    sizes = Fraction(2 * len(a) * len(b), len(a) + len(b))
    return sqrt(sizes * squared_distance(centre_of(rows, a), centre_of(rows, b)))


def inversions(table: Sequence[Merge], n: int) -> int:
    """How many merges are lower than one of the clusters that they join.

    Defines: HC-INV

    >>> inversions([(0, 1, 5, 2), (2, 3, 4, 3)], 3)
    1
    """
    height = [*([0] * n), *(h for _, _, h, _ in table)]
    return sum(h < max(height[first], height[second]) for first, second, h, _ in table)


def given_distances(w: Sequence[Sequence[Number]]) -> tuple[tuple[Exact, ...], ...]:
    """A matrix of distances, if it is one.

    Defines: HC-GIVEN

    >>> given_distances([[0, 0.5], [0.5, 0]])[0][1]
    Fraction(1, 2)
    """
    some(w)
    n, distances = len(w), tuple(tuple(map(exact, row)) for row in w)
    if any(len(row) != n for row in distances):
        raise NotSymmetric("a matrix of distances is square")
    for i in range(n):
        for j in range(n):
            if distances[i][j] != distances[j][i] or distances[i][j] < 0 or distances[i][i]:
                raise NotSymmetric(f"the entry ({i}, {j}) is no distance: {w[i][j]!r}")
    return distances


def cut(table: Sequence[Merge], n: int, k: int) -> list[int]:
    """The labels of the clusters after n - k merges.

    Defines: HC-CUT

    >>> cut([(0, 2, 1, 2), (1, 3, 4, 3)], 3, 2)
    [0, 1, 0]
    """
    if not 1 <= k <= n:
        raise KOutOfRange(f"{n} rows cannot be cut into {k} clusters")
    return labelled(clusters_after(table[: n - k], n), n)


def cut_at(table: Sequence[Merge], n: int, h: Number) -> list[int]:
    """The labels of the largest clusters in which no merge is higher than h.

    Defines: HC-CUTH

    >>> cut_at([(0, 2, 1, 2), (1, 3, 4, 3)], 3, 2.5)
    [0, 1, 0]
    """
    if isinstance(h, float) and math.isnan(h):
        raise BadOption("the height is no number")
    highest: list[Any] = [-math.inf] * n
    for first, second, height, _ in table:
        highest.append(max(height, highest[first], highest[second]))
    low = [merge if highest[n + t] <= h else None for t, merge in enumerate(table)]
    return labelled(clusters_after(low, n), n)


def cophenetic(table: Sequence[Merge], n: int) -> list[Any]:
    """For each pair of rows the height of the merge that first joins them, in condensed form.

    Defines: HC-COPH

    >>> cophenetic([(0, 2, 1, 2), (1, 3, 4, 3)], 3)
    [4, 1, 4]
    """
    members = all_members(table, n)
    joined = {}
    for first, second, height, _ in table:
        for x in members[first]:
            for y in members[second]:
                joined[min(x, y), max(x, y)] = height
    return [joined[i, j] for i in range(n) for j in range(i + 1, n)]


def leaf_order(table: Sequence[Merge], n: int) -> list[int]:
    """The rows from left to right as a dendrogram draws them.

    Defines: HC-LEAF

    >>> leaf_order([(1, 2, 1, 2), (0, 3, 4, 3)], 3)
    [0, 1, 2]
    """
    order = [[i] for i in range(n)]
    for first, second, _, _ in table:
        left, right = sorted((order[first], order[second]), key=min)
        order.append(left + right)
    return order[-1]


def cosine_distance(x: Vector, y: Vector) -> Real:
    """One minus the cosine of two vectors.

    Defines: DIST-COS

    >>> cosine_distance([3, 4], [4, 3]).fraction
    Fraction(1, 25)
    """
    return 1 - cosine(x, y)


# What several clauses share.


def in_floats(linkage: str, a: int, b: int, k: int, x: float, y: float, d: float) -> float:
    """The update of HC-LW as it is done: IEEE doubles, from left to right, none fused.

    Spec: HC-LW

    >>> in_floats("ward", 1, 1, 1, 4.0, 9.0, 1.0)
    8.333333333333334
    """
    low, high = min(x, y), max(x, y)
    if linkage == "single":
        return low
    if linkage == "complete":
        return high
    if linkage == "average":
        return min(max((a * x + b * y) / (a + b), low), high)
    if linkage == "weighted":
        return (x + y) / 2
    if linkage == "centroid":
        return (a * x + b * y) / (a + b) - (a * b) * d / ((a + b) * (a + b))
    if linkage == "median":
        return (x + y) / 2 - d / 4
    return max(((a + k) * x + (b + k) * y - k * d) / (a + b + k), low)


def centre_of(rows: Sequence[Vector], cluster: Cluster) -> Any:
    """The mean of the rows of a cluster.

    Spec: HC-CENTROID

    >>> centre_of([[0], [4], [9]], (0, 1))
    (Fraction(2, 1),)
    """
    return scaled(Fraction(1, len(cluster)), sum_of(rows[i] for i in cluster))


def all_members(table: Sequence[Merge | None], n: int) -> list[Cluster]:
    """The rows of every cluster of a tree, by its number.

    Spec: HC-AGG

    >>> all_members([(0, 2, 1, 2)], 3)[3]
    (0, 2)
    """
    members: list[Cluster] = [(i,) for i in range(n)]
    for merge in table:
        joined = () if merge is None else members[merge[0]] + members[merge[1]]
        members.append(tuple(sorted(joined)))
    return members


def clusters_after(table: Sequence[Merge | None], n: int) -> list[Cluster]:
    """The clusters that are left after some merges.

    Spec: HC-CUT

    >>> clusters_after([(0, 2, 1, 2)], 3)
    [(1,), (0, 2)]
    """
    members = all_members(table, n)
    gone = {place for merge in table if merge is not None for place in merge[:2]}
    return [rows for place, rows in enumerate(members) if rows and place not in gone]


def labelled(clusters: Sequence[Cluster], n: int) -> list[int]:
    """Labels by the smallest rows of clusters.

    Spec: HC-CUT

    >>> labelled([(1,), (0, 2)], 3)
    [0, 1, 0]
    """
    ordered = sorted(clusters)
    return [next(k for k, rows in enumerate(ordered) if i in rows) for i in range(n)]
