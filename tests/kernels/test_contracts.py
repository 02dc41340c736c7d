"""Contracts: which answers of a backend are right (chapter 80)."""

from __future__ import annotations

from collections import Counter, OrderedDict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from refclust.kernels.contracts.basic import Enclosing, Exact

REFERENCE = {("a", "x"): 2, ("b", "y"): Fraction(1, 2)}


class Whole(int):
    """An integer that is not a plain one."""


@pytest.mark.spec("BK-KERNEL")
def test_exact_accepts_equals_only() -> None:
    contract = Exact()
    assert contract.name == "Exact"
    assert contract.fault(REFERENCE, dict(reversed(REFERENCE.items()))) is None
    assert contract.fault(REFERENCE, {**REFERENCE, ("a", "x"): Fraction(2)}) is None
    assert contract.fault({}, {}) is None
    assert contract.fault(REFERENCE, {("a", "x"): 2}) == "('b', 'y') is missing"
    more = {**REFERENCE, ("c", "x"): 0}
    assert contract.fault(REFERENCE, more) == "('c', 'x') should not be there"
    wrong = {**REFERENCE, ("b", "y"): Fraction(1, 3)}
    assert contract.fault(REFERENCE, wrong) == "at ('b', 'y'): 1/3 instead of 1/2"
    assert contract.fault(REFERENCE, [1]) == "a list instead of a dict"


@pytest.mark.spec("BK-KERNEL")
@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ({("a", "x"): 2.0}, "at ('a', 'x'): a float, not a plain int or Fraction"),
        ({("a", "x"): True}, "at ('a', 'x'): a bool, not a plain int or Fraction"),
        ({("a", "x"): Whole(2)}, "at ('a', 'x'): a Whole, not a plain int or Fraction"),
        (Counter(a=1), "a Counter instead of a dict"),
        (OrderedDict(), "a OrderedDict instead of a dict"),
        (None, "a NoneType instead of a dict"),
        ({}, None),
        ({1: 2, 2: Fraction(1, 2)}, None),
    ],
)
def test_exact_asks_for_plain_objects(answer: Any, fault: str | None) -> None:
    assert Exact().malformed(answer) == fault


def d(text: str) -> Decimal:
    return Decimal(text)


@pytest.mark.spec("BK-KERNEL")
@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ((d("0.5"), d("0.6")), True),
        ((d("0.4"), d("0.7")), True),
        ((d("0.5"), d("0.59")), False),
        ((d("0.51"), d("0.6")), False),
        ((d("0.52"), d("0.55")), False),
        ((d("0.1"), d("0.2")), False),
        ((d("0.7"), d("0.8")), False),
    ],
)
def test_enclosing_asks_for_the_whole_of_the_reference(
    answer: tuple[Decimal, Decimal], right: bool
) -> None:
    reference = (d("0.5"), d("0.6"))
    fault = Enclosing().fault(reference, answer)
    low, high = answer
    assert fault == (None if right else f"the interval [{low}, {high}] misses [0.5, 0.6]")
    assert Enclosing().name == "Enclosing"


@pytest.mark.spec("BK-KERNEL")
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (0.5, "0.5 instead of a pair of decimals"),
        ([d("1"), d("2")], "instead of a pair of decimals"),
        ((d("1"),), "instead of a pair of decimals"),
        ((d("1"), d("2"), d("3")), "instead of a pair of decimals"),
        ((0.5, 0.6), "instead of a pair of finite decimals"),
        ((d("1"), 2), "instead of a pair of finite decimals"),
        ((d("NaN"), d("1")), "instead of a pair of finite decimals"),
        ((d("1"), d("Infinity")), "instead of a pair of finite decimals"),
        ((d("2"), d("1")), "the ends 2 and 1 are reversed"),
    ],
)
def test_enclosing_asks_for_two_finite_decimals_in_order(answer: Any, words: str) -> None:
    malformed = Enclosing().malformed(answer)
    assert malformed is not None
    assert words in malformed
    assert Enclosing().fault((d("0"), d("1")), answer) == malformed


def test_a_point_is_an_interval() -> None:
    assert Enclosing().malformed((d("1"), d("1"))) is None
    assert Enclosing().fault((d("1"), d("1")), (d("1"), d("1.0"))) is None
