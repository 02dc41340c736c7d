"""Tables given in Python as typed columns: data frames, rows with gaps (chapter 07)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real as RealNumber
from typing import Any

from refclust.data.accepting.frames import columns_of
from refclust.data.accepting.trust import items
from refclust.data.dataset import DOUBLES, Dataset, Dense
from refclust.data.typed import Column, Frame, is_missing, of_numbers, of_texts, text_of
from refclust.errors import BadNumber, BadOption, EmptyInput, NotFinite, RaggedRows
from refclust.numbers.reading import shown


def frame_of(data: Any) -> Frame:
    """A table of another library, a mapping of columns, or rows, as typed columns.

    Spec: PREP-KIND, PREP-MISSING

    >>> frame_of([[1, "red"], [None, "blue"]]).columns[1].cells
    ('red', 'blue')
    >>> frame_of({"width": [1, 2], "colour": ["red", ""]}).names
    ('width', 'colour')
    """
    if isinstance(data, Frame):
        return data
    if isinstance(data, Dataset):
        return _of_dataset(data)
    table = columns_of(data)
    if table is not None:
        return _framed([(str(column.name), [*column.values()]) for column in table], named=True)
    if isinstance(data, Mapping):
        return _framed([(str(name), [*column]) for name, column in data.items()], named=True)
    rows = [_row(row, i) for i, row in enumerate(_sequence(data))]
    if not rows:
        raise EmptyInput("there are no rows; a table needs at least one")
    width = len(rows[0])
    for i, row in enumerate(rows):
        if len(row) != width:
            raise RaggedRows(f"row 0 has {width} cells and row {i} has {len(row)}")
    columns = zip(*rows, strict=True)
    return _framed([(str(j), [*column]) for j, column in enumerate(columns)], named=False)


def _sequence(data: Any) -> Sequence[Any]:
    if isinstance(data, str | bytes) or hasattr(data, "__fspath__"):
        raise BadOption(f"{shown(data)} is the name of a file; refclust.read reads and prepares it")
    plain = data.tolist() if callable(getattr(data, "tolist", None)) else data
    if not isinstance(plain, Iterable):
        raise BadNumber(f"a table is rows or columns of cells, not {shown(data)}")
    return items(plain, lambda: BadNumber("a table is rows or columns of cells"))


def _row(row: Any, i: int) -> Sequence[Any]:
    plain = row.tolist() if callable(getattr(row, "tolist", None)) else row
    if isinstance(plain, str | bytes | Mapping) or not isinstance(plain, Sequence):
        raise BadNumber(f"row {i} is {shown(row)}; a row of a table is a sequence of cells")
    return plain


def _framed(columns: Sequence[tuple[str, list[Any]]], *, named: bool) -> Frame:
    if not columns or not columns[0][1]:
        raise EmptyInput("the table has no cell; at least one row and one column is needed")
    n = len(columns[0][1])
    for name, cells in columns:
        if len(cells) != n:
            raise RaggedRows(f"the column {name!r} has {len(cells)} cells, the first one has {n}")
    return Frame(tuple(_column(name, cells) for name, cells in columns), n, "", None, named)


def _column(name: str, given: Sequence[Any]) -> Column:
    cells = [_plain(cell) for cell in given]
    numbers = [math.nan if cell is None else cell for cell in cells if not isinstance(cell, str)]
    if len(numbers) == len(cells):
        return of_numbers(name, array(DOUBLES, numbers))
    return of_texts(name, ["" if cell is None else _text(cell) for cell in cells])


def _plain(cell: Any) -> float | str | None:
    """A cell as a double, a text, or nothing."""
    if cell is None:
        return None
    if isinstance(cell, str):
        return None if is_missing(cell) else cell
    if isinstance(cell, bool):
        return str(cell)
    if isinstance(cell, RealNumber):
        try:
            number = float(cell)
        except OverflowError:
            raise NotFinite(f"the cell {shown(cell)} is beyond the largest double") from None
        return None if number != number else number
    scalar = getattr(cell, "item", None)  # of an array library: a number, a truth value, a text
    if callable(scalar):
        return _plain(scalar())
    text = str(cell)
    return None if is_missing(text) or text == "NaT" else text


def _text(cell: float | str) -> str:
    return cell if isinstance(cell, str) else text_of(cell)


def _of_dataset(data: Dataset) -> Frame:
    matrix = data.matrix
    if not isinstance(matrix, Dense):
        raise BadOption("sparse rows have no missing cells and no categories; they can be scaled")
    columns = tuple(
        of_numbers(data.feature_name(j), array(DOUBLES, matrix.values[j :: matrix.d]))
        for j in range(matrix.d)
    )
    return Frame(columns, data.n, "", None, data.features is not None)
