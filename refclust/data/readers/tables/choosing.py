"""Columns of a table by name, by number, as a range or by a pattern (PREP-COLUMNS)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Final, NoReturn

from refclust.data.files.whole import is_whole, whole
from refclust.data.readers.cells import listed, shown
from refclust.errors import BadOption, MissingColumn

_NUMBERS: Final = re.compile(r"[0-9*?:-]+|(?:[0-9]*-[0-9]*)")
_DASHED: Final = re.compile(r"([0-9]*)-([0-9]*)")
_SIGNS: Final = frozenset("*?[")


def split_list(text: str) -> list[str]:
    """The items of a list as typed: between commas, in quotes where an item holds one.

    >>> split_list('width, petal*,"a,b"')
    ['width', 'petal*', 'a,b']
    """
    import csv

    try:
        items = [
            item.strip()
            for item in next(csv.reader([text], skipinitialspace=True, strict=True), [])
        ]
    except csv.Error:
        raise BadOption(f"{shown(text)}: a quote in this list of columns is not closed") from None
    if not items or "" in items:
        raise BadOption(f"{shown(text)}: a list of columns has a name between all its commas")
    return items


def needs_names(item: str) -> bool:
    """Whether an item can only be understood with the names of a header.

    >>> needs_names("width"), needs_names("7"), needs_names("2-5"), needs_names("*")
    (True, False, False, False)
    """
    return not _NUMBERS.fullmatch(item)


class Resolver:
    """Finds the positions of columns, given by name or by number from 1."""

    def __init__(self, file: str, width: int, names: Sequence[str]) -> None:
        self.file, self.width, self.names = file, width, names
        self.places_of: dict[str, list[int]] = {}  # searching each time would be quadratic
        for i, name in enumerate(names):
            self.places_of.setdefault(name, []).append(i)

    def place(self, column: str) -> int:
        """The position of a single column.

        Spec: PREP-COLUMNS
        """
        place = self._known(column)
        if place is None:
            self._refuse(column)
        return place

    def places(self, item: str, *, aside: Collection[int] = ()) -> tuple[list[int], bool]:
        """The positions that an item of a list stands for, and whether it is a single name.

        Ranges and patterns pass over the columns that are set aside.

        Spec: PREP-COLUMNS
        """
        place = self._known(item)
        if place is not None:
            return [place], True
        some = self._range(item) if ":" in item or _DASHED.fullmatch(item) else None
        if some is None and _SIGNS & set(item):
            called = self.names or [str(i) for i in range(1, self.width + 1)]
            some = [i for i, name in enumerate(called) if fnmatchcase(name, item)]
        if not some:
            self._refuse(item)
        return [i for i in some if i not in aside], False

    def _known(self, column: str) -> int | None:
        places = self.places_of.get(column, [])
        if len(places) > 1:
            raise MissingColumn(
                f"{self.file} has {len(places)} columns called {column!r}; use a number: "
                f"{' or '.join(str(i + 1) for i in places)}"
            )
        if places:
            return places[0]
        number = whole(column) or 0
        return number - 1 if 1 <= number <= self.width else None

    def _range(self, item: str) -> list[int] | None:
        """The columns from one to another, both included; an end left open is that of the table."""
        dashed = _DASHED.fullmatch(item)
        cuts = [i for i, sign in enumerate(item) if sign == ":"]
        pairs = [dashed.groups()] if dashed else [(item[:i], item[i + 1 :]) for i in cuts]
        for begin, end in pairs:
            if not begin and not end:
                continue
            first = 0 if not begin else self._known(begin)
            last = self.width - 1 if not end else self._known(end)
            if first is None or last is None:
                continue
            if first > last:
                raise BadOption(f"the range {shown(item)} ends before it begins")
            return [*range(first, last + 1)]
        return None

    def _refuse(self, column: str) -> NoReturn:
        from refclust.data.readers.tables.layout import Layout, delimiter_hint

        there = listed(self.names) if self.names else f"{self.width} columns without names"
        hint = delimiter_hint(self.names[0], Layout(self.width, None, ()), "") if self.names else ""
        raise MissingColumn(f"{self.file} has no column {shown(column)}; it has: {there}{hint}")


def chosen(
    resolver: Resolver, items: Iterable[str], *, aside: Collection[int] = ()
) -> tuple[list[int], bool]:
    """The positions of a list of columns in its order, and whether a single one comes twice.

    Spec: PREP-COLUMNS

    >>> chosen(Resolver("a.csv", 4, ("x", "y", "z", "kind")), ["z", "x:z"])
    ([2, 0, 1], False)
    """
    places: dict[int, None] = {}
    twice = False
    for item in items:
        some, single = resolver.places(item, aside=aside)
        twice = twice or (single and some[0] in places)
        places |= dict.fromkeys(some)
    return [*places], twice


def all_numbers(columns: Iterable[str]) -> bool:
    """Whether no column is given by a name.

    >>> all_numbers(["1", "2-3"]), all_numbers(["1", "width"])
    (True, False)
    """
    return all(is_whole(column) or not needs_names(column) for column in columns)
