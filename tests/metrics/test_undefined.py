"""The one rule for 0/0 and x/0 (chapter 00, CONV-UNDEF)."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from refclust.formulas.undefined import Undefined, ratio
from refclust.numbers.real import log, real


@pytest.mark.spec("CONV-UNDEF")
def test_a_quotient_is_a_quotient() -> None:
    assert ratio(3, 4, undefined="never").fraction == Fraction(3, 4)
    assert ratio(0, -4, undefined="never") == 0
    assert ratio(log(8), log(2), undefined="never").fraction == 3


@pytest.mark.spec("CONV-UNDEF")
def test_zero_over_zero_is_undefined_with_its_reason() -> None:
    for zero in (0, Fraction(), real(0), log(6) - log(2) - log(3)):
        with pytest.raises(Undefined) as missing:
            ratio(zero, zero, undefined="nobody is here")
        assert missing.value.reason == str(missing.value) == "0/0: nobody is here"
        assert math.isnan(missing.value.value)


@pytest.mark.spec("CONV-UNDEF")
@pytest.mark.parametrize(("top", "value"), [(2, math.inf), (Fraction(-1, 9), -math.inf)])
def test_something_over_zero_is_infinite(top: Fraction, value: float) -> None:
    with pytest.raises(Undefined) as missing:
        ratio(top, log(1), undefined="there is one group")
    assert missing.value.value == value
    assert missing.value.reason == "a number that is not zero, over zero: there is one group"


def test_a_missing_value_is_nan_unless_said_otherwise() -> None:
    assert math.isnan(Undefined("why").value)
    assert Undefined("why", math.inf).value == math.inf
