"""The beginning of a delimited table: its delimiter, its header, its columns, and its rows.

What all readings of such a table share, whether it becomes numbers, typed columns or documents
(DATA-CSV of chapter 09).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NoReturn

from refclust.data.files.textfile import display_name
from refclust.data.readers.cells import BLANKS, place_of
from refclust.data.readers.formats import Options, check_options
from refclust.data.readers.tables.choosing import all_numbers
from refclust.data.readers.tables.decimals import has_decimal_comma
from refclust.data.readers.tables.delimited import Table, open_table
from refclust.data.readers.tables.layout import Layout, layout
from refclust.errors import BadHeader, BadOption, EmptyFile, EmptyLabel, RaggedRows

_USABLE: Final = (
    "delimiter",
    "header",
    "id_column",
    "label_column",
    "weight_column",
    "columns",
    "decimal",
    "missing",
    "text",
    "text_column",
    "exclude",
    "categorical",
)


def begun(
    kind: str,
    path: str,
    options: Options,
    delimiter: str | None,
    decide: Callable[[str, Sequence[str], Options], Layout] = layout,
) -> tuple[Table, Iterator[list[str]], Layout]:
    """Read the first row, decide on the columns, and return the rows still to be read.

    Spec: DATA-CSV
    """
    check_options(kind, options, _USABLE)
    options = _of_texts(path, options)
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
    columns = _layout(name, first, options, table.delimiter, decide)
    if columns.names is None:
        return table, _again(table, first, rows), columns
    return table, rows, columns


def _again(table: Table, first: list[str], rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """Yield the first row once more, then the others."""
    table.line = 1 + table.skipped
    yield first
    yield from rows


def _of_texts(path: str, options: Options) -> Options:
    """The options of the columns alone: that of texts is the only feature, if there is one."""
    if options.text_column is None:
        if options.text is not None:
            raise BadOption("options for texts need a text_column: the column that holds them")
        return options
    if options.columns is not None:
        raise BadOption("features come from the text_column or from columns, not from both")
    if options.header is None and all_numbers([options.text_column]):
        raise BadHeader(
            f"{display_name(path)}:1: the column of texts is given by its number; say whether the "
            "first line is a header (--header, --no-header)"
        )
    return replace(options, text=None, text_column=None, columns=(options.text_column,))


def _layout(
    name: str,
    first: list[str],
    options: Options,
    delimiter: str,
    decide: Callable[[str, Sequence[str], Options], Layout],
) -> Layout:
    """What the columns are; a first row of numbers with decimal commas is no header."""
    if options.decimal == "point" or (options.decimal is None and delimiter == ","):
        return decide(name, first, options)
    seen = [cell.replace(",", ".") if has_decimal_comma(cell) else cell for cell in first]
    columns = decide(name, seen, options)
    if columns.names is None or seen == first:
        return columns
    return decide(name, first, replace(options, header=True))


def _check_delimiter(delimiter: str | None) -> None:
    if delimiter is not None and (
        len(delimiter) != 1 or delimiter.isalnum() or delimiter in '"\r\n+-.\0'
    ):
        raise BadOption(
            f"the delimiter is {delimiter!r}; one character that is in no number is needed"
        )


def refuse_row(table: Table, row: Sequence[str], columns: Layout, blank: int) -> NoReturn:
    """Refuse a row of another length, or the empty line before it."""
    name = display_name(table.path)
    if blank:
        raise RaggedRows(f"{name}:{blank}: the line is empty, though rows follow")
    due = "header" if columns.names else "first row"
    cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
    raise RaggedRows(f"{name}:{table.line}: the row has {cells}, the {due} has {columns.width}")


def place_in(table: Table, columns: Layout, column: int) -> str:
    """What messages call a cell of the row under way."""
    return place_of(display_name(table.path), table.line, column, columns.names)


def line_of(table: Table) -> str:
    """What messages call the line on which the row under way begins."""
    return f"{display_name(table.path)}:{table.line}"


def name_in(table: Table, row: Sequence[str], columns: Layout, column: int) -> str:
    """The id or label of a row, which is there."""
    if not row[column]:
        raise EmptyLabel(f"{place_in(table, columns, column)} is empty; it names every row")
    return row[column]
