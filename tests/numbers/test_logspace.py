"""Log-space sums and shares against balls of python-flint and intervals of mpmath.

Every tolerance is a bound derived in ``refclust/numbers/logspace.py``. SLACK covers what the
derivation leaves out: terms of order u**2 (u d is below 1e-12 wherever exp(-d) is not zero) and
the rounding of the bound itself. TINY covers results and terms below the normal range, where an
ulp is 2**-1074 however small the value: one for each exp, one for log1p, one for the last sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from mpmath import iv

from refclust.errors import BadDistribution, EmptyInput, NotFinite
from refclust.numbers.logspace import log1mexp, logsumexp, normalise, xlogy
from tests.metrics.strategies import some

U = 2.0**-53
SLACK = 1 + 2.0**-20
TINY = 2.0**-1074
INF = math.inf

# Enough that exp(-745) beside 1 keeps 53 bits and more.
BITS = 1400

near_zero = st.floats(-1e-290, 1e-290) | st.sampled_from([1e-300, -1e-300, 5e-324, 0.0])
far = st.floats(-1e5, 1e3)
ladder = st.builds(
    lambda base, step: base + step,
    st.sampled_from([0.0, -1e5, -1e4, -745.0, -1.0, 1e3]),
    st.floats(-50, 50) | st.sampled_from([0.0, 1e-11, -1e-11]),
)

log_weights = st.lists(near_zero | far | ladder | st.just(-INF), min_size=1, max_size=12)


def ball(x: float) -> Any:
    """The real number that a double is, as a ball of radius zero."""
    return arb(x)


def differs_at_most(result: float, value: Any, bound: float) -> bool:
    """Whether a double is provably within the bound of the number inside a ball."""
    return bool(abs(ball(result) - value) <= ball(bound))


def excess_bound(xs: list[float]) -> float:
    """The bound on L = log(sum exp(x - max)) of the docstring of ``_shifted``."""
    peak = max(xs)
    gaps = sorted(peak - x for x in xs if x > -INF)
    others = [(gap, math.exp(-gap)) for gap in gaps[1:]]
    s = math.fsum(weight for _, weight in others)
    mean_gap = math.fsum((gap + 3) * weight for gap, weight in others) / (1 + s)
    return U * (mean_gap + 2 * math.log1p(s)) * SLACK + (len(xs) + 2) * TINY


def ball_logsumexp(xs: Iterable[float]) -> Any:
    total = arb(0)
    for x in xs:
        if x > -INF:
            total += ball(x).exp()
    return total.log()


@pytest.fixture(autouse=True, scope="module")
def _precision() -> Any:
    before, before_iv = ctx.prec, iv.prec
    ctx.prec = iv.prec = BITS
    yield
    ctx.prec, iv.prec = before, before_iv


@pytest.mark.spec("NUM-LSE")
@some(400)
@given(log_weights)
@example([0.0, 1e-300])
@example([-1e-300, 1e-300, 0.0])
@example([-1e5, -1e5 + 1e-11])
@example([0.0, -50.0])
@example([0.0, -744.0, -745.0])
@example([-1e300, 0.0, 1e300])
@example([-math.log(2.0), -math.log(2.0)])
@example([0.0, 0.0] + [-37.0] * 64)  # added to 1 one by one, they would all be lost
def test_logsumexp_within_its_bound(xs: list[float]) -> None:
    assume(max(xs) > -INF)
    value = ball_logsumexp(xs) if max(xs) < 1e4 else ball(max(xs))
    result = logsumexp(xs)
    assert differs_at_most(result, value, excess_bound(xs) + U * abs(result) * SLACK)


@pytest.mark.spec("NUM-LSE")
@given(log_weights)
def test_the_simple_bound_follows_from_the_entropy(xs: list[float]) -> None:
    assume(max(xs) > -INF)
    # excess_bound carries SLACK and TINY, and its own evaluation rounds: 1 % is far more.
    assert excess_bound(xs) <= U * (2 * math.log(len(xs)) + 3) * 1.01


@pytest.mark.spec("NUM-LSE")
@some(200)
@given(log_weights)
def test_mpmath_agrees_with_flint(xs: list[float]) -> None:
    assume(max(xs) > -INF)
    total = iv.mpf(0)
    for x in xs:
        if x > -INF:
            total += iv.exp(iv.mpf(x))
    low, high = iv.log(total)._mpi_
    result = logsumexp(xs)
    bound = Fraction(excess_bound(xs) + U * abs(result) * SLACK)
    assert Fraction(result) - bound <= exact(low)
    assert exact(high) <= Fraction(result) + bound


def exact(raw: tuple[int, Any, int, int]) -> Fraction:
    """The rational that mpmath's (sign, mantissa, exponent, bits) stands for."""
    sign, mantissa, exponent, _ = raw
    size = Fraction(int(mantissa)) * Fraction(2) ** exponent
    return -size if sign else size


@pytest.mark.spec("NUM-LSE")
@given(log_weights.flatmap(lambda xs: st.tuples(st.just(xs), st.permutations(xs))))
def test_order_does_not_matter(pair: tuple[list[float], list[float]]) -> None:
    xs, ys = pair
    assert logsumexp(xs) == logsumexp(ys)
    assert normalise([*xs, 0.0])[1] == normalise([0.0, *ys])[1]


@pytest.mark.spec("NUM-LSE")
def test_order_does_not_matter_where_a_running_sum_would_round() -> None:
    assert logsumexp([0.0, 0.0] + [-37.0] * 64) == logsumexp([-37.0] * 64 + [0.0, 0.0])


@pytest.mark.spec("NUM-LSE", "NUM-NORM")
@given(st.floats(-1e300, 1e300), st.integers(0, 3))
def test_one_weight_is_its_own_sum(x: float, zeros: int) -> None:
    xs = [-INF] * zeros + [x]
    assert logsumexp(xs) == x
    assert normalise(xs) == ((-INF,) * zeros + (0.0,), x)


@pytest.mark.spec("NUM-LSE")
def test_small_weights_beside_a_large_one_keep_their_digits() -> None:
    # log(1 + s) instead of log1p(s) would give 0.
    value = (1 + ball(-50.0).exp()).log()
    assert logsumexp([0.0, -50.0]) > 0
    # d = 50 and L = exp(-50): (53 + 2 + 1)u of the value.
    assert differs_at_most(logsumexp([0.0, -50.0]), value, 56 * U * math.exp(-50) * SLACK)


@pytest.mark.spec("NUM-LSE")
def test_sums_of_nothing() -> None:
    assert logsumexp([-INF]) == -INF
    assert logsumexp(iter([-INF, -INF])) == -INF
    with pytest.raises(EmptyInput) as caught:
        logsumexp([])
    assert caught.value.code == "empty-input"
    with pytest.raises(EmptyInput):
        normalise(())


@pytest.mark.spec("NUM-LSE", "NUM-NORM")
@pytest.mark.parametrize("bad", [INF, math.nan])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_infinite_and_nan_weights_are_refused(bad: float, place: int) -> None:
    xs = [0.0, -INF]
    xs.insert(place, bad)
    for function in (logsumexp, normalise):
        with pytest.raises(NotFinite, match=f"log-weight {place} is {bad!r}") as caught:
            function(xs)
        assert caught.value.code == "not-finite"


@pytest.mark.spec("NUM-NORM")
@some(400)
@given(log_weights)
@example([0.0, 1e-300])
@example([-1e5, -1e5 + 1e-11, -99990.0])
@example([0.0, -700.0])
def test_shares_within_their_bound(xs: list[float]) -> None:
    assume(max(xs) > -INF)
    value = ball_logsumexp(xs)
    shares, total = normalise(xs)
    assert total == logsumexp(xs)
    for x, share in zip(xs, shares, strict=True):
        if x == -INF:
            assert share == -INF
            continue
        # u |x - max| for the first difference, the error of L, and u of the result.
        bound = excess_bound(xs) + U * ((max(xs) - x) + abs(share)) * SLACK
        assert differs_at_most(share, ball(x) - value, bound)


@pytest.mark.spec("NUM-NORM")
@settings(deadline=None)
@given(log_weights)
def test_shares_add_up_to_one(xs: list[float]) -> None:
    assume(max(xs) > -INF)
    shares, _ = normalise(xs)
    total = arb(0)
    for share in shares:
        if share > -INF:
            total += ball(share).exp()
    # A share p errs by at most u (2 |log p| + 2 ln n + 3) of itself, by the line above and the
    # simple bound; summed over the shares |log p| becomes the entropy, at most ln n.
    assert differs_at_most(1.0, total, U * (4 * math.log(len(xs)) + 3) * SLACK)


@pytest.mark.spec("NUM-NORM")
@given(st.lists(st.integers(-700, 0), min_size=1), st.integers(-(10**15), 10**15))
def test_a_common_factor_drops_out(xs: list[int], shift: int) -> None:
    # Integers below 2**53 add exactly, so the differences are the same and so is every bit.
    moved = [float(x + shift) for x in xs]
    assert normalise(moved)[0] == normalise([float(x) for x in xs])[0]


@pytest.mark.spec("NUM-NORM")
def test_zero_weights_have_no_shares() -> None:
    with pytest.raises(BadDistribution, match="all 2 log-weights are -inf") as caught:
        normalise([-INF, -INF])
    assert caught.value.code == "bad-distribution"


@pytest.mark.spec("NUM-NORM")
def test_weights_further_apart_than_the_largest_double() -> None:
    assert normalise([1.7e308, -1.7e308]) == ((0.0, -INF), 1.7e308)


@pytest.mark.spec("NUM-L1ME")
@some(400)
@given(
    st.floats(-760, 0, exclude_max=True)
    | st.floats(-2, 0, exclude_max=True)
    | st.floats(-1e-300, 0, exclude_max=True)
)
@example(-1e-300)
@example(-5e-324)
@example(-math.log(2.0))
@example(math.nextafter(-math.log(2.0), 0.0))
@example(math.nextafter(-math.log(2.0), -1.0))
@example(-37.0)
@example(-744.5)
@example(-1e5)
def test_log1mexp_within_its_bound(x: float) -> None:
    # 1 - exp(x) cancels up to 1074 bits here, and exp(-1e5) is below 2**-144000: log1p of a ball
    # keeps relative accuracy in both.
    value = (-ball(x).expm1()).log() if x > -1 else (-ball(x).exp()).log1p()
    result = log1mexp(x)
    # exp and log1p may each miss a subnormal by one ulp.
    assert differs_at_most(result, value, 5 * U * abs(result) + 2 * TINY)


@pytest.mark.spec("NUM-L1ME")
def test_ends_of_log1mexp() -> None:
    assert log1mexp(0.0) == -INF
    assert log1mexp(-INF) == 0.0
    for bad in (INF, math.nan):
        with pytest.raises(NotFinite):
            log1mexp(bad)
    with pytest.raises(BadDistribution, match=r"given 1e-300"):
        log1mexp(1e-300)


@pytest.mark.spec("NUM-XLOGY")
@some(400)
@given(
    st.floats(-1e300, 1e300),
    st.floats(0, exclude_min=True, allow_infinity=False)
    | st.floats(1 - 1e-10, 1 + 1e-10)
    | st.floats(0, 1, exclude_min=True),
)
@example(5e-324, 1 - 2.0**-53)
@example(1e300, 5e-324)
def test_xlogy_within_its_bound(x: float, y: float) -> None:
    value = ball(x) * ball(y).log()
    result = xlogy(x, y)
    # 3u of the value, and half of 2**-1074 where the product is below the normal range.
    assert differs_at_most(result, value, 3 * U * abs(result) * SLACK + TINY)


@pytest.mark.spec("NUM-XLOGY")
def test_limits_of_xlogy() -> None:
    assert xlogy(0.0, 0.0) == 0.0
    assert xlogy(-0.0, 5.0) == 0.0
    assert math.copysign(1.0, xlogy(-0.0, 0.5)) == 1.0
    assert xlogy(2.0, 1.0) == 0.0
    assert xlogy(1e-300, 0.0) == -INF
    assert xlogy(-1e-300, 0.0) == INF
    for x, y in [(math.nan, 1.0), (0.0, math.nan), (0.0, INF), (INF, 1.0), (-INF, 0.0)]:
        with pytest.raises(NotFinite):
            xlogy(x, y)
    with pytest.raises(NotFinite, match="beyond the range"):
        xlogy(1e308, 1e300)
    with pytest.raises(BadDistribution, match="y >= 0"):
        xlogy(0.0, -1e-300)
