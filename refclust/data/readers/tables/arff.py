"""ARFF, the tables of Weka: columns declared as numbers, categories, texts or dates (DATA-ARFF)."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from refclust.data.dataset import DOUBLES, Dataset, readonly
from refclust.data.files.textfile import display_name, line_lists
from refclust.data.files.whole import is_whole
from refclust.data.readers.cells import number_in, place_of, shown, weight_in
from refclust.data.readers.formats import Options, Plan, Reader, check_options, head, packing
from refclust.data.readers.tables.framed import USABLE, plan_of, rows_of
from refclust.data.typed import Column, Frame, kind_of
from refclust.errors import (
    BadCell,
    BadFile,
    BadHeader,
    EmptyFile,
    IndexOutOfRange,
    RaggedRows,
)
from refclust.notes import tell

NAME: Final = "arff"
WEIGHT: Final = "weight"  # the column of weights that rows carry behind them
_NUMBERS: Final = ("numeric", "real", "integer")
_QUOTED: Final = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE: Final = re.compile(rf"@attribute\s+({_QUOTED}|[^\s'\"{{}},%]+)\s*(.*)", re.I)
_CELL: Final = re.compile(rf"\s*((?:[0-9]+\s+)?(?:{_QUOTED})|[^,'\"{{}}]*)\s*")
_WEIGHT: Final = re.compile(r"[,\s]\s*\{\s*([^{},]*?)\s*\}\s*$")
_SPARSE: Final = re.compile(r"\s*([0-9]+)\s+(.*)", re.S)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(slots=True)
class _Attribute:
    """One declared column and its cells while rows are read; None is a missing cell."""

    name: str
    kind: str  # number, nominal, string or date
    categories: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    numbers: array[float] = field(default_factory=lambda: array(DOUBLES))
    texts: list[str | None] = field(default_factory=list)

    def add(self, cell: str | None, place: str) -> None:
        """Take the cell of the next row."""
        if self.kind == "number":
            self.numbers.append(math.nan if cell is None else number_in(cell, place))
            return
        if self.kind == "nominal" and cell is not None and cell not in self.known:
            raise BadCell(f"{place} is {shown(cell)}, which is not among the declared categories")
        self.texts.append(cell)

    def column(self) -> Column:
        """The column, as typed tables have it."""
        if self.kind == "number":
            column = Column(self.name, "number", readonly(self.numbers), None)
            return replace(column, kind=kind_of(column))
        raw = [cell if cell is not None else "?" for cell in self.texts]
        categories = self.categories if self.kind == "nominal" else None
        column = Column(self.name, "nominal", None, tuple(self.texts), categories, raw)
        kind = kind_of(column)
        if self.kind == "date" and kind != "missing-only":
            kind = "date"
        if self.kind == "string" and kind == "nominal":
            kind = "text"  # as it is declared, however few there are
        return replace(column, kind=kind)


def frame(path: str, options: Options, rows: int | None = None) -> Frame:
    """Read the table with all its columns, as they are declared; maybe only some rows.

    Spec: DATA-ARFF, PREP-KIND
    """
    check_options(NAME, options, USABLE)
    file = display_name(path)
    lines = _lines(path)
    attributes = _declared(file, lines)
    places, weights = array("q"), list[str | None]()
    for line, text in lines:
        body, weight = _weighed(text)
        cells = _cells(file, line, body, attributes)
        for j, (attribute, cell) in enumerate(zip(attributes, cells, strict=True)):
            attribute.add(cell, f"{file}:{line}: column {j + 1} ({shown(attribute.name)})")
        places.append(line)
        weights.append(weight)
        if len(places) == rows:
            break
    if not places and rows is None:
        raise EmptyFile(f"{file} has no row below @data")
    columns = [attribute.column() for attribute in attributes]
    if any(weight is not None for weight in weights):
        if options.weight_column == WEIGHT:
            columns.append(_weight_column(file, columns, weights, places))
        else:
            tell(f"{file}: rows have weights, which are not used; --weight-column {WEIGHT} does")
    return Frame(tuple(columns), len(places), file, places)


def read(path: str, options: Options) -> Dataset:
    """Read a table whose features are all numbers.

    Spec: DATA-ARFF
    """
    return rows_of(frame(path, options), options)


def plan(path: str, options: Options) -> Plan:
    """Tell what the columns are declared to hold."""
    made = plan_of(NAME, frame(path, options), options)
    return replace(made, facts=(*made.facts, *packing(path)))


def sniff(path: str) -> float:
    """Judge by the declarations at the beginning.

    Spec: DATA-READ
    """
    text = head(path).decode("utf-8-sig", errors="replace").lower()
    lines = [line.strip() for line in text.splitlines()]
    words = [line.split(None, 1)[0] for line in lines if line and not line.startswith("%")]
    return 0.95 if words[:1] == ["@relation"] and "@attribute" in words else 0.0


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """Yield what is no comment and not blank, with the numbers of the lines."""
    for first, texts in line_lists(path):
        for number, text in enumerate(texts, first):
            bare = text.strip()
            if bare and not bare.startswith("%"):
                yield number, bare


def _declared(file: str, lines: Iterator[tuple[int, str]]) -> list[_Attribute]:
    """Read the declarations up to @data."""
    attributes: dict[str, _Attribute] = {}
    line = 0
    for line, text in lines:
        word = text.split(None, 1)[0].lower()
        if word == "@data":
            if not attributes:
                raise BadHeader(f"{file}:{line}: @data, but no @attribute was declared before it")
            return list(attributes.values())
        if word == "@relation":
            continue
        declared = _ATTRIBUTE.fullmatch(text)
        if word != "@attribute" or declared is None:
            raise BadHeader(
                f"{file}:{line}: {shown(text)}; '@attribute name type' or @data is due here"
            )
        attribute = _attribute(_unquoted(declared[1]), declared[2].strip(), f"{file}:{line}")
        if attribute.name in attributes:
            raise BadHeader(f"{file}:{line}: a second attribute {shown(attribute.name)}")
        attributes[attribute.name] = attribute
    if not line:
        raise EmptyFile(f"{file} is empty; it should begin with @relation")
    raise BadHeader(f"{file}:{line}: the file ends before @data")


def _attribute(name: str, declared: str, place: str) -> _Attribute:
    word = declared.split(None, 1)[0].lower() if declared else ""
    if word in _NUMBERS:
        return _Attribute(name, "number")
    if word in ("string", "date"):
        return _Attribute(name, word)
    if declared.startswith("{") and declared.endswith("}"):
        cells = _split(declared[1:-1])
        categories = tuple(cell for cell in map(_value, cells or ()) if cell is not None)
        if cells is None or len(set(categories)) != len(cells) or "" in categories:
            raise BadHeader(
                f"{place}: the categories of {shown(name)} are {shown(declared)}; different "
                "words between commas are due"
            )
        return _Attribute(name, "nominal", categories, frozenset(categories))
    if word == "relational":
        raise BadHeader(f"{place}: {shown(name)} is relational; a table in a cell is not read")
    raise BadHeader(
        f"{place}: the type of {shown(name)} is {shown(declared)}; numeric, string, date or "
        "{categories} is due"
    )


def _weighed(text: str) -> tuple[str, str | None]:
    """A row without the weight that may stand behind it, and that weight."""
    if not text.endswith("}") or (text.startswith("{") and text.count("{") == 1):
        return text, None
    weight = _WEIGHT.search(text)
    return (text, None) if weight is None else (text[: weight.start()], weight[1])


def _cells(
    file: str, line: int, text: str, attributes: Sequence[_Attribute]
) -> Sequence[str | None]:
    if text.startswith("{"):
        return _sparse(file, line, text, attributes)
    cells = _split(text)
    if cells is None:
        raise BadFile(f"{file}:{line}: a quote or a brace in {shown(text)} has no counterpart")
    if len(cells) == 1 < len(attributes):
        cells = text.split()  # blanks separate, too
    if len(cells) != len(attributes):
        raise RaggedRows(
            f"{file}:{line}: the row has {len(cells)} cell{'' if len(cells) == 1 else 's'}, "
            f"{len(attributes)} attributes are declared"
        )
    return [_value(cell) for cell in cells]


def _sparse(
    file: str, line: int, text: str, attributes: Sequence[_Attribute]
) -> Sequence[str | None]:
    """A row ``{index value, …}`` from 0; what is left out is 0, or the first category."""
    cells = _split(text[1:-1]) if text.endswith("}") else None
    if cells is None:
        raise BadFile(f"{file}:{line}: {shown(text)}; a sparse row is '{{index value, ...}}'")
    row: dict[int, str | None] = {}
    for cell in cells if text[1:-1].strip() else ():
        entry = _SPARSE.fullmatch(cell)
        if entry is None or not is_whole(entry[1]):
            raise BadFile(f"{file}:{line}: {shown(cell)} is no entry 'index value'")
        index = int(entry[1][:12])
        if index >= len(attributes) or index in row:
            raise IndexOutOfRange(
                f"{file}:{line}: the index {index}; 0 to {len(attributes) - 1} are allowed, once"
            )
        row[index] = _value(entry[2].strip())
    return [
        row[j] if j in row else _left_out(attribute, place_of(file, line, j, None))
        for j, attribute in enumerate(attributes)
    ]


def _left_out(attribute: _Attribute, place: str) -> str:
    if attribute.kind == "nominal":
        return attribute.categories[0]
    if attribute.kind == "number":
        return "0"
    raise BadCell(f"{place} ({shown(attribute.name)}) is left out; a {attribute.kind} has no zero")


def _split(text: str) -> list[str] | None:
    """The cells between commas, quotes kept; nothing if a quote is not closed."""
    if "'" not in text and '"' not in text and "{" not in text and "}" not in text:
        return [cell.strip() for cell in text.split(",")]
    cells: list[str] = []
    at = 0
    while True:
        cell = _CELL.match(text, at)
        if cell is None:
            return None
        cells.append(cell[1].strip())
        at = cell.end()
        if at == len(text):
            return cells
        if text[at] != ",":
            return None
        at += 1


def _value(cell: str) -> str | None:
    """What a cell holds: nothing if it is a question mark, else a text without its quotes."""
    return None if cell == "?" else _unquoted(cell)


def _unquoted(cell: str) -> str:
    if len(cell) < 2 or cell[0] not in "'\"" or cell[-1] != cell[0]:
        return cell
    return re.sub(r"\\(.)", lambda sign: _ESCAPES.get(sign[1], sign[1]), cell[1:-1])


def _weight_column(
    file: str,
    columns: Sequence[Column],
    weights: Sequence[str | None],
    lines: Sequence[int],
) -> Column:
    """Weights of rows as a further column; a row without one weighs 1."""
    if WEIGHT in (column.name for column in columns):
        raise BadHeader(f"{file}: rows have weights, and an attribute is called {WEIGHT}, too")
    numbers = array(DOUBLES)
    for weight, line in zip(weights, lines, strict=True):
        numbers.append(1.0 if weight is None else weight_in(weight, f"{file}:{line}: the weight"))
    return Column(WEIGHT, "number", readonly(numbers), None)


READER: Final = Reader(
    NAME,
    (".arff",),
    "a table of Weka: declared columns of numbers, categories, texts and dates",
    read,
    sniff,
    plan,
    frame,
)
