"""Passes over rows under K normal densities (chapter 32).

A density is given by its mean m and a whitening matrix W, lower triangular with W'W the inverse of
the covariance, so that log p(x, k) = offset - |W (x - m)|^2 / 2. Nothing is inverted or solved
here: what a pass computes is a polynomial in the doubles given, with a derived bound on its error.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any, Literal, TypeAlias

from refclust.kernels.blocks import blocks
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.contracts.mixtures import EMStepContract, LogProb, Sums
from refclust.kernels.mixtures.shared import (
    ROW_BY_ROW,
    SOFT,
    Doubles,
    EMStep,
    Posterior,
    Rule,
    passed,
    weighted_shares,
)
from refclust.kernels.mixtures.shared import posterior as posterior_of
from refclust.kernels.points import Points, Vector
from refclust.kernels.registry import kernel
from refclust.numbers.argmin import ROUND

Form: TypeAlias = Literal["full", "diagonal", "spherical"]
Spread: TypeAlias = Literal["full", "diagonal"]  # which second moments are summed


def block_size(form: Form, d: int) -> int:
    """How many numbers the covariance of one component has in d columns.

    Spec: none (a size)

    >>> [block_size(form, 3) for form in ("full", "diagonal", "spherical")]
    [9, 3, 1]
    """
    return {"full": d * d, "diagonal": d, "spherical": 1}[form]


@dataclass(frozen=True, slots=True)
class Gaussians:
    """K normal densities times their shares, up to a factor common to all of them.

    ``whitening`` holds for each component d*d numbers row after row (full, zeros above the
    diagonal), d numbers (diagonal) or one (spherical). An offset of -inf is a share of zero.
    """

    offsets: Doubles
    means: CentreMatrix
    whitening: Doubles
    form: Form

    @property
    def k(self) -> int:
        """The number of components."""
        return len(self.offsets)

    @property
    def spread(self) -> Spread:
        """Which second moments the M-step of such densities needs."""
        return "full" if self.form == "full" else "diagonal"


@dataclass(frozen=True, slots=True)
class Moments:
    """Weighted sums over rows of each component, around a point a_k of each.

    ``counts`` are the sums of w q, ``firsts`` of w q (x - a), ``seconds`` of w q (x - a)(x - a)':
    d*d numbers for each component (full, symmetric), or the d on the diagonal.
    """

    counts: Doubles
    firsts: Doubles
    seconds: Doubles
    around: CentreMatrix
    spread: Spread

    def squares(self) -> list[list[float]]:
        """Of each component the second moment of every column.

        Spec: none (the diagonals of ``seconds``)
        """
        d = self.around.d
        size, step = (d, 1) if self.spread == "diagonal" else (d * d, d + 1)
        return [block[::step] for block in blocks(self.seconds, size)]


def _joint(points: Points, densities: Gaussians) -> list[tuple[float, ...]]:
    """log p(x, k) of every row, up to the common factor."""
    means = list(densities.means)
    parts = blocks(densities.whitening, len(densities.whitening) // len(means))
    columns = []
    for offset, mean, whitening in zip(densities.offsets, means, parts, strict=True):
        squares = _squares(points.filled, mean, whitening, densities.form)
        columns.append([offset - 0.5 * square for square in squares])
    return list(zip(*columns, strict=True))


def _squares(
    rows: Sequence[Vector], mean: Vector, whitening: Sequence[float], form: Form
) -> list[float]:
    """|W (x - m)|^2 of every row; differences come first, so that an offset does no harm."""
    if form == "spherical":
        scale = whitening[0]
        lengths = [scale * math.dist(row, mean) for row in rows]
    else:
        away = [[x - m for x, m in zip(row, mean, strict=True)] for row in rows]
        if form == "diagonal":
            lengths = [math.hypot(*map(mul, whitening, x)) for x in away]
        else:
            d = len(mean)
            lines = [whitening[i * d : i * d + i + 1] for i in range(d)]
            # Built-in sum on floats: its error is inside the bound of KER-POSTERIOR, and fsum takes
            # thrice the time.
            lengths = [math.hypot(*[sum(map(mul, line, x)) for line in lines]) for x in away]
    return [length * length for length in lengths]  # infinite where ``length ** 2`` would raise


def _summed(
    points: Points,
    columns: Sequence[Sequence[float]],
    around: CentreMatrix,
    spread: Spread,
    of: Callable[[float], float] = float,
) -> Moments:
    """The moments of each component, every sum rounded once; ``of`` is put on differences."""
    coordinates = list(zip(*points.filled, strict=True))
    d = points.d
    counts, firsts, seconds = array("d"), array("d"), array("d")
    for shares, centre in zip(columns, around, strict=True):
        away = [[of(x - a) for x in column] for column, a in zip(coordinates, centre, strict=True)]
        weighted = [list(map(mul, shares, x)) for x in away]
        counts.append(math.fsum(shares))
        firsts.extend(_sum_of_products(shares, x) for x in away)
        if spread == "diagonal":
            seconds.extend(_sum_of_products(weighted[j], away[j]) for j in range(d))
            continue
        square = [[0.0] * d for _ in range(d)]
        for i in range(d):
            for j in range(i + 1):
                square[i][j] = square[j][i] = _sum_of_products(weighted[i], away[j])
        seconds.extend(x for line in square for x in line)
    return Moments(counts, firsts, seconds, around, spread)


def _sum_of_products(left: Sequence[float], right: Sequence[float]) -> float:
    """A sum of products, rounded once; infinite if a product or the sum leaves the doubles.

    >>> _sum_of_products([0.0, 2.0], [math.inf, 3.0]), _sum_of_products([1.0, -1.0], [math.inf] * 2)
    (6.0, inf)
    """
    try:
        product = math.fsum(map(mul, left, right))
        if not math.isnan(product):
            return product
        # What has no share counts for nothing, however far away it is; 0 times inf says NaN.
        return math.fsum(x * y for x, y in zip(left, right, strict=True) if x and y and x == x)
    except (OverflowError, ValueError):  # it is too large, or infinities of both signs meet
        return math.inf


def _errors(points: Points, densities: Gaussians) -> list[tuple[float, ...]]:
    """By how much each log p(x, k) may err.

    With a_i the sum of |W_ij| |x_j - m_j| and A the sum of their squares: a difference errs by u of
    itself, a sum of at most d products by (d + 1) u of a_i more, its square by twice that, the sum
    of d squares by (d + 1) u, or 5 u if it comes from ``hypot``; halves and the difference from the
    offset add u of both. Together below u ((1.5 d + 9) A + |offset|).
    """
    d, columns = points.d, []
    for offset, mean, block in zip(
        densities.offsets,
        densities.means,
        blocks(densities.whitening, block_size(densities.form, d)),
        strict=True,
    ):
        whitening = [abs(x) for x in block]
        away = [tuple(abs(x - m) for x, m in zip(row, mean, strict=True)) for row in points.filled]
        squares = _squares(away, (0.0,) * d, whitening, densities.form)
        own = abs(offset) if math.isfinite(offset) else 0.0
        columns.append([ROUND * ((1.5 * d + 9) * square + own) for square in squares])
    return list(zip(*columns, strict=True))


def _absolute(points: Points, masses: Sequence[Sequence[float]], args: Sequence[Any]) -> Moments:
    """The moments with absolute terms, for the arguments of ``em_step`` or of ``moments``."""
    if isinstance(args[0], Gaussians):
        around = args[0].means if len(args) < 3 or args[2] is None else args[2]
        spread = args[0].spread
    else:
        around, spread = args[2], args[3]
    return _summed(points, masses, around, spread, of=abs)


@kernel("gaussian.posterior", contract=LogProb(_joint, _errors), merge=ROW_BY_ROW)
def posterior(points: Points, densities: Gaussians, full: bool) -> Posterior:
    """Find the most probable component of every row and log p(x).

    Spec: GMM-ESTEP, GAU-PDF, KER-POSTERIOR

    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [0, 4]), 1))
    >>> two = Gaussians(array("d", [0, 0]), CentreMatrix.of([(0.0,), (4.0,)]),
    ...                 array("d", [1, 1]), "spherical")
    >>> posterior(line, two, False).labels.tolist()
    [0, 1]
    """
    return posterior_of(_joint(points, densities), full=full)


@kernel("gaussian.moments", contract=Sums(_absolute, Moments))
def moments(
    points: Points, q: Labels | Doubles, k: int, around: CentreMatrix, spread: Spread
) -> Moments:
    """Add up the moments of every component for given labels (-1: none) or responsibilities.

    Spec: GMM-NK, GMM-MU, GMM-SIG, KER-MOMENTS

    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [1, 3]), 1))
    >>> found = moments(line, array("i", [0, 0]), 1, CentreMatrix.of([(2.0,)]), "full")
    >>> found.counts, found.firsts, found.seconds
    (array('d', [2.0]), array('d', [0.0]), array('d', [2.0]))
    """
    weights = points.data.weights
    columns = weighted_shares(q, k, None if weights is None else weights.tolist())
    return _summed(points, columns, around, spread)


@kernel("gaussian.em_step", contract=EMStepContract(_joint, _errors, _absolute, Moments))
def em_step(
    points: Points,
    densities: Gaussians,
    rule: Rule = SOFT,
    around: CentreMatrix | None = None,
) -> EMStep[Moments]:
    """Share out every row among the components and add up what the M-step needs, in one pass.

    Spec: GMM-ESTEP, GMM-NK, GMM-MU, GMM-SIG, KER-EMSTEP

    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [-1, 1]), 1))
    >>> one = Gaussians(array("d", [0]), CentreMatrix.of([(0.0,)]), array("d", [1]), "full")
    >>> step = em_step(line, one)
    >>> step.log_likelihood, step.moments.seconds
    (-1.0, array('d', [2.0]))
    """
    weights = points.data.weights
    shared = passed(_joint(points, densities), None if weights is None else weights.tolist(), rule)
    centres = densities.means if around is None else around
    spread: Spread = "full" if densities.form == "full" else "diagonal"
    moments = _summed(points, shared.columns, centres, spread)
    return EMStep(shared.log_likelihood, shared.bound, shared.entropy, moments)
