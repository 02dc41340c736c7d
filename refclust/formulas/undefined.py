"""The one rule for values that do not exist (chapter 00, CONV-UNDEF).

Each clause names its numerator and denominator. 0/0 is undefined, with a reason; x/0 is infinite.
"""

from __future__ import annotations

import math

from refclust.numbers.real import Rational, Real, real


class Undefined(Exception):
    """The value does not exist as a real number; ``value`` is NaN or an infinity."""

    def __init__(self, reason: str, value: float = math.nan) -> None:
        super().__init__(reason)
        self.reason = reason
        self.value = value


def ratio(top: Real | Rational, bottom: Real | Rational, *, undefined: str) -> Real:
    """Return top/bottom, or raise ``Undefined`` with the reason if the denominator is zero.

    Spec: CONV-UNDEF

    >>> ratio(1, 4, undefined="no objects")
    Real('1/4')
    """
    top, bottom = real(top), real(bottom)
    if bottom.sign() != 0:
        return top / bottom
    direction = top.sign()
    if direction == 0:
        raise Undefined(f"0/0: {undefined}")
    raise Undefined(f"a number that is not zero, over zero: {undefined}", direction * math.inf)
