"""Shares of one row, sums of a pass: from their definitions (chapters 30 and 80)."""

from __future__ import annotations

import math
from array import array
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refclust.kernels.mixtures.shared import (
    HARD,
    SOFT,
    Rule,
    Shared,
    passed,
    posterior,
    shares,
    total,
    weighted_shares,
)
from refclust.numbers.argmin import ROUND
from tests.kernels import mixture_witness as witness

NONE = -math.inf
LOG2 = math.log(2.0)
LOGS = st.lists(st.floats(-800, 20) | st.just(NONE), min_size=1, max_size=6)


@pytest.mark.spec("EM-ESTEP")
def test_exact_shares() -> None:
    assert shares((0.0, 0.0, NONE, 0.0), SOFT).q == (1 / 3, 1 / 3, 0.0, 1 / 3)
    half = shares((-1e5, -1e5), SOFT)
    assert half.q == (0.5, 0.5)
    assert (half.log_likelihood, half.bound) == (-1e5 + LOG2,) * 2
    assert half.entropy == LOG2


@pytest.mark.spec("EM-ESTEP")
def test_a_row_that_nobody_can_have_made() -> None:
    for rule in (SOFT, HARD, Rule(top=2)):
        assert shares((NONE, NONE), rule) == Shared((0.0, 0.0), NONE, NONE, 0.0)
    assert shares((NONE, NONE), SOFT, [0.3]) == Shared((0.0, 0.0), NONE, NONE, 0.0)


@pytest.mark.spec("EM-VAR", "CEM-ASSIGN")
def test_restricted_shares() -> None:
    logs = (0.0, -1.0, 0.0, -1.0)
    assert shares(logs, HARD).q == (1.0, 0.0, 0.0, 0.0)  # the lowest of equals
    assert shares(logs, Rule(top=2)).q == (0.5, 0.0, 0.5, 0.0)
    third = shares(logs, Rule(top=3))
    assert third.q[1] > 0.0 == third.q[3]
    assert shares(logs, Rule(top=4)) == shares(logs, SOFT) == shares(logs, Rule(top=9))
    hard = shares(logs, HARD)
    assert (hard.bound, hard.entropy) == (0.0, 0.0)
    assert hard.log_likelihood == shares(logs, SOFT).log_likelihood


@pytest.mark.spec("EM-STOCH")
def test_drawn_shares() -> None:
    logs = (math.log(0.25), math.log(0.25), math.log(0.5))
    first, last = math.nextafter(0.25, 0.0), 1.0 - 2.0**-53
    for draws, q in (
        ([0.0], (1.0, 0.0, 0.0)),
        ([first], (1.0, 0.0, 0.0)),
        ([0.25], (0.0, 1.0, 0.0)),  # the least component whose cumulated share is above
        ([0.5], (0.0, 0.0, 1.0)),
        ([last], (0.0, 0.0, 1.0)),
        ([0.0, 0.1, 0.3, 0.9], (0.5, 0.25, 0.25)),
    ):
        assert shares(logs, Rule(), draws).q == q
    one = shares(logs, Rule(), [0.3])
    assert (one.bound, one.entropy) == (logs[1], 0.0)
    two = shares(logs, Rule(), [0.0, 0.3])
    assert two.entropy == LOG2
    assert two.bound == logs[0] + LOG2


@pytest.mark.spec("EM-STOCH")
def test_a_draw_never_falls_behind_the_last_share() -> None:
    assert shares((0.0, -1000.0), Rule(), [1.0 - 2.0**-53]).q == (1.0, 0.0)
    assert shares((0.0, NONE), Rule(), [1.0 - 2.0**-53]).q == (1.0, 0.0)


@pytest.mark.spec("EM-ESTEP", "EM-VAR")
@given(LOGS, st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_shares_against_the_definition(logs: list[float], top: int) -> None:
    """Of exact logs: x - peak is rounded by |x - peak| u; exp, sum and quotient take 16 u."""
    found, due = shares(logs, Rule(top=top)), witness.row([witness.MP.mpf(x) for x in logs], top)
    if due.log_likelihood == witness.MP.ninf:
        assert found.log_likelihood == NONE
        return
    for x, q, right in zip(logs, found.q, due.q, strict=True):
        assert (
            abs(q - right) <= right * (16 + abs(x - max(logs))) * ROUND + 2.0**-1060 if q else True
        )
    scale = 32 * ROUND * (1 + abs(due.log_likelihood))
    assert abs(found.log_likelihood - due.log_likelihood) <= scale
    assert abs(found.bound - due.bound) <= 32 * ROUND * (1 + abs(due.bound))
    assert abs(found.entropy - due.entropy) <= 64 * ROUND
    assert found.entropy >= 0.0
    assert math.fsum(found.q) == pytest.approx(1.0, abs=(len(logs) + 1) * ROUND, rel=0.0)


@pytest.mark.spec("EM-ESTEP", "MIX-MARGLL")
def test_posteriors_of_rows() -> None:
    found = posterior([(0.0, 1.0), (2.0, 2.0), (NONE, NONE)], full=True)
    assert found.labels.tolist() == [1, 0, 0]
    assert found.joint == array("d", [0.0, 1.0, 2.0, 2.0, NONE, NONE])
    assert found.log_likelihoods[1:] == array("d", [2.0 + LOG2, NONE])
    assert posterior([(0.0,)], full=False).joint is None


@pytest.mark.spec("EM-ESTEP", "KER-EMSTEP")
def test_a_pass_adds_up_rows_by_weight() -> None:
    rows = [(0.0, 0.0), (NONE, NONE), (-2.0, NONE)]
    found = passed(rows, [2.0, 0.0, 0.5], SOFT)
    assert found.log_likelihood == found.bound == 2 * LOG2 - 1.0
    assert found.entropy == 2 * LOG2
    assert found.columns == [[1.0, 0.0, 0.5], [1.0, 0.0, 0.0]]
    whole = passed(rows, None, SOFT)
    assert whole.log_likelihood == whole.bound == NONE
    assert whole.entropy == LOG2


@pytest.mark.spec("EM-STOCH", "KER-EMSTEP")
def test_draws_lie_row_after_row() -> None:
    rows = [(0.0, 0.0), (0.0, 0.0)]
    draws = array("d", [0.1, 0.2, 0.8, 0.9])
    assert passed(rows, None, Rule(draws=draws, samples=2)).columns == [[1.0, 0.0], [0.0, 1.0]]
    view = memoryview(draws).toreadonly()
    assert passed(rows, None, Rule(draws=view, samples=1)).columns == [[1.0, 1.0], [0.0, 0.0]]


@pytest.mark.spec("NUM-NEAR")
def test_totals_are_rounded_once() -> None:
    terms = [0.1] * 7 + [1e16, -1e16]
    exact = sum(map(Fraction, terms))
    assert total(terms) == exact.numerator / exact.denominator
    assert total([1.0, NONE, 2.0]) == NONE


@pytest.mark.spec("KER-MOMENTS")
def test_labels_and_shares_with_weights() -> None:
    labels = array("i", [1, -1, 0])
    assert weighted_shares(labels, 2, [2.0, 5.0, 0.5]) == [[0.0, 0.0, 0.5], [2.0, 0.0, 0.0]]
    q = memoryview(array("d", [0.25, 0.75, 1.0, 0.0])).toreadonly()
    assert weighted_shares(q, 2, [1.0, 4.0]) == [[0.25, 4.0], [0.75, 0.0]]
