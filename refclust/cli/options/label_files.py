"""Labels that a command is given: ``FILE`` or ``FILE:COLUMN``, one or several."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refclust.errors import BadOption

if TYPE_CHECKING:
    from refclust.cli.options.data import DataOptions


def split(text: str | None) -> tuple[str | None, str | None]:
    """Split FILE:COLUMN, unless a file has the whole name."""
    file, colon, column = (text or "").rpartition(":")
    if text is None or not colon or not file or not column or os.path.exists(text):
        return text, None
    return file, column


def read(text: str, reading: DataOptions) -> list[str]:
    """Read one label per row, with the delimiter of the data if there is a choice."""
    from refclust.data.labels import is_delimited, read_labels

    path, column = split(text)
    assert path is not None
    sign = reading.sign() if is_delimited(path, column=column) else None
    return read_labels(path, column=column, delimiter=sign)


@dataclass(frozen=True, slots=True)
class Side:
    """One file with the column to read of it."""

    file: str
    column: str | None

    @classmethod
    def of(cls, text: str, column: str | None = None) -> Side:
        """The side that FILE names, or FILE:COLUMN where no other option names a column."""
        file, own = split(text) if column is None else (text, column)
        # A name that leads nowhere is told as it was typed, with whatever colons it has.
        if own is None or file is None or not (file == "-" or os.path.exists(file)):
            return cls(text, column)
        return cls(file, own)

    @property
    def shown(self) -> str:
        """What messages call it."""
        from refclust.data.files.textfile import display_name

        name = display_name(self.file)
        return name if self.column is None else f"{name} (column {self.column})"


def refuse_twice(sides: Iterable[Side], others: Iterable[str | None] = ()) -> None:
    """Refuse to read a pipe twice; columns of one file are read in one pass."""
    from refclust.data.files import source

    whole = [side.file for side in sides if side.column is None]
    parts = dict.fromkeys(side.file for side in sides if side.column is not None)
    source.refuse_twice([*whole, *parts, *others])


def read_sides(sides: Sequence[Side], delimiter: str | None) -> list[list[str]]:
    """Read the labels of all sides, which are of one length; each file of columns once."""
    from refclust.data.labels import read_columns, read_labels, same_length

    _check_delimiter(sides, delimiter)
    columns: dict[str, list[str]] = {}
    for side in sides:
        if side.column is not None:
            columns.setdefault(side.file, []).append(side.column)
    tables = {
        file: dict(zip(names, read_columns(file, names, delimiter=delimiter), strict=True))
        for file, names in columns.items()
    }
    labels = [
        read_labels(side.file, delimiter=delimiter)
        if side.column is None
        else tables[side.file][side.column]
        for side in sides
    ]
    same_length([(side.shown, names) for side, names in zip(sides, labels, strict=True)])
    return labels


def sign_for(side: Side, delimiter: str | None) -> str | None:
    """The delimiter, where the side has columns to separate."""
    from refclust.data.labels import is_delimited

    return delimiter if is_delimited(side.file, column=side.column) else None


def _check_delimiter(sides: Sequence[Side], delimiter: str | None) -> None:
    if delimiter is not None and not any(sign_for(side, delimiter) for side in sides):
        raise BadOption("--delimiter separates columns: name one, or give .csv or .tsv files")
