"""Tails of the binomial law at exact reals, for many throws (chapter 05).

Each term follows from the one before it. Where terms fall, what is left out is bounded by a
geometric series, so a tail of a million throws takes as many steps as it has terms that matter.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Final

from refclust.numbers.real import Interval, Number, Real, enclosed, exp, real
from refclust.numbers.reals.gamma import log_gamma
from refclust.numbers.reals.intervals import ONE, ZERO, Arithmetic

_GUARD: Final = 25  # digits beyond those asked for: each term loses a little to the one before it
_MANY: Final = 2000  # throws; up to these the number of choices is written out


def binomial_tail(k: int, n: int, p: Real | Number) -> Real:
    """Return the chance of k heads or more among n throws, each a head with chance p.

    Spec: NUM-REAL

    >>> float(binomial_tail(1, 2, 0.5)), float(binomial_tail(0, 2, 0.5))
    (0.75, 1.0)
    """
    chance = real(p)
    if k <= 0 or k > n:
        return Real(int(k <= 0))

    def interval(digits: int) -> Interval:
        return _tail(k, n, chance, digits + _GUARD)

    return enclosed(interval)


@lru_cache(maxsize=64)
def _choices(n: int, k: int) -> Real:
    """In how many ways k of n are chosen; of many, by the logarithms of factorials."""
    if n < _MANY:
        return Real(comb(n, k))
    below = log_gamma(Fraction(k + 1)) + log_gamma(Fraction(n - k + 1))
    return exp(log_gamma(Fraction(n + 1)) - below)


def _tail(k: int, n: int, p: Real, digits: int) -> Interval:
    numbers = Arithmetic(digits)
    heads, tails = p.enclosure(digits), (1 - p).enclosure(digits)
    if heads[1] <= 0 or tails[1] <= 0:
        return (ZERO, ZERO) if heads[1] <= 0 else (ONE, ONE)
    first = numbers.multiply(numbers.power(heads, k), numbers.power(tails, n - k))
    term = numbers.multiply(first, _choices(n, k).enclosure(digits))
    odds, sum_ = numbers.divide(heads, tails), term
    least = Decimal(10) ** -digits
    for j in range(k, n):
        step = numbers.multiply(odds, numbers.ratio(n - j, j + 1))
        if step[1] < 1:
            # Later steps are smaller: the rest is below a geometric series of this one.
            rest = numbers.up.divide(
                numbers.up.multiply(term[1], step[1]), numbers.down.subtract(ONE, step[1])
            )
            if rest <= least * sum_[0]:
                return sum_[0], numbers.up.add(sum_[1], rest)
        term = numbers.multiply(term, step)
        sum_ = numbers.add([sum_, term])
    return sum_
