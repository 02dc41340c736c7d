"""Golden vectors read for formulas: exact numbers in, exact numbers judged."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pytest

from refclust.formulas.vectors import exact
from refclust.numbers.real import Real

VECTORS: Final = Path(__file__).parents[2] / "spec/vectors"


def contents(*names: str) -> dict[str, dict[str, Any]]:
    """The cases of some files by their names."""
    found = [json.loads((VECTORS / name).read_text(encoding="utf-8")) for name in names]
    return {case["id"]: case for content in found for case in content["cases"]}


def cases(*names: str, where: Callable[[dict[str, Any]], bool] = lambda _: True) -> list[Any]:
    """The cases of some files, as parameters of a test; those that it judges."""
    kept = {name: case for name, case in contents(*names).items() if where(case)}
    return [pytest.param(case, id=name) for name, case in kept.items()]


def judged(tests: Iterable[Any]) -> list[str]:
    """The names of the cases that some tests have as parameters."""
    marks = [mark for test in tests for mark in test.pytestmark if mark.name == "parametrize"]
    return [one.id for mark in marks for one in mark.args[1]]


def parted(
    params: list[Any], reason: Callable[[dict[str, Any]], str | None]
) -> tuple[list[Any], dict[str, str]]:
    """The cases that are judged, and why each other one is not, by its name."""
    reasons = {param.id: reason(param.values[0]) for param in params}
    judged = [param for param in params if reasons[param.id] is None]
    return judged, {name: why for name, why in reasons.items() if why is not None}


def names(folder: str) -> list[str]:
    """The names of all cases of a folder."""
    files = sorted(path.name for path in (VECTORS / folder).glob("*.json"))
    return [param.id for param in cases(*(f"{folder}/{file}" for file in files))]


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
