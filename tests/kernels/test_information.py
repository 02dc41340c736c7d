"""The kernel of expected mutual information: its intervals hold the exact value (chapter 43)."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from functools import cache

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from refclust.kernels.contracts.basic import Enclosing
from refclust.kernels.information import Margins, _expected_k_log_k, _ScaledLogs, expected_mi
from refclust.kernels.registry import KERNELS
from refclust.metrics.adjusted.information import margins_of
from refclust.metrics.contingency import contingency
from refclust.numbers.real import Real, log, total
from refclust.numbers.reals.intervals import arithmetic
from tests.metrics import witness
from tests.metrics.strategies import Pair, labelings, some

DIGITS = (1, 5, 12, 30, 60, 150)


def margins(rows: list[int], columns: list[int]) -> Margins:
    """The margins with these sizes."""
    assert sum(rows) == sum(columns)
    left, right = (tuple(sorted(Counter(side).items())) for side in (rows, columns))
    return Margins(left, right, sum(rows))


@cache
def law(a: int, b: int, n: int) -> list[tuple[int, Fraction]]:
    """The chances of the overlaps of a cluster of a and a class of b objects, where positive."""
    ways = math.comb(n, a)
    return [
        (k, Fraction(math.comb(b, k) * math.comb(n - b, a - k), ways))
        for k in range(max(1, a + b - n), min(a, b) + 1)
    ]


def ball(problem: Margins, digits: int) -> arb:
    """The double sum of the definition in ball arithmetic."""
    old, ctx.dps = ctx.dps, digits + 30
    try:
        n, found = problem.total, arb(0)
        for a, times_a in problem.rows:
            for b, times_b in problem.columns:
                for k, chance in law(a, b, n):
                    share = times_a * times_b * chance * Fraction(k, n)
                    information = arb(fmpq(n * k, a * b)).log()
                    found += arb(fmpq(share.numerator, share.denominator)) * information
        return found
    finally:
        ctx.dps = old


def encloses(interval: tuple[Decimal, Decimal], found: arb, digits: int) -> bool:
    """Whether the exact value, known as a narrow ball, lies between the ends."""
    old, ctx.dps = ctx.dps, digits + 30
    try:
        low, high = (arb(str(end)) for end in interval)
        return bool(low <= found) and bool(found <= high)
    finally:
        ctx.dps = old


def check(problem: Margins, digits: int) -> None:
    low, high = expected_mi(problem, digits)
    assert encloses((low, high), ball(problem, digits + 20), digits + 20)
    # A step away from the mode loses less than 1 of 10^digits · 2^48, fewer than 2^24 steps are
    # taken on a side, and E[I] is a sum of numbers below log n with weights that add up to 4.
    assert high - low <= Decimal(4 * math.log(problem.total) + 1) * Decimal(10) ** -digits


@pytest.mark.spec("EMI", "KER-EMI")
@some(40)
@given(labelings(least=2, most=6), st.sampled_from(DIGITS))
def test_intervals_hold_the_mean_over_all_permutations(pair: Pair, digits: int) -> None:
    exact = witness.as_real(witness.expected_mutual_information(*pair))
    low, high = expected_mi(margins_of(contingency(*pair)), digits)
    inner_low, inner_high = exact.enclosure(digits + 30)
    assert low <= inner_high
    assert inner_low <= high
    assert low <= high
    if exact != 0:
        assert low <= inner_low
        assert inner_high <= high


@pytest.mark.spec("EMI", "KER-EMI")
@some(25)
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.sampled_from(DIGITS),
)
def test_intervals_hold_the_balls_of_flint(
    rows: list[int], columns: list[int], digits: int
) -> None:
    short = sum(rows) - sum(columns)
    sides = (rows, [*columns, short]) if short > 0 else ([*rows, -short], columns)
    check(margins(*(side if side[-1] else side[:-1] for side in sides)), digits)


def true_sum(a: int, b: int, n: int) -> Real:
    """E[k log k] for the overlap k of a cluster and a class."""
    return total(chance * k * log(k) for k, chance in law(a, b, n) if k > 1)


@pytest.mark.spec("EMI", "KER-EMI")
@pytest.mark.parametrize("scale", [1, 2, 3, 7, 10, 100, 10**3, 10**6])
def test_inner_sums_are_rounded_outwards_at_any_scale(scale: int) -> None:
    """With a coarse scale every lost unit shows: no guard digits hide a wrong direction."""
    logs = _ScaledLogs(arithmetic(40), scale)
    for n in (2, 3, 5, 8, 13, 30, 60):
        for a in {1, 2, n // 3 or 1, n // 2, n - 1, n}:
            for b in {1, 2, n // 4 or 1, n // 2, n - 2 or 1, n - 1, n}:
                low, high = _expected_k_log_k(a, b, n, scale, logs)
                exact = scale * true_sum(a, b, n)
                assert low <= exact <= high, (a, b, n)


@pytest.mark.spec("EMI", "KER-EMI")
def test_the_overlap_is_never_overestimated_by_much() -> None:
    """The interval of an inner sum narrows with the scale, also where tails are cut off."""
    for a, b, n in ((30, 30, 60), (10, 50, 60), (200, 300, 1000), (5, 7, 1000), (999, 500, 1000)):
        for scale in (10**6, 10**12):
            low, high = _expected_k_log_k(a, b, n, scale, _ScaledLogs(arithmetic(40), scale))
            # Fewer than 1000 steps on two sides lose less than 10⁶ units of weight 1000 ln 1000.
            assert high - low <= 2 * 10**6 * 7000
            assert low <= scale * true_sum(a, b, n) <= high
            assert scale == 10**6 or (high - low) * 1000 < low


def test_scaled_logarithms_are_rounded_outwards() -> None:
    logs = _ScaledLogs(arithmetic(30), 1000)
    assert logs[0] == logs[1] == (0, 0)
    assert logs[2] == (1386, 1387)
    assert logs[10] == (23025, 23026)
    assert logs[10] is logs[10]


EXTREME = {
    "one huge and singletons": margins([9_990] + [1] * 10, [9_995, 5]),
    "singletons on both sides": margins([1] * 300, [1] * 300),
    "singletons against halves": margins([1] * 2_000, [1_000, 1_000]),
    "one group": margins([5_000], [2_500, 2_500]),
    "one group twice": margins([77], [77]),
    "one object": margins([1], [1]),
    "two objects": margins([1, 1], [2]),
    "halves": margins([1_000, 1_000], [1_000, 1_000]),
    "uneven": margins([1_999, 1], [1, 1_999]),
    "small cells in a million": margins([999_900, 100], [999_950, 30, 20]),
    "single objects in a million": margins([999_999, 1], [500_000, 500_000]),
    "pairs": margins([2] * 500, [250] * 4),
    "no overlap unless crowded": margins([60, 40], [70, 30]),
}


@pytest.mark.spec("EMI", "KER-EMI")
@pytest.mark.parametrize("name", EXTREME)
def test_extreme_margins(name: str) -> None:
    for digits in (5, 30):
        if min(a for a, _ in EXTREME[name].rows) < 2_000 and EXTREME[name].total < 20_000:
            check(EXTREME[name], digits)
    narrow, wide = expected_mi(EXTREME[name], 60), expected_mi(EXTREME[name], 15)
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]
    assert wide[1] - wide[0] <= Decimal("1e-13")


@pytest.mark.spec("EMI")
def test_a_million_objects_by_a_short_sum() -> None:
    """One object apart: it falls into either half with the same chance, so I is always the same."""
    n = 10**6
    low, high = expected_mi(EXTREME["single objects in a million"], 40)
    rest = n - 1
    information = (
        witness.as_float({2: Fraction(1)})
        - rest / n * math.log(rest)
        + 0.5 * math.log(n // 2)
        + (n // 2 - 1) / n * math.log(n // 2 - 1)
    )
    # Five products below 14 are rounded, each off by at most 2⁻⁵⁰.
    assert abs(float(low) - information) <= 5 * 14 * 2.0**-52
    assert high - low < Decimal("1e-38")


@pytest.mark.spec("EMI", "KER-EMI")
def test_large_groups_in_a_million() -> None:
    """Halves against halves: 2n E[I] is near the one degree of freedom of a 2×2 table."""
    low, high = expected_mi(margins([500_000] * 2, [500_000] * 2), 20)
    assert Decimal("0.999e-6") < 2 * low <= 2 * high < Decimal("1.001e-6")
    assert high - low <= Decimal("6e-19")


@pytest.mark.spec("KER-EMI")
@pytest.mark.parametrize("name", ["halves", "uneven", "pairs", "singletons against halves"])
def test_widths_shrink_as_digits_grow(name: str) -> None:
    before: tuple[Decimal, Decimal] | None = None
    for digits in (3, 6, 12, 24, 48, 96):
        low, high = expected_mi(EXTREME[name], digits)
        assert high - low <= Decimal(40) * Decimal(10) ** -digits
        if before is not None:
            assert before[0] <= high
            assert low <= before[1]
            assert high - low < before[1] - before[0]
        before = low, high


@pytest.mark.spec("EMI")
def test_exact_zero_for_one_group() -> None:
    for sides in (([5], [3, 2]), ([1] * 4, [4]), ([1], [1])):
        low, high = expected_mi(margins(*sides), 30)
        assert low <= 0 <= high
        assert high - low < Decimal("1e-28")


@pytest.mark.spec("EMI", "KER-EMI")
def test_equal_sizes_taken_together_or_apart() -> None:
    together = expected_mi(Margins(((3, 2), (4, 1)), ((5, 2),), 10), 40)
    apart = expected_mi(Margins(((3, 1), (3, 1), (4, 1)), ((5, 1), (5, 1)), 10), 40)
    assert max(together[0], apart[0]) <= min(together[1], apart[1])
    assert abs(together[0] - apart[0]) < Decimal("1e-38")


def test_the_answer_keeps_the_contract() -> None:
    kernel = KERNELS["information.expected_mi"]
    assert kernel.reference is expected_mi
    assert isinstance(kernel.contract, Enclosing)
    for problem in EXTREME.values():
        if problem.total < 20_000:
            fine, rough = kernel.reference(problem, 60), kernel.reference(problem, 20)
            assert kernel.contract.fault(fine, rough) is None
