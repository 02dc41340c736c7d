"""The range of independent standard normal numbers: its tail, by enclosures (chapter 05).

The integrand is analytic and falls like a normal density, so that the plain sum of its values at
equidistant places differs from the integral by less than any digit one may want, provably.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from math import ceil, isqrt
from typing import Final

from refclust.numbers.real import Interval, Number, Real, enclosed, exp, real, sqrt
from refclust.numbers.reals.constants import pi
from refclust.numbers.reals.functions import erfc
from refclust.numbers.reals.intervals import ONE, ZERO, Arithmetic

_GUARD: Final = 15  # digits beyond those asked for
_FAR: Final = 400  # beyond this r² the tail is only bounded: it is below k² · 10^-44
_FEW: Final = 40  # digits of that bound
_SURE: Final = 12  # decimals of a result in doubles
_LN10: Final = 2.302586
_ROOT_2: Final = math.sqrt(2)
_ROOT_2PI: Final = math.sqrt(2 * math.pi)


def normal_range_tail(value: Real | Number, k: int) -> Real:
    """Return the chance that k standard normal numbers spread over more than a distance r.

    It is k ∫ φ(z) (Φ(z)^(k−1) − (Φ(z) − Φ(z−r))^(k−1)) dz, where z stands for the largest.

    Spec: NUM-REAL

    >>> float(normal_range_tail(0, 3)), float(normal_range_tail(2, 2)) == float(erfc(1))
    (1.0, True)
    """
    r = real(value)
    if r.sign() <= 0:
        return Real(1)
    if k == 2:
        return erfc(r / 2)

    def interval(digits: int) -> Interval:
        square = r.enclosure(digits)[1] ** 2
        if square > _FAR:  # one pair, or one of all pairs
            pair = erfc(r / 2).enclosure(_FEW)
            numbers = Arithmetic(_FEW)
            return pair[0], numbers.up.multiply(pair[1], Decimal(k * (k - 1) // 2))
        # The tail is at least that of one pair, about exp(−r²/4): so many digits are zeros.
        return _tail(r, k, digits + _GUARD + int(square / 8))

    return enclosed(interval)


def normal_range_point(alpha: Fraction, k: int) -> Real:
    """Return the distance that k standard normal numbers exceed with a given chance.

    Spec: NUM-REAL

    >>> float(normal_range_point(Fraction(1, 20), 2) / sqrt(2))
    1.9599639845400543
    """

    def interval(digits: int) -> Interval:
        q, slope = _point_in_doubles(float(alpha), k)
        places, wanted = _SURE, max(digits - 8, _SURE)
        while places < wanted:  # a step of Newton's, with a slope in doubles
            low, high = map(Fraction, normal_range_tail(q, k).enclosure(places + _SURE))
            places += _SURE
            q = round(q + ((low + high) / 2 - alpha) / slope, places)
        # Whatever led there: the tail falls, so its values on both sides prove it.
        off = Fraction(1, 10**wanted)
        while not (
            normal_range_tail(q + off, k).enclosure(digits)[1]
            < alpha
            < normal_range_tail(q - off, k).enclosure(digits)[0]
        ):
            off *= 10
        numbers = Arithmetic(wanted + _GUARD)
        return numbers.rational(q - off)[0], numbers.rational(q + off)[1]

    return enclosed(interval)


def _tail(r: Real, k: int, digits: int) -> Interval:
    """Enclose the tail by a sum over the places j/N up to T, exact to so many decimals.

    On the line with imaginary part y the integrand is at most 2φ(x) exp(ky²/2). Hence a sum of step
    1/N is off by at most 4 exp(ka²/2) / (exp(2πaN) − 1) for every a; a = 2πN/k makes that less than
    5 exp(−2π²N²/k), and 2π² > 19.73. What lies beyond T adds less than exp(−T²/2).
    """
    nats = digits * _LN10 + math.log(5 * k) + 1
    n = ceil((k * nats / 19.73) ** 0.5)
    numbers = Arithmetic(digits + _GUARD)
    terms = []
    for z in _places(float(r), n, nats + _GUARD):
        density = exp(-z * z / 2).enclosure(digits + _GUARD)
        whole = _half(erfc(-z / sqrt(2)).enclosure(digits + _GUARD), numbers)
        far = _half(erfc((r - z) / sqrt(2)).enclosure(digits + _GUARD), numbers)
        low, high = numbers.add([whole, (far[1].copy_negate(), far[0].copy_negate())])
        near = max(low, ZERO), high
        powers = numbers.add(
            numbers.multiply(numbers.power(whole, i), numbers.power(near, k - 2 - i))
            for i in range(k - 1)
        )
        terms.append(numbers.multiply(numbers.multiply(density, far), powers))
    factor = (k / (n * sqrt(2 * pi))).enclosure(digits + _GUARD)
    low, high = numbers.multiply(factor, numbers.add(terms))
    left_out = numbers.up.power(Decimal(10), Decimal(-digits))
    return max(numbers.down.subtract(low, left_out), ZERO), min(numbers.up.add(high, left_out), ONE)


def _places(r: float, n: int, nats: float) -> list[Fraction]:
    """The places whose terms are not all but nothing: a term is below (k−1) φ(z) Φ(z−r)."""
    last = n * (isqrt(ceil(2 * nats)) + 1)
    places = (Fraction(j, n) for j in range(-last, last + 1))
    return [z for z in places if z * z + max(r - z, 0) ** 2 <= 2 * nats]


def _half(x: Interval, numbers: Arithmetic) -> Interval:
    return numbers.multiply(x, (Decimal("0.5"),) * 2)


def _point_in_doubles(alpha: float, k: int) -> tuple[Fraction, Fraction]:
    """Where the tail is about alpha, and how fast it falls there."""
    low, high = 0.0, 1.0
    while _sums_in_doubles(high, k)[0] > alpha:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _sums_in_doubles(middle, k)[0] > alpha else (low, middle)
    return Fraction(round(low, _SURE + 2)), Fraction(_sums_in_doubles(low, k)[1])


def _sums_in_doubles(r: float, k: int) -> tuple[float, float]:
    """The tail, and the density there: k(k−1) ∫ φ(z) φ(z−r) (Φ(z) − Φ(z−r))^(k−2) dz."""
    n = 8 + isqrt(4 * k)
    tail, slope = 0.0, 0.0
    for j in range(-9 * n, 9 * n + 1):
        z = j / n
        whole, far = math.erfc(-z / _ROOT_2) / 2, math.erfc((r - z) / _ROOT_2) / 2
        near = max(whole - far, 0.0)
        tail += math.exp(-z * z / 2) * (whole ** (k - 1) - near ** (k - 1))
        slope += math.exp(-(z * z + (z - r) ** 2) / 2) * near ** (k - 2)
    return k * tail / (n * _ROOT_2PI), k * (k - 1) * slope / (n * 2 * math.pi)
