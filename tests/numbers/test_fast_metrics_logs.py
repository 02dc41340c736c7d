"""Logarithms of integers in whole units, and sums of them (chapter 05)."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from refclust.numbers.real import log, total
from refclust.numbers.reals import logs
from refclust.numbers.reals.logs import SLACK, ScaledLogs, enclose_log_sum, log_sum, scaled_logs

BITS = (0, 1, 7, 60, 116, 300, 983, 984, 985, 1500)
EDGES = (
    *(1, 2, 3, 127, 128, 255, 256, 257, 511, 512, 10**6, 2**64 - 1, 2**64, 2**64 + 1),
    *(2**1000 - 1, 2**1000 + 1, 2 ** (2**14) - 1, 2 ** (2**14 + 8) - 1, 2 ** (2**14 + 8)),
)


def short_of(k: int, bits: int) -> tuple[float, float]:
    """By how many units the scaled logarithm is short, at least and at most."""
    old, ctx.prec = ctx.prec, bits + 100
    try:
        missing = arb(k).log() * arb(2) ** bits - ScaledLogs(bits)[k]
        return float(missing.lower()), float(missing.upper())
    finally:
        ctx.prec = old


@pytest.mark.spec("NUM-ROUND")
@pytest.mark.parametrize("bits", BITS)
def test_scaled_logarithms_are_short_by_less_than_the_slack(bits: int) -> None:
    for k in EDGES:
        least, most = short_of(k, bits)
        assert least + 1e-9 >= 0
        assert most < SLACK


@pytest.mark.spec("NUM-ROUND")
@given(st.integers(1, 2**80), st.sampled_from(BITS))
def test_scaled_logarithms_of_any_number(k: int, bits: int) -> None:
    least, most = short_of(k, bits)
    assert least + 1e-9 >= 0
    assert most < SLACK


@pytest.mark.spec("NUM-ROUND")
@given(
    st.dictionaries(st.integers(1, 10**6), st.integers(-(10**6), 10**6), max_size=8),
    st.integers(1, 10**7),
    st.sampled_from((1, 10, 30, 60, 400)),
)
def test_sums_are_enclosed(weights: dict[int, int], divisor: int, digits: int) -> None:
    low, high = enclose_log_sum(weights, divisor, digits)
    plain = total(Fraction(weight, divisor) * log(k) for k, weight in weights.items())
    inner_low, inner_high = plain.enclosure(digits + 60)
    assert low <= inner_low
    assert inner_high <= high
    size = 1 + sum(abs(weight) for weight in weights.values()) * 14 // divisor
    assert high - low <= size * Decimal(10) ** (1 - digits)


@pytest.mark.spec("NUM-ZERO")
def test_sums_that_vanish_are_exactly_zero() -> None:
    for nothing in ({}, {1: 5, 7: 0}):
        assert [*enclose_log_sum(nothing, 3, 30)] == [0, 0]
    hidden = log_sum({4: 3, 2: -6}, 5, lambda: [log(64) / 5, -log(64) / 5])
    assert hidden == 0
    assert hidden.fraction == 0
    assert float(hidden) == 0.0
    assert log_sum({8: 1}, 1, list) / log_sum({2: 1}, 1, list) == 3


def test_logarithms_are_remembered_but_not_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_CACHE_LIMIT", 3)
    table = ScaledLogs(100)
    before = [table[k] for k in range(2, 8)]
    assert len(table._known) == 3
    assert [table[k] for k in range(2, 8)] == before
    assert scaled_logs(100) is scaled_logs(100)
