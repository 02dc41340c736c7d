"""Exact sums of doubles in a few 64-bit integers each: fixed-point numbers cut into limbs.

A double v below 2**top is cut into multiples of 2**u_0, 2**u_1, ... where u_l = top - (l + 1) w.
Adding and subtracting M_l = 1.5 * 2**(52 + u_l) rounds v to a multiple of 2**u_l, exactly, and the
bits of v + M_l minus those of M_l are that multiple as an integer: at most 2**w, so an int64 holds
the sum of 2**(62 - w) of them. What is left, v - h, is exact because h is v with its low bits
rounded away. When all bits of v are above 2**u_(L-1) nothing is left after L limbs. Integers do not
care about the order in which they are added: any number of threads gives the same limbs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np

from refclust_numba.lowlevel.compiling import compiled, inlined
from refclust_numba.lowlevel.scalars import bits, power_of_two, two_product, two_sum

LOWEST: Final = -960  # below this a magic number or a product might meet subnormal numbers
HIGHEST: Final = 960
_WIDEST: Final = 50


@dataclass(frozen=True, eq=False)
class Scale:
    """How sums are cut: limb l counts multiples of 2**(top - (l + 1) * width)."""

    tops: Any  # one per column
    width: int
    count: int  # limbs

    @cached_property
    def magic(self) -> Any:
        """M_l for each limb and column."""
        steps = (np.arange(self.count, dtype=np.int64) + 1) * self.width
        return np.ldexp(1.5, 52 + self.tops[None, :] - steps[:, None])

    def unit(self, column: int) -> int:
        """The exponent of the last limb."""
        return int(self.tops[column]) - self.count * self.width

    def integer(self, limbs: Any) -> int:
        """The sum over 2**unit as one integer."""
        total = 0
        for limb in limbs.tolist():
            total = (total << self.width) + limb
        return total


def scale(tops: Any, lowest: int, terms: int, least: int = 1) -> Scale | None:
    """The cut for sums of so many terms below 2**tops with bits from 2**lowest on.

    At least ``least`` limbs; ``None`` if the range of the terms is too wide for products and sums
    without over- and underflow.
    """
    tops = np.asarray(tops, dtype=np.int64)
    if int(tops.max(initial=0)) > HIGHEST or lowest < LOWEST:
        return None
    width = min(_WIDEST, 62 - max(terms, 1).bit_length())
    count = max(least, -(-(int(tops.max(initial=lowest + 1)) - lowest) // width))
    if int(tops.min(initial=0)) - count * width < LOWEST - 60:
        # Columns of very different size: a common top costs limbs, but no exponent gets too low.
        tops = np.full_like(tops, int(tops.max(initial=0)))
    return Scale(tops, width, count)


def dyadic(numerator: int, shift: int) -> Fraction:
    """numerator / 2**shift in lowest terms."""
    if shift <= 0:
        return Fraction(numerator << -shift)
    if not numerator:
        return Fraction(0)
    spare = min((numerator & -numerator).bit_length() - 1, shift)
    return Fraction(numerator >> spare, 1 << (shift - spare))


@compiled
def span(values, begin, end):  # type: ignore[no-untyped-def]
    """Of some doubles: an exponent above all of them, and the place of their lowest bit.

    2000 stands for no lowest bit (all are zero), -2000 for no top.
    """
    largest = np.int64(0)
    low = np.int64(2000)
    for i in range(np.uint64(begin), np.uint64(end)):
        b = bits(np.float64(values[i])) & 0x7FFFFFFFFFFFFFFF
        largest = max(largest, b)
        e = b >> 52
        m = b & 0xFFFFFFFFFFFFF
        if e > 0:
            m |= 0x10000000000000
        else:
            e = 1
        # The lowest set bit of m, as a double, tells its place by its exponent; 0 gives -1023.
        place = (bits(np.float64(m & -m)) >> 52) - 1023
        if m != 0:
            low = min(low, e - 1075 + place)
    if largest == 0:
        return np.int64(-2000), low
    exponent = largest >> 52
    return (exponent if exponent > 1 else 1) - 1022, low


@inlined
def deposit(limbs, value, magic, sign):  # type: ignore[no-untyped-def]
    """Add (or with sign -1 subtract) one double to limbs."""
    for level in range(limbs.shape[0]):
        t = value + magic[level]
        limbs[level] += sign * (bits(t) - bits(magic[level]))
        value -= t - magic[level]
        if value == 0.0:
            break


@inlined
def deposit_product(limbs, a, b, magic, sign):  # type: ignore[no-untyped-def]
    """Add or subtract the exact product of two doubles."""
    p, e = two_product(a, b)
    deposit(limbs, p, magic, sign)
    if e != 0.0:
        deposit(limbs, e, magic, sign)


@inlined
def carry(limbs, width):  # type: ignore[no-untyped-def]
    """Bring all limbs but the first into [0, 2**width); the sum stays the same."""
    over = np.int64(0)
    for level in range(limbs.shape[0] - 1, 0, -1):
        v = limbs[level] + over
        over = v >> width
        limbs[level] = v - (over << width)
    limbs[0] += over


@inlined
def is_less(left, right):  # type: ignore[no-untyped-def]
    """Whether one sum is less than another, both after a carry."""
    for level in range(left.shape[0]):
        if left[level] != right[level]:
            return left[level] < right[level]
    return False


@inlined
def leading(limbs, width):  # type: ignore[no-untyped-def]
    """The sum as a double-double times a power of two: (high, low, first limb used).

    ``limbs`` is overwritten. Relative error below 2**-100: at least 3 w > 90 bits follow the first
    limb that is not zero; they are added from the smallest on, and all have one sign.
    """
    count = limbs.shape[0]
    carry(limbs, width)
    negative = limbs[0] < 0
    if negative:
        for level in range(count):
            limbs[level] = -limbs[level]
        carry(limbs, width)
    first = 0
    while first < count - 1 and limbs[first] == 0:
        first += 1
    last = min(first + 4, count)
    high, low = 0.0, 0.0
    for level in range(last - 1, first - 1, -1):
        unit = power_of_two(-(level - first) * width)
        # An int64 of up to 63 bits is the exact sum of two doubles.
        upper = limbs[level] >> 31
        rest = limbs[level] - (upper << 31)
        high, e = two_sum(np.float64(rest) * unit, high)
        low += e
        high, e = two_sum(np.float64(upper) * (unit * 2147483648.0), high)
        low += e
    high, low = two_sum(high, low)
    if negative:
        high, low = -high, -low
    return high, low, first
