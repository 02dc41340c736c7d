"""Intervals of rates: the equations that their ends solve, and their laws (chapter 54)."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refclust
from refclust.errors import BadOption, EmptyInput, TooLarge, WrongCount
from refclust.formulas import intervals as room
from refclust.metrics.intervals import METHODS
from refclust.numbers.real import Real, real, total
from refclust.numbers.reals.binomial import binomial_tail
from refclust.numbers.reals.roots import root

levels = st.fractions(Fraction(1, 100), Fraction(999, 1000), max_denominator=1000)
rates = st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
LEVEL = Fraction(19, 20)


def same(first: Real, second: Real | Fraction) -> bool:
    """Whether two reals agree in 40 digits."""
    low, high = (first - second).enclosure(60)
    return max(abs(low), abs(high)) < 10**-40


@pytest.mark.spec("NUM-REAL")
@given(st.fractions(Fraction(1, 50), 100, max_denominator=50))
def test_roots_of_squares(x: Fraction) -> None:
    place = root(lambda y: y * y - x, 0, 101)
    assert same(place * place, x)


@pytest.mark.spec("NUM-REAL")
@given(st.integers(1, 30), st.fractions(0, 1, max_denominator=30), st.data())
def test_binomial_tails_are_sums(n: int, p: Fraction, data: Any) -> None:
    k = data.draw(st.integers(-1, n + 1))
    due = sum(
        (math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(max(k, 0), n + 1)), Fraction()
    )
    assert same(binomial_tail(k, n, p), due)


@pytest.mark.spec("NUM-REAL")
def test_binomial_tails_of_many_throws() -> None:
    # Both ways to write the number of choices, on either side of where they change.
    for n in (1999, 2000, 2001):
        p = Fraction(1, 7)
        due = total(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(300, n + 1))
        assert same(binomial_tail(300, n, p), due)


@settings(max_examples=40, deadline=None)
@pytest.mark.spec("IV-Z")
@given(levels)
def test_quantile_solves_its_equation(level: Fraction) -> None:
    with mpmath.workdps(50):
        share = mpmath.mpf(level.numerator) / level.denominator
        due = mpmath.sqrt(2) * mpmath.erfinv(share)
        assert float(room.normal_quantile(level)) == float(mpmath.nstr(due, 40))


@settings(max_examples=25, deadline=None)
@pytest.mark.spec("IV-WALD", "IV-WILSON", "IV-WILSONCC", "IV-AGRESTI")
@given(rates, levels)
def test_ends_solve_their_quadratic_equations(rate: tuple[int, int], level: Fraction) -> None:
    k, n = rate
    p, z = Fraction(k, n), room.normal_quantile(level)
    for end in room.wald_interval(k, n, level):
        assert same((end - p) ** 2 * n, z**2 * (p * (1 - p)))
    for side, end in zip((-1, 1), room.wilson_interval(k, n, level), strict=True):
        assert same((end - p) ** 2 * n, z**2 * (end * (1 - end)))
        assert side * (end - p) >= 0
    low, high = room.wilson_corrected_interval(k, n, level)
    assert 0 <= low <= p <= high <= 1
    if low > 0:
        assert same((p - Fraction(1, 2 * n) - low) ** 2 * n, z**2 * (low * (1 - low)))
    if high < 1:
        assert same((p + Fraction(1, 2 * n) - high) ** 2 * n, z**2 * (high * (1 - high)))
    low, high = room.agresti_coull_interval(k, n, level)
    plain = room.wilson_interval(k, n, level)
    if 0 < k < n:
        assert same(low + high, plain[0] + plain[1])
    assert same(low, plain[0]) or low <= plain[0]  # equal where half are successes
    middle, trials = (low + high) / 2, n + z**2
    assert same((high - middle) ** 2 * trials, z**2 * (middle * (1 - middle)))


@settings(max_examples=20, deadline=None)
@pytest.mark.spec("IV-CLOPPER")
@given(rates, levels)
def test_clopper_and_pearson_by_binomial_tails(rate: tuple[int, int], level: Fraction) -> None:
    k, n = rate
    low, high = room.clopper_pearson_interval(k, n, level)
    rare = (1 - level) / 2

    def chance(p: Real, heads: range) -> Real:
        return total(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in heads)

    assert low == 0 if k == 0 else same(chance(low, range(k, n + 1)), rare)
    assert high == 1 if k == n else same(chance(high, range(k + 1)), rare)


@settings(max_examples=15, deadline=None)
@pytest.mark.spec("IV-JEFFREYS")
@given(rates, levels)
def test_jeffreys_by_an_independent_beta_law(rate: tuple[int, int], level: Fraction) -> None:
    k, n = rate
    rare = (1 - level) / 2
    ends = room.jeffreys_interval(k, n, level)
    with mpmath.workdps(50):
        a, b = mpmath.mpf(k) + 0.5, mpmath.mpf(n - k) + 0.5
        for end, share, trivial in zip(ends, (rare, 1 - rare), (k == 0, k == n), strict=True):
            if trivial:
                assert end in (0, 1)
                continue
            x = mpmath.mpf(end.digits(45))
            reached = mpmath.betainc(a, b, 0, x, regularized=True)
            due = mpmath.mpf(share.numerator) / share.denominator
            assert abs(reached - due) < mpmath.mpf(10) ** -38
    assert (ends[0] == 0, ends[1] == 1) == (k == 0, k == n)


@pytest.mark.spec("IV-RESAMPLE", "IV-BOOT")
@given(st.integers(1, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), levels)
def test_resampled_rates_are_counted(rate: tuple[int, int], level: Fraction) -> None:
    k, n = rate
    outcomes = [1] * k + [0] * (n - k)
    drawn = Counter(Fraction(sum(draw), n) for draw in itertools.product(outcomes, repeat=n))
    assert room.resampled_law(k, n) == drawn
    values, rare = sorted(drawn.elements()), (1 - level) / 2
    due = tuple(values[math.ceil(share * len(values)) - 1] for share in (rare, 1 - rare))
    assert room.percentile_interval(drawn, level) == due


@settings(max_examples=15, deadline=None)
@pytest.mark.spec("IV-WILSON", "IV-CLOPPER", "IV-WILSONCC", "IV-JEFFREYS", "IV-WALD", "IV-AGRESTI")
@given(rates, st.sampled_from([m for m in METHODS if m != "bootstrap"]))
def test_success_and_failure_are_mirror_images(rate: tuple[int, int], method: str) -> None:
    k, n = rate
    ends = refclust.rate_interval(k, n, method=method)
    mirror = refclust.rate_interval(n - k, n, method=method)
    assert same(ends.low + mirror.high, Fraction(1))
    assert ends.low <= Fraction(k, n) <= ends.high


@pytest.mark.spec("IV-BOOT")
def test_draws_come_near_the_whole_law() -> None:
    whole = refclust.rate_interval(14, 20, method="bootstrap")
    drawn = refclust.rate_interval(14, 20, method="bootstrap", samples=1999, seed=3)
    again = refclust.rate_interval(14, 20, method="bootstrap", samples=1999, seed=3)
    assert (drawn.low == again.low, drawn.high == again.high) == (True, True)
    assert abs(whole.low - drawn.low) <= real("1/20")
    assert abs(whole.high - drawn.high) <= real("1/20")
    assert (whole.low.fraction, whole.high.fraction) == (Fraction(1, 2), Fraction(9, 10))


@pytest.mark.spec("IV-WILSON")
def test_calls_and_refusals() -> None:
    interval = refclust.rate_interval(81, 263, level="0.95")
    assert interval.level == LEVEL
    assert repr(interval) == (
        "RateInterval(0.2552885198782742, 0.36620957698280004, level=19/20, method='wilson')"
    )
    for arguments, options, error in (
        ((0, 0), {}, EmptyInput),
        ((3, 2), {}, WrongCount),
        ((-1, 2), {}, WrongCount),
        ((0.5, 2), {}, WrongCount),
        ((1, 2), {"level": 1}, BadOption),
        ((1, 2), {"level": "x"}, BadOption),
        ((1, 2), {"method": "exact"}, BadOption),
        ((1, 2), {"samples": 9}, BadOption),
        ((1, 2), {"method": "bootstrap", "samples": 0}, BadOption),
        ((1, 2001), {"method": "bootstrap"}, TooLarge),
        ((1, 1001), {"method": "jeffreys"}, TooLarge),
    ):
        with pytest.raises(error):
            refclust.rate_interval(*arguments, **options)
