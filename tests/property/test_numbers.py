"""Exact reals behave as the real numbers do, and every reading is the same for equal trees."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from refclust.numbers.real import Real, exp, log, maximum, minimum, real, sqrt, total
from tests.numbers.effort import examples
from tests.numbers.expressions import (
    Expression,
    as_real,
    below,
    contains,
    is_digits,
    is_nearest_double,
    metric_like,
    sign_of,
    tree,
)
from tests.numbers.witness import is_nearest

fractions = st.fractions(max_denominator=10**6) | st.fractions(min_value=-5, max_value=5)
positive = st.builds(Fraction, st.integers(1, 10**9), st.integers(1, 10**9))


@st.composite
def expressions(draw: st.DrawFn) -> Expression:
    """Random trees and the shapes of metrics; a seed shrinks badly but covers well."""
    rng = Random(draw(st.integers(0, 2**60)))
    return metric_like(rng) if rng.random() < 0.5 else tree(rng, 1 + below(rng, 4))


@pytest.mark.spec("NUM-REAL", "NUM-ROUND")
@examples(150)
@given(st.lists(fractions, min_size=1, max_size=6))
def test_rational_arithmetic_is_that_of_fractions(values: list[Fraction]) -> None:
    x, y = Real(0), Fraction(0)
    for place, value in enumerate(values):
        if place % 4 == 0:
            x, y = x + value, y + value
        elif place % 4 == 1:
            x, y = value - x, value - y
        elif place % 4 == 2:
            x, y = x * value, y * value
        elif value:
            x, y = x / value, y / value
    assert x.fraction == y
    assert x == y
    assert hash(x) == hash(y)
    assert x.sign() == (y > 0) - (y < 0)
    assert is_nearest(float(x), y)
    assert x == Real(y)
    assert total(values) == sum(values)


@pytest.mark.spec("NUM-ROUND", "NUM-DIGITS", "NUM-ZERO")
@examples(200)
@given(expressions(), st.integers(1, 60))
def test_readings_agree_with_flint(x: Expression, count: int) -> None:
    y = as_real(x)
    assert is_nearest_double(x, float(y))
    assert is_digits(x, count, y.digits(count))
    assert y.sign() == sign_of(x)
    low, high = y.enclosure()
    assert low <= high
    assert contains(low, high, x)
    exact = y.fraction
    if exact is not None:
        assert y - exact == 0
        assert contains(Decimal(low), Decimal(high), ("leaf", exact))


@pytest.mark.spec("NUM-ROUND", "NUM-ZERO")
@examples(60)
@given(expressions(), expressions())
def test_readings_are_monotone_and_odd(first: Expression, second: Expression) -> None:
    x, y = as_real(first), as_real(second)
    assume(first != second)
    low, high = minimum(x, y), maximum(x, y)
    assert {id(low), id(high)} == {id(x), id(y)}
    assert float(low) <= float(high)
    assert float(-x) == -float(x)
    assert abs(x).sign() == 1
    assert (x < y) is (y > x) is (-y < -x)


@pytest.mark.spec("NUM-ZERO")
@examples(25)
@given(positive, positive, st.integers(-6, 6), fractions, st.fractions(-20, 20))
def test_identities(a: Fraction, b: Fraction, k: int, c: Fraction, e: Fraction) -> None:
    for left, right in (
        (log(a) + log(b), log(a * b)),
        (k * log(a), log(a**k)),
        (sqrt(a) * sqrt(b), sqrt(a * b)),
        (sqrt(a) ** (2 * k), real(a**k)),
        ((sqrt(a) + c) * (sqrt(a) - c), real(a - c * c)),
        ((log(a) + c) ** 2, log(a) ** 2 + 2 * c * log(a) + c**2),
        (exp(k * log(a)), real(a**k)),
        (log(exp(e) * a), e + log(a)),
        (exp(e) * exp(e / 3), exp(4 * e / 3)),
        (abs(log(a) - log(b)), sqrt((log(a) - log(b)) ** 2)),
    ):
        assert left == right
        assert hash(left) == hash(right)
        # A denominator of 31 digits or more may stay hidden, but is never mistaken.
        assert left.fraction in (None, right.fraction)
        assert Decimal(left.digits(12)) == Decimal(right.digits(12))
        assert left + Fraction(1, 10**80) > right


@pytest.mark.spec("NUM-ROUND")
@examples(150)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_is_its_own_nearest_double(value: float) -> None:
    for x in (Real(value), Real(value) + log(1), Real(value) * sqrt(2) / sqrt(2)):
        assert float(x) == value
        assert math.copysign(1, float(x)) == (-1 if value < 0 else 1)
        assert x == value
        assert hash(x) == hash(value)


@pytest.mark.spec("NUM-ROUND", "NUM-ZERO")
@examples(100)
@given(st.floats(1e-300, 1e300), st.integers(0, 2), st.integers(20, 150))
def test_a_hair_beside_a_midpoint(value: float, side: int, places: int) -> None:
    middle = (Fraction(value) + Fraction(math.nextafter(value, math.inf))) / 2
    hair = Fraction(log(2).enclosure(places)[0])
    x = middle * (1 + (side - 1) * (log(2) - hair))
    nudged = middle * (1 + Fraction(side - 1, 10 ** (2 * places)))
    assert is_nearest(float(x), nudged)
    assert (x - middle).sign() == side - 1
