"""Sheets of workbooks as typed columns (DATA-EXCEL)."""

from __future__ import annotations

import datetime
import zipfile
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import python_calamine as calamine

from refclust.data.dataset import Dataset
from refclust.data.files.source import display_name
from refclust.data.readers.cells import listed, shown
from refclust.data.readers.formats import Options, Plan, check_options
from refclust.data.readers.tables.framed import USABLE, plan_of
from refclust.data.readers.tables.layout import arranged
from refclust.data.typed import Column, Frame, kind_of, of_numbers, of_texts, text_of
from refclust.errors import BadFile, BadOption, EmptyFile, RaggedRows
from refclust.limits import within
from refclust_arrow.columnar import numbers_of

NAME: Final = "excel"
_USABLE: Final = (*USABLE, "array", "header")
_OLD: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # workbooks before 2007
_DATES: Final = (datetime.date, datetime.time, datetime.timedelta)


def frame(path: str, options: Options, rows: int | None = None) -> Frame:
    """Read the sheet that is named, or the only one with cells, with all its columns.

    Spec: DATA-EXCEL
    """
    check_options(NAME, options, _USABLE)
    file = display_name(path)
    title, cells, first = _sheet(path, file, options.array)
    file = f"{file}[{title}]"
    spelled = [_spelled(cell) or "" for cell in cells[0]]
    roles = replace(options, array=None)
    names = arranged(file, spelled, roles).names
    body = cells if names is None else cells[1:]
    first += names is not None
    for number, row in enumerate(body, first):
        if all(cell == "" or cell is None for cell in row):
            raise RaggedRows(f"{file}: row {number} is empty, though rows follow")
    if not body and rows is None:
        raise EmptyFile(f"{file} has a header but no row below it")
    body = body[:rows]
    called = names or tuple(str(j + 1) for j in range(len(spelled)))
    by_column: list[Sequence[Any]] = [*zip(*body, strict=True)] or [()] * len(called)
    columns = tuple(_column(name, column) for name, column in zip(called, by_column, strict=True))
    lines = array("q", range(first, first + len(body)))
    return Frame(columns, len(body), file, lines, names is not None)


def read(path: str, options: Options) -> Dataset:
    """Read a sheet whose features are all numbers.

    Spec: DATA-EXCEL
    """
    return numbers_of(frame(path, options), replace(options, array=None))


def plan(path: str, options: Options) -> Plan:
    """Tell what the columns hold."""
    table = frame(path, options)
    made = plan_of(NAME, table, replace(options, array=None, header=None))
    return replace(made, facts=(("sheet", table.file), *made.facts))


def sniff(path: str) -> float:
    """Judge by the first bytes, and by the names in an archive.

    Spec: DATA-READ
    """
    with open(path, "rb") as stream:
        start = stream.read(8)
    if start == _OLD:
        return 0.8
    if not start.startswith(b"PK"):
        return 0.0
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError):
        return 0.0
    return 0.95 if any(name.startswith("xl/workbook") for name in names) else 0.0


def _sheet(path: str, file: str, asked: str | None) -> tuple[str, list[list[Any]], int]:
    """The title of the sheet that is meant, its cells, and the number of the first row."""
    _check_size(path, file)
    try:
        book = calamine.load_workbook(path)
        titles = list(book.sheet_names)
        if asked is not None and asked not in titles:
            raise BadOption(f"{file} has no sheet {shown(asked)}; it has: {listed(titles)}")
        full: dict[str, tuple[list[list[Any]], int]] = {}
        for title in titles if asked is None else [asked]:
            sheet = book.get_sheet_by_name(title)
            cells = sheet.to_python(skip_empty_area=True)
            while cells and all(cell == "" for cell in cells[-1]):
                cells.pop()
            if cells:
                full[title] = cells, 1 + (sheet.start[0] if sheet.start else 0)
    except (calamine.CalamineError, OSError, ValueError) as error:
        if isinstance(error, BadOption):
            raise
        reason = " ".join(str(error).split())[:200]
        raise BadFile(f"{file} is no workbook that can be read: {reason}") from None
    if not full:
        raise EmptyFile(f"{file} has no cell in {listed(titles if asked is None else [asked])}")
    if len(full) > 1:
        raise BadOption(
            f"{file} has {len(full)} sheets with cells; name one (--array): {listed(list(full))}"
        )
    [(title, (cells, first))] = full.items()
    return title, cells, first


def _check_size(path: str, file: str) -> None:
    """Refuse an archive that would unfold beyond the limits."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (OSError, zipfile.BadZipFile, ValueError):
        return  # no archive; reading will tell
    within("stream", size, f"{file}, unpacked,")


def _column(name: str, cells: Sequence[Any]) -> Column:
    there = [cell for cell in cells if cell != ""]
    if there and all(type(cell) in (int, float) for cell in there):
        return of_numbers(name, array("d", (float("nan") if x == "" else x for x in cells)))
    if there and all(isinstance(cell, _DATES) for cell in there):
        texts = tuple(_spelled(cell) for cell in cells)
        return Column(name, "date", None, texts)
    if there and all(type(cell) is bool for cell in there):
        column = Column(name, "nominal", None, tuple(map(_spelled, cells)), ("false", "true"))
        return replace(column, kind=kind_of(column))
    return of_texts(name, [_spelled(cell) or "" for cell in cells])


def _spelled(cell: Any) -> str | None:
    """A cell as a text; nothing if it is empty."""
    match cell:
        case "":
            return None
        case bool():
            return "true" if cell else "false"
        case int() | float():
            return text_of(float(cell))
        case str():
            return cell
        case _:
            return str(cell)
