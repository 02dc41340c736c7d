"""Contracts of kernels: when an answer counts as equal to the reference's (chapter 80)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import copysign
from typing import Any


@dataclass(frozen=True, slots=True)
class Exact:
    """The answer equals the reference's and is made of plain Python objects.

    >>> Exact().fault({("a", "b"): 2}, {("a", "b"): 3})
    "at ('a', 'b'): 3 instead of 2"
    """

    name: str = "Exact"

    def malformed(self, answer: Any) -> str | None:
        """Ask for a plain dict of plain integers or fractions."""
        if type(answer) is not dict:
            return f"a {type(answer).__name__} instead of a dict"
        for key, value in answer.items():
            if type(value) not in (int, Fraction):
                return f"at {key!r}: a {type(value).__name__}, not a plain int or Fraction"
        return None

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare two mappings entry by entry."""
        malformed = self.malformed(answer)
        if malformed:
            return malformed
        for key in reference:
            if key not in answer:
                return f"{key!r} is missing"
        for key, value in answer.items():
            if key not in reference:
                return f"{key!r} should not be there"
            if value != reference[key]:
                return f"at {key!r}: {value} instead of {reference[key]}"
        return None


@dataclass(frozen=True, slots=True)
class Enclosing:
    """The answer is an interval that holds the exact value; the reference's is far narrower.

    >>> Enclosing().fault((Decimal("0.5"), Decimal("0.5")), (Decimal("0.6"), Decimal("0.7")))
    'the interval [0.6, 0.7] misses [0.5, 0.5]'
    """

    name: str = "Enclosing"

    def malformed(self, answer: Any) -> str | None:
        """Ask for a pair of finite decimals in order."""
        if not (isinstance(answer, tuple) and len(answer) == 2):
            return f"{answer!r} instead of a pair of decimals"
        if not all(type(end) is Decimal and end.is_finite() for end in answer):
            return f"{answer!r} instead of a pair of finite decimals"
        low, high = answer
        return f"the ends {low} and {high} are reversed" if low > high else None

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Check that the interval holds the whole of the reference's."""
        malformed = self.malformed(answer)
        if malformed:
            return malformed
        (low, high), (inner_low, inner_high) = answer, reference
        if low > inner_low or high < inner_high:
            return f"the interval [{low}, {high}] misses [{inner_low}, {inner_high}]"
        return None


@dataclass(frozen=True, slots=True)
class Equal:
    """The answer is a flat buffer or a tuple of plain numbers, equal to the reference's.

    >>> from array import array
    >>> Equal().fault(array("d", [0.0, 0.5]), array("d", [0.0, 0.25]))
    'at 1: 0.25 instead of 0.5'
    >>> Equal().fault(array("d", [0.0]), array("d", [-0.0]))
    'at 0: -0.0 instead of 0.0'
    """

    name: str = "Equal"

    def malformed(self, answer: Any) -> str | None:
        """Ask for numbers in a tuple, or in a buffer of C integers or doubles."""
        if isinstance(answer, tuple):
            for place, value in enumerate(answer):
                wrong = self.malformed(value) if isinstance(value, tuple) else _not_plain(value)
                if wrong:
                    return f"at {place}: {wrong}"
            return None
        if isinstance(answer, int | float):
            return _not_plain(answer)
        return _not_flat(answer)

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare entry by entry; numbers are equal only if they are the same, of the same kind."""
        malformed = self.malformed(answer)
        if malformed:
            return malformed
        if isinstance(reference, int | float | Fraction):
            return None if _same(answer, reference) else f"{answer!r} instead of {reference!r}"
        if isinstance(answer, tuple) is not isinstance(reference, tuple):
            return f"a {type(answer).__name__} instead of a {type(reference).__name__}"
        if not isinstance(answer, tuple):
            if not _sized(answer):
                return f"a {type(answer).__name__} instead of a {type(reference).__name__}"
            # Through the buffer: what another library's array holds are plain C numbers.
            answer, reference = memoryview(answer), memoryview(reference)
        if len(answer) != len(reference):
            return f"{len(answer)} entries instead of {len(reference)}"
        for place, (actual, due) in enumerate(zip(answer, reference, strict=True)):
            if isinstance(due, tuple):
                wrong = self.fault(due, actual)
                if wrong:
                    return f"at {place}: {wrong}"
            elif not _same(actual, due):
                return f"at {place}: {actual!r} instead of {due!r}"
        return None


@dataclass(frozen=True, slots=True)
class Rationals:
    """The answer is a tuple of exact rationals, equal to the reference's one by one.

    >>> Rationals().fault((Fraction(1, 2),), (Fraction(1, 3),))
    'at 0: 1/3 instead of 1/2'
    """

    name: str = "Rationals"

    def malformed(self, answer: Any) -> str | None:
        """Ask for a tuple of fractions or integers."""
        if not isinstance(answer, tuple):
            return f"a {type(answer).__name__} instead of a tuple"
        for place, value in enumerate(answer):
            if type(value) not in (int, Fraction):
                return f"at {place}: a {type(value).__name__}, not a plain int or Fraction"
        return None

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare one by one."""
        malformed = self.malformed(answer)
        if malformed:
            return malformed
        if len(answer) != len(reference):
            return f"{len(answer)} entries instead of {len(reference)}"
        for place, (actual, due) in enumerate(zip(answer, reference, strict=True)):
            if actual != due:
                return f"at {place}: {actual} instead of {due}"
        return None


@dataclass(frozen=True, slots=True)
class Argmin:
    """The answer names for each row the lowest index of an exact minimum.

    >>> from array import array
    >>> Argmin().fault(array("i", [0, 1]), array("i", [0, 0]))
    'row 1: centre 0 instead of 1'
    """

    name: str = "Argmin"

    def malformed(self, answer: Any) -> str | None:
        """Ask for a flat buffer of 32-bit integers."""
        return _not_flat(answer, "i")

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare row by row: there is one right index, ties included."""
        malformed = self.malformed(answer)
        if malformed:
            return malformed
        indices = memoryview(answer)
        if len(indices) != len(reference):
            return f"{len(indices)} rows instead of {len(reference)}"
        for row, (index, due) in enumerate(zip(indices, reference, strict=True)):
            if index != due:
                return f"row {row}: centre {index} instead of {due}"
        return None


def _same(actual: Any, due: Any) -> bool:
    """Whether two numbers are the same, of the same kind; -0.0 is not 0.0."""
    if type(actual) is not type(due) or actual != due:
        return False
    return bool(due) or type(due) is not float or copysign(1.0, actual) == copysign(1.0, due)


def _sized(answer: Any) -> bool:
    return hasattr(answer, "__len__")


def _not_plain(value: Any) -> str | None:
    if type(value) in (int, float, Fraction):
        return None
    return f"a {type(value).__name__}, not a plain number"


def _not_flat(answer: Any, formats: str = "id") -> str | None:
    try:
        view = memoryview(answer)
    except TypeError:
        return f"a {type(answer).__name__} instead of a buffer"
    if view.ndim != 1 or not view.contiguous or view.format not in tuple(formats):
        return f"a buffer of format {view.format!r}, {view.ndim}-dimensional, is not a flat one"
    return None
