"""Numbers of the k-means witness: rounding a rational or a root, and sums of square roots.

Every rounding is done twice: by integer division or integer square root, and by comparison with
the midpoints on both sides of the double found. Sums of square roots are compared exactly: roots
whose ratio is rational are collected, and roots that are left are linearly independent over the
rationals, so the sum is zero only if nothing is left; otherwise balls tell its sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from .balls import certify, written
from .balls import sign as sign_of
from .exact import Expr, Node, square_root
from .values import Json
from .vectors_common import nearest_double, sign

LONG = 60  # characters; a longer fraction is written by its digits
SHORT = 22


class Refusal(Exception):
    """The input is refused with an error code of chapter 90."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def nearest(value: Fraction) -> float:
    """The nearest double of a rational (NUM-NEAR).

    >>> nearest(Fraction(1, 10))
    0.1
    """
    try:
        divided = value.numerator / value.denominator + 0.0
    except OverflowError:
        raise Refusal("not-finite") from None
    walked = nearest_double(divided, lambda other: sign(value - other))
    assert walked == divided, "the two ways of rounding differ"
    return divided


def nearest_root(square: Fraction) -> float:
    """The nearest double of the square root of a rational (NUM-NEAR).

    >>> nearest_root(Fraction(2))
    1.4142135623730951
    """
    if not square:
        return 0.0
    shift = max(0, 120 - square.numerator.bit_length() + square.denominator.bit_length())
    shift += 2200  # deep enough for subnormal roots
    top = square.numerator << 2 * shift
    whole = isqrt(top // square.denominator)
    rest = whole * whole * square.denominator != top
    # A quarter of a unit stands for what was cut off: it is never on or across a midpoint.
    found = nearest(Fraction(4 * whole + rest, 4 << shift))
    walked = nearest_double(found, lambda other: sign(square - other * abs(other)))
    assert walked == found, "the two ways of rounding differ"
    return found


@dataclass(frozen=True, slots=True)
class Roots:
    """A sum of rationals times square roots of positive rationals."""

    terms: tuple[tuple[Fraction, Fraction], ...]  # factor, square under the root

    def __add__(self, other: Roots) -> Roots:
        """The sum."""
        return Roots(self.terms + other.terms)

    def times(self, factor: Fraction) -> Roots:
        """The sum multiplied by a rational."""
        return Roots(tuple((factor * a, square) for a, square in self.terms))

    def collected(self) -> Roots:
        """The same with roots of rational ratio put together, zeros left out."""
        kept: list[tuple[Fraction, Fraction]] = []
        for factor, square in self.terms:
            for place, (a, other) in enumerate(kept):
                ratio = square_root(square / other)
                if ratio is not None:
                    kept[place] = (a + factor * ratio, other)
                    break
            else:
                kept.append((factor, square))
        return Roots(tuple((a, square) for a, square in kept if a))

    def expr(self) -> Expr:
        """The sum written out, for balls and intervals."""
        return Node("+", tuple(Node("*", (a, Node("sqrt", (q,)))) for a, q in self.terms))

    def sign(self) -> int:
        """-1, 0 or 1, decided."""
        collected = self.collected()
        return sign_of(collected.expr()) if collected.terms else 0

    def encoded(self, second: Roots) -> dict[str, Json]:
        """The value as JSON; the second sum is the same number on another road."""
        collected = self.collected()
        if not collected.terms:
            return rational(Fraction(0))
        if len(collected.terms) == 1:
            (factor, square) = collected.terms[0]
            root = square_root(square)
            if root is not None:
                return rational(factor * root)
        return {**certify(collected.expr(), second.expr())}


def rational(value: Fraction) -> dict[str, Json]:
    """A rational of which the nearest double is asked."""
    double = nearest(value)
    if len(str(value)) > LONG:
        return {**written(value, double), "rational": True} if value else {"exact": "0"}
    result: dict[str, Json] = {"exact": str(value)}
    if Fraction(double) != value:
        result["binary64"] = short_hex(double)
    return result


def double(value: Fraction) -> dict[str, Json]:
    """A number that is itself a double: a component of a centre."""
    assert Fraction(nearest(value)) == value, "not a double"
    if len(str(value)) <= SHORT:
        return {"exact": str(value)}
    return {"binary64": short_hex(nearest(value))}


def whole(value: int | Fraction) -> dict[str, Json]:
    """A label, a count, a sum of weights."""
    return {"exact": str(value)}


def listed(values: Sequence[dict[str, Json]]) -> dict[str, Json]:
    """Several values in order."""
    return {"list": [*values]}


def short_hex(value: float) -> str:
    """A double in hexadecimal without needless zeros.

    >>> short_hex(1.5), short_hex(0.0)
    ('0x1.8p+0', '0x0p+0')
    """
    mantissa, _, exponent = value.hex().partition("p")
    return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}p{exponent}"
