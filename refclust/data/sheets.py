"""Tables of texts under a head: a column per rater, method or class, a row per object."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TypeVar

from refclust.data.files.textfile import blocks, display_name, suffix
from refclust.data.labels import delimited_rows, split_lines
from refclust.errors import BadNumber, EmptyFile, EmptyLabel, MissingColumn, NotFinite, RaggedRows
from refclust.numbers.reading import counted, exact, shown

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sheet:
    """The names of the columns, the rows below them, and the line on which each row ends."""

    file: str
    names: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]

    def converted(self, made: Callable[[str, str], T], places: Sequence[int]) -> list[list[T]]:
        """Cells of some columns turned into something; ``made`` gets each and where it stands."""
        file = display_name(self.file)
        return [
            [made(row[j], f"{file}:{line}, column {shown(self.names[j])}") for j in places]
            for line, row in zip(self.lines, self.rows, strict=True)
        ]


def read_sheet(path: str, *, header: bool = True, delimiter: str | None = None) -> Sheet:
    """Read a table of texts; without a header its columns are called 1, 2 and so on.

    Spec: none (reads a file)
    """
    name = display_name(path)
    text = (line for block in blocks(path) for line in split_lines(block.text))
    numbered: Iterator[tuple[int, list[str]]] = delimited_rows(path, text, delimiter)
    names: list[str] | None = None
    if header:
        _, names = next(numbered, (0, None))
        if names is None:
            raise EmptyFile(f"{name} is empty; it should hold a header and a row per object")
        _refuse_doubles(name, names)
    rows: list[list[str]] = []
    lines: list[int] = []
    for line, row in numbered:
        names = names or [str(j) for j in range(1, len(row) + 1)]
        if len(row) != len(names):
            cells = "the line is empty" if not row else f"the row has {counted(len(row), 'cell')}"
            first = "header" if header else "first row"
            raise RaggedRows(f"{name}:{line}: {cells}, the {first} has {len(names)}")
        rows.append(row)
        lines.append(line)
    if names is None or not rows:
        below = "has a header but no row below it" if header else "is empty"
        raise EmptyFile(f"{name} {below}")
    return Sheet(path, tuple(names), rows, lines)


def read_sets(path: str, *, delimiter: str | None = None) -> list[list[str]]:
    """Read the labels of every object, a line for each; an empty line is an object without any.

    Spec: none (reads a file)
    """
    text = (line for block in blocks(path) for line in split_lines(block.text))
    first = next(text, "")
    # Lines differ in length here, so that nothing can be told from what cuts them evenly.
    sign = delimiter or ("\t" if suffix(path) == ".tsv" or "\t" in first else ",")
    rows: list[list[str]] = []
    for line, row in delimited_rows(path, chain([first] if first else [], text), sign):
        if "" in row:
            raise EmptyLabel(f"{display_name(path)}:{line}: one of {len(row)} labels is empty")
        rows.append(row)
    if not rows:
        raise EmptyFile(f"{display_name(path)} is empty; it should hold a line per object")
    return rows


def number(cell: str, place: str) -> Fraction:
    """A cell as the exact number it is written as: 3, 0.25 or 1/3.

    Spec: none (reads text)

    >>> number("0.25", "a.csv:2")
    Fraction(1, 4)
    """
    value = exact(cell, place)
    if value is None:
        if cell.strip().lower().lstrip("+-") in ("nan", "inf", "infinity"):
            raise NotFinite(f"{place} is {cell.strip()}; it must be finite")
        raise BadNumber(f"{place} is {shown(cell)}, which is not a number")
    return Fraction(value)


def _refuse_doubles(name: str, names: list[str]) -> None:
    for place, column in enumerate(names, start=1):
        if column in names[: place - 1]:
            raise MissingColumn(f"{name} has two columns called {shown(column)}")
