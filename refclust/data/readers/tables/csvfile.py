"""CSV and TSV files: one row an object, numbers as features, maybe an id, a label and a weight.

Realises DATA-CSV of chapter 09. Cells go straight from the text into one buffer of doubles; only
when a row fails is it looked at cell by cell, to say what is wrong and where. Nothing is guessed
that could lose an object or turn a label into a number.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import isfinite, isnan
from operator import itemgetter
from typing import Final, NoReturn

from refclust.data.dataset import DOUBLES, GAP, Dataset, dense, readonly
from refclust.data.files.textfile import display_name, suffix
from refclust.data.labels import split_lines
from refclust.data.readers.cells import (
    BLANKS,
    check_weights,
    is_missing,
    is_number,
    listed,
    number_in,
    place_of,
    weight_in,
)
from refclust.data.readers.formats import Options, Plan, Reader, check_options, head, packing
from refclust.data.readers.tables.delimited import (
    BY_SUFFIX,
    SAMPLE,
    Table,
    guessed_delimiter,
    open_table,
    parsed,
)
from refclust.data.readers.tables.layout import NAMES, Layout, delimiter_hint, layout, role_hint
from refclust.errors import (
    BadHeader,
    BadOption,
    EmptyFile,
    EmptyLabel,
    RaggedRows,
    RefclustError,
)

_LIKE_A_ROLE: Final = re.compile(r"(?:id|label|class|target|cluster|weight)s?_?[0-9]*", re.I)
_USABLE: Final = (
    "delimiter",
    "header",
    "id_column",
    "label_column",
    "weight_column",
    "columns",
    "missing",
)


def read_csv(path: str, options: Options) -> Dataset:
    """Read a delimited table of numbers.

    Spec: DATA-CSV
    """
    return _read("csv", path, options, options.delimiter)


def read_tsv(path: str, options: Options) -> Dataset:
    """Read a table whose columns are separated by tabs.

    Spec: DATA-CSV
    """
    return _read("tsv", path, options, _tab(options))


def sniff_csv(path: str) -> float:
    """How much a file looks like a delimited table of numbers.

    Spec: DATA-READ
    """
    return _sniffed(path, None)


def sniff_tsv(path: str) -> float:
    """How much a file looks like a table with tabs; less than CSV, which takes tabs as well.

    Spec: DATA-READ
    """
    return _sniffed(path, "\t") / 2


def plan_csv(path: str, options: Options) -> Plan:
    """Tell the delimiter, the header and the columns that reading would use."""
    return _plan("csv", path, options, options.delimiter)


def plan_tsv(path: str, options: Options) -> Plan:
    """Tell the header and the columns that reading would use."""
    return _plan("tsv", path, options, _tab(options))


def _read(kind: str, path: str, options: Options, delimiter: str | None) -> Dataset:
    table, rows, columns = _begun(kind, path, options, delimiter)
    pick = _picker(columns.features)
    values, weights = array(DOUBLES), array(DOUBLES)
    ids: list[str] = []
    labels: list[str] = []
    intern, width, gaps = sys.intern, columns.width, False
    blank = 0  # the first of the empty lines that may end the file
    for row in rows:
        if len(row) != width or (blank and row):
            if not row or (len(row) == 1 and row[0] and not row[0].strip(BLANKS)):
                blank = blank or table.line
                continue
            _refuse_row(table, row, columns, blank)
        cells = pick(row)
        try:
            numbers = [*map(float, cells)]
        except ValueError:
            numbers = _looked_at(table, row, columns, options)
        # Only a test: the sum is not finite if a number is not; overflow alone does no harm, for
        # then every cell is looked at. float() also takes 1_000 and digits of other scripts.
        text = "".join(cells)
        if not isfinite(sum(numbers)) or "_" in text or not text.isascii():
            numbers = _looked_at(table, row, columns, options)
            gaps = gaps or any(map(isnan, numbers))
        values.extend(numbers)
        if columns.label is not None:
            labels.append(intern(_name_in(table, row, columns, columns.label)))
        if columns.id is not None:
            ids.append(_name_in(table, row, columns, columns.id))
        if columns.weight is not None:
            weights.append(weight_in(row[columns.weight], _place(table, columns, columns.weight)))
    if not values:
        held = "a header but no row below it" if columns.names else "no row"
        raise EmptyFile(f"{display_name(path)} has {held}")
    check_weights(weights, display_name(path))
    return dense(
        values,
        len(columns.features),
        ids=tuple(ids) if columns.id is not None else None,
        features=None
        if columns.names is None
        else tuple(columns.names[i] for i in columns.features),
        labels=tuple(labels) if columns.label is not None else None,
        weights=readonly(weights) if columns.weight is not None else None,
        gaps=gaps,
    )


def _begun(
    kind: str, path: str, options: Options, delimiter: str | None
) -> tuple[Table, Iterator[list[str]], Layout]:
    """Read the first row, decide on the columns, and return the rows still to be read."""
    check_options(kind, options, _USABLE)
    _check_delimiter(delimiter)
    name = display_name(path)
    table = open_table(path, delimiter)
    rows = table.rows()
    first = next(rows, None)
    if first is None:
        raise EmptyFile(f"{name} is empty; it should hold a row per object")
    if not first or not "".join(first).strip(BLANKS):
        if len(first) > 1:
            raise BadHeader(f"{name}:1: all cells are empty; names or numbers are due")
        if all(not "".join(row).strip(BLANKS) for row in rows):
            raise EmptyFile(f"{name} holds nothing but empty lines")
        raise BadHeader(f"{name}:1: the line is empty; it should hold names or numbers")
    columns = layout(name, first, options)
    if columns.names is None:
        table.line = 0
        return table, _again(table, first, rows), columns
    return table, rows, columns


def _again(table: Table, first: list[str], rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """Yield the first row once more, then the others."""
    table.line = 1
    yield first
    yield from rows


def _tab(options: Options) -> str:
    if options.delimiter not in (None, "\t"):
        raise BadOption(f"the delimiter of tsv is the tab, not {options.delimiter!r}; csv has any")
    return "\t"


def _check_delimiter(delimiter: str | None) -> None:
    if delimiter is not None and (
        len(delimiter) != 1 or delimiter.isalnum() or delimiter in '"\r\n+-.\0'
    ):
        raise BadOption(
            f"the delimiter is {delimiter!r}; one character that is in no number is needed"
        )


def _picker(features: Sequence[int]) -> Callable[[list[str]], Sequence[str]]:
    if len(features) == 1:
        only = features[0]
        return lambda row: (row[only],)
    return itemgetter(*features)


def _place(table: Table, columns: Layout, column: int) -> str:
    return place_of(display_name(table.path), table.line, column, columns.names)


def _name_in(table: Table, row: Sequence[str], columns: Layout, column: int) -> str:
    if not row[column]:
        raise EmptyLabel(f"{_place(table, columns, column)} is empty; it names every row")
    return row[column]


def _looked_at(table: Table, row: Sequence[str], columns: Layout, options: Options) -> list[float]:
    """Look at a row cell by cell and refuse the first that is no finite number.

    Where cells may be missing, one without a number is NaN.
    """
    numbers: list[float] = []
    for column in columns.features:
        cell = row[column]
        if options.missing is not None and is_missing(cell):
            numbers.append(GAP)
        elif not is_number(cell) or not isfinite(float(cell)):
            hint = delimiter_hint(cell, columns, table.delimiter) or role_hint(column, columns)
            numbers.append(number_in(cell, _place(table, columns, column), hint=hint))
        else:
            numbers.append(float(cell))
    return numbers


def _refuse_row(table: Table, row: Sequence[str], columns: Layout, blank: int) -> NoReturn:
    name = display_name(table.path)
    if blank:
        raise RaggedRows(f"{name}:{blank}: the line is empty, though rows follow")
    due = "header" if columns.names else "first row"
    cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
    raise RaggedRows(f"{name}:{table.line}: the row has {cells}, the {due} has {columns.width}")


def _sniffed(path: str, delimiter: str | None) -> float:
    start = head(path)
    if not start or 0 in start:
        return 0.0
    text = start.decode("utf-8-sig", errors="replace")
    if "\ufffd" in text[:-1]:
        return 0.0
    lines = list(islice(split_lines(text), SAMPLE))
    if len(lines) > 1 and not lines[-1].endswith(("\n", "\r")):
        lines.pop()  # it may be cut
    lines = [line for line in lines if line.strip()]
    rows = parsed(lines, delimiter or guessed_delimiter(lines))
    body = rows[1:] or rows
    cells = [cell for row in body for cell in row]
    numbers = sum(map(is_number, cells))
    if len({len(row) for row in rows}) > 1:
        return 0.5 if 10 * numbers >= 9 * len(cells) else 0.0  # reading will say where
    if 2 * numbers < len(cells) or not numbers:
        return 0.3 if numbers else 0.0
    several = 6 if len(body[0]) > 1 else 5
    return (several + 3 * numbers / len(cells)) / 10


def _plan(kind: str, path: str, options: Options, delimiter: str | None) -> Plan:
    table, rows, columns = _begun(kind, path, options, delimiter)
    named = columns.names
    facts = {
        "delimiter": NAMES.get(table.delimiter, repr(table.delimiter)),
        "header": "no" if named is None else f"yes: {listed(named)}",
        "columns": str(columns.width),
        "features": f"{len(columns.features)}"
        + ("" if named is None else f": {listed([named[i] for i in columns.features])}"),
    }
    for role, place in (("id", columns.id), ("label", columns.label), ("weight", columns.weight)):
        if place is not None:
            facts[role] = f"column {place + 1}" + (f", {listed([named[place]])}" if named else "")
    notes: list[str] = []
    try:
        for row in islice(rows, SAMPLE):
            if row and len(row) != columns.width:
                _refuse_row(table, row, columns, 0)
            if row:
                _looked_at(table, row, columns, options)
    except RefclustError as error:
        notes.append(str(error))
    if named is not None:
        doubtful = [named[i] for i in columns.features if _LIKE_A_ROLE.fullmatch(named[i])]
        if doubtful:
            notes.append(f"read as features, but maybe ids or labels: {listed(doubtful)}")
    if delimiter is None and suffix(path) not in BY_SUFFIX:
        notes.append(f"the delimiter is judged by the first {SAMPLE} lines")
    if options.header is None:
        notes.append(
            "the first line is a header if it holds names instead of numbers where features are"
        )
    return Plan(kind, "dense", (*facts.items(), *packing(path)), tuple(notes))


READERS: Final = (
    Reader(
        "csv",
        (".csv",),
        "a table with commas, semicolons, tabs, bars or blanks between numbers",
        read_csv,
        sniff_csv,
        plan_csv,
    ),
    Reader(
        "tsv",
        (".tsv", ".tab"),
        "a table with tabs between numbers",
        read_tsv,
        sniff_tsv,
        plan_tsv,
    ),
)
