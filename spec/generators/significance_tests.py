"""Tests of significance from their definitions: all signs, all exchanges, special functions of Arb.

Laws are evaluated by Arb's incomplete gamma and beta functions, never by the finite sums of the
clauses, and looked at again with mpmath.
"""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from flint import acb, arb, ctx

from .values import Infinite, Json, Undefined, Value, encode
from .vectors_common import ball, ball_compare, middle, nearest_double

# Loaded by name because mpmath ships no types: everything from it is Any.
mpmath: Any = importlib.import_module("mpmath")

F = Fraction
PRECISION = 2000
RANGE_PRECISION = 280
DIGITS = 40


def number(value: arb, again: Any) -> dict[str, Json]:
    """A ball as JSON, once mpmath has said the same."""
    exact = middle(value)
    assert abs(F(str(mpmath.nstr(again, 60))) - exact) <= abs(exact) * F(1, 10**45), "witnesses"
    nearest = nearest_double(float(exact), ball_compare(value))
    assert nearest is not None
    context = Context(prec=DIGITS)
    decimal = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    exponent = decimal.as_tuple().exponent
    assert isinstance(exponent, int)
    return {
        "binary64": nearest.hex(),
        "decimal": str(decimal),
        "radius": f"1e{exponent}",
    }


def _mp(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def normal(z: Fraction) -> dict[str, Json]:
    """Both tails of the normal law beyond z."""
    ctx.prec, mpmath.mp.dps = PRECISION, 200
    if z == 0:
        return encode(F(1))
    squared = ball(z * z / 2)
    return number(squared.sqrt().erfc(), mpmath.erfc(mpmath.sqrt(_mp(z * z / 2))))


def normal_of_square(z_squared: Fraction) -> dict[str, Json]:
    """Both tails of the normal law beyond the root of a rational."""
    ctx.prec, mpmath.mp.dps = PRECISION, 200
    if z_squared == 0:
        return encode(F(1))
    return number(ball(z_squared / 2).sqrt().erfc(), mpmath.erfc(mpmath.sqrt(_mp(z_squared / 2))))


def chi_squared(x: Fraction, df: int) -> dict[str, Json]:
    """The tail of the chi-squared law."""
    ctx.prec, mpmath.mp.dps = PRECISION, 200
    if x == 0:
        return encode(F(1))
    upper = ball(x / 2).gamma_upper(ball(F(df, 2)), regularized=1)
    return number(upper, mpmath.gammainc(_mp(F(df, 2)), _mp(x / 2), regularized=True))


def beta(x: Fraction, a: Fraction, b: Fraction) -> dict[str, Json]:
    """The share of the beta law below x, a rational where both parameters are whole."""
    ctx.prec, mpmath.mp.dps = PRECISION, 200
    if x in (0, 1):
        return encode(x)
    if a.denominator == b.denominator == 1:
        n = int(a + b) - 1
        chances = (math.comb(n, j) * x**j * (1 - x) ** (n - j) for j in range(int(a), n + 1))
        return encode(sum(chances, F(0)))
    lower = ball(x).beta_lower(ball(a), ball(b), regularized=1)
    return number(lower, mpmath.betainc(_mp(a), _mp(b), 0, _mp(x), regularized=True))


def student(t_squared: Fraction, df: int) -> dict[str, Json]:
    """Both tails of Student's law."""
    return beta(F(df) / (df + t_squared), F(df, 2), F(1, 2))


def fisher(f: Fraction, df: int, below: int) -> dict[str, Json]:
    """The tail of Fisher's law."""
    return beta(F(below) / (below + df * f), F(below, 2), F(df, 2))


def _range_share(q: arb, k: int) -> arb:
    """The chance that k normal numbers lie within q of each other, by Arb's own integration."""
    root_2, root_2pi = arb(2).sqrt(), (2 * arb.pi()).sqrt()

    def below(z: acb) -> acb:
        return (-z / root_2).erfc() / 2

    def inside(z: acb, _: bool) -> acb:
        return (-z * z / 2).exp() / root_2pi * (below(z) - below(z - q)) ** (k - 1)

    whole = acb.integral(inside, acb(-40), acb(40))
    assert whole.imag.contains(0)
    return k * whole.real + arb(0, 1e-300)  # beyond 40 lies less than that


def range_tail(q_squared: Fraction, k: int) -> dict[str, Json]:
    """The chance that the range of k normal numbers exceeds the root of a rational."""
    ctx.prec, mpmath.mp.dps = RANGE_PRECISION, 75
    if q_squared == 0:
        return encode(F(1))
    return number(1 - _range_share(ball(q_squared).sqrt(), k), _range_again(_mp(q_squared), k))


def _range_again(q_squared: Any, k: int) -> Any:
    """The same tail by mpmath, as a plain sum over equidistant places."""
    q = mpmath.sqrt(q_squared)

    def share(z: Any) -> Any:
        return mpmath.ncdf(z) - mpmath.ncdf(z - q)

    # Sums of step 1/24 up to 18: what they leave out is below 10^-65.
    steps = [mpmath.mpf(j) / 24 for j in range(-24 * 18, 24 * 18 + 1)]
    return 1 - k * sum(mpmath.npdf(z) * share(z) ** (k - 1) for z in steps) / 24


def _coarse_tail(q: Any, k: int) -> Any:
    """The tail to some twelve digits, for finding where to look."""
    steps = [mpmath.mpf(j) / 16 for j in range(-160, 161)]
    with mpmath.workdps(20):
        shares = [(mpmath.ncdf(z) - mpmath.ncdf(z - q)) ** (k - 1) for z in steps]
        return 1 - k * sum(mpmath.npdf(z) * s for z, s in zip(steps, shares, strict=True)) / 16


def range_point(alpha: Fraction, k: int, factor_squared: Fraction) -> dict[str, Json]:
    """Where the tail of the range is alpha, times the root of a rational."""
    ctx.prec, mpmath.mp.dps = RANGE_PRECISION, 75
    q = mpmath.findroot(lambda x: _coarse_tail(x, k) - float(alpha), (2.0, 4.0), tol=1e-12)
    slope = (_coarse_tail(q + 1e-4, k) - _coarse_tail(q - 1e-4, k)) / mpmath.mpf("2e-4")
    while abs(gap := _range_again(q * q, k) - _mp(alpha)) > mpmath.mpf(10) ** -58:
        q -= gap / slope
    point, off = F(mpmath.nstr(q, 60)), F(1, 10**52)
    above, below = (1 - _range_share(ball(point + side * off), k) for side in (-1, 1))
    assert above > ball(alpha) > below, "Arb does not find the point there"
    enclosed = ball(point) + arb(0, 1e-52)
    factor = ball(factor_squared).sqrt()
    return number(enclosed * factor, q * mpmath.sqrt(_mp(factor_squared)))


def flips(differences: Sequence[Fraction]) -> Fraction:
    """The share of all signs that give a sum as far from zero."""
    observed = abs(sum(differences, F(0)))
    sums = [
        sum((s * d for s, d in zip(signs, differences, strict=True)), F(0))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return F(sum(abs(s) >= observed for s in sums), len(sums))


def ranks(values: Sequence[Fraction]) -> list[Fraction]:
    """One plus how many are smaller, and half of how many others are equal."""
    return [1 + sum(y < x for y in values) + F(sum(y == x for y in values) - 1, 2) for x in values]


def two_tailed_wins(b: int, c: int) -> Fraction:
    """The exact chance of wins as uneven, by every outcome of b + c fair coins."""
    n, observed = b + c, abs(b - c)
    ways = sum(math.comb(n, j) for j in range(n + 1) if abs(n - 2 * j) >= observed)
    return F(ways, 2**n)


def mid_p(b: int, c: int) -> Fraction:
    """The same, with half of the chance of an outcome as uneven as the observed one."""
    n, observed = b + c, abs(b - c)
    beyond = sum(math.comb(n, j) for j in range(n + 1) if abs(n - 2 * j) > observed)
    level = sum(math.comb(n, j) for j in range(n + 1) if abs(n - 2 * j) == observed)
    return F(beyond, 2**n) + F(level, 2**n) / (1 if b == c else 2)


def quotient(top: Fraction, bottom: Fraction) -> Value:
    """A quotient under the one rule."""
    if bottom:
        return top / bottom
    return Infinite() if top else Undefined()


def holm(p: Sequence[Fraction]) -> list[Fraction]:
    """For each hypothesis the least level at which the step-down procedure rejects it."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    levels = []
    for i in range(len(p)):
        needed = [
            min(F(1), (len(p) - place) * p[j])
            for place, j in enumerate(order)
            if place <= order.index(i)
        ]
        levels.append(max(needed))
    return levels
