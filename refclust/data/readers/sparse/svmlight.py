"""The SVMlight and LIBSVM format: ``label index:value ...``, a row a line (DATA-SPARSE-FILES)."""

from __future__ import annotations

import re
import sys
from typing import Final

from refclust.data.dataset import Dataset
from refclust.data.files.textfile import display_name
from refclust.data.readers.cells import listed
from refclust.data.readers.formats import Options, Plan, Reader, check_options, head, packing
from refclust.data.readers.sparse.beside import column_names
from refclust.data.readers.sparse.entries import (
    SparseRows,
    filled_lines,
    first_lines,
    index,
    pairs,
    sniffed_lines,
)
from refclust.errors import (
    BadFile,
    BadOption,
    EmptyFile,
    EmptyLabel,
    IndexOutOfRange,
)

NAME: Final = "svmlight"
_PAIRS = r"(?:qid:\d+\s+)?\d+:[-+.\deE]+(?:\s+\d+:[-+.\deE]+)*"
_LIKE = re.compile(rf"(?:[^\s:#]+\s+)?{_PAIRS}\s*(?:#.*)?")
_LIKE_OR_EMPTY = re.compile(rf"(?:[^\s:#]+|(?:[^\s:#]+\s+)?{_PAIRS})\s*(?:#.*)?")
_GROUP = "qid:"


def read(path: str, options: Options) -> Dataset:
    """Read a file of labelled sparse rows.

    Spec: DATA-SPARSE-FILES
    """
    check_options(NAME, options, ("base", "vocabulary"))
    _check_base(options.base)
    name = display_name(path)
    rows, labels = SparseRows(name), list[str]()
    for line, text in filled_lines(path):
        cells = text.partition("#")[0].split()
        if not cells:
            continue  # a comment
        first = 0
        if ":" not in cells[0]:
            labels.append(sys.intern(cells[0]))
            first = 1
        if labels and len(labels) != len(rows) + 1:
            raise EmptyLabel(
                f"{name}:{line}: {_which(first)}, unlike the line before; label all rows or none"
            )
        if len(cells) > first and cells[first].startswith(_GROUP):
            index(cells[first][len(_GROUP) :], name, line, "the group after qid:")
            first += 1
        rows.add(*pairs(cells[first:], name, line, "an index", "index:value"), line)
    if not len(rows):
        raise EmptyFile(f"{name} is empty; it should hold a line 'label index:value ...' a row")
    base = _base(rows, options.base, name)
    if rows.highest < 0:
        raise BadFile(f"{name}: no line holds an entry 'index:value'")
    known = tuple(labels) if labels else None
    names = column_names(path, options, rows.highest + 1 - base, fixed=False)
    d = len(names) or rows.highest + 1 - base
    return rows.dataset(base, d, labels=known, features=names or None)


def plan(path: str, options: Options) -> Plan:
    """Tell how the file would be read, from its first lines."""
    check_options(NAME, options, ("base", "vocabulary"))
    _check_base(options.base)
    beginning = [text.partition("#")[0].split() for text in first_lines(path)]
    cells = [row for row in beginning if row]
    labels = sorted({row[0] for row in cells if ":" not in row[0]})
    digits = (re.findall(r"(?:^|\s)([0-9]{1,18}):", " ".join(row)) for row in cells)
    indices = [int(i) for row in digits for i in row]
    notes = []
    base = options.base
    if base is None:
        base = 0 if 0 in indices else 1
        if base:
            notes.append(
                "no index 0 in the first lines: indices are taken to count from 1; "
                "give base=0 if they count from 0"
            )
    if any(cell.startswith(_GROUP) for row in cells for cell in row[:2]):
        notes.append("groups (qid:) are left out")
    facts = (
        (
            "labels",
            f"{len(labels)} in the first lines: {listed(labels[:5])}" if labels else "no",
        ),
        ("first index", str(base)),
        ("largest index", f"{max(indices, default=base)} in the first lines"),
        *packing(path),
    )
    return Plan(NAME, "sparse", facts, tuple(notes))


def sniff(path: str) -> float:
    """Judge by the first lines.

    Spec: none (a guess about a file)
    """
    rows = [text for text in sniffed_lines(head(path)) if text.partition("#")[0].strip()]
    rows = [text.strip() for text in rows[:50]]
    full = [bool(_LIKE.fullmatch(text)) for text in rows]
    fits = all(map(_LIKE_OR_EMPTY.fullmatch, rows)) and 2 * full.count(True) >= len(rows) > 0
    return 0.8 if fits else 0.0


def _check_base(base: int | None) -> None:
    if base not in (None, 0, 1):
        raise BadOption(f"the first index (base) is {base!r}; 0 or 1 is allowed")


def _base(rows: SparseRows, base: int | None, name: str) -> int:
    """The first index: as told; else 0 if that occurs; else 1, as the format has it."""
    if base == 1 and rows.lowest == 0:
        raise IndexOutOfRange(f"{name}: the index 0 occurs, but indices were said to count from 1")
    if base is not None:
        return base
    return 0 if rows.lowest == 0 else 1


def _which(labelled: int) -> str:
    return "the row has a label" if labelled else "the row has no label"


READER: Final = Reader(
    NAME,
    (".svmlight", ".svm", ".libsvm"),
    "sparse rows with labels: label index:value ...",
    read,
    sniff,
    plan,
)
