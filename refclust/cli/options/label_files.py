"""Labels that a command is given: ``FILE`` or ``FILE:COLUMN``, one or several."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refclust.errors import BadOption, MissingColumn

if TYPE_CHECKING:
    from refclust.cli.options.data import DataOptions
    from refclust.data.dataset import Dataset
    from refclust.data.pairing import Described


def split(text: str | None) -> tuple[str | None, str | None]:
    """Split FILE:COLUMN, unless a file has the whole name."""
    file, colon, column = (text or "").rpartition(":")
    if text is None or not colon or not file or not column or os.path.exists(text):
        return text, None
    return file, column


def read(text: str, reading: DataOptions, data: Dataset) -> list[str]:
    """Read one label per row, with the delimiter of the data if there is a choice.

    Where both have ids, rows and labels meet by them.

    Spec: DATA-PAIR
    """
    from refclust.data.files.textfile import written_in
    from refclust.data.labels import is_delimited, read_file
    from refclust.data.pairing import Described, paired

    path, column = split(text)
    assert path is not None
    sign = reading.sign() if is_delimited(path, column=column) else None
    with written_in(reading.encoding, [path]):
        file = read_file(path, [column], delimiter=sign, id_column=reading.id_column)
    [labels] = file.columns
    if file.ids is None or data.ids is None:
        return labels  # whoever fits compares lengths
    rows = Described("the data", range(data.n), data.ids)
    return paired([rows, Described(Side(path, column).shown, labels, file.ids)])[1]


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
        from refclust.data.files.source import display_name

        name = display_name(self.file)
        return name if self.column is None else f"{name} (column {self.column})"


def refuse_twice(sides: Iterable[Side], others: Iterable[str | None] = ()) -> None:
    """Refuse to read a pipe twice; columns of one file are read in one pass."""
    from refclust.data.files import source

    whole = [side.file for side in sides if side.column is None]
    parts = dict.fromkeys(side.file for side in sides if side.column is not None)
    source.refuse_twice([*whole, *parts, *others])


def read_sides(
    sides: Sequence[Side],
    delimiter: str | None,
    id_column: str | None = None,
    *,
    found: bool = False,
) -> list[Described]:
    """Read what all sides say, each file of columns once, with ids where files have them.

    A column of ids that is asked for must be in one of them, unless it was found elsewhere.

    Spec: DATA-PAIR
    """
    from refclust.data.labels import read_file
    from refclust.data.pairing import Described

    _check_delimiter(sides, delimiter)
    columns: dict[tuple[str, bool], dict[str | None, int]] = {}
    for side in sides:
        places = columns.setdefault((side.file, side.column is None), {})
        places.setdefault(side.column, len(places))
    files = {
        key: read_file(key[0], list(places), delimiter=delimiter, id_column=id_column)
        for key, places in columns.items()
    }
    if id_column and not found and not any(file.asked for file in files.values()):
        from refclust.data.files.source import display_name
        from refclust.numbers.reading import shown

        names = ", ".join(dict.fromkeys(display_name(side.file) for side in sides))
        raise MissingColumn(f"no column {shown(id_column)} for ids in {names}")
    described: list[Described] = []
    for side in sides:
        key = (side.file, side.column is None)
        place = columns[key][side.column]
        described.append(Described(side.shown, files[key].columns[place], files[key].ids))
    return described


def sign_for(side: Side, delimiter: str | None) -> str | None:
    """The delimiter, where the side has columns to separate."""
    from refclust.data.labels import is_delimited

    return delimiter if is_delimited(side.file, column=side.column) else None


def _check_delimiter(sides: Sequence[Side], delimiter: str | None) -> None:
    if delimiter is not None and not any(sign_for(side, delimiter) for side in sides):
        raise BadOption("--delimiter separates columns: name one, or give .csv or .tsv files")
