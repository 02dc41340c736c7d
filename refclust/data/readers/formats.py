"""The registry of readers: which formats there are, and which one fits a file (chapter 09).

A reader is chosen by its name, else by the ending of the file name, else by the first bytes. It
refuses an option that it cannot use, so that nothing a user asked for is silently left undone.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import Annotated, Any, Final, Literal

from refclust.data.dataset import Dataset
from refclust.data.files.encoding import as_utf8, known_encoding
from refclust.data.files.parts import whole
from refclust.data.files.source import comes_once, keeping, packing_of, passing, unpacked
from refclust.data.files.textfile import STDIN, display_name, readable, suffix, written_in
from refclust.data.text import TextOptions
from refclust.data.typed import Frame
from refclust.errors import (
    BadFile,
    BadOption,
    EmptyFile,
    FileNotReadable,
    NotText,
    TooLarge,
    UnknownFormat,
)
from refclust.numbers.reading import shown

# In the order of `refclust formats`, which also settles equal scores of sniffing.
_MODULES: Final = (
    "tables.csvfile",
    "tables.arff",
    "jsonl",
    "arrays.npy",
    "sparse.svmlight",
    "sparse.matrixmarket",
    "sparse.docword",
    "texts",
)
_BINARY: Final = ("npy", "npz")
_ELSEWHERE: Final = (".parquet", ".feather", ".arrow", ".xlsx", ".xls", ".xlsb", ".ods")
HEAD: Final = 1 << 16  # bytes by which a format is recognised
SURE_ENOUGH: Final = 0.5  # from here on a format is taken because of the first bytes alone


_DUE: Final[Mapping[str, tuple[type | tuple[type, ...], str]]] = {
    "delimiter": (str, "a text"),
    "header": (bool, "True or False"),
    "id_column": (str, "the name of a column, or its number as text,"),
    "label_column": (str, "the name of a column, or its number as text,"),
    "weight_column": (str, "the name of a column, or its number as text,"),
    "columns": ((tuple, list), "a tuple of names"),
    "exclude": ((tuple, list), "a tuple of names"),
    "categorical": ((tuple, list), "a tuple of names"),
    "base": (int, "0 or 1"),
    "array": (str, "the name of an array"),
    "text": (TextOptions, "a TextOptions"),
    "text_column": (str, "the name of a column"),
    "decimal": (str, "point or comma"),
    "encoding": (str, "the name of an encoding"),
    "vocabulary": (str, "the name of a file"),
    "missing": (str, "'integrate'"),
}


@dataclass(frozen=True, slots=True)
class Options:
    """Everything a reader may be told; ``None`` leaves the choice to the reader."""

    delimiter: str | None = None
    header: bool | None = None
    id_column: str | None = None  # by name, or by number from 1
    label_column: str | None = None
    weight_column: str | None = None
    columns: tuple[str, ...] | None = None  # only these features, likewise also as range or pattern
    base: Annotated[int, whole(0, 1)] | None = None  # the first index of svmlight: 0 or 1
    array: str | None = None  # which array of an .npz
    text: TextOptions | None = None
    text_column: str | None = None
    decimal: Literal["point", "comma"] | None = None
    encoding: str | None = None  # of a text without a mark of its own
    vocabulary: str | None = None  # a file of the names of columns, one a line
    exclude: tuple[str, ...] | None = None  # features left out, by name, number, range or pattern
    categorical: tuple[str, ...] | None = None  # features that hold categories
    missing: Literal["integrate"] | None = None  # cells may be missing; whoever fits knows how

    def __post_init__(self) -> None:
        """Refuse what no reader could understand."""
        for option, (kind, due) in _DUE.items():
            value: Any = getattr(self, option)
            if value is not None and not isinstance(value, kind):
                raise BadOption(f"{option} is {shown(value)}; {due} is needed")
        if self.decimal not in (None, "point", "comma"):
            raise BadOption(f"decimal is {shown(self.decimal)}; point or comma is needed")
        if self.encoding is not None:
            known_encoding(self.encoding)
        for option in ("columns", "exclude", "categorical"):
            names: Any = getattr(self, option)
            if names is not None and not all(isinstance(name, str) for name in names):
                raise BadOption(f"{option} are {shown(names)}; they are named by texts")
        if self.missing not in (None, "integrate"):
            raise BadOption(f"missing is {shown(self.missing)}; 'integrate' is allowed")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a reader would read and how, judged by the beginning of the file."""

    format: str
    kind: str  # "dense", "sparse" or "text"
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reader:
    """One format: how to recognise it, what it would read, and how to read it."""

    name: str
    suffixes: tuple[str, ...]  # lower case, with the dot, without .gz
    summary: str
    read: Callable[[str, Options], Dataset]
    sniff: Callable[[str], float]  # 0 to 1 from the first bytes; never raises on bad content
    plan: Callable[[str, Options], Plan]
    # Of tables: all columns with what they hold; of some first rows only, if a number is given.
    frame: Callable[[str, Options, int | None], Frame] | None = None


@dataclass(frozen=True, slots=True)
class QuickReader:
    """A faster way to the very data set that a reader of refclust gives.

    It gives None where it cannot promise that: then the reader itself reads, and tells what is
    wrong with the file if something is.
    """

    format: str  # the name of the reader
    read: Callable[[str, Options], Dataset | None]


def builtin() -> tuple[Reader, ...]:
    """Return the readers that come with refclust.

    >>> [reader.name for reader in builtin()][:3]
    ['csv', 'tsv', 'arff']
    """
    readers: list[Reader] = []
    for name in _MODULES:
        module = import_module(f"refclust.data.readers.{name}")
        readers.extend(module.READERS if hasattr(module, "READERS") else (module.READER,))
    return tuple(
        reader if reader.name in _BINARY else _of_any_encoding(reader) for reader in readers
    )


def _of_any_encoding(reader: Reader) -> Reader:
    """A reader of UTF-8 as a reader of texts in whatever encoding.

    Spec: DATA-ENCODING
    """

    def read(path: str, options: Options) -> Dataset:
        with written_in(options.encoding, [path]):
            return reader.read(path, replace(options, encoding=None))

    def plan(path: str, options: Options) -> Plan:
        with written_in(options.encoding, [path]):
            made = reader.plan(path, replace(options, encoding=None))
        if options.encoding is None:
            return made
        return replace(made, facts=(*made.facts, ("encoding", options.encoding)))

    def frame(path: str, options: Options, rows: int | None) -> Frame:
        assert reader.frame is not None
        with written_in(options.encoding, [path]):
            return reader.frame(path, replace(options, encoding=None), rows)

    return replace(reader, read=read, plan=plan, frame=frame if reader.frame else None)


def choose(path: str, name: str | None = None, readers: Sequence[Reader] | None = None) -> Reader:
    """Return the reader of that name, or else the one that fits the file.

    >>> choose("iris.csv").name
    'csv'
    """
    known = builtin() if readers is None else tuple(readers)
    if name is not None:
        for reader in known:
            if reader.name == name:
                return reader
        raise UnknownFormat(f"there is no format {name!r}; there are: {_names(known)}")
    return by_ending(path, known) or _recognised(path, known)


def by_ending(path: str, readers: Sequence[Reader]) -> Reader | None:
    """Return the reader of files whose names end so, if there is one.

    >>> by_ending("iris.stars", builtin()) is None
    True
    """
    ending = suffix(path)
    if not ending or path == STDIN or os.path.isdir(path):
        return None
    return next((reader for reader in readers if ending in reader.suffixes), None)


def read(
    path: str,
    *,
    format: str | None = None,  # noqa: A002 — what everybody would call it
    options: Options | None = None,
    readers: Sequence[Reader] | None = None,
) -> Dataset:
    """Read a data set from a file, a folder or standard input (``-``).

    Spec: DATA-READ
    """
    reader = choose(path, format, readers)
    with passing(path):
        return reader.read(path, options or Options())


def plan(
    path: str,
    *,
    format: str | None = None,  # noqa: A002 — what everybody would call it
    options: Options | None = None,
    readers: Sequence[Reader] | None = None,
) -> Plan:
    """Tell how a file would be read, from its beginning."""
    with keeping(path, afterwards=True):
        return choose(path, format, readers).plan(path, options or Options())


def check_options(name: str, options: Options, usable: Collection[str]) -> None:
    """Refuse an option that was given and that this format cannot use.

    >>> check_options("npy", Options(base=1), ())
    Traceback (most recent call last):
    refclust.errors.BadOption: the format npy cannot use the option base; it takes no option
    """
    for field in fields(options):
        if getattr(options, field.name) is not None and field.name not in usable:
            taken = ", ".join(sorted(usable)) or "no option"
            raise BadOption(
                f"the format {name} cannot use the option {field.name}; it takes {taken}"
            )


def head(path: str, size: int = HEAD) -> bytes:
    """Return the first bytes of a source, unpacked; none if it fails.

    They are only looked at: whoever reads a pipe or standard input then gets them again.

    Spec: DATA-SOURCE
    """
    try:
        with unpacked(path) as stream:
            return as_utf8(stream, display_name(path)).read(size)
    except TooLarge:
        raise
    except NotText:
        return b""  # reading will tell where
    except (OSError, EOFError, ValueError, zlib.error):
        return b""


def packing(path: str) -> tuple[tuple[str, str], ...]:
    """Return the fact that a file is packed, for a plan.

    >>> packing("a.csv.gz"), packing("a.csv")
    ((('packed', 'gzip'),), ())
    """
    packed = packing_of(path)
    return () if packed is None else (("packed", packed.name),)


def _recognised(path: str, known: Sequence[Reader]) -> Reader:
    name = display_name(path)
    once = comes_once(path)
    if not once and not os.path.exists(path):
        raise FileNotReadable(f"cannot read {name}: no such file or directory")
    scores = [(reader.sniff(path), reader) for reader in known]
    best, chosen = max(scores, key=lambda pair: pair[0])  # the first of equals
    if best >= SURE_ENOUGH:
        return chosen
    if once:
        return next((reader for reader in known if reader.name == "csv"), chosen)
    if os.path.isfile(path) and not head(path, 1):
        with readable(path, BadFile), unpacked(path) as stream:
            stream.read(1)  # tells if it fails
        raise EmptyFile(f"{name} is empty")
    likely = f"it looks most like {chosen.name}; " if best > 0 else ""
    if suffix(path) in _ELSEWHERE:
        likely = "the distribution refclust-arrow reads it; "
    raise UnknownFormat(
        f"cannot tell the format of {name} from its name or its first bytes; {likely}"
        f"name one of: {_names(known)}"
    )


def _names(readers: Sequence[Reader]) -> str:
    return ", ".join(reader.name for reader in readers)
