"""Normal forms of expression trees, in which zero can be seen (chapter 05, NUM-ZERO).

A tree becomes a quotient of two polynomials with rational coefficients. Their letters are the
logarithms of a coprime base, the square roots of that base, square roots of polynomials on top,
powers of e, and whatever else occurs as opaque letters. Logarithms of multiplicatively
independent integers and roots of coprime non-squares are linearly independent, so a form that is
linear in logarithms is zero only if nothing is left of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from refclust.errors import Undecided
from refclust.numbers.real import (
    ENCLOSED,
    EXP,
    LEAF,
    LOG,
    NAMED,
    POWER,
    PRODUCT,
    QUOTIENT,
    SQRT,
    SUM,
    Enclosure,
    Interval,
    Real,
    leaf_value,
    plain_fraction,
    postorder,
)
from refclust.numbers.reals.coprime import CoprimeBase, NotGenerated
from refclust.numbers.reals.intervals import Arithmetic, Unresolved, arithmetic, enclose


class Letter(NamedTuple):
    """One letter of a polynomial: log b, √b, e^(1/q), the root of a polynomial, or a tree."""

    kind: str  # "log", "root", "exp", "root-of" or "tree"
    number: int  # b, q, or the running number of the polynomial or tree


Monomial: TypeAlias = tuple[tuple[Letter, int], ...]
Polynomial: TypeAlias = dict[Monomial, Fraction]

_UNIT: Monomial = ()
_MOST_WORK = 100_000  # products of terms, about a second; past that nothing is shown of a tree
_DIGITS = (*(30 * 2**step for step in range(8)), 5000)


@dataclass(frozen=True, slots=True)
class Quotient:
    """A normal form: one polynomial over another that is not zero."""

    top: Polynomial
    bottom: Polynomial


class TooMuchWork(Exception):
    """A product of polynomials has too many terms to be written out."""


class NormalForms:
    """Turns trees into normal forms that share their letters, and tells which are zero.

    Spec: NUM-ZERO

    >>> from refclust.numbers.real import log, sqrt
    >>> x = log(12) - 2 * log(2) - log(3)
    >>> NormalForms(x).is_zero(x)
    True
    """

    def __init__(self, root: Real) -> None:
        self._numbers = set(_integers(root))
        self._work = 0
        self._start_over()

    def _start_over(self) -> None:
        self._base = CoprimeBase(self._numbers)
        self._radicands: list[Polynomial] = []
        self._trees: list[tuple[tuple[object, ...], Real]] = []
        self._logs: dict[Fraction, Polynomial] = {}

    def is_zero(self, root: Real) -> bool:
        """Tell whether the tree is shown to be zero; ``False`` means: not shown."""
        try:
            return self._vanishes(self.of(root).top)
        except TooMuchWork:  # as with many quotients by different sums of roots
            return False

    def constant(self, root: Real) -> Fraction | None:
        """Return the rational number that the normal form of a tree is, if it is one."""
        try:
            return _as_constant(self.of(root))
        except TooMuchWork:
            return None

    def of(self, root: Real) -> Quotient:
        """Return the normal form of a tree."""
        while True:
            try:
                return self._of(root)
            except NotGenerated as missing:
                # The argument of a logarithm or root turned out to be rational only in normal
                # form, as in log(sqrt(4) + 1): its integer joins the base, and all letters change.
                self._numbers.add(missing.number)
                self._start_over()

    def _of(self, root: Real) -> Quotient:
        forms: dict[int, Quotient] = {}
        for x in postorder(root, _expanded_arguments):
            forms[id(x)] = self._convert(x, [forms[id(arg)] for arg in _expanded_arguments(x)])
        return forms[id(root)]

    # -- trees to polynomials ---------------------------------------------------------------

    def _convert(self, x: Real, args: list[Quotient]) -> Quotient:
        if x.op == LEAF:
            return _whole(_constant(leaf_value(x)))
        if x.op == SUM:
            return self._sum(args)
        if x.op == PRODUCT:
            return self._product(args)
        if x.op == QUOTIENT:
            return self._product([args[0], self._inverse(args[1])])
        if x.op == POWER:
            assert isinstance(x.content, int)
            factor = args[0] if x.content >= 0 else self._inverse(args[0])
            return self._product([factor] * abs(x.content))
        if x.op == NAMED or (x.op == ENCLOSED and args):
            return args[0]
        return self._function(x, args)

    def _function(self, x: Real, args: list[Quotient]) -> Quotient:
        argument = _as_constant(args[0]) if args else None
        if x.op == LOG and argument is not None:
            return _whole(self._log(argument))
        if x.op == LOG and args:
            taken_apart = self._log_of_product(args[0])
            if taken_apart is not None:
                return _whole(taken_apart)
        if x.op == SQRT and argument is not None:
            return _whole(self._root(argument))
        if x.op == SQRT:
            # sqrt(N/D) = sqrt(N D)/|D|: no polynomial is ever divided by another.
            inside, bottom = self._times(args[0].top, args[0].bottom), args[0].bottom
            if self._sign(bottom) < 0:
                bottom = _scaled(bottom, Fraction(-1))
            return Quotient({((self._radicand(inside), 1),): Fraction(1)}, bottom)
        if x.op == EXP:
            put_together = self._exp_of_logs(args[0])
            if put_together is not None:
                return put_together
        key: tuple[object, ...] = (x.op, id(x))
        if args:
            key = (x.op, _frozen(args[0].top), _frozen(args[0].bottom))
        return _whole({((self._tree(key, x), 1),): Fraction(1)})

    def _log(self, value: Fraction) -> Polynomial:
        if value not in self._logs:
            self._logs[value] = self._log_over_base(value)
        return self._logs[value]

    def _log_of_product(self, x: Quotient) -> Polynomial | None:
        """Return log(c √a √b e^r …) = log c + ½ log a + ½ log b + r …, or ``None`` otherwise."""
        if len(x.top) != 1 or len(x.bottom) != 1:
            return None
        logarithm: Polynomial = {}
        for sign, polynomial in ((1, x.top), (-1, x.bottom)):
            ((monomial, coefficient),) = polynomial.items()
            if coefficient < 0 or any(letter.kind not in ("root", "exp") for letter, _ in monomial):
                return None
            _accumulate(logarithm, self._log(coefficient), sign)
            for (kind, number), exponent in monomial:
                if kind == "root":
                    _accumulate(logarithm, self._log(Fraction(number)), Fraction(sign, 2))
                else:
                    _accumulate(logarithm, {_UNIT: Fraction(sign * exponent, number)})
        return logarithm

    def _exp_of_logs(self, x: Quotient) -> Quotient | None:
        """Return exp(r + Σ k/2 log b) = e^r ∏ √b^k, or ``None`` for anything else."""
        if list(x.bottom) != [_UNIT]:
            return None
        product = _whole(_constant(Fraction(1)))
        for monomial, coefficient in _scaled(x.top, 1 / x.bottom[_UNIT]).items():
            if monomial == _UNIT:
                power = abs(coefficient)
                letter = (Letter("exp", power.denominator), power.numerator)
                factor = _whole({(letter,): Fraction(1)})
            elif len(monomial) == 1 and monomial[0][0].kind == "log" and monomial[0][1] == 1:
                if (2 * coefficient).denominator != 1:
                    return None
                number, halves = monomial[0][0].number, abs(int(2 * coefficient))
                factor = _whole(self._root(Fraction(number) ** halves))
            else:
                return None
            product = self._product([product, factor if coefficient > 0 else self._inverse(factor)])
        return product

    def _log_over_base(self, value: Fraction) -> Polynomial:
        powers = self._base.exponents(value.numerator)
        for element, exponent in self._base.exponents(value.denominator).items():
            powers[element] = powers.get(element, 0) - exponent
        return {((Letter("log", b), 1),): Fraction(e) for b, e in powers.items() if e}

    def _root(self, value: Fraction) -> Polynomial:
        # sqrt(p/q) = sqrt(p q)/q, and the even part of every exponent leaves the root.
        outside, letters = Fraction(1, value.denominator), []
        if value == 0:
            return {}
        powers = self._base.exponents(value.numerator)
        for element, exponent in self._base.exponents(value.denominator).items():
            powers[element] = powers.get(element, 0) + exponent
        for element, exponent in sorted(powers.items()):
            outside *= element ** (exponent // 2)
            if exponent % 2:
                letters.append((Letter("root", element), 1))
        return {tuple(letters): outside}

    def _radicand(self, inside: Polynomial) -> Letter:
        if inside not in self._radicands:
            self._radicands.append(inside)
        return Letter("root-of", self._radicands.index(inside))

    def _tree(self, key: tuple[object, ...], x: Real) -> Letter:
        for number, (known, _) in enumerate(self._trees):
            if known == key:
                return Letter("tree", number)
        self._trees.append((key, x))
        return Letter("tree", len(self._trees) - 1)

    # -- arithmetic -------------------------------------------------------------------------

    def _sum(self, terms: list[Quotient]) -> Quotient:
        by_bottom: list[tuple[Polynomial, Polynomial]] = []
        for term in terms:
            for top, bottom in by_bottom:
                if bottom == term.bottom:
                    _accumulate(top, term.top)
                    break
            else:
                by_bottom.append((dict(term.top), term.bottom))
        top, bottom = by_bottom[0] if by_bottom else ({}, _constant(Fraction(1)))
        for other_top, other_bottom in by_bottom[1:]:
            crossed = self._times(top, other_bottom)
            _accumulate(crossed, self._times(other_top, bottom))
            top, bottom = crossed, self._times(bottom, other_bottom)
        return Quotient(top, bottom)

    def _product(self, factors: Iterable[Quotient]) -> Quotient:
        top, bottom = _constant(Fraction(1)), _constant(Fraction(1))
        for factor in factors:
            top, bottom = self._times(top, factor.top), self._times(bottom, factor.bottom)
        return _whole(top) if not top else Quotient(top, bottom)

    def _inverse(self, x: Quotient) -> Quotient:
        if self._vanishes(x.top):
            raise ZeroDivisionError("a divisor is exactly zero")
        constant = _as_constant(x)
        return Quotient(x.bottom, x.top) if constant is None else _whole(_constant(1 / constant))

    def _times(self, x: Polynomial, y: Polynomial) -> Polynomial:
        if len(x) == 1 and _UNIT in x:
            return _scaled(y, x[_UNIT])
        self._work += len(x) * len(y)
        if self._work > _MOST_WORK:
            raise TooMuchWork
        product: Polynomial = {}
        for left, a in x.items():
            for right, b in y.items():
                _accumulate(product, self._monomials(left, right), a * b)
        return product

    def _monomials(self, left: Monomial, right: Monomial) -> Polynomial:
        """Multiply two monomials; the square of a root is its radicand again."""
        powers = dict(left)
        for letter, exponent in right:
            powers[letter] = powers.get(letter, 0) + exponent
        _gather_exponentials(powers)
        outside, insides = Fraction(1), []
        for letter in [b for b, exponent in powers.items() if exponent > 1]:
            if letter.kind == "root":
                del powers[letter]
                outside *= letter.number
            elif letter.kind == "root-of":
                del powers[letter]
                insides.append(self._radicands[letter.number])
        product: Polynomial = {tuple(sorted(powers.items())): outside}
        for inside in insides:
            product = self._times(product, inside)
        return product

    # -- zero -------------------------------------------------------------------------------

    def _vanishes(self, x: Polynomial) -> bool:
        """Tell whether a polynomial is shown to be zero, taking one root of a polynomial at a time.

        With x = a + b r and r² = c: x vanishes only if a² − b² c does, and then x is 0 or 2a.
        """
        roots = {letter for monomial in x for letter, _ in monomial if letter.kind == "root-of"}
        if not roots:
            return not x
        letter = max(roots, key=lambda root: root.number)
        plain = {m: value for m, value in x.items() if (letter, 1) not in m}
        rooted = {
            tuple(pair for pair in m if pair[0] != letter): value
            for m, value in x.items()
            if (letter, 1) in m
        }
        norm = self._times(plain, plain)
        inside = self._radicands[letter.number]
        rooted_squared = self._times(self._times(rooted, rooted), inside)
        _accumulate(norm, rooted_squared, Fraction(-1))
        if not self._vanishes(norm):
            return False
        if self._vanishes(plain):
            return True
        return self._is_nearer_to_zero_than(x, _scaled(plain, Fraction(2)))

    def _is_nearer_to_zero_than(self, x: Polynomial, other: Polynomial) -> bool:
        """Tell whether x is 0, given that it is either 0 or ``other``, which is not 0."""
        for (low, high), (other_low, other_high) in self._enclosures(x, other):
            if high < 0 or low > 0:
                return False
            if high < other_low or other_high < low:
                return True
        return False  # ``other`` may be a zero that is not shown: then nothing is shown of x

    def _sign(self, x: Polynomial) -> int:
        """Return the sign of a polynomial that is not zero."""
        for ((low, high),) in self._enclosures(x):
            if low > 0 or high < 0:
                return 1 if low > 0 else -1
        raise Undecided(f"{_DIGITS[-1]} digits do not settle the sign of a divisor under a root")

    def _enclosures(self, *polynomials: Polynomial) -> Iterator[list[Interval]]:
        """Yield ever narrower enclosures of the polynomials."""
        for digits in _DIGITS:
            try:
                narrow = [self._enclose(x, digits) for x in polynomials]
            except Unresolved:  # a tree among the letters needs more digits
                continue
            yield narrow

    def _enclose(self, x: Polynomial, digits: int) -> Interval:
        numbers = arithmetic(digits)
        terms = []
        for monomial, coefficient in x.items():
            term = numbers.rational(coefficient)
            for letter, exponent in monomial:
                power = numbers.power(self._letter(letter, numbers, digits), exponent)
                term = numbers.multiply(term, power)
            terms.append(term)
        return numbers.add(terms)

    def _letter(self, letter: Letter, numbers: Arithmetic, digits: int) -> Interval:
        if letter.kind == "log":
            return numbers.log_integer(letter.number)
        if letter.kind == "exp":
            return numbers.exp(numbers.rational(Fraction(1, letter.number)))
        if letter.kind == "root":
            return numbers.sqrt(numbers.rational(Fraction(letter.number)))
        if letter.kind == "root-of":
            return numbers.sqrt(self._enclose(self._radicands[letter.number], digits))
        return enclose(self._trees[letter.number][1], digits)


def _expanded_arguments(x: Real) -> Iterable[Real]:
    """Return the arguments of a node; a number known by enclosures shows its exact form."""
    if isinstance(x.content, Enclosure):
        form = x.content.form()
        return () if form is None else (form,)
    return x.args


def _integers(root: Real) -> Iterable[int]:
    """Collect the integers whose logarithms and roots a tree takes."""
    for x in postorder(root, _expanded_arguments):
        if x.op in (LOG, SQRT):
            value = plain_fraction(x.args[0])
            if value is not None and value > 0:
                yield value.numerator
                yield value.denominator


def _gather_exponentials(powers: dict[Letter, int]) -> None:
    """Replace the powers of e in a monomial by the one that is their product."""
    exponentials = [letter for letter in powers if letter.kind == "exp"]
    if exponentials:
        exponent = sum((Fraction(powers.pop(e), e.number) for e in exponentials), Fraction())
        powers[Letter("exp", exponent.denominator)] = exponent.numerator


def _constant(value: Fraction) -> Polynomial:
    return {_UNIT: value} if value else {}


def _whole(top: Polynomial) -> Quotient:
    return Quotient(top, {_UNIT: Fraction(1)})


def _as_constant(x: Quotient) -> Fraction | None:
    """The rational number that a quotient is: a polynomial over a multiple of itself."""
    if not x.top:
        return Fraction()
    monomial = next(iter(x.top))
    ratio = x.top[monomial] / x.bottom.get(monomial, Fraction(1))
    return ratio if x.top == _scaled(x.bottom, ratio) else None


def _scaled(x: Polynomial, factor: Fraction) -> Polynomial:
    # Always a new dictionary: callers add to it in place, and x may belong to somebody else.
    return {monomial: value * factor for monomial, value in x.items()}


def _accumulate(x: Polynomial, y: Polynomial, factor: Fraction | int = 1) -> None:
    """Add factor x y to the polynomial x in place, leaving no zero coefficient behind."""
    for monomial, value in y.items():
        new = x.get(monomial, Fraction()) + factor * value
        if new:
            x[monomial] = new
        else:
            x.pop(monomial, None)


def _frozen(x: Polynomial) -> frozenset[tuple[Monomial, Fraction]]:
    return frozenset(x.items())
