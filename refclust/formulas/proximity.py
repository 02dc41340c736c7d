"""Chapter 46: one clustering judged by its pairs of objects, from rows or from proximities.

Rows have Euclidean distances; a matrix holds distances, or similarities where it says so. Lengths
are compared by their squares, which are rational, so that no order of pairs is ever a matter of
digits. A weight counts an object as so many objects at distance 0 from each other.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Final

from refclust.errors import BadOption
from refclust.formulas.clustered import Clustered, choose_2, pairs
from refclust.formulas.contingency import Count
from refclust.formulas.declared import ANY, INFINITY, metric
from refclust.formulas.undefined import Undefined, ratio
from refclust.formulas.vectors import (
    Exact,
    Number,
    Vector,
    distance,
    exact,
    scaled,
    squared_distance,
    sum_of,
    total,
)
from refclust.numbers.real import Real, maximum, minimum, real, sqrt

_READABLE: Final = 12  # objects whose steps an explanation shows one by one
ONE_CLUSTER: Final = "there is one cluster only"

BETWEEN: Final = (
    "nearest",
    "farthest",
    "mean",
    "centres",
    "own_centres",
    "hausdorff",
    "to_centre",
)
WITHIN: Final = ("farthest", "mean", "centre", "radius")


# -- proximities ----------------------------------------------------------------------------


def proximity(clustered: Clustered, i: int, j: int) -> Exact:
    """The proximity of two objects: the one that was given, or the distance of their rows.

    Spec: DIST-MAT

    >>> proximity(Clustered.of([[0, 0], [3, 4]], "ab"), 0, 1) == 5
    True
    """
    if clustered.proximities is not None:
        return exact(clustered.proximities[i][j])
    return distance(clustered.points[i], clustered.points[j])


def squared(clustered: Clustered, i: int, j: int) -> Fraction:
    """The squared distance of two objects, which is rational and orders as distances do.

    Spec: VEC-SQDIST

    >>> squared(Clustered.of([[0, 0], [3, 4]], "ab"), 0, 1)
    Fraction(25, 1)
    """
    if clustered.proximities is None:
        return squared_length(clustered.points[i], clustered.points[j])
    square = exact(clustered.proximities[i][j]) ** 2
    assert isinstance(square, Fraction)
    return square


def squared_length(x: Vector, y: Vector) -> Fraction:
    """The squared distance of two rows, whose components are rational.

    Spec: VEC-SQDIST
    """
    square = squared_distance(x, y)
    assert isinstance(square, Fraction)
    return square


def shortest_paths(n: int, edges: Iterable[tuple[int, int, Number]]) -> list[list[Exact | float]]:
    """The lengths of the shortest paths between the nodes of a graph, infinite where there is none.

    Defines: DIST-SP

    >>> shortest_paths(4, [(0, 1, 1), (1, 2, 2), (0, 2, 5)])[0]
    [Fraction(0, 1), Fraction(1, 1), Fraction(3, 1), inf]
    """
    paths: list[list[Exact | float]] = [[INFINITY] * n for _ in range(n)]
    for i in range(n):
        paths[i][i] = Fraction()
    for i, j, length in edges:
        step = exact(length)
        if step < 0:
            raise BadOption(f"the edge from {i} to {j} has length {length}; none is negative")
        paths[i][j] = paths[j][i] = min(paths[i][j], step)
    for over in range(n):
        for i in range(n):
            for j in range(n):
                paths[i][j] = min(paths[i][j], paths[i][over] + paths[over][j])
    return paths


# -- cuts -----------------------------------------------------------------------------------


def weight(clustered: Clustered, s: Iterable[int], r: Sequence[int]) -> Exact:
    """The sum of proximities from the objects of one set to those of another.

    Defines: INT-WSR

    >>> weight(Clustered.of([[0], [1], [5]], "aab"), [0, 1], [2]) == 9
    True
    """
    w = clustered.weight
    return total(times(w(i) * w(j), proximity(clustered, i, j)) for i in s for j in r)


def cluster_weight(clustered: Clustered, k: int, m: int) -> Real:
    """The sum of proximities from the objects of one cluster to those of another.

    Spec: INT-WSR
    """
    if clustered.passes is not None:
        sums = clustered.passes.cluster_sum(k, m)
    else:
        sums = real(weight(clustered, clustered.members(k), clustered.members(m)))
    return step(clustered, sums, "W", k, m)


def weight_inside(clustered: Clustered, k: int) -> Real:
    """The sum of proximities over ordered pairs of objects of one cluster.

    Defines: INT-WII

    >>> weight_inside(Clustered.of([[0], [1], [5]], "aab"), 0).fraction
    Fraction(2, 1)
    """
    return cluster_weight(clustered, k, k)


def weight_outside(clustered: Clustered, k: int) -> Real:
    """The sum of proximities from the objects of one cluster to those of all others.

    Spec: INT-WOUT

    >>> weight_outside(Clustered.of([[0], [1], [5]], "aab"), 0).fraction
    Fraction(9, 1)
    """
    others = (m for m in range(clustered.k) if m != k)
    return real(total(cluster_weight(clustered, k, m) for m in others))


def volume(clustered: Clustered, k: int) -> Real:
    """The sum of proximities from the objects of one cluster to all objects.

    Defines: INT-VOL

    >>> volume(Clustered.of([[0], [1], [5]], "aab"), 0).fraction
    Fraction(11, 1)
    """
    return weight_inside(clustered, k) + weight_outside(clustered, k)


@metric(
    "Weight within clusters",
    evidence="proximities",
    range=(0, INFINITY),
    better="lower",
    similarities="higher",
)
def weight_within(clustered: Clustered) -> Real:
    """The sum of proximities over pairs of objects that share a cluster.

    Defines: INT-WIN

    >>> weight_within(Clustered.of([[0], [1], [5]], "aab")).fraction
    Fraction(1, 1)
    """
    inside = total(weight_inside(clustered, k) for k in range(clustered.k))
    return real(inside / 2).named("W_in", r"W_{in}")


@metric(
    "Weight between clusters",
    evidence="proximities",
    range=(0, INFINITY),
    better="higher",
    similarities="lower",
)
def weight_between(clustered: Clustered) -> Real:
    """The sum of proximities over pairs of objects in different clusters.

    Defines: INT-WOUT

    >>> weight_between(Clustered.of([[0], [1], [5]], "aab")).fraction
    Fraction(9, 1)
    """
    outside = total(weight_outside(clustered, k) for k in range(clustered.k))
    return real(outside / 2).named("W_out", r"W_{out}")


@metric(
    "Normalised cut",
    evidence="proximities",
    range=(0, INFINITY),
    better="higher",
    similarities="lower",
    aliases=("ncut",),
)
def normalized_cut(clustered: Clustered) -> Real:
    """The shares of the volumes of clusters that lead out of them, added up.

    Defines: INT-NC

    >>> normalized_cut(Clustered.of([[0], [1], [10], [11]], "aabb")).fraction
    Fraction(40, 21)
    """
    shares = []
    for k in range(clustered.k):
        inside, outside = weight_inside(clustered, k), weight_outside(clustered, k)
        shares.append(ratio(outside, inside + outside, undefined="a cluster has no volume"))
    return real(total(shares)).named("NC")


@metric(
    "Ratio cut",
    evidence="proximities",
    range=(0, INFINITY),
    better="higher",
    similarities="lower",
    choices={"per": ("cluster", "all")},
)
def ratio_cut(clustered: Clustered, *, per: str = "cluster") -> Real:
    """The weight that leads out of each cluster, per object of it or per object at all.

    Defines: INT-RCUT

    >>> ratio_cut(Clustered.of([[0], [1], [5]], "aab")).fraction
    Fraction(27, 2)
    """
    sizes = clustered.sizes if per == "cluster" else (clustered.total,) * clustered.k
    cuts = (weight_outside(clustered, k) / sizes[k] for k in range(clustered.k))
    return real(total(cuts)).named("RC")


@metric(
    "Modularity",
    evidence="proximities",
    range=(-0.5, 1),
    better="lower",
    similarities="higher",
)
def modularity(clustered: Clustered) -> Real:
    """The share of all weight within clusters, less what their volumes would give by chance.

    Defines: INT-MODUL

    >>> modularity(Clustered.of([[0], [1], [10], [11]], "aabb")).fraction
    Fraction(-19, 42)
    """
    insides = [weight_inside(clustered, k) for k in range(clustered.k)]
    volumes = [a + weight_outside(clustered, k) for k, a in enumerate(insides)]
    everything = real(total(volumes)).named("W(V,V)")
    terms = (
        ratio(a, everything, undefined="there is no weight at all") - (v / everything) ** 2
        for a, v in zip(insides, volumes, strict=True)
    )
    return real(total(terms)).named("Q")


# -- silhouettes ----------------------------------------------------------------------------


def distance_sum(clustered: Clustered, i: int, k: int) -> Real:
    """The sum of distances from an object to the other objects of a cluster.

    Spec: INT-SIL

    >>> distance_sum(Clustered.of([[0], [1], [5]], "aab"), 2, 0).fraction
    Fraction(9, 1)
    """
    if clustered.passes is not None:
        return clustered.passes.distance_sum(i, k)
    others = ((j, clustered.weight(j) - (i == j)) for j in clustered.members(k))
    return real(total(times(count, proximity(clustered, i, j)) for j, count in others if count))


def silhouette_of(clustered: Clustered, i: int) -> Real:
    """How much closer an object is to its own cluster than to the nearest other one.

    Defines: INT-SIL

    >>> silhouette_of(Clustered.of([[0], [1], [5]], "aab"), 0).fraction
    Fraction(4, 5)
    """
    own, sizes = clustered.labels[i], clustered.sizes
    if clustered.k == 1:
        raise Undefined(f"0/0: {ONE_CLUSTER}")
    if sizes[own] == 1:
        return real(0)
    others = [distance_sum(clustered, i, k) / sizes[k] for k in range(clustered.k) if k != own]
    a = point_step(clustered, distance_sum(clustered, i, own) / (sizes[own] - 1), "a", i)
    b = point_step(clustered, minimum(*others), "b", i)
    return point_step(clustered, width(a, b), "s", i)


def width(a: Real, b: Real) -> Real:
    """The silhouette of an object by its distances from its own cluster and from another.

    Spec: INT-SIL

    >>> width(real(1), real(4)).fraction, width(real(0), real(0)).fraction
    (Fraction(3, 4), Fraction(0, 1))
    """
    order = (b - a).sign()
    if order == 0:
        return real(0)
    return (b - a) / (b if order > 0 else a)


def silhouettes(clustered: Clustered) -> list[Real]:
    """The silhouettes of all objects.

    Spec: INT-SIL

    >>> [s.fraction for s in silhouettes(Clustered.of([[0], [1], [5]], "aab"))]
    [Fraction(4, 5), Fraction(3, 4), Fraction(0, 1)]
    """
    return [silhouette_of(clustered, i) for i in range(clustered.n)]


def cluster_silhouette(clustered: Clustered, k: int) -> Real:
    """The mean silhouette of the objects of a cluster.

    Defines: INT-SILK

    >>> cluster_silhouette(Clustered.of([[0], [1], [5]], "aab"), 0).fraction
    Fraction(31, 40)
    """
    members = clustered.members(k)
    widths = total(times(clustered.weight(i), silhouette_of(clustered, i)) for i in members)
    return step(clustered, real(widths / clustered.sizes[k]), "s", k)


@metric(
    "Silhouette",
    evidence="proximities",
    range=(-1, 1),
    better="higher",
    integer=True,
    cost="table",
    choices={"average": ("points", "clusters", "larger")},
    variants={
        "point": {ANY: "INT-SIL"},
        "cluster": {ANY: "INT-SILK"},
        "average": {"points": "INT-SILAVG", "clusters": "INT-SILK", "larger": "INT-SILK"},
    },
)
def silhouette(
    clustered: Clustered,
    *,
    average: str = "points",
    point: Fraction | None = None,
    cluster: Fraction | None = None,
) -> Real:
    """The mean silhouette of all objects, or of clusters, of one cluster, of one object.

    Defines: INT-SILAVG

    >>> silhouette(Clustered.of([[0], [1], [5]], "aab")).fraction
    Fraction(31, 60)
    """
    if point is not None:
        return silhouette_of(clustered, numbered("point", point, clustered.n))
    if cluster is not None:
        return cluster_silhouette(clustered, numbered("cluster", cluster, clustered.k))
    if average != "points":
        least = 2 if average == "larger" else 1
        means = [
            cluster_silhouette(clustered, k)
            for k, size in enumerate(clustered.sizes)
            if size >= least
        ]
        return ratio(total(means), len(means), undefined="no two objects share a cluster").named(
            "S"
        )
    widths = total(times(clustered.weight(i), s) for i, s in enumerate(silhouettes(clustered)))
    return real(widths / clustered.total).named("S")


def medoid(clustered: Clustered, k: int) -> int:
    """The object of a cluster whose distances from the others of it have the least sum.

    Defines: INT-MEDOID

    >>> medoid(Clustered.of([[0], [1], [5]], "aaa"), 0)
    1
    """
    return min(clustered.members(k), key=lambda i: distance_sum(clustered, i, k))


@metric(
    "Medoid silhouette",
    evidence="proximities",
    range=(-1, 1),
    better="higher",
    integer=True,
    cost="table",
)
def medoid_silhouette(clustered: Clustered) -> Real:
    """The mean silhouette of all objects by their distances from medoids.

    Defines: INT-MSIL

    >>> medoid_silhouette(Clustered.of([[0], [1], [5]], "aab")).fraction
    Fraction(11, 12)
    """
    if clustered.k == 1:
        raise Undefined(f"0/0: {ONE_CLUSTER}")
    medoids = [medoid(clustered, k) for k in range(clustered.k)]
    widths = []
    for i, own in enumerate(clustered.labels):
        lengths = [real(proximity(clustered, i, m)) for m in medoids]
        a = lengths.pop(own)
        s_i = point_step(clustered, width(a, minimum(*lengths)), "s", i)
        widths.append(times(clustered.weight(i), s_i))
    return real(total(widths) / clustered.total).named("MS")


# -- Dunn -----------------------------------------------------------------------------------


def nearest_squared(clustered: Clustered, k: int, m: int) -> Fraction:
    """The least squared distance between objects of two clusters.

    Spec: INT-DELTA
    """
    if clustered.passes is not None:
        return clustered.passes.nearest_squared(k, m)
    return min(squared(clustered, i, j) for i in clustered.members(k) for j in clustered.members(m))


def farthest_squared(clustered: Clustered, k: int, m: int) -> Fraction:
    """The largest squared distance between objects of two clusters, or of one.

    Spec: INT-DELTA
    """
    if clustered.passes is not None:
        return clustered.passes.farthest_squared(k, m)
    return max(squared(clustered, i, j) for i in clustered.members(k) for j in clustered.members(m))


def hausdorff_squared(clustered: Clustered, k: int, m: int) -> Fraction:
    """The largest squared distance from an object of a cluster to the nearest one of another.

    Spec: INT-DELTA
    """
    if clustered.passes is not None:
        return clustered.passes.hausdorff_squared(k, m)
    return max(
        min(squared(clustered, i, j) for j in clustered.members(m)) for i in clustered.members(k)
    )


def centre(clustered: Clustered, k: int) -> Vector:
    """The mean of the rows of a cluster, weights counted.

    Spec: KM-CENTROID

    >>> centre(Clustered.of([[0], [1], [5]], "aab"), 0)
    (Fraction(1, 2),)
    """
    weighed = (scaled(clustered.weight(i), clustered.points[i]) for i in clustered.members(k))
    mean: Vector = scaled(Fraction(1) / clustered.sizes[k], sum_of(weighed))
    return mean


def centre_distances(clustered: Clustered, k: int) -> Real:
    """The sum of distances from the objects of a cluster to its centre.

    Spec: INT-DELTA

    >>> centre_distances(Clustered.of([[0], [1], [5]], "aab"), 0).fraction
    Fraction(1, 1)
    """
    if clustered.passes is not None:
        return clustered.passes.centre_distances(k)
    mean, points = centre(clustered, k), clustered.points
    away = (times(clustered.weight(i), distance(points[i], mean)) for i in clustered.members(k))
    return real(total(away))


def separation(clustered: Clustered, k: int, m: int, between: str) -> Real:
    """How far apart two clusters are, in one of seven ways.

    Defines: INT-DELTA

    >>> clustered = Clustered.of([[0], [1], [5]], "aab")
    >>> [separation(clustered, 0, 1, way).fraction for way in BETWEEN[:4]]
    [Fraction(4, 1), Fraction(5, 1), Fraction(9, 2), Fraction(9, 2)]
    """
    sizes = clustered.sizes
    match between:
        case "nearest":
            apart = sqrt(nearest_squared(clustered, k, m))
        case "farthest":
            apart = sqrt(farthest_squared(clustered, k, m))
        case "mean":
            apart = cluster_weight(clustered, k, m) / (sizes[k] * sizes[m])
        case "centres":
            apart = distance(centre(clustered, k), centre(clustered, m))
        case "own_centres":
            sums = centre_distances(clustered, k) + centre_distances(clustered, m)
            apart = sums / (sizes[k] + sizes[m])
        case "to_centre":
            mean, points = centre(clustered, k), clustered.points
            apart = sqrt(min(squared_length(points[j], mean) for j in clustered.members(m)))
        case _:
            there, back = hausdorff_squared(clustered, k, m), hausdorff_squared(clustered, m, k)
            apart = sqrt(max(there, back))
    return step(clustered, apart, "δ", k, m)


def diameter(clustered: Clustered, k: int, within: str) -> Real:
    """How wide a cluster is, in one of four ways.

    Defines: INT-DIAM

    >>> clustered = Clustered.of([[0], [1], [5]], "aaa")
    >>> [diameter(clustered, 0, way).fraction for way in WITHIN]
    [Fraction(5, 1), Fraction(10, 3), Fraction(4, 1), Fraction(3, 1)]
    """
    n = clustered.sizes[k]
    if n == 1:
        wide = real(0)
    elif within == "farthest":
        wide = sqrt(farthest_squared(clustered, k, k))
    elif within == "mean":
        wide = cluster_weight(clustered, k, k) / (n * (n - 1))
    elif within == "centre":
        wide = 2 * centre_distances(clustered, k) / n
    else:
        mean, points = centre(clustered, k), clustered.points
        wide = sqrt(max(squared_length(points[i], mean) for i in clustered.members(k)))
    return step(clustered, wide, "Δ", k)


@metric(
    "Dunn's index",
    evidence="proximities",
    range=(0, INFINITY),
    better="higher",
    integer=True,
    cost="table",
    aliases=("generalized_dunn",),
    choices={"between": BETWEEN, "within": WITHIN},
)
def dunn(clustered: Clustered, *, between: str = "nearest", within: str = "farthest") -> Real:
    """The least separation of two clusters over the largest diameter of one.

    Defines: INT-DUNN

    >>> dunn(Clustered.of([[0], [1], [5]], "aab")).fraction
    Fraction(4, 1)
    """
    if clustered.k == 1:
        raise Undefined(f"0/0: {ONE_CLUSTER}")
    least = minimum(*(separation(clustered, k, m, between) for k, m in pairs(clustered.k)))
    widest = maximum(*(diameter(clustered, k, within) for k in range(clustered.k)))
    return ratio(least, widest, undefined="no cluster has two different objects").named("D")


# -- orders of pairs ------------------------------------------------------------------------


def pair_counts(clustered: Clustered) -> tuple[Fraction, Fraction]:
    """How many pairs of objects share a cluster, and how many do not.

    Defines: INT-PAIRS

    >>> pair_counts(Clustered.of([[0], [1], [5]], "aab"))
    (Fraction(1, 1), Fraction(2, 1))
    """
    inside = sum(map(choose_2, clustered.sizes), Fraction())
    return inside, choose_2(clustered.total) - inside


def squared_lengths(clustered: Clustered) -> list[tuple[Fraction, bool, Count]]:
    """All pairs of objects by squared length: whether they share a cluster, and how often.

    Spec: INT-PAIRS

    >>> squared_lengths(Clustered.of([[0], [2]], "aa", [2, 1]))
    [(Fraction(0, 1), True, Fraction(1, 1)), (Fraction(4, 1), True, 2)]
    """
    w, y = clustered.weight, clustered.labels
    copies = [
        (squared(clustered, i, i), True, choose_2(w(i))) for i in range(clustered.n) if w(i) > 1
    ]
    different = [
        (squared(clustered, i, j), y[i] == y[j], w(i) * w(j)) for i, j in pairs(clustered.n)
    ]
    return sorted(copies + different)


def extreme_sum(clustered: Clustered, count: Fraction, *, largest: bool = False) -> Real:
    """The sum of so many least, or largest, distances among all pairs.

    Spec: INT-CINDEX

    >>> extreme_sum(Clustered.of([[0], [1], [5]], "aab"), Fraction(2)).fraction
    Fraction(5, 1)
    """
    if clustered.passes is not None:
        passes = clustered.passes
        return passes.largest_sum(int(count)) if largest else passes.least_sum(int(count))
    lengths = squared_lengths(clustered)
    terms, left = [], count
    for square, _, available in reversed(lengths) if largest else lengths:
        if left:
            taken = min(available, left)
            terms.append(times(taken, sqrt(square)))
            left -= taken
    return real(total(terms))


@metric(
    "C-index",
    evidence="proximities",
    range=(0, 1),
    better="lower",
    integer=True,
    cost="table",
)
def c_index(clustered: Clustered) -> Real:
    """Where the sum of distances within clusters lies between the least and the largest possible.

    Defines: INT-CINDEX

    >>> c_index(Clustered.of([[0], [1], [5]], "aba")).fraction
    Fraction(1, 1)
    """
    inside, _ = pair_counts(clustered)
    least = extreme_sum(clustered, inside).named("S_min", r"S_{\min}")
    largest = extreme_sum(clustered, inside, largest=True).named("S_max", r"S_{\max}")
    top = weight_within(clustered) - least
    return ratio(top, largest - least, undefined="every choice of pairs has one sum").named("C")


@metric(
    "BetaCV",
    evidence="proximities",
    range=(0, INFINITY),
    better="lower",
    integer=True,
    cost="table",
    aliases=("mcclain_rao",),
)
def beta_cv(clustered: Clustered) -> Real:
    """The mean distance within clusters over the mean distance between them.

    Defines: INT-BETACV

    >>> beta_cv(Clustered.of([[0], [1], [5]], "aab")).fraction
    Fraction(2, 9)
    """
    inside, between = mean_distances(clustered)
    return ratio(inside, between, undefined="all objects are equal").named("BetaCV")


def mean_distances(clustered: Clustered) -> tuple[Real, Real]:
    """The mean distance of pairs that share a cluster, and of those that do not.

    Spec: INT-BETACV

    >>> [d.fraction for d in mean_distances(Clustered.of([[0], [1], [5]], "aab"))]
    [Fraction(1, 1), Fraction(9, 2)]
    """
    inside, between = pair_counts(clustered)
    return (
        ratio(weight_within(clustered), inside, undefined="no two objects share a cluster"),
        ratio(weight_between(clustered), between, undefined=ONE_CLUSTER),
    )


def orders(clustered: Clustered) -> tuple[Count, Count]:
    """How often a pair within a cluster is closer, and farther apart, than a pair between clusters.

    Defines: INT-ORDERS

    >>> orders(Clustered.of([[0], [1], [5]], "aba"))
    (0, 2)
    """
    if clustered.passes is not None:
        return clustered.passes.orders()
    lengths = squared_lengths(clustered)
    between = [(square, count) for square, inside, count in lengths if not inside]
    squares = [square for square, _ in between]
    below = [*accumulate((count for _, count in between), initial=0)]
    closer: Count = 0
    farther: Count = 0
    for square, inside, count in lengths:
        if inside:
            closer += count * (below[-1] - below[bisect_right(squares, square)])
            farther += count * below[bisect_left(squares, square)]
    return closer, farther


@metric(
    "Baker and Hubert's gamma",
    evidence="proximities",
    range=(-1, 1),
    better="higher",
    integer=True,
    cost="table",
    aliases=("gamma",),
)
def baker_hubert_gamma(clustered: Clustered) -> Real:
    """The share of comparisons that speak for the clusters, less the share against, ties aside.

    Defines: INT-GAMMA

    >>> baker_hubert_gamma(Clustered.of([[0], [1], [5]], "aab")).fraction
    Fraction(1, 1)
    """
    closer, farther = orders(clustered)
    undefined = "no pair within a cluster is closer or farther than one between clusters"
    return ratio(closer - farther, closer + farther, undefined=undefined).named("Γ", r"\Gamma")


@metric(
    "Tau of distances and clusters",
    evidence="proximities",
    range=(-1, 1),
    better="higher",
    integer=True,
    cost="table",
    aliases=("tau",),
)
def tau_index(clustered: Clustered) -> Real:
    """The comparisons for the clusters less those against, over a mean of all there could be.

    Defines: INT-TAU

    >>> tau_index(Clustered.of([[0], [1], [5]], "aab")) == 2 / sqrt(6)
    True
    """
    closer, farther = orders(clustered)
    inside, between = pair_counts(clustered)
    most = inside * between * choose_2(inside + between)
    undefined = "there are no two pairs, one within a cluster and one between clusters"
    return ratio(closer - farther, sqrt(most), undefined=undefined).named("τ", r"\tau")


@metric(
    "G+",
    evidence="proximities",
    range=(0, 1),
    better="lower",
    integer=True,
    cost="table",
)
def g_plus(clustered: Clustered) -> Real:
    """The share of all comparisons of pairs that speak against the clusters.

    Defines: INT-GPLUS

    >>> g_plus(Clustered.of([[0], [1], [5]], "aba")).fraction
    Fraction(2, 3)
    """
    _, farther = orders(clustered)
    most = choose_2(choose_2(clustered.total))
    return ratio(farther, most, undefined="there are no two pairs").named("G+", "G_+")


@metric(
    "Point-biserial index, not divided by the deviation",
    evidence="proximities",
    range=(-INFINITY, INFINITY),
    better="lower",
    integer=True,
    cost="table",
)
def point_biserial_unscaled(clustered: Clustered) -> Real:
    """The mean distance within clusters less that between, times a mean of the shares of pairs.

    Defines: INT-PBRAW

    >>> point_biserial_unscaled(Clustered.of([[0], [1], [5]], "aab")) == -7 / sqrt(18)
    True
    """
    inside, between = pair_counts(clustered)
    near, far = mean_distances(clustered)
    return ((near - far) * sqrt(inside * between / (inside + between) ** 2)).named("PB")


@metric(
    "Point-biserial correlation",
    evidence="proximities",
    range=(-1, 1),
    better="higher",
    integer=True,
    cost="table",
    aliases=("pearson_gamma",),
)
def point_biserial(clustered: Clustered) -> Real:
    """The correlation of the distances of pairs with their being in different clusters.

    Defines: INT-PB

    >>> point_biserial(Clustered.of([[0], [1], [5]], "aab")) == 7 / sqrt(52)
    True
    """
    unscaled = point_biserial_unscaled(clustered)
    variance = length_variance(clustered)
    if variance.sign() == 0:
        raise Undefined("0/0: all distances are equal")
    return (-unscaled / sqrt(variance)).named("r")


def length_variance(clustered: Clustered) -> Real:
    """The variance of the distances of all pairs.

    Spec: INT-PB

    >>> length_variance(Clustered.of([[0], [1], [5]], "aab")).fraction
    Fraction(26, 9)
    """
    n = choose_2(clustered.total)
    if clustered.passes is not None:
        squares = clustered.passes.squared_sum()
    else:
        squares = sum((d * count for d, _, count in squared_lengths(clustered)), Fraction())
    mean = (weight_within(clustered) + weight_between(clustered)) / n
    return (squares / n - mean**2).named("s²", "s^2")


# -- Hubert ---------------------------------------------------------------------------------


@metric(
    "Hubert's statistic of distances and centres",
    evidence="rows",
    range=(0, INFINITY),
    better="neither",
    integer=True,
    cost="table",
)
def internal_hubert_raw(clustered: Clustered) -> Real:
    """The mean, over pairs, of the distance of two objects times that of their centres.

    Defines: INT-HUBERT

    >>> internal_hubert_raw(Clustered.of([[0], [1], [5]], "aab")).fraction
    Fraction(27, 2)
    """
    products = (
        cluster_weight(clustered, k, m) * apart for k, m, apart in centre_lengths(clustered)
    )
    undefined = "there is one object only"
    return ratio(total(products), choose_2(clustered.total), undefined=undefined).named("Γ")


@metric(
    "Hubert's statistic of distances and centres, normalised",
    evidence="rows",
    range=(-1, 1),
    better="higher",
    integer=True,
    cost="table",
)
def internal_hubert_normalized(clustered: Clustered) -> Real:
    """The correlation, over pairs, of the distance of two objects with that of their centres.

    Defines: INT-HUBERTN

    >>> internal_hubert_normalized(Clustered.of([[0], [1], [5]], "aab")) == 7 / sqrt(52)
    True
    """
    n, sizes = choose_2(clustered.total), clustered.sizes
    product = internal_hubert_raw(clustered)
    apart = [(sizes[k] * sizes[m], length) for k, m, length in centre_lengths(clustered)]
    mean = (weight_within(clustered) + weight_between(clustered)) / n
    centres = real(total(count * length for count, length in apart) / n)
    spread = real(total(count * length**2 for count, length in apart) / n) - centres**2
    variance = length_variance(clustered)
    if spread.sign() == 0 or variance.sign() == 0:
        raise Undefined("0/0: all distances, of objects or of centres, are equal")
    return ((product - mean * centres) / sqrt(variance * spread)).named("Γ_n", r"\hat\Gamma")


def centre_lengths(clustered: Clustered) -> list[tuple[int, int, Real]]:
    """The distances between the centres of all pairs of clusters.

    Spec: INT-HUBERT
    """
    centres = [centre(clustered, k) for k in range(clustered.k)]
    return [
        (k, m, step(clustered, distance(centres[k], centres[m]), "d", k, m))
        for k, m in pairs(clustered.k)
    ]


# What several clauses share.


def numbered(name: str, number: Number, count: int | None) -> int:
    """An option that is the number of an object or a cluster, counted from 0.

    Spec: none (an option of a call)
    """
    value = exact(number)
    least = 0 if count is not None else 1
    allowed = f"0 to {count - 1}" if count is not None else "1 or more"
    if not isinstance(value, Fraction) or value.denominator != 1 or value < least:
        raise BadOption(f"{name}={number} is not a whole number; allowed: {allowed}")
    if count is not None and value >= count:
        raise BadOption(f"{name}={number}; allowed: {allowed}")
    return int(value)


def times(count: Count, value: Exact) -> Exact:
    """A number so many times; once is the number itself, which derivations then show.

    Spec: NUM-STEPS
    """
    return value if count == 1 else count * value


def step(clustered: Clustered, value: Real, symbol: str, *clusters: int) -> Real:
    """A number of one or two clusters under their names, where there are few.

    Spec: NUM-STEPS
    """
    if clustered.k > _READABLE:
        return value
    names = ",".join(str(clustered.clusters[k]) for k in clusters)
    return value.named(f"{symbol}({names})")


def point_step(clustered: Clustered, value: Real, symbol: str, i: int) -> Real:
    """A number of one object under its place in the list, where there are few.

    Spec: NUM-STEPS
    """
    return value if clustered.n > _READABLE else value.named(f"{symbol}_{i}", f"{symbol}_{{{i}}}")
