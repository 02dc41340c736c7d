"""The enclosure of E[k log k] holds at any scale: with few bits, every rounding shows."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.kernels.information import _expected_k_log_k, _ScaledLogs
from refclust.numbers.combinatorics import hypergeometric
from refclust.numbers.reals.intervals import arithmetic


def exact(a: int, b: int, n: int) -> tuple[Fraction, Fraction]:
    """E[k log k] from the definition, with 60 digits."""
    numbers = arithmetic(60)
    terms = [
        numbers.multiply(numbers.rational(k * hypergeometric(a, b, n, k)), numbers.log_integer(k))
        for k in range(1, min(a, b) + 1)
    ]
    low, high = numbers.add(terms)
    return Fraction(low), Fraction(high)


@st.composite
def margins(draw: st.DrawFn) -> tuple[int, int, int]:
    n = draw(st.integers(1, 60))
    return draw(st.integers(1, n)), draw(st.integers(1, n)), n


@pytest.mark.spec("KER-EMI", "EMI")
@given(margins(), st.integers(0, 12))
def test_the_interval_holds_the_expectation_however_coarse(
    sizes: tuple[int, int, int], bits: int
) -> None:
    a, b, n = sizes
    scale = 1 << bits
    low, high = _expected_k_log_k(a, b, n, scale, _ScaledLogs(arithmetic(30), scale))
    inner_low, inner_high = exact(a, b, n)
    assert Fraction(low, scale) <= inner_low
    assert inner_high <= Fraction(high, scale)


@pytest.mark.spec("KER-EMI")
@given(margins())
def test_the_interval_is_as_narrow_as_its_scale(sizes: tuple[int, int, int]) -> None:
    a, b, n = sizes
    scale = 1 << 80
    low, high = _expected_k_log_k(a, b, n, scale, _ScaledLogs(arithmetic(40), scale))
    # At most 60 weights, each off by at most 60 units of 2**-80, times k log k below 60·4.1.
    assert Fraction(high - low, scale) < Fraction(60 * 60 * 250, 2**80)


@given(st.integers(2, 10**6), st.integers(0, 20))
def test_scaled_logarithms_are_rounded_outwards(k: int, bits: int) -> None:
    low, high = _ScaledLogs(arithmetic(30), 1 << bits)[k]
    inner_low, inner_high = arithmetic(60).log_integer(k)
    assert Decimal(low) <= k * (1 << bits) * inner_low
    assert k * (1 << bits) * inner_high <= Decimal(high)
    assert high - low <= 2


def test_nothing_and_one_have_no_logarithm_to_weigh() -> None:
    logs = _ScaledLogs(arithmetic(30), 1 << 10)
    assert (logs[0], logs[1]) == ((0, 0), (0, 0))
