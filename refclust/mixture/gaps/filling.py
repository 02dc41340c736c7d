"""What a fit expects of missing cells, row by row (MISS-FILL, MISS-COV and MISS-ENT, chapter 36).

The loop never needs this: it works with sums. It is for whoever wants to see the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import mul

from refclust.data.dataset import Dataset
from refclust.kernels.points import Vector
from refclust.mixture.families.gaussian.parameters import LOG_TWO_PI
from refclust.mixture.families.gaussian.steps import GaussianFamily, Pair
from refclust.mixture.gaps.densities import Conditional, GappedGaussians
from refclust.mixture.gaps.passes import GappedPasses
from refclust.mixture.gaps.patterns import Pattern


@dataclass(frozen=True, slots=True)
class Filled:
    """One row in one component."""

    row: Vector  # expected
    left: Vector  # the covariance that is left, d times d
    entropy: float  # of the missing cells, in nats


def filled_rows(family: GaussianFamily, point: Pair, rows: Dataset) -> list[list[Filled]]:
    """Every row as each component expects it.

    Spec: MISS-FILL, MISS-COV, MISS-ENT
    """
    means, d = point.densities.means.rows(), rows.d
    if not isinstance(family.passes, GappedPasses):
        nothing = (0.0,) * (d * d)
        return [[Filled(tuple(row), nothing, 0.0) for _ in means] for row in rows.rows()]
    assert isinstance(point.densities, GappedGaussians)
    table: list[list[Filled]] = [[] for _ in range(rows.n)]
    parts = zip(family.passes.patterns, point.densities.parts, strict=True)
    for pattern, part in parts:
        powers = math.fsum(family.exponents[j] for j in pattern.missing)
        constant = 0.5 * len(pattern.missing) * LOG_TWO_PI + powers * math.log(2.0)
        for i in pattern.rows:
            row = tuple(rows.row(i))
            if not pattern.missing:
                table[i] = [Filled(row, (0.0,) * (d * d), 0.0) for _ in means]
                continue
            table[i] = [
                _filled(row, pattern, conditional, mean, constant)
                for conditional, mean in zip(part.conditionals, means, strict=True)
            ]
    return table


def _filled(
    row: Vector, pattern: Pattern, conditional: Conditional, mean: Vector, constant: float
) -> Filled:
    d, cells = len(row), list(row)
    away = [row[j] - mean[j] for j in pattern.seen]
    left = [0.0] * (d * d)
    for a, j in enumerate(pattern.missing):
        pull = math.fsum(map(mul, conditional.slopes[a], away)) if conditional.slopes else 0.0
        cells[j] = mean[j] + pull
        for b, i in enumerate(pattern.missing):
            whole = len(conditional.left) == len(pattern.missing) and bool(conditional.slopes)
            left[j * d + i] = conditional.left[a][b] if whole else conditional.left[0][a] * (a == b)
    return Filled(tuple(cells), tuple(left), conditional.entropy + constant)
