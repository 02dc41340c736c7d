"""The values a metric can take, the one division rule, and how they are written as JSON.

Rule: 0/0 is undefined, anything else over 0 is infinite. A quotient of logarithms or roots that is
rational is given as that rational.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .balls import certify, sign, written
from .exact import ZERO_LOGS, Expr, Logs, Node, square_root


@dataclass(frozen=True, slots=True)
class Undefined:
    """Zero over zero."""


@dataclass(frozen=True, slots=True)
class Infinite:
    """A non-zero number over zero."""

    negative: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """The metric refuses this input with an error code."""

    code: str


@dataclass(frozen=True, slots=True)
class Irrational:
    """One number by two roads: the first for Arb, the second for mpmath."""

    first: Expr
    second: Expr


Value = Fraction | Undefined | Infinite | Failure | Irrational | tuple["Value", ...]


@dataclass(frozen=True, slots=True)
class Info:
    """A logarithmic quantity: exactly over prime logarithms, and as its definition reads."""

    exact: Logs
    written: Expr

    def __add__(self, other: Info) -> Info:
        """The sum."""
        return Info(
            Logs.total([(Fraction(1), self.exact), (Fraction(1), other.exact)]),
            Node("+", (self.written, other.written)),
        )

    def __sub__(self, other: Info) -> Info:
        """The difference."""
        return Info(
            Logs.total([(Fraction(1), self.exact), (Fraction(-1), other.exact)]),
            Node("-", (self.written, other.written)),
        )

    def times(self, factor: Fraction) -> Info:
        """The quantity multiplied by a rational."""
        return Info(Logs.total([(factor, self.exact)]), Node("*", (factor, self.written)))

    @property
    def zero(self) -> bool:
        """Whether it is exactly zero."""
        return self.exact.zero

    def value(self) -> Value:
        """The quantity as a value: zero is rational, everything else is not."""
        return Fraction(0) if self.zero else Irrational(self.exact.expr(), self.written)


ZERO = Info(ZERO_LOGS, Fraction(0))


def log(value: Fraction) -> Info:
    """The natural logarithm of a positive rational."""
    return Info(Logs.of(value), Node("log", (value,)))


def divide(top: Fraction, bottom: Fraction) -> Value:
    """A quotient of rationals under the one rule.

    >>> divide(Fraction(0), Fraction(0))
    Undefined()
    """
    if bottom:
        return top / bottom
    return Infinite(top < 0) if top else Undefined()


def divide_info(top: Info, bottom: Info) -> Value:
    """A quotient of logarithmic quantities."""
    if bottom.zero:
        return Undefined() if top.zero else Infinite(sign(top.exact.expr()) < 0)
    ratio = top.exact.ratio(bottom.exact)
    if ratio is not None:
        return ratio
    return Irrational(
        Node("/", (top.exact.expr(), bottom.exact.expr())),
        Node("/", (top.written, bottom.written)),
    )


def divide_root(top: Fraction, square: Fraction) -> Value:
    """``top / sqrt(square)``.

    >>> divide_root(Fraction(1), Fraction(4))
    Fraction(1, 2)
    """
    if not square or not top:
        return divide(top, square)
    root = square_root(square)
    if root is not None:
        return top / root
    written = Node("/", (top, Node("sqrt", (square,))))
    inner = top * top / square
    # The first road takes one root of one fraction, the second divides by a root.
    first: Expr = Node("sqrt", (inner,))
    return Irrational(first if top > 0 else Node("-", (first,)), written)


def divide_geometric(top: Info, left: Info, right: Info) -> Value:
    """``top / sqrt(left * right)`` for non-negative left and right."""
    if left.zero or right.zero:
        return divide_info(top, ZERO)
    if top.zero:
        return Fraction(0)
    share, share2 = left.exact.ratio(top.exact), right.exact.ratio(top.exact)
    # left and right are linear forms in prime logarithms; top^2 = q left right as polynomials
    # only when all three are proportional, because a linear form has no other factors.
    if share is not None and share2 is not None:
        return divide_root(Fraction(1), share * share2)
    return Irrational(
        Node(
            "/",
            (
                top.exact.expr(),
                Node(
                    "*", (Node("sqrt", (left.exact.expr(),)), Node("sqrt", (right.exact.expr(),)))
                ),
            ),
        ),
        Node("/", (top.written, Node("sqrt", (Node("*", (left.written, right.written)),)))),
    )


def geometric_mean(left: Info, right: Info) -> Info | None:
    """The geometric mean where it is again a combination of logarithms, else None."""
    if left.zero or right.zero:
        return ZERO
    share = right.exact.ratio(left.exact)
    root = square_root(share) if share is not None else None
    return left.times(root) if root is not None else None


def larger(left: Info, right: Info) -> Info:
    """The larger of two quantities."""
    difference = left - right
    return left if difference.zero or sign(difference.exact.expr()) > 0 else right


def smaller(left: Info, right: Info) -> Info:
    """The smaller of two quantities."""
    return right if larger(left, right) is left else left


# A fraction of more than about 400 digits serves nobody; it is given like an irrational number.
LONG_BITS = 1_330

Json = dict[str, "Json"] | list["Json"] | str | int | bool


def encode(value: Value) -> dict[str, Json]:
    """A value as the JSON object of the vector format."""
    match value:
        case Fraction():
            nearest = float(value)
            if value.numerator.bit_length() + value.denominator.bit_length() > LONG_BITS:
                return {**written(value, nearest), "rational": True}
            result: dict[str, Json] = {"exact": str(value)}
            if Fraction(nearest) != value:
                result["binary64"] = nearest.hex()
            return result
        case Undefined():
            return {"undefined": True}
        case Infinite():
            return {"infinite": "-" if value.negative else "+"}
        case Failure():
            return {"error": value.code}
        case Irrational():
            return {**certify(value.first, value.second)}
        case _:
            return {"list": [encode(item) for item in value]}
