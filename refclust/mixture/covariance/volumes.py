"""M-steps of the models with free volumes and a common shape, by turns (chapter 32, GMM-COVM).

No turn lowers the objective. Sums over components are rounded once, so the order of the components
does not matter; shapes and the test for the end are free of units, so every result is multiplied by
exactly 4**e when the data are multiplied by 2**e.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import mul
from typing import Final, TypeAlias

from refclust.mixture.covariance.closed import own_spherical
from refclust.mixture.covariance.newton import hastened
from refclust.mixture.covariance.parts import (
    Block,
    Blocks,
    Degenerate,
    Effort,
    Maximised,
    check_volumes,
    flat,
    geometric_mean,
    scaled,
    square_matrix,
    volume,
    weighed,
)
from refclust.numbers.eigen import composed, symmetric_eigen, transposed
from refclust.numbers.linalg import NotPositive, cholesky, inverse_lower

# From volumes to the best shape for them, of determinant 1, and the best volumes for that shape.
Alternation: TypeAlias = Callable[[Sequence[float]], tuple[Block, Block]]

# Most M-steps are done after so many turns, which cost less than Newton's steps.
_TURNS: Final = 24


def common_shape_diagonal(
    counts: Block, scatters: Blocks, before: Blocks | None, effort: Effort
) -> Maximised:
    """VEI: volumes, and the diagonal shape common to all components, by turns.

    Spec: GMM-COVM

    >>> counts, scatters = (1.0, 1.0), ((1.0, 4.0), (4.0, 16.0))
    >>> common_shape_diagonal(counts, scatters, None, Effort(0.0, 9)).covariances
    ((1.0, 4.0), (4.0, 16.0))
    """
    start = _spherical(counts, scatters) if before is None else tuple(map(geometric_mean, before))
    shape, volumes, count, done = _alternated(_by_columns(counts, scatters), start, effort)
    return Maximised(tuple(scaled(shape, v) for v in volumes), count, done)


def common_shape(
    counts: Block, scatters: Blocks, before: Blocks | None, effort: Effort
) -> Maximised:
    """VEE: volumes, and the matrix of determinant 1 common to all components, by turns.

    Newton's steps follow where turns are slow.

    Spec: GMM-COVM

    >>> counts, scatters = (1.0, 1.0), ((1.0, 0.0, 0.0, 4.0), (4.0, 0.0, 0.0, 16.0))
    >>> common_shape(counts, scatters, None, Effort(0.0, 9)).covariances
    ((1.0, 0.0, 0.0, 4.0), (4.0, 0.0, 0.0, 16.0))
    """
    size = math.isqrt(len(scatters[0]))

    def alternate(volumes: Sequence[float]) -> tuple[Block, Block]:
        total = weighed(scatters, volumes)
        try:
            lower = cholesky(square_matrix(total))
        except NotPositive as fault:
            raise Degenerate(None, fault.column) from None
        scale = geometric_mean([row[j] * row[j] for j, row in enumerate(lower)])
        inverse = flat(composed(transposed(inverse_lower(lower)), [1.0] * size))
        return scaled(total, 1 / scale), tuple(
            scale * math.fsum(map(mul, inverse, scatter)) / (n * size)
            for n, scatter in zip(counts, scatters, strict=True)
        )

    diagonals = tuple(scatter[:: size + 1] for scatter in scatters)
    start = _spherical(counts, diagonals) if before is None else _volumes(before)
    few = Effort(effort.tolerance, min(_TURNS, effort.limit))
    shape, volumes, count, done = _alternated(alternate, start, few)
    if not done and count < effort.limit:
        return hastened(counts, scatters, volumes, effort, count)
    return Maximised(tuple(scaled(shape, v) for v in volumes), count, done)


def own_axes_common_shape(
    counts: Block, scatters: Blocks, before: Blocks | None, effort: Effort
) -> Maximised:
    """VEV: the principal axes of each component; volumes and the common shape by turns.

    Spec: GMM-COVM

    >>> counts, scatters = (1.0, 1.0), ((1.0, 0.0, 0.0, 4.0), (16.0, 0.0, 0.0, 4.0))
    >>> own_axes_common_shape(counts, scatters, None, Effort(0.0, 9)).covariances
    ((1.0, 0.0, 0.0, 4.0), (16.0, 0.0, 0.0, 4.0))
    """
    eigens = [symmetric_eigen(square_matrix(scatter)) for scatter in scatters]
    # Singular scatters leave eigenvalues of either sign, by rounding.
    rows = tuple(tuple(max(x, 0.0) for x in eigen.values) for eigen in eigens)
    start = _spherical(counts, rows) if before is None else _volumes(before)
    shape, volumes, count, done = _alternated(_by_columns(counts, rows), start, effort)
    covariances = (
        flat(composed(eigen.vectors, scaled(shape, v)))
        for eigen, v in zip(eigens, volumes, strict=True)
    )
    return Maximised(tuple(covariances), count, done)


def _alternated(
    alternate: Alternation, volumes: Block, effort: Effort
) -> tuple[Block, Block, int, bool]:
    """The last shape and volumes, how many iterations there were, and whether they converged.

    Each half maximises the objective for what the other has left. In the logarithms of the volumes
    and of the shape minus the objective is convex, in a full matrix along geodesics, so that there
    is no other maximum than the one approached.
    """
    count, change = 0, math.inf
    shape: Block = ()
    while count < effort.limit and change > effort.tolerance:
        check_volumes(volumes)
        shape, renewed = alternate(volumes)
        change = max(abs(new / old - 1) for new, old in zip(renewed, volumes, strict=True))
        volumes = renewed
        count += 1
    check_volumes(volumes)
    return shape, volumes, count, change <= effort.tolerance


def _by_columns(counts: Block, rows: Blocks) -> Alternation:
    """The alternation for a diagonal shape."""
    size = len(rows[0])

    def alternate(volumes: Sequence[float]) -> tuple[Block, Block]:
        total = weighed(rows, volumes)
        if not min(total) > 0:
            raise Degenerate(None, total.index(min(total)))
        shape = scaled(total, 1 / geometric_mean(total))
        return shape, tuple(
            math.fsum(x / a for x, a in zip(row, shape, strict=True)) / (n * size)
            for n, row in zip(counts, rows, strict=True)
        )

    return alternate


def _volumes(covariances: Blocks) -> Block:
    return tuple(volume(k, square_matrix(block)) for k, block in enumerate(covariances))


def _spherical(counts: Block, diagonals: Blocks) -> Block:
    """The volumes to begin with: those of spheres."""
    return tuple(variance for (variance,) in own_spherical(counts, diagonals))
