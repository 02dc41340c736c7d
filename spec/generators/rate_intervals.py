"""Ends of intervals of rates by two witnesses: bisection with Arb's functions, and mpmath's.

Quantiles are enclosed by bisection over rationals with Arb's error and incomplete beta functions;
Wilson's ends as the roots of their quadratic equation. mpmath solves the same equations again.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from .significance_tests import _mp, number
from .values import Json, encode
from .vectors_common import ball

# Loaded by name because mpmath ships no types: everything from it is Any.
mpmath: Any = importlib.import_module("mpmath")

F = Fraction
BITS = 400


def _bisected(rising: Callable[[arb], arb], low: Fraction, high: Fraction) -> arb:
    for _ in range(BITS):
        middle = (low + high) / 2
        value = rising(ball(middle))
        if value > 0:
            high = middle
        elif value < 0:
            low = middle
        else:
            return ball(middle)  # exactly there
    return ball(low).union(ball(high))


def _precise() -> None:
    ctx.prec, mpmath.mp.dps = 2 * BITS, 110


def z_of(level: Fraction) -> tuple[arb, Any]:
    """The quantile, by both."""
    _precise()
    alpha = ball(1 - level)
    root = _bisected(lambda x: alpha - (x / arb(2).sqrt()).erfc(), F(0), F(64))
    # The inverse by Newton's steps from the double, doubling digits each time.
    guess = mpmath.mpf(float(root))
    for _ in range(9):
        gap = mpmath.erfc(guess / mpmath.sqrt(2)) - _mp(1 - level)
        guess += gap / (mpmath.sqrt(2 / mpmath.pi) * mpmath.exp(-guess * guess / 2))
    return root, guess


def quantile(level: Fraction) -> dict[str, Json]:
    """The normal quantile of a level."""
    return number(*z_of(level))


def wilson(k: int, n: int, level: Fraction, correction: Fraction) -> dict[str, Json]:
    """Roots of (p̂ ± c − p)² = z² p(1 − p)/n, the outer ones."""
    z, again = z_of(level)
    ends: list[Json] = []
    for side in (-1, 1):
        if (side < 0 and k == 0) or (side > 0 and k == n):
            ends.append(encode(F(side > 0)))
            continue
        shifted = F(k, n) + side * correction
        pair = []
        for zz, r in ((z, ball(shifted)), (again, _mp(shifted))):
            # (1 + z²/n) p² − (2r + z²/n) p + r² = 0
            w = zz * zz / n
            a, b, c = 1 + w, 2 * r + w, r * r
            disc = (
                (b * b - 4 * a * c).sqrt() if isinstance(b, arb) else mpmath.sqrt(b * b - 4 * a * c)
            )
            pair.append((b + side * disc) / (2 * a))
        if not 0 <= float(pair[1]) <= 1:
            ends.append(encode(F(side > 0)))
        else:
            ends.append(number(*pair))
    return {"list": ends}


def around(k: int, n: int, level: Fraction, *, more: bool) -> dict[str, Json]:
    """Wald's interval; with ``more``, after z² trials more."""
    z, again = z_of(level)
    ends: list[Json] = []
    for side in (-1, 1):
        pair = []
        for zz, root in ((z, lambda x: x.sqrt()), (again, mpmath.sqrt)):
            whole = zz * zz if more else zz * 0
            trials, wins = n + whole, k + whole / 2
            variance = wins * (trials - wins) / trials**3
            pair.append(wins / trials + side * zz * root(variance))
        if not more and k in (0, n):
            ends.append(encode(F(k, n)))
        else:
            ends.append(number(*pair))
    return {"list": ends}


def beta_ends(k: int, n: int, level: Fraction, half: Fraction) -> dict[str, Json]:
    """Quantiles of beta laws: whole parameters (Clopper and Pearson) or halves (Jeffreys)."""
    _precise()
    alpha = (1 - level) / 2
    lower = (F(k), F(n - k + 1)) if half == 0 else (k + half, n - k + half)
    upper = (F(k + 1), F(n - k)) if half == 0 else (k + half, n - k + half)
    ends: list[Json] = []
    for (a, b), share, trivial in ((lower, alpha, k == 0), (upper, 1 - alpha, k == n)):
        if trivial:
            ends.append(encode(F(share > F(1, 2))))
            continue
        root = _bisected(_law(a, b, share), F(0), F(1))
        again = mpmath.findroot(
            lambda x, a=a, b=b, s=share: (
                mpmath.betainc(_mp(a), _mp(b), 0, x, regularized=True) - _mp(s)
            ),
            mpmath.mpf(float(root)),
            tol=mpmath.mpf(10) ** -180,
        )
        ends.append(number(root, mpmath.re(again)))
    return {"list": ends}


def _law(a: Fraction, b: Fraction, share: Fraction) -> Callable[[arb], arb]:
    return lambda x: x.beta_lower(ball(a), ball(b), regularized=1) - ball(share)


def resampled(k: int, n: int, level: Fraction) -> dict[str, Json]:
    """Percentiles of the share of successes among n draws of n, by convolving one draw n times."""
    law = [F(1)]
    for _ in range(n):
        law = [
            (law[j] if j < len(law) else F(0)) * F(n - k, n) + (law[j - 1] if j else F(0)) * F(k, n)
            for j in range(len(law) + 1)
        ]
    ends: list[Json] = []
    for share in ((1 - level) / 2, (1 + level) / 2):
        j = next(j for j in range(n + 1) if sum(law[: j + 1], F(0)) >= share)
        ends.append(encode(F(j, n)))
    return {"list": ends}
