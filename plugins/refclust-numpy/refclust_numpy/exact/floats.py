"""Exact steps on arrays of doubles: sums and products with their rounding errors.

NumPy rounds every elementary operation on doubles once, to nearest, without fusing two of them,
which is all that the classical error-free transformations ask for.
"""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

ROUND: Final = 2.0**-53  # the relative error of one operation on doubles
SINGLE: Final = 2.0**-24  # the same for singles
TINY: Final = 2.0**-1000  # far above all underflow, far below every distance that matters
_SPLITTER: Final = 2.0**27 + 1.0
_BLOCK: Final = 256


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its error (Knuth); exact unless the sum overflows."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def quick_two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The same where |a| >= |b| or a is 0 (Dekker)."""
    total = a + b
    return total, b - (total - a)


def halves(a: Array) -> tuple[Array, Array]:
    """A double as the sum of two of 26 bits (Veltkamp); not a number from about 2**996 on."""
    big = a * _SPLITTER
    high = big - (big - a)
    return high, a - high


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded product and its error; exact if the lowest bits' product is at least 2**-1074."""
    product = a * b
    a_high, a_low = halves(a)
    b_high, b_low = halves(b)
    error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, error


def two_square(a: Array) -> tuple[Array, Array]:
    """The rounded square and its error, as ``two_product``."""
    square = a * a
    high, low = halves(a)
    cross = high * low
    return square, low * low - (((square - high * high) - cross) - cross)


def settled(value: Array, rest: Array, error: Array) -> Array:
    """Where ``value`` is the nearest double of value + rest, give or take ``error``.

    The exact number lies between value + rest - error and value + rest + error. If both ends, moved
    out by more than their own roundings, round to ``value``, so does all between them. What is no
    number settles nothing.
    """
    reach = 1.001 * error + 4 * ROUND * np.abs(rest)
    settled: Array = value + (rest + reach) == value
    settled &= value + (rest - reach) == value
    settled &= np.isfinite(value)
    return settled


def largest(values: Array) -> float:
    """The largest magnitude, 0.0 of nothing."""
    if not values.size:
        return 0.0
    return max(abs(float(values.min())), abs(float(values.max())))


def exponent(value: float) -> int:
    """The least e with |value| < 2**e; -1074 for 0."""
    return math.frexp(value)[1] if value else -1074


def lowest_bit(values: Array) -> int | None:
    """The exponent of the lowest bit set in any of these doubles, ``None`` if all are 0."""
    values = values[values != 0].astype(np.float64)
    if not values.size:
        return None
    fractions, exponents = np.frexp(values)
    whole = np.abs(fractions * 2.0**53).astype(np.int64)
    _, places = np.frexp((whole & -whole).astype(np.float64))  # 1 for the lowest of 53 bits
    return int((exponents - 53 + places - 1).min())


def square_sums(matrix: Array) -> Array:
    """The sums of squares of rows, each off by at most ``additions`` roundings of itself."""
    d = matrix.shape[1]
    squares = matrix * matrix
    total: Array
    if d <= _BLOCK:
        total = squares.sum(axis=1)
        return total
    # In blocks, so that the bound holds whatever the order of additions within a block.
    total = np.add.reduceat(squares, np.arange(0, d, _BLOCK), axis=1).sum(axis=1)
    return total


def additions(d: int) -> int:
    """How many roundings ``square_sums`` can make on one number, the product's included."""
    return d + 2 if d <= _BLOCK else _BLOCK + -(-d // _BLOCK) + 2
