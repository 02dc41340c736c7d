"""Rational combinations of square roots, exactly: roots of square-free integers are independent.

Such a number is zero exactly when all its coefficients are, and a quotient of two is rational
exactly when the coefficients are proportional. Each carries the expression it was written as.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from . import balls
from .exact import Expr, Node, prime_powers, square_root
from .values import Infinite, Irrational, Undefined, Value

F = Fraction


@dataclass(frozen=True, slots=True)
class Surd:
    """Coefficients of the roots of square-free integers, and the number as its definition reads."""

    terms: Mapping[int, Fraction]
    written: Expr

    @staticmethod
    def of(value: Fraction | int) -> Surd:
        """A rational number."""
        return Surd({1: F(value)} if value else {}, F(value))

    @staticmethod
    def root(square: Fraction) -> Surd:
        """The root of a rational that is not negative."""
        if not square:
            return Surd.of(0)
        rational = square_root(square)
        if rational is not None:
            return Surd({1: rational}, Node("sqrt", (square,)))
        outside, inside = F(1, square.denominator), 1
        for prime, power in prime_powers(square.numerator * square.denominator):
            outside *= prime ** (power // 2)
            inside *= prime ** (power % 2)
        return Surd({inside: outside}, Node("sqrt", (square,)))

    def __add__(self, other: Surd) -> Surd:
        """The sum."""
        return total([self, other])

    def __sub__(self, other: Surd) -> Surd:
        """The difference."""
        terms = {s: self.terms.get(s, F(0)) - other.terms.get(s, F(0)) for s in _keys(self, other)}
        return Surd(_without_zeros(terms), Node("-", (self.written, other.written)))

    def __mul__(self, other: Surd) -> Surd:
        """The product."""
        terms: dict[int, Fraction] = {}
        for s, a in self.terms.items():
            for t, b in other.terms.items():
                for inside, outside in Surd.root(F(s * t)).terms.items():
                    terms[inside] = terms.get(inside, F(0)) + a * b * outside
        return Surd(_without_zeros(terms), Node("*", (self.written, other.written)))

    def times(self, factor: Fraction | int) -> Surd:
        """The number multiplied by a rational."""
        return self * Surd.of(factor)

    @property
    def expr(self) -> Expr:
        """The number over roots of square-free integers."""
        parts = [Node("*", (a, Node("sqrt", (F(s),)))) for s, a in sorted(self.terms.items())]
        return Node("+", tuple(parts))

    @property
    def rational(self) -> Fraction | None:
        """The number if it is rational."""
        return self.terms.get(1, F(0)) if set(self.terms) <= {1} else None

    def sign(self) -> int:
        """-1, 0 or 1."""
        if self.rational is not None:
            return (self.rational > 0) - (self.rational < 0)
        return balls.sign(self.expr)

    def value(self) -> Value:
        """The number as a value of a vector."""
        return Irrational(self.expr, self.written) if self.rational is None else self.rational


def total(numbers: Iterable[Surd]) -> Surd:
    """The sum of many."""
    parts = list(numbers)
    terms: dict[int, Fraction] = {}
    for part in parts:
        for s, a in part.terms.items():
            terms[s] = terms.get(s, F(0)) + a
    return Surd(_without_zeros(terms), Node("+", tuple(part.written for part in parts)))


def _keys(*numbers: Surd) -> set[int]:
    return {s for number in numbers for s in number.terms}


def _without_zeros(terms: Mapping[int, Fraction]) -> dict[int, Fraction]:
    return {s: a for s, a in terms.items() if a}


def smaller(a: Surd, b: Surd) -> Surd:
    """The smaller of two, the first of equals."""
    return b if (b - a).sign() < 0 else a


def larger(a: Surd, b: Surd) -> Surd:
    """The larger of two, the first of equals."""
    return b if (b - a).sign() > 0 else a


@dataclass(frozen=True, slots=True)
class Quotient:
    """One combination over another that is not zero."""

    top: Surd
    bottom: Surd


def divide(top: Surd, bottom: Surd) -> Quotient | Undefined | Infinite:
    """A quotient under the one rule."""
    if bottom.sign():
        return Quotient(top, bottom)
    return Infinite(top.sign() < 0) if top.sign() else Undefined()


def value_of(quotients: Iterable[Quotient | Undefined | Infinite]) -> Value:
    """The sum of quotients as a value; whether it is rational is decided over one bottom."""
    parts: list[Quotient] = []
    for quotient in quotients:
        if not isinstance(quotient, Quotient):
            return quotient
        parts.append(quotient)
    top, bottom = Surd.of(0), Surd.of(1)
    for part in parts:
        top, bottom = top * part.bottom + part.top * bottom, bottom * part.bottom
    if not top.terms:
        return F(0)
    place = next(iter(bottom.terms))
    ratio = top.terms.get(place, F(0)) / bottom.terms[place]
    if {s: ratio * a for s, a in bottom.terms.items()} == dict(top.terms):
        return ratio
    return Irrational(
        Node("+", tuple(Node("/", (p.top.expr, p.bottom.expr)) for p in parts)),
        Node("+", tuple(Node("/", (p.top.written, p.bottom.written)) for p in parts)),
    )
