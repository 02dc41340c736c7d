"""Label files: one label a line, or one column of a CSV or TSV file (chapter 00, CONV-LABEL).

Labels are text, compared character by character; nothing is trimmed or converted. A file is read
as a delimited table with a header when a column is named or when its name ends in ``.csv`` or
``.tsv``; any other file holds one label a line. ``.gz`` files are unpacked, ``-`` is
standard input. Every message names the file and the line.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice
from typing import Final

from refclust.data.files.delimiters import SAMPLE, recognised, said_delimiter
from refclust.data.files.textfile import STDIN, blocks, display_name, suffix
from refclust.data.files.whole import whole
from refclust.data.pairing import asked_place, id_place
from refclust.errors import (
    BadWeight,
    EmptyFile,
    EmptyLabel,
    MissingColumn,
    NegativeCount,
    NotFinite,
    RaggedRows,
)
from refclust.escape import for_terminal
from refclust.numbers.reading import exact, shown

__all__ = ["STDIN", "is_delimited", "read_columns", "read_labels", "read_weights"]

_DELIMITED: Final = (".csv", ".tsv")
_LONGEST_LIST = 12
_WRITTEN: Final = (("id", "cluster"), ("id", "class"))  # how files of labels begin that fits write


def is_delimited(path: str, *, column: str | None = None) -> bool:
    """Tell whether a file is read as a delimited table with a header.

    >>> is_delimited("a.csv"), is_delimited("a.txt"), is_delimited("a.txt", column="species")
    (True, False, True)
    """
    return column is not None or suffix(path) in _DELIMITED


@dataclass(frozen=True, slots=True)
class LabelFile:
    """The columns that were read of a file, and the ids of its rows if it has any."""

    columns: list[list[str]]
    ids: list[str] | None = None
    asked: bool = False  # whether the ids stand in the column that was asked for


def read_file(
    path: str,
    columns: Sequence[str | None],
    *,
    delimiter: str | None = None,
    id_column: str | None = None,
) -> LabelFile:
    """Read labels of one file, with the ids that stand beside them.

    Spec: DATA-PAIR
    """
    if any(is_delimited(path, column=column) for column in columns):
        return _read_table(path, columns, delimiter, id_column)
    labels = read_labels(path, delimiter=delimiter)
    return LabelFile([labels for _ in columns])


def read_labels(path: str, *, column: str | None = None, delimiter: str | None = None) -> list[str]:
    """Read the labels of one file; equal labels are one object in memory."""
    if is_delimited(path, column=column):
        return read_columns(path, [column], delimiter=delimiter)[0]
    labels: list[str] = []
    for block in blocks(path):
        text = block.text
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()  # the end of the last line, not a line
        if "" in lines:
            number = block.line + lines.index("")
            raise EmptyLabel(
                f"{display_name(path)}:{number}: the line is empty; every line holds one label"
            )
        labels.extend(map(sys.intern, lines))
    if not labels:
        raise EmptyFile(f"{display_name(path)} is empty; it should hold one label a line")
    return labels


def read_columns(
    path: str, columns: Sequence[str | None], *, delimiter: str | None = None
) -> list[list[str]]:
    """Read several columns of a delimited file with a header in one pass.

    A column is a name of the header or, if no name equals it, a number from 1. ``None`` stands for
    the only column there is, or for that of the clusters or classes in a file that a fit wrote.
    """
    return _read_table(path, columns, delimiter, "").columns


def _read_table(
    path: str, columns: Sequence[str | None], delimiter: str | None, id_column: str | None
) -> LabelFile:
    name = display_name(path)
    lines = (line for block in blocks(path) for line in split_lines(block.text))
    rows = delimited_rows(path, lines, delimiter)
    header = next(rows, None)
    if header is None:
        raise EmptyFile(f"{name} is empty; it should hold a header and a row per object")
    _, names = header
    if not names:
        raise MissingColumn(f"{name}:1: the line is empty; it should hold the names of columns")
    places = [_place(name, names, column) for column in columns]
    id_at = id_place(names, id_column, places)
    lists: list[list[str]] = [[] for _ in places]
    ids: list[str] = []
    targets = list(zip(places, lists, strict=True))
    intern = sys.intern
    for line, row in rows:
        if len(row) != len(names):
            _refuse_row(name, line, row, names)
        if id_at is not None:
            ids.append(row[id_at])
        for place, labels in targets:
            label = row[place]
            if not label:
                raise EmptyLabel(f"{name}:{line}: the column {names[place]!r} is empty here")
            labels.append(intern(label))
    if not lists[0]:
        raise EmptyFile(f"{name} has a header but no row below it")
    if None in columns:
        _refuse_label_as_header(name, names[0], lists[columns.index(None)])
    asked = bool(id_column) and asked_place(names, id_column or "") is not None
    return LabelFile(lists, None if id_at is None else ids, asked)


def read_weights(
    path: str, *, column: str | None = None, delimiter: str | None = None
) -> list[int | Fraction]:
    """Read one weight per object, as exact numbers: ``3``, ``0.25`` or ``1/3``.

    Spec: CT-WEIGHT
    """
    return weights_of(read_labels(path, column=column, delimiter=delimiter), path, column=column)


def weights_of(
    texts: Sequence[str], path: str, *, column: str | None = None
) -> list[int | Fraction]:
    """Texts of a file as the exact weights that they are.

    Spec: CT-WEIGHT
    """
    unit = "row" if is_delimited(path, column=column) else "line"
    known: dict[str, int | Fraction] = {}
    for position, text in enumerate(texts, start=1):
        if text not in known:
            place = f"{display_name(path)}, {unit} {position}: the weight"
            known[text] = exact_number(text, place, BadWeight)
    return [known[text] for text in texts]


def exact_number(text: str, place: str, wrong: type[Exception]) -> int | Fraction:
    """Read a finite number that is not negative, exactly; ``place`` opens the message.

    Spec: CT-WEIGHT

    >>> exact_number("0.25", "the weight", BadWeight), exact_number("6/3", "the weight", BadWeight)
    (Fraction(1, 4), 2)
    """
    number = exact(text, place)
    if number is None:
        if text.strip().lower().lstrip("+-") in ("nan", "inf", "infinity"):
            raise NotFinite(f"{place} is {text.strip()}; it must be finite")
        raise wrong(f"{place} is {shown(text)}, which is not a number{_advice(text)}")
    if number < 0:
        raise NegativeCount(f"{place} is {shown(text.strip())[1:-1]}; it must not be negative")
    return number.numerator if number.denominator == 1 else number


def delimited_rows(
    path: str, lines: Iterator[str], delimiter: str | None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of delimited lines, each with the number of the line on which it ends.

    Spec: none (reads text)

    >>> list(delimited_rows("a.csv", iter(['x,"y, z"\\n']), None))
    [(1, ['x', 'y, z'])]
    """
    sample = list(islice(lines, SAMPLE))
    if not sample:
        return
    said = said_delimiter(sample[0])
    skipped = int(said is not None)
    if delimiter is not None or suffix(path) == ".tsv":
        sign = delimiter or "\t"
    else:
        sign = said or recognised(display_name(path), sample)
    reader = csv.reader(chain(sample[skipped:], lines), delimiter=sign, strict=True)
    try:
        for row in reader:
            yield skipped + reader.line_num, row
    except csv.Error as error:
        raise RaggedRows(
            f"{display_name(path)}:{skipped + reader.line_num}: {_quoting(str(error))}; a field "
            "that holds the delimiter, a quote or a line end is put in quotes, and quotes inside "
            "it are doubled"
        ) from None


def split_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text with their ends, which belong to the label inside quotes."""
    return iter(io.StringIO(text, newline=""))


def _place(name: str, header: list[str], column: str | None) -> int:
    """Return the position of a column that is given by name or by number."""
    if column is None:
        if len(header) == 1:
            return 0
        if tuple(header[:2]) in _WRITTEN:
            return 1
        raise MissingColumn(
            f"{name} has {len(header)} columns, so one must be named; it has: {_listed(header)}"
        )
    if header.count(column) == 1:
        return header.index(column)
    if header.count(column) > 1:
        numbers = [str(i) for i, cell in enumerate(header, start=1) if cell == column]
        raise MissingColumn(
            f"{name} has {len(numbers)} columns called {column!r}; use a number: "
            f"{' or '.join(numbers)}"
        )
    if 1 <= (place := whole(column) or 0) <= len(header):
        return place - 1
    raise MissingColumn(
        f"{name} has no column {shown(column)}; it has: {_listed(header)}{_delimiter_hint(header)}"
    )


def _refuse_row(name: str, line: int, row: list[str], header: list[str]) -> None:
    if not row and len(header) == 1:
        raise EmptyLabel(f"{name}:{line}: the line is empty; every line holds one label")
    cells = "the line is empty" if not row else f"the row has {_count(len(row), 'cell')}"
    raise RaggedRows(f"{name}:{line}: {cells}, the header has {len(header)}")


def _refuse_label_as_header(name: str, header: str, labels: list[str]) -> None:
    """Refuse a file of one column that seems to have no header: its first object would be lost."""
    if header in labels:
        raise MissingColumn(
            f"{name}: the first line, {header!r}, is read as a header but is also a label "
            f"(row {labels.index(header) + 1}); add a header, or name the column (1) if it is one"
        )


def _delimiter_hint(header: list[str]) -> str:
    for sign in (";", "\t", ",", "|", " "):
        if len(header) == 1 and sign in header[0]:
            return f" (is the delimiter {sign!r}?)"
    return ""


def _listed(header: list[str]) -> str:
    names = ", ".join(shown(cell) for cell in header[:_LONGEST_LIST])
    more = len(header) - _LONGEST_LIST
    return f"{names} and {more} more" if more > 0 else names


def _quoting(message: str) -> str:
    if "end of data" in message:
        return "a quote is opened and never closed"
    if "limit" in message:
        return "a field is longer than 131072 characters (an open quote?)"
    return f"a quoted field is malformed ({for_terminal(message)})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _advice(text: str) -> str:
    if "_" not in text and text.isascii():
        return ""
    return "; numbers are written with the digits 0 to 9 and nothing between them"
