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

from flint import arb, ctx

from .values import Infinite, Json, Undefined, Value, encode
from .vectors_common import ball, ball_compare, middle, nearest_double

# Loaded by name because mpmath ships no types: everything from it is Any.
mpmath: Any = importlib.import_module("mpmath")

F = Fraction
PRECISION = 2000
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
