"""Two witnesses for a real number: Arb balls and mpmath intervals, and what they certify.

``certify`` evaluates one expression with Arb and a second expression of the same number with
mpmath's intervals. The two enclosures must meet, and the nearest double is given only when every
point of the first one rounds to it. As a guard against a rational number that slipped through as
"irrational", an enclosure that holds a rational with a small denominator is refused.
"""

from __future__ import annotations

import importlib
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from flint import arb, ctx, fmpq

from .exact import Expr, Node

# Loaded by name because mpmath ships no types: everything from it is Any.
mpmath: Any = importlib.import_module("mpmath")

Interval = tuple[Fraction, Fraction]
DIGITS = 40
FIRST_PRECISION = 400
LAST_PRECISION = 6400
SMALL_DENOMINATOR = 2**48
NARROW = Fraction(1, 2**120)


@cache
def _arb_log(value: Fraction, precision: int) -> arb:
    ctx.prec = precision
    return arb(fmpq(value.numerator, value.denominator)).log()


def _arb(expr: Expr, precision: int) -> arb:
    if isinstance(expr, Fraction):
        return arb(fmpq(expr.numerator, expr.denominator))
    if expr.op == "log" and isinstance(expr.args[0], Fraction):
        return _arb_log(expr.args[0], precision)
    args = [_arb(arg, precision) for arg in expr.args]
    match expr.op:
        case "+":
            result = arb(0)
            for arg in args:
                result = result + arg
        case "*":
            result = arb(1)
            for arg in args:
                result = result * arg
        case "-":
            result = args[0] - args[1] if len(args) == 2 else -args[0]
        case "/":
            result = args[0] / args[1]
        case "^":
            result = args[0] ** _integer(expr.args[1])
        case "log":
            result = args[0].log()
        case "exp":
            result = args[0].exp()
        case "sqrt":
            result = args[0].sqrt()
        case other:
            raise ValueError(f"unknown operation {other!r}")
    return result


def _integer(expr: Expr) -> int:
    assert isinstance(expr, Fraction)
    assert expr.denominator == 1
    return expr.numerator


def arb_enclosure(expr: Expr, precision: int) -> Interval:
    """Rational ends of the Arb ball of an expression."""
    ctx.prec = precision
    ball = _arb(expr, precision)
    assert ball.is_finite(), "the ball is not finite"
    middle, radius = _dyadic(ball.mid()), _dyadic(ball.rad())
    return middle - radius, middle + radius


def _dyadic(value: arb) -> Fraction:
    mantissa, exponent = value.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


@cache
def _iv_rational(value: Fraction, precision: int) -> Any:
    mpmath.iv.prec = precision
    return mpmath.iv.mpf(value.numerator) / mpmath.iv.mpf(value.denominator)


@cache
def _iv_log(value: Fraction, precision: int) -> Any:
    return mpmath.iv.log(_iv_rational(value, precision))


def _iv(expr: Expr, precision: int) -> Any:
    if isinstance(expr, Fraction):
        return _iv_rational(expr, precision)
    if expr.op == "log" and isinstance(expr.args[0], Fraction):
        return _iv_log(expr.args[0], precision)
    return _iv_long(expr, precision) if len(expr.args) > 50 else _iv_node(expr, precision)


@lru_cache(maxsize=64)
def _iv_long(expr: Node, precision: int) -> Any:
    # Long sums (expected information) come back in several values of one table.
    return _iv_node(expr, precision)


def _iv_node(expr: Node, precision: int) -> Any:
    args = [_iv(arg, precision) for arg in expr.args]
    match expr.op:
        case "+":
            result = mpmath.iv.mpf(0)
            for arg in args:
                result = result + arg
        case "*":
            result = mpmath.iv.mpf(1)
            for arg in args:
                result = result * arg
        case "-":
            result = args[0] - args[1] if len(args) == 2 else -args[0]
        case "/":
            result = args[0] / args[1]
        case "^":
            result = args[0] ** _integer(expr.args[1])
        case "log":
            result = mpmath.iv.log(args[0])
        case "exp":
            result = mpmath.iv.exp(args[0])
        case "sqrt":
            result = mpmath.iv.sqrt(args[0])
        case other:
            raise ValueError(f"unknown operation {other!r}")
    return result


def iv_enclosure(expr: Expr, precision: int) -> Interval:
    """Rational ends of the mpmath interval of an expression."""
    mpmath.iv.prec = precision
    low, high = _iv(expr, precision)._mpi_
    return _end(low), _end(high)


def _end(raw: tuple[int, Any, int, int]) -> Fraction:
    sign, mantissa, exponent, _ = raw
    value = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    assert value or exponent == 0, "the interval is not finite"
    return -value if sign else value


def holds_simple_rational(low: Fraction, high: Fraction) -> bool:
    """Whether an interval of positive numbers holds a rational with a small denominator.

    Continued fractions of both ends agree up to the simplest rational between them, so the
    search ends as soon as their common convergent has a large denominator.

    >>> holds_simple_rational(Fraction(31, 100), Fraction(34, 100))
    True
    """
    a, b, c, d = low.numerator, low.denominator, high.numerator, high.denominator
    before, now = 1, 0
    while True:
        whole = a // b
        if a == whole * b or c >= (whole + 1) * d:
            last = whole if a == whole * b else whole + 1
            return before + last * now <= SMALL_DENOMINATOR
        before, now = now, before + whole * now
        if now > SMALL_DENOMINATOR:
            return False
        a, b, c, d = d, c - whole * d, b, a - whole * b


def certify(first: Expr, second: Expr) -> dict[str, str]:
    """Decimal digits, their radius and the nearest double of a number given twice."""
    precision = FIRST_PRECISION
    while precision <= LAST_PRECISION:
        low, high = arb_enclosure(first, precision)
        if low > 0 or high < 0:
            low2, high2 = iv_enclosure(second, precision)
            assert max(low, low2) <= min(high, high2), "the two witnesses disagree"
            unit = _unit((low + high) / 2)
            narrow = high - low < min(unit / 9, NARROW)
            if narrow and float(low) == float(high) and float(low2) == float(high2):
                ends = (low, high) if low > 0 else (-high, -low)
                assert not holds_simple_rational(*ends), "a rational taken for an irrational"
                return written((low + high) / 2, float(low))
        precision *= 2
    raise ArithmeticError("not decided: an exact zero, a midpoint, or too hard to round")


def _exponent(value: Fraction) -> int:
    """The power of ten of the leading digit."""
    value = abs(value)
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    guess = bits * 30103 // 100000
    while value >= Fraction(10) ** (guess + 1):
        guess += 1
    while value < Fraction(10) ** guess:
        guess -= 1
    return guess


def _unit(value: Fraction) -> Fraction:
    return Fraction(10) ** (_exponent(value) - DIGITS + 1)


def written(middle: Fraction, nearest: float) -> dict[str, str]:
    """Forty digits, one unit of the last as radius, and the given nearest double."""
    exponent = _exponent(middle) - DIGITS + 1
    digits = round(middle / Fraction(10) ** exponent)
    decimal = Decimal(digits).scaleb(exponent, Context(prec=DIGITS + 2))
    return {"decimal": str(decimal), "radius": f"1e{exponent}", "binary64": nearest.hex()}


def sign(expr: Expr) -> int:
    """The sign of a number known not to be zero."""
    precision = FIRST_PRECISION
    while precision <= LAST_PRECISION:
        low, high = arb_enclosure(expr, precision)
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        precision *= 2
    raise ArithmeticError("not decided: is it zero?")
