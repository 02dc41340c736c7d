"""Decimal commas: recognised where nothing else can be meant, never guessed (DATA-DECIMAL).

A file writes decimals in one way. Points are taken for granted until a cell says otherwise; from
then on a point is refused, as a comma is after a point.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from refclust.data.readers.cells import is_number, shown
from refclust.errors import BadCell

Decimal: TypeAlias = Literal["point", "comma"]
DECIMALS: Final = ("point", "comma")
_COMMA: Final = re.compile(r"\s*[+-]?(?:[0-9]+,[0-9]*|,[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")
_GROUP: Final = re.compile(r"\s*[+-]?[1-9][0-9]{0,2},[0-9]{3}\s*")
_BOTH: Final = re.compile(r"\s*[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+\s*")


def has_decimal_comma(cell: str) -> bool:
    """Whether a cell is a number if its comma is a decimal one.

    Spec: DATA-DECIMAL

    >>> has_decimal_comma("-1,5e3"), has_decimal_comma("1,234,567"), has_decimal_comma("1.5")
    (True, False, False)
    """
    return bool(_COMMA.fullmatch(cell))


def may_be_group(cell: str) -> bool:
    """Whether the comma of a cell may also stand between thousands.

    Spec: DATA-DECIMAL

    >>> may_be_group("1,234"), may_be_group("0,234"), may_be_group("12,5")
    (True, False, False)
    """
    return bool(_GROUP.fullmatch(cell))


class Decimals:
    """How a file writes decimals, as far as it is known while its rows are read."""

    __slots__ = ("_comma", "_doubt", "_point", "_said", "comma")

    def __init__(self, said: str | None, delimiter: str) -> None:
        self._said = said
        # Where commas separate cells, a comma in a number is decimal only if that was said.
        if said is None and delimiter == ",":
            self._said = "point"
        self.comma = self._said == "comma"
        self._point = ""  # where the first decimal point stands
        self._comma = ""  # where the first decimal comma stands that can be nothing else
        self._doubt = ""  # where the first comma stands that may separate thousands

    def turned(self, cells: Sequence[str], place: str) -> bool:
        """Whether cells that are no numbers become numbers by decimal commas; then they do."""
        if self.comma or self._said is not None:
            return False
        commas = [cell for cell in cells if has_decimal_comma(cell)]
        if not commas:
            return False
        if self._point:
            raise BadCell(
                f"{place} holds {shown(commas[0])}, with a comma, while {self._point} has a "
                "decimal point; a file writes decimals in one way: --decimal point or comma"
            )
        self.comma = True
        return True

    def pointed(self, cells: Sequence[str], place: str) -> list[str]:
        """The cells with points for commas; a number with a point is refused.

        Spec: DATA-DECIMAL
        """
        points = [cell for cell in cells if "." in cell and (is_number(cell) or _BOTH.match(cell))]
        if points:
            raise BadCell(self._mixed(place, points[0]))
        if self._said is None and not self._comma:
            for cell in cells:
                if has_decimal_comma(cell):
                    if may_be_group(cell):
                        self._doubt = self._doubt or f"{place} holds {shown(cell)}"
                    else:
                        self._comma = place
        return [
            cell.replace(",", ".") if "," in cell and has_decimal_comma(cell) else cell
            for cell in cells
        ]

    def saw_point(self, place: str) -> None:
        """Remember where a decimal point stands; the first counts."""
        self._point = self._point or place

    @property
    def pending(self) -> bool:
        """Whether points are still worth looking for."""
        return self._said is None and not self._point and not self.comma

    def settle(self) -> None:
        """Refuse a file whose commas may all stand between thousands.

        Spec: DATA-DECIMAL
        """
        if self._doubt and not self._comma and self._said is None:
            raise BadCell(
                f"{self._doubt}: every comma of the file stands before three digits, so it may be "
                "decimal or between thousands; --decimal comma says the former"
            )

    @property
    def possible(self) -> bool:
        """Whether commas may be decimal."""
        return self._said != "point"

    def _mixed(self, place: str, cell: str) -> str:
        if _BOTH.match(cell):
            return f"{place} holds {shown(cell)}; digits are not grouped"
        where = f"as {self._comma} has" if self._comma else "as --decimal comma says"
        return (
            f"{place} holds {shown(cell)}, with a point, though decimals are written with a "
            f"comma, {where}; say which one is meant: --decimal point or comma"
        )


def pointed_columns(
    columns: Sequence[Sequence[str]],
    numeric: Sequence[int],
    decimals: Decimals,
    file: str,
    lines: Sequence[int],
) -> list[Sequence[str]]:
    """Whole columns with points for decimal commas; those that hold no numbers stay as they are.

    A column holds numbers if at least half of its cells that are not empty are numbers.

    Spec: DATA-DECIMAL
    """
    pointed: list[Sequence[str]] = list(columns)
    if not decimals.possible:
        return pointed
    places = [j for j in numeric if _holds_numbers(columns[j])]
    if not any(has_decimal_comma(cell) for j in places for cell in columns[j]):
        return pointed
    for i, line in enumerate(lines):
        row = [columns[j][i] for j in places]
        decimals.turned(row, f"{file}:{line}")
        if not decimals.comma and any("." in cell and is_number(cell) for cell in row):
            decimals.saw_point(f"{file}:{line}")
    rows = [
        decimals.pointed([columns[j][i] for j in places], f"{file}:{line}")
        for i, line in enumerate(lines)
    ]
    decimals.settle()
    for j, column in zip(places, zip(*rows, strict=True), strict=True):
        pointed[j] = column
    return pointed


def _holds_numbers(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell.strip()]
    return 2 * sum(is_number(cell) or has_decimal_comma(cell) for cell in filled) >= len(filled)
