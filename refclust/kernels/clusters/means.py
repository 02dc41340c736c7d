"""The kernels that turn the sums of clusters into means and objectives (chapter 10).

They look at no row: K times d exact numbers go in, and what comes out is rounded once or not at
all. A backend may keep the sums in a form of its own, as long as it can say them exactly.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from fractions import Fraction
from operator import mul

from refclust.kernels.clusters.kmeans import ClusterSums, Sums
from refclust.kernels.contracts.basic import Equal, Rationals
from refclust.kernels.points import Points, Vector, binary
from refclust.kernels.registry import kernel
from refclust.numbers.nearest import nearest


@kernel("kmeans.means", contract=Equal())
def means(points: Points, sums: Sums) -> array[float]:
    """All means one after another, each component the nearest double; zeros for no weight.

    Spec: KM-CENTROID, KM-UPDATE, KER-MEANS

    >>> from refclust.data.dataset import dense
    >>> means(Points(dense(array("d", [1, 2]), 2)), ClusterSums((3, 0), 0, ((1, 6), (0, 0)), 0))
    array('d', [0.3333333333333333, 2.0, 0.0, 0.0])
    """
    exact = sums.exact()
    flat = array("d")
    for k, weight in enumerate(exact.weights):
        flat.extend(mean(exact, k) if weight else (0.0,) * points.d)
    return flat


@kernel("kmeans.residual", contract=Rationals())
def residual(points: Points, sums: Sums, centres: Sequence[Vector]) -> tuple[Fraction, ...]:  # noqa: ARG001
    """For each cluster W |c|^2 - 2 c.S, which makes RSS of the sum of squared lengths.

    Spec: KM-RSS, KER-RESIDUAL

    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [1, 2]), 1))
    >>> residual(line, ClusterSums((2,), 0, ((3,),), 0), ((1.5,),))
    (Fraction(-9, 2),)
    """
    exact = sums.exact()
    return tuple(_residual(exact, k, centre) for k, centre in enumerate(centres))


@kernel("kmeans.cosine_terms", contract=Rationals())
def cosine_terms(points: Points, sums: Sums, centres: Sequence[Vector]) -> tuple[Fraction, ...]:  # noqa: ARG001
    """For each cluster the square of S.c / |c|, with the sign of S.c.

    Spec: KM-COSOBJ, KER-RESIDUAL

    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [2, 0]), 2))
    >>> cosine_terms(line, ClusterSums((2,), 0, ((2, 0),), 0), ((3.0, 4.0),))
    (Fraction(36, 25),)
    """
    exact = sums.exact()
    terms = []
    for s, centre in zip(exact.sums, centres, strict=True):
        c, _ = binary(centre)
        product, square = sum(map(mul, c, s)), sum(map(mul, c, c))
        signed = Fraction(product * abs(product), square << (2 * exact.shift))
        terms.append(signed if product else Fraction(0))
    return tuple(terms)


def mean(sums: ClusterSums, k: int) -> Vector:
    """The mean of a cluster that is not empty, each component the nearest double.

    Spec: KM-CENTROID

    >>> mean(ClusterSums((3,), 0, ((1, 6),), 0), 0)
    (0.3333333333333333, 2.0)
    """
    weight = sums.weights[k] << sums.shift
    return tuple(nearest(s << sums.weight_shift, weight) if s else 0.0 for s in sums.sums[k])


def _residual(sums: ClusterSums, k: int, centre: Vector) -> Fraction:
    if not sums.weights[k]:
        return Fraction(0)
    # Expanded on purpose: in exact arithmetic nothing cancels, and no row is needed.
    c, t = binary(centre)
    own = Fraction(sums.weights[k] * sum(map(mul, c, c)), 1 << (sums.weight_shift + 2 * t))
    return own - Fraction(2 * sum(map(mul, c, sums.sums[k])), 1 << (sums.shift + t))
