"""The mean silhouette between two rationals, from sums of distances between integers.

The silhouette of an object falls with the mean distance to its own cluster and rises with the least
one to another, whichever of the two is the greater: so the ends of these give its ends, and nothing
has to be decided. Quotients are integers over 2**128, rounded outwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Final

from refclust.kernels.contracts.comparing import TINY
from refclust.kernels.contracts.lengths import fine_bound
from refclust.metrics.passes.decimals import between
from refclust.numbers.real import Interval

_PLACES: Final = 128
_ONE: Final = 1 << _PLACES
_BITS: Final = 110  # of the least sum
_WIDEST: Final = 900  # bits between the least and the greatest sum
AVERAGES: Final = ("points", "clusters", "larger")


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums of distances of every object to every cluster, between integers of 2**-shift."""

    lows: Sequence[int]
    highs: Sequence[int]
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Between:
    """A number between two rationals."""

    low: Fraction
    high: Fraction

    def interval(self, digits: int) -> Interval:
        """Decimals below and above.

        Spec: NUM-ROUND
        """
        ends = [between(end.numerator, 0, end.denominator, digits) for end in (self.low, self.high)]
        return ends[0][0], ends[1][1]


def of_fine(numbers: Sequence[float], n: int, d: int) -> Sums | None:
    """Fine sums as integers, unless they are of too different sizes.

    Spec: KER-FINESUM

    >>> of_fine([0.0, 1.0, 0.0, 0.0], 2, 1).lows[1] == (1 << 109) - (1 << 109 - 82) - 3
    True
    """
    half = len(numbers) // 2
    highs, rests = numbers[:half], numbers[half:]
    sizes = [math.frexp(x)[1] for x in highs if x]
    if not all(map(math.isfinite, highs)) or not sizes or max(sizes) - min(sizes) > _WIDEST:
        return None
    up = _BITS - min(sizes)
    if abs(up) > _WIDEST:
        return None
    # Numbers of 110 bits before the point are integers; rests are cut there.
    middles = [
        int(math.ldexp(high, up)) + int(math.ldexp(rest, up))
        for high, rest in zip(highs, rests, strict=True)
    ]
    share = -math.frexp(fine_bound(n, d))[1]
    slack = 2 + math.ceil(math.ldexp(n * TINY, up))
    reaches = [(middle >> share) + slack for middle in middles]
    pairs = list(zip(middles, reaches, strict=True))
    lows = [max(0, x - reach) for x, reach in pairs]
    return Sums(lows, [x + reach for x, reach in pairs], up)


def mean_between(
    sums: Sums,
    groups: Sequence[Sequence[int]],
    weights: Sequence[int],
    *,
    average: str = "points",
) -> Between | None:
    """The mean silhouette of all objects, or the mean of the means of clusters, or of larger ones.

    Spec: INT-SIL, INT-SILAVG, INT-SILK

    >>> exact = Sums([1, 5, 1, 4, 9, 0], [1, 5, 1, 4, 9, 0])
    >>> mean = mean_between(exact, [[0, 1], [2]], [1, 1, 1])
    >>> float(mean.low), float(mean.high)
    (0.5166666666666667, 0.5166666666666667)
    """
    sizes = [sum(weights[i] for i in group) for group in groups]
    chosen = [c for c, size in enumerate(sizes) if average != "larger" or size > 1]
    if not chosen:
        return None
    ends = [_added(sums, group, c, sizes, weights) for c, group in enumerate(groups)]
    low, high = ([Fraction(pair[side], _ONE) for pair in ends] for side in range(2))
    if average == "points":
        return Between(sum(low) / sum(sizes), sum(high) / sum(sizes))  # type: ignore[arg-type]
    means = (sum((side[c] / sizes[c] for c in chosen), Fraction()) for side in (low, high))
    return Between(*(total / len(chosen) for total in means))


def _added(
    sums: Sums,
    group: Sequence[int],
    c: int,
    sizes: Sequence[int],
    weights: Sequence[int],
) -> tuple[int, int]:
    """The silhouettes of a cluster's objects, added up with their weights, between two integers."""
    if sizes[c] == 1:
        return 0, 0
    k = len(sizes)
    # Mean distances are sums times these shares; that of the own cluster leaves an object out.
    counts = [size - (other == c) for other, size in enumerate(sizes)]
    small, large = [_ONE // count for count in counts], [-(-_ONE // count) for count in counts]
    low = high = 0
    for i in group:
        begin, end = i * k, (i + 1) * k
        lows = list(map(mul, sums.lows[begin:end], small))
        highs = list(map(mul, sums.highs[begin:end], large))
        least, most = lows.pop(c), highs.pop(c)
        low += weights[i] * width_below(most, min(lows))
        high -= weights[i] * width_below(min(highs), least)
    return low, high


def width_below(a: int, b: int) -> int:
    """The greatest integer below 2**128 times the silhouette of mean distances a and b.

    Exchanging the two changes the sign, which makes the same function a bound from above.

    Spec: INT-SIL

    >>> width_below(1, 2) == -width_below(2, 1) == 1 << 127
    True
    """
    if a < b:
        return _ONE + (-a * _ONE) // b
    return (b * _ONE) // a - _ONE if a else 0
