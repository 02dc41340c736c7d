"""M-steps of the covariance models that need iterations (chapter 32, GMM-COVM).

No iteration lowers the objective. Sums over components are rounded once, so the order of the
components does not matter; angles, ratios and the test for the end are free of units, so every
result is multiplied by exactly 4**e when the data are multiplied by 2**e.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import mul
from typing import TypeAlias

from refclust.mixture.shapes_closed import (
    Block,
    Blocks,
    Degenerate,
    added,
    equal_volume_diagonal,
    flat,
    geometric_mean,
    own,
    own_spherical,
    squared,
    volume,
)
from refclust.numbers.eigen import (
    Lines,
    composed,
    congruent,
    joint_axes,
    rotate,
    symmetric_eigen,
    transposed,
    turn,
)
from refclust.numbers.linalg import NotPositive, cholesky, inverse_lower

# From volumes to the best shape for them, of determinant 1, and the best volumes for that shape.
Alternation: TypeAlias = Callable[[Sequence[float]], tuple[Block, Block]]


@dataclass(frozen=True, slots=True)
class Effort:
    """When inner iterations end: the relative change that is small enough, and their number."""

    tolerance: float
    limit: int


@dataclass(frozen=True, slots=True)
class Maximised:
    """The best covariances of a model; a closed form makes no iterations."""

    covariances: Blocks
    iterations: int = 0
    converged: bool = True


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
    return Maximised(tuple(_scaled(shape, v) for v in volumes), count, done)


def common_shape(
    counts: Block, scatters: Blocks, before: Blocks | None, effort: Effort
) -> Maximised:
    """VEE: volumes, and the matrix of determinant 1 common to all components, by turns.

    Spec: GMM-COVM

    >>> counts, scatters = (1.0, 1.0), ((1.0, 0.0, 0.0, 4.0), (4.0, 0.0, 0.0, 16.0))
    >>> common_shape(counts, scatters, None, Effort(0.0, 9)).covariances
    ((1.0, 0.0, 0.0, 4.0), (4.0, 0.0, 0.0, 16.0))
    """
    size = math.isqrt(len(scatters[0]))

    def alternate(volumes: Sequence[float]) -> tuple[Block, Block]:
        total = _weighed(scatters, volumes)
        try:
            lower = cholesky(squared(total))
        except NotPositive as fault:
            raise Degenerate(None, fault.column) from None
        scale = geometric_mean([row[j] * row[j] for j, row in enumerate(lower)])
        inverse = flat(composed(transposed(inverse_lower(lower)), [1.0] * size))
        return _scaled(total, 1 / scale), tuple(
            scale * math.fsum(map(mul, inverse, scatter)) / (n * size)
            for n, scatter in zip(counts, scatters, strict=True)
        )

    diagonals = tuple(scatter[:: size + 1] for scatter in scatters)
    start = _spherical(counts, diagonals) if before is None else _volumes(before)
    shape, volumes, count, done = _alternated(alternate, start, effort)
    return Maximised(tuple(_scaled(shape, v) for v in volumes), count, done)


def own_axes_common_shape(
    counts: Block, scatters: Blocks, before: Blocks | None, effort: Effort
) -> Maximised:
    """VEV: the principal axes of each component; volumes and the common shape by turns.

    Spec: GMM-COVM

    >>> counts, scatters = (1.0, 1.0), ((1.0, 0.0, 0.0, 4.0), (16.0, 0.0, 0.0, 4.0))
    >>> own_axes_common_shape(counts, scatters, None, Effort(0.0, 9)).covariances
    ((1.0, 0.0, 0.0, 4.0), (16.0, 0.0, 0.0, 4.0))
    """
    eigens = [symmetric_eigen(squared(scatter)) for scatter in scatters]
    # Singular scatters leave eigenvalues of either sign, by rounding.
    rows = tuple(tuple(max(x, 0.0) for x in eigen.values) for eigen in eigens)
    start = _spherical(counts, rows) if before is None else _volumes(before)
    shape, volumes, count, done = _alternated(_by_columns(counts, rows), start, effort)
    covariances = (
        flat(composed(eigen.vectors, _scaled(shape, v)))
        for eigen, v in zip(eigens, volumes, strict=True)
    )
    return Maximised(tuple(covariances), count, done)


def common_axes(
    counts: Block, scatters: Blocks, before: Blocks | None, effort: Effort
) -> Maximised:
    """VVE: axes common to all components, each with its own variances along them.

    Spec: GMM-COVM

    >>> counts, scatters = (1.0, 1.0), ((1.0, 0.0, 0.0, 4.0), (4.0, 0.0, 0.0, 3.0))
    >>> common_axes(counts, scatters, None, Effort(0.0, 9)).covariances
    ((1.0, 0.0, 0.0, 4.0), (4.0, 0.0, 0.0, 3.0))
    """
    return _turned(counts, scatters, before, effort, equal_volumes=False)


def common_axes_equal_volume(
    counts: Block, scatters: Blocks, before: Blocks | None, effort: Effort
) -> Maximised:
    """EVE: axes common to all components, own variances along them with one determinant.

    Spec: GMM-COVM

    >>> counts, scatters = (1.0, 1.0), ((1.0, 0.0, 0.0, 4.0), (2.0, 0.0, 0.0, 2.0))
    >>> common_axes_equal_volume(counts, scatters, None, Effort(0.0, 9)).covariances
    ((1.0, 0.0, 0.0, 4.0), (2.0, 0.0, 0.0, 2.0))
    """
    return _turned(counts, scatters, before, effort, equal_volumes=True)


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
        _check_volumes(volumes)
        shape, renewed = alternate(volumes)
        change = max(abs(new / old - 1) for new, old in zip(renewed, volumes, strict=True))
        volumes = renewed
        count += 1
    _check_volumes(volumes)
    return shape, volumes, count, change <= effort.tolerance


def _check_volumes(volumes: Block) -> None:
    """Without a maximum, volumes drift away until they leave the range of doubles."""
    for k, value in enumerate(volumes):
        if not 0 < value < math.inf:
            raise Degenerate(k)


def _by_columns(counts: Block, rows: Blocks) -> Alternation:
    """The alternation for a diagonal shape."""
    size = len(rows[0])

    def alternate(volumes: Sequence[float]) -> tuple[Block, Block]:
        total = _weighed(rows, volumes)
        if not min(total) > 0:
            raise Degenerate(None, total.index(min(total)))
        shape = _scaled(total, 1 / geometric_mean(total))
        return shape, tuple(
            math.fsum(x / a for x, a in zip(row, shape, strict=True)) / (n * size)
            for n, row in zip(counts, rows, strict=True)
        )

    return alternate


def _turned(
    counts: Block,
    scatters: Blocks,
    before: Blocks | None,
    effort: Effort,
    *,
    equal_volumes: bool,
) -> Maximised:
    """The best covariances with common axes; a sweep over all planes is an iteration."""
    matrices = [squared(scatter) for scatter in scatters]
    for k, matrix in enumerate(matrices):
        volume(k, matrix)  # with a singular scatter there are no best axes
    start = own(counts, scatters) if before is None else before
    axes = joint_axes([squared(block) for block in start])
    lines = [list(row) for row in axes]
    works = [[list(row) for row in congruent(matrix, axes)] for matrix in matrices]
    diagonals, count, change = _diagonals(works), 0, math.inf
    while count < effort.limit and change > effort.tolerance:
        for p, q in combinations(range(len(lines)), 2):
            # The factor of a component in the objective, see _best_turn.
            factors = tuple(map(geometric_mean, _diagonals(works))) if equal_volumes else counts
            tangent = _best_turn(works, factors, p, q)
            for work in works:
                rotate(work, p, q, tangent)
            turn(lines, p, q, tangent)
        old, diagonals = diagonals, _diagonals(works)
        change = max(abs(x / y - 1) for x, y in zip(flat(diagonals), flat(old), strict=True))
        count += 1
    axes = tuple(map(tuple, lines))
    along = _diagonals([congruent(matrix, axes) for matrix in matrices])
    variances = equal_volume_diagonal(counts, along) if equal_volumes else own(counts, along)
    covariances = tuple(flat(composed(axes, values)) for values in variances)
    return Maximised(covariances, count, change <= effort.tolerance)


def _best_turn(works: Sequence[Lines], factors: Block, p: int, q: int) -> float:
    """The tangent of the angle by which the axes p and q have to be turned.

    With m the present diagonal entries, the best variances are m times a number of the component,
    and the objective falls by half of  c (x_p / m_p + x_q / m_q), added over the components, when
    entries become x and variances stay: c is N_k if volumes are free, else, up to a number common
    to all, the d-th root of the product of all m. For w = c (1/m_p - 1/m_q), half the difference h
    of the two entries and o the one beside them, a turn by t makes this a constant plus
    cos 2t sum(w h) - sin 2t sum(w o): least where 2t has the direction of (-sum(w h), sum(w o)).
    Since w h is never positive, no turn exceeds 45 degrees. New variances then gain once more.
    """
    along, across = [], []
    for c, work in zip(factors, works, strict=True):
        m, n, o = work[p][p], work[q][q], work[p][q]
        along.append(c * ((m - n) / m) * ((m - n) / n) / 2)
        across.append(-c * ((m - n) / m) * (o / n))
    x, y = math.fsum(along), math.fsum(across)
    return y / (x + math.hypot(x, y)) if y else 0.0


def _diagonals(matrices: Sequence[Sequence[Sequence[float]]]) -> Blocks:
    return tuple(tuple(row[j] for j, row in enumerate(matrix)) for matrix in matrices)


def _volumes(covariances: Blocks) -> Block:
    return tuple(volume(k, squared(block)) for k, block in enumerate(covariances))


def _spherical(counts: Block, diagonals: Blocks) -> Block:
    """The volumes to begin with: those of spheres."""
    return tuple(variance for (variance,) in own_spherical(counts, diagonals))


def _weighed(blocks: Blocks, volumes: Sequence[float]) -> Block:
    """The sums over the components of what they have in units of their volumes."""
    return added([_scaled(block, 1 / v) for block, v in zip(blocks, volumes, strict=True)])


def _scaled(block: Block, factor: float) -> Block:
    return tuple(x * factor for x in block)
