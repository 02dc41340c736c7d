"""Files that describe the same objects: rows meet by their ids, else by their order (DATA-PAIR)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from refclust.data.files.whole import whole
from refclust.errors import IdMismatch, LabelLengthMismatch
from refclust.notes import tell
from refclust.numbers.reading import shown

ID: Final = "id"  # the name of a column of ids, letters small or large
_BY_ORDER: Final = "rows are paired by their ids; --id-column '' pairs them by their order"


@dataclass(frozen=True, slots=True)
class Described:
    """What a file says of objects, one value for each, and their ids if it has any."""

    name: str  # as messages call it
    values: Sequence[Any]
    ids: Sequence[str] | None = None


def id_place(names: Sequence[str], asked: str | None, taken: Sequence[int] = ()) -> int | None:
    """Which column of a header holds ids: the one asked for, else the only one called ``id``.

    A column that is read for something else holds no ids, and ``asked`` may be empty: then none
    does.

    Spec: DATA-PAIR

    >>> id_place(["Id", "y"], None), id_place(["id", "y"], ""), id_place(["id", "who"], "who")
    (0, None, 1)
    """
    if asked == "":
        return None
    if asked is not None:
        place = asked_place(names, asked)
        if place is not None:
            return place
    places = [i for i, name in enumerate(names) if name.strip().lower() == ID]
    return places[0] if len(places) == 1 and places[0] not in taken else None


def asked_place(names: Sequence[str], asked: str) -> int | None:
    """The column of that name, or of that number from 1, if there is one.

    Spec: DATA-PAIR

    >>> asked_place(["id", "y"], "y"), asked_place(["id", "y"], "1"), asked_place(["id"], "y")
    (1, 0, None)
    """
    places = [i for i, name in enumerate(names) if name == asked]
    if places:
        return places[0] if len(places) == 1 else None
    return place - 1 if 1 <= (place := whole(asked) or 0) <= len(names) else None


def paired(files: Sequence[Described]) -> list[list[Any]]:
    """The values of all files, in the order of the objects of the first file that has ids.

    Files without ids are taken to be in that order. Ids that do not match one to one are refused,
    unless they are the same row by row.

    Spec: DATA-PAIR

    >>> truth = Described("true.csv", ["p", "q"], ["7", "8"])
    >>> paired([truth, Described("pred.csv", [1, 0], ["8", "7"])])
    [['p', 'q'], [0, 1]]
    """
    _check_lengths(files)
    first = next((file for file in files if file.ids is not None), None)
    ordered: list[list[Any]] = []
    moved: list[str] = []
    for file in files:
        order = None if first is None or file.ids is None else _order(first, file)
        ordered.append(
            list(file.values) if order is None else [file.values[place] for place in order]
        )
        if order is not None and file.name not in moved:
            moved.append(file.name)
    if first is not None and moved:
        tell(f"{', '.join(moved)}: rows are brought to the order of {first.name} by their ids")
    return ordered


def _check_lengths(files: Sequence[Described]) -> None:
    if len({len(file.values) for file in files}) > 1:
        lengths = ", ".join(f"{file.name} has {len(file.values):,}" for file in files)
        raise LabelLengthMismatch(f"one line or row per object is needed, but {lengths}")


def _order(first: Described, file: Described) -> list[int] | None:
    """The place of each object of the first file in another one; nothing if they are the same."""
    assert first.ids is not None
    assert file.ids is not None
    if first.ids is file.ids or list(first.ids) == list(file.ids):
        return None
    theirs, places = _places(first), _places(file)
    missing = [name for name in theirs if name not in places]
    if missing:
        strange = next(name for name in places if name not in theirs)
        verb = "is" if len(missing) == 1 else "are"
        raise IdMismatch(
            f"{len(missing):,} of the {len(theirs):,} ids of {first.name} {verb} not in "
            f"{file.name}, such as {shown(missing[0])} (row {theirs[missing[0]] + 1}), while "
            f"{file.name} has {shown(strange)}; {_BY_ORDER}"
        )
    return [places[name] for name in first.ids]


def _places(file: Described) -> dict[str, int]:
    assert file.ids is not None
    places: dict[str, int] = {}
    for row, name in enumerate(file.ids):
        if not name:
            raise IdMismatch(f"{file.name}: row {row + 1} has no id; {_BY_ORDER}")
        if places.setdefault(name, row) != row:
            raise IdMismatch(
                f"{file.name}: the id {shown(name)} comes twice, in rows {places[name] + 1} and "
                f"{row + 1}; {_BY_ORDER}"
            )
    return places
