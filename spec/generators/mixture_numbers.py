"""Two arithmetics for the vectors of mixtures, and how a value with its bound is written.

The first witness is Arb with matrices inverted as they stand, sums of exponentials taken as they
stand and raw moments; the second is mpmath's intervals with triangular factors, shifted exponents
and centred moments. Where a value is rational (given labels or shares), fractions decide it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, arb_mat, ctx

from .values import Json
from .values import encode as encode_value
from .vectors_common import (
    ball,
    ball_compare,
    encode_irrational,
    interval,
    middle,
    mpmath,
    rounded_up,
    witnesses_meet,
)

# Offsets of 1e9 cost raw moments 60 bits, and the decimals need 140.
PRECISION = 512
NEVER = -math.inf
SPECK = arb(10) ** -330
Quadratic = Callable[[Sequence[Any]], Any]


@dataclass(frozen=True, slots=True)
class Field:
    """One arithmetic: numbers from rationals, and the functions of them."""

    name: str
    of: Callable[[Fraction], Any]
    log: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    pi: Callable[[], Any]

    def total(self, terms: Sequence[Any]) -> Any:
        """The sum of terms."""
        result = self.of(Fraction(0))
        for term in terms:
            result = result + term
        return result


def _no(_: Any) -> Any:
    raise ArithmeticError("a rational was expected")


BALLS = Field("arb", ball, arb.log, arb.exp, arb.pi)
INTERVALS = Field(
    "mpmath", interval, mpmath.iv.log, mpmath.iv.exp, lambda: mpmath.iv.mpf(1) * mpmath.iv.pi
)
EXACT = Field("fractions", lambda value: value, _no, _no, lambda: _no(None))
WITNESSES = (BALLS, INTERVALS)


def use_precision() -> None:
    """Set both witnesses to the precision of these vectors."""
    ctx.prec = mpmath.iv.prec = PRECISION


def log_sum(field: Field, logs: Sequence[Any]) -> Any:
    """The logarithm of a sum of exponentials; entries that are never there are -inf."""
    kept = [x for x in logs if x is not NEVER]
    if not kept:
        return NEVER
    if field is BALLS:
        return field.log(field.total([field.exp(x) for x in kept]))
    peak = max(kept, key=float_of)
    return peak + field.log(field.total([field.exp(x - peak) for x in kept]))


def prepared(field: Field, matrix: Sequence[Sequence[Any]]) -> tuple[Quadratic, Any]:
    """The map x -> x' S^-1 x and the logarithm of the determinant of S."""
    return _inverted(matrix) if field is BALLS else _factored(field, matrix)


def _inverted(matrix: Sequence[Sequence[Any]]) -> tuple[Quadratic, Any]:
    d = len(matrix)
    whole = arb_mat(d, d, [x for line in matrix for x in line])
    inverse = whole.inv()

    def quadratic(x: Sequence[Any]) -> Any:
        terms = [x[i] * inverse[i, j] * x[j] for i in range(d) for j in range(d)]
        return BALLS.total(terms)

    return quadratic, whole.det().log()


def _factored(field: Field, matrix: Sequence[Sequence[Any]]) -> tuple[Quadratic, Any]:
    d, sqrt = len(matrix), mpmath.iv.sqrt
    lower: list[list[Any]] = []
    for i in range(d):
        line: list[Any] = []
        for j in range(i + 1):
            known = lower[j] if j < i else line
            rest = matrix[i][j] - field.total([line[t] * known[t] for t in range(j)])
            line.append(sqrt(rest) if i == j else rest / lower[j][j])
        lower.append(line)

    def quadratic(x: Sequence[Any]) -> Any:
        z: list[Any] = []
        for i in range(d):
            rest = x[i] - field.total([lower[i][t] * z[t] for t in range(i)])
            z.append(rest / lower[i][i])
        return field.total([one * one for one in z])

    return quadratic, field.total([2 * field.log(lower[i][i]) for i in range(d)])


def float_of(value: Any) -> float:
    """The middle of a ball or of an interval, or a fraction, as a double."""
    if isinstance(value, Fraction | float):
        return float(value)
    return float(value.mid()) if isinstance(value, arb) else float(value.mid)


def floats_of(values: Any) -> Any:
    """The same, list by list."""
    return [floats_of(one) for one in values] if isinstance(values, list) else float_of(values)


def encode(first: Any, second: Any, bound: Any, exact: Any = None) -> dict[str, Json]:
    """A value, or lists of them, by both witnesses, with what an answer may be off.

    What is exactly zero or never there is a fraction or -inf in both, and has to be met exactly.
    """
    if isinstance(first, list):
        rationals = [None] * len(first) if exact is None else exact
        parts = zip(first, second, bound, rationals, strict=True)
        return {"list": [encode(*part) for part in parts]}
    if first is NEVER:
        assert second is NEVER
        return {"infinite": "-"}
    if isinstance(first, Fraction):
        assert first == second
        return encode_value(first)
    allowed = rounded_up(Fraction(bound))
    if exact is not None:
        assert first.overlaps(ball(exact)), "the rational is not what the balls found"
        assert 0 in second - interval(exact), "the rational is not what the intervals found"
        return {**encode_value(exact), "bound": allowed}
    if abs(first) < SPECK:
        # Far below the least double; its digits would take a million places to tell.
        assert abs(second) < mpmath.iv.mpf("1e-330")
        return {"decimal": "0", "radius": "1e-330", "binary64": (0.0).hex(), "bound": allowed}
    assert witnesses_meet(first, second), "the two witnesses disagree"
    return {**encode_irrational(first, ball_compare(first)), "bound": allowed}


def encode_wrong(value: Any, right: Any, bound: Any) -> dict[str, Json]:
    """What a misprint gives: somewhere it must be further off than four bounds."""
    assert _apart(value, right, bound), "the misprint would pass"
    return _written(value)


def _apart(value: Any, right: Any, bound: Any) -> bool:
    if isinstance(value, list):
        return any(_apart(*part) for part in zip(value, right, bound, strict=True))
    if value is NEVER or right is NEVER:
        return value is not right
    return abs(_fraction(value) - _fraction(right)) > 4 * Fraction(bound)


def _fraction(value: Any) -> Fraction:
    return value if isinstance(value, Fraction) else middle(value)


def _written(value: Any) -> dict[str, Json]:
    if isinstance(value, list):
        return {"list": [*map(_written, value)]}
    if value is NEVER:
        return {"infinite": "-"}
    if isinstance(value, Fraction):
        return encode_value(value)
    return encode_irrational(value, ball_compare(value))


def told(value: float) -> str:
    """A double as the files write it: an integer, or hexadecimal."""
    value = float(value)
    whole = value.is_integer() and abs(value) < 2**53
    return str(int(value)) if whole else value.hex()


def told_rows(rows: Sequence[Sequence[float]]) -> list[Json]:
    """Rows of doubles as the files write them."""
    return [[told(x) for x in row] for row in rows]
