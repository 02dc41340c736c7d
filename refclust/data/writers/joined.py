"""Answers joined to the rows they belong to: the user's own table, with columns added (DATA-JOIN).

The cells of a table are copied as they stand, never read as numbers and written again. Only what
has no text of its own, an array for instance, is written as DATA-WRITE says.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from refclust.data.dataset import Dataset, Dense
from refclust.data.files.encoding import UTF8, mark_of
from refclust.data.files.source import display_name, unpacked
from refclust.data.files.textfile import blocks, suffix, written_in
from refclust.data.readers.formats import Options
from refclust.data.readers.tables.decimals import has_decimal_comma
from refclust.data.readers.tables.delimited import Table, parsed
from refclust.data.readers.tables.layout import Layout, arranged
from refclust.data.readers.tables.opening import begun
from refclust.data.typed import Column, Frame
from refclust.data.writers.jsonl import json_text
from refclust.data.writers.writing import plain_value, text_blocks
from refclust.errors import BadFile, BadLabel, BadOption, UnknownFormat
from refclust.escape import for_csv, for_terminal
from refclust.notes import tell
from refclust.numbers.reading import shown

_SIGNS: Final = {".csv": ",", ".tsv": "\t"}
_JSONL: Final = (".jsonl", ".ndjson")
_END: Final = re.compile(r"\r\n|\n|\r")
_LITERAL: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Joining:
    """A table that was read, and what is added to its rows."""

    path: str
    format: str  # by whose name it was read
    options: Options
    data: Dataset
    added: Mapping[str, Sequence[Any]]
    rows: Sequence[int] | None = None  # which rows of the table the data are; all of them
    safe: bool = False  # whether cells that are formulas get an apostrophe
    frame: Frame | None = None  # the table, if its format has columns but no text to copy

    def cells(self, i: int | None) -> list[Any]:
        """What is added to a row of the data; nothing in any column for a row that is none."""
        if i is None:
            return [None] * len(self.added)
        return [plain_value(column[i]) for column in self.added.values()]

    def of_rows(self) -> Iterator[int | None]:
        """For every row of the table the row of the data that it is, if it is one."""
        if self.rows is None:
            yield from range(self.data.n)
            return
        at = 0
        for i, row in enumerate(self.rows):
            while at < row:
                yield None
                at += 1
            yield i
            at += 1

    def clash_free(self, taken: Iterable[str]) -> list[str]:
        """The names of what is added; one that is taken gets _2 or the next number that is free.

        Spec: DATA-JOIN
        """
        used = set(taken)
        names: list[str] = []
        for name in self.added:
            free, number = name, 2
            while free in used:
                free, number = f"{name}_{number}", number + 1
            if free != name:
                tell(f"the table has a column {shown(name)}; what is added is called {free}")
            used.add(free)
            names.append(free)
        return names


def check_ending(path: str) -> None:
    """Refuse a name that tells no format for a table.

    Spec: DATA-JOIN
    """
    if suffix(path) not in (*_SIGNS, *_JSONL):
        raise UnknownFormat(
            f"a table cannot be written to {for_terminal(path)}; allowed: .csv, .tsv, .jsonl"
        )


def joined(joining: Joining, target: str) -> Iterator[bytes]:
    """The table with what is added, as the ending of the target wants it.

    Spec: DATA-JOIN
    """
    ending = suffix(target)
    if joining.format in ("csv", "tsv"):
        return _of_table(joining, ending)
    if (
        joining.format == "jsonl"
        and ending in _JSONL
        and not isinstance(joining.data.matrix, Dense)
    ):
        return _encoded(_json_lines(joining))
    return _encoded(_of_numbers(joining, ending))


def _of_table(joining: Joining, ending: str) -> Iterator[bytes]:
    options = joining.options
    sign = "\t" if joining.format == "tsv" else options.delimiter
    with written_in(options.encoding, [joining.path]):
        plain = replace(options, encoding=None)
        table, rows, columns = begun(joining.format, joining.path, plain, sign, arranged)
        comma = _writes_commas(joining, plain, sign)
    if ending in _JSONL:
        return _encoded(_objects(joining, rows, columns))
    lines = _lines(joining, ending, table, rows, columns, comma=comma)
    return _encoded(lines, *_encoding(joining))


def _lines(
    joining: Joining,
    ending: str,
    table: Table,
    rows: Iterator[list[str]],
    columns: Layout,
    *,
    comma: bool,
) -> Iterator[str]:
    """The rows with further cells; as they stand where the delimiter stays and none is unsafe."""
    same = table.delimiter if table.delimiter in ",;|" else ","
    sign = "\t" if ending == ".tsv" else same
    as_is = sign == table.delimiter and not joining.safe
    end = _end(table.raw)
    if table.skipped and as_is:
        yield f"sep={sign}{end}"
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=sign, lineterminator="\r\n")

    def line(row: Sequence[str], raw: str, more: Sequence[Any]) -> str:
        spelled = [_spelled(cell, comma=comma) for cell in more]
        own = [] if as_is else [for_csv(cell) if joining.safe else cell for cell in row]
        writer.writerow([*own, *spelled])
        written = text.getvalue().removesuffix("\r\n")
        text.seek(0)
        text.truncate()
        return (f"{raw}{sign}{written}" if as_is else written) + end

    if columns.names is not None:
        [first] = parsed(io.StringIO(table.raw, newline=""), table.delimiter)
        yield line(first, _without_end(table.raw), joining.clash_free(columns.names))
    for row, i in _matched(joining, rows):
        yield line(row, _without_end(table.raw), joining.cells(i))


def _objects(joining: Joining, rows: Iterator[list[str]], columns: Layout) -> Iterator[str]:
    """The rows as objects of JSON; a cell that JSON has as a number stands there as it is."""
    names = columns.names or [f"x{place}" for place in range(1, columns.width + 1)]
    twice = next((name for name in names if list(names).count(name) > 1), None)
    if twice is not None:
        raise BadOption(f"two columns are called {shown(twice)}; JSON needs different names")
    keys = [json_text(name) for name in (*names, *joining.clash_free(names))]
    for row, i in _matched(joining, rows):
        cells = [cell if _LITERAL.fullmatch(cell) else json_text(cell) for cell in row]
        cells += [json_text(cell) for cell in joining.cells(i)]
        members = (f"{key}: {cell}" for key, cell in zip(keys, cells, strict=True))
        yield "{" + ", ".join(members) + "}\n"


def _json_lines(joining: Joining) -> Iterator[str]:
    """Lines of JSON that are objects, with further members at their end."""
    import json

    with written_in(joining.options.encoding, [joining.path]):
        parts = [block.text for block in blocks(joining.path)]
    lines = [line for line in "".join(parts).split("\n") if line and not line.isspace()]
    taken = {key for line in lines for key in json.loads(line)}
    names = [json_text(name) for name in joining.clash_free(taken)]
    for line, i in _matched(joining, iter(lines)):
        members = zip(names, map(json_text, joining.cells(i)), strict=True)
        more = ", ".join(f"{name}: {cell}" for name, cell in members)
        body = line.rstrip().removesuffix("}").rstrip()
        yield f"{body}{'' if body.endswith('{') else ', '}{more}}}\n"


def _of_numbers(joining: Joining, ending: str) -> Iterator[str]:
    """Rows that came from no table: ids, numbers, labels, weights, and what is added."""
    data = joining.data
    if joining.frame is not None:
        header = [*joining.frame.names, *joining.clash_free(joining.frame.names)]
        written = [_written(column) for column in joining.frame.columns]
        table = _matched(joining, zip(*written, strict=True))
        return _spread(joining, header, ([*row, *joining.cells(i)] for row, i in table), ending)
    if not isinstance(data.matrix, Dense):
        raise BadOption(
            f"{display_name(joining.path)} is no table; --labels writes the ids and their clusters"
        )
    before: dict[str, Sequence[Any]] = {} if data.ids is None else {"id": data.ids}
    features = data.features or [f"x{place}" for place in range(1, data.d + 1)]
    after: dict[str, Sequence[Any]] = {}
    if data.labels is not None:
        after["label"] = [str(label) for label in data.labels]
    if data.weights is not None:
        after["weight"] = data.weights
    own = [*before, *map(str, features), *after]
    header = [*own, *joining.clash_free(own)]
    rows = (
        [
            *(column[i] for column in before.values()),
            *map(float, row),
            *(column[i] for column in after.values()),
            *joining.cells(i),
        ]
        for i, row in enumerate(data.rows())
    )
    return _spread(joining, header, rows, ending)


def _written(column: Column) -> list[Any]:
    """The cells of a typed column: texts as they stand, numbers, nothing where one is missing."""
    if column.numbers is None or column.raw is not None:
        return [*(column.raw or column.texts or ())]
    return [
        None if x != x else int(x) if float(x).is_integer() and abs(x) < 2**53 else x
        for x in column.numbers
    ]


def _spread(
    joining: Joining, header: Sequence[str], rows: Iterable[Sequence[Any]], ending: str
) -> Iterator[str]:
    if ending in _JSONL:
        for row in rows:
            yield json_text(dict(zip(header, row, strict=True))) + "\n"
        return
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=_SIGNS[ending], lineterminator="\n")
    for row in chain([header], rows):
        writer.writerow([for_csv(x) if joining.safe and isinstance(x, str) else x for x in row])
        yield text.getvalue()
        text.seek(0)
        text.truncate()


def _matched(joining: Joining, rows: Iterator[Any]) -> Iterator[tuple[Any, int | None]]:
    """Rows of the table with the rows of the data that they are; there are equally many."""
    places = joining.of_rows()
    changed = BadFile(f"{display_name(joining.path)} has changed since it was read")
    for row in rows:
        if joining.frame is None and (not row or (len(row) == 1 and not str(row[0]).strip())):
            continue  # empty lines may end a file
        place = next(places, -1)
        if place == -1:
            if joining.rows is None:
                raise changed
            place = None  # rows at the end that are no part of the data
        yield row, place
    if next(places, None) is not None:
        raise changed


def _writes_commas(joining: Joining, options: Options, sign: str | None) -> bool:
    """Whether the numbers of the table have decimal commas, so that new ones have them, too."""
    if options.decimal is not None:
        return options.decimal == "comma"
    table, rows, columns = begun(joining.format, joining.path, options, sign, arranged)
    if table.delimiter == ",":
        return False
    for row in rows:
        for place in columns.features:
            if place < len(row) and has_decimal_comma(row[place]):
                return True
    return False


def _spelled(cell: Any, *, comma: bool) -> Any:
    if cell is None:
        return ""
    return repr(cell).replace(".", ",") if comma and isinstance(cell, float) else cell


def _end(raw: str) -> str:
    ends = _END.findall(raw)
    return ends[-1] if ends and raw.endswith(ends[-1]) else "\n"


def _without_end(raw: str) -> str:
    return raw.removesuffix("\n").removesuffix("\r")


def _encoding(joining: Joining) -> tuple[bytes, str]:
    """The mark of the table, if it has one, and its encoding."""
    with unpacked(joining.path) as stream:
        mark = mark_of(stream.read(4))
    return mark or (b"", joining.options.encoding or UTF8)


def _encoded(lines: Iterable[str], mark: bytes = b"", encoding: str = UTF8) -> Iterator[bytes]:
    yield mark
    for block in text_blocks(lines):
        try:
            yield block.encode(encoding)
        except UnicodeEncodeError as error:
            raise BadLabel(
                f"{shown(block[error.start : error.end])} has no place in {encoding}, in which the "
                "table is written; .jsonl is UTF-8"
            ) from None
