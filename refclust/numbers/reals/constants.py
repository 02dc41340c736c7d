"""Numbers that no tree of rationals, roots, powers and logarithms makes: π (chapter 05)."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Final

from refclust.numbers.real import Interval, Real, enclosed

_GUARD = 10  # digits beyond those asked for


def pi_interval(digits: int) -> Interval:
    """Return decimals below and above π, by Machin's formula in integers.

    π = 16 arctan(1/5) − 4 arctan(1/239). A series stops where its terms vanish; each of its terms,
    and what is left out, is off by less than one unit.

    Spec: NUM-REAL

    >>> low, high = pi_interval(10)
    >>> str(low), str(high)
    ('3.141592653', '3.141592654')
    """
    unit = 10 ** (digits + _GUARD)
    (five, terms), (more, others) = _arctan_of_inverse(5, unit), _arctan_of_inverse(239, unit)
    middle, slack = 16 * five - 4 * more, 16 * (terms + 1) + 4 * (others + 1)
    scale = Decimal(10) ** -(digits + _GUARD)
    below, above = Context(digits, ROUND_FLOOR), Context(digits, ROUND_CEILING)
    return (
        below.multiply(Decimal(middle - slack), scale),
        above.multiply(Decimal(middle + slack), scale),
    )


def _arctan_of_inverse(x: int, unit: int) -> tuple[int, int]:
    """Σ ± 1/((2i+1) x^(2i+1)) in units, and how many terms were rounded."""
    power, total, i = unit // x, 0, 0
    while power:
        term = power // (2 * i + 1)
        total += -term if i % 2 else term
        power //= x * x
        i += 1
    return total, 3 * i  # a power is off by less than two units, its quotient by one more


pi: Final[Real] = enclosed(pi_interval).named("π", r"\\pi")
