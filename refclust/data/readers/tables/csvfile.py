"""CSV and TSV files: one row an object, numbers as features, maybe an id, a label and a weight.

Realises DATA-CSV of chapter 09. Cells go straight from the text into one buffer of doubles; only
when a row fails is it looked at cell by cell, to say what is wrong and where. Nothing is guessed
that could lose an object or turn a label into a number.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Callable, Sequence
from itertools import islice
from math import isfinite
from operator import itemgetter
from typing import Final

from refclust.data.dataset import DOUBLES, Dataset, dense, readonly
from refclust.data.files.delimiters import NAMES, SAMPLE
from refclust.data.files.textfile import display_name, suffix
from refclust.data.labels import split_lines
from refclust.data.readers.cells import (
    BLANKS,
    check_weights,
    is_number,
    listed,
    number_in,
    weight_in,
)
from refclust.data.readers.formats import Options, Plan, Reader, head, packing
from refclust.data.readers.tables.decimals import Decimals, has_decimal_comma, pointed_columns
from refclust.data.readers.tables.delimited import (
    BY_SUFFIX,
    Table,
    guessed_delimiter,
    parsed,
)
from refclust.data.readers.tables.documents import read_texts
from refclust.data.readers.tables.layout import (
    Layout,
    arranged,
    delimiter_hint,
    role_hint,
)
from refclust.data.readers.tables.opening import begun, line_of, name_in, place_in, refuse_row
from refclust.data.typed import Frame, of_texts
from refclust.errors import (
    BadOption,
    EmptyFile,
    RefclustError,
)
from refclust.limits import within

_LIKE_A_ROLE: Final = re.compile(r"(?:id|label|class|target|cluster|weight)s?_?[0-9]*", re.I)
_CHECKED: Final = 1 << 13  # after so many rows of texts their memory is counted again
_CELL: Final = 60  # bytes that a short text takes


def read_csv(path: str, options: Options) -> Dataset:
    """Read a delimited table of numbers, or of texts if a column of texts is named.

    Spec: DATA-CSV
    """
    if options.text_column is not None:
        return read_texts("csv", path, options, options.delimiter)
    return _read("csv", path, options, options.delimiter)


def read_tsv(path: str, options: Options) -> Dataset:
    """Read a table whose columns are separated by tabs.

    Spec: DATA-CSV
    """
    if options.text_column is not None:
        return read_texts("tsv", path, options, _tab(options))
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


def frame_csv(path: str, options: Options, rows: int | None = None) -> Frame:
    """Read a delimited table with all its columns, whatever they hold; maybe only some rows.

    Spec: DATA-CSV, PREP-KIND
    """
    return _framed("csv", path, options, options.delimiter, rows)


def frame_tsv(path: str, options: Options, rows: int | None = None) -> Frame:
    """Read a table whose columns are separated by tabs, whatever they hold.

    Spec: DATA-CSV, PREP-KIND
    """
    return _framed("tsv", path, options, _tab(options), rows)


def _framed(
    kind: str, path: str, options: Options, delimiter: str | None, most: int | None
) -> Frame:
    table, rows, columns = begun(kind, path, options, delimiter, arranged)
    cells: list[list[str]] = []
    lines = array("q")
    blank = 0
    for row in rows:
        if len(row) != columns.width or (blank and row):
            if not row or (len(row) == 1 and row[0] and not row[0].strip(BLANKS)):
                blank = blank or table.line
                continue
            refuse_row(table, row, columns, blank)
        cells.append(row)
        lines.append(table.line)
        if len(cells) == most:
            break
        if not len(cells) % _CHECKED:
            within("memory", _CELL * columns.width * len(cells), f"{display_name(path)} as texts")
    file = display_name(path)
    if not cells and most is None:
        held = "a header but no row below it" if columns.names else "no row"
        raise EmptyFile(f"{file} has {held}")
    names = columns.names or tuple(str(i + 1) for i in range(columns.width))
    by_column: list[Sequence[str]] = [*zip(*cells, strict=True)] or [()] * columns.width
    if most is None:
        numeric = [j for j in range(columns.width) if j not in (columns.id, columns.label)]
        decimals = Decimals(options.decimal, table.delimiter)
        by_column = pointed_columns(by_column, numeric, decimals, file, lines)
    typed = tuple(of_texts(name, column) for name, column in zip(names, by_column, strict=True))
    return Frame(typed, len(cells), file, lines, columns.names is not None)


def _read(kind: str, path: str, options: Options, delimiter: str | None) -> Dataset:
    table, rows, columns = begun(kind, path, options, delimiter)
    pick = _picker(columns.features)
    decimals = Decimals(options.decimal, table.delimiter)
    values, weights = array(DOUBLES), array(DOUBLES)
    ids: list[str] = []
    labels: list[str] = []
    intern, width = sys.intern, columns.width
    blank = 0  # the first of the empty lines that may end the file
    pending = decimals.pending
    for row in rows:
        if len(row) != width or (blank and row):
            if not row or (len(row) == 1 and row[0] and not row[0].strip(BLANKS)):
                blank = blank or table.line
                continue
            refuse_row(table, row, columns, blank)
        if decimals.comma:
            row = _pointed(table, row, columns, decimals)
        cells = pick(row)
        try:
            numbers = [*map(float, cells)]
        except ValueError:
            if not decimals.turned(cells, line_of(table)):
                _check_cells(table, row, columns)
                raise
            row = _pointed(table, row, columns, decimals)
            _check_cells(table, row, columns)
            cells = pick(row)
            numbers = [*map(float, cells)]
        # Only a test: the sum is not finite if a number is not; overflow alone does no harm, for
        # then every cell is looked at. float() also takes 1_000 and digits of other scripts.
        text = "".join(cells)
        if not isfinite(sum(numbers)) or "_" in text or not text.isascii():
            _check_cells(table, row, columns)
        if pending and "." in text:
            decimals.saw_point(line_of(table))
            pending = decimals.pending
        values.extend(numbers)
        if columns.label is not None:
            labels.append(intern(name_in(table, row, columns, columns.label)))
        if columns.id is not None:
            ids.append(name_in(table, row, columns, columns.id))
        if columns.weight is not None:
            weights.append(weight_in(row[columns.weight], place_in(table, columns, columns.weight)))
    if not values:
        held = "a header but no row below it" if columns.names else "no row"
        raise EmptyFile(f"{display_name(path)} has {held}")
    decimals.settle()
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
    )


def _pointed(table: Table, row: list[str], columns: Layout, decimals: Decimals) -> list[str]:
    """The row with points for decimal commas in all columns of numbers."""
    places = [*columns.features, *([] if columns.weight is None else [columns.weight])]
    pointed = list(row)
    cells = decimals.pointed([row[place] for place in places], line_of(table))
    for place, cell in zip(places, cells, strict=True):
        pointed[place] = cell
    return pointed


def _tab(options: Options) -> str:
    if options.delimiter not in (None, "\t"):
        raise BadOption(f"the delimiter of tsv is the tab, not {options.delimiter!r}; csv has any")
    return "\t"


def _picker(features: Sequence[int]) -> Callable[[list[str]], Sequence[str]]:
    if len(features) == 1:
        only = features[0]
        return lambda row: (row[only],)
    return itemgetter(*features)


def _check_cells(table: Table, row: Sequence[str], columns: Layout) -> None:
    """Look at a row cell by cell and refuse the first that is no finite number."""
    for column in columns.features:
        cell = row[column]
        if not is_number(cell) or not isfinite(float(cell)):
            hint = delimiter_hint(cell, columns, table.delimiter) or role_hint(column, columns)
            number_in(cell, place_in(table, columns, column), hint=hint)


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
    sign = delimiter or guessed_delimiter(lines)
    rows = parsed(lines, sign)
    body = rows[1:] or rows
    cells = [cell for row in body for cell in row]
    numbers = sum(is_number(cell) or (sign != "," and has_decimal_comma(cell)) for cell in cells)
    if len({len(row) for row in rows}) > 1:
        return 0.5 if 10 * numbers >= 9 * len(cells) else 0.0  # reading will say where
    if 2 * numbers < len(cells) or not numbers:
        return 0.3 if numbers else 0.0
    several = 6 if len(body[0]) > 1 else 5
    return (several + 3 * numbers / len(cells)) / 10


def _plan(kind: str, path: str, options: Options, delimiter: str | None) -> Plan:
    table, rows, columns = begun(kind, path, options, delimiter)
    if options.text_column is not None:
        texts = [("texts", f"column {columns.features[0] + 1}")]
        return Plan(kind, "text", (*texts, *packing(path)))
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
    decimals = Decimals(options.decimal, table.delimiter)
    try:
        for row in islice(rows, SAMPLE):
            if row and len(row) != columns.width:
                refuse_row(table, row, columns, 0)
            if row:
                cells = [row[place] for place in columns.features]
                if decimals.comma or decimals.turned(cells, line_of(table)):
                    row = _pointed(table, row, columns, decimals)
                _check_cells(table, row, columns)
    except RefclustError as error:
        notes.append(str(error))
    if decimals.comma:
        facts["decimals"] = "comma"
    if named is not None:
        doubtful = [named[i] for i in columns.features if _LIKE_A_ROLE.fullmatch(named[i])]
        if doubtful:
            notes.append(f"read as features, but maybe ids or labels: {listed(doubtful)}")
    if delimiter is None and BY_SUFFIX.get(suffix(path)) != table.delimiter:
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
        frame_csv,
    ),
    Reader(
        "tsv",
        (".tsv", ".tab"),
        "a table with tabs between numbers",
        read_tsv,
        sniff_tsv,
        plan_tsv,
        frame_tsv,
    ),
)
