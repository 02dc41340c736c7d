"""Bags of words: UCI docword, LDA-C and CLUTO matrices (DATA-SPARSE-FILES)."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from typing import Final

from refclust.data.dataset import DOUBLES, Dataset, dense
from refclust.data.files.textfile import display_name
from refclust.data.files.whole import is_whole
from refclust.data.readers.cells import shown
from refclust.data.readers.formats import Options, Plan, Reader, check_options, head, packing
from refclust.data.readers.sparse.beside import column_names, row_names
from refclust.data.readers.sparse.entries import (
    Entries,
    SparseRows,
    batches,
    check_shape,
    filled_lines,
    first_lines,
    index,
    lines,
    number,
    pairs,
    sniffed_lines,
)
from refclust.errors import (
    BadCell,
    BadFile,
    BadHeader,
    BadOption,
    EmptyFile,
    IndexOutOfRange,
    MissingColumn,
    WrongCount,
)

_CLASSES: Final = "rclass"  # the ending of a file of classes, and how it is asked for
_SIZES: Final = ("documents", "words", "entries")
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def read_docword(path: str, options: Options) -> Dataset:
    """Read ``document word count`` lines below three lines of sizes; empty documents are kept.

    Spec: DATA-SPARSE-FILES
    """
    check_options("docword", options, ("vocabulary",))
    name = display_name(path)
    numbered = filled_lines(path)
    sizes, line = _docword_sizes(name, numbered)
    documents, words, count = sizes
    entries = Entries(name)
    for batch in batches(numbered):
        if entries.add_all(batch, documents, words, room=count - len(entries)):
            line = batch[-1][0]
            continue
        for line, text in batch:
            cells = text.split()
            if len(cells) != 3:
                raise BadCell(f"{name}:{line}: {shown(text)}; an entry is 'document word count'")
            if len(entries) == count:
                raise WrongCount(f"{name}:{line}: more than the {count} entries announced")
            document = index(cells[0], name, line, "a document")
            word = index(cells[1], name, line, "a word")
            if not (1 <= document <= documents and 1 <= word <= words):
                raise IndexOutOfRange(
                    f"{name}:{line}: document {document}, word {word}; "
                    f"allowed are 1 to {documents} and 1 to {words}"
                )
            entries.add(document - 1, word - 1, number(cells[2], name, line), line)
    if len(entries) != sizes[2]:
        raise WrongCount(f"{name}:{line}: {len(entries)} entries; {sizes[2]} were announced")
    names = column_names(path, options, words, fixed=True)
    return Dataset(entries.matrix(sizes[0], sizes[1]), features=names or None)


def plan_docword(path: str, options: Options) -> Plan:
    """Tell the sizes."""
    check_options("docword", options, ("vocabulary",))
    name = display_name(path)
    start = [(line, text.split()) for line, text in enumerate(first_lines(path), 1) if text.strip()]
    facts = tuple(
        (what, str(_size(cells, name, line, what)))
        for what, (line, cells) in zip(_SIZES, start, strict=False)
    )
    return Plan("docword", "sparse", facts + packing(path))


def sniff_docword(path: str) -> float:
    """Judge by the three sizes and the entries below them.

    Spec: none (a guess about a file)
    """
    rows = [text.split() for text in sniffed_lines(head(path)) if text.strip()][:50]
    if (
        len(rows) < 4
        or any(len(row) != 1 for row in rows[:3])
        or any(len(row) != 3 for row in rows[3:])
    ):
        return 0.0
    return 0.9 if all(is_whole(cell) for row in rows for cell in row) else 0.0


def read_ldac(path: str, options: Options) -> Dataset:
    """Read a document a line: how many different words, then ``word:count`` for each.

    Spec: DATA-SPARSE-FILES
    """
    check_options("ldac", options, ("vocabulary",))
    name = display_name(path)
    rows = SparseRows(name)
    for line, text in filled_lines(path):
        cells = text.split()
        announced = index(cells[0], name, line, "the number of words")
        if announced != len(cells) - 1:
            raise WrongCount(f"{name}:{line}: {len(cells) - 1} entries; {announced} were announced")
        rows.add(*pairs(cells[1:], name, line, "a word", "word:count"), line)
    if not len(rows):
        raise EmptyFile(
            f"{name} is empty; it should hold a line 'number word:count ...' a document"
        )
    if rows.highest < 0:
        raise BadFile(f"{name}: no document holds a word")
    names = column_names(path, options, rows.highest + 1, fixed=False)
    return rows.dataset(0, len(names) or rows.highest + 1, features=names or None)


def plan_ldac(path: str, options: Options) -> Plan:
    """Tell what the first lines hold."""
    check_options("ldac", options, ("vocabulary",))
    rows = [text.split() for text in first_lines(path) if text.strip()]
    words = [int(i) for row in rows for i in re.findall(r"(?:^|\s)([0-9]{1,18}):", " ".join(row))]
    largest = f"{max(words, default=0)} in the first lines"
    return Plan(
        "ldac", "sparse", (("first index", "0"), ("largest index", largest), *packing(path))
    )


def sniff_ldac(path: str) -> float:
    """Judge by the first lines: each begins with the number of its entries.

    Spec: none (a guess about a file)
    """
    rows = [text.split() for text in sniffed_lines(head(path)) if text.strip()][:50]
    fits = rows and all(
        row[0] == str(len(row) - 1) and all(re.fullmatch(r"\d+:\d+", cell) for cell in row[1:])
        for row in rows
    )
    # Labels that happen to be these numbers are unlikely from a few lines on.
    return (0.9 if len(rows) >= 3 else 0.6) if fits else 0.0


def read_cluto(path: str, options: Options) -> Dataset:
    """Read a CLUTO matrix: sizes, then a row a line, ``column value`` pairs or all its numbers.

    Spec: DATA-SPARSE-FILES
    """
    check_options("cluto", options, ("vocabulary", "label_column"))
    name = display_name(path)
    numbered = lines(path)
    line, text = next(numbered, (0, ""))
    if not line:
        raise EmptyFile(f"{name} is empty; it should begin with 'rows columns entries'")
    sizes = _cluto_sizes(text, name)
    rows, values, count = SparseRows(name), array(DOUBLES), 0
    for line, text in numbered:
        cells = text.split()
        if count == sizes[0]:
            if cells:
                raise WrongCount(f"{name}:{line}: more than the {sizes[0]} rows announced")
            continue
        count += 1
        if len(sizes) == 3:
            rows.add(*_cluto_pairs(cells, sizes[1], name, line), line)
        elif len(cells) != sizes[1]:
            raise WrongCount(f"{name}:{line}: {len(cells)} numbers; {sizes[1]} columns announced")
        else:
            values.extend([number(cell, name, line) for cell in cells])
    if count != sizes[0]:
        raise WrongCount(f"{name}:{line}: {count} rows; {sizes[0]} were announced")
    known = _cluto_names(path, options, sizes)
    if len(sizes) == 2:
        return dense(values, sizes[1], **known)
    if rows.given != sizes[2]:
        raise WrongCount(f"{name}:{line}: {rows.given} entries; {sizes[2]} were announced")
    return rows.dataset(1, sizes[1], **known)


def _cluto_names(path: str, options: Options, sizes: list[int]) -> dict[str, object]:
    """What CLUTO keeps in files beside a matrix: names of columns and rows, classes of rows.

    Spec: DATA-BESIDE
    """
    if options.label_column not in (None, _CLASSES):
        raise BadOption(
            f"the label of a row is {options.label_column!r}; beside a CLUTO matrix there may be "
            f"{_CLASSES}"
        )
    labels = None
    if options.label_column is not None:
        labels = row_names(path, f".{_CLASSES}", sizes[0])
        if labels is None:
            raise MissingColumn(f"there is no file of classes (.{_CLASSES}) beside {path}")
    return {
        "features": column_names(path, options, sizes[1], fixed=True) or None,
        "ids": row_names(path, ".rlabel", sizes[0]),
        "labels": labels,
    }


def plan_cluto(path: str, options: Options) -> Plan:
    """Tell the sizes."""
    check_options("cluto", options, ("vocabulary", "label_column"))
    sizes = _cluto_sizes(first_lines(path)[0], display_name(path))
    facts = tuple(zip(("rows", "columns", "entries"), map(str, sizes), strict=False))
    return Plan("cluto", "sparse" if len(sizes) == 3 else "dense", facts + packing(path))


def sniff_cluto(path: str) -> float:
    """Judge by the sizes and the first rows.

    Spec: none (a guess about a file)
    """
    rows = [text.split() for text in sniffed_lines(head(path))][:50]
    if not rows or len(rows[0]) != 3 or not all(map(is_whole, rows[0])):
        return 0.0
    if len(rows) < 2 or not any(rows[1:]):
        return 0.0
    fits = all(
        len(row) % 2 == 0
        and all(map(is_whole, row[::2]))
        and all(map(_NUMBER.fullmatch, row[1::2]))
        for row in rows[1:]
    )
    return 0.6 if fits else 0.0


def _docword_sizes(name: str, numbered: Iterator[tuple[int, str]]) -> tuple[list[int], int]:
    sizes: list[int] = []
    line = 0
    for line, text in numbered:
        cells = text.split()
        sizes.append(_size(cells, name, line, _SIZES[len(sizes)]))
        if len(sizes) == len(_SIZES):
            check_shape(sizes[0], sizes[1], sizes[2], f"{name}:{line}")
            return sizes, line
    if not sizes:
        raise EmptyFile(f"{name} is empty; it should begin with three lines of sizes")
    raise BadHeader(f"{name}:{line}: the file ends before the number of {_SIZES[len(sizes)]}")


def _size(cells: list[str], name: str, line: int, what: str) -> int:
    if len(cells) != 1:
        text = shown(" ".join(cells))
        raise BadHeader(f"{name}:{line}: {text}; the number of {what} is due, alone on its line")
    return index(cells[0], name, line, f"the number of {what}")


def _cluto_sizes(text: str, name: str) -> list[int]:
    cells = text.split()
    if len(cells) not in (2, 3):
        raise BadHeader(
            f"{name}:1: {shown(text)}; 'rows columns entries' (sparse) or 'rows columns' is due"
        )
    sizes = [index(cell, name, 1, "a size") for cell in cells]
    if len(sizes) == 3:
        check_shape(sizes[0], sizes[1], sizes[2], f"{name}:1")
    elif not sizes[0] or not sizes[1]:
        raise EmptyFile(f"{name}:1: {sizes[0]} rows, {sizes[1]} columns; one each is needed")
    return sizes


def _cluto_pairs(cells: list[str], d: int, name: str, line: int) -> tuple[list[int], list[float]]:
    if len(cells) % 2:
        raise BadCell(f"{name}:{line}: {len(cells)} numbers; pairs 'column value' are due")
    columns = [index(cell, name, line, "a column") for cell in cells[::2]]
    for column in columns:
        if not 1 <= column <= d:
            raise IndexOutOfRange(f"{name}:{line}: column {column}; allowed are 1 to {d}")
    return columns, [number(cell, name, line) for cell in cells[1::2]]


READERS: Final = (
    Reader(
        "docword",
        (".docword",),
        "UCI bag of words: three sizes, then document word count",
        read_docword,
        sniff_docword,
        plan_docword,
    ),
    Reader(
        "ldac",
        (".ldac", ".lda-c"),
        "LDA-C bag of words: number word:count ...",
        read_ldac,
        sniff_ldac,
        plan_ldac,
    ),
    Reader(
        "cluto",
        (".mat",),
        "CLUTO matrix: sizes, then a row a line",
        read_cluto,
        sniff_cluto,
        plan_cluto,
    ),
)
