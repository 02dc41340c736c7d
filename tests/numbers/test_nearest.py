"""The nearest double of a rational and of its root, against exact comparison with midpoints."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from refclust.errors import NotFinite
from refclust.numbers.nearest import nearest, nearest_sqrt
from tests.metrics.strategies import some
from tests.numbers.witness import OVERFLOW, is_nearest, is_nearest_root, midpoints

sizes = st.integers(0, 2200).flatmap(lambda bits: st.integers(0, 2**bits))
positive = sizes.map(lambda n: n + 1)


@pytest.mark.spec("NUM-NEAR")
@some(300)
@given(sizes, positive, st.booleans())
@example(1, 2**1075, False)  # a tie between 0 and the least double goes to 0
@example(3, 2**1075, False)  # a tie below the normal range goes to the even neighbour
@example(2**54 + 2, 1, False)
@example(2**54 + 6, 1, True)
@example(2**1024 - 2**970, 1, False)
@example(2**1024 - 2**970 - 1, 1, False)
def test_nearest_double_of_a_rational(numerator: int, denominator: int, negative: bool) -> None:
    numerator = -numerator if negative else numerator
    value = Fraction(numerator, denominator)
    if abs(value) >= OVERFLOW:
        with pytest.raises(NotFinite, match="the largest double"):
            nearest(numerator, denominator)
    else:
        assert is_nearest(nearest(numerator, denominator), value)


@pytest.mark.spec("NUM-NEAR")
@some(300)
@given(sizes, positive)
@example(0, 1)
@example(1, 2**2150)  # the root is a tie between 0 and the least double
@example(9, 2**2150)
@example((2**54 + 2) ** 2, 1)  # exact midpoints, and their neighbours in the last integer place
@example((2**54 + 2) ** 2 + 1, 1)
@example((2**54 + 2) ** 2 - 1, 1)
@example((2**54 + 6) ** 2, 1)
@example((2**54 - 1) ** 2, 1)
@example((2**1024 - 2**970) ** 2, 1)
@example((2**1024 - 2**970) ** 2 - 1, 1)
def test_nearest_double_of_a_root(numerator: int, denominator: int) -> None:
    square = Fraction(numerator, denominator)
    if square >= OVERFLOW**2:
        with pytest.raises(NotFinite, match="the largest double"):
            nearest_sqrt(numerator, denominator)
    else:
        assert is_nearest_root(nearest_sqrt(numerator, denominator), square)


@pytest.mark.spec("NUM-NEAR")
@some(300)
@given(st.floats(0, allow_infinity=False), st.sampled_from([-1, 0, 1]), positive)
def test_roots_at_and_beside_midpoints(double: float, side: int, scale: int) -> None:
    _, midpoint = midpoints(double)
    square = midpoint**2 + Fraction(side, 2**5000)
    numerator, denominator = square.numerator * scale, square.denominator * scale
    if square >= OVERFLOW**2:
        with pytest.raises(NotFinite):
            nearest_sqrt(numerator, denominator)
    else:
        assert is_nearest_root(nearest_sqrt(numerator, denominator), square)


@pytest.mark.spec("NUM-NEAR")
@given(st.floats(0, allow_infinity=False))
def test_doubles_come_back(double: float) -> None:
    p, q = double.as_integer_ratio()
    assert nearest(p, q) == double
    assert nearest(-p, q) == -double
    assert nearest_sqrt(p * p, q * q) == double


@pytest.mark.spec("NUM-NEAR")
def test_zero_has_no_sign() -> None:
    assert math.copysign(1.0, nearest(-1, 2**2000)) == 1.0
    assert math.copysign(1.0, nearest(0, -1)) == 1.0


def test_the_message_says_how_large() -> None:
    with pytest.raises(NotFinite, match=r"about -2\*\*2000;"):
        nearest(-(2**2000), 1)
