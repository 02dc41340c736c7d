"""Strict JSON: documents whose every value is asked for by type, and written line by line.

Realises the rules of MODEL-LOAD (chapter 11) that hold for any document. A ``Node`` is a value and
the path that leads to it, so that a complaint names the offending key. What JSON lets pass and a
strict reader must not (a repeated key, NaN, a number without end) is kept as a ``Flaw`` while the
text is parsed, and refused with its path when it is looked at.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, NoReturn, TypeVar

from refclust.data.files.textfile import check_json
from refclust.errors import BadModel, NotFinite, RefclustError
from refclust.escape import for_terminal

Word = TypeVar("Word", bound=str)

LARGEST: Final = 2**53  # any program reads integers up to here exactly
# Python reads and writes integers of 4,300 digits and no longer ones. The exact sum of doubles
# needs far fewer: 309 before the point and 1,074 behind it.
MOST_DIGITS: Final = 4000
_RATIONAL: Final = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?", re.ASCII)
_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something no document may hold, as a message describes it."""

    what: str


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a document, with the file it stands in and the path to it."""

    value: Any
    name: str
    path: str = ""
    error: type[RefclustError] = BadModel

    def fail(self, complaint: str) -> NoReturn:
        """Refuse the document because of this value."""
        place = f"{self.name}: {self.path}" if self.path else self.name
        raise self.error(f"{place}: {complaint}")

    def wrong(self, due: str) -> NoReturn:
        """Refuse the document because something else is due here."""
        if isinstance(self.value, Flaw):
            self.fail(self.value.what)
        self.fail(f"{shown(self.value)}; {due} is needed")

    def entry(self, key: str) -> Node:
        """The value of a key that is known to be there."""
        known = for_terminal(key)
        path = f"{self.path}.{known}" if self.path else known
        return Node(self.value[key], self.name, path, self.error)

    def item(self, place: int) -> Node:
        """The item at a place that is known to be there."""
        return Node(self.value[place], self.name, f"{self.path}[{place}]", self.error)

    def mapping(self) -> dict[str, Any]:
        """The value as an object with any keys."""
        if type(self.value) is not dict:
            self.wrong("an object")
        return self.value

    def members(self, *keys: str) -> tuple[Node, ...]:
        """The values of an object that has exactly these keys, in the order asked for."""
        members = self.chosen(*keys)
        for key in keys:
            if key not in members:
                self.fail(f"the key {key!r} is missing; the keys are {', '.join(keys)}")
        return tuple(members[key] for key in keys)

    def chosen(self, *keys: str) -> dict[str, Node]:
        """The entries of an object that has no other keys than these, not all of them maybe."""
        for key in self.mapping():
            if key not in keys:
                self.fail(f"unknown key {_short(key)}; the keys are {', '.join(keys)}")
        return {key: self.entry(key) for key in self.value}

    def items(self, length: int | None = None) -> list[Node]:
        """The items of an array, of a given length if one is due."""
        if type(self.value) is not list:
            self.wrong("an array")
        if length is not None and len(self.value) != length:
            self.fail(f"an array of {len(self.value)} items; {length} are due")
        return [self.item(place) for place in range(len(self.value))]

    def text(self) -> str:
        """The value as a string."""
        if type(self.value) is not str:
            self.wrong("a string")
        return self.value

    def flag(self) -> bool:
        """The value as a truth value."""
        if type(self.value) is not bool:
            self.wrong("true or false")
        return self.value

    def one_of(self, allowed: Sequence[Word]) -> Word:
        """The value as one of some words."""
        if type(self.value) is not str or self.value not in allowed:
            self.wrong(f"one of {', '.join(allowed)}")
        return self.value  # type: ignore[return-value]

    def whole(self, least: int, most: int | None = LARGEST) -> int:
        """The value as an integer within bounds, written without a point.

        Spec: MODEL-LOAD
        """
        value = self.value
        if type(value) is not int or value < least or (most is not None and value > most):
            bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
            self.wrong(f"an integer {bounds}")
        return value

    def double(self, least: float | None = None) -> float:
        """The value as a finite double, not below a bound if there is one.

        Spec: MODEL-LOAD
        """
        value = self.value
        if type(value) is int:
            try:
                value = float(value)
            except OverflowError:
                self.wrong("a number within the range of doubles")
        if type(value) is not float or not math.isfinite(value):
            self.wrong("a finite number")
        if least is not None and value < least:
            self.wrong(f"a number of at least {least:g}")
        return value

    def doubles(self, length: int | None = None, least: float | None = None) -> tuple[float, ...]:
        """The value as an array of finite doubles.

        Spec: MODEL-LOAD
        """
        if type(self.value) is not list:
            self.wrong("an array of numbers")
        if length is not None and len(self.value) != length:
            self.fail(f"an array of {len(self.value)} numbers; {length} are due")
        # Only a suspect gets a node of its own: a model may hold millions of numbers.
        return tuple(
            value
            if type(value) is float and math.isfinite(value) and (least is None or value >= least)
            else self.item(place).double(least)
            for place, value in enumerate(self.value)
        )

    def rational(self, *, signed: bool = False) -> Fraction:
        """The value as a rational number in lowest terms: ``"7"`` or ``"7/2"``; at least 0 or not.

        Spec: MODEL-LOAD
        """
        value = self.value
        least = "" if signed else "of at least 0 "
        due = f'a rational number {least}in lowest terms, such as "7" or "7/2",'
        if type(value) is not str or not _RATIONAL.fullmatch(value):
            self.wrong(due)
        if max(map(len, value.split("/"))) > MOST_DIGITS:
            self.wrong(due)
        number = Fraction(value)
        if (number < 0 and not signed) or str(number) != value:
            self.wrong(due)
        return number

    def wholes(self, length: int | None, least: int, most: int) -> list[int]:
        """The value as an array of integers within bounds.

        Spec: MODEL-LOAD
        """
        if type(self.value) is not list:
            self.wrong("an array of integers")
        if length is not None and len(self.value) != length:
            self.fail(f"an array of {len(self.value)} integers; {length} are due")
        for place, value in enumerate(self.value):
            if not (type(value) is int and least <= value <= most):
                self.item(place).whole(least, most)
        return list(self.value)


def parse(text: str, name: str, *, error: type[RefclustError] = BadModel) -> Node:
    """Parse a document; ``name`` is what messages call it, ``error`` the code they carry.

    >>> parse('{"k": 3}', "model.json").members("k")[0].whole(1)
    3
    """
    check_json(text, name)
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer
        )
    except json.JSONDecodeError as wrong:
        ended = "; the file ends too early" if wrong.pos >= len(text.rstrip()) else ""
        raise error(
            f"{name}:{wrong.lineno}: column {wrong.colno}: this is not JSON: "
            f"{wrong.msg[:1].lower()}{wrong.msg[1:]}{ended}"
        ) from None
    except RecursionError:
        raise error(f"{name}: nested too deeply") from None
    return Node(value, name, error=error)


def shown(value: object) -> str:
    """Describe a value of a document in a few words.

    >>> shown([1, 2]), shown("k-means"), shown(True), shown(None)
    ('an array', "the string 'k-means'", 'true', 'null')
    """
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return f"the string {_short(value)}"
    if isinstance(value, int | float):
        text = repr(value)
        return text if len(text) <= _SHOWN else f"a number of {len(text)} digits"
    return "an array" if isinstance(value, list) else "an object"


@dataclass(frozen=True, slots=True)
class Line:
    """A value to be written on one line, however much it holds."""

    value: Any


def written(value: Any) -> str:
    """Write a document: an entry or item per line, keys in the order given, one last newline.

    >>> print(written({"k": 2, "centres": [Line([0.1, -0.0]), Line([1e-320, 3.0])]}), end="")
    {
     "k": 2,
     "centres": [
      [0.1, -0.0],
      [1e-320, 3.0]
     ]
    }
    """
    return f"{_written(value, 0)}\n"


def _written(value: Any, depth: int) -> str:
    if isinstance(value, Line):
        return _inline(value.value)
    if not isinstance(value, dict | list) or not value:
        return _inline(value)
    if isinstance(value, dict):
        parts = [f"{_inline(key)}: {_written(part, depth + 1)}" for key, part in value.items()]
    else:
        parts = [_written(part, depth + 1) for part in value]
    pad = "\n" + " " * depth
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return f"{begin}{pad} {f',{pad} '.join(parts)}{pad}{end}"


def _inline(value: Any) -> str:
    # Python writes the shortest decimal that reads back as the same double.
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError as wrong:
        raise NotFinite(f"the document cannot be written: {wrong}") from None
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair is no UTF-8, but can be escaped
        return json.dumps(value, allow_nan=False)
    return text


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | Flaw:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            break
        seen.add(key)
    return Flaw(f"the key {_short(key)} occurs twice")


def _constant(token: str) -> Flaw:
    return Flaw(f"{token} is no finite number")


def _integer(token: str) -> int | Flaw:
    return (
        int(token)
        if len(token) <= MOST_DIGITS
        else Flaw(f"an integer of {len(token)} digits is too long")
    )


def _short(text: str) -> str:
    shown = repr(text)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
