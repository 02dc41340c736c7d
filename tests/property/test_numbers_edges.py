"""What the numbers of chapter 05 refuse, and where their readings change over."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from refclust.errors import BadDistribution, BadOption, NotFinite, TooLarge
from refclust.limits import limits
from refclust.numbers.logspace import log1mexp, xlogy
from refclust.numbers.nearest import nearest
from refclust.numbers.real import Real, exp, log, sqrt
from refclust.numbers.sampling import stream


@pytest.mark.spec("NUM-NEAR")
@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (-1, 2**1075), (-1, 2**2000)])
def test_zero_has_no_sign(numerator: int, denominator: int) -> None:
    assert nearest(numerator, denominator).hex() == "0x0.0p+0"


@pytest.mark.spec("NUM-NEAR")
@pytest.mark.parametrize(
    ("numerator", "told"), [(2**1100, r"about 2\*\*1097;"), (-(2**1100), r"about -2\*\*1097;")]
)
def test_beyond_the_largest_double_the_size_is_told(numerator: int, told: str) -> None:
    with pytest.raises(NotFinite, match=told):
        nearest(numerator, 8)


@pytest.mark.spec("NUM-L1ME")
def test_no_probability_has_a_logarithm_above_zero() -> None:
    for x in (math.inf, math.nan):
        with pytest.raises(NotFinite, match="log1mexp was given"):
            log1mexp(x)
    for x in (5e-324, 1.0):
        with pytest.raises(BadDistribution, match="above 0"):
            log1mexp(x)


@pytest.mark.spec("NUM-XLOGY")
def test_a_product_with_a_logarithm_is_finite_or_refused() -> None:
    for x, y in ((math.inf, 2.0), (math.nan, 2.0), (1.0, math.inf), (math.inf, 0.0)):
        with pytest.raises(NotFinite, match="both must be finite"):
            xlogy(x, y)
    for x in (1e308, -1e308):
        with pytest.raises(NotFinite, match="beyond the range of a double"):
            xlogy(x, 1e10)


@pytest.mark.spec("NUM-RAND")
@pytest.mark.parametrize("seed", [-1, -2, 1.0, "1", None, True])
def test_seeds_are_integers_from_zero_on(seed: object) -> None:
    with pytest.raises(BadOption, match="the seed is"):
        stream(seed)  # type: ignore[arg-type]
    assert stream(0).random() == 0.8444218515250481


@pytest.mark.spec("NUM-DIGITS")
def test_digits_are_at_least_one_and_within_the_limit() -> None:
    for count in (0, -1):
        with pytest.raises(BadOption, match="at least one"):
            log(2).digits(count)
    with limits(digits=20):
        assert log(2).digits(20) == "0.69314718055994530942"
        with pytest.raises(TooLarge, match="21 digits"):
            log(2).digits(21)


@pytest.mark.spec("NUM-DIGITS")
def test_a_rational_in_disguise_is_rounded_half_to_even() -> None:
    """Its enclosures never leave the midpoint: only the fraction settles the last digit."""
    assert (log(8) / log(4)).digits(1) == "2"
    assert (log(32) / log(4)).digits(1) == "2"
    assert (sqrt(2) * sqrt(2) / 16).digits(2) == "0.12"


@pytest.mark.spec("NUM-DIGITS")
def test_as_many_digits_as_the_ladder_has() -> None:
    """Ten more than asked for are worked out, however many that is."""
    told = sqrt(2).digits(5000)
    assert len(told) == 5001
    found, half = Fraction(Decimal(told)), Fraction(1, 2 * 10**4999)
    assert (found - half) ** 2 < 2 < (found + half) ** 2


@pytest.mark.spec("NUM-ZERO", "NUM-ROUND")
def test_numbers_that_are_their_own_enclosures() -> None:
    for value in (Fraction(3, 8), Fraction(-3, 8), Fraction(0)):
        for x in (Real(value), Real(value) + log(1), Real(value) * (sqrt(9) - 2)):
            assert x.sign() == (value > 0) - (value < 0)
            assert float(x).hex() == float(value).hex()


@pytest.mark.spec("NUM-ROUND")
def test_irrationals_beyond_the_doubles() -> None:
    for x in (exp(800), -exp(800)):
        with pytest.raises(NotFinite, match="beyond the largest double"):
            float(x)
    for x in (exp(-800), -exp(-800)):
        assert float(x).hex() == "0x0.0p+0"


@pytest.mark.spec("NUM-ROUND")
def test_midpoints_and_zero_are_found_however_wide_the_first_enclosures() -> None:
    """Zero, times so much that the first enclosures tell nothing, or none ever does."""
    nothing = log(6) - log(2) - log(3)
    middle = 1 + Fraction(1, 2**53)
    for places in (0, 40, 80, 200):
        assert float(middle + 10**places * nothing) == 1.0
        assert float(-middle - 10**places * nothing) == -1.0
    assert float(10**4900 * nothing).hex() == "0x0.0p+0"
