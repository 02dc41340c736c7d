"""Exact real numbers as small expression trees (chapter 05).

A ``Real`` is written like the formula it stands for and read in three ways: ``float(x)`` is the
nearest double, ``x.digits(40)`` gives certified decimals, ``x.steps()`` the derivation. Leaves are
rationals; nodes are n-ary sums and products, quotients, integer powers, ``log``, ``exp`` and
``sqrt``. Trees are shared and immutable, and every walk over them is a loop, so that a sum of a
hundred thousand terms meets no recursion limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias

from refclust.errors import BadNumber, NotFinite
from refclust.escape import for_latex, for_terminal
from refclust.numbers.reading import exact, shown

if TYPE_CHECKING:
    from refclust.numbers.reals.derivation import Derivation

Rational: TypeAlias = int | Fraction
Number: TypeAlias = int | Fraction | float
Interval: TypeAlias = tuple[Decimal, Decimal]

LEAF: Final = "leaf"
SUM: Final = "sum"
PRODUCT: Final = "product"
QUOTIENT: Final = "quotient"
POWER: Final = "power"
LOG: Final = "log"
EXP: Final = "exp"
SQRT: Final = "sqrt"
NAMED: Final = "named"
ENCLOSED: Final = "enclosed"

_COMMANDS: Final = frozenset("\\{}$&#%~^<>")  # no letters of a formula


class Enclosure:
    """A number known through ever narrower intervals, and exactly if somebody insists.

    ``interval(digits)`` must contain the number whatever the digits. Both it and the exact form
    may be expensive, so each is made when first asked for, and kept.
    """

    __slots__ = ("_exact", "_form", "_interval", "_known")

    def __init__(
        self, interval: Callable[[int], Interval], exact: Callable[[], Real | None] | None = None
    ) -> None:
        self._interval = interval
        self._known: dict[int, Interval] = {}
        self._exact = exact
        self._form: Real | None = None

    def interval(self, digits: int) -> Interval:
        """Return decimals below and above the number, worked out with this many digits."""
        if digits not in self._known:
            self._known[digits] = self._interval(digits)
        return self._known[digits]

    def form(self) -> Real | None:
        """Return the number written out as a tree, if that is possible."""
        if self._form is None and self._exact is not None:
            self._form = self._exact()
        return self._form


class Real:
    """An exact real number.

    Defines: NUM-REAL

    >>> x = log(8) / log(2)
    >>> float(x), x == 3, x.fraction
    (3.0, True, Fraction(3, 1))
    """

    __slots__ = ("args", "content", "op")

    op: str
    args: tuple[Real, ...]
    content: Fraction | int | tuple[str, str] | Enclosure | None

    def __init__(self, value: Rational | float | str | Real) -> None:
        """Take an integer, a fraction, a float (exactly as it is) or a string such as ``3/8``."""
        if isinstance(value, Real):
            self.op, self.args, self.content = value.op, value.args, value.content
            return
        if isinstance(value, float) and not math.isfinite(value):
            raise NotFinite(f"{value} is not a real number")
        if isinstance(value, bool) or not isinstance(value, int | Fraction | float | str):
            raise BadNumber(f"{value!r} is not a number")
        number = exact(value, "the number") if isinstance(value, str) else Fraction(value)
        if number is None:
            raise BadNumber(f"{shown(value)} is not a number")
        self.op, self.args, self.content = LEAF, (), number

    # -- building ---------------------------------------------------------------------------

    def __add__(self, other: Real | Number) -> Real:
        return _combine(SUM, self, other)

    __radd__ = __add__

    def __sub__(self, other: Real | Number) -> Real:
        right = _as_real(other)
        return NotImplemented if right is None else node(SUM, (self, -right))

    def __rsub__(self, other: Real | Number) -> Real:
        left = _as_real(other)
        return NotImplemented if left is None else node(SUM, (left, -self))

    def __mul__(self, other: Real | Number) -> Real:
        return _combine(PRODUCT, self, other)

    def __rmul__(self, other: Real | Number) -> Real:
        left = _as_real(other)
        return NotImplemented if left is None else node(PRODUCT, (left, self))

    def __truediv__(self, other: Real | Number) -> Real:
        return _combine(QUOTIENT, self, other)

    def __rtruediv__(self, other: Real | Number) -> Real:
        left = _as_real(other)
        return NotImplemented if left is None else node(QUOTIENT, (left, self))

    def __pow__(self, exponent: int) -> Real:
        if isinstance(exponent, bool) or not isinstance(exponent, int):
            return NotImplemented
        return node(POWER, (self,), exponent)

    def __neg__(self) -> Real:
        if self.op == LEAF:
            return Real(-leaf_value(self))
        return node(PRODUCT, (Real(-1), self))

    def __pos__(self) -> Real:
        return self

    def __abs__(self) -> Real:
        return -self if self.sign() < 0 else self

    def named(self, symbol: str, latex: str | None = None) -> Real:
        """Return the same number under a name, which the derivation then shows as a step."""
        shown = for_terminal(symbol)
        if latex is None:
            # A formula's own letters are LaTeX already; other text may be whatever a user calls it.
            plain = shown == symbol and _COMMANDS.isdisjoint(symbol)
            latex = symbol if plain else rf"\text{{{for_latex(symbol)}}}"
        return node(NAMED, (self,), (shown, latex))

    # -- reading ----------------------------------------------------------------------------

    def __float__(self) -> float:
        from refclust.numbers.reals import decide  # the deciders are built on top of this module

        return decide.nearest_double(self)

    def enclosure(self, digits: int = 30) -> Interval:
        """Return decimals below and above the number, computed with this many digits."""
        from refclust.numbers.reals import decide

        return decide.enclosure(self, digits)

    def digits(self, count: int = 40) -> str:
        """Return the number rounded to ``count`` certified significant digits."""
        from refclust.numbers.reals import decide

        return decide.digits(self, count)

    def steps(self) -> Derivation:
        """Return the derivation with its own numbers in it."""
        from refclust.numbers.reals import derivation

        return derivation.derive(self)

    @property
    def fraction(self) -> Fraction | None:
        """The number as a fraction, or ``None`` where it is not shown to be rational."""
        from refclust.numbers.reals import decide

        return decide.rational_value(self)

    def sign(self) -> int:
        """Return -1, 0 or 1, decided and never guessed."""
        from refclust.numbers.reals import decide

        return decide.sign(self)

    # -- comparing --------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        right = _comparable(other)
        return NotImplemented if right is None else (self - right).sign() == 0

    def __lt__(self, other: Real | Number) -> bool:
        right = _comparable(other)
        return NotImplemented if right is None else (self - right).sign() < 0

    def __le__(self, other: Real | Number) -> bool:
        right = _comparable(other)
        return NotImplemented if right is None else (self - right).sign() <= 0

    def __gt__(self, other: Real | Number) -> bool:
        right = _comparable(other)
        return NotImplemented if right is None else (self - right).sign() > 0

    def __ge__(self, other: Real | Number) -> bool:
        right = _comparable(other)
        return NotImplemented if right is None else (self - right).sign() >= 0

    def __bool__(self) -> bool:
        return self.sign() != 0

    def __hash__(self) -> int:
        from refclust.numbers.reals import decide

        # Equal numbers must have equal hashes, so a fraction is looked for with more digits than
        # elsewhere: only a denominator of more than 240 digits can still hide in logarithms.
        exact = decide.rational_value(self, 16 * decide.DOUBTFUL_DIGITS)
        if exact is not None:
            return hash(exact)
        try:
            return hash(float(self))
        except NotFinite:  # a number, but beyond the doubles
            return hash(math.inf)

    def __repr__(self) -> str:
        exact = plain_fraction(self)
        # Python refuses to print integers of more than a few thousand digits.
        if exact is None or max(map(int.bit_length, exact.as_integer_ratio())) > 4000:
            return f"Real({self.digits(17)})"
        return f"Real('{exact}')"


def node(
    op: str,
    args: tuple[Real, ...],
    content: Fraction | int | tuple[str, str] | Enclosure | None = None,
) -> Real:
    """Build one node of a tree; the operators and functions below are the way to call it.

    Spec: NUM-REAL

    >>> node(SUM, (Real(1), Real(2)))
    Real('3')
    """
    made = object.__new__(Real)
    made.op, made.args, made.content = op, args, content
    return made


def real(value: Real | Rational | float | str) -> Real:
    """Return ``value`` as an exact real.

    Spec: NUM-REAL

    >>> real("1/3") + real("1/6")
    Real('1/2')
    """
    return value if isinstance(value, Real) else Real(value)


def total(terms: Iterable[Real | Number]) -> Real:
    """Return the sum of all terms as one n-ary node.

    Spec: NUM-REAL

    >>> total([1, Fraction(1, 2), Fraction(1, 2)])
    Real('2')
    """
    return node(SUM, tuple(real(term) for term in terms))


def log(value: Real | Number) -> Real:
    """Return the natural logarithm.

    Spec: NUM-REAL

    >>> log(6) - log(2) == log(3)
    True
    """
    return node(LOG, (real(value),))


def exp(value: Real | Number) -> Real:
    """Return e to the power of the value.

    Spec: NUM-REAL

    >>> float(exp(1))
    2.718281828459045
    """
    return node(EXP, (real(value),))


def sqrt(value: Real | Number) -> Real:
    """Return the non-negative square root.

    Spec: NUM-REAL

    >>> sqrt(2) * sqrt(3) == sqrt(6)
    True
    """
    return node(SQRT, (real(value),))


def enclosed(
    interval: Callable[[int], Interval], exact: Callable[[], Real | None] | None = None
) -> Real:
    """Return a real that is given by its enclosures.

    Spec: NUM-REAL

    >>> float(enclosed(lambda digits: (Decimal("0.5"), Decimal("0.5"))))
    0.5
    """
    return node(ENCLOSED, (), Enclosure(interval, exact))


def minimum(first: Real | Number, *others: Real | Number) -> Real:
    """Return the least of the values, the first of equals.

    Spec: NUM-REAL

    >>> minimum(log(3), log(2), 1)
    Real(0.69314718055994531)
    """
    return _extreme([real(first), *map(real, others)], largest=False)


def maximum(first: Real | Number, *others: Real | Number) -> Real:
    """Return the greatest of the values, the first of equals.

    Spec: NUM-REAL

    >>> maximum(log(3), log(2), 1)
    Real(1.0986122886681097)
    """
    return _extreme([real(first), *map(real, others)], largest=True)


def _extreme(values: list[Real], *, largest: bool) -> Real:
    """The first of the least or greatest values; only those that lie close are compared exactly."""
    if len(values) > 2 and not all(x.op == LEAF for x in values):
        # Each is enclosed once, not in every comparison: most cannot be the extreme.
        ends = [x.enclosure() for x in values]
        if largest:
            edge = max(low for low, _ in ends)
            values = [x for x, (_, high) in zip(values, ends, strict=True) if high >= edge]
        else:
            edge = min(high for _, high in ends)
            values = [x for x, (low, _) in zip(values, ends, strict=True) if low <= edge]
    best = values[0]
    for other in values[1:]:
        best = other if (other > best if largest else other < best) else best
    return best


def leaf_value(x: Real) -> Fraction:
    """Return the rational that a leaf holds.

    Spec: NUM-REAL

    >>> leaf_value(Real("3/8"))
    Fraction(3, 8)
    """
    assert isinstance(x.content, Fraction)
    return x.content


def needed(x: Real) -> tuple[Real, ...]:
    """Return the arguments that the value of a node depends on: none where it knows its enclosures.

    Spec: NUM-REAL

    >>> [part.op for part in needed(log(2) + 1)]
    ['log', 'leaf']
    """
    return () if isinstance(x.content, Enclosure) else x.args


def postorder(
    root: Real, arguments: Callable[[Real], Iterable[Real]] = lambda x: x.args
) -> Iterator[Real]:
    """Yield every distinct node below ``root``, arguments before the node that uses them.

    Spec: NUM-REAL

    >>> [x.op for x in postorder(log(2) + 1)]
    ['leaf', 'log', 'leaf', 'sum']
    """
    seen: set[int] = set()
    stack: list[tuple[Real, bool]] = [(root, False)]
    while stack:
        x, ready = stack.pop()
        if ready:
            yield x
        elif id(x) not in seen:
            seen.add(id(x))
            stack.append((x, True))
            stack.extend((arg, False) for arg in reversed(tuple(arguments(x))))


def plain_fraction(root: Real) -> Fraction | None:
    """Return the value if rational arithmetic and roots of squares make it, else ``None``.

    Spec: NUM-REAL

    >>> plain_fraction(Real(1) / 3 + sqrt(4)), plain_fraction(sqrt(2))
    (Fraction(7, 3), None)
    """
    values: dict[int, Rational] = {}
    for x in postorder(root, needed):
        if isinstance(x.content, Enclosure):
            return None
        args = [values[id(arg)] for arg in x.args]
        value: Rational
        if x.op == LEAF:
            # Whole numbers stay integers, which are added and multiplied much faster.
            value = leaf_value(x)
            value = value.numerator if value.denominator == 1 else value
        elif x.op == SUM:
            value = sum(args)
        elif x.op == PRODUCT:
            value = math.prod(args)
        elif x.op == QUOTIENT:
            value = Fraction(args[0]) / args[1]
        elif x.op == POWER:
            assert isinstance(x.content, int)
            value = Fraction(args[0]) ** x.content
        elif x.op == NAMED:
            value = args[0]
        elif x.op == SQRT and (root_of_square := _rational_root(args[0])) is not None:
            value = root_of_square
        else:
            return None
        values[id(x)] = value
    return Fraction(values[id(root)])


def _rational_root(value: Rational) -> Fraction | None:
    if value < 0:
        return None
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    return Fraction(top, bottom) if Fraction(top * top, bottom * bottom) == value else None


def _combine(op: str, left: Real, right: object) -> Real:
    other = _as_real(right)
    return NotImplemented if other is None else node(op, (left, other))


def _as_real(value: object) -> Real | None:
    if isinstance(value, Real):
        return value
    # A float is the rational that it is: Real(1) * 0.1 is not a tenth, and nothing is rounded.
    if isinstance(value, int | Fraction | float) and not isinstance(value, bool):
        return Real(value)
    return None


def _comparable(value: object) -> Real | None:
    return None if isinstance(value, float) and not math.isfinite(value) else _as_real(value)
