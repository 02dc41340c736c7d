"""Sums of logarithms over many counts, from the one term that is written (chapter 05).

The term n_ij/n · log(n n_ij/(n_i m_j)) is a formula. Run on numbers it gives a number; run on
symbols it tells its coefficient and the powers under its logarithm. The logarithm of a product is
a sum, so what is added up over all cells needs the logarithms of distinct counts only, and no cell
has to be looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import add, sub
from typing import Any, TypeAlias, overload

from refclust.numbers import real
from refclust.numbers.real import Number, Rational, Real
from refclust.numbers.reals.logs import log_sum

Term: TypeAlias = Callable[..., Any]  # of numbers a Real, of symbols a multiple of a logarithm
Sizes: TypeAlias = Callable[[], Mapping[Any, int]]


@dataclass(frozen=True, slots=True)
class Monomial:
    """A rational number, as top over bottom, times powers of symbols."""

    top: int
    bottom: int
    powers: tuple[int, ...]

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Logarithm):
            return Multiple(self, other.argument)
        top, bottom, powers = _parts(other)
        return Monomial(self.top * top, self.bottom * bottom, self._powers(add, powers))

    __rmul__ = __mul__

    def __truediv__(self, other: Monomial | Rational) -> Monomial:
        top, bottom, powers = _parts(other)
        return Monomial(self.top * bottom, self.bottom * top, self._powers(sub, powers))

    def __neg__(self) -> Monomial:
        return Monomial(-self.top, self.bottom, self.powers)

    def _powers(
        self, combined: Callable[[int, int], int], powers: tuple[int, ...] | None
    ) -> tuple[int, ...]:
        return self.powers if powers is None else tuple(map(combined, self.powers, powers))


def _parts(value: Monomial | Rational) -> tuple[int, int, tuple[int, ...] | None]:
    if isinstance(value, Monomial):
        return value.top, value.bottom, value.powers
    return value.numerator, value.denominator, None


@dataclass(frozen=True, slots=True)
class Logarithm:
    """The logarithm of a monomial."""

    argument: Monomial


@dataclass(frozen=True, slots=True)
class Multiple:
    """A monomial times the logarithm of another."""

    coefficient: Monomial
    argument: Monomial


@overload
def log(value: Monomial) -> Logarithm: ...
@overload
def log(value: Real | Number) -> Real: ...
def log(value: Monomial | Real | Number) -> Logarithm | Real:
    """Return the natural logarithm of a number, or of a formula of symbols.

    Spec: NUM-REAL

    >>> log(8) == 3 * log(2)
    True
    """
    return Logarithm(value) if isinstance(value, Monomial) else real.log(value)


def total_of_logs(
    term: Term,
    rows: Callable[[], Iterable[Sequence[Rational]]],
    sizes: Sequence[Sizes],
    whole: int,
) -> Real:
    """Return the sum of a term over rows of whole numbers, from the distinct sizes alone.

    The term is a multiple of its first argument times a logarithm of products of all. The sum of
    the first over all rows with one value of another must be that value, as cells add up to the
    groups they lie in; ``sizes`` tells for each argument how often each of its values occurs, and
    ``whole`` is what the first arguments add up to.

    Spec: NUM-REAL

    >>> rows = [(2, 3), (1, 3), (1, 1)]
    >>> sizes = [lambda: {2: 1, 1: 2}, lambda: {3: 1, 1: 1}]
    >>> x = total_of_logs(lambda a, b: a / 4 * log(a / b), lambda: rows, sizes, 4)
    >>> x == log(Fraction(2, 3)) / 2 + log(Fraction(1, 3)) / 4
    True
    """
    units = [tuple(int(i == s) for i in range(len(sizes))) for s in range(len(sizes))]
    symbolic = term(*(Monomial(1, 1, unit) for unit in units))
    if not isinstance(symbolic, Multiple) or symbolic.coefficient.powers != units[0]:
        raise TypeError("the term is not a multiple of its first argument times a logarithm")
    times, argument = symbolic.coefficient.top, symbolic.argument
    weights: defaultdict[int, int] = defaultdict(int)
    for power, counted in zip(argument.powers, sizes, strict=True):
        if power:
            for size, number in counted().items():
                weights[int(size)] += times * power * number * int(size)
    if argument.top != argument.bottom:
        weights[argument.top] += times * whole
        weights[argument.bottom] -= times * whole
    divisor = symbolic.coefficient.bottom
    return log_sum(weights, divisor, lambda: (term(*map(Fraction, row)) for row in rows()))
