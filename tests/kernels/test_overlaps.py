"""E[I] of large counts by a series of moments: it holds the value of the sum it replaces."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.kernels import information
from refclust.kernels.information import expected_mi
from refclust.kernels.overlaps import by_moments, moments_needed
from refclust.numbers.combinatorics import central_moments, hypergeometric
from refclust.numbers.reals.intervals import Arithmetic
from tests.kernels.test_information import ball, encloses, margins


@st.composite
def sizes(draw: st.DrawFn) -> tuple[int, int, int]:
    n = draw(st.integers(2, 40))
    return draw(st.integers(1, n)), draw(st.integers(1, n)), n


@pytest.mark.spec("NUM-HYPER")
@given(sizes(), st.integers(0, 9))
def test_central_moments_are_those_of_the_law(given_sizes: tuple[int, int, int], most: int) -> None:
    a, b, n = given_sizes
    moments, ways = central_moments(a, b, n, most)
    for m in range(most + 1):
        mean = sum(
            hypergeometric(a, b, n, k) * (n * k - a * b) ** m
            for k in range(max(0, a + b - n), min(a, b) + 1)
        )
        assert Fraction(moments[m], ways) == mean


@pytest.mark.spec("EMI")
@given(sizes(), st.sampled_from([2, 4, 6, 8]))
def test_the_series_holds_the_part_of_a_pair(given_sizes: tuple[int, int, int], last: int) -> None:
    """The remainder is bounded however far the overlaps are from their mean, 0 included."""
    a, b, n = given_sizes
    low, high = by_moments(a, b, n, last, Arithmetic(40))
    part = math.fsum(
        float(hypergeometric(a, b, n, k) * Fraction(k, n)) * math.log(n * k / (a * b))
        for k in range(max(1, a + b - n), min(a, b) + 1)
    )
    assert float(low) - 1e-13 <= part <= float(high) + 1e-13


@pytest.mark.spec("EMI", "KER-EMI")
@pytest.mark.parametrize("digits", [5, 30, 60])
def test_series_and_walk_and_definition_agree(digits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = margins([3000, 2000, 7], [2500, 2507])
    by_series = expected_mi(problem, digits)
    assert moments_needed(3000, 2507, 5007, 5) is not None
    monkeypatch.setattr(information, "moments_needed", lambda *_: None)
    by_walk = expected_mi(problem, digits)
    assert max(by_series[0], by_walk[0]) <= min(by_series[1], by_walk[1])
    truth = ball(problem, digits + 20)
    assert encloses(by_series, truth, digits + 20)
    assert encloses(by_walk, truth, digits + 20)


@pytest.mark.spec("EMI", "KER-EMI")
@pytest.mark.parametrize("power", [9, 18, 30, 300, 4000])
def test_counts_of_any_size_have_relative_digits(power: int) -> None:
    half = 10**power
    low, high = expected_mi(margins([half, half], [half, half]), 30)
    # By symmetry E[I] = 2 E[(1 + t) log(1 + t)] for one pair, t of variance 1/(2n' − 1): about
    # s/2 + s²/4·… of the normal law; the first term alone is right to 1/n.
    s = Fraction(1, 2 * half - 1)
    assert abs(Fraction(low) / (s / 2) - 1) < Fraction(1, half)
    assert 0 < high - low < low.scaleb(-29)


def test_small_overlaps_are_walked_through() -> None:
    assert moments_needed(5, 10**18, 2 * 10**18, 30) is None
    assert moments_needed(10**18, 2 * 10**18 - 3, 2 * 10**18, 30) is None
    assert moments_needed(10**18, 10**18, 2 * 10**18, 30) == 6
