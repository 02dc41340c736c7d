"""Kinds of values in documents: how each is read, written and described by a schema (chapter 11).

A part belongs to one place of a document. What it must agree with elsewhere it calls by name: the
number of rows, another key of its object. Whoever reads knows what the names stand for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

from refclust.data.files.document import LARGEST, MOST_DIGITS, Line, Node

Known: TypeAlias = Mapping[str, Any]
Schema: TypeAlias = dict[str, Any]
NULL: Final[Schema] = {"type": "null"}


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of value.

    ``read`` makes it of a node, ``plain`` makes JSON of it (``True``: on a line with others),
    ``taken`` makes it of what a fit returned. ``schema`` says what a schema can, with records among
    the definitions; ``narrowed`` what it says once something is known.
    """

    read: Callable[[Node, Known], Any]
    schema: Callable[[Schema, Known], Schema]
    json: tuple[type, ...] = ()  # what it is in JSON
    names: frozenset[str] = frozenset()  # what it must agree with
    plain: Callable[[Any, Known, bool], Any] = lambda value, _known, _line: value
    taken: Callable[[Any], Any] = lambda value: value
    narrowed: Callable[[Known], Schema | None] = lambda _known: None
    scalar: bool = True  # an array of these takes one line


Wrapper: TypeAlias = Callable[[Part], Part]


def number_of(known: Known, name: int | str) -> int:
    """A number, or what a name stands for: a number, or how many there are.

    Spec: MODEL-LOAD
    """
    value = known[name] if isinstance(name, str) else name
    return value if isinstance(value, int) else len(value)


def _names(*names: object) -> frozenset[str]:
    return frozenset(name for name in names if isinstance(name, str))


def whole(least: int = 0, most: int | str | None = LARGEST, *, less: int = 0) -> Part:
    """An integer within bounds, the upper one some less than a number or what a name stands for.

    Spec: MODEL-LOAD
    """

    def read(node: Node, known: Known) -> int:
        return node.whole(least, None if most is None else number_of(known, most) - less)

    bound = {} if most is None else {"maximum": most if isinstance(most, int) else LARGEST}
    schema = {"type": "integer", "minimum": least, **bound}
    return Part(read, lambda _defs, _known: schema, (int,), _names(most))


def double(
    least: float | None = None,
    most: float | None = None,
    *,
    above: bool = False,
    null: float | None = None,
) -> Part:
    """A finite number within bounds; ``null``, if there is one, is what null stands for.

    Spec: MODEL-LOAD
    """

    def read(node: Node, _known: Known) -> float:
        if null is not None and node.value is None:
            return null
        value = node.double(least)
        if above and value == least:
            node.wrong(f"a number above {least:g}")
        if most is not None and value > most:
            node.wrong(f"a number from {least:g} to {most:g}")
        return value

    schema: Schema = {"type": "number" if null is None else ["number", "null"]}
    if least is not None:
        schema["exclusiveMinimum" if above else "minimum"] = least
    if most is not None:
        schema["maximum"] = most
    made = Part(read, lambda _defs, _known: schema, (float, int), taken=float)
    if null is None:
        return made
    return replace(made, plain=lambda value, _known, _line: None if value == null else value)


def real() -> Part:
    """A number; infinities, which JSON has not, are words."""

    def read(node: Node, _known: Known) -> float:
        return float(node.value) if node.value in ("inf", "-inf") else node.double()

    return replace(
        double(),
        read=read,
        plain=lambda value, _known, _line: str(value) if math.isinf(value) else value,
    )


def text(pattern: str = "", due: str = "") -> Part:
    """A string; of a pattern, if there is one, which ``due`` describes."""

    def read(node: Node, _known: Known) -> str:
        string = node.text()
        if pattern and not re.fullmatch(pattern, string):
            node.wrong(due)
        return string

    schema = {"type": "string", **({"pattern": f"^{pattern}$"} if pattern else {})}
    return Part(read, lambda _defs, _known: schema, (str,))


def flag() -> Part:
    """A truth value."""
    return Part(lambda node, _: node.flag(), lambda _defs, _known: {"type": "boolean"}, (bool,))


def words(allowed: Sequence[str]) -> Part:
    """One of some words."""
    schema = {"enum": list(allowed)}
    return Part(lambda node, _: node.one_of(allowed), lambda _defs, _known: schema, (str,))


def rational(pattern: str = "(0|[1-9][0-9]*)(/[1-9][0-9]*)?", *, signed: bool = False) -> Part:
    """A rational number in lowest terms, as a string.

    Spec: MODEL-LOAD
    """
    schema = {"type": "string", "pattern": f"^{pattern}$", "maxLength": MOST_DIGITS}
    made = Part(lambda node, _: node.rational(signed=signed), lambda _defs, _known: schema, (str,))
    return replace(made, plain=lambda value, _known, _line: str(value))


def doubles(
    length: int | str | None = None,
    least: float | None = None,
    most: float | None = None,
    *,
    fewest: int = 0,
) -> Part:
    """An array of finite numbers, on one line.

    Spec: MODEL-LOAD
    """

    def read(node: Node, known: Known) -> tuple[float, ...]:
        numbers = node.doubles(None if length is None else number_of(known, length), least)
        if most is not None and numbers and max(numbers) > most:
            place = next(place for place, x in enumerate(numbers) if x > most)
            node.item(place).wrong(f"a number from {least:g} to {most:g}")
        return numbers

    made = _row(read, _array(double(least, most).schema({}, {}), fewest), length)
    return replace(made, taken=lambda value: tuple(map(float, value)))


def wholes(
    length: int | str | None,
    least: int,
    most: str,
    *,
    less: int = 0,
    made: Callable[[list[int]], Any] = tuple,
) -> Part:
    """An array of integers within bounds, on one line."""

    def read(node: Node, known: Known) -> Any:
        due = None if length is None else number_of(known, length)
        return made(node.wholes(due, least, number_of(known, most) - less))

    return _row(read, _array(whole(least).schema({}, {}), 0), length, most)


def array(item: Part, length: int | None = None, made: Callable[[Any], Any] = tuple) -> Part:
    """An array; of scalars on one line, of anything else with a line for each item."""
    whole_line = item.scalar

    def plain(value: Any, known: Known, line: bool) -> Any:
        inner = line or whole_line
        values = [item.plain(element, known, inner) for element in value]
        return Line(values) if whole_line and not line else values

    def narrowed(known: Known) -> Schema | None:
        inner = item.narrowed(known)
        return None if inner is None else {"items": inner}

    bounds = {} if length is None else {"minItems": length, "maxItems": length}
    return Part(
        lambda node, known: made([item.read(element, known) for element in node.items(length)]),
        lambda defs, known: {"type": "array", "items": item.schema(defs, known), **bounds},
        (list,),
        item.names,
        plain,
        lambda value: tuple(map(item.taken, value)),
        narrowed,
        scalar=False,
    )


def several(places: Sequence[Part]) -> Part:
    """An array of one line with a part for each of its places."""

    def read(node: Node, known: Known) -> tuple[Any, ...]:
        pairs = zip(places, node.items(len(places)), strict=True)
        return tuple(part.read(element, known) for part, element in pairs)

    def plain(value: Any, known: Known, line: bool) -> Any:
        values = [
            part.plain(element, known, True) for part, element in zip(places, value, strict=True)
        ]
        return values if line else Line(values)

    def schema(defs: Schema, known: Known) -> Schema:
        prefix = [part.schema(defs, known) for part in places]
        return {"type": "array", "prefixItems": prefix, "items": False, "minItems": len(prefix)}

    return Part(read, schema, (list,), plain=plain, scalar=False)


def names(
    length: str | None, check: Callable[[Node, Any, dict[Any, None]], None], *, fewest: int = 0
) -> Part:
    """Names that are all strings or all integers; ``check`` sees each, and those before it."""

    def read(node: Node, known: Known) -> tuple[str | int, ...]:
        items = node.items(None if length is None else number_of(known, length))
        seen: dict[str | int, None] = {}
        for item in items:
            # All are of the kind of the first: numbers and strings that look like them never meet.
            numbers = type(items[0].value) is int
            name = item.whole(-(2**63), 2**63 - 1) if numbers else item.text()
            check(item, name, seen)
            seen[name] = None
        return tuple(seen)

    integer = {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}
    kinds = [
        {**_array(kind, fewest), "uniqueItems": True} for kind in ({"type": "string"}, integer)
    ]
    return _row(read, {"anyOf": kinds}, length)


def _array(item: Schema, fewest: int) -> Schema:
    return {"type": "array", "items": item, **({"minItems": fewest} if fewest else {})}


def _row(read: Callable[[Node, Known], Any], schema: Schema, *named: object) -> Part:
    """An array on one line."""

    def plain(value: Any, _known: Known, line: bool) -> Any:
        listing = value if isinstance(value, tuple) else list(value)
        return listing if line else Line(listing)

    return Part(
        read, lambda _defs, _known: schema, (list,), _names(*named), plain=plain, scalar=False
    )


def either(parts: Sequence[Part]) -> Part:
    """One of several parts, told apart by their types in JSON; the last one does the refusing."""

    def by(kind: type) -> Part:
        return next((part for part in parts if kind in part.json), parts[-1])

    def of(value: Any) -> Part:
        if isinstance(value, str | Fraction):  # rational numbers are strings in JSON
            return by(str)
        return by(list if isinstance(value, Sequence) else type(value))

    return Part(
        lambda node, known: by(type(node.value)).read(node, known),
        lambda defs, known: {"anyOf": [part.schema(defs, known) for part in parts]},
        tuple(kind for part in parts for kind in part.json),
        frozenset().union(*(part.names for part in parts)),
        lambda value, known, line: of(value).plain(value, known, line),
        lambda value: of(value).taken(value),
        scalar=all(part.scalar for part in parts),
    )


def maybe(part: Part) -> Part:
    """A part, or null."""
    return replace(
        part,
        read=lambda node, known: None if node.value is None else part.read(node, known),
        schema=lambda defs, known: {"anyOf": [NULL, part.schema(defs, known)]},
        plain=lambda value, known, line: None if value is None else part.plain(value, known, line),
        taken=lambda value: None if value is None else part.taken(value),
    )


# -- what is added to a part --------------------------------------------------------------------


def read_by(read: Callable[[Part, Node, Known], Any], *names: str) -> Wrapper:
    """A function that reads with a part, or what no declaration can tell how."""
    return lambda part: replace(
        part, read=lambda node, known: read(part, node, known), names=part.names | _names(*names)
    )


def also(check: Callable[[Node, Any, Known], None], *names: str) -> Wrapper:
    """A further check of the value, which may need names."""

    def read(part: Part, node: Node, known: Known) -> Any:
        value = part.read(node, known)
        check(node, value, known)
        return value

    return read_by(read, *names)


def items(length: str, *, fewest: int = 0, less: int = 0) -> Wrapper:
    """As many items as a name says, or some less."""

    def read(part: Part, node: Node, known: Known) -> Any:
        node.items(number_of(known, length) - less)
        return part.read(node, known)

    return lambda part: read_by(read, length)(_filled(part, fewest))


def counted(noun: str, most: str, *, fewer: bool | tuple[str, str]) -> Wrapper:
    """As many items as a name says; fewer, but one, where another name stands for a word."""

    def check(node: Node, value: Any, known: Known) -> None:
        count, due = len(value), known[most]
        enough = known[fewer[0]] == fewer[1] if isinstance(fewer, tuple) else fewer
        if not (1 <= count <= due if enough else count == due):
            due_text = f"{most} is {due}" if "." in most else f"{due} are due"
            node.fail(f"{count} {noun}; {due_text}")

    def read(part: Part, node: Node, known: Known) -> Any:
        if type(node.value) is list and list in part.json:  # before anything is made of it
            check(node, node.value, known)
        return also(check)(part).read(node, known)

    return lambda part: read_by(read)(_filled(part, 1))


def _filled(part: Part, fewest: int) -> Part:
    """The same with a least number of items, of an array."""

    def schema(defs: Schema, known: Known) -> Schema:
        whole_schema = part.schema(defs, known)
        return (
            {**whole_schema, "minItems": fewest}
            if fewest and "items" in whole_schema
            else whole_schema
        )

    return replace(part, schema=schema)


def only(name: str, word: str, complaint: str) -> Wrapper:
    """A value where a name stands for a word, and null elsewhere."""

    def read(part: Part, node: Node, known: Known) -> Any:
        if known[name] == word:
            return part.read(node, known)
        return None if node.value is None else node.fail(complaint)

    def wrapped(part: Part) -> Part:
        def narrowed(known: Known) -> Schema | None:
            if name not in known:
                return None
            return part.schema({}, known) if known[name] == word else NULL

        made = read_by(read, name)(part)
        return replace(maybe(part), read=made.read, names=made.names, narrowed=narrowed)

    return wrapped


def in_order(part: Part) -> Part:
    """A set is written in the order of its items."""
    return replace(part, plain=lambda value, known, line: part.plain(sorted(value), known, line))


def on_line(part: Part) -> Part:
    """The same on one line."""

    def plain(value: Any, known: Known, line: bool) -> Any:
        listing = part.plain(value, known, True)
        return listing if line else Line(listing)

    return replace(part, plain=plain)
