"""Contracts of kernels: when an answer counts as equal to the reference's (chapter 80)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
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
