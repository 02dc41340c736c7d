"""Sums of distances to twice the digits of a double (chapter 80).

Each sum is two doubles: the nearest one, and the nearest one to what that leaves. The reference has
them of integers: squared distances are integers over a power of two, and ``math.isqrt`` of one
times 4**s is the root to s more bits.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import Final

from refclust.errors import NotFinite
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import Centres, ClusterSums, Labels
from refclust.kernels.contracts.lengths import FineLengths
from refclust.kernels.points import Integers, Points, Vector, binary, grouped
from refclust.kernels.registry import kernel
from refclust.numbers.nearest import nearest

_BITS: Final = 112  # of the least root


@kernel("silhouette.fine_sums", contract=FineLengths())
def fine_sums(points: Points, labels: Labels, k: int) -> array[float]:
    """The sum of w |x_i - x_j| over the rows j of each of k clusters, for every row i.

    The sum of row i and cluster c stands at i k + c, and after all of these what each leaves.

    Spec: KER-FINESUM, DIST-L2

    >>> from refclust.data.dataset import dense
    >>> fine_sums(Points(dense(array("d", [0, 0, 1, 1]), 2)), array("i", [0, 0]), 1)[1:3]
    array('d', [1.4142135623730951, -9.667293313452913e-17])
    """
    members = grouped(memoryview(labels), range(points.n), k)
    shift = points.shift
    sums = []
    for i in range(points.n):
        row = _whole_integers(points, i)
        for cluster in members:
            gaps = [
                points.squares[i] + points.squares[j] - 2 * points.product(j, row) for j in cluster
            ]
            sums.append(_root_sum(points, cluster, gaps, shift))
    return _in_two(sums)


@kernel("scatter.centre_distances", contract=FineLengths())
def centre_distances(
    points: Points, labels: Labels, centres: Centres, rests: Centres
) -> array[float]:
    """Sums of w |x - (c + r)| over the rows of each cluster, then those of the squares.

    c is the centre of the cluster and r its rest, so that c + r is a point that no double may be;
    r is at most half a unit in the last place of c. After all sums stands what each leaves.

    Spec: KER-CENTREDIST, DIST-L2, VEC-SQDIST

    >>> from refclust.data.dataset import dense
    >>> rows = Points(dense(array("d", [0, 3, 4]), 1))
    >>> centre_distances(rows, array("i", [0, 0, 1]), ((1.5,), (4.0,)), ((0.0,), (2.0**-53,)))[:4]
    array('d', [3.0, 1.1102230246251565e-16, 4.5, 1.232595164407831e-32])
    """
    members = grouped(memoryview(labels), range(points.n), len(centres))
    lengths, squares = [], []
    for cluster, centre, rest in zip(members, map(tuple, centres), map(tuple, rests), strict=True):
        parts, places = binary([*centre, *rest])
        shift = max(points.shift, places)
        ups = shift - points.shift, shift - places
        point = [
            (c + r) << ups[1] for c, r in zip(parts[: points.d], parts[points.d :], strict=True)
        ]
        gaps = [
            sum(
                ((x << ups[0]) - p) ** 2
                for x, p in zip(_whole_integers(points, i), point, strict=True)
            )
            for i in cluster
        ]
        lengths.append(_root_sum(points, cluster, gaps, shift))
        weighed = sum(map(mul, (points.weights[i] for i in cluster), gaps))
        squares.append((weighed, 2 * shift + points.weight_shift))
    return _in_two([*lengths, *squares])


def split_means(sums: ClusterSums) -> tuple[CentreMatrix, CentreMatrix]:
    """The mean of each cluster as its nearest doubles and what they leave, zeros without weight.

    Spec: KER-CENTREDIST, KM-CENTROID

    >>> third = ClusterSums((3,), 0, ((1,),), 0)
    >>> [list(part) for part in split_means(third)]
    [[(0.3333333333333333,)], [(1.850371707708594e-17,)]]
    """
    centres: list[Vector] = []
    rests: list[Vector] = []
    for k, totals in enumerate(sums.sums):
        weight = sums.weight(k) * (1 << sums.shift)
        means = [total / weight for total in totals] if weight else [Fraction()] * len(totals)
        centres.append(tuple(nearest(*mean.as_integer_ratio()) for mean in means))
        gaps = (mean - Fraction(c) for mean, c in zip(means, centres[-1], strict=True))
        rests.append(tuple(nearest(*gap.as_integer_ratio()) for gap in gaps))
    return CentreMatrix.of(centres), CentreMatrix.of(rests)


def _whole_integers(points: Points, i: int) -> Integers:
    """The integers of a row with its zeros."""
    if points.dense:
        return points.integers[i]
    row = [0] * points.d
    for column, x in zip(points.columns[i], points.integers[i], strict=True):
        row[column] = x
    return tuple(row)


def _root_sum(
    points: Points, rows: Sequence[int], gaps: Sequence[int], shift: int
) -> tuple[int, int]:
    """The sum of w sqrt(gap) / 2**shift as an integer over a power of two; each root rounded down.

    The least root gets enough bits, so all have them.
    """
    least = min(filter(None, gaps), default=1)
    extra = max(0, _BITS - least.bit_length() // 2)
    weights = (points.weights[i] for i in rows)
    roots = (math.isqrt(gap << 2 * extra) for gap in gaps)
    return sum(map(mul, weights, roots)), shift + extra + points.weight_shift


def _in_two(sums: Sequence[tuple[int, int]]) -> array[float]:
    """The nearest doubles of integers over powers of two, then those of what they leave."""
    pairs = [twofold(*part) for part in sums]
    return array("d", (pair[part] for part in range(2) for pair in pairs))


def twofold(numerator: int, shift: int) -> tuple[float, float]:
    """A number of at least 0 as its nearest double and that of the rest; infinite beyond doubles.

    Spec: NUM-NEAR

    >>> twofold((1 << 60) + 1, 60), twofold(1 << 2000, 0)
    ((1.0, 8.673617379884035e-19), (inf, 0.0))
    """
    try:
        high = nearest(numerator, 1 << shift)
    except NotFinite:
        return math.inf, 0.0
    p, q = high.as_integer_ratio()
    return high, nearest(numerator * q - (p << shift), q << shift)
