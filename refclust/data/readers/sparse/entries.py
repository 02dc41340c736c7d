"""What the readers of sparse text formats share: lines, strict numbers, entries (chapter 09).

Every function that refuses something is told the file and the line, and says what was due.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice, pairwise
from operator import ge
from typing import Final

from refclust.data.accepting.matrices import compressed, first_repeat, grouped
from refclust.data.dataset import DOUBLES, Dataset, Sparse, readonly, sparse
from refclust.data.files.textfile import display_name, line_lists
from refclust.data.files.whole import DIGITS, is_whole, whole
from refclust.data.readers.cells import shown
from refclust.errors import (
    BadCell,
    BadHeader,
    EmptyFile,
    IndexOutOfRange,
    NotFinite,
    RefclustError,
)
from refclust.limits import within

LARGEST_INDEX: Final = 2**31 - 1
_EMPTY_ROWS: Final = 1 << 22
_BATCH: Final = 1 << 13


def lines(path: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file with their numbers from 1, without their ends.

    Spec: DATA-SPARSE-FILES
    """
    for first, texts in line_lists(path):
        yield from enumerate(texts, first)


def filled_lines(path: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, as ``lines`` does; blank ones cost next to nothing.

    Spec: DATA-SPARSE-FILES
    """
    for first, texts in line_lists(path):
        numbered = enumerate(texts, first)
        yield from [(i, text) for i, text in numbered if text and not text.isspace()]


def first_lines(path: str, count: int = 200) -> list[str]:
    """Return the beginning of a text file, for a plan; an empty file is refused."""
    texts = [line for _, line in islice(lines(path), count)]
    if not any(map(str.strip, texts)):
        raise EmptyFile(f"{display_name(path)} is empty; it should hold a row a line")
    return texts


def sniffed_lines(start: bytes) -> list[str]:
    """Return the whole lines among the first bytes of a file, none if they are no text."""
    if 0 in start:
        return []
    try:
        # A character or a line may be cut at the end.
        text = start.decode("utf-8", "strict" if len(start) < 1 << 16 else "ignore")
        texts = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    except UnicodeDecodeError:
        return []
    return texts[:-1] if len(texts) > 1 else texts


def number(cell: str, name: str, line: int) -> float:
    """Read a finite number.

    Spec: DATA-SPARSE-FILES
    """
    try:
        value = float(cell)
    except ValueError:
        raise BadCell(f"{name}:{line}: {shown(cell)} is no number") from None
    if not math.isfinite(value):
        raise NotFinite(f"{name}:{line}: {shown(cell)}; only finite numbers are allowed")
    if "_" in cell or not cell.isascii():  # Python allows both
        raise BadCell(f"{name}:{line}: {shown(cell)} is no number")
    return value


def index(cell: str, name: str, line: int, what: str) -> int:
    """Read a whole number of at least 0; ``what`` is what messages call it.

    Spec: DATA-SPARSE-FILES
    """
    if not is_whole(cell):
        raise BadCell(
            f"{name}:{line}: {what} is {shown(cell)}; a whole number of at least 0 is due"
        )
    value = whole(cell)
    if value is None:
        raise IndexOutOfRange(f"{name}:{line}: {what} is {shown(cell)}; that is too large")
    return value


def plain_indices(cells: Sequence[str]) -> list[int] | None:
    """Read many whole numbers at once; None if one of them needs a closer look.

    Spec: DATA-SPARSE-FILES
    """
    together = "".join(cells)
    if not (is_whole(together) and all(cells)):
        return None
    return list(map(int, cells)) if max(map(len, cells)) <= DIGITS else None


def plain_numbers(cells: Sequence[str]) -> list[float] | None:
    """Read many numbers at once; None if one of them needs a closer look.

    Spec: DATA-SPARSE-FILES
    """
    together = "".join(cells)
    try:
        values = list(map(float, cells))
    except ValueError:
        return None
    # Only a test: if a number is not finite the sum is not; the sum may also be too large.
    fine = together.isascii() and "_" not in together and math.isfinite(sum(values))
    return values if fine else None


def pairs(
    cells: list[str], name: str, line: int, what: str, due: str
) -> tuple[list[int], list[float]]:
    """Read the entries ``index:value`` of a line; ``due`` is how messages write one.

    Spec: DATA-SPARSE-FILES
    """
    parts = [cell.partition(":") for cell in cells]
    indices = plain_indices([part[0] for part in parts])
    values = plain_numbers([part[2] for part in parts])
    if indices is not None and values is not None:
        return indices, values
    for cell, (_, colon, _) in zip(cells, parts, strict=True):
        if not colon:
            raise BadCell(f"{name}:{line}: {shown(cell)} is no entry '{due}'")
    return (
        [index(part[0], name, line, what) for part in parts],
        [number(part[2], name, line) for part in parts],
    )


def batches(numbered: Iterator[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Yield lines many at a time.

    Spec: none (reads a file)
    """
    while batch := list(islice(numbered, _BATCH)):
        yield batch


def check_shape(rows: int, columns: int, entries: int, place: str) -> None:
    """Refuse a header that would need room for far more than its entries.

    Spec: DATA-LIMIT
    """
    if not rows or not columns:
        raise EmptyFile(f"{place}: {rows} rows and {columns} columns; one each is needed")
    if columns > LARGEST_INDEX or rows > entries + _EMPTY_ROWS:
        raise BadHeader(
            f"{place}: {rows} rows and {columns} columns for {entries} entries; allowed are "
            f"{_EMPTY_ROWS} rows more than entries and {LARGEST_INDEX} columns"
        )
    within("columns", columns, f"{place}: a row")


class SparseRows:
    """Sparse rows in the making, one after the other."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._starts, self._columns, self._values = array("q", [0]), array("q"), array(DOUBLES)
        self.lowest, self.highest, self.given = LARGEST_INDEX, -1, 0

    def __len__(self) -> int:
        return len(self._starts) - 1

    def add(self, columns: list[int], values: list[float], line: int) -> None:
        """Add a row of indices, each at most once, and their values."""
        if any(map(ge, columns, columns[1:])):
            entries = sorted(zip(columns, values, strict=True))
            columns, values = [c for c, _ in entries], [v for _, v in entries]
            for column, following in pairwise(columns):
                if column == following:
                    raise IndexOutOfRange(
                        f"{self._name}:{line}: the index {column} comes twice; once is allowed"
                    )
        if columns:
            if columns[-1] > LARGEST_INDEX:
                raise IndexOutOfRange(
                    f"{self._name}:{line}: the index {columns[-1]} is too large; "
                    f"at most {LARGEST_INDEX} is allowed"
                )
            self.given += len(columns)
            self.lowest = min(self.lowest, columns[0])
            self.highest = max(self.highest, columns[-1])
        if 0.0 in values:
            columns = [column for column, value in zip(columns, values, strict=True) if value]
            values = [value for value in values if value]
        self._columns.extend(columns)
        self._values.extend(values)
        self._starts.append(len(self._values))

    def dataset(self, base: int, d: int, **known: object) -> Dataset:
        """Return the rows as a data set whose first column has the index ``base``."""
        within("columns", d, f"{self._name}: a row, by its largest index,")
        columns = array("q", [c - base for c in self._columns]) if base else self._columns
        return sparse(self._starts, columns, self._values, d, **known)


class Entries:
    """Entries ``row column value`` in any order, in the making; remembers their lines."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.rows, self.columns, self.values = array("q"), array("q"), array(DOUBLES)
        self._runs: list[tuple[int, int]] = []  # entry and line wherever lines were left out
        self._expected = -1
        self._written: int | None = None  # entries before mirroring

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, row: int, column: int, value: float, line: int) -> None:
        """Add an entry."""
        if line != self._expected:
            self._runs.append((len(self.rows), line))
        self._expected = line + 1
        self.rows.append(row)
        self.columns.append(column)
        self.values.append(value)

    def add_all(
        self, batch: list[tuple[int, str]], n: int, d: int, *, room: int, pattern: bool = False
    ) -> bool:
        """Add whole lines counted from 1, or nothing if one of them needs a closer look."""
        if batch[-1][0] - batch[0][0] != len(batch) - 1:
            return False  # lines are left out
        cells = [text.split() for _, text in batch]
        if len(cells) > room or set(map(len, cells)) != {2 if pattern else 3}:
            return False
        written = list(zip(*cells, strict=True))
        rows, columns = plain_indices(written[0]), plain_indices(written[1])
        values = [1.0] * len(cells) if pattern else plain_numbers(written[2])
        if rows is None or columns is None or values is None:
            return False
        if not (1 <= min(rows) <= max(rows) <= n and 1 <= min(columns) <= max(columns) <= d):
            return False
        if batch[0][0] != self._expected:
            self._runs.append((len(self.rows), batch[0][0]))
        self._expected = batch[-1][0] + 1
        self.rows.extend([row - 1 for row in rows])
        self.columns.extend([column - 1 for column in columns])
        self.values.extend(values)
        return True

    def mirror(self, sign: float) -> None:
        """Add each entry off the diagonal at its mirrored place too."""
        self._written = len(self.rows)
        for k in range(self._written):
            row, column = self.rows[k], self.columns[k]
            if row != column:
                self.rows.append(column)
                self.columns.append(row)
                self.values.append(sign * self.values[k])

    def matrix(self, n: int, d: int) -> Sparse:
        """Return the compressed rows; a place given twice is refused with its line."""
        starts, columns, values = grouped(self.rows, self.columns, self.values, n)
        repeat = first_repeat(memoryview(starts), memoryview(columns), n)
        if repeat is not None:
            row, column = repeat
            raise IndexOutOfRange(
                f"{self._name}:{self._line(self._second(row, column))}: row {row + 1}, column "
                f"{column + 1} (counted from 1) comes twice; once is allowed"
            )
        return compressed(readonly(starts), readonly(columns), readonly(values), n, d)

    def _second(self, row: int, column: int) -> int:
        """Return which entry repeats a place, or the mirror image of one."""
        mirrored = self._written is not None
        same = {(row, column), (column, row)} if mirrored else {(row, column)}
        places = (k for k in range(len(self.rows)) if (self.rows[k], self.columns[k]) in same)
        next(places)
        return next(places)

    def _line(self, entry: int) -> int:
        first, line = self._runs[bisect_right(self._runs, (entry, LARGEST_INDEX)) - 1]
        return line + entry - first


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Put the name of the file before the message of an error that does not know it."""
    try:
        yield
    except RefclustError as error:
        raise type(error)(f"{name}: {error}") from None
