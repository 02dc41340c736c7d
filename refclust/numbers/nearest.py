"""The nearest double of an exact rational and of its square root.

Realises the rounding rule of chapter 05: a number is computed with integers and rounded once, to
the nearest double, ties to the even one. The result is never the negative zero.
"""

from __future__ import annotations

import math

from refclust.errors import NotFinite

# From 2**54 on doubles are multiples of 4, so they and the midpoints between them are even
# integers. With 56 the scaled root below is at least 2**55.
_ROOT_BITS = 56


def nearest(numerator: int, denominator: int) -> float:
    """The double nearest to a rational number with a positive denominator.

    Defines: NUM-NEAR

    >>> nearest(1, 3)
    0.3333333333333333
    """
    try:
        # True division of two integers rounds once, below the normal range too. Never divide
        # float(numerator) by float(denominator): that rounds three times, and overflows.
        return numerator / denominator + 0.0
    except OverflowError:
        bits = numerator.bit_length() - denominator.bit_length()
        raise NotFinite(
            f"the exact result is about {'-' if numerator < 0 else ''}2**{bits}; "
            "the largest double is just below 2**1024"
        ) from None


def nearest_sqrt(numerator: int, denominator: int) -> float:
    """The double nearest to the square root of a rational number that is not negative.

    Spec: NUM-NEAR

    >>> nearest_sqrt(1, 4), nearest_sqrt(2, 1)
    (0.5, 1.4142135623730951)
    """
    # Scale by 4**shift, so that the root has about _ROOT_BITS bits before the point.
    spare = numerator.bit_length() - denominator.bit_length()
    shift = _ROOT_BITS - spare // 2
    scaled = numerator << max(2 * shift, 0)
    divisor = denominator << max(-2 * shift, 0)
    quotient, remainder = divmod(scaled, divisor)
    root = math.isqrt(quotient)
    if remainder or root * root != quotient:
        # The true root lies strictly between two integers. Going to the odd one keeps it on its
        # side of every double and of every midpoint, which are even; then one rounding is right.
        root |= 1
    return nearest(root << max(-shift, 0), 1 << max(shift, 0))
