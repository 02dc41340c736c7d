"""The random numbers of a fit: all that is random comes from one seed (NUM-RAND of chapter 05)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from refclust.numbers.sampling import stream


@dataclass(slots=True)
class Draws:
    """The random numbers of a seed, and how many of them have been used.

    Spec: NUM-RAND
    """

    seed: int
    used: int = 0
    _stream: Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Go to the place in the stream."""
        self._stream = stream(self.seed)
        for _ in range(self.used):
            self._stream.random()

    def next(self) -> float:
        """The next random number.

        Spec: NUM-RAND

        >>> Draws(0, used=1).next() == [Draws(0).next(), stream(0).random()][0]
        False
        """
        self.used += 1
        return self._stream.random()


def chosen(reached: Sequence[float], u: float) -> int:
    """The least index whose cumulated share is above u of the whole.

    Spec: EM-SAMPLE

    >>> chosen([0.25, 1.0], 0.25), chosen([0.25, 1.0], 0.2), chosen([0.5, 0.5], 0.9)
    (1, 0, 0)
    """
    # Rounding must not lead beyond the last index that has a share of its own.
    place = bisect_right(reached, u * reached[-1])
    last = next(i for i, x in enumerate(reached) if x == reached[-1])
    return min(place, last)


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
