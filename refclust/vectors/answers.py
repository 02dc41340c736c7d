"""Answers to golden vectors and how they are judged (the pages in ``spec/vectors`` tell the rule).

An expectation says ``exact`` (a rational), ``decimal`` with ``radius`` and ``binary64``, ``list``,
``undefined``, ``infinite`` or ``error``. An answer passes if it is the nearest double, bit for bit;
an answer that claims to be exact must be exact. Only values with a ``bound`` have a tolerance: how
far they are from the nearest doubles is reported in ulps.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from refclust.data.files.document import Flaw
from refclust.errors import BadAnswersFile
from refclust.numbers.reading import exact, shown
from refclust.numbers.real import Real

_DEEPEST = 16  # lists in lists: far more than any vector has
_SHOWN = 80
_MOST_ORDERS = 6  # tables are compared in any order of rows and columns, up to this many


@dataclass(frozen=True, slots=True)
class Refused:
    """The program refused the input with an error code."""

    code: str


@dataclass(frozen=True, slots=True)
class Missing:
    """The value is undefined."""


@dataclass(frozen=True, slots=True)
class Computed:
    """An exact real: both its double and, where one is expected, its fraction are judged."""

    exact: Real


Input: TypeAlias = dict[str, Any]  # of a case, as its file has it
Answer: TypeAlias = "float | Fraction | Computed | Refused | Missing | Sequence[Answer]"


def passes(expected: dict[str, Any], answer: Answer) -> bool:
    """Tell whether an answer meets an expectation.

    >>> passes({"exact": "1/3", "binary64": "0x1.5555555555555p-2"}, 1 / 3)
    True
    """
    if "error" in expected:
        return isinstance(answer, Refused) and answer.code == expected["error"]
    if "undefined" in expected:
        return isinstance(answer, Missing) or (isinstance(answer, float) and math.isnan(answer))
    if "list" in expected:
        return (
            isinstance(answer, Sequence)
            and len(answer) == len(expected["list"])
            and all(map(passes, expected["list"], answer))
        )
    if isinstance(answer, Computed):
        if "exact" in expected:
            return answer.exact.fraction == Fraction(expected["exact"]) and passes(
                expected, float(answer.exact)
            )
        return passes(expected, float(answer.exact))
    if not isinstance(answer, float | Fraction):
        return False
    if "infinite" in expected:
        return answer == float(expected["infinite"] + "inf")
    return _is_number(expected, answer)


def _is_number(expected: dict[str, Any], answer: float | Fraction) -> bool:
    if isinstance(answer, float) and not math.isfinite(answer):
        return False
    if "bound" in expected:
        return _away(expected, answer) <= Fraction(expected["bound"])
    if isinstance(answer, Fraction) and "exact" in expected:
        return answer == Fraction(expected["exact"])
    if "binary64" in expected:
        nearest = float.fromhex(expected["binary64"])
    else:
        exact = Fraction(expected["exact"])
        nearest = exact.numerator / exact.denominator
    return _double(answer) == nearest


def _double(answer: float | Fraction) -> float:
    """The nearest double; beyond the largest one, an infinity, which no number is."""
    try:
        return float(answer)
    except OverflowError:
        return math.inf


def _away(expected: dict[str, Any], answer: float | Fraction) -> Fraction:
    """The least distance from what the true value may be."""
    if "exact" in expected:
        return abs(Fraction(answer) - Fraction(expected["exact"]))
    away = abs(Fraction(answer) - Fraction(expected["decimal"]))
    return max(away - Fraction(expected["radius"]), Fraction(0))


@dataclass(frozen=True, slots=True)
class Away:
    """How far an answer is from a value with a bound."""

    ulps: float  # from the nearest double, in units of its last place
    share: float  # of the bound


def away(expected: dict[str, Any], answer: Answer) -> list[Away]:
    """Tell how far an answer is from each value in it that has a bound.

    >>> away({"exact": "1/2", "bound": "1e-15"}, 0.5 + 2**-52)
    [Away(ulps=2.0, share=0.2220446049250313)]
    """
    if "list" in expected and isinstance(answer, Sequence):
        pairs = zip(expected["list"], answer, strict=False)
        return [distance for pair in pairs for distance in away(*pair)]
    if "bound" not in expected or not isinstance(answer, float) or not math.isfinite(answer):
        return []
    exact = "binary64" not in expected
    nearest = float(Fraction(expected["exact"])) if exact else float.fromhex(expected["binary64"])
    share = float(_away(expected, answer) / Fraction(expected["bound"]))
    return [Away(abs(answer - nearest) / math.ulp(nearest), share)]


def passes_in_some_order(expected: dict[str, Any], answer: Answer) -> bool:
    """Tell whether a list or a table meets an expectation after reordering rows and columns.

    >>> passes_in_some_order({"list": [{"exact": "1"}, {"exact": "2"}]}, [2.0, 1.0])
    True
    """
    if not isinstance(answer, Sequence) or len(answer) > _MOST_ORDERS:
        return passes(expected, answer)
    rows = expected.get("list", [])
    if len(rows) != len(answer):
        return False
    if not rows or "list" not in rows[0]:
        return any(passes(expected, order) for order in itertools.permutations(answer))
    width = len(rows[0]["list"])
    tables = [row for row in answer if isinstance(row, Sequence) and len(row) == width]
    return len(tables) == len(rows) and any(
        passes(expected, [[row[column] for column in columns] for row in order])
        for columns in itertools.permutations(range(width))
        for order in itertools.permutations(tables)
    )


def read(value: Any, place: str, depth: int = 0) -> Answer:
    """Read an answer of an answers file: a number, a string, null, a list or an error.

    >>> read("1/3", "here"), read("0x1.8p+0", "here"), read(None, "here")
    (Fraction(1, 3), 1.5, Missing())
    """
    if value is None:
        return Missing()
    if isinstance(value, Flaw):
        raise BadAnswersFile(f"{place}: {value.what}")
    if isinstance(value, list):
        if depth == _DEEPEST:
            raise BadAnswersFile(f"{place[:_SHOWN]}…: lists are nested more than {_DEEPEST} deep")
        return [read(item, f"{place}[{i}]", depth + 1) for i, item in enumerate(value)]
    if isinstance(value, dict) and isinstance(value.get("error"), str) and len(value) == 1:
        return Refused(value["error"])
    if isinstance(value, float) and not math.isfinite(value):
        raise BadAnswersFile(f"{place} is beyond the largest double; write 'inf' for an infinity")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if abs(value) < 2**53 else Fraction(value)
    if isinstance(value, str):
        try:
            if "0x" in value.lower():
                return float.fromhex(value)
            if value.lower().lstrip("+-") in ("inf", "infinity", "nan"):
                return float(value)
            # A fraction is a claim to be exact; a decimal is a rounded number.
            if "/" not in value:
                return float(value)
        except (ValueError, OverflowError):
            pass
        number = exact(value, f"{place}, {shown(value)},") if "/" in value else None
        if number is not None:
            return number
    raise BadAnswersFile(
        f"{place} is {_told(value)}; allowed are a number, a string such as '0x1.8p+0', '1/3' or "
        "'inf', null for undefined, a list of these, or {\"error\": code}"
    )


def _told(value: Any) -> str:
    """A value that is none, short: a file may hold objects without end."""
    return "an object" if isinstance(value, dict) else shown(value)
