"""Expressions read by three arithmetics: ours, flint's balls, mpmath's intervals.

An expression is a tuple of an operation and its arguments. What the judges need of flint are the
exact ends of a ball; they round by comparing fractions, so nothing is shared with the code under
test.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any, TypeAlias, TypeVar

import mpmath
from flint import arb, ctx

from refclust.numbers.real import Real, exp, log, sqrt, total
from tests.numbers.witness import is_nearest, rational

Expression: TypeAlias = tuple[Any, ...]
Ends: TypeAlias = tuple[Fraction, Fraction]
Answer = TypeVar("Answer")

MOST_BITS = 12_800


def as_real(x: Expression) -> Real:
    """The expression as a tree of ours."""
    op, *args = x
    if op == "leaf":
        return Real(args[0])
    if op == "power":
        base, exponent = as_real(args[0]), int(args[1])
        return base**exponent
    parts = [as_real(arg) for arg in args]
    one: dict[str, Callable[[Real], Real]] = {"log": log, "exp": exp, "sqrt": sqrt}
    if op in one:
        return one[op](parts[0])
    if op == "total":
        return total(parts)
    left, right = parts
    if op == "+":
        return left + right
    if op == "-":
        return left - right
    return left * right if op == "*" else left / right


def _evaluate(x: Expression, leaf: Callable[[Fraction], Any], functions: Any) -> Any:
    op, *args = x
    if op == "leaf":
        return leaf(Fraction(args[0]))
    if op == "power":
        return _evaluate(args[0], leaf, functions) ** args[1]
    parts = [_evaluate(arg, leaf, functions) for arg in args]
    if op in ("log", "exp", "sqrt"):
        return functions[op](parts[0])
    if op == "total":
        result = leaf(Fraction())
        for part in parts:
            result = result + part
        return result
    left, right = parts
    if op == "+":
        return left + right
    if op == "-":
        return left - right
    return left * right if op == "*" else left / right


_BALLS = {"log": arb.log, "exp": arb.exp, "sqrt": arb.sqrt}


def ends(x: Expression, bits: int) -> Ends | None:
    """The exact ends of flint's ball, or nothing where it is not finite."""
    old = ctx.prec
    ctx.prec = bits
    try:
        ball = _evaluate(x, lambda value: arb(rational(value)), _BALLS)
        if not ball.is_finite():
            return None
        middle, radius = (_dyadic(part) for part in (ball.mid(), ball.rad()))
        return middle - radius, middle + radius
    finally:
        ctx.prec = old


def _dyadic(exact: Any) -> Fraction:
    mantissa, exponent = exact.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def mpmath_ends(x: Expression, digits: int) -> Ends:
    """The exact ends of mpmath's interval; much slower than flint."""
    iv = mpmath.iv
    old = iv.dps
    iv.dps = digits
    try:
        functions = {"log": iv.log, "exp": iv.exp, "sqrt": iv.sqrt}
        found = _evaluate(x, lambda v: iv.mpf(v.numerator) / iv.mpf(v.denominator), functions)
        low, high = found._mpi_
        return _raw(low), _raw(high)
    finally:
        iv.dps = old


def _raw(value: tuple[int, int, int, int]) -> Fraction:
    negative, mantissa, exponent, _ = value
    size = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -size if negative else size


def agreed(x: Expression, reading: Callable[[Fraction], Answer]) -> Answer:
    """A monotone reading of the expression: of a ball narrowed until both ends say the same.

    A ball around a rational tie never settles it; rational arithmetic is done without balls.
    """
    exact = rational_value(x)
    if exact is not None:
        return reading(exact)
    bits = 200
    while bits <= MOST_BITS:
        found = ends(x, bits)
        if found is not None and reading(found[0]) == reading(found[1]):
            return reading(found[0])
        bits *= 2
    raise AssertionError(f"no ball settles {x}")


def rational_value(x: Expression) -> Fraction | None:
    """The value of an expression without functions."""
    try:
        value: Fraction = _evaluate(x, lambda value: value, {})
    except KeyError:
        return None
    return value


def is_nearest_double(x: Expression, double: float) -> bool:
    """Whether the double is the one nearest to the expression."""

    def side(end: Fraction) -> int:
        if is_nearest(double, end):
            return 0
        return 1 if end > Fraction(double) else -1

    return agreed(x, side) == 0


def is_digits(x: Expression, count: int, text: str) -> bool:
    """Whether the text is the expression rounded to so many significant digits."""
    return agreed(x, lambda end: rounded(end, count)) == Fraction(Decimal(text))


def sign_of(x: Expression) -> int:
    """The sign of an expression that is not zero."""
    return 1 if agreed(x, lambda end: end > 0) else -1


def rounded(value: Fraction, count: int) -> Fraction:
    """A fraction rounded to significant digits by integer arithmetic, ties to the even digit."""
    if not value:
        return value
    size = abs(value)
    exponent = len(str(size.numerator)) - len(str(size.denominator))
    if size < Fraction(10) ** exponent:
        exponent -= 1
    unit = Fraction(10) ** (exponent - count + 1)
    steps, rest = divmod(size / unit, 1)
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and steps % 2):
        steps += 1
    return steps * unit * (1 if value > 0 else -1)


# -- generating ---------------------------------------------------------------------------------


def below(rng: Random, bound: int) -> int:
    """An index below the bound."""
    return int(rng.random() * bound)


def leaf(rng: Random) -> Expression:
    """A rational leaf: small integers, probabilities, numbers near 1, long ones."""
    kind = below(rng, 6)
    if kind == 0:
        return ("leaf", Fraction(1 + below(rng, 12)))
    if kind == 1:
        bottom = 1 + below(rng, 300)
        return ("leaf", Fraction(1 + below(rng, bottom), bottom))
    if kind == 2:
        big = 10 ** below(rng, 25) + below(rng, 1000) + 1
        return ("leaf", Fraction(big, big - 1 - below(rng, 2) if big > 3 else 1))
    if kind == 3:
        return ("leaf", Fraction(-1 - below(rng, 20), 1 + below(rng, 9)))
    if kind == 4:
        return ("leaf", Fraction(math.ldexp(rng.random() + 0.5, below(rng, 40) - 20)))
    return ("leaf", Fraction(below(rng, 10**12) + 1, below(rng, 10**12) + 1))


def tree(rng: Random, depth: int) -> Expression:
    """A random expression that has a value, of moderate size, and is not known to be 0."""
    while True:
        made = _tree(rng, depth)
        found = ends(made, 200)
        if found is not None:
            low, high = found
            if max(abs(low), abs(high)) < 10**30 and (low > 10**-30 or high < -(10**-30)):
                return made


def _tree(rng: Random, depth: int) -> Expression:
    if depth == 0 or rng.random() < 0.1:
        return leaf(rng)
    kind = below(rng, 9)
    first = tree(rng, depth - 1)
    found = ends(first, 200)
    assert found is not None
    low, high = found
    if kind == 0:
        return ("power", first, below(rng, 9) - 4)
    if kind == 1 and low > 0:
        return ("log", first)
    if kind == 2 and low > 0:
        return ("sqrt", first)
    if kind == 3 and low > -60 and high < 60:
        return ("exp", first)
    if kind == 4:
        return ("total", first, *(tree(rng, depth - 1) for _ in range(below(rng, 4))))
    op = "+-*/"[below(rng, 4)]
    return (op, first, tree(rng, depth - 1))


def entropy(rng: Random, most: int = 6) -> Expression:
    """A sum of rational multiples of logarithms of rationals."""
    terms = []
    for _ in range(1 + below(rng, most)):
        top, bottom = 1 + below(rng, 50), 1 + below(rng, 50)
        sign = -1 if rng.random() < 0.3 else 1
        weight = Fraction(sign * (1 + below(rng, 30)), 1 + below(rng, 30))
        terms.append(("*", ("leaf", weight), ("log", ("leaf", Fraction(top + bottom, bottom)))))
    return ("total", *terms)


def metric_like(rng: Random) -> Expression:
    """The shapes of metrics: forms in logarithms, their ratios, cosines, quadratic surds."""
    while True:
        kind = below(rng, 4)
        first, second = entropy(rng), entropy(rng)
        made: Expression
        if kind == 0:
            made = first
        elif kind == 1:
            made = ("/", first, second)
        elif kind == 2:
            made = ("/", first, ("sqrt", ("*", second, entropy(rng))))
        else:
            root = ("sqrt", ("leaf", Fraction(below(rng, 500) + 2)))
            made = ("/", ("+", leaf(rng), ("*", leaf(rng), root)), leaf(rng))
        found = ends(made, 300)
        if found is not None and (found[0] > 0 or found[1] < 0):
            return made


def contains(low: Decimal, high: Decimal, x: Expression) -> bool:
    """Whether the expression lies between two decimals, as far as 400 bits can tell."""
    found = ends(x, 400)
    assert found is not None
    return Fraction(low) <= found[1] and found[0] <= Fraction(high)
