"""Functions, roots and tails of exact reals: digits far beyond doubles, in any decimal context."""

from __future__ import annotations

from collections.abc import Callable
from decimal import localcontext
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.numbers.real import Real
from refclust.numbers.reals.binomial import binomial_tail
from refclust.numbers.reals.functions import arctan, erfc
from refclust.numbers.reals.roots import root

FUNCTIONS: list[tuple[Callable[[Fraction], Real], Callable[[Any], Any]]] = [
    (arctan, mpmath.atan),
    (erfc, mpmath.erfc),
    (lambda x: root(lambda y: y**3 + y - x, -4, 4), lambda x: mpmath.findroot(
        lambda y: y**3 + y - x, mpmath.mpf(x) / 2)),
    (
        lambda x: binomial_tail(3, 5, x / 4),
        lambda x: mpmath.betainc(3, 3, 0, x / 4, regularized=True),
    ),
]  # fmt: skip


@pytest.mark.spec("NUM-REAL", "NUM-DIGITS")
@pytest.mark.parametrize("place", range(len(FUNCTIONS)))
@given(x=st.fractions(Fraction(1, 9), 3, max_denominator=60))
def test_sixty_digits_in_any_context(place: int, x: Fraction) -> None:
    ours, theirs = FUNCTIONS[place]
    with mpmath.workdps(90):
        due = Fraction(mpmath.nstr(theirs(mpmath.mpf(x.numerator) / x.denominator), 80))
    for precision in (5, 28, 90):
        with localcontext() as context:
            context.prec = precision
            low, high = map(Fraction, ours(x).enclosure(60))
        slack = Fraction(1, 10**75)
        assert low - slack <= due <= high + slack
        assert high - low <= Fraction(1, 10**50)
