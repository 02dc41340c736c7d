"""M-steps of the covariance models that have a closed form (chapter 32, GMM-COVM).

Sums over components are rounded once, so the order of the components does not matter; and every
result is multiplied by exactly 4**e when the data are multiplied by 2**e.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from refclust.mixture.covariance.parts import (
    Block,
    Blocks,
    Degenerate,
    added,
    flat,
    geometric_mean,
    square_matrix,
    volume,
)
from refclust.numbers.eigen import composed, symmetric_eigen


def pooled_spherical(counts: Block, scatters: Blocks) -> Blocks:
    """EII: one variance for all.

    Spec: GMM-COVM, GMM-SPH

    >>> pooled_spherical((1.0, 3.0), ((1.0, 1.0), (2.0, 4.0)))
    ((1.0,), (1.0,))
    """
    total = math.fsum(x for scatter in scatters for x in scatter)
    return ((total / (math.fsum(counts) * len(scatters[0])),),) * len(counts)


def own_spherical(counts: Block, scatters: Blocks) -> Blocks:
    """VII: one variance for each component.

    Spec: GMM-COVM

    >>> own_spherical((1.0, 3.0), ((1.0, 1.0), (2.0, 4.0)))
    ((1.0,), (1.0,))
    """
    return tuple((math.fsum(s) / (n * len(s)),) for n, s in zip(counts, scatters, strict=True))


def pooled(counts: Block, scatters: Blocks) -> Blocks:
    """EEI and EEE: the covariance of all components together.

    Spec: GMM-COVM

    >>> pooled((1.0, 3.0), ((1.0, 5.0), (3.0, 3.0)))
    ((1.0, 2.0), (1.0, 2.0))
    """
    total = math.fsum(counts)
    return (tuple(x / total for x in added(scatters)),) * len(counts)


def own(counts: Block, scatters: Blocks) -> Blocks:
    """VVI and VVV: the covariance of each component.

    Spec: GMM-COVM

    >>> own((1.0, 2.0), ((1.0, 5.0), (3.0, 3.0)))
    ((1.0, 5.0), (1.5, 1.5))
    """
    return tuple(tuple(x / n for x in scatter) for n, scatter in zip(counts, scatters, strict=True))


def equal_volume_diagonal(counts: Block, scatters: Blocks) -> Blocks:
    """EVI: the diagonal of each component, stretched to the same determinant.

    Spec: GMM-COVM

    >>> equal_volume_diagonal((1.0, 1.0), ((1.0, 4.0), (2.0, 2.0)))
    ((1.0, 4.0), (2.0, 2.0))
    """
    return _one_volume(counts, scatters, [_mean_of(k, s) for k, s in enumerate(scatters)])


def equal_volume(counts: Block, scatters: Blocks) -> Blocks:
    """EVV: the covariance of each component, stretched to the same determinant.

    Spec: GMM-COVM

    >>> equal_volume((1.0, 1.0), ((1.0, 0.0, 0.0, 4.0), (4.0, 0.0, 0.0, 1.0)))
    ((1.0, 0.0, 0.0, 4.0), (4.0, 0.0, 0.0, 1.0))
    """
    return _one_volume(
        counts, scatters, [volume(k, square_matrix(s)) for k, s in enumerate(scatters)]
    )


def own_orientation(counts: Block, scatters: Blocks) -> Blocks:
    """EEV: the principal axes of each component, with the pooled variances along them.

    Spec: GMM-COVM

    >>> own_orientation((1.0, 1.0), ((4.0, 0.0, 0.0, 1.0), (2.0, 0.0, 0.0, 5.0)))
    ((4.5, 0.0, 0.0, 1.5), (1.5, 0.0, 0.0, 4.5))
    """
    eigens = [symmetric_eigen(square_matrix(scatter)) for scatter in scatters]
    total = math.fsum(counts)
    variances = [x / total for x in added([eigen.values for eigen in eigens])]
    # Singular scatters leave eigenvalues of either sign, by rounding.
    if not min(variances) > 0:
        raise Degenerate(None)
    return tuple(flat(composed(eigen.vectors, variances)) for eigen in eigens)


def _mean_of(component: int, variances: Block) -> float:
    if not min(variances) > 0:
        raise Degenerate(component, variances.index(min(variances)))
    return geometric_mean(variances)


def _one_volume(counts: Block, scatters: Blocks, volumes: Sequence[float]) -> Blocks:
    """With v_k the d-th root of |S_k|, the best volume is the sum of the v_k over all rows."""
    common = math.fsum(volumes) / math.fsum(counts)
    return tuple(
        tuple(x * (common / v) for x in scatter)
        for v, scatter in zip(volumes, scatters, strict=True)
    )
