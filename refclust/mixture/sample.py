"""Rows drawn from a mixture, seeded (EM-SAMPLE, chapter 30).

Every draw is made of numbers of the one stream of chapter 05, in a fixed order: for each row first
the component, then its numbers, column by column.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from refclust.errors import BadOption, DegenerateCovariance
from refclust.fitting.checks import whole
from refclust.fitting.draws import Draws
from refclust.fitting.memory import for_drawn
from refclust.kernels.points import Vector
from refclust.mixture.families.count_parameters import CountParameters
from refclust.mixture.families.gaussian_parameters import GaussianParameters
from refclust.mixture.options import is_number
from refclust.mixture.predict import Parameters, check_mixture, columns_of
from refclust.numbers.linalg import NotPositive, cholesky

_MOST_MEAN = 1e6


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows, and the component each was drawn from.

    Spec: EM-SAMPLE
    """

    rows: tuple[Vector, ...]
    labels: array[int]


def sample(
    parameters: Parameters, n: int, *, family: str, seed: int = 0, length: float | None = None
) -> Sample:
    """Draw n rows from a mixture; documents of a multinomial one have Poisson lengths.

    ``length`` is the mean number of words of a document.

    Spec: EM-SAMPLE, GMM-GEN, NB-GEN, NB-POISSON, NB-GENSEQ

    >>> two = CountParameters((0.5, 0.5), ((1.0, 0.0), (0.0, 1.0)))
    >>> sample(two, 3, family="bernoulli", seed=1).rows
    ((1.0, 0.0), (1.0, 0.0), (0.0, 1.0))
    """
    whole("n", n, 1)
    check_mixture(parameters, family)
    for_drawn(n, columns_of(parameters))
    draws = Draws(seed)
    if isinstance(parameters, GaussianParameters):
        draw = _normal_rows(parameters, draws)
    elif family == "bernoulli":
        draw = _presences(parameters, draws)
    else:
        draw = _documents(parameters, draws, length)
    shares = list(accumulate(parameters.weights))
    labels, rows = array("i"), []
    for _ in range(n):
        k = chosen(shares, draws.next())
        labels.append(k)
        rows.append(draw(k))
    return Sample(tuple(rows), labels)


def chosen(reached: Sequence[float], u: float) -> int:
    """The least index whose cumulated share is above u of the whole.

    Spec: EM-SAMPLE

    >>> chosen([0.25, 1.0], 0.25), chosen([0.25, 1.0], 0.2), chosen([0.5, 0.5], 0.9)
    (1, 0, 0)
    """
    # Rounding must not lead beyond the last index that has a share of its own.
    found = bisect_right(reached, u * reached[-1])
    last = next(i for i, x in enumerate(reached) if x == reached[-1])
    return min(found, last)


def normal(draws: Draws) -> float:
    """A normal number from two uniform ones, by the transformation of Box and Muller.

    Spec: EM-SAMPLE
    """
    u, v = draws.next(), draws.next()
    return math.sqrt(-2.0 * math.log1p(-u)) * math.cos(2.0 * math.pi * v)


def poisson(draws: Draws, mean: float) -> int:
    """A Poisson number: how many exponential waiting times fit into the mean.

    Spec: EM-SAMPLE, NB-POISSON
    """
    reached, count = -math.log1p(-draws.next()), 0
    while reached <= mean:
        reached -= math.log1p(-draws.next())
        count += 1
    return count


def _normal_rows(parameters: GaussianParameters, draws: Draws) -> Callable[[int], Vector]:
    lowers = []
    for k, covariance in enumerate(parameters.covariances):
        try:
            lowers.append(cholesky(covariance))
        except NotPositive as wrong:
            raise DegenerateCovariance(
                f"the covariance of component {k} is singular in column {wrong.column}"
            ) from None

    def draw(k: int) -> Vector:
        z = [normal(draws) for _ in parameters.means[k]]
        return tuple(
            m + math.fsum(a * b for a, b in zip(line, z, strict=True))
            for m, line in zip(parameters.means[k], lowers[k], strict=True)
        )

    return draw


def _presences(parameters: CountParameters, draws: Draws) -> Callable[[int], Vector]:
    def draw(k: int) -> Vector:
        return tuple(float(draws.next() < theta) for theta in parameters.probabilities[k])

    return draw


def _documents(
    parameters: CountParameters, draws: Draws, length: float | None
) -> Callable[[int], Vector]:
    if length is None or not is_number(length) or not 0 <= length <= _MOST_MEAN:
        raise BadOption(
            f"the mean length of a document is {length!r}; a number from 0 to {_MOST_MEAN:.0f} is "
            "needed: a multinomial mixture knows words, not lengths"
        )
    reached = [list(accumulate(row)) for row in parameters.probabilities]
    mean = float(length)

    def draw(k: int) -> Vector:
        counts = [0.0] * len(reached[k])
        for _ in range(poisson(draws, mean)):
            counts[chosen(reached[k], draws.next())] += 1.0
        return tuple(counts)

    return draw
