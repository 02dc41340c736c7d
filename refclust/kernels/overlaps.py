"""What a cluster and a class share by chance: its part of E[I], by a series of moments (43).

With μ = ab/n the mean of the overlap X and t = X/μ − 1, the identity behind E[I] (chapter 43)
leaves for each pair of sizes μ E[(1 + t) log(1 + t)]/n, and no logarithm is left when that is
expanded in powers of t: the central moments of X are rational numbers. Large counts, for which a
walk through the overlaps would never end, have moments that fall steeply.
"""

from __future__ import annotations

import math
from typing import Final

from refclust.numbers.combinatorics import central_moments
from refclust.numbers.real import Interval
from refclust.numbers.reals.intervals import ZERO, Arithmetic

_GUARD_BITS: Final = 8
_MOST_MOMENTS: Final = 2000
_FEW: Final = 16  # overlaps that are walked through without further thought


def moments_needed(a: int, b: int, n: int, digits: int) -> int | None:
    """Return how many moments a series needs, or ``None`` where a walk takes less or it fails.

    Moments of a nearly normal law fall like E[t^m] ≈ (m s/e)^(m/2), s the variance of t; the
    remainder is to be below 10^−digits times the first term, s/2. A guess that is too low costs
    width, never truth.

    Spec: EMI

    >>> moments_needed(10**18, 10**18, 2 * 10**18, 30), moments_needed(4, 4, 8, 30)
    (6, None)
    """
    top, bottom = (n - a) * (n - b), a * b * (n - 1)
    overlaps = min(a, b) - max(0, a + b - n) + 1
    if not top or overlaps <= _FEW:
        return None
    log_s = math.log2(top) - math.log2(bottom)
    bits = digits * math.log2(10) + _GUARD_BITS
    log_spread = log_s + 2 * (math.log2(a) + math.log2(b) - math.log2(n))
    # A walk goes as far as the weights of the normal law are worth a unit, both ways.
    walk = min(math.log2(overlaps), 1 + (math.log2(2 * bits) + log_spread) / 2)
    for m in range(4, _MOST_MOMENTS, 2):
        if 2 * math.log2(m) > walk:  # m moments cost about what m² overlaps do
            return None
        if m / 2 * (log_s + math.log2(m / math.e)) < log_s - bits:
            return m
    return None


def by_moments(a: int, b: int, n: int, last: int, numbers: Arithmetic) -> Interval:
    """Enclose the part that one cluster of a and one class of b objects have in E[I].

    For even M and all t ≥ −1: (1 + t) log(1 + t) = t + Σ_{m=2}^{M−1} (−t)^m/(m(m − 1)) + r, where
    0 ≤ r ≤ t^M/(M − 1). The series alternates for t ≥ 0; for t < 0 its tail has the weights
    1/(m(m − 1)), which add up to 1/(M − 1). And E[t] = 0.

    Spec: EMI

    >>> low, high = by_moments(10**9, 10**9, 2 * 10**9, 6, Arithmetic(20))
    >>> str(low)[:12], str(high)[:12]
    ('6.2500000046', '6.2500000046')
    """
    moments, ways = central_moments(a, b, n, last)
    unit, product = n * n * ways, a * b
    terms: list[Interval] = []
    for m in range(2, last):
        # E[(nX − ab)^m] = moments[m]/ways, and t = (nX − ab)/ab.
        top = moments[m] if m % 2 == 0 else -moments[m]
        terms.append(numbers.ratio(top, unit * m * (m - 1) * product ** (m - 1)))
    _, rest = numbers.ratio(moments[last], unit * (last - 1) * product ** (last - 1))
    terms.append((ZERO, rest))
    return numbers.add(terms)
