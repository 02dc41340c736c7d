"""Normal densities of the cells that are seen, and what they tell of those that are missing.

Realises MISS-PDF, MISS-FILL and MISS-COV of chapter 36 in doubles. With the columns that are seen
first, a covariance has the whitening matrix

    W = [[W_oo, 0], [W_mo, W_mm]]

in which W_oo whitens what is seen. Given that, the missing cells have the covariance L L' with L
the inverse of W_mm, and the slopes -L W_mo: no difference is taken, so nothing cancels, and L L' is
a covariance whatever rounding does.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul

from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import Form, Gaussians
from refclust.kernels.mixtures.shared import Doubles
from refclust.mixture.gaps.patterns import Pattern
from refclust.numbers.linalg import Matrix, inverse_lower


@dataclass(frozen=True, slots=True)
class Conditional:
    """The missing cells of a row in one component, given the others: how they follow, how freely.

    ``slopes`` has for each missing cell a number for each that is seen (nothing at all if cells do
    not depend on each other), ``left`` the covariance that is left, or its diagonal as one line.
    """

    slopes: Matrix
    left: Matrix
    entropy: float  # relative to the constant of the family


@dataclass(frozen=True, slots=True)
class Part:
    """The densities of one pattern."""

    offsets: Doubles
    marginal: Gaussians | None  # none if no column is seen
    conditionals: tuple[Conditional, ...]  # one for each component; none if nothing is missing


@dataclass(frozen=True, slots=True)
class GappedGaussians(Gaussians):
    """K normal densities times their shares, for whole rows and for each pattern of gaps."""

    parts: tuple[Part, ...]
    stiffness: float  # the largest of all ``stiffness`` of covariances


def part_of(
    pattern: Pattern,
    whole: Gaussians,
    logs: Sequence[float],
    white: Sequence[Sequence[float]],
    exponents: Sequence[int],
) -> Part:
    """The densities of a pattern.

    ``logs`` are the logarithms of the shares, ``white`` the whitening of each component: with the
    columns in the order of the pattern if it is full. ``exponents`` are those of GMM-SCALE.

    Spec: MISS-PDF, MISS-FILL, MISS-COV, MISS-ENT
    """
    if not pattern.missing:
        return Part(whole.offsets, whole, ())
    s, form = len(pattern.seen), whole.form
    order = (*pattern.seen, *pattern.missing)
    offsets, marginal, conditionals = array("d"), array("d"), []
    for share, numbers in zip(logs, white, strict=True):
        diagonal = _diagonal(numbers, form, order)
        terms = [
            math.log(math.ldexp(w, exponents[j])) for w, j in zip(diagonal, order, strict=True)
        ]
        offsets.append(share + math.fsum(terms[:s]))
        entropy = 0.5 * len(pattern.missing) - math.fsum(terms[s:])
        if form == "full":
            d = len(order)
            square = tuple(tuple(numbers[i * d : (i + 1) * d]) for i in range(d))
            marginal.extend(x for row in square[:s] for x in row[:s])
            conditionals.append(Conditional(*_following(square, s), entropy))
            continue
        marginal.extend(diagonal[:s] if form == "diagonal" else numbers)
        variances = tuple(1.0 / w / w for w in diagonal[s:])
        conditionals.append(Conditional((), (variances,), entropy))
    means = None
    if s:
        columns = [[mean[j] for j in pattern.seen] for mean in whole.means.rows()]
        means = Gaussians(offsets, CentreMatrix.of(columns), marginal, form)
    return Part(offsets, means, tuple(conditionals))


def stiffness(white: Sequence[float], roots: Sequence[float]) -> float:
    """How much rounding of a full covariance is magnified by whitening it: sums of |W| sqrt(C).

    With T = |W||L| as in KER-WHITEN no entry of line i of T exceeds the sum over j of |W_ij| times
    the root of C_jj, which are given; this is the sum of the squares of these.

    Spec: MISS-BOUND

    >>> stiffness((0.5, 0.0, 0.0, 2.0), (2.0, 0.5))
    2.0
    """
    d = len(roots)
    lines = (sum(abs(white[i * d + j]) * roots[j] for j in range(i + 1)) for i in range(d))
    return math.fsum(line * line for line in lines)


def _diagonal(white: Sequence[float], form: Form, order: Sequence[int]) -> list[float]:
    """What whitens each column, in the order of a pattern."""
    d = len(order)
    if form == "full":
        return list(white[:: d + 1])
    return [white[j] for j in order] if form == "diagonal" else list(white) * d


def _following(white: Matrix, s: int) -> tuple[Matrix, Matrix]:
    """Slopes and covariance of what is missing, from the whitening with what is seen first."""
    lower = inverse_lower(tuple(row[s:] for row in white[s:]))
    crossed = list(zip(*(row[:s] for row in white[s:]), strict=True))
    slopes = tuple(tuple(-_product(row, column) for column in crossed) for row in lower)
    left = tuple(tuple(_product(a, b) for b in lower) for a in lower)
    return slopes, left


def _product(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(map(mul, left, right))
