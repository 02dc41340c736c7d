"""What k-means makes small or large, and the means: exact numbers from the sums of the clusters.

Realises KM-CENTROID, KM-RSS and KM-COSOBJ of chapter 10. Nothing here looks at rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import mul

from refclust.cluster.results import Centre, Centres
from refclust.kernels.kmeans import ClusterSums
from refclust.kernels.points import binary
from refclust.numbers.nearest import nearest
from refclust.numbers.real import Real, sqrt, total


def mean(sums: ClusterSums, k: int) -> Centre:
    """The mean of a cluster that is not empty, each component the nearest double.

    Spec: KM-CENTROID

    >>> mean(ClusterSums((3,), 0, ((1, 6),), 0), 0)
    (0.3333333333333333, 2.0)
    """
    weight = sums.weights[k] << sums.shift
    return tuple(nearest(s << sums.weight_shift, weight) if s else 0.0 for s in sums.sums[k])


def exact_rss(square: Fraction, sums: ClusterSums, centres: Centres) -> Fraction:
    """The residual sum of squares, given the sum of the squared lengths of all rows.

    Spec: KM-RSS

    >>> exact_rss(Fraction(5), ClusterSums((2,), 0, ((3,),), 0), ((1.5,),))
    Fraction(1, 2)
    """
    # Expanded on purpose: in exact arithmetic nothing cancels, and no row is needed.
    return square + sum(_residual(sums, k, centre) for k, centre in enumerate(centres))


def exact_within(
    squares: Sequence[Fraction], sums: ClusterSums, centres: Centres
) -> tuple[Fraction, ...]:
    """The residual sum of squares of each cluster, given its sum of squared lengths.

    Spec: KM-RSS

    >>> exact_within([Fraction(5)], ClusterSums((2,), 0, ((3,),), 0), ((1.5,),))
    (Fraction(1, 2),)
    """
    return tuple(
        square + _residual(sums, k, centre)
        for k, (square, centre) in enumerate(zip(squares, centres, strict=True))
    )


def _residual(sums: ClusterSums, k: int, centre: Centre) -> Fraction:
    """W |c|^2 - 2 c.S of one cluster."""
    if not sums.weights[k]:
        return Fraction(0)
    c, t = binary(centre)
    own = Fraction(sums.weights[k] * sum(map(mul, c, c)), 1 << (sums.weight_shift + 2 * t))
    return own - Fraction(2 * sum(map(mul, c, sums.sums[k])), 1 << (sums.shift + t))


def cosine_terms(sums: ClusterSums, centres: Centres) -> tuple[Fraction, ...]:
    """For each cluster the square of S.c / |c|, with the sign of S.c.

    Spec: KM-COSOBJ

    >>> cosine_terms(ClusterSums((2,), 0, ((2, 0),), 0), ((3.0, 4.0),))
    (Fraction(36, 25),)
    """
    terms = []
    for s, centre in zip(sums.sums, centres, strict=True):
        c, _ = binary(centre)
        product, square = sum(map(mul, c, s)), sum(map(mul, c, c))
        signed = Fraction(product * abs(product), square << (2 * sums.shift))
        terms.append(signed if product else Fraction(0))
    return tuple(terms)


def total_cosine(terms: Sequence[Fraction]) -> Real:
    """The sum of S.c / |c| over the clusters, from their signed squares.

    Spec: KM-COSOBJ

    >>> float(total_cosine([Fraction(36, 25), Fraction(-1, 4)]))
    0.7
    """
    return total([sqrt(t) if t >= 0 else -sqrt(-t) for t in terms])


def mean_square(rss: Fraction, sizes: Sequence[Fraction]) -> float:
    """The residual sum of squares per unit of weight.

    Spec: KM-AVGSQ

    >>> mean_square(Fraction(1), [Fraction(2), Fraction(1)])
    0.3333333333333333
    """
    return rounded(rss / sum(sizes))


def rounded(value: Fraction) -> float:
    """The nearest double of a rational.

    Spec: NUM-NEAR

    >>> rounded(Fraction(1, 3))
    0.3333333333333333
    """
    return nearest(value.numerator, value.denominator)
