"""Judges whether a double is the nearest one, by exact comparison with the midpoints around it.

Nothing here divides, takes a root or rounds, so nothing is shared with the code under test.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from flint import arb, ctx, fmpq, fmpz

# From the midpoint between the largest double and 2**1024 on, the nearest double is infinite:
# the tie goes to the even neighbour, which is 2**1024.
OVERFLOW = Fraction(2**1024 - 2**970)


def midpoints(double: float) -> tuple[Fraction, Fraction]:
    """The ends of the interval of reals that a double is nearest to."""
    low, high = (
        Fraction(2**1024) * (1 if end > 0 else -1) if math.isinf(end) else Fraction(end)
        for end in (math.nextafter(double, -math.inf), math.nextafter(double, math.inf))
    )
    return (Fraction(double) + low) / 2, (Fraction(double) + high) / 2


def is_even(double: float) -> bool:
    """Whether the last bit of the significand is zero, so that ties go to this double."""
    bits: int = struct.unpack("<q", struct.pack("<d", double))[0]
    return bits % 2 == 0


def is_nearest(double: float, value: Fraction) -> bool:
    """Whether the double is the one nearest to a rational number, ties to even."""
    low, high = midpoints(double)
    return low < value < high or (value in (low, high) and is_even(double))


def is_nearest_root(double: float, square: Fraction) -> bool:
    """Whether the double is the one nearest to the root of a rational that is not negative."""
    low, high = midpoints(double)
    above = low < 0 or low * low < square
    if above and square < high * high:
        return True
    return square in (low * low, high * high) and is_even(double)


def flint_root_agrees(double: float, square: Fraction) -> bool:
    """The same by ball arithmetic: no part of the root's ball is known to lie outside.

    Balls cannot tell on which side of a midpoint a root lies that is itself the midpoint, so
    ties are left to ``is_nearest_root``.
    """
    old = ctx.prec
    ctx.prec = 400
    try:
        root = arb(rational(square)).sqrt()
        low, high = midpoints(double)
        return not (root < arb(rational(low))) and not (root > arb(rational(high)))
    finally:
        ctx.prec = old


def rational(value: Fraction) -> fmpq:
    """A Fraction in flint's own rationals."""
    return fmpq(fmpz(value.numerator), fmpz(value.denominator))
