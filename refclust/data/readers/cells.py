"""Numbers in the cells of tables, and messages that say where a cell is and what is wrong with it.

Realises the part of DATA-CSV that says what a number is. Used only when a row has failed, or for
the few cells that are not features: speed is no concern here, the message is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite
from typing import Final

from refclust.errors import BadCell, BadWeight, MissingValue, NegativeCount, NotFinite

# Around a number: just the ASCII that float() strips; str.strip() takes more.
BLANKS: Final = " \t\n\v\f\r"
_NUMERAL: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE: Final = frozenset(["nan", "inf", "infinity"])
_MISSING: Final = frozenset(["na", "n/a", "#n/a", "null", "none", "?", "-", "."])
_DECIMAL_COMMA: Final = re.compile(r"[+-]?[0-9]+,[0-9]+")
_GROUPED: Final = re.compile(r"[+-]?[0-9]{1,3}(?:[,_ '\u00a0\u202f][0-9]{3})+(?:\.[0-9]*)?")
_LONGEST_LIST = 12


def is_number(cell: str) -> bool:
    """Tell whether a cell holds a number, NaN and infinities included.

    >>> is_number(" 1e3"), is_number("nan"), is_number("1_000"), is_number("")
    (True, True, False, False)
    """
    text = cell.strip(BLANKS)
    return bool(_NUMERAL.fullmatch(text)) or _unsigned(text) in _NOT_FINITE


def is_missing(cell: str) -> bool:
    """Tell whether a cell holds no number but a mark for one that is missing, or nothing.

    >>> is_missing(" NA"), is_missing(""), is_missing("nan"), is_missing("0"), is_missing("inf")
    (True, True, True, False, False)
    """
    text = cell.strip(BLANKS)
    return not text or text.lower() in _MISSING or _unsigned(text) == "nan"


def number_in(cell: str, place: str, *, hint: str = "") -> float:
    """Return the finite number in a cell; ``place`` opens the message if there is none.

    Spec: DATA-CSV

    >>> number_in(" 2.50", "a.csv:1: column 3")
    2.5
    """
    text = cell.strip(BLANKS)
    if not text:
        raise MissingValue(f"{place} is empty; a number is needed in every row")
    if _unsigned(text) in _NOT_FINITE:
        raise NotFinite(f"{place} is {text}; only finite numbers are allowed")
    if text.lower() in _MISSING:
        raise MissingValue(f"{place} is {text!r}, a missing value; a number is needed in every row")
    if not _NUMERAL.fullmatch(text):
        raise BadCell(f"{place} is {shown(cell)}, which is not a number{_advice(text) or hint}")
    number = float(text)
    if not isfinite(number):
        raise NotFinite(f"{place} is {shown(text)}, which is beyond the largest double")
    return number


def weight_in(cell: str, place: str) -> float:
    """Return the weight in a cell, a finite number of at least 0.

    Spec: DATA-CSV

    >>> weight_in("2", "a.csv:1: column 3")
    2.0
    """
    try:
        weight = number_in(cell, place)
    except BadCell as error:
        raise BadWeight(f"{error}; a weight is needed") from None
    if weight < 0:
        raise NegativeCount(f"{place} is {cell.strip(BLANKS)}; a weight must not be negative")
    return weight


def check_weights(weights: Sequence[float], name: str) -> None:
    """Refuse weights that are all 0; each of them was looked at before, where it stands.

    Spec: DATA-SET

    >>> check_weights([0.0, 2.0], "a.csv")
    """
    if weights and not any(weights):
        raise BadWeight(f"{name}: all weights are 0; at least one row must count")


def place_of(file: str, line: int, column: int, names: Sequence[str] | None) -> str:
    """Return how messages call a cell, its column counted from 0 here and from 1 there.

    >>> place_of("a.csv", 7, 1, ["x", "y"]), place_of("a.csv", 7, 1, None)
    ("a.csv:7: column 2 ('y')", 'a.csv:7: column 2')
    """
    called = "" if names is None else f" ({shown(names[column])})"
    return f"{file}:{line}: column {column + 1}{called}"


def listed(names: Sequence[str]) -> str:
    """Return a list of names for people, cut where it gets long.

    >>> listed(["x", "y"])
    'x, y'
    """
    shown_names = ", ".join(map(_name, names[:_LONGEST_LIST]))
    more = len(names) - _LONGEST_LIST
    return f"{shown_names} and {more} more" if more > 0 else shown_names


def shown(text: str) -> str:
    """Return a text as a message quotes it, on one line and not too long.

    >>> shown("a" * 50)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'"
    """
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _name(name: str) -> str:
    return name if name and name.isprintable() and len(name) <= 40 else shown(name)


def _unsigned(text: str) -> str:
    return text.lower().removeprefix("-" if text.startswith("-") else "+")


def _advice(text: str) -> str:
    if _GROUPED.fullmatch(text):
        return "; digits are not grouped"
    if _DECIMAL_COMMA.fullmatch(text):
        return "; decimals are written with a point, not a comma"
    if _NUMERAL.fullmatch(text.replace("\u2212", "-")):
        return "; the minus sign is written -, not U+2212"
    if not text.isascii() and is_number(_ascii_digits(text)):
        return "; numbers are written with the digits 0 to 9"
    return ""


def _ascii_digits(text: str) -> str:
    try:
        return str(float(text))
    except ValueError:
        return ""
