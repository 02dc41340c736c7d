"""Chapter 45: scatter. How close objects lie within clusters, and how far clusters lie apart.

Letters: k and m clusters, μ means, S scatter matrices, W and B the sums of squares within and
between clusters, n the objects and K the clusters. Rows are rationals, so are sums of squares;
distances are roots of them. ``kept`` makes metrics of one clustering share what they need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from refclust.errors import BadOption
from refclust.formulas.clustered import Clustered, kept
from refclust.formulas.contingency import Count
from refclust.formulas.declared import INFINITY, metric
from refclust.formulas.kmeans import centre
from refclust.formulas.memberships import Memberships
from refclust.formulas.undefined import Undefined, ratio
from refclust.formulas.vectors import (
    Exact,
    Number,
    Vector,
    components,
    distance,
    exact,
    norm,
    outer,
    scaled,
    squared_distance,
    sum_of,
    together,
    total,
)
from refclust.numbers.linalg import (
    ExactMatrix,
    NotPositive,
    exact_determinant,
    exact_inverse,
    signed_determinant,
)
from refclust.numbers.real import Real, log, maximum, real, sqrt

BALL_HALL: Final = ("mean", "sum", "pooled")
COINCIDENT: Final = ("infinite", "ignored", "zero")
SEPARATIONS: Final = ("means", "points")
CENTRES: Final = ("own", "nearest")
ENTRIES: Final = ("plain", "scaled")
LONELY: Final = "there is only one cluster, so there are no two means"

# -- sizes, means, scatters -----------------------------------------------------------------


@kept
def size(clustered: Clustered, k: int) -> Exact:
    """How many objects a cluster has, weights counted.

    Defines: INT-SIZE

    >>> size(Clustered.of([[0], [1], [5]], "aab", [1, 3, 1]), 0)
    Fraction(4, 1)
    """
    return total(map(clustered.weight, clustered.members(k)))


@kept
def cluster_mean(clustered: Clustered, k: int) -> Any:
    """The mean of the rows of a cluster.

    Defines: INT-MEAN

    >>> cluster_mean(Clustered.of([[0, 2], [1, 2], [5, 5]], "aab"), 0)
    (Fraction(1, 2), Fraction(2, 1))
    """
    rows = clustered.members(k)
    return centre([clustered.points[i] for i in rows], [clustered.weight(i) for i in rows])


@kept
def overall_mean(clustered: Clustered) -> Any:
    """The mean of all rows.

    Defines: INT-TMEAN

    >>> overall_mean(Clustered.of([[0], [1], [5]], "aab"))
    (Fraction(2, 1),)
    """
    return centre(clustered.points, [clustered.weight(i) for i in range(clustered.n)])


@kept
def cluster_scatter(clustered: Clustered, k: int) -> ExactMatrix:
    """The scatter matrix of a cluster.

    Defines: INT-SI

    >>> cluster_scatter(Clustered.of([[0, 0], [2, 2], [5, 5]], "aab"), 0)[0]
    (Fraction(2, 1), Fraction(2, 1))
    """
    mean = cluster_mean(clustered, k)
    return sum_of(  # type: ignore[no-any-return]
        scaled(clustered.weight(i), outer(deviation(clustered, clustered.points[i], mean)))
        for i in clustered.members(k)
    )


@kept
def within_scatter(clustered: Clustered) -> ExactMatrix:
    """The scatter of all clusters about their means.

    Defines: INT-SW

    >>> within_scatter(Clustered.of([[0], [2], [5], [6]], "aabb"))
    ((Fraction(5, 2),),)
    """
    return sum_of(cluster_scatter(clustered, k) for k in range(clustered.k))  # type: ignore[no-any-return]


@kept
def between_scatter(clustered: Clustered) -> ExactMatrix:
    """The scatter of the means about the mean of all rows.

    Defines: INT-SB

    >>> between_scatter(Clustered.of([[0], [2], [5], [5]], "aabb"))
    ((Fraction(16, 1),),)
    """
    mean = overall_mean(clustered)
    return sum_of(  # type: ignore[no-any-return]
        scaled(size(clustered, k), outer(deviation(clustered, cluster_mean(clustered, k), mean)))
        for k in range(clustered.k)
    )


@kept
def total_scatter(clustered: Clustered) -> ExactMatrix:
    """The scatter of all rows about their mean.

    Defines: INT-ST

    >>> total_scatter(Clustered.of([[0], [2], [5], [5]], "aabb"))
    ((Fraction(18, 1),),)
    """
    mean = overall_mean(clustered)
    return sum_of(  # type: ignore[no-any-return]
        scaled(clustered.weight(i), outer(deviation(clustered, x, mean)))
        for i, x in enumerate(clustered.points)
    )


def traces(clustered: Clustered) -> tuple[Exact, Exact]:
    """The traces of the scatter within, which is to be low, and between, which is to be high.

    Defines: INT-TRACE

    >>> traces(Clustered.of([[0], [2], [5], [5]], "aabb"))
    (Fraction(2, 1), Fraction(16, 1))
    """
    return trace(within_scatter(clustered)), trace(between_scatter(clustered))


# -- sums of squares ------------------------------------------------------------------------


@metric(
    "Sum of squared errors",
    evidence="rows",
    range=(0, INFINITY),
    better="lower",
    aliases=("wgss", "inertia", "trace_w"),
)
def sse(clustered: Clustered) -> Real:
    """The squared distances of all rows from the means of their clusters, added up.

    Defines: INT-SSE

    >>> sse(Clustered.of([[0], [2], [5], [5]], "aabb"))
    Real('2')
    """
    squares = [cluster_sse(clustered, k) for k in range(clustered.k)]
    return named(total(squares), "W")


@metric(
    "Sum of squares between clusters",
    evidence="rows",
    range=(0, INFINITY),
    better="higher",
    aliases=("bgss", "trace_b"),
)
def bss(clustered: Clustered) -> Real:
    """The squared distances of the means from the mean of all rows, each as often as it has rows.

    Defines: INT-BSS

    >>> bss(Clustered.of([[0], [2], [5], [5]], "aabb"))
    Real('16')
    """
    mean = overall_mean(clustered)
    squares = [
        size(clustered, k) * squared_distance(cluster_mean(clustered, k), mean)
        for k in range(clustered.k)
    ]
    return named(total(squares), "B")


@kept
def tss(clustered: Clustered) -> Exact:
    """The squared distances of all rows from their mean, added up.

    Defines: INT-TSS

    >>> tss(Clustered.of([[0], [2], [5], [5]], "aabb"))
    Fraction(18, 1)
    """
    mean = overall_mean(clustered)
    return total(
        clustered.weight(i) * squared_distance(x, mean) for i, x in enumerate(clustered.points)
    )


@metric("R squared", evidence="rows", range=(0, 1), better="higher", aliases=("rsquared",))
def r_squared(clustered: Clustered) -> Real:
    """The share of the total sum of squares that lies between clusters.

    Defines: INT-R2

    >>> r_squared(Clustered.of([[0], [2], [5], [5]], "aabb")).fraction
    Fraction(8, 9)
    """
    return ratio(bss(clustered), named(tss(clustered), "T"), undefined="all rows are equal")


@metric(
    "Ratio of the traces",
    evidence="rows",
    range=(0, INFINITY),
    better="higher",
)
def trace_ratio(clustered: Clustered) -> Real:
    """The scatter between clusters over the scatter within.

    Defines: INT-TRRATIO

    >>> trace_ratio(Clustered.of([[0], [2], [5], [5]], "aabb")).fraction
    Fraction(8, 1)
    """
    return ratio(bss(clustered), sse(clustered), undefined="no cluster is scattered")


@metric(
    "Log ratio of sums of squares",
    evidence="rows",
    range=(-INFINITY, INFINITY),
    better="higher",
    aliases=("log_ss_ratio",),
)
def log_trace_ratio(clustered: Clustered) -> Real:
    """The logarithm of the scatter between clusters over the scatter within.

    Defines: INT-LOGSS

    >>> log_trace_ratio(Clustered.of([[0], [2], [5], [5]], "aabb")) == log(8)
    True
    """
    return log_of(trace_ratio(clustered), "all clusters have the same mean")


@metric(
    "Calinski–Harabasz index",
    evidence="rows",
    range=(0, INFINITY),
    better="higher",
    integer=True,
    aliases=("ch", "variance_ratio"),
)
def calinski_harabasz(clustered: Clustered) -> Real:
    """The variance between clusters over the variance within.

    Defines: INT-CH

    >>> calinski_harabasz(Clustered.of([[0], [2], [5], [5]], "aabb")).fraction
    Fraction(16, 1)
    """
    b, w = bss(clustered), sse(clustered)
    n, k = clustered.total, clustered.k
    return ratio(b * (n - k), w * (k - 1), undefined="no variance within, or none between")


@metric(
    "Root mean square standard deviation",
    evidence="rows",
    range=(0, INFINITY),
    better="lower",
    integer=True,
)
def rmsstd(clustered: Clustered) -> Real:
    """The pooled standard deviation of a column within clusters.

    Defines: INT-RMSSTD

    >>> rmsstd(Clustered.of([[0], [2], [5], [5]], "aabb")).fraction
    Fraction(1, 1)
    """
    freedom = len(coordinates(clustered)) * (clustered.total - clustered.k)
    return sqrt(ratio(sse(clustered), freedom, undefined="every cluster has one object"))


@metric(
    "Ball–Hall index",
    evidence="rows",
    range=(0, INFINITY),
    better="lower",
    choices={"form": BALL_HALL},
)
def ball_hall(clustered: Clustered, *, form: str = "mean") -> Real:
    """The mean squared distance of rows from their mean, as a mean over clusters.

    Defines: INT-BALL

    >>> example = Clustered.of([[0], [2], [5]], "aab")
    >>> [ball_hall(example, form=form).fraction for form in BALL_HALL]
    [Fraction(1, 2), Fraction(1, 1), Fraction(1, 1)]
    """
    if form == "pooled":
        return sse(clustered) / clustered.k
    means = [
        named(cluster_sse(clustered, k) / size(clustered, k), symbol(clustered, "D", k))
        for k in range(clustered.k)
    ]
    return real(total(means)) if form == "sum" else average(means)


@metric("Banfield–Raftery index", evidence="rows", range=(-INFINITY, INFINITY), better="lower")
def banfield_raftery(clustered: Clustered) -> Real:
    """The logarithms of the mean squared distances within clusters, by their sizes.

    Defines: INT-BR

    >>> banfield_raftery(Clustered.of([[0], [4], [5], [7]], "aabb")) == 2 * log(4)
    True
    """
    terms = []
    for k in range(clustered.k):
        n_k = size(clustered, k)
        spread_k = named(cluster_sse(clustered, k) / n_k, symbol(clustered, "D", k))
        terms.append(n_k * log_of(spread_k, "a cluster is not scattered"))
    return real(total(terms))


@metric("Ratkowsky–Lance index", evidence="rows", range=(0, 1), better="higher")
def ratkowsky_lance(clustered: Clustered) -> Real:
    """The root of the share of scatter between clusters, a mean over columns, per cluster.

    Defines: INT-RL

    >>> ratkowsky_lance(Clustered.of([[0], [0], [5], [5]], "aabb")) == 1 / sqrt(2)
    True
    """
    between = column_squares(clustered)
    whole = [v * clustered.total for v in variances(clustered, None)]
    shares = [
        named(ratio(b, t, undefined="a column is constant"), f"R[{j}]")
        for j, (b, t) in enumerate(zip(between, whole, strict=True))
    ]
    return sqrt(average(shares) / clustered.k)


# -- determinants and inverses --------------------------------------------------------------


@metric(
    "Trace of the scatter between, relative to that within",
    evidence="rows",
    range=(0, INFINITY),
    better="higher",
    aliases=("trace_wib", "hotelling_lawley"),
)
def relative_trace(clustered: Clustered) -> Real:
    """The trace of the inverse scatter within, times the scatter between.

    Defines: INT-WIB

    >>> relative_trace(Clustered.of([[0], [2], [5], [5]], "aabb")).fraction
    Fraction(8, 1)
    """
    return real(
        trace_of_quotient(
            between_scatter(clustered), within_scatter(clustered), "the scatter within"
        )
    )


@metric(
    "Trace of the scatter within, relative to the total",
    evidence="rows",
    range=(0, INFINITY),
    better="lower",
    aliases=("trace_tiw",),
)
def residual_trace(clustered: Clustered) -> Real:
    """The trace of the inverse total scatter, times the scatter within.

    Defines: INT-TIW

    >>> residual_trace(Clustered.of([[0], [2], [5], [5]], "aabb")).fraction
    Fraction(1, 9)
    """
    return real(
        trace_of_quotient(within_scatter(clustered), total_scatter(clustered), "the total scatter")
    )


@metric("Determinant ratio", evidence="rows", range=(1, INFINITY), better="higher")
def det_ratio(clustered: Clustered) -> Real:
    """The determinant of the total scatter over that of the scatter within.

    Defines: INT-DETRATIO

    >>> det_ratio(Clustered.of([[0], [2], [5], [5]], "aabb")).fraction
    Fraction(9, 1)
    """
    whole = named(determinant(total_scatter(clustered)), "|T|", r"\det S_T")
    within = named(determinant(within_scatter(clustered)), "|W|", r"\det S_W")
    return ratio(whole, within, undefined="rows lie in a plane of fewer dimensions")


@metric("Log determinant ratio", evidence="rows", range=(0, INFINITY), better="higher")
def log_det_ratio(clustered: Clustered) -> Real:
    """The logarithm of the determinant ratio, times the number of objects.

    Defines: INT-LOGDET

    >>> log_det_ratio(Clustered.of([[0], [2], [5], [5]], "aabb")) == 4 * log(9)
    True
    """
    return clustered.total * log(det_ratio(clustered))


@metric(
    "K² det W",
    evidence="rows",
    range=(-INFINITY, INFINITY),
    better="lower",
    aliases=("ksq_detw", "marriott"),
    choices={"entries": ENTRIES},
)
def k_squared_det(clustered: Clustered, *, entries: str = "plain") -> Real:
    """The determinant of the scatter within, times the squared number of clusters.

    Defines: INT-KDET

    >>> k_squared_det(Clustered.of([[0], [2], [5], [5]], "aabb")).fraction
    Fraction(8, 1)
    """
    within = within_scatter(clustered)
    if entries == "plain":
        return clustered.k**2 * named(determinant(within), "|W|", r"\det S_W")
    low, high = min(map(min, within)), max(map(max, within))
    if low == high:
        raise Undefined("0/0: all entries of the scatter within are equal")
    unit = tuple(tuple((entry - low) / (high - low) for entry in row) for row in within)
    return clustered.k**2 * named(signed_determinant(unit), "|W|", r"\det S_W")


@metric("Scott–Symons index", evidence="rows", range=(-INFINITY, INFINITY), better="lower")
def scott_symons(clustered: Clustered) -> Real:
    """The logarithms of the determinants of the covariances of clusters, by their sizes.

    Defines: INT-SCOTT

    >>> scott_symons(Clustered.of([[0], [4], [5], [7]], "aabb")) == 2 * log(4)
    True
    """
    terms = []
    for k in range(clustered.k):
        n_k = size(clustered, k)
        covariance = scaled(1 / n_k, cluster_scatter(clustered, k))
        det = named(determinant(covariance), f"|{symbol(clustered, 'V', k)}|")
        terms.append(n_k * log_of(det, "a cluster lies in a plane of fewer dimensions"))
    return real(total(terms))


# -- distances of means ---------------------------------------------------------------------


@metric(
    "Davies–Bouldin index",
    evidence="rows",
    range=(0, INFINITY),
    better="lower",
    aliases=("db",),
    choices={"coincident": COINCIDENT},
)
def davies_bouldin(clustered: Clustered, *, q: Number = 1, coincident: str = "infinite") -> Real:
    """How similar each cluster is to the one it resembles most, a mean over clusters.

    Defines: INT-DB

    >>> example = Clustered.of([[0], [2], [5], [9]], "aabb")
    >>> davies_bouldin(example).fraction, davies_bouldin(example, q=2).fraction
    (Fraction(1, 2), Fraction(1, 2))
    """
    if q not in (1, 2):
        raise BadOption(f"davies_bouldin: q={q}; allowed: 1 (mean distance), 2 (root mean square)")
    pairs = list(pairs_of(clustered, LONELY))
    alike = settled(similarity(clustered, k, m, q, coincident) for k, m in pairs)
    worst = [
        maximum(*(r for pair, r in zip(pairs, alike, strict=True) if k in pair))
        for k in range(clustered.k)
    ]
    return average([named(r, symbol(clustered, "R", k)) for k, r in enumerate(worst)])


@metric("Ray–Turi index", evidence="rows", range=(0, INFINITY), better="lower")
def ray_turi(clustered: Clustered) -> Real:
    """The mean squared distance from the means, over the least squared distance of two means.

    Defines: INT-RT

    >>> ray_turi(Clustered.of([[0], [2], [5], [5]], "aabb")).fraction
    Fraction(1, 32)
    """
    gaps = [between_means(clustered, k, m) for k, m in pairs_of(clustered, LONELY)]
    least = named(min(gaps), "D_min^2", r"D_{\min}^2")
    return ratio(sse(clustered), clustered.total * least, undefined="two means coincide")


@metric(
    "Xie–Beni index",
    evidence="rows",
    range=(0, INFINITY),
    better="lower",
    choices={"separation": SEPARATIONS, "centre": CENTRES},
)
def xie_beni(clustered: Clustered, *, separation: str = "means", centre: str = "own") -> Real:
    """The mean squared distance from the means, over the least squared separation of two clusters.

    Defines: INT-XB

    >>> example = Clustered.of([[0], [2], [5], [5]], "aabb")
    >>> xie_beni(example).fraction, xie_beni(example, separation="points").fraction
    (Fraction(1, 32), Fraction(1, 18))
    """
    apart = between_means if separation == "means" else between_points
    gaps = [apart(clustered, k, m) for k, m in pairs_of(clustered, LONELY)]
    errors = sse(clustered)
    if centre == "nearest":
        errors = named(
            total(
                clustered.weight(i) * min(squared_to_means(clustered, i))
                for i in range(clustered.n)
            ),
            "W",
        )
    least = named(min(gaps), "D_min^2", r"D_{\min}^2")
    return ratio(errors, clustered.total * least, undefined="two clusters touch")


@metric("PBM index", evidence="rows", range=(0, INFINITY), better="higher")
def pbm(clustered: Clustered) -> Real:
    """How much nearer rows are to their means than to the one mean, times the farthest two means.

    Defines: INT-PBM

    >>> pbm(Clustered.of([[0], [2], [5], [5]], "aabb")).fraction
    Fraction(64, 1)
    """
    farthest = max(between_means(clustered, k, m) for k, m in pairs_of(clustered, LONELY))
    largest = named(sqrt(farthest), "D_B")
    whole = named(distances_to_overall(clustered), "E_T")
    within = named(total(distances_to_mean(clustered, k) for k in range(clustered.k)), "E_W")
    return ratio(whole * largest, clustered.k * within, undefined="all rows are equal") ** 2


@metric(
    "SD index, scattering",
    evidence="rows",
    range=(0, INFINITY),
    better="lower",
)
def sd_scattering(clustered: Clustered) -> Real:
    """The mean length of the vector of variances of a cluster, over that of all rows.

    Defines: INT-SDSCAT

    >>> sd_scattering(Clustered.of([[0], [2], [5], [5]], "aabb")).fraction
    Fraction(1, 9)
    """
    lengths = [
        named(norm(variances(clustered, k)), symbol(clustered, "v", k)) for k in range(clustered.k)
    ]
    whole = named(norm(variances(clustered, None)), "v")
    return ratio(average(lengths), whole, undefined="all rows are equal")


@metric(
    "SD index, distances",
    evidence="rows",
    range=(0, INFINITY),
    better="lower",
)
def sd_distances(clustered: Clustered) -> Real:
    """The farthest means over the nearest, times the sum of the inverse distances of each mean.

    Defines: INT-SDDIS

    >>> sd_distances(Clustered.of([[0], [2], [5], [5]], "aabb")).fraction
    Fraction(1, 2)
    """
    gaps = {(k, m): between_means(clustered, k, m) for k, m in pairs_of(clustered, LONELY)}
    spans = [
        total(sqrt(gap) for pair, gap in gaps.items() if k in pair) for k in range(clustered.k)
    ]
    stretch = ratio(
        named(sqrt(max(gaps.values())), "D_max", r"D_{\max}"),
        named(sqrt(min(gaps.values())), "D_min", r"D_{\min}"),
        undefined="two means coincide",
    )
    return stretch * total(1 / span for span in spans)


@metric("SD index", evidence="rows", range=(0, INFINITY), better="lower")
def sd(clustered: Clustered, *, alpha: Number = 1) -> Real:
    """Scattering, weighted, and distances.

    Defines: INT-SD

    >>> sd(Clustered.of([[0], [2], [5], [5]], "aabb")).fraction
    Fraction(11, 18)
    """
    scattering = named(sd_scattering(clustered), "Scat", r"\mathrm{Scat}")
    return exact(alpha) * scattering + named(sd_distances(clustered), "Dis", r"\mathrm{Dis}")


@metric("S_Dbw index", evidence="rows", range=(0, INFINITY), better="lower")
def s_dbw(clustered: Clustered) -> Real:
    """Scattering, and how dense it is between clusters compared with their middles.

    Defines: INT-SDBW

    >>> s_dbw(Clustered.of([[0], [1], [2], [5], [6], [7]], "aaabbb")).fraction
    Fraction(8, 83)
    """
    near = at_most(squared_radius(clustered))
    densities = []
    for k, m in pairs_of(clustered, LONELY):
        means = cluster_mean(clustered, k), cluster_mean(clustered, m)
        middle = scaled(Fraction(1, 2), sum_of(means))
        densities.append([density(clustered, k, m, u, near) for u in (middle, *means)])
    quotients = settled(
        attempted(between, max(inside), undefined="no row is near the means of two clusters")
        for between, *inside in densities
    )
    scattering = named(sd_scattering(clustered), "Scat", r"\mathrm{Scat}")
    return scattering + named(average(quotients), "Dens", r"\mathrm{Dens}")


# -- distances of rows from all means -------------------------------------------------------


@metric("Wemmert–Gançarski index", evidence="rows", range=(0, 1), better="higher")
def wemmert_gancarski(clustered: Clustered) -> Real:
    """How much nearer rows are to their own mean than to the next, by the sizes of clusters.

    Defines: INT-WG

    >>> wemmert_gancarski(Clustered.of([[0], [2], [6], [6]], "aabb")).fraction
    Fraction(43, 48)
    """
    if clustered.k < 2:
        raise Undefined(LONELY)
    gains = []
    for k in range(clustered.k):
        quotients = [
            (clustered.weight(i), *own_and_next(clustered, i)) for i in clustered.members(k)
        ]
        if any(own == other == 0 for _, own, other in quotients):
            raise Undefined("0/0: a row lies on the mean of its cluster and of another")
        if all(other for _, _, other in quotients):  # else a quotient is infinite, and no gain
            sum_k = total(times(w, sqrt(own / other)) for w, own, other in quotients)
            gains.append(named(maximum(0, size(clustered, k) - sum_k), symbol(clustered, "J", k)))
    return real(total(gains)) / clustered.total


@metric("Simplified silhouette", evidence="rows", range=(-1, 1), better="higher")
def simplified_silhouette(clustered: Clustered) -> Real:
    """The mean silhouette of rows, with distances to means in place of mean distances.

    Defines: INT-SSIL

    >>> simplified_silhouette(Clustered.of([[0], [2], [6], [6]], "aabb")).fraction
    Fraction(43, 48)
    """
    if clustered.k < 2:
        raise Undefined(LONELY)
    widths = [
        times(clustered.weight(i), width_of(*own_and_next(clustered, i)))
        for k in range(clustered.k)
        if size(clustered, k) > 1
        for i in clustered.members(k)
    ]
    return real(total(widths)) / clustered.total


@metric("Entropy of the sizes", evidence="proximities", range=(0, INFINITY), better="neither")
def size_entropy(clustered: Clustered) -> Real:
    """The entropy of the shares of objects in clusters.

    Defines: INT-HSIZE

    >>> size_entropy(Clustered.of([[0], [1], [2], [3]], "aabb")) == log(2)
    True
    """
    shares = [size(clustered, k) / clustered.total for k in range(clustered.k)]
    return real(total(-share * log(share) for share in shares))


# -- fuzzy clusters -------------------------------------------------------------------------


@metric("Partition coefficient", evidence="memberships", range=(0, 1), better="higher")
def partition_coefficient(memberships: Memberships) -> Real:
    """The mean of the squared shares of an object, added up over clusters.

    Defines: INT-PC

    >>> partition_coefficient(Memberships.of([[1, 0], [0.5, 0.5]])).fraction
    Fraction(3, 4)
    """
    squares = total(w * u * u for w, u in weighted_shares(memberships))
    return real(squares) / memberships.total


@metric("Partition entropy", evidence="memberships", range=(0, INFINITY), better="lower")
def partition_entropy(memberships: Memberships) -> Real:
    """The mean entropy of the shares of an object.

    Defines: INT-PE

    >>> partition_entropy(Memberships.of([[1, 0], [0.5, 0.5]])) == log(2) / 2
    True
    """
    parts = [-w * u * log(u) for w, u in weighted_shares(memberships) if u]
    return real(total(parts)) / memberships.total


@metric(
    "Modified partition coefficient",
    evidence="memberships",
    range=(0, 1),
    better="higher",
)
def modified_partition_coefficient(memberships: Memberships) -> Real:
    """The partition coefficient, moved so that equal shares have 0.

    Defines: INT-MPC

    >>> modified_partition_coefficient(Memberships.of([[1, 0], [0.5, 0.5]])).fraction
    Fraction(1, 2)
    """
    k = memberships.k
    coefficient = named(partition_coefficient(memberships), "PC", r"\mathrm{PC}")
    return ratio(k * coefficient - 1, k - 1, undefined="there is only one cluster")


# -- the vocabulary -------------------------------------------------------------------------


def named(value: Number, symbol: str, latex: str | None = None) -> Real:
    """An exact number under a name, which a derivation shows as a step.

    Spec: CONV-SCORE

    >>> named(Fraction(1, 2), "W")
    Real('1/2')
    """
    return real(value).named(symbol, latex)


def symbol(clustered: Clustered, letter: str, k: int) -> str:
    """What a derivation calls something that belongs to a cluster.

    Spec: CONV-SCORE

    >>> symbol(Clustered.of([[0], [1]], "ab"), "D", 1)
    'D[b]'
    """
    return f"{letter}[{clustered.clusters[k]}]"


def average(numbers: Sequence[Real]) -> Real:
    """The mean of some numbers.

    Spec: NUM-REAL

    >>> average([real(1), real(2)])
    Real('3/2')
    """
    return real(total(numbers)) / len(numbers)


def times(weight: Count, value: Real) -> Real:
    """A number as often as its object counts; a derivation does not show that once is once.

    Spec: CT-WEIGHT

    >>> times(3, real(2))
    Real('6')
    """
    return value if weight == 1 else weight * value


def log_of(value: Real, zero: str) -> Real:
    """The logarithm, minus infinity at zero.

    Spec: CONV-UNDEF
    """
    if value.sign() == 0:
        raise Undefined(f"the logarithm of zero: {zero}", -INFINITY)
    return log(value)


def attempted(top: Exact, bottom: Exact, *, undefined: str) -> Real | Undefined:
    """A quotient, or why there is none.

    Spec: CONV-UNDEF

    >>> attempted(Fraction(1), Fraction(0), undefined="no row").value
    inf
    """
    try:
        return ratio(top, bottom, undefined=undefined)
    except Undefined as missing:
        return missing


def settled(quotients: Iterable[Real | Undefined]) -> list[Real]:
    """Quotients of which each exists; else 0/0, which says less, goes before what is infinite.

    Spec: CONV-UNDEF

    >>> settled([real(1), Undefined("x/0", INFINITY), Undefined("0/0")])
    Traceback (most recent call last):
    refclust.formulas.undefined.Undefined: 0/0
    """
    known: list[Real] = []
    missing: list[Undefined] = []
    for quotient in quotients:
        if isinstance(quotient, Undefined):
            missing.append(quotient)
        else:
            known.append(quotient)
    for undefined in sorted(missing, key=lambda undefined: undefined.value == INFINITY):
        raise undefined
    return known


def pairs_of(clustered: Clustered, undefined: str) -> Iterator[tuple[int, int]]:
    """The pairs of clusters, of which there must be one.

    Spec: CONV-UNDEF

    >>> list(pairs_of(Clustered.of([[0], [1], [2]], "abc"), LONELY))
    [(0, 1), (0, 2), (1, 2)]
    """
    if clustered.k < 2:
        raise Undefined(undefined)
    return ((k, m) for k in range(clustered.k) for m in range(k + 1, clustered.k))


@kept
def coordinates(clustered: Clustered) -> tuple[Any, ...]:
    """The places of the coordinates of the rows.

    Spec: REP-VEC

    >>> coordinates(Clustered.of([{"cat": 2}, {"dog": 1}], "ab"))
    ('cat', 'dog')
    """
    if clustered.columns is not None:
        return tuple(clustered.columns)
    rows = clustered.points if isinstance(clustered.points[0], Mapping) else clustered.points[:1]
    return tuple(dict.fromkeys(place for x in rows for place in components(x)))


def deviation(clustered: Clustered, x: Vector, y: Vector) -> tuple[Exact, ...]:
    """The difference of two vectors, dense also where they are sparse.

    Spec: REP-VEC

    >>> deviation(Clustered.of([{"cat": 2}, {"dog": 1}], "ab"), {"cat": 2}, {"dog": 1})
    (Fraction(2, 1), Fraction(-1, 1))
    """
    a, b = together(x, y)
    return tuple(a.get(j, Fraction(0)) - b.get(j, Fraction(0)) for j in coordinates(clustered))


@kept
def cluster_sse(clustered: Clustered, k: int) -> Exact:
    """The squared distances of the rows of a cluster from their mean, added up.

    Spec: INT-SSE

    >>> cluster_sse(Clustered.of([[0], [2], [5]], "aab"), 0)
    Fraction(2, 1)
    """
    mean = cluster_mean(clustered, k)
    return total(
        clustered.weight(i) * squared_distance(clustered.points[i], mean)
        for i in clustered.members(k)
    )


@kept
def variances(clustered: Clustered, k: int | None) -> tuple[Exact, ...]:
    """The variance of each column in a cluster, or in all rows, divided by how many there are.

    Spec: INT-SDSCAT

    >>> variances(Clustered.of([[0, 1], [2, 1], [5, 1]], "aab"), 0)
    (Fraction(1, 1), Fraction(0, 1))
    """
    rows: Sequence[int] = range(clustered.n) if k is None else clustered.members(k)
    mean = overall_mean(clustered) if k is None else cluster_mean(clustered, k)
    squares = [
        scaled(clustered.weight(i), [part**2 for part in deviation(clustered, x, mean)])
        for i, x in ((i, clustered.points[i]) for i in rows)
    ]
    return scaled(1 / total(map(clustered.weight, rows)), sum_of(squares))  # type: ignore[no-any-return]


@kept
def column_squares(clustered: Clustered) -> tuple[Exact, ...]:
    """The diagonal of the scatter between clusters.

    Spec: INT-RL

    >>> column_squares(Clustered.of([[0, 1], [2, 1], [5, 1], [5, 1]], "aabb"))
    (Fraction(16, 1), Fraction(0, 1))
    """
    mean = overall_mean(clustered)
    return sum_of(  # type: ignore[no-any-return]
        scaled(
            size(clustered, k),
            [part**2 for part in deviation(clustered, cluster_mean(clustered, k), mean)],
        )
        for k in range(clustered.k)
    )


@kept
def between_means(clustered: Clustered, k: int, m: int) -> Exact:
    """The squared distance of the means of two clusters.

    Spec: INT-RT

    >>> between_means(Clustered.of([[0], [2], [5]], "aab"), 0, 1)
    Fraction(16, 1)
    """
    return squared_distance(cluster_mean(clustered, k), cluster_mean(clustered, m))


@kept
def between_points(clustered: Clustered, k: int, m: int) -> Exact:
    """The least squared distance of a row of one cluster and a row of another.

    Spec: INT-XB

    >>> between_points(Clustered.of([[0], [2], [5]], "aab"), 0, 1)
    Fraction(9, 1)
    """
    if clustered.passes is not None:
        return clustered.passes.nearest_squared(k, m)
    return min(
        squared_distance(clustered.points[i], clustered.points[j])
        for i in clustered.members(k)
        for j in clustered.members(m)
    )


@kept
def distances_to_mean(clustered: Clustered, k: int) -> Exact:
    """The distances of the rows of a cluster from their mean, added up.

    Spec: INT-DB

    >>> float(distances_to_mean(Clustered.of([[0, 0], [6, 8], [5, 5]], "aab"), 0))
    10.0
    """
    if clustered.passes is not None:
        return clustered.passes.centre_distances(k)
    mean = cluster_mean(clustered, k)
    return total(
        times(clustered.weight(i), distance(clustered.points[i], mean))
        for i in clustered.members(k)
    )


@kept
def distances_to_overall(clustered: Clustered) -> Exact:
    """The distances of all rows from their mean, added up.

    Spec: INT-PBM

    >>> float(distances_to_overall(Clustered.of([[0, 0], [6, 8]], "ab")))
    10.0
    """
    mean = overall_mean(clustered)
    return total(
        times(clustered.weight(i), distance(x, mean)) for i, x in enumerate(clustered.points)
    )


@kept
def spread(clustered: Clustered, k: int, q: Number) -> Real:
    """The mean distance of the rows of a cluster from their mean, or its root mean square.

    Spec: INT-DB

    >>> float(spread(Clustered.of([[0], [2], [5]], "aab"), 0, 2))
    1.0
    """
    if q == 1:
        return named(
            distances_to_mean(clustered, k) / size(clustered, k), symbol(clustered, "d", k)
        )
    return named(sqrt(cluster_sse(clustered, k) / size(clustered, k)), symbol(clustered, "d", k))


def similarity(
    clustered: Clustered,
    k: int,
    m: int,
    q: Number,
    coincident: str,
) -> Real | Undefined:
    """The spreads of two clusters over the distance of their means.

    Spec: INT-DB

    >>> similarity(Clustered.of([[0], [2], [5], [9]], "aabb"), 0, 1, 1, "infinite")
    Real('1/2')
    """
    gap = between_means(clustered, k, m)
    if gap == 0 and coincident == "ignored":
        return real(0)
    both = spread(clustered, k, q) + spread(clustered, m, q)
    quotient = attempted(both, sqrt(gap), undefined="two means coincide")
    if isinstance(quotient, Undefined) and quotient.value != INFINITY and coincident == "zero":
        return real(0)
    return quotient


def squared_radius(clustered: Clustered) -> Real:
    """The squared radius in which S_Dbw counts rows.

    Spec: INT-SDBW

    >>> squared_radius(Clustered.of([[0], [2], [5], [9]], "aabb")).fraction
    Fraction(5, 4)
    """
    lengths = [norm(variances(clustered, k)) for k in range(clustered.k)]
    return real(total(lengths)) / clustered.k**2


def at_most(bound: Real) -> Callable[[Exact], bool]:
    """Whether numbers are at most so large; only near the bound it is looked at closely.

    Spec: INT-SDBW

    >>> near = at_most(sqrt(2))
    >>> near(Fraction(7, 5)), near(Fraction(3, 2))
    (True, False)
    """
    low, high = map(Fraction, bound.enclosure())
    return lambda number: number <= low or (number <= high and bound >= number)


def density(
    clustered: Clustered,
    k: int,
    m: int,
    u: Vector,
    near: Callable[[Exact], bool],
) -> Exact:
    """How many rows of two clusters are near a point.

    Spec: INT-SDBW

    >>> density(Clustered.of([[0], [2], [5], [9]], "aabb"), 0, 1, [1], at_most(real(1)))
    Fraction(2, 1)
    """
    quick = getattr(clustered.moments, "density", None)
    if quick is not None:
        return quick(k, m, u, near)  # type: ignore[no-any-return]
    rows = (*clustered.members(k), *clustered.members(m))
    return total(
        clustered.weight(i) for i in rows if near(squared_distance(clustered.points[i], u))
    )


@kept
def squared_to_means(clustered: Clustered, i: int) -> tuple[Exact, ...]:
    """The squared distances of a row from the means of all clusters.

    Spec: INT-WG, INT-SSIL

    >>> squared_to_means(Clustered.of([[0], [2], [5]], "aab"), 2)
    (Fraction(16, 1), Fraction(0, 1))
    """
    x = clustered.points[i]
    return tuple(squared_distance(x, cluster_mean(clustered, k)) for k in range(clustered.k))


def own_and_next(clustered: Clustered, i: int) -> tuple[Exact, Exact]:
    """The squared distances of a row from its own mean and from the nearest other one.

    Spec: INT-WG, INT-SSIL

    >>> own_and_next(Clustered.of([[0], [2], [5]], "aab"), 1)
    (Fraction(1, 1), Fraction(9, 1))
    """
    squares, own = squared_to_means(clustered, i), clustered.labels[i]
    return squares[own], min(square for k, square in enumerate(squares) if k != own)


def width_of(own: Exact, other: Exact) -> Real:
    """The silhouette of a row from two squared distances.

    Spec: INT-SSIL

    >>> width_of(Fraction(1), Fraction(9)), width_of(Fraction(4), Fraction(4))
    (Real('2/3'), Real('0'))
    """
    if own == other:
        return real(0)
    return 1 - sqrt(own / other) if own < other else sqrt(other / own) - 1


def weighted_shares(memberships: Memberships) -> Iterator[tuple[Exact, Exact]]:
    """All shares, each with the weight of its object.

    Spec: INT-PC

    >>> list(weighted_shares(Memberships.of([[1, 0]])))
    [(Fraction(1, 1), Fraction(1, 1)), (Fraction(1, 1), Fraction(0, 1))]
    """
    for i, row in enumerate(memberships.shares):
        for share in row:
            yield exact(memberships.weight(i)), share


def trace(matrix: ExactMatrix) -> Exact:
    """The sum of the diagonal.

    Spec: INT-TRACE

    >>> trace(((Fraction(1), Fraction(2)), (Fraction(3), Fraction(4))))
    Fraction(5, 1)
    """
    return total(row[j] for j, row in enumerate(matrix))


def determinant(matrix: ExactMatrix) -> Fraction:
    """The determinant of a scatter matrix, which is zero if it is not positive definite.

    Spec: LIN-EXACT

    >>> determinant(((Fraction(1), Fraction(1)), (Fraction(1), Fraction(1))))
    Fraction(0, 1)
    """
    try:
        return exact_determinant(matrix)
    except NotPositive:
        return Fraction(0)


def trace_of_quotient(top: ExactMatrix, bottom: ExactMatrix, name: str) -> Exact:
    """The trace of one matrix times the inverse of another.

    Spec: INT-WIB, INT-TIW, LIN-EXACT

    >>> trace_of_quotient(((Fraction(3),),), ((Fraction(2),),), "the scatter")
    Fraction(3, 2)
    """
    try:
        inverse = exact_inverse(bottom)
    except NotPositive:
        raise Undefined(f"{name} is singular and has no inverse") from None
    return total(
        a * b
        for row, other in zip(inverse, top, strict=True)
        for a, b in zip(row, other, strict=True)
    )
