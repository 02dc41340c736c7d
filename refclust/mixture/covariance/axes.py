"""M-steps of the models with free shapes along common axes (chapter 32, GMM-COVM).

No turn of the axes lowers the objective. Angles and the test for the end are free of units, so
every result is multiplied by exactly 4**e when the data are multiplied by 2**e.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from refclust.mixture.covariance.closed import equal_volume_diagonal, own
from refclust.mixture.covariance.parts import (
    Block,
    Blocks,
    Degenerate,
    Diagonal,
    Effort,
    Maximised,
    added,
    flat,
    geometric_mean,
    square_matrix,
    volume,
)
from refclust.numbers.eigen import (
    Lines,
    composed,
    congruent,
    identity,
    joint_axes,
    rotate,
    symmetric_eigen,
    transposed,
    turn,
)
from refclust.numbers.linalg import Matrix

# How far every start is followed before the best is chosen; and the gain, for each unit of weight,
# from which on a later start is better than an earlier one: above rounding, below all that matters.
_ROUGH = Effort(tolerance=2.0**-16, limit=50)
_BETTER = 2.0**-40


@dataclass(frozen=True, slots=True)
class _Axes:
    """Common axes as columns, and the scatter of each component along them."""

    axes: Matrix
    along: Blocks
    iterations: int
    converged: bool


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


def _turned(
    counts: Block,
    scatters: Blocks,
    before: Blocks | None,
    effort: Effort,
    *,
    equal_volumes: bool,
) -> Maximised:
    """The best covariances with common axes.

    There may be several maxima. From ``before`` the nearest one is approached; without it, the best
    of those in sight from the axes that come nearest to being common, from the coordinates, from
    the axes of all components together and of each.
    """
    matrices = [square_matrix(scatter) for scatter in scatters]
    for k, matrix in enumerate(matrices):
        volume(k, matrix)  # with a singular scatter there are no best axes
    start = own(counts, scatters) if before is None else before
    axes = joint_axes([square_matrix(block) for block in start])
    if before is None:
        best = _swept(counts, matrices, axes, _ROUGH, equal_volumes)
        pooled = square_matrix(added(scatters))
        starts = (symmetric_eigen(matrix).vectors for matrix in (pooled, *matrices))
        for start_axes in (transposed(identity(len(axes))), *starts):
            other = _swept(counts, matrices, start_axes, _ROUGH, equal_volumes)
            if _gain(counts, best.along, other.along, equal_volumes) > _BETTER:
                best = other
        axes = best.axes
    sweep = _swept(counts, matrices, axes, effort, equal_volumes)
    fitted = equal_volume_diagonal if equal_volumes else own
    covariances = (flat(composed(sweep.axes, values)) for values in fitted(counts, sweep.along))
    return Maximised(tuple(covariances), sweep.iterations, sweep.converged)


def _swept(
    counts: Block, matrices: Sequence[Matrix], axes: Matrix, effort: Effort, equal_volumes: bool
) -> _Axes:
    """Turn the axes in one plane after the other; a sweep over all planes is an iteration."""
    lines = [list(row) for row in axes]
    works = [[list(row) for row in congruent(matrix, axes)] for matrix in matrices]
    along, count, change = _diagonals(works), 0, math.inf
    diagonals = [Diagonal(block) for block in along] if equal_volumes else ()
    while count < effort.limit and change > effort.tolerance:
        for p, q in combinations(range(len(lines)), 2):
            factors = counts
            if equal_volumes:
                factors = tuple(diagonal.geometric_mean() for diagonal in diagonals)
            tangent = _best_turn(works, factors, p, q)
            for work in works:
                rotate(work, p, q, tangent)
            # All that is worked out anew in a plane is what a turn there changes.
            _check_both(works, p, q)
            for work, diagonal in zip(works, diagonals, strict=False):
                diagonal.put(p, work[p][p])
                diagonal.put(q, work[q][q])
            turn(lines, p, q, tangent)
        old, along = along, _diagonals(works)
        change = max(abs(x / y - 1) for x, y in zip(flat(along), flat(old), strict=True))
        count += 1
    axes = tuple(map(tuple, lines))
    along = _diagonals([congruent(matrix, axes) for matrix in matrices])
    return _Axes(axes, along, count, change <= effort.tolerance)


def _gain(counts: Block, old: Blocks, new: Blocks, equal_volumes: bool) -> float:
    """What the objective gains for each unit of weight; ratios come first, free of units."""
    size = len(old[0])
    if equal_volumes:
        ratio = math.fsum(map(geometric_mean, new)) / math.fsum(map(geometric_mean, old))
        return -size * math.log(ratio) / 2
    total = math.fsum(counts)
    return (
        -math.fsum(
            n / total * math.log(x / y)
            for n, a, b in zip(counts, new, old, strict=True)
            for x, y in zip(a, b, strict=True)
        )
        / 2
    )


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


def _check_both(works: Sequence[Lines], p: int, q: int) -> None:
    for k, work in enumerate(works):
        if not (work[p][p] > 0 and work[q][q] > 0):
            raise Degenerate(k)


def _diagonals(matrices: Sequence[Sequence[Sequence[float]]]) -> Blocks:
    """The diagonals; rounding may make one vanish where lengths differ by a factor of 2**26."""
    diagonals = tuple(tuple(row[j] for j, row in enumerate(matrix)) for matrix in matrices)
    for k, diagonal in enumerate(diagonals):
        if not min(diagonal) > 0:
            raise Degenerate(k)
    return diagonals
