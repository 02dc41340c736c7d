"""Enclosures of expression trees by decimal intervals (chapter 05, NUM-ROUND).

``decimal`` rounds + - x / outwards on request. Its ``ln``, ``exp`` and ``sqrt`` ignore the rounding
mode but are correctly rounded, so one step down and one step up encloses the true value.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)
from fractions import Fraction

from refclust.errors import NotFinite
from refclust.numbers.real import (
    EXP,
    LEAF,
    LOG,
    PRODUCT,
    SQRT,
    SUM,
    Enclosure,
    Interval,
    Real,
    leaf_value,
    needed,
    postorder,
)

ZERO = Decimal(0)
ONE = Decimal(1)
_LOG_CACHE_LIMIT = 200_000


class Unresolved(Exception):
    """The intervals are too wide to go on: a divisor, a logarithm or a root straddles zero.

    A divisor may turn out to be negative, the argument of a logarithm or a root may not.
    """

    def __init__(self, culprit: Real, *, may_be_negative: bool) -> None:
        super().__init__("an interval straddles zero")
        self.culprit = culprit
        self.may_be_negative = may_be_negative


class Arithmetic:
    """Interval arithmetic with a fixed number of digits; every result encloses the exact one."""

    __slots__ = ("_logs", "down", "up")

    def __init__(self, digits: int) -> None:
        traps = [InvalidOperation, DivisionByZero, Overflow]
        self.down = Context(digits, ROUND_FLOOR, MIN_EMIN, MAX_EMAX, traps=traps)
        self.up = Context(digits, ROUND_CEILING, MIN_EMIN, MAX_EMAX, traps=traps)
        self._logs: dict[int, Interval] = {}

    def rational(self, value: Fraction) -> Interval:
        """Enclose a fraction."""
        return self.ratio(value.numerator, value.denominator)

    def ratio(self, numerator: int, denominator: int) -> Interval:
        """Enclose the quotient of two integers, which need not be in lowest terms."""
        # The conversions are exact: Decimal(int) is not rounded by any context.
        top, bottom = Decimal(numerator), Decimal(denominator)
        return self.down.divide(top, bottom), self.up.divide(top, bottom)

    def add(self, terms: Iterable[Interval]) -> Interval:
        """Enclose a sum."""
        low, high, down, up = ZERO, ZERO, self.down.add, self.up.add
        for a, b in terms:
            low, high = down(low, a), up(high, b)
        return low, high

    def multiply(self, x: Interval, y: Interval) -> Interval:
        """Enclose a product."""
        (a, b), (c, d) = x, y
        down, up = self.down.multiply, self.up.multiply
        if a >= 0 and c >= 0:
            return down(a, c), up(b, d)
        if a >= 0 and d <= 0:
            return down(b, c), up(a, d)
        lows = (down(a, c), down(a, d), down(b, c), down(b, d))
        highs = (up(a, c), up(a, d), up(b, c), up(b, d))
        return min(lows), max(highs)

    def divide(self, x: Interval, y: Interval) -> Interval:
        """Enclose a quotient; the divisor must not straddle zero."""
        (a, b), (c, d) = x, y
        down, up = self.down.divide, self.up.divide
        return (
            min(down(a, c), down(a, d), down(b, c), down(b, d)),
            max(up(a, c), up(a, d), up(b, c), up(b, d)),
        )

    def power(self, x: Interval, exponent: int) -> Interval:
        """Enclose an integer power by repeated squaring."""
        # The inverse comes first: a power of a small number may sink to 0, which has none.
        product, square = (ONE, ONE), x if exponent >= 0 else self.divide((ONE, ONE), x)
        remaining = abs(exponent)
        while remaining:
            if remaining & 1:
                product = self.multiply(product, square)
            remaining >>= 1
            if remaining:
                square = self.multiply(square, square)
        if exponent % 2 == 0 and product[0] < 0:
            product = (ZERO, product[1])  # an even power is never negative, repeated factors widen
        return product

    def log_integer(self, value: int) -> Interval:
        """Enclose the logarithm of a positive integer, remembering it."""
        interval = self._logs.get(value)
        if interval is None:
            if len(self._logs) >= _LOG_CACHE_LIMIT:
                self._logs.clear()
            # The conversion is exact: Decimal(int) is not rounded by any context.
            interval = self.log((Decimal(value), Decimal(value)))
            self._logs[value] = interval
        return interval

    def log_rational(self, value: Fraction) -> Interval:
        """Enclose the logarithm of a positive fraction."""
        a, b = self.log_integer(value.numerator)
        if value.denominator == 1:
            return a, b
        c, d = self.log_integer(value.denominator)
        return self.down.subtract(a, d), self.up.subtract(b, c)

    def log(self, x: Interval) -> Interval:
        """Enclose the logarithm of a positive interval."""
        low, high = x
        below = self.down.ln(low)
        above = below if high == low else self.up.ln(high)
        return (
            ZERO if low == 1 else self.down.next_minus(below),
            ZERO if high == 1 else self.up.next_plus(above),
        )

    def exp(self, x: Interval) -> Interval:
        """Enclose the exponential."""
        low, high = x
        return (
            ONE if low == 0 else self.down.next_minus(self.down.exp(low)),
            ONE if high == 0 else self.up.next_plus(self.up.exp(high)),
        )

    def sqrt(self, x: Interval) -> Interval:
        """Enclose the root of an interval whose upper end is not negative."""
        low, high = x
        below = ZERO if low <= 0 else self.down.next_minus(self.down.sqrt(low))
        return below, ZERO if high == 0 else self.up.next_plus(self.up.sqrt(high))


@functools.lru_cache(maxsize=16)
def arithmetic(digits: int) -> Arithmetic:
    """Return the interval arithmetic for this many digits, with the logarithms it remembers."""
    return Arithmetic(digits)


def enclose(root: Real, digits: int, *, cut: list[Real] | None = None) -> Interval:
    """Return decimals below and above the value of a tree, or raise ``Unresolved``.

    The interval is right if the tree has a value. Arguments of roots that might be negative for
    all that is known, and are cut off at 0, are added to ``cut``.

    Spec: NUM-ROUND

    >>> [str(end) for end in enclose(Real("1/3"), 5)]
    ['0.33333', '0.33334']
    """
    numbers = arithmetic(digits)
    values: dict[int, Interval] = {}
    try:
        for x in postorder(root, _unfinished_arguments):
            values[id(x)] = _enclose_node(x, values, numbers, digits)
            if cut is not None and x.op == SQRT and values[id(x.args[0])][0] < 0:
                cut.append(x.args[0])
    except Overflow:
        raise NotFinite(f"a part of the number lies beyond 10**{MAX_EMAX}") from None
    return values[id(root)]


def _unfinished_arguments(x: Real) -> Iterable[Real]:
    """Return the arguments to enclose before x; a sum encloses its logarithmic terms itself."""
    parts = needed(x)
    return (part for part in parts if not _is_log_term(part)) if x.op == SUM else parts


def _is_log_term(x: Real) -> bool:
    """Tell whether x is rational x log(rational): nearly all terms of an entropy are."""
    if x.op != PRODUCT or len(x.args) != 2:
        return False
    factor, logarithm = x.args
    return factor.op == LEAF and logarithm.op == LOG and logarithm.args[0].op == LEAF


def _enclose_node(
    x: Real, values: dict[int, Interval], numbers: Arithmetic, digits: int
) -> Interval:
    if isinstance(x.content, Enclosure):
        return x.content.interval(digits)
    match x.op:
        case "leaf":
            return numbers.rational(leaf_value(x))
        case "sum":
            return numbers.add(
                _log_term(term, numbers) if _is_log_term(term) else values[id(term)]
                for term in x.args
            )
        case "product":
            product = (ONE, ONE)
            for arg in x.args:
                product = numbers.multiply(product, values[id(arg)])
            return product
        case "quotient":
            divisor = values[id(x.args[1])]
            if divisor[0] <= 0 <= divisor[1]:
                raise Unresolved(x.args[1], may_be_negative=True)
            return numbers.divide(values[id(x.args[0])], divisor)
        case "power":
            assert isinstance(x.content, int)
            base = values[id(x.args[0])]
            if x.content < 0 and base[0] <= 0 <= base[1]:
                raise Unresolved(x.args[0], may_be_negative=True)
            return numbers.power(base, x.content)
        case "named":
            return values[id(x.args[0])]
    return _enclose_function(x, values[id(x.args[0])], numbers)


def _enclose_function(x: Real, argument: Interval, numbers: Arithmetic) -> Interval:
    low, high = argument
    if x.op == EXP:
        return numbers.exp(argument)
    if x.op == LOG:
        if low <= 0:
            raise Unresolved(x.args[0], may_be_negative=False)
        if x.args[0].op == LEAF:
            return numbers.log_rational(leaf_value(x.args[0]))
        return numbers.log(argument)
    if high < 0:
        raise Unresolved(x.args[0], may_be_negative=False)
    return numbers.sqrt(argument)


def _log_term(term: Real, numbers: Arithmetic) -> Interval:
    factor, logarithm = term.args
    argument = leaf_value(logarithm.args[0])
    if argument <= 0:
        raise Unresolved(logarithm.args[0], may_be_negative=False)
    return numbers.multiply(numbers.rational(leaf_value(factor)), numbers.log_rational(argument))
