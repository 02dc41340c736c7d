"""Contingency tables in files: CSV, TSV or JSON; rows are clusters, columns classes (chapter 40).

A JSON table is a list of rows, or an object that holds one under ``table``. Cells are exact:
``3``, ``0.25`` and ``1/3`` are the rationals they are written as, in JSON too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from refclust.data.files.textfile import check_json, display_name, read_text, suffix
from refclust.data.labels import delimited_rows, exact_number, split_lines
from refclust.errors import BadTable, EmptyFile, RaggedRows

Count: TypeAlias = int | Fraction
Placed: TypeAlias = tuple[str, list[Any]]  # where a row stands, and its cells


@dataclass(frozen=True, slots=True)
class TableFile:
    """The rows of a table, and the names of clusters and classes where the file has them."""

    rows: list[list[Count]]
    clusters: tuple[str, ...] | None
    classes: tuple[str, ...] | None


def read_table(path: str, *, header: bool = False, delimiter: str | None = None) -> TableFile:
    """Read a contingency table; with ``header`` the first row and column hold names.

    Spec: none (reads a file)
    """
    text = read_text(path)
    as_json = delimiter is None and _is_json(path, text)
    rows = list(_json_rows(path, text) if as_json else _delimited(path, text, delimiter))
    if not rows:
        raise EmptyFile(f"{display_name(path)} is empty; it should hold a row per cluster")
    width = len(rows[0][1])
    for place, row in rows:
        if len(row) != width:
            raise RaggedRows(
                f"{place}: the row has {len(row)} cell{'' if len(row) == 1 else 's'}, "
                f"the first one has {width}"
            )
    clusters = classes = None
    if header:
        classes = tuple(map(str, rows[0][1][1:]))
        clusters = tuple(str(row[0]) if row else "" for _, row in rows[1:])
        rows = [(place, row[1:]) for place, row in rows[1:]]
    first = 2 if header else 1
    cells = [
        [
            _cell(cell, f"{place}, column {j}: the cell", header)
            for j, cell in enumerate(row, start=first)
        ]
        for place, row in rows
    ]
    return TableFile(cells, clusters, classes)


def _is_json(path: str, text: str) -> bool:
    ending = suffix(path)
    # Of a table without such a name the first sign tells: no number starts like JSON.
    return ending == ".json" or (ending not in (".csv", ".tsv") and text.lstrip()[:1] in ("[", "{"))


def _delimited(path: str, text: str, delimiter: str | None) -> Iterator[Placed]:
    name = display_name(path)
    for line, row in delimited_rows(path, split_lines(text), delimiter):
        yield f"{name}:{line}", list(row)


def _json_rows(path: str, text: str) -> Iterator[Placed]:
    name = display_name(path)
    if not text.strip():
        return
    check_json(text, name)
    try:
        # Numbers stay text, so that 0.1 is one tenth and not the double beside it.
        content = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        raise BadTable(f"{name}:{error.lineno}: not JSON: {error.msg.lower()}") from None
    except RecursionError:
        raise BadTable(f"{name}: not a table: JSON nested too deeply") from None
    table = content.get("table") if isinstance(content, dict) else content
    if not isinstance(table, list) or not all(isinstance(row, list) for row in table):
        raise BadTable(
            f'{name}: a table in JSON is a list of rows, or {{"table": rows}}; '
            "a row is a list of numbers"
        )
    for number, row in enumerate(table, start=1):
        yield f"{name}, row {number}", row


def _cell(cell: Any, place: str, named: bool) -> Count:
    if not isinstance(cell, str):
        raise BadTable(f"{place} is {json.dumps(cell)[:60]}, which is not a number")
    try:
        return exact_number(cell, place, BadTable)
    except BadTable as error:
        # Names are read as names only when asked for: "0" may be one.
        advice = "" if named else "; if the first row and column are names, ask for a header"
        raise BadTable(f"{error}{advice}") from None
