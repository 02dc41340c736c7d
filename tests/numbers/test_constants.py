"""The number π (chapter 05)."""

from __future__ import annotations

from decimal import Decimal

import flint
import mpmath
import pytest

from refclust.numbers.real import exp, log, sqrt
from refclust.numbers.reals.constants import pi, pi_interval


@pytest.mark.spec("NUM-REAL")
@pytest.mark.parametrize("digits", [1, 2, 10, 30, 60, 1000, 5000])
def test_the_interval_holds_pi_and_is_narrow(digits: int) -> None:
    low, high = pi_interval(digits)
    with mpmath.workdps(digits + 20):
        assert mpmath.mpf(str(low)) < mpmath.pi < mpmath.mpf(str(high))
    assert high - low == Decimal(10) ** (1 - digits)


@pytest.mark.spec("NUM-REAL", "NUM-DIGITS")
def test_pi_in_expressions() -> None:
    assert (float(pi), float(sqrt(2 * pi)), float(exp(-0.5) / sqrt(2 * pi))) == (
        3.141592653589793,
        2.5066282746310007,
        0.24197072451914334,
    )
    assert pi - pi == 0
    assert (pi / 3) * 3 == pi
    assert log(pi**2) > 2
    flint.ctx.dps = 60
    assert flint.arb(pi.digits(50)).overlaps(flint.arb.pi() + flint.arb(0, "1e-49"))
