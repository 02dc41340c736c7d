"""Entropy, divergence and information of distributions given by hand (chapter 43)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from refclust.errors import (
    BadDistribution,
    BadOption,
    DimensionMismatch,
    EmptyInput,
    NotFinite,
    RefclustError,
)
from refclust.formulas.information import entropy, joint_mutual_information, kl
from refclust.formulas.undefined import Undefined
from refclust.numbers.real import Real, log


@pytest.mark.spec("IT-ENT")
def test_entropy_of_coins_and_dice() -> None:
    assert entropy(["1/2", "1/2"]) == log(2)
    assert entropy([0.5, 0.25, Fraction(1, 4)], base=2).fraction == Fraction(3, 2)  # type: ignore[list-item]
    assert entropy([1]) == entropy([0, 1, 0]) == 0
    assert entropy([Fraction(1, 6)] * 6) == log(6)
    assert entropy(share for share in ("1/3", "2/3")) == log(3) - 2 * log(2) / 3


@pytest.mark.spec("IT-KL")
def test_divergence() -> None:
    assert kl([0, 1], ["1/2", "1/2"]) == log(2)
    assert kl([0, 1], ["1/2", "1/2"], base=2).fraction == 1
    with pytest.raises(Undefined, match=r"^q has mass where p has none$") as missing:
        kl(["1/2", "1/2"], [0, 1])
    assert missing.value.value == math.inf


@pytest.mark.spec("IT-MI")
def test_information_of_a_joint_distribution() -> None:
    assert joint_mutual_information([["1/2", 0], [0, "1/2"]], base=2).fraction == 1
    assert joint_mutual_information([["1/4", "1/4"], ["1/4", "1/4"]]) == 0
    assert joint_mutual_information([["1/2", "1/2", 0]]) == 0
    # ERR-04: the factor before the logarithm is p_ij alone.
    skew = joint_mutual_information([["1/2", "1/4"], [0, "1/4"]])
    assert skew == log(Fraction(4, 3)) / 2 + log(Fraction(2, 3)) / 4 + log(2) / 4


@pytest.mark.spec("IT-ENT", "IT-KL", "IT-MI")
@pytest.mark.parametrize(
    ("given", "kind", "code", "words"),
    [
        ([], EmptyInput, "empty-input", "a distribution without outcomes"),
        (["1/2", "1/3"], BadDistribution, "bad-distribution", "the 2 probabilities add up to 5/6"),
        ([0.1] * 10, BadDistribution, "bad-distribution", "not to 1"),
        ([2, -1], BadDistribution, "bad-distribution", "probability 1 is -1; it must not be neg"),
        ([1, "x"], BadDistribution, "bad-distribution", "probability 1 is 'x', not a number"),
        ([None, 1], BadDistribution, "bad-distribution", "probability 0 is None, not a number"),
        (["1/0"], BadDistribution, "bad-distribution", "probability 0 is '1/0', not a number"),
        ([1, math.inf], NotFinite, "not-finite", "probability 1 is inf; it must be finite"),
        ([math.nan, 1], NotFinite, "not-finite", "probability 0 is nan; it must be finite"),
    ],
)
def test_what_is_no_distribution(
    given: list[Any], kind: type[RefclustError], code: str, words: str
) -> None:
    calls: tuple[Callable[[], Real], ...] = (
        lambda: entropy(given),
        lambda: kl(given, [1]),
        lambda: kl([1], given),
        lambda: joint_mutual_information([given]),
    )
    for call in calls:
        with pytest.raises(kind) as caught:
            call()
        assert caught.value.code == code
        assert words in str(caught.value)
        if kind is EmptyInput:
            assert str(caught.value) == words


@pytest.mark.spec("IT-KL", "IT-MI")
def test_lengths_must_agree() -> None:
    with pytest.raises(DimensionMismatch, match="over 2 and 3 values"):
        kl(["1/2", "1/2"], ["1/3", "1/3", "1/3"])
    with pytest.raises(DimensionMismatch, match=r"lengths \[1, 2\]"):
        joint_mutual_information([["1/2", "1/4"], ["1/4"]])


@pytest.mark.parametrize("base", [1, 0, -2, Fraction(1, 2)])
def test_a_base_is_above_one(base: Fraction) -> None:
    calls: tuple[Callable[[], Real], ...] = (
        lambda: entropy([1], base=base),
        lambda: kl([1], [1], base=base),
        lambda: joint_mutual_information([[1]], base=base),
    )
    for call in calls:
        with pytest.raises(BadOption, match=f"base={base}: .*above 1"):
            call()
