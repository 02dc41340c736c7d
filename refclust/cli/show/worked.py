"""A worked example as a sequence of pieces, for a terminal, as Markdown, and as LaTeX.

Titles, words and cells may hold text from data; they are escaped here, each for where it goes.
Formulas hold none.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from refclust.cli.output import columns
from refclust.escape import for_latex, for_markdown, for_terminal, width
from refclust.numbers.real import Real

_WIDTH: Final = 96
_NUMBER: Final = re.compile(r"-?[0-9][0-9,]*(\.[0-9]+)?(e[+-]?[0-9]+)?|-?inf")
_DIGITS: Final = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class Title:
    """The heading of a part."""

    text: str


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence or two."""

    text: str


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula, as a terminal can show it and as LaTeX."""

    text: str
    latex: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head, in columns of words or of numbers, which end at the same place."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: frozenset[int] = frozenset((0,))

    @property
    def numbers(self) -> frozenset[int]:
        """The columns of numbers."""
        return frozenset(range(len(self.head))) - self.words


Piece: TypeAlias = Title | Words | Formula | Table


def number(value: float) -> str:
    """A number of a worked example: nine digits.

    >>> number(-451.2454858406918)
    '-451.245486'
    """
    return f"{value:.9g}"


def exactly(value: int | float | Fraction | Real) -> str:
    """An exact number of a worked example: its nearest double, in nine digits.

    >>> exactly(Fraction(1, 3)), exactly(Fraction(5, 2))
    ('0.333333333', '2.5')
    """
    return number(float(Real(value)))


def text(pieces: Iterable[Piece]) -> str:
    """The pieces for a terminal."""
    parts: list[str] = []
    for piece in pieces:
        match piece:
            case Title():
                shown = for_terminal(piece.text)
                parts.append(f"{shown}\n{'-' * width(shown)}")
            case Words():
                parts.append("\n".join(textwrap.wrap(for_terminal(piece.text), _WIDTH)))
            case Formula():
                parts.append(f"    {piece.text}")
            case Table():
                cells = [[*map(for_terminal, row)] for row in (piece.head, *piece.rows)]
                lines = columns(cells, right=piece.numbers)
                parts.append("\n".join(f"  {line}" for line in lines))
    return "\n\n".join(parts) + "\n"


def markdown(pieces: Iterable[Piece]) -> str:
    """The pieces as Markdown."""
    parts: list[str] = []
    for piece in pieces:
        match piece:
            case Title():
                parts.append(f"## {for_markdown(piece.text)}")
            case Words():
                parts.append(for_markdown(piece.text))
            case Formula():
                parts.append(f"$$ {piece.latex} $$")
            case Table():
                rule = ["---:" if j in piece.numbers else "---" for j in range(len(piece.head))]
                head, *rows = ([*map(for_markdown, row)] for row in (piece.head, *piece.rows))
                parts.append("\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows)))
    return "\n\n".join(parts) + "\n"


def latex(pieces: Iterable[Piece]) -> str:
    """The pieces as LaTeX, to be put into a document."""
    parts: list[str] = []
    for piece in pieces:
        match piece:
            case Title():
                parts.append(f"\\subsection*{{{for_latex(piece.text)}}}")
            case Words():
                parts.append(for_latex(piece.text))
            case Formula():
                parts.append(f"\\[ {piece.latex} \\]")
            case Table():
                rows = [" & ".join(_cells(row, piece.numbers)) + r" \\" for row in piece.rows]
                kinds = "".join("lr"[j in piece.numbers] for j in range(len(piece.head)))
                head = " & ".join(_cells(piece.head, frozenset())) + r" \\"
                body = "\n".join([head, r"\hline", *rows])
                parts.append(f"\\begin{{tabular}}{{{kinds}}}\n{body}\n\\end{{tabular}}")
    return "\n\n".join(parts) + "\n"


def in_latex(value: str) -> str:
    """A number as LaTeX has it.

    >>> in_latex("1.5e-07"), in_latex("-3"), in_latex("-inf")
    ('1.5\\\\cdot10^{-7}', '-3', '-\\\\infty')
    """
    if value.endswith("inf"):
        return value.replace("inf", r"\infty")
    mantissa, sign, exponent = value.partition("e")
    return mantissa + (f"\\cdot10^{{{int(exponent)}}}" if sign else "")


def _cells(row: Sequence[str], numbers: frozenset[int]) -> Iterator[str]:
    """The cells of a row; what only looks like a number, among words, may be a name: 1e5."""
    for j, cell in enumerate(row):
        numeral = (_NUMBER if j in numbers else _DIGITS).fullmatch(cell)
        yield f"${in_latex(cell)}$" if numeral else for_latex(cell)
