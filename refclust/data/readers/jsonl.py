"""JSON Lines: each line an array of numbers, or an object of named numbers, maybe with a text.

Realises DATA-JSONL of chapter 09. Arrays become dense rows, objects sparse ones. A number becomes
the double nearest to what is written, however long it is; nothing else is taken for a number.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from math import isfinite
from typing import Any, Final, NoReturn

from refclust.data.dataset import DOUBLES, Dataset, dense, readonly
from refclust.data.files.textfile import blocks, display_name
from refclust.data.readers.cells import check_weights, listed, shown, weight_in
from refclust.data.readers.formats import Options, Plan, Reader, check_options, head, packing
from refclust.data.text import PLAIN, NamedRows, counted_corpus
from refclust.errors import (
    BadCell,
    BadFile,
    BadOption,
    EmptyFile,
    EmptyLabel,
    MissingColumn,
    MissingValue,
    NotFinite,
    RaggedRows,
    RefclustError,
)

_OF_OBJECTS: Final = ("id_column", "label_column", "weight_column", "columns", "text_column")
_SAMPLE = 20


class Numeral(str):
    """A number as it is written, so that a label or an id keeps its spelling."""

    __slots__ = ()


def read(path: str, options: Options) -> Dataset:
    """Read JSON Lines; the first line decides between arrays and objects.

    Spec: DATA-JSONL
    """
    lines, objects = _begun(path, options)
    if not objects:
        return _arrays(display_name(path), lines)
    if options.text_column is not None:
        return _texts(display_name(path), lines, options)
    return _objects(display_name(path), lines, options)


def sniff(path: str) -> float:
    """How much a file looks like JSON Lines, judged by its first line.

    Spec: DATA-READ
    """
    start = head(path)
    first, end, _ = start.decode("utf-8-sig", errors="replace").partition("\n")
    if not first.lstrip(" \t").startswith(("{", "[")):
        return 0.0
    try:
        json.loads(first, parse_int=Numeral, parse_float=Numeral)
    except (ValueError, RecursionError):
        return 0.0 if end else 0.3  # a long first line is cut
    return 0.95


def plan(path: str, options: Options) -> Plan:
    """Tell whether lines are arrays or objects, and which fields would be read."""
    lines, objects = _begun(path, options)
    name = display_name(path)
    facts: list[tuple[str, str]] = [("lines", "objects" if objects else "arrays")]
    notes: list[str] = []
    fields: dict[str, None] = {}
    decode = _OBJECTS if objects else _ARRAYS
    try:
        for line, text in islice(lines, _SAMPLE):
            value = _decoded(decode, text, name, line)
            _check_kind(value, objects, name, line)
            if objects:
                fields.update(dict.fromkeys(value))
            elif len(facts) == 1:
                facts.append(("columns", str(len(value))))
    except RefclustError as error:
        notes.append(str(error))
    if objects:
        facts.append(("fields", f"{len(fields)} in the first lines: {listed(list(fields))}"))
    roles = ("id_column", "label_column", "weight_column", "text_column")
    for role in roles:
        column = getattr(options, role)
        if column is not None:
            facts.append((role.removesuffix("_column"), listed([column])))
            if column not in fields:
                notes.append(f"the first lines have no field {column!r}")
    kind = "dense" if not objects else "text" if options.text_column else "sparse"
    return Plan("jsonl", kind, (*facts, *packing(path)), tuple(notes))


def _begun(path: str, options: Options) -> tuple[Iterator[tuple[int, str]], bool]:
    """Look at the first line; return all lines and whether they hold objects."""
    check_options("jsonl", options, (*_OF_OBJECTS, "text"))
    if options.text is not None and options.text_column is None:
        raise BadOption("options for texts need a text_column: the field that holds the text")
    if options.text_column is not None and options.columns is not None:
        raise BadOption("features come from the text_column or from columns, not from both")
    roles = (options.id_column, options.label_column, options.weight_column, options.text_column)
    asked = [role for role in (*roles, *(options.columns or ())) if role is not None]
    if len(set(asked)) < len(asked):
        raise BadOption(f"each field has one role; asked for: {listed(asked)}")
    name = display_name(path)
    lines = _lines(path)
    first = next(lines, None)
    if first is None:
        raise EmptyFile(f"{name} is empty; it should hold one JSON value a line")
    objects = first[1].lstrip(" \t").startswith("{")
    if not objects and asked:
        raise BadOption(
            f"{name}:1: fields were named ({listed(asked)}), but only objects have fields"
        )
    return _chained(first, lines), objects


def _chained(first: tuple[int, str], lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    yield first
    yield from lines


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers; empty ones may only end it."""
    blank = 0
    for block in blocks(path):
        for number, line in enumerate(block.text.split("\n"), block.line):
            if not line or line.isspace():
                # The piece after the last line end is no line, but then nothing follows it
                # within its block.
                blank = blank or number
                continue
            if blank and blank < number:
                raise BadFile(
                    f"{display_name(path)}:{blank}: the line is empty, though lines follow"
                )
            blank = 0
            yield number, line


def _no_constant(text: str) -> NoReturn:
    raise NotFinite(f"{text} is not a finite number")


@dataclass(frozen=True, slots=True)
class _Twice:
    """An object in which a name occurs twice."""

    key: str


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Twice:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                return _Twice(key)
            seen.add(key)
    return members


# Arrays hold nothing but numbers, so these become doubles at once; float() of a numeral of any
# length is right, int() refuses long ones.
_ARRAYS: Final = json.JSONDecoder(parse_int=float, parse_constant=_no_constant)
_OBJECTS: Final = json.JSONDecoder(
    parse_int=Numeral,
    parse_float=Numeral,
    parse_constant=_no_constant,
    object_pairs_hook=_object,
)


def _decoded(decoder: json.JSONDecoder, text: str, name: str, line: int) -> Any:
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise BadFile(
            f"{name}:{line}: not JSON at character {error.colno}: {error.msg.lower()}; each line "
            "is one array of numbers or one object"
        ) from None
    except NotFinite as error:
        raise NotFinite(f"{name}:{line}: {error}; only finite numbers are allowed") from None
    except RecursionError:
        raise BadFile(f"{name}:{line}: JSON is nested too deeply for a row") from None
    if isinstance(value, _Twice):
        raise BadFile(f"{name}:{line}: the name {shown(value.key)} occurs twice in one object")
    return value


def _check_kind(value: Any, objects: bool, name: str, line: int) -> None:
    if not isinstance(value, dict if objects else list):
        due = "an object" if objects else "an array of numbers"
        raise BadFile(f"{name}:{line}: this is {_kind(value)}; {due} is due in every line")


def _arrays(name: str, lines: Iterator[tuple[int, str]]) -> Dataset:
    values = array(DOUBLES)
    width = -1
    for line, text in lines:
        row = _decoded(_ARRAYS, text, name, line)
        _check_kind(row, False, name, line)
        if width < 0:
            width = len(row)
            if not row:
                raise BadFile(f"{name}:{line}: the array is empty; at least one number is due")
        if len(row) != width:
            raise RaggedRows(f"{name}:{line}: {len(row)} numbers; the first line has {width}")
        # Only a test: the sum is not finite if a number is not. Truth values are no floats.
        if set(map(type, row)) != {float} or not isfinite(sum(row)):
            _check_array(row, name, line)
        values.extend(row)
    return dense(values, width)


def _check_array(row: list[Any], name: str, line: int) -> None:
    for column, value in enumerate(row, start=1):
        place = f"{name}:{line}: number {column}"
        if value is None:
            raise MissingValue(f"{place} is null; a number is needed in every row")
        if not isinstance(value, float):
            raise BadCell(f"{place} is {_kind(value)}; a number is needed")
        if not isfinite(value):
            raise NotFinite(f"{place} is beyond the largest double")


@dataclass(slots=True)
class _Named:
    """The ids, labels and weights of objects while they are collected."""

    name: str
    options: Options
    ids: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    weights: array[float] = field(default_factory=lambda: array(DOUBLES))

    def take(self, row: dict[str, Any], line: int) -> None:
        """Move what is no feature from an object to the lists."""
        options = self.options
        if options.id_column is not None:
            self.ids.append(self._word(row, options.id_column, line))
        if options.label_column is not None:
            self.labels.append(sys.intern(self._word(row, options.label_column, line)))
        if options.weight_column is not None:
            weight = self.pop(row, options.weight_column, line)
            place = f"{self.name}:{line}: the field {shown(options.weight_column)}"
            written = str(weight) if isinstance(weight, Numeral) else _numberless(weight, place)
            self.weights.append(weight_in(written, place))

    def pop(self, row: dict[str, Any], key: str, line: int) -> Any:
        """Take one field out of an object."""
        if key not in row:
            there = listed(list(row)) or "no field"
            raise MissingColumn(f"{self.name}:{line}: no field {key!r} here; there is: {there}")
        return row.pop(key)

    def known(self) -> dict[str, Any]:
        """What is known about the rows, as a data set takes it."""
        options = self.options
        check_weights(self.weights, self.name)
        return {
            "ids": None if options.id_column is None else tuple(self.ids),
            "labels": None if options.label_column is None else tuple(self.labels),
            "weights": None if options.weight_column is None else readonly(self.weights),
        }

    def _word(self, row: dict[str, Any], key: str, line: int) -> str:
        value = self.pop(row, key, line)
        place = f"{self.name}:{line}: the field {shown(key)}"
        if value is None or value == "":
            raise EmptyLabel(f"{place} is {'null' if value is None else 'empty'}")
        if isinstance(value, bool):
            return "true" if value else "false"
        if not isinstance(value, str):
            raise BadCell(f"{place} is {_kind(value)}; a text or a number is needed")
        return _sound(str(value), place)


def _objects(name: str, lines: Iterator[tuple[int, str]], options: Options) -> Dataset:
    named = _Named(name, options)
    rows = NamedRows(options.columns)
    for line, text in lines:
        row = _decoded(_OBJECTS, text, name, line)
        _check_kind(row, True, name, line)
        named.take(row, line)
        if options.columns is not None:
            row = {key: row[key] for key in options.columns if key in row}
        rows.add(_numbers(row, name, line).items())
    for key in options.columns or ():
        if not rows.uses(key):
            raise MissingColumn(f"{name} has no field {key!r} in any line")
    names = sorted(rows.names)
    if not names:
        raise MissingColumn(f"{name}: no object has a field left for a feature")
    for key in names:
        _sound(key, f"{name}: the field {shown(key)}")
    return rows.dataset(names, **named.known())


def _numbers(row: Mapping[str, Any], name: str, line: int) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for key, value in row.items():
        number = float(value) if isinstance(value, Numeral) else None
        if number is None or not isfinite(number):
            place = f"{name}:{line}: the field {shown(key)}"
            if number is not None:
                raise NotFinite(f"{place} is beyond the largest double")
            role = f"; if it is a label, say so: --label-column {listed([key])}"
            _numberless(value, place, role if isinstance(value, str) else "")
        else:
            numbers[key] = number
    return numbers


def _numberless(value: Any, place: str, hint: str = "") -> NoReturn:
    if value is None:
        raise MissingValue(f"{place} is null; leave the field out if it is zero")
    raise BadCell(f"{place} is {_kind(value)}; a number is needed{hint}")


def _texts(name: str, lines: Iterator[tuple[int, str]], options: Options) -> Dataset:
    named = _Named(name, options)
    key = options.text_column or ""

    def texts() -> Iterator[str]:
        for line, written in lines:
            row = _decoded(_OBJECTS, written, name, line)
            _check_kind(row, True, name, line)
            text = named.pop(row, key, line)
            named.take(row, line)
            place = f"{name}:{line}: the field {shown(key)}"
            if not isinstance(text, str) or isinstance(text, Numeral):
                raise BadCell(f"{place} is {_kind(text)}; a text is needed")
            yield _sound(text, place)

    data = counted_corpus(texts(), options.text or PLAIN, name=name).data
    return replace(data, **named.known())


def _sound(text: str, place: str) -> str:
    """Refuse half of a surrogate pair, which JSON can escape but no text holds."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadCell(
            f"{place} holds \\u{ord(text[error.start]):04x}, half of a character"
        ) from None
    return text


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Numeral() | float():
            return "a number"
        case str():
            return f"the text {shown(value)}"
        case list():
            return "an array"
        case _:
            return "an object"


READER: Final = Reader(
    "jsonl",
    (".jsonl", ".ndjson"),
    "a line of JSON a row: an array of numbers, an object of numbers, or an object with a text",
    read,
    sniff,
    plan,
)
