"""Which columns of a table become features, which are left out, and what is said about it.

Realises PREP-DEFAULT: what cannot be a feature is left out with a note, what may be one but is no
number is refused with advice, and what was asked for by name is used or refused, never left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from refclust.data.preparing.asked import Asked
from refclust.data.readers.cells import is_number, listed, number_in, shown
from refclust.data.readers.formats import Options
from refclust.data.readers.tables.layout import Layout
from refclust.data.typed import Column, Frame, Kind, kind_of_numbers, named_class
from refclust.errors import BadCell, MissingColumn

_WHAT: Final[dict[Kind, str]] = {
    "id": "ids",
    "date": "dates",
    "text": "text",
    "missing-only": "no cell is there",
    "constant": "constant",
    "nominal": "classes",
}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A column that is no feature, and what it holds instead."""

    name: str
    kind: Kind
    column: int  # from 0

    def said(self, free: Sequence[str], named: bool) -> str:
        """What it is and, while the role is free, how it may be used."""
        called = _typed(self.name, self.column) if named else str(self.column + 1)
        role = {"id": "--id-column", "nominal": "--label-column"}.get(self.kind)
        advice = f": {role} {called}" if role in free else ""
        shown_name = listed([self.name]) if named else f"column {self.column + 1}"
        return f"{shown_name or 'column 1'} ({_WHAT[self.kind]}{advice})"


def used(
    frame: Frame, columns: Layout, options: Options, asked: Asked
) -> tuple[list[int], list[LeftOut]]:
    """The columns that become features, and those that do not; a refusal where a user must say.

    Spec: PREP-DEFAULT
    """
    explicit = options.columns is not None
    features: list[int] = []
    left_out: list[LeftOut] = []
    for j in columns.features:
        column = frame.columns[j]
        if j in columns.categorical or _is_feature(column, explicit, asked):
            features.append(j)
        elif not explicit and _left_out(column):
            left_out.append(LeftOut(column.name, column.kind, j))
        else:
            _refuse(frame, j, columns)
    if not features:
        said = ", ".join(each.said((), frame.named) for each in left_out)
        raise MissingColumn(
            f"{frame.file or 'the table'} has no column left for a feature: {said}; --columns uses "
            "what it names"
        )
    return features, left_out


def _is_feature(column: Column, explicit: bool, asked: Asked) -> bool:
    if column.numbers is None or column.kind == "missing-only":
        return False
    if explicit or column.kind == "number":
        return True
    return column.kind == "constant" and not asked.without_constants


def _left_out(column: Column) -> bool:
    return column.kind != "nominal" or named_class(column.name)


def among_numbers(
    names: Sequence[str], columns: Iterable[Sequence[float]], asked: Asked
) -> list[tuple[int, Kind]]:
    """Which of some columns of doubles are left out, and what they hold.

    Spec: PREP-DEFAULT, PREP-KIND
    """
    kinds = [kind_of_numbers(name, column) for name, column in zip(names, columns, strict=True)]
    plain = {"number"} if asked.without_constants else {"number", "constant"}
    return [(j, kind) for j, kind in enumerate(kinds) if kind not in plain]


def note_of(left_out: Sequence[LeftOut], columns: Layout, named: bool) -> str:
    """What to tell of columns that are no features.

    Spec: PREP-DEFAULT
    """
    roles = (("--id-column", columns.id), ("--label-column", columns.label))
    free = [option for option, place in roles if place is None]
    said = ", ".join(each.said(free, named) for each in left_out[:12])
    more = f" and {len(left_out) - 12} more" if len(left_out) > 12 else ""
    return f"not used as features: {said}{more}; --columns uses what it names"


def _refuse(frame: Frame, j: int, columns: Layout) -> NoReturn:
    """Say what stands in a column that is no feature as it is, and what can be done with it."""
    column = frame.columns[j]
    called = _typed(column.name, j) if frame.named else str(j + 1)
    for i, text in enumerate(column.names()):
        if text is not None and not (column.numbers is not None and is_number(text)):
            raise BadCell(
                f"{frame.place(i, j)} is {shown(text)}, which is not a number; "
                f"{_advice(column, called, columns, _nominal(frame, columns))}"
            )
    cell = "" if column.raw is None else column.raw[0]
    number_in(cell, frame.place(0, j), hint="")
    raise MissingColumn(f"{frame.place(0, j)}: no cell of the column is a number")


def _nominal(frame: Frame, columns: Layout) -> list[str]:
    """All columns that would be refused for their categories, as they would be typed."""
    wanted = [j for j in columns.features if j not in columns.categorical]
    return [
        _typed(frame.columns[j].name, j) if frame.named else str(j + 1)
        for j in wanted
        if frame.columns[j].kind == "nominal"
        and frame.columns[j].numbers is None
        and not named_class(frame.columns[j].name)
    ]


def _advice(column: Column, called: str, columns: Layout, others: Sequence[str]) -> str:
    leave = f"--exclude {called} leaves it out"
    if column.kind in ("nominal", "constant"):
        if len(others) > 1:
            every = ",".join(others)
            return (
                f"{len(others)} columns hold categories: --categorical {every} uses them; "
                "--label-column C and --exclude C take a column out"
            )
        count = len({text for text in column.names() if text is not None})
        held = f"the column holds {count} categor{'y' if count == 1 else 'ies'}"
        label = "" if columns.label is not None else f", --label-column {called} compares with them"
        return f"{held}: --categorical {called} uses them{label}, {leave}"
    if column.kind == "id" and columns.id is None:
        return f"the column holds ids: --id-column {called} names the rows by them, {leave}"
    return f"the column holds {_WHAT.get(column.kind, 'text')}; {leave}"


def _typed(name: str, column: int) -> str:
    """A name as it would be typed in a shell; by its number where a name says nothing."""
    if name.isascii() and name.replace("_", "").replace(".", "").isalnum():
        return name
    if not name.isprintable() or not name or "," in name or len(name) > 40:
        return str(column + 1)
    return "'" + name.replace("'", "'\\''") + "'"
