"""Quotients of integers between two decimals."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Final

from refclust.numbers.real import Interval

_GUARD: Final = 5  # digits


def between(low: int, slack: int, unit: int, digits: int) -> Interval:
    """Decimals below low / unit and above (low + slack) / unit, with a few digits more.

    Spec: NUM-ROUND

    >>> between(1, 0, 4, 10), [str(end) for end in between(1, 1, 3, 1)]
    ((Decimal('0.25'), Decimal('0.25')), ['0.333333', '0.666667'])
    """
    below, above = (
        Context(digits + _GUARD, rounding, MIN_EMIN, MAX_EMAX)
        for rounding in (ROUND_FLOOR, ROUND_CEILING)
    )
    divisor = Decimal(unit)
    return below.divide(Decimal(low), divisor), above.divide(Decimal(low + slack), divisor)
