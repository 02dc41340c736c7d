"""Writers: labels beside the ids of their rows, and whole data sets in the formats that are read.

Realises DATA-WRITE of chapter 09. A double is written as the shortest text that reads back as the
same double, so nothing is lost between writing and reading. Files are written whole or not at all.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Any, Final, TextIO

from refclust.data.dataset import Dataset, Dense, Sparse
from refclust.data.files.atomic import write_atomically
from refclust.data.files.packing import by_ending, check_packing, packed
from refclust.data.files.textfile import suffix
from refclust.data.writers.jsonl import json_text, object_lines
from refclust.data.writers.npy import archive_chunks, matrix_chunks
from refclust.errors import (
    BadLabel,
    BadOption,
    FeatureMismatch,
    LabelLengthMismatch,
    NotFinite,
    UnknownFormat,
)
from refclust.escape import for_terminal

_BLOCK = 1 << 16
_MARK: Final = "\ufeff"
_PARTS: Final = ("ids", "features", "labels", "weights")
_LABEL_FORMATS: Final = MappingProxyType({"csv": ",", "tsv": "\t", "jsonl": ""})


@dataclass(frozen=True, slots=True)
class Writer:
    """One format: what it holds of a data set, and how it is made."""

    name: str
    suffixes: tuple[str, ...]
    kinds: tuple[str, ...]  # of rows it can hold
    holds: Callable[[Dataset], tuple[str, ...]]  # which of ids, features, labels, weights
    chunks: Callable[[Dataset], Iterator[bytes]]


def write(
    path: str,
    data: Dataset,
    *,
    format: str | None = None,  # noqa: A002
    force: bool = True,
) -> tuple[str, ...]:
    """Write a data set; return which of its parts the format cannot hold.

    The format is that of the name, or else of the ending; ``.gz``, ``.bz2`` and ``.xz`` pack it.
    Without ``force`` the file must be a new one (``exists``).

    Spec: DATA-WRITE
    """
    writer = choose(path, format)
    if data.kind not in writer.kinds:
        able = ", ".join(
            able_writer.name for able_writer in WRITERS.values() if data.kind in able_writer.kinds
        )
        raise BadOption(f"{writer.name} does not hold {data.kind} rows; formats that do: {able}")
    packing = by_ending(path)
    if packing is not None and writer.name == "npz":
        raise BadOption(f"{for_terminal(path)}: npz is packed already; leave {packing.ending} out")
    check_packing(path)
    write_atomically(path, packed(path, writer.chunks(data)), replace=force)
    held = writer.holds(data)
    return tuple(part for part in _PARTS if getattr(data, part) is not None and part not in held)


def choose(path: str, name: str | None = None) -> Writer:
    """The writer of that name, or the one that fits the ending.

    >>> choose("out.mtx.gz").name
    'matrixmarket'
    """
    ending = suffix(path)
    for writer in WRITERS.values():
        if name == writer.name or (name is None and ending in writer.suffixes):
            return writer
    asked = f"the format {name!r}" if name is not None else f"files that end in {ending!r}"
    raise UnknownFormat(f"there is no writer for {asked}; there are: {', '.join(WRITERS)}")


def write_labels(
    target: str | TextIO,
    data: Dataset,
    labels: Sequence[Any],
    *,
    format: str | None = None,  # noqa: A002
    names: tuple[str, str] = ("id", "cluster"),
    extra: Mapping[str, Sequence[float]] | None = None,
    force: bool = True,
) -> None:
    """Write the label of each row beside its id to a file or an open stream.

    Without ``force`` the file must be a new one (``exists``).

    Spec: DATA-WRITE
    """
    chosen = format or label_format(target)
    chunks = label_chunks(data, labels, format=chosen, names=names, extra=extra)
    if isinstance(target, str):
        check_packing(target)
        write_atomically(target, packed(target, map(_bytes, chunks)), replace=force)
    else:
        for chunk in chunks:
            target.write(chunk)


def label_chunks(
    data: Dataset,
    labels: Sequence[Any],
    *,
    format: str = "csv",  # noqa: A002
    names: tuple[str, str] = ("id", "cluster"),
    extra: Mapping[str, Sequence[float]] | None = None,
) -> Iterator[str]:
    """The text of a label file: an id, a label and maybe more numbers for each row.

    Spec: DATA-WRITE

    >>> from refclust.data.accepting.door import dataset
    >>> flowers = dataset([[1], [2]], ids=["a", "b,c"])
    >>> "".join(label_chunks(flowers, [1, 0], extra={"distance": [0.5, 0.25]}))
    'id,cluster,distance\\na,1,0.5\\n"b,c",0,0.25\\n'
    """
    if format not in _LABEL_FORMATS:
        raise UnknownFormat(
            f"labels cannot be written as {format!r}; allowed: {', '.join(_LABEL_FORMATS)}"
        )
    more = dict(extra or {})
    header = [*names, *more]
    if len(set(header)) != len(header):
        raise BadOption(f"two columns have one name: {', '.join(header)}")
    for name, column in {names[1]: labels, **more}.items():
        if len(column) != data.n:
            raise LabelLengthMismatch(f"{len(column)} values of {name} for {data.n} rows")
    rows = (
        [data.row_name(i), *(plain_value(column[i]) for column in (labels, *more.values()))]
        for i in range(data.n)
    )
    if format == "jsonl":
        return text_blocks(_json_line(header, row) for row in rows)
    return text_blocks(_csv_lines(chain((header,), rows), _LABEL_FORMATS[format]))


def label_format(target: str | TextIO) -> str:
    """The format of a label file, by its ending.

    >>> label_format("out.tsv.gz")
    'tsv'
    """
    if not isinstance(target, str):
        return "csv"
    endings = {end: name for name in _LABEL_FORMATS for end in WRITERS[name].suffixes}
    ending = suffix(target)
    if ending not in endings:
        raise UnknownFormat(
            f"labels cannot be written to {for_terminal(target)}: name a format "
            f"({', '.join(_LABEL_FORMATS)}), or end the name in one of {', '.join(endings)}"
        )
    return endings[ending]


# -- text -----------------------------------------------------------------------------------------


def _csv_chunks(delimiter: str) -> Callable[[Dataset], Iterator[bytes]]:
    def chunks(data: Dataset) -> Iterator[bytes]:
        before, after = _beside(data)
        names: Sequence[Any] | None = data.features
        if names is None and (before or after):
            names = [f"x{column}" for column in range(1, data.d + 1)]
        header = [*before, *(names or ()), *after]
        _refuse_clash(header)
        rows = (
            [
                *(column[i] for column in before.values()),
                *map(float, row),
                *(column[i] for column in after.values()),
            ]
            for i, row in enumerate(data.rows())
        )
        return _encoded(_csv_lines(chain((header,), rows) if header else rows, delimiter))

    return chunks


def _csv_lines(rows: Iterable[Sequence[Any]], delimiter: str) -> Iterator[str]:
    text = io.StringIO(newline="")
    # Cells are put in quotes for what ends a line here: with "\n" alone, older versions of Python
    # would leave a carriage return in a name bare, and the file could not be read again.
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\r\n")
    for number, row in enumerate(rows):
        writer.writerow(row)  # floats as repr has them: the shortest text that reads back
        if not number and text.getvalue().startswith(_MARK):
            # Bare at the beginning of a file it would be the mark of an encoding, not of a name.
            text.seek(0)
            text.truncate()
            csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerow(row)
        yield text.getvalue().removesuffix("\r\n") + "\n"
        text.seek(0)
        text.truncate()


def _json_line(names: Sequence[str], row: Sequence[Any]) -> str:
    try:
        content = dict(zip(names, row, strict=True))
        return json_text(content) + "\n"
    except ValueError:
        raise NotFinite(f"row {row[0]!r} has a number that is not finite; JSON has none") from None


def _jsonl_chunks(data: Dataset) -> Iterator[bytes]:
    if isinstance(data.matrix, Dense):
        return _encoded(json_text(row) + "\n" for row in data.rows())
    before, after = _beside(data)
    beside = {**before, **after}
    if data.features is not None:  # numbers clash with nothing
        _refuse_clash([*beside, *data.features])
    return _encoded(object_lines(data, data.matrix, beside))


def _svmlight_chunks(data: Dataset) -> Iterator[bytes]:
    last = data.d - 1

    def lines() -> Iterator[str]:
        for i, row in enumerate(data.rows()):
            label = "0" if data.labels is None else _word(data.labels[i], i)
            if not i and label.startswith(_MARK):
                label = _MARK + label  # the first mark of a file is one of its encoding
            pairs = row.items() if isinstance(row, dict) else enumerate(row)
            cells = [f"{column + 1}:{_shortest(value)}" for column, value in pairs if value]
            # The largest index tells how many columns there are, so it must occur.
            if not i and data.d and not (row.get(last) if isinstance(row, dict) else row[last]):
                cells.append(f"{last + 1}:0")
            yield " ".join([label, *cells]) + "\n"

    return _encoded(lines())


def _matrixmarket_chunks(data: Dataset) -> Iterator[bytes]:
    matrix = data.matrix
    if isinstance(matrix, Sparse):
        head = f"%%MatrixMarket matrix coordinate real general\n{data.n} {data.d} "
        entries = (
            f"{i + 1} {matrix.columns[k] + 1} {_shortest(matrix.values[k])}\n"
            for i in range(data.n)
            for k in range(matrix.starts[i], matrix.starts[i + 1])
        )
        return _encoded(chain((f"{head}{len(matrix.values)}\n",), entries))
    head = f"%%MatrixMarket matrix array real general\n{data.n} {data.d}\n"
    numbers = (
        f"{_shortest(value)}\n" for j in range(data.d) for value in matrix.values[j :: data.d]
    )
    return _encoded(chain((head,), numbers))


def _beside(data: Dataset) -> tuple[dict[str, Sequence[Any]], dict[str, Sequence[Any]]]:
    """What stands before and behind the numbers of a row, under the names of columns."""
    before: dict[str, Sequence[Any]] = {} if data.ids is None else {"id": data.ids}
    after: dict[str, Sequence[Any]] = {}
    if data.labels is not None:
        after["label"] = [str(label) for label in data.labels]
    if data.weights is not None:
        after["weight"] = data.weights
    return before, after


def _refuse_clash(names: Sequence[Any]) -> None:
    texts = list(map(str, names))
    if len(set(texts)) != len(texts):
        twice = next(name for name in texts if texts.count(name) > 1)
        raise FeatureMismatch(
            f"two columns would be called {twice!r}; id, label and weight are names of their own"
        )


def _word(label: object, i: int) -> str:
    word = str(label)
    if not word or set(word) & set(":#") or len(word.split()) != 1 or word != word.strip():
        raise BadLabel(f"the label of row {i} is {word!r}; svmlight takes one word without : and #")
    return word


def _shortest(value: float) -> str:
    return repr(value).removesuffix(".0")


def text_blocks(pieces: Iterable[str]) -> Iterator[str]:
    """Join small pieces, so that writing is not a call a row."""
    held: list[str] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= _BLOCK:
            yield "".join(held)
            held, size = [], 0
    if held:
        yield "".join(held)


def _encoded(pieces: Iterable[str]) -> Iterator[bytes]:
    return map(_bytes, text_blocks(pieces))


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        wrong = text[max(error.start - 20, 0) : error.end]
        raise BadLabel(f"{wrong!r} ends in half of a character, which no text file holds") from None


def plain_value(value: Any) -> int | float | str:
    """A label or a number as the standard library writes it.

    Spec: DATA-WRITE
    """
    if isinstance(value, int | float | str):
        return value
    to_list = getattr(value, "tolist", None)
    native = to_list() if callable(to_list) else value
    return native if isinstance(native, int | float) else str(native)


def _all_parts(_: Dataset) -> tuple[str, ...]:
    return _PARTS


def _of_objects(data: Dataset) -> tuple[str, ...]:
    return () if isinstance(data.matrix, Dense) else _PARTS


def _only_labels(_: Dataset) -> tuple[str, ...]:
    return ("labels",)


def _nothing(_: Dataset) -> tuple[str, ...]:
    return ()


_BOTH: Final = ("dense", "sparse")
WRITERS: Final[Mapping[str, Writer]] = MappingProxyType(
    {
        writer.name: writer
        for writer in (
            Writer("csv", (".csv",), ("dense",), _all_parts, _csv_chunks(",")),
            Writer("tsv", (".tsv", ".tab"), ("dense",), _all_parts, _csv_chunks("\t")),
            Writer("jsonl", (".jsonl", ".ndjson"), _BOTH, _of_objects, _jsonl_chunks),
            Writer("npy", (".npy",), ("dense",), _nothing, matrix_chunks),
            Writer("npz", (".npz",), _BOTH, _nothing, archive_chunks),
            Writer(
                "svmlight", (".svmlight", ".svm", ".libsvm"), _BOTH, _only_labels, _svmlight_chunks
            ),
            Writer("matrixmarket", (".mtx", ".mm"), _BOTH, _nothing, _matrixmarket_chunks),
        )
    }
)
