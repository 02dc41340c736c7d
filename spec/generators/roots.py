"""Sums of square roots of rationals in a normal form: rational factors before squarefree roots.

Roots of different squarefree integers are linearly independent over the rationals (Besicovitch
1940), so such a sum is zero only if every factor is, and rational only if the others are zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from .balls import sign
from .exact import Expr, Node, prime_powers
from .values import Infinite, Irrational, Undefined, Value

F = Fraction


@dataclass(frozen=True, slots=True)
class Roots:
    """A sum of roots: its normal form, and as its definition reads."""

    parts: tuple[tuple[int, Fraction], ...]
    written: Expr

    @property
    def rational(self) -> Fraction | None:
        """The number where it is rational."""
        return sum((c for _, c in self.parts), F(0)) if set(dict(self.parts)) <= {1} else None

    def expr(self) -> Expr:
        """The normal form as an expression."""
        return Node("+", tuple(Node("*", (c, Node("sqrt", (F(f),)))) for f, c in self.parts))

    def value(self) -> Value:
        """The number as a value."""
        known = self.rational
        return Irrational(self.expr(), self.written) if known is None else known

    def sign(self) -> int:
        """-1, 0 or 1."""
        return sign(self.expr()) if self.parts else 0

    def times(self, factor: Fraction) -> Roots:
        """The number multiplied by a rational."""
        return _made({f: c * factor for f, c in self.parts}, Node("*", (factor, self.written)))

    def over_root(self, square: Fraction) -> Roots:
        """The number divided by the root of a positive rational."""
        ((f, c),) = root(square).parts
        parts: dict[int, Fraction] = {}
        for g, d in self.parts:
            ((h, e),) = root(F(f * g)).parts
            parts[h] = parts.get(h, F(0)) + d * e / (c * f)
        return _made(parts, Node("/", (self.written, Node("sqrt", (square,)))))

    def less(self, other: Roots) -> Roots:
        """The difference."""
        return added([self, other.times(F(-1))])


def _made(parts: dict[int, Fraction], written: Expr) -> Roots:
    return Roots(tuple(sorted((f, c) for f, c in parts.items() if c)), written)


def whole(value: Fraction) -> Roots:
    """A rational."""
    return _made({1: value}, value)


def root(square: Fraction) -> Roots:
    """The root of a rational that is not negative."""
    if not square:
        return whole(square)
    outside, inside = F(1, square.denominator), 1
    for prime, power in prime_powers(square.numerator * square.denominator):
        outside *= prime ** (power // 2)
        inside *= prime ** (power % 2)
    return _made({inside: outside}, Node("sqrt", (square,)))


def added(terms: Iterable[Roots]) -> Roots:
    """The sum."""
    every = list(terms)
    parts: dict[int, Fraction] = {}
    for term in every:
        for f, c in term.parts:
            parts[f] = parts.get(f, F(0)) + c
    return _made(parts, Node("+", (F(0), *(term.written for term in every))))


def largest(numbers: Iterable[Roots]) -> Roots:
    """The largest number."""
    best, *others = numbers
    for other in others:
        best = other if other.less(best).sign() > 0 else best
    return best


def quotient(top: Roots, bottom: Roots, power: int = 1) -> Value:
    """A quotient of two sums of positive roots under the one rule, or its square."""
    if not bottom.parts:
        return Infinite() if top.parts else Undefined()
    if not top.parts:
        return F(0)
    # The quotient is one root if and only if the sums have as many parts, in the same ratio.
    for f, _ in bottom.parts:
        ((g, _),) = root(F(f * top.parts[0][0])).parts
        stretched = bottom.over_root(F(1, g))
        ratio = top.parts[0][1] / stretched.parts[0][1]
        if not top.less(stretched.times(ratio)).parts:
            return ratio**2 * g if power == 2 else root(F(g)).times(ratio).value()
    exact = Node("/", (top.expr(), bottom.expr()))
    written = Node("/", (top.written, bottom.written))
    if power == 1:
        return Irrational(exact, written)
    return Irrational(Node("^", (exact, F(power))), Node("*", (written,) * power))
