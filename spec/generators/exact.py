"""Exact reals of the information metrics: rational combinations of logarithms of primes.

Logarithms of distinct primes are linearly independent over the rationals (unique factorisation),
so such a combination is zero exactly when all its coefficients are, and the quotient of two of
them is rational exactly when the coefficient vectors are proportional. Both questions are thus
settled with integers; no decimal digit is ever looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import isqrt

from flint import fmpz


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """An operation (+ - * / ^ log exp sqrt) applied to arguments."""

    op: str
    args: tuple[Expr, ...]


Expr = Fraction | Node


@cache
def prime_powers(number: int) -> tuple[tuple[int, int], ...]:
    """The factorisation of a positive integer.

    >>> prime_powers(360)
    ((2, 3), (3, 2), (5, 1))
    """
    return tuple((int(prime), int(power)) for prime, power in fmpz(number).factor())


def square_root(value: Fraction) -> Fraction | None:
    """The rational square root, or None when the root is irrational.

    >>> square_root(Fraction(9, 4))
    Fraction(3, 2)
    """
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    root = Fraction(top, bottom)
    return root if root * root == value else None


@dataclass(frozen=True, slots=True)
class Logs:
    """A rational combination of logarithms of primes, without zero coefficients."""

    terms: Mapping[int, Fraction]

    @staticmethod
    def of(value: Fraction) -> Logs:
        """The logarithm of a positive rational number."""
        terms = {p: Fraction(k) for p, k in prime_powers(value.numerator)}
        terms.update({p: Fraction(-k) for p, k in prime_powers(value.denominator)})
        return Logs(terms)

    @staticmethod
    def total(parts: Iterable[tuple[Fraction, Logs]]) -> Logs:
        """The sum of coefficient times combination."""
        terms: dict[int, Fraction] = {}
        for coefficient, part in parts:
            for prime, k in part.terms.items():
                terms[prime] = terms.get(prime, Fraction(0)) + coefficient * k
        return Logs({p: k for p, k in sorted(terms.items()) if k})

    @property
    def zero(self) -> bool:
        """Whether the number is 0."""
        return not self.terms

    def ratio(self, other: Logs) -> Fraction | None:
        """The quotient by a non-zero combination when it is rational, else None."""
        if self.zero:
            return Fraction(0)
        if self.terms.keys() != other.terms.keys():
            return None
        quotients = {k / other.terms[p] for p, k in self.terms.items()}
        return quotients.pop() if len(quotients) == 1 else None

    def expr(self) -> Expr:
        """The combination written out, for evaluation by balls."""
        return Node(
            "+", tuple(Node("*", (k, Node("log", (Fraction(p),)))) for p, k in self.terms.items())
        )


ZERO_LOGS = Logs({})
