"""Decisions about exact reals: sign, nearest double, certified digits (chapter 05).

Every decision climbs the same ladder: enclose with 30 digits, then 60, 120 and so on. From 60
digits on, if the interval still holds zero or a midpoint between two doubles, the normal form is
asked whether the number is exactly that. Past 5,000 digits the answer is the error ``undecided``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from refclust.errors import BadOption, NotFinite, Undecided
from refclust.limits import within
from refclust.numbers.nearest import nearest
from refclust.numbers.reading import shown
from refclust.numbers.real import (
    EXP,
    LOG,
    Enclosure,
    Interval,
    Real,
    needed,
    plain_fraction,
    postorder,
)
from refclust.numbers.reals import intervals
from refclust.numbers.reals.derivation import formula
from refclust.numbers.reals.normal import NormalForms

FIRST_DIGITS = 30
DOUBTFUL_DIGITS = 60
MOST_DIGITS = 5000
_OVERFLOW = Fraction(2**1024 - 2**970)  # the midpoint above which the nearest double is infinite


def enclosure(x: Real, digits: int = FIRST_DIGITS) -> Interval:
    """Return decimals below and above x, worked out with at least this many digits.

    Spec: NUM-ROUND

    >>> from refclust.numbers.real import log
    >>> low, high = enclosure(log(2), 10)
    >>> str(low), str(high)
    ('0.6931471805', '0.6931471807')
    """
    for _, interval in _ladder(x, digits):
        return interval
    raise _undecided(x)


def nearest_double(x: Real) -> float:
    """Return the double nearest to x, ties to the even one.

    Defines: NUM-ROUND

    >>> from refclust.numbers.real import log
    >>> nearest_double(log(10))
    2.302585092994046
    """
    exact = plain_fraction(x)
    if exact is not None:
        return nearest(exact.numerator, exact.denominator)
    tested: set[Fraction] = set()
    for digits, (low, high) in _ladder(x):
        below, above = float(low), float(high)
        if below == above:
            if math.isinf(below):
                raise NotFinite(f"the exact value is about {low:.3e}, beyond the largest double")
            return below + 0.0  # a negative zero is not a value of ours
        if digits < DOUBTFUL_DIGITS:
            continue
        suspect = _suspect(low, high, below, above)
        if suspect is not None and suspect not in tested:
            tested.add(suspect)
            if _equals(x, suspect):
                return nearest(suspect.numerator, suspect.denominator)
    raise _undecided(x)


def sign(x: Real) -> int:
    """Return -1, 0 or 1.

    Defines: NUM-ZERO

    >>> from refclust.numbers.real import log
    >>> sign(log(6) - log(2) - log(3)), sign(log(2) - log(3))
    (0, -1)
    """
    exact = plain_fraction(x)
    if exact is not None:
        return (exact > 0) - (exact < 0)
    asked = False
    for digits, (low, high) in _ladder(x):
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        if low == high:
            return 0
        if digits >= DOUBTFUL_DIGITS and not asked:
            asked = True
            if _equals(x, Fraction()):
                return 0
    raise _undecided(x)


def digits(x: Real, count: int = 40) -> str:
    """Return x rounded to ``count`` significant decimal digits, all of them certain.

    Defines: NUM-DIGITS

    >>> from refclust.numbers.real import log
    >>> digits(log(2), 30)
    '0.693147180559945309417232121458'
    """
    if count < 1:
        raise BadOption(f"{shown(count)} digits: at least one is needed")
    within("digits", count, "the number asked for")
    rounding = Context(count, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX)
    exact = rational_value(x)
    if exact is not None:
        quotient = rounding.divide(Decimal(exact.numerator), Decimal(exact.denominator))
        return _plain(quotient)
    # x is irrational, hence no decimal midpoint: the two ends agree sooner or later.
    for _, (low, high) in _ladder(x, max(count + 10, FIRST_DIGITS)):
        below, above = rounding.plus(low), rounding.plus(high)
        if below == above:
            return _plain(below)
    raise _undecided(x)


def rational_value(x: Real, digits: int = 2 * DOUBTFUL_DIGITS) -> Fraction | None:
    """Return x as a fraction, or ``None`` where it is not shown to be rational.

    A quarter of the digits is the length of the longest denominator that is guessed.

    Spec: NUM-ZERO

    >>> from refclust.numbers.real import log, sqrt
    >>> rational_value(log(8) / log(4)), rational_value(sqrt(2))
    (Fraction(3, 2), None)
    """
    exact = plain_fraction(x)
    if exact is not None:
        return exact
    if sign(x) == 0:
        return Fraction()
    low, high = enclosure(x, digits)
    # The interval must be narrower than 1 to show a fraction; and exp(10**9) written out as one
    # would fill gigabytes.
    if max(abs(low.adjusted()), abs(high.adjusted())) < digits - 10:
        # A chance hit has about half as many digits as the interval; a real one far fewer.
        guess = _simplest_between(Fraction(low), Fraction(high), 10 ** (digits // 4))
        if guess is not None:
            return guess if _equals(x, guess) else None
    # Roots alone are put in normal form quickly, whatever the size of their numbers.
    only_roots = not any(
        part.op in (LOG, EXP) or isinstance(part.content, Enclosure)
        for part in postorder(x, needed)
    )
    return NormalForms(x).constant(x) if only_roots else None


def _ladder(x: Real, first: int = FIRST_DIGITS) -> Iterator[tuple[int, Interval]]:
    """Yield enclosures with more and more digits."""
    count = first
    asked: set[int] = set()
    not_negative: set[int] = set()
    while True:
        cut: list[Real] = []
        try:
            interval = intervals.enclose(x, count, cut=cut)
        except intervals.Unresolved as stuck:
            if count >= DOUBTFUL_DIGITS and id(stuck.culprit) not in asked:
                asked.add(id(stuck.culprit))
                _refuse_impossible(stuck.culprit, may_be_negative=stuck.may_be_negative)
        else:
            _refuse_negative(arg for arg in cut if id(arg) not in not_negative)
            not_negative.update(map(id, cut))
            yield count, interval
        if count >= MOST_DIGITS:
            return
        count = min(2 * count, MOST_DIGITS)


def _refuse_impossible(culprit: Real, *, may_be_negative: bool) -> None:
    """Raise if a divisor or the argument of a logarithm is exactly zero, or the latter negative."""
    if sign(culprit) == 0:
        raise ZeroDivisionError("a divisor, or the argument of a logarithm, is exactly zero")
    if not may_be_negative:
        _refuse_negative([culprit])


def _refuse_negative(arguments: Iterable[Real]) -> None:
    """Raise if the argument of a logarithm or a root is negative."""
    if any(sign(argument) < 0 for argument in arguments):
        raise NotFinite("the logarithm or the root of a negative number is not real")


def _equals(x: Real, value: Fraction) -> bool:
    difference = x - value
    return NormalForms(difference).is_zero(difference)


def _suspect(low: Decimal, high: Decimal, below: float, above: float) -> Fraction | None:
    """Return the one value that x might equal exactly and that would explain the doubt."""
    if low <= 0 <= high:
        return Fraction()
    if math.nextafter(below, above) != above:
        return None
    if math.isinf(below) or math.isinf(above):
        return _OVERFLOW if above > 0 else -_OVERFLOW
    return (Fraction(below) + Fraction(above)) / 2


def _simplest_between(low: Fraction, high: Fraction, limit: int) -> Fraction | None:
    """Return the fraction with the smallest denominator in a closed interval without zero.

    ``None`` if even that denominator is not below the limit.
    """
    if high < 0:
        opposite = _simplest_between(-high, -low, limit)
        return None if opposite is None else -opposite
    # The continued fractions of both ends agree up to the first term in which the simplest
    # fraction differs; p/q and p_before/q_before are its convergents. Plain integers are much
    # faster here than fractions, which would look for common factors at every step.
    (a, b), (c, d) = low.as_integer_ratio(), high.as_integer_ratio()
    p_before, q_before, p, q = 0, 1, 1, 0
    while q < limit:
        term = -(-a // b)
        done = term * d <= c
        if not done:
            term = a // b
            a, b, c, d = d, c - term * d, b, a - term * b
        p_before, q_before, p, q = p, q, term * p + p_before, term * q + q_before
        if done and q < limit:
            return Fraction(p, q)
    return None


def _plain(value: Decimal) -> str:
    return f"{value:f}" if -7 < value.adjusted() < 40 else str(value)


def _undecided(x: Real) -> Undecided:
    # The formula only: a derivation would ask for the value that cannot be had.
    return Undecided(f"{MOST_DIGITS} digits do not settle this number: {formula(x)}")
