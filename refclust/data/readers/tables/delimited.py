"""Delimited text as rows of cells: which delimiter, which quotes, which line (DATA-CSV).

The rules for quotes are those of RFC 4180. A quote that is never closed is reported where it was
opened, not at the end of the file, which is where it is noticed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Final, NoReturn

from refclust.data.files.delimiters import CANDIDATES, SAMPLE, recognised, said_delimiter
from refclust.data.files.textfile import blocks, display_name, suffix
from refclust.data.labels import split_lines
from refclust.errors import BadFile

BY_SUFFIX: Final = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


@dataclass(slots=True)
class Table:
    """A delimited file while it is read; ``line`` is where the current row begins."""

    path: str
    delimiter: str
    lines: Iterator[str]
    line: int = 0
    skipped: bool = False  # whether the first line of the file only names the delimiter
    _taken: list[str] = field(default_factory=list)  # lines of the row under way

    def rows(self) -> Iterator[list[str]]:
        """Yield rows of cells; an empty line is a row without cells."""
        blank = self.delimiter == " "
        reader = csv.reader(
            self._counted(blank), delimiter=self.delimiter, strict=True, skipinitialspace=blank
        )
        before = end = int(self.skipped)
        try:
            for row in reader:
                self.line, end = end + 1, before + reader.line_num
                yield row
                self._taken.clear()
        except csv.Error as error:
            self._refuse_quotes(end, str(error))

    @property
    def raw(self) -> str:
        """The row under way as it is written, its end included."""
        return "".join(self._taken)

    def _counted(self, blank: bool) -> Iterator[str]:
        for line in self.lines:
            # Blanks that end a line separate nothing.
            line = line.rstrip() + "\n" if blank else line
            self._taken.append(line)
            yield line

    def _refuse_quotes(self, before: int, message: str) -> NoReturn:
        name = display_name(self.path)
        if "field larger" not in message and "end of data" not in message:
            line = before + len(self._taken)
            raise BadFile(
                f"{name}:{line}: a quoted cell is malformed; a cell that holds the delimiter, a "
                "quote or a line end is put in quotes, and quotes inside it are doubled"
            )
        line, quoted = _open_cell(self._taken, self.delimiter)
        if quoted:
            long = "end of data" not in message
            reach = (
                f"not closed within {csv.field_size_limit()} characters" if long else "never closed"
            )
            raise BadFile(
                f"{name}:{before + line}: a quote is opened here and {reach}; a quote inside a "
                "quoted cell is doubled"
            )
        raise BadFile(
            f"{name}:{before + line}: a cell is longer than {csv.field_size_limit()} characters; "
            "is this a table?"
        )


def open_table(path: str, delimiter: str | None) -> Table:
    """Begin to read a delimited file; the delimiter is given, or told by name and first lines.

    Spec: DATA-CSV
    """
    lines = (line for block in blocks(path) for line in split_lines(block.text))
    sample = list(islice(lines, SAMPLE))
    said = said_delimiter(sample[0]) if sample else None
    if said is not None:
        sample = sample[1:]
    usual = BY_SUFFIX.get(suffix(path))
    if delimiter is not None or said is not None:
        sign = delimiter or said or ","
    elif usual == ",":
        sign = recognised(display_name(path), sample)
    else:
        sign = usual or guessed_delimiter(sample)
    return Table(path, sign, chain(sample, lines), skipped=said is not None)


def guessed_delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that cuts all lines into equally many cells; a comma if none does.

    >>> guessed_delimiter(["1,5;2,5", "3,5;4,5"]), guessed_delimiter(["1 2", "3 4"])
    (';', ' ')
    """
    lines = [line for line in lines if line.strip()]
    for sign in CANDIDATES:
        widths = {len(row) for row in parsed(lines, sign)}
        if len(widths) == 1 and widths != {1}:
            return sign
    # A ragged file, then: what cuts its first line will tell where it is ragged.
    return next((sign for sign in CANDIDATES if lines and sign in lines[0].strip()), ",")


def parsed(lines: Iterable[str], delimiter: str) -> list[list[str]]:
    """Return the rows of some lines; none if their quotes are broken.

    >>> parsed(["1;2"], ";"), parsed(['"1;2'], ";")
    ([['1', '2']], [])
    """
    table = Table("", delimiter, iter(lines))
    try:
        return list(table.rows())
    except BadFile:
        return []


def _open_cell(lines: Sequence[str], delimiter: str) -> tuple[int, bool]:
    """Return the line, from 1, on which the last cell begins, and whether a quote opens it."""
    begun, quoted, fresh, inside = 1, False, True, False
    for number, line in enumerate(lines, start=1):
        for sign in line:
            if inside:
                inside = sign != '"'
            elif sign == delimiter:
                begun, quoted, fresh = number, False, True
            elif sign == '"' and (fresh or quoted):
                # Opens a cell, or is the second of a doubled quote.
                begun, quoted, inside = (number, True, True) if fresh else (begun, True, True)
                fresh = False
            elif not (fresh and sign == " " and delimiter == " "):
                fresh = False
    return begun, quoted
