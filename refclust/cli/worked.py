"""A worked example as a sequence of pieces, for a terminal, as Markdown, and as LaTeX."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from refclust.cli.output import columns

_WIDTH: Final = 96
_SPECIAL: Final = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "→": r"$\to$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
    "…": r"\dots{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_NUMBER: Final = re.compile(r"-?[0-9][0-9,]*(\.[0-9]+)?(e[+-]?[0-9]+)?|-?inf")


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


def text(pieces: Iterable[Piece]) -> str:
    """The pieces for a terminal."""
    parts: list[str] = []
    for piece in pieces:
        match piece:
            case Title():
                parts.append(f"{piece.text}\n{'-' * len(piece.text)}")
            case Words():
                parts.append("\n".join(textwrap.wrap(piece.text, _WIDTH)))
            case Formula():
                parts.append(f"    {piece.text}")
            case Table():
                lines = columns([piece.head, *piece.rows], right=piece.numbers)
                parts.append("\n".join(f"  {line}" for line in lines))
    return "\n\n".join(parts) + "\n"


def markdown(pieces: Iterable[Piece]) -> str:
    """The pieces as Markdown."""
    parts: list[str] = []
    for piece in pieces:
        match piece:
            case Title():
                parts.append(f"## {_marked(piece.text)}")
            case Words():
                parts.append(_marked(piece.text))
            case Formula():
                parts.append(f"$$ {piece.latex} $$")
            case Table():
                rule = ["---:" if j in piece.numbers else "---" for j in range(len(piece.head))]
                rows = [piece.head, rule, *piece.rows]
                lines = (f"| {' | '.join(map(_celled, row))} |" for row in rows)
                parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def latex(pieces: Iterable[Piece]) -> str:
    """The pieces as LaTeX, to be put into a document."""
    parts: list[str] = []
    for piece in pieces:
        match piece:
            case Title():
                parts.append(f"\\subsection*{{{_escaped(piece.text)}}}")
            case Words():
                parts.append(_escaped(piece.text))
            case Formula():
                parts.append(f"\\[ {piece.latex} \\]")
            case Table():
                rows = [" & ".join(map(_cell, row)) + r" \\" for row in (piece.head, *piece.rows)]
                kinds = "".join("lr"[j in piece.numbers] for j in range(len(piece.head)))
                body = "\n".join([rows[0], r"\hline", *rows[1:]])
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


def _cell(cell: str) -> str:
    return f"${in_latex(cell)}$" if _NUMBER.fullmatch(cell) else _escaped(cell)


def _escaped(words: str) -> str:
    return "".join(_SPECIAL.get(sign, sign) for sign in words)


def _marked(words: str) -> str:
    return re.sub(r"([\\`*_<|])", r"\\\1", words)


def _celled(cell: str) -> str:
    return cell if set(cell) <= set("-:") else _marked(cell)
