"""Normal densities of single points, as they are written (GAU-* of chapter 32).

Passes over many rows are kernels; these functions are for reading, for tests and for worked
examples. Only logarithms are computed in more than one column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from refclust.errors import DegenerateCovariance, DimensionMismatch
from refclust.kernels.clusters.nearness import squared
from refclust.mixture.families.gaussian_parameters import LOG_TWO_PI
from refclust.numbers.linalg import Matrix, NotPositive, cholesky, inverse_lower


def normal_density(x: float, mean: float, variance: float) -> float:
    """The density of a normal distribution on the line.

    Spec: GAU-PDF1

    >>> normal_density(0.0, 0.0, 1.0), normal_density(1.0, 0.0, 1.0)
    (0.3989422804014327, 0.24197072451914337)
    """
    deviation = _deviation(variance)
    return math.exp(-0.5 * squared((x - mean) / deviation)) / (deviation * math.sqrt(2 * math.pi))


def normal_log_likelihood(values: Sequence[float], mean: float, variance: float) -> float:
    """The logarithm of the product of the densities of numbers on the line.

    Spec: GAU-LIK1, GAU-LL

    >>> normal_log_likelihood([-1.0, 1.0], 0.0, 1.0)
    -2.8378770664093453
    """
    deviation = _deviation(variance)
    peak = -0.5 * LOG_TWO_PI - math.log(deviation)
    return math.fsum(peak - 0.5 * squared((x - mean) / deviation) for x in values)


def mahalanobis(x: Sequence[float], mean: Sequence[float], covariance: Matrix) -> float:
    """The squared distance of a point to a mean, in units of the spread in each direction.

    Spec: DIST-MAHA

    >>> mahalanobis((3.0, 4.0), (1.0, 1.0), ((4.0, 2.0), (2.0, 5.0)))
    2.0
    """
    return _square(x, mean, whitened(covariance))


def gaussian_log_density(x: Sequence[float], mean: Sequence[float], covariance: Matrix) -> float:
    """The logarithm of a normal density in any number of columns.

    Spec: GAU-PDF

    >>> gaussian_log_density((1.0,), (0.0,), ((1.0,),))
    -1.4189385332046727
    """
    return gaussian_log_likelihood([x], mean, covariance)


def gaussian_log_likelihood(
    rows: Sequence[Sequence[float]],
    mean: Sequence[float],
    covariance: Matrix,
    weights: Sequence[float] | None = None,
) -> float:
    """The sum of the logarithms of a normal density over rows, each times its weight.

    Spec: GAU-LL

    >>> gaussian_log_likelihood([(0.0, 0.0)], (0.0, 0.0), ((1.0, 0.0), (0.0, 1.0)))
    -1.8378770664093453
    """
    white = whitened(covariance)
    peak = math.fsum([-0.5 * len(mean) * LOG_TWO_PI, half_log_precision(white)])
    shares = [1.0] * len(rows) if weights is None else weights
    return math.fsum(
        w * (peak - 0.5 * _square(x, mean, white)) for w, x in zip(shares, rows, strict=True) if w
    )


def whitened(covariance: Matrix) -> Matrix:
    """The lower triangular W with W'W the inverse of a covariance.

    Spec: LIN-CHOL, LIN-INV

    >>> whitened(((4.0, 2.0), (2.0, 5.0)))
    ((0.5, 0.0), (-0.25, 0.5))
    """
    if any(len(row) != len(covariance) for row in covariance):
        raise DimensionMismatch(
            f"the covariance has {len(covariance)} rows, but not all of them as many numbers"
        )
    try:
        return inverse_lower(cholesky(covariance))
    except NotPositive as flat:
        raise DegenerateCovariance(
            f"the covariance given is not positive definite: of the variance {flat.entry!r} of "
            f"column {flat.column} nothing is left beside the columns before it"
        ) from None


def half_log_precision(white: Matrix) -> float:
    """-log |C| / 2 of a covariance whose inverse is W'W: the sum of log W_jj.

    Spec: GAU-PDF

    >>> half_log_precision(((1.0, 0.0), (7.0, 1.0)))
    0.0
    """
    return math.fsum(math.log(row[j]) for j, row in enumerate(white))


def _square(x: Sequence[float], mean: Sequence[float], white: Matrix) -> float:
    if not len(x) == len(mean) == len(white):
        raise DimensionMismatch(
            f"a point of {len(x)} numbers, a mean of {len(mean)} and a covariance of {len(white)} "
            "columns do not belong together"
        )
    away = [a - m for a, m in zip(x, mean, strict=True)]
    return math.fsum(
        squared(math.fsum(w * y for w, y in zip(row, away, strict=True))) for row in white
    )


def _deviation(variance: float) -> float:
    if not 0 < variance < math.inf:
        raise DegenerateCovariance(f"the variance is {variance!r}; a number above 0 is needed")
    return math.sqrt(variance)
