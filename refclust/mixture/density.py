"""The parts of one point's normal density in doubles (chapter 32), as discriminants need them.

The formulas themselves are in ``refclust.formulas.gaussian``; passes over many rows are kernels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from refclust.errors import DegenerateCovariance, DimensionMismatch
from refclust.kernels.clusters.nearness import squared
from refclust.numbers.linalg import Matrix, NotPositive, cholesky, inverse_lower


def mahalanobis(x: Sequence[float], mean: Sequence[float], covariance: Matrix) -> float:
    """The squared distance of a point to a mean, in units of the spread in each direction.

    Spec: DIST-MAHA

    >>> mahalanobis((3.0, 4.0), (1.0, 1.0), ((4.0, 2.0), (2.0, 5.0)))
    2.0
    """
    white = whitened(covariance)
    if not len(x) == len(mean) == len(white):
        raise DimensionMismatch(
            f"a point of {len(x)} numbers, a mean of {len(mean)} and a covariance of {len(white)} "
            "columns do not belong together"
        )
    away = [a - m for a, m in zip(x, mean, strict=True)]
    return math.fsum(
        squared(math.fsum(w * y for w, y in zip(row, away, strict=True))) for row in white
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
