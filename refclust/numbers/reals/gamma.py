"""The logarithm of Γ and its derivative at positive rationals, as exact reals (chapter 05).

Stirling's series with its remainder: for y > 0 what is left out is smaller than the first term left
out. The argument is moved up first, so that few terms are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import comb, prod

from refclust.errors import NotFinite
from refclust.numbers.real import Interval, Real, enclosed, log
from refclust.numbers.reals.constants import pi


def log_gamma(x: Fraction) -> Real:
    """The logarithm of Γ at a positive rational.

    Spec: NUM-REAL

    >>> float(log_gamma(Fraction(5))), float(log(24))
    (3.1780538303479458, 3.1780538303479458)
    """
    _positive(x)
    if x.denominator == 1 and x < 1000:
        return log(prod(range(1, int(x))))

    def interval(digits: int) -> Interval:
        y, series, left = _stirling(x, digits, lambda k: Fraction(1, 2 * k - 1), 2)
        below = prod((x + i for i in range(int(y - x))), start=Fraction(1))
        whole = (y - Fraction(1, 2)) * log(y) - y + log(2 * pi) / 2 + series - log(below)
        return _widened(whole, digits, left)

    return enclosed(interval)


def digamma(x: Fraction) -> Real:
    """The derivative of log Γ at a positive rational.

    Spec: NUM-REAL

    >>> float(digamma(Fraction(1))), float(digamma(Fraction(1, 2)))
    (-0.5772156649015329, -1.9635100260214235)
    """
    _positive(x)

    def interval(digits: int) -> Interval:
        y, series, left = _stirling(x, digits, lambda _: -Fraction(1), 1)
        below = sum((1 / (x + i) for i in range(int(y - x))), Fraction())
        return _widened(log(y) - 1 / (2 * y) + series - below, digits, left)

    return enclosed(interval)


def _stirling(
    x: Fraction, digits: int, factor: Callable[[int], Fraction], power: int
) -> tuple[Fraction, Fraction, Fraction]:
    """The argument moved up, Σ factor(k) B_2k / (2k y^(2k-power+1)), and what is left out."""
    y = x + max(0, digits - int(x))
    small, series, k = Fraction(1, 10 ** (digits + 2)), Fraction(), 1
    while True:
        term = factor(k) * bernoulli(2 * k) / (2 * k * y ** (2 * k - power + 1))
        if abs(term) < small:
            return y, series, abs(term)
        series += term
        k += 1


@lru_cache(maxsize=4096)
def bernoulli(m: int) -> Fraction:
    """The Bernoulli number B_m, with B_1 = -1/2.

    Spec: NUM-REAL

    >>> [str(bernoulli(m)) for m in (0, 1, 2, 4, 6)]
    ['1', '-1/2', '1/6', '-1/30', '1/42']
    """
    if m == 0:
        return Fraction(1)
    if m > 1 and m % 2:
        return Fraction()
    return -sum((comb(m + 1, i) * bernoulli(i) for i in range(m)), Fraction()) / (m + 1)


def _widened(whole: Real, digits: int, left: Fraction) -> Interval:
    low, high = whole.enclosure(digits)
    with localcontext() as context:
        context.prec = digits + 20
        slack = 2 * Decimal(left.numerator) / Decimal(left.denominator)
        return low - slack, high + slack


def _positive(x: Fraction) -> None:
    if x <= 0:
        raise NotFinite(f"log Γ is asked for at {x}; only positive numbers are allowed")
