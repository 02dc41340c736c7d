"""What the columns of a delimited table are: header, id, label, weight, features (DATA-CSV).

Columns are given by name or by number from 1. Whether the first row is a header is told from its
cells, but never guessed: a row that may be either is refused, for an object could be lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from refclust.data.files.delimiters import CANDIDATES, NAMES
from refclust.data.readers.cells import is_number, listed, shown
from refclust.data.readers.formats import Options
from refclust.data.readers.tables.choosing import Resolver, all_numbers, chosen
from refclust.data.typed import is_missing
from refclust.errors import BadHeader, BadOption, FeatureMismatch, MissingColumn


@dataclass(frozen=True, slots=True)
class Layout:
    """What the columns of a table are, each by its position from 0."""

    width: int
    names: tuple[str, ...] | None  # None: there is no header
    features: tuple[int, ...]
    id: int | None = None
    label: int | None = None
    weight: int | None = None
    categorical: frozenset[int] = frozenset()  # those of the features that hold categories


def layout(file: str, first: Sequence[str], options: Options) -> Layout:
    """Decide from the first row what the columns are and whether the row is a header.

    Spec: DATA-CSV, PREP-COLUMNS

    >>> layout("a.csv", ["x", "y", "class"], Options(label_column="class")).features
    (0, 1)
    >>> layout("a.csv", ["5.1", "3.5", "setosa"], Options(label_column="3")).names is None
    True
    """
    columns = arranged(file, first, options)
    if columns.names is not None:
        check_names(file, columns.names, columns.features)
    return columns


def arranged(file: str, first: Sequence[str], options: Options) -> Layout:
    """What the columns are, before anybody looks whether features have names that differ.

    Spec: DATA-CSV, PREP-COLUMNS
    """
    asked = (options.id_column, options.label_column, options.weight_column)
    lists = (options.columns or (), options.exclude or (), options.categorical or ())
    every = [column for column in (*asked, *chain(*lists)) if column is not None]
    cells = tuple(cell.strip(" \t") for cell in first)
    if options.header is None and not all_numbers(every):
        return arranged(file, first, replace(options, header=True))  # only a header has names
    resolver = Resolver(file, len(cells), cells if options.header else ())
    special = [None if column is None else resolver.place(column) for column in asked]
    taken = [place for place in special if place is not None]
    categorical, _ = chosen(resolver, options.categorical or (), aside=taken)
    if options.columns is None:
        features, twice = [i for i in range(len(cells)) if i not in taken], False
    else:
        features, twice = chosen(resolver, options.columns, aside=taken)
        features += [i for i in categorical if i not in features]
    left_out = {*chosen(resolver, options.exclude)[0]} if options.exclude else set()
    features = [i for i in features if i not in left_out]
    if twice or len({*taken, *features, *categorical}) < len({*features, *categorical}) + len(
        taken
    ):
        raise BadOption(
            "the columns for id, label, weight and features must differ; "
            f"asked for: {listed(every)}"
        )
    if not features:
        raise MissingColumn(f"{file} has no column left for a feature; it has {len(cells)} in all")
    roles = dict(zip(("id", "label", "weight"), special, strict=True))
    held = frozenset(categorical) - left_out
    columns = Layout(len(cells), None, tuple(features), **roles, categorical=held)
    if options.header is None and _looks_like_header(file, cells, columns, options):
        return arranged(file, first, replace(options, header=True))
    return replace(columns, names=cells) if options.header else columns


def role_hint(column: int, columns: Layout) -> str:
    """Suggest how to name a column of text that is no feature.

    >>> role_hint(2, Layout(3, ("x", "y", "kind"), (0, 1, 2), id=0))
    '; if it is a label or a name, say so: --label-column kind'
    """
    options = (("--label-column", columns.label), ("--id-column", columns.id))
    free = [option for option, place in options if place is None]
    if not free:
        return "; --column C reads only the columns it names"
    names = columns.names or ("",) * columns.width
    name = names[column]
    speakable = name.isascii() and name.replace("_", "").isalnum() and names.count(name) == 1
    suggestion = " or ".join(f"{option} {name if speakable else column + 1}" for option in free)
    return f"; if it is a label or a name, say so: {suggestion}"


def delimiter_hint(cell: str, columns: Layout, delimiter: str) -> str:
    """Suggest another delimiter if a table of one column seems to hold several.

    >>> delimiter_hint("1;2", Layout(1, None, (0,)), ",")
    ' (is the delimiter a semicolon?)'
    """
    for sign in CANDIDATES:
        if columns.width == 1 and sign != delimiter and sign in cell.strip():
            return f" (is the delimiter {'' if sign == ' ' else 'a '}{NAMES[sign]}?)"
    return ""


def _looks_like_header(file: str, first: Sequence[str], columns: Layout, options: Options) -> bool:
    """Tell a row of names from a row of numbers; a row of both is refused."""
    cells = [(i, first[i]) for i in columns.features if first[i] and i not in columns.categorical]
    if options.missing is not None:  # then marks of missing cells are no names
        cells = [(i, cell) for i, cell in cells if not is_missing(cell)]
    texts = [(i, cell) for i, cell in cells if not is_number(cell)]
    if texts and len(texts) < len(cells):
        column, cell = texts[0]
        hint = role_hint(column, columns) if len(texts) == 1 else ""
        raise BadHeader(
            f"{file}:1: column {column + 1} is {shown(cell)} while others are numbers; say "
            f"whether this line is a header (--header, --no-header){hint}"
        )
    return bool(texts)


def check_names(file: str, names: Sequence[str], features: Sequence[int]) -> None:
    """Refuse features without a name, or two of one name.

    Spec: DATA-CSV
    """
    seen: dict[str, int] = {}
    for i in features:
        if not names[i]:
            raise BadHeader(
                f"{file}:1: column {i + 1} has no name; if it only numbers the rows, say so: "
                f"--id-column {i + 1}"
            )
        if names[i] in seen:
            raise FeatureMismatch(
                f"{file}:1: columns {seen[names[i]] + 1} and {i + 1} are both called "
                f"{shown(names[i])}; features need different names"
            )
        seen[names[i]] = i
