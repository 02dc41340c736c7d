"""Sums of squares around points near the means, so that no digits cancel (GMM-RECENTRE)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from refclust.errors import NotFinite
from refclust.kernels.blocks import blocks
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import Moments
from refclust.kernels.mixtures.scatters import moved_part

# A mean that moved by 2**5 standard deviations: ten bits of variance are lost.
_FAR: Final = 2.0**10


def settled(
    moments: Moments,
    again: Callable[[CentreMatrix], Moments],
    least: Sequence[float],
    *,
    first: bool,
) -> Moments:
    """Sums around the points given, or taken again around the means until those are near.

    A pass around a far point rounds the new mean by u of the way, which may still be far from it in
    standard deviations. So one more is made as long as a far mean is further away than ``least``,
    below which a spread is nothing but rounding, and came nearer by half. The first repetition
    asks for neither.

    Spec: GMM-RECENTRE
    """
    k = len(moments.counts)
    before, limits = [math.inf] * len(moments.firsts), [0.0 if first else x for x in least] * k
    while True:
        ways = _far_ways(moments)
        if not any(x > y and x < 0.5 * z for x, y, z in zip(ways, limits, before, strict=True)):
            return moments
        before = [way or earlier for way, earlier in zip(ways, before, strict=True)]
        limits = list(least) * k
        moments = again(centres_of(moments))


def centres_of(moments: Moments) -> CentreMatrix:
    """The mean of each component; of one without weight the point its sums were taken around.

    Spec: GMM-MU
    """
    firsts = blocks(moments.firsts, moments.around.d)
    return CentreMatrix.of(
        [
            tuple(a + x / n if n else a for a, x in zip(point, first, strict=True))
            for n, point, first in zip(moments.counts, moments.around.rows(), firsts, strict=True)
        ]
    )


def beyond_range() -> NotFinite:
    """The error for sums that doubles do not hold, whichever backend has seen it."""
    return NotFinite(
        "a sum over the rows is beyond the range of doubles, about 1.8e308; divide the data, their "
        "weights or the prior by a power of ten"
    )


def _far_ways(moments: Moments) -> list[float]:
    """How far each mean is from its point, where squares around that point cancel; 0 elsewhere."""
    ways: list[float] = []
    firsts = blocks(moments.firsts, moments.around.d)
    for n, own, squares in zip(moments.counts, firsts, moments.squares(), strict=True):
        for first, second in zip(own, squares, strict=True):
            if not math.isfinite(second):
                raise beyond_range()
            moved = moved_part(first, first, n) if n else 0.0
            # way^2 > FAR (second / n - way^2), multiplied by n
            ways.append(abs(first / n) if moved > _FAR * (second - moved) else 0.0)
    return ways
