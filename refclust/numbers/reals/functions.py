"""The arc tangent and the complementary error function of exact reals (chapter 05).

Both are given by enclosures: series of intervals with what they leave out. Tails of Student's,
Fisher's and the χ² law are finite sums of these two, of roots and of exponentials (chapter 53).
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from refclust.numbers.real import Interval, Number, Real, enclosed, exp, real, sqrt
from refclust.numbers.reals.constants import pi
from refclust.numbers.reals.intervals import ONE, ZERO, Arithmetic

_GUARD: Final = 15  # digits beyond those asked for
_HALVINGS: Final = 6  # of an angle, before its series
_FAR: Final = 5000  # beyond this x² the error function is only bounded: it is below 10^-2171


def arctan(value: Real | Number) -> Real:
    """Return the arc tangent.

    Spec: NUM-REAL

    >>> float(4 * arctan(1)), float(arctan(0))
    (3.141592653589793, 0.0)
    """
    x = real(value)
    if x.sign() == 0:
        return x

    def interval(digits: int) -> Interval:
        low, high = x.enclosure(digits + _GUARD)
        numbers = Arithmetic(digits + _GUARD)
        # The function rises, so the ends of the argument give the ends of the value.
        return _arctan(low, numbers)[0], _arctan(high, numbers)[1]

    return enclosed(interval)


def erfc(value: Real | Number) -> Real:
    """Return 2/√π times the integral of exp(−t²) from a number to infinity.

    Spec: NUM-REAL

    >>> float(erfc(0)), float(erfc(1))
    (1.0, 0.15729920705028513)
    """
    x = real(value)
    if x.sign() <= 0:
        return Real(1) if x.sign() == 0 else 2 - erfc(-x)

    def interval(digits: int) -> Interval:
        square = x.enclosure(digits)[1] ** 2
        if square > _FAR:
            # erfc(x) < exp(−x²) for x > 1: too small for any digit that somebody could use
            return ZERO, exp(-x * x).enclosure(digits)[1]
        # Of 1 − erf(x) the digits that cancel are those of exp(x²).
        precision = digits + _GUARD + int(square / 2)
        return _erfc(x, precision)

    return enclosed(interval)


def _arctan(value: Decimal, numbers: Arithmetic) -> Interval:
    """Enclose the arc tangent of a decimal: halve the angle a few times, then sum its series."""
    if value < 0:
        # A minus sign would round to the 28 digits of the context that happens to be there.
        low, high = _arctan(value.copy_negate(), numbers)
        return high.copy_negate(), low.copy_negate()
    x: Interval = (value, value)
    for _ in range(_HALVINGS):  # tan(a/2) = t / (1 + √(1 + t²))
        root = numbers.sqrt(numbers.add([(ONE, ONE), numbers.power(x, 2)]))
        x = numbers.divide(x, numbers.add([(ONE, ONE), root]))
    square, power, terms, i = numbers.power(x, 2), x, [], 0
    least = Decimal(10) ** -(numbers.down.prec + 2)
    while True:
        term = numbers.divide(power, (Decimal(2 * i + 1),) * 2)
        # Terms alternate and fall, so what is left out lies between 0 and the next one.
        if term[1] < least:
            terms.append((term[1].copy_negate(), term[1]))
            break
        terms.append(term if i % 2 == 0 else (term[1].copy_negate(), term[0].copy_negate()))
        power, i = numbers.multiply(power, square), i + 1
    return numbers.multiply(numbers.add(terms), (Decimal(2**_HALVINGS),) * 2)


def _erfc(x: Real, precision: int) -> Interval:
    """Enclose 1 − 2/√π exp(−x²) Σ 2^n x^(2n+1) / (1·3·…·(2n+1)), whose terms are positive."""
    numbers = Arithmetic(precision)
    argument = x.enclosure(precision)
    double = numbers.multiply((Decimal(2), Decimal(2)), numbers.power(argument, 2))
    term, terms, n = argument, [argument], 0
    least = Decimal(10) ** -(precision + 2)
    while True:
        n += 1
        term = numbers.divide(numbers.multiply(term, double), (Decimal(2 * n + 1),) * 2)
        # From here on each term is at most half the one before: they add up to less than twice it.
        if double[1] * 2 <= 2 * n + 3 and term[1] < least:
            terms.append((ZERO, numbers.up.multiply(term[1], Decimal(2))))
            break
        terms.append(term)
    factor = (2 * exp(-x * x) / sqrt(pi)).enclosure(precision)
    low, high = numbers.multiply(factor, numbers.add(terms))
    return max(numbers.down.subtract(ONE, high), ZERO), numbers.up.subtract(ONE, low)
