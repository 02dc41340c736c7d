"""How heavy the tail of importance weights is (MS-PARETO, chapter 34)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

_LEAST_TAIL: Final = 5
_POINTS: Final = 30  # of the grid, beside the root of the number of weights
_IMAGINED, _MIDDLE = 10, 0.5  # a weak prior: ten weights with the index 1/2


def pareto_index(log_weights: Iterable[float]) -> float | None:
    """The tail index of the largest weights, by a generalised Pareto distribution.

    ``None`` where there are too few of them to tell, -inf where they are all equal.

    Spec: MS-PARETO

    >>> pareto_index([0.0] * 100), pareto_index([0.0, 1.0])
    (-inf, None)
    >>> quantiles = [-math.log1p(-(i + 0.5) / 2000) for i in range(2000)]  # of weights with k = 1
    >>> 0.8 < pareto_index(quantiles) < 1.2
    True
    """
    ordered = sorted(log_weights)
    size = tail_size(len(ordered))
    if size < _LEAST_TAIL:
        return None
    peak, below = ordered[-1], ordered[-size - 1]
    if peak == -math.inf:
        return None
    cut = math.exp(below - peak)
    excesses = [math.exp(x - peak) - cut for x in ordered[-size:]]
    if not excesses[-1] > 0.0:
        return -math.inf
    # Weights equal to the cut are no part of the tail; a fit cannot use them.
    positive = [x for x in excesses if x > 0.0]
    if len(positive) < _LEAST_TAIL:
        return math.inf
    return _shape(positive)


def tail_size(samples: int) -> int:
    """How many of the largest weights count as the tail.

    Spec: MS-PARETO

    >>> tail_size(100), tail_size(1000)
    (20, 95)
    """
    return math.ceil(min(samples / 5, 3.0 * math.sqrt(samples)))


def index_limit(samples: int) -> float:
    """The tail index up to which so many draws are enough.

    Spec: MS-PARETO

    >>> index_limit(100), index_limit(10_000)
    (0.5, 0.7)
    """
    return min(1.0 - 1.0 / math.log10(samples), 0.7) if samples > 10 else 0.0


def _shape(excesses: Sequence[float]) -> float:
    """The index of ascending excesses: a mean over a grid, weighted by the profile likelihood.

    Spec: MS-PARETO
    """
    n = len(excesses)
    points = _POINTS + math.isqrt(n)
    quarter = excesses[max(math.floor(n / 4 + 0.5), 1) - 1]
    grid = [
        1.0 / excesses[-1] + (1.0 - math.sqrt(points / (j + 0.5))) / (3.0 * quarter)
        for j in range(points)
    ]
    logs = [_profile(b, excesses) for b in grid]
    peak = max(logs)
    masses = [math.exp(x - peak) for x in logs]
    b = math.fsum(map(float.__mul__, grid, masses)) / math.fsum(masses)
    return (n * _index(b, excesses) + _IMAGINED * _MIDDLE) / (n + _IMAGINED)


def _index(b: float, excesses: Sequence[float]) -> float:
    return math.fsum(math.log1p(-b * x) for x in excesses) / len(excesses)


def _profile(b: float, excesses: Sequence[float]) -> float:
    """The log-likelihood of b with the best index for it."""
    n, k = len(excesses), _index(b, excesses)
    if not k:  # the limit: an exponential distribution
        return -n * (math.log(math.fsum(excesses) / n) + 1.0)
    return n * (math.log(-b / k) - k - 1.0)
