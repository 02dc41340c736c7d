"""Probabilities of words and their logarithms (chapters 31 and 80)."""

from __future__ import annotations

import math
from array import array
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refclust.kernels.mixtures.multinomial import Tallies
from refclust.kernels.mixtures.words import WordLogs, WordStep, logs, m_step
from refclust.kernels.registry import KERNELS
from refclust.numbers.argmin import ROUND
from refclust.testing.saboteurs.arithmetic.mixtures import in_singles
from tests.kernels import mixture_witness as witness
from tests.kernels.mixture_witness import judged

WORDS = witness.points_of([(0.0, 0.0, 0.0)])
TALLIES = Tallies(array("d", [2, 4]), array("d", [3, 1, 0, 2, 4, 1]))
EVEN = (0.25, 0.25, 0.5)
COUNTS = st.lists(st.integers(0, 40).map(lambda i: i / 4), min_size=3, max_size=3)


@pytest.mark.spec("NB-LIK", "KER-WORDS")
def test_exact_logarithms() -> None:
    found = logs(WORDS, array("d", [1, 0, 0.5]), "multinomial")
    assert found.slopes.tolist() == [0.0, -math.inf, math.log(0.5)]
    assert found.bases.tolist() == [0.0]
    found = logs(WORDS, array("d", [1, 0, 0.5]), "bernoulli")
    assert found.slopes.tolist() == [0.0, -math.inf, 0.0]
    assert found.bases.tolist() == [math.log1p(-0.5)]


@pytest.mark.spec("MMIX-THETA", "KER-WORDS")
def test_exact_estimates() -> None:
    bare = m_step(WORDS, TALLIES, 0.0, EVEN, "multinomial")
    assert bare.probabilities.tolist() == [0.75, 0.25, 0.0, 2 / 7, 4 / 7, 1 / 7]
    assert bare.imagined == 0.0
    smooth = m_step(WORDS, TALLIES, 4.0, EVEN, "multinomial")
    assert smooth.probabilities.tolist()[:3] == [0.5, 0.25, 0.25]
    there = m_step(WORDS, TALLIES, 0.0, (0.5,) * 3, "bernoulli")
    assert there.probabilities.tolist() == [1.0, 0.5, 0.0, 0.5, 1.0, 0.25]
    none = m_step(WORDS, Tallies(array("d", [0]), array("d", [0, 0, 0])), 0.0, EVEN, "multinomial")
    assert none.probabilities.tolist() == list(EVEN)


@pytest.mark.spec("KER-WORDS")
@given(COUNTS, st.sampled_from([0.0, 0.5, 3.0]), st.sampled_from(["multinomial", "bernoulli"]))
@settings(max_examples=60, deadline=None)
def test_estimates_against_the_definition(counts: list[float], m: float, kind: Any) -> None:
    """Probabilities within (d + 8) u of the rationals; their logarithms go with them."""
    n = max(counts) + 1.0
    tallies = Tallies(array("d", [n]), array("d", counts))
    found = m_step(WORDS, tallies, m, EVEN, kind)
    whole = Fraction(
        sum(map(Fraction, counts)) if kind == "multinomial" else Fraction(n)
    ) + Fraction(m)
    for theta, x, p in zip(found.probabilities, counts, EVEN, strict=True):
        exact = (Fraction(x) + Fraction(m) * Fraction(p)) / whole if whole else Fraction(p)
        assert abs(Fraction(theta) - exact) <= 11 * Fraction(ROUND) * exact
    assert judged("multinomial.m_step", WORDS, (tallies, m, EVEN, kind), found) is None
    assert found.logs == logs(WORDS, array("d", found.probabilities), kind)
    terms = [x * s for x, s in zip(counts, found.logs.slopes, strict=True) if x]
    expected = math.fsum([*terms, n * found.logs.bases[0]])
    assert found.expected == pytest.approx(expected, rel=1e-15, abs=1e-15)


@pytest.mark.spec("KER-WORDS")
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"probabilities": array("d", [0.25] * 6)}, "probabilities[0]"),
        ({"probabilities": array("d", [0.25] * 5)}, "5 probabilities instead of 6"),
        ({"probabilities": None}, "probabilities: a NoneType"),
        ({"expected": math.nan}, "expected: nan"),
        ({"expected": 0.0}, "expected: 0.0 instead of"),
        ({"imagined": 0.0}, "imagined: 0.0 instead of"),
        ({"imagined": 3}, "imagined: 3 instead of a float"),
        ({"logs": None}, "a NoneType instead of WordLogs"),
        ({"logs": WordLogs(array("d", [0.0] * 6), array("d", [0.0]))}, "1 bases instead of 2"),
        ({"logs": WordLogs(array("d", [0.0] * 6), array("d", [0.0] * 2))}, "slopes[0]"),
    ],
)
def test_estimates_that_do_not_pass(change: dict[str, Any], told: str) -> None:
    args = (TALLIES, 4.0, EVEN, "multinomial")
    right = m_step(WORDS, TALLIES, 4.0, EVEN, "multinomial")
    assert judged("multinomial.m_step", WORDS, args, right) is None
    assert told in str(judged("multinomial.m_step", WORDS, args, replace(right, **change)))


@pytest.mark.spec("KER-WORDS")
def test_logarithms_that_do_not_pass() -> None:
    for kind in ("multinomial", "bernoulli"):
        args = (array("d", [0.3, 0.2, 0.5]), kind)
        right = KERNELS["multinomial.logs"].reference(WORDS, *args)
        assert judged("multinomial.logs", WORDS, args, right) is None
        wrong = replace(right, slopes=in_singles(right.slopes))
        assert "slopes[" in str(judged("multinomial.logs", WORDS, args, wrong))
        off = replace(right, bases=array("d", [right.bases[0] - 1e-14]))
        assert "bases[0]" in str(judged("multinomial.logs", WORDS, args, off))


@pytest.mark.spec("KER-WORDS", "BK-KERNEL")
@pytest.mark.parametrize(
    "answer",
    [None, 3, "x", (), {}, array("d"), object(), WordLogs(None, None),  # type: ignore[arg-type]
     WordStep(None, None, 0.0, 0.0)],  # type: ignore[arg-type]
)  # fmt: skip
def test_contracts_never_raise(answer: Any) -> None:
    for kernel, args in (
        ("multinomial.logs", (array("d", [0.3, 0.2, 0.5]), "multinomial")),
        ("multinomial.m_step", (TALLIES, 4.0, EVEN, "multinomial")),
    ):
        contract: Any = KERNELS[kernel].contract
        due = KERNELS[kernel].reference(WORDS, *args)
        assert isinstance(contract.fault(due, answer), str)
        assert isinstance(contract.judged(WORDS, args, due, answer), str)


def test_a_probability_that_underflows_has_no_part_in_the_sum() -> None:
    points = witness.points_of([(0.0, 0.0)])
    tallies = Tallies(array("d", [1.0]), array("d", [1e-300, 1e300]))
    step = m_step(points, tallies, 0.0, (0.5, 0.5), "multinomial")
    assert list(step.probabilities) == [0.0, 1.0]
    assert step.expected == 0.0
