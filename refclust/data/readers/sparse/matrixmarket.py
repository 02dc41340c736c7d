"""MatrixMarket exchange files, coordinate and array (DATA-SPARSE-FILES)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from refclust.data.dataset import DOUBLES, Dataset, Dense, readonly
from refclust.data.files.textfile import display_name
from refclust.data.files.whole import is_whole
from refclust.data.readers.cells import shown
from refclust.data.readers.formats import Options, Plan, Reader, check_options, head, packing
from refclust.data.readers.sparse.entries import (
    Entries,
    batches,
    check_shape,
    filled_lines,
    index,
    number,
)
from refclust.errors import BadCell, BadHeader, EmptyFile, IndexOutOfRange, WrongCount

NAME: Final = "matrixmarket"
_BANNER: Final = "%%matrixmarket"
_LAYOUTS: Final = ("coordinate", "array")
_FIELDS: Final = ("real", "double", "integer", "pattern")
_SYMMETRIES: Final = ("general", "symmetric", "skew-symmetric")


@dataclass(frozen=True, slots=True)
class _Header:
    layout: str
    field: str
    symmetry: str
    n: int
    d: int
    entries: int  # as written, before a symmetric matrix is completed
    line: int


def read(path: str, options: Options) -> Dataset:
    """Read a matrix, its rows as objects.

    Spec: DATA-SPARSE-FILES
    """
    check_options(NAME, options, ())
    name = display_name(path)
    numbered = filled_lines(path)
    header = _header(name, numbered)
    if header.layout == "array":
        return Dataset(_dense(name, header, numbered))
    entries = _entries(name, header, numbered)
    if header.symmetry != "general":
        entries.mirror(-1.0 if header.symmetry == "skew-symmetric" else 1.0)
    return Dataset(entries.matrix(header.n, header.d))


def plan(path: str, options: Options) -> Plan:
    """Tell what the header says."""
    check_options(NAME, options, ())
    header = _header(display_name(path), filled_lines(path))
    facts = (
        ("layout", header.layout),
        ("numbers", header.field),
        ("symmetry", header.symmetry),
        ("rows", str(header.n)),
        ("columns", str(header.d)),
        ("entries", str(header.entries)),
        *packing(path),
    )
    return Plan(NAME, "dense" if header.layout == "array" else "sparse", facts)


def sniff(path: str) -> float:
    """Judge by the banner.

    Spec: none (a guess about a file)
    """
    return float(head(path, len(_BANNER)).lower() == _BANNER.encode())


def _header(name: str, numbered: Iterator[tuple[int, str]]) -> _Header:
    line, banner = next(numbered, (0, ""))
    if not line:
        raise EmptyFile(f"{name} is empty; it should begin with %%MatrixMarket")
    banner = banner if line == 1 else ""
    words = banner.lower().split()
    if words[:2] != [_BANNER, "matrix"] or len(words) != 5:
        raise BadHeader(
            f"{name}:1: {shown(banner)}; a matrix begins with "
            "'%%MatrixMarket matrix coordinate real general' or the like"
        )
    for word, allowed in zip(words[2:], (_LAYOUTS, _FIELDS, _SYMMETRIES), strict=True):
        if word not in allowed:
            raise BadHeader(
                f"{name}:1: {shown(word)} cannot be read; allowed: {', '.join(allowed)}"
            )
    layout, field, symmetry = words[2:]
    if layout == "array" and field == "pattern":
        raise BadHeader(f"{name}:1: an array has numbers; 'pattern' goes with 'coordinate'")
    for line, text in numbered:
        if text.startswith("%"):
            continue
        cells = text.split()
        due = "rows columns entries" if layout == "coordinate" else "rows columns"
        if len(cells) != len(due.split()):
            raise BadHeader(f"{name}:{line}: {shown(text)}; the sizes '{due}' are due here")
        n, d, *rest = (index(cell, name, line, "a size") for cell in cells)
        if symmetry != "general" and n != d:
            raise BadHeader(f"{name}:{line}: {n} rows and {d} columns; {symmetry} needs a square")
        if layout == "coordinate":
            check_shape(n, d, rest[0], f"{name}:{line}")
            return _Header(layout, field, symmetry, n, d, rest[0], line)
        if not n or not d:
            raise EmptyFile(f"{name}:{line}: {n} rows and {d} columns; one each is needed")
        sizes = {
            "general": n * d,
            "symmetric": n * (n + 1) // 2,
            "skew-symmetric": n * (n - 1) // 2,
        }
        return _Header(layout, field, symmetry, n, d, sizes[symmetry], line)
    raise BadHeader(f"{name}: the file ends before the line of sizes")


def _entries(name: str, header: _Header, numbered: Iterator[tuple[int, str]]) -> Entries:
    entries, n, d = Entries(name), header.n, header.d
    pattern, whole = header.field == "pattern", header.field == "integer"
    skew = header.symmetry == "skew-symmetric"
    due = "row column" if pattern else "row column value"
    width = 2 if pattern else 3
    line = header.line
    for line, text in _slow_lines(numbered, entries, header):
        cells = text.split()
        if not cells:
            continue
        if len(cells) != width:
            raise BadCell(f"{name}:{line}: {shown(text)}; an entry is '{due}'")
        if len(entries) == header.entries:
            raise WrongCount(f"{name}:{line}: more than the {header.entries} entries announced")
        row = index(cells[0], name, line, "a row")
        column = index(cells[1], name, line, "a column")
        if not (1 <= row <= n and 1 <= column <= d):
            raise IndexOutOfRange(
                f"{name}:{line}: row {row}, column {column}; allowed are 1 to {n} and 1 to {d}"
            )
        if skew and row == column:
            raise IndexOutOfRange(f"{name}:{line}: a skew-symmetric matrix has no diagonal")
        value = 1.0 if pattern else _value(cells[2], whole, name, line)
        entries.add(row - 1, column - 1, value, line)
    if len(entries) != header.entries:
        raise WrongCount(f"{name}:{line}: {len(entries)} entries; {header.entries} were announced")
    return entries


def _slow_lines(
    numbered: Iterator[tuple[int, str]], entries: Entries, header: _Header
) -> Iterator[tuple[int, str]]:
    """Yield the lines that must be looked at one by one; all others go in many at a time."""
    in_batches = header.field != "integer" and header.symmetry != "skew-symmetric"
    for batch in batches(numbered):
        room = header.entries - len(entries)
        pattern = header.field == "pattern"
        if not in_batches or not entries.add_all(
            batch, header.n, header.d, room=room, pattern=pattern
        ):
            yield from batch
        else:
            yield batch[-1][0], ""  # where we are


def _dense(name: str, header: _Header, numbered: Iterator[tuple[int, str]]) -> Dense:
    read_values, whole = array(DOUBLES), header.field == "integer"
    line = header.line
    for line, text in numbered:
        cells = text.split()
        if len(cells) != 1:
            raise BadCell(f"{name}:{line}: {shown(text)}; one number a line is due")
        if len(read_values) == header.entries:
            raise WrongCount(f"{name}:{line}: more than the {header.entries} numbers announced")
        read_values.append(_value(cells[0], whole, name, line))
    if len(read_values) != header.entries:
        raise WrongCount(
            f"{name}:{line}: {len(read_values)} numbers; {header.entries} were announced"
        )
    n, d = header.n, header.d
    values = array(DOUBLES, bytes(8 * n * d))
    if header.symmetry == "general":
        for j in range(d):
            values[j::d] = read_values[j * n : (j + 1) * n]
        return Dense(readonly(values), n, d)
    skew = header.symmetry == "skew-symmetric"
    place = 0
    for j in range(d):  # below the diagonal, column after column
        for i in range(j + skew, n):
            value = read_values[place]
            values[i * d + j] = value
            if i != j:
                values[j * d + i] = -value if skew else value
            place += 1
    return Dense(readonly(values), n, d)


def _value(cell: str, whole: bool, name: str, line: int) -> float:
    if whole and not is_whole(cell.lstrip("+-")):
        raise BadCell(f"{name}:{line}: {shown(cell)} is no whole number; the banner says integer")
    return number(cell, name, line)


READER: Final = Reader(
    NAME,
    (".mtx", ".mm"),
    "MatrixMarket exchange format, coordinate (sparse) or array (dense)",
    read,
    sniff,
    plan,
)
