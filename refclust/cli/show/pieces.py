"""Pieces of text, such as a worked example: for a terminal, as Markdown, LaTeX and HTML.

Titles, words and cells may hold text from data; they are escaped here, each for where it goes.
Formulas hold none.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from refclust.cli.output import json_text
from refclust.cli.show import tables
from refclust.cli.show.tables import Table
from refclust.escape import for_html, for_latex, for_markdown, for_terminal, width
from refclust.numbers.real import Real
from refclust.shown import page

_WIDTH: Final = 96


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


Piece: TypeAlias = Title | Words | Formula | Table
Form: TypeAlias = Literal["text", "markdown", "latex", "json"]


def rendered(pieces: Iterable[Piece], form: Form) -> str:
    """The pieces in the form that was asked for."""
    if form == "json":
        return json_text(plain(pieces), indent=2)
    return {"text": text, "markdown": markdown, "latex": latex}[form](pieces)


def plain(pieces: Iterable[Piece]) -> dict[str, object]:
    """The pieces as JSON can hold them."""
    listed: list[dict[str, object]] = []
    for piece in pieces:
        match piece:
            case Title() | Words():
                listed.append({"kind": type(piece).__name__.lower(), "text": piece.text})
            case Formula():
                listed.append({"kind": "formula", "text": piece.text, "latex": piece.latex})
            case Table():
                rows = [list(row) for row in piece.rows]
                listed.append({"kind": "table", "head": list(piece.head), "rows": rows})
    return {"schema": "refclust-worked/1", "pieces": listed}


@dataclass(frozen=True, slots=True, repr=False)
class Worked:
    """A worked example in hand: ``print`` it, or let a notebook show it."""

    pieces: tuple[Piece, ...]

    def text(self) -> str:
        """The example for a terminal."""
        return text(self.pieces)

    def markdown(self) -> str:
        """The example as Markdown."""
        return markdown(self.pieces)

    def latex(self) -> str:
        """The example as LaTeX, to be put into a document."""
        return latex(self.pieces)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        titles = [piece.text for piece in self.pieces if isinstance(piece, Title)]
        return f"<Worked: {for_terminal('; '.join(titles))}>"

    def _repr_html_(self) -> str:
        return html(self.pieces)


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
                parts.append(tables.text(piece))
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
                parts.append(tables.markdown(piece))
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
                parts.append(tables.latex(piece))
    return "\n\n".join(parts) + "\n"


def html(pieces: Iterable[Piece]) -> str:
    """The pieces as HTML, formulas as MathML.

    Spec: OUT-HTML
    """
    parts: list[str] = []
    for piece in pieces:
        match piece:
            case Title():
                heading = f"<strong>{for_html(piece.text)}</strong>"
                parts.append(f'<p style="margin:.8em 0 .3em">{heading}</p>')
            case Words():
                parts.append(page.paragraph(piece.text))
            case Formula():
                parts.append(page.formula(piece.latex))
            case Table():
                parts.append(page.table(piece.head, piece.rows))
    return f"<section>{''.join(parts)}</section>"
