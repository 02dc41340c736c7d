"""Which sign separates the cells of a table: told by its first lines, or refused (DATA-CSV)."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import Final

from refclust.errors import BadFile

CANDIDATES: Final = "\t;|, "  # in the order of trust: decimal commas and phrases come last
NAMES: Final = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "blanks"}
SAMPLE: Final = 20  # lines that decide on the delimiter
_SIGNS: Final = "\t;|,"  # blanks separate words, too, so they are never recognised beside others
_SAID: Final = re.compile(r'"?sep=(.)"?\r?\n?', re.I)  # as spreadsheets write and read it
_NUMBER: Final = re.compile(r"\s*[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?\s*|")


def said_delimiter(line: str) -> str | None:
    """The delimiter that the first line of a file says by itself.

    >>> said_delimiter("sep=;\\r\\n"), said_delimiter("sep;x")
    (';', None)
    """
    said = _SAID.fullmatch(line)
    return None if said is None else said[1]


def recognised(name: str, lines: Sequence[str], usual: str = ",") -> str:
    """The sign that cuts all lines into equally many cells, more than one.

    Where several do, the one that leaves nothing but numbers below the first line; if that is not
    one alone, nobody can know (``bad-file``). Where none does, the ``usual`` one if the first line
    has it, else one that the first line has.

    Spec: DATA-CSV

    >>> recognised("a.csv", ["x;y", "1,5;2"]), recognised("a.csv", ["1,5;2,5"])
    (';', ';')
    """
    filled = [line for line in lines if line.strip()]
    fitting = {sign: rows for sign in _SIGNS if (rows := _evenly(filled, sign))}
    if len(fitting) == 1:
        return next(iter(fitting))
    if fitting:
        numeric = [sign for sign, rows in fitting.items() if _numeric(rows, sign)]
        if len(numeric) == 1:
            return numeric[0]
        signs = " or ".join(f"a {NAMES[sign]}" for sign in fitting)
        raise BadFile(
            f"{name}: the delimiter may be {signs}, for each cuts the first lines evenly; say which"
            " one: --delimiter"
        )
    first = filled[0].strip() if filled else ""
    return usual if usual in first else next((sign for sign in _SIGNS if sign in first), usual)


def _evenly(lines: Sequence[str], sign: str) -> list[list[str]]:
    """The rows of some lines, if they have equally many cells and more than one, else none."""
    rows: list[list[str]] = []
    try:
        rows.extend(csv.reader(lines, delimiter=sign, strict=True))
    except csv.Error as error:
        if "end of data" not in str(error):
            return []
        # A cell goes on beyond the sample.
    return rows if rows and {len(row) for row in rows} == {len(rows[0])} != {1} else []


def _numeric(rows: list[list[str]], sign: str) -> bool:
    cells = [cell for row in rows[1:] or rows for cell in row]
    return all(_NUMBER.fullmatch(cell) and (sign != "," or "," not in cell) for cell in cells)
