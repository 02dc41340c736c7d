"""Tables with a column per class, rater, cluster or method: which columns of them are meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from refclust.cli.options.label_files import Side, refuse_twice
from refclust.errors import BadOption, MissingColumn
from refclust.numbers.reading import shown

if TYPE_CHECKING:
    from refclust.cli.options.data import DataOptions
    from refclust.cli.options.evidence.options import EvidenceOptions
    from refclust.data.pairing import Described
    from refclust.data.sheets import Sheet

PREFIX: Final = "p_"  # of the columns of probabilities that `refclust predict --proba` writes


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table that are meant, and one beside them, such as the truth."""

    sheet: Sheet
    places: tuple[int, ...]
    names: tuple[str, ...]
    beside: list[str] | None = None
    ids: list[str] | None = None

    def described(self, values: Sequence[object]) -> Described:
        """What the file says of its objects, with their ids."""
        from refclust.data.files.textfile import display_name
        from refclust.data.pairing import Described

        return Described(display_name(self.sheet.file), values, self.ids)

    @property
    def rows(self) -> list[list[str]]:
        """The cells as they are written."""
        return [[row[j] for j in self.places] for row in self.sheet.rows]

    def numbers(self) -> list[list[Fraction]]:
        """The cells as exact numbers."""
        from refclust.data.sheets import number

        return self.sheet.converted(number, self.places)


def read(
    path: str, named: EvidenceOptions, reading: DataOptions, *, but: str | None = None
) -> Columns:
    """Read the columns that were named, or all but those of ids and ``but``.

    Where columns are called p_…, as ``predict --proba`` writes them, only those are meant.
    """
    from refclust.data.pairing import id_place
    from refclust.data.sheets import read_sheet

    sheet = read_sheet(path, header=named.header is not False, delimiter=named.delimiter)
    beside = None if but is None else _place(sheet, but)
    id_at = _place(sheet, reading.id_column) if reading.id_column else None
    if reading.column:
        places = [_place(sheet, column) for column in reading.column]
    else:
        if id_at is None and named.header is not False:
            id_at = id_place(sheet.names, reading.id_column)
        others = [beside, id_at]
        places = [j for j in range(len(sheet.names)) if j not in others]
        places = [j for j in places if sheet.names[j].startswith(PREFIX)] or places
    names = [sheet.names[j] for j in places]
    if all(name.startswith(PREFIX) for name in names) and len(names) > 1:
        names = [name.removeprefix(PREFIX) for name in names]
    truth = None if beside is None else [row[beside] for row in sheet.rows]
    if id_at is None and named.header is not False:
        id_at = id_place(sheet.names, reading.id_column, places)
    ids = None if id_at is None else [row[id_at] for row in sheet.rows]
    return Columns(sheet, tuple(places), tuple(names), truth, ids)


def read_weighted(
    path: str, named: EvidenceOptions, reading: DataOptions
) -> tuple[Columns, Sequence[int | Fraction] | None]:
    """Read columns, and the weights of their rows if there are any."""
    from refclust.cli.options.evidence.labelings import read_weights, weights_beside
    from refclust.data.files.textfile import display_name

    weights = None if named.weights is None else Side.of(named.weights)
    refuse_twice([], [path, None if weights is None else weights.file])
    columns = read(path, named, reading)
    counts = read_weights(weights, None, reading.id_column)
    return columns, weights_beside(counts, display_name(path), columns.sheet.rows, columns.ids)


def listed(text: str | None) -> list[str] | None:
    """Names in a row, separated by commas; those with a comma stand in quotes.

    >>> listed('a,"b, c"')
    ['a', 'b, c']
    """
    if text is None:
        return None
    import csv

    try:
        [names] = csv.reader([text], strict=True)
    except (csv.Error, ValueError):
        raise BadOption(f"--classes {shown(text)}: names are separated by commas") from None
    return names


def _place(sheet: Sheet, column: str) -> int:
    if column in sheet.names:
        return sheet.names.index(column)
    if column.isdecimal() and column.isascii() and 1 <= int(column[:9]) <= len(sheet.names):
        return int(column[:9]) - 1
    from refclust.data.files.textfile import display_name

    names = ", ".join(map(shown, sheet.names[:12]))
    raise MissingColumn(
        f"{display_name(sheet.file)} has no column {shown(column)}; it has: {names}"
    )
