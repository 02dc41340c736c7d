"""Golden vectors read for formulas: exact numbers in, exact numbers judged."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pytest

from refclust.formulas.vectors import exact
from refclust.numbers.real import Real

VECTORS: Final = Path(__file__).parents[2] / "spec/vectors"


def cases(*names: str) -> list[Any]:
    """The cases of some files, as parameters of a test."""
    found = [json.loads((VECTORS / name).read_text(encoding="utf-8")) for name in names]
    return [pytest.param(case, id=case["id"]) for content in found for case in content["cases"]]


def number(text: str) -> Fraction:
    """A number of a vector file as the rational it is."""
    return Fraction(float.fromhex(text)) if "0x" in text else Fraction(text)


def numbers(given: Any) -> Any:
    """Nested lists of numbers."""
    return [numbers(one) for one in given] if isinstance(given, list) else number(given)


def meets(expected: dict[str, Any], value: Any) -> bool:
    """Whether an exact value is the one expected: no bound is granted to a formula.

    >>> meets({"exact": "1/3"}, Fraction(1, 3)), meets({"exact": "1/3"}, Fraction(1, 2))
    (True, False)
    """
    if "list" in expected:
        parts = expected["list"]
        return len(parts) == len(value) and all(map(meets, parts, value))
    found = Real(0) + exact(value)
    if "exact" in expected:
        return found == Fraction(expected["exact"])
    low, high = map(Fraction, found.enclosure(45))
    middle, radius = Fraction(expected["decimal"]), Fraction(expected["radius"])
    if not (middle - radius <= high and low <= middle + radius):
        return False
    return "binary64" not in expected or float(found) == float.fromhex(expected["binary64"])
