"""Pieces of HTML that results are shown with: facts, tables, formulas (chapter 06, OUT-HTML).

No scripts, no colours but translucent grey: a page's own colours hold, light or dark.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from refclust.escape import for_html, for_terminal
from refclust.shown.mathml import mathml

Fact: TypeAlias = tuple[str, object]

MOST_ROWS: Final = 60  # of a table; the others are told in words
_FEW: Final = 40  # numbers that a ``repr`` shows
_LINE: Final = "1px solid rgba(127,127,127,.4)"
_CELL: Final = "padding:.15em .7em;vertical-align:top;background:none;"
_NUMBER: Final = f"{_CELL}text-align:right;font-variant-numeric:tabular-nums"
_TEXT: Final = f"{_CELL}text-align:left"
_CAPTION: Final = f"{_TEXT};opacity:.75;white-space:nowrap;caption-side:top"
_WIDE: Final = "overflow-x:auto;overflow-y:hidden;padding:.2em 0"
_NUMERAL: Final = re.compile(r"[-−+≈±∞…–]?[0-9.,/ ±∞e+−-]*|undefined")
_ROW: Final = '<tr style="background:none">'
_TABLE: Final = '<table style="border-collapse:collapse;margin:.3em 0">'


class Markup(str):
    """HTML that is ready: all else is text, and escaped."""

    __slots__ = ()


def html(value: object) -> str:
    """A value in HTML: text is escaped, what is ready stays."""
    return str(value) if isinstance(value, Markup) else for_html(value)


def block(title: str, *parts: str) -> str:
    """A whole result under its title."""
    name = html(title)
    heading = f'<div style="font-weight:600;margin-bottom:.3em">{name}</div>'
    return f'<section aria-label="{for_html(title)}">{heading}{"".join(parts)}</section>'


def paragraph(text: object) -> str:
    """A line of text."""
    return f'<p style="margin:.4em 0">{html(text)}</p>'


def formula(latex: str) -> str:
    """A formula on a line of its own; a long one can be scrolled."""
    return f'<div style="{_WIDE}">{mathml(latex, block=True)}</div>'


def inline(latex: str) -> Markup:
    """A formula within a line or a cell."""
    return Markup(mathml(latex))


def code(text: object) -> Markup:
    """A text as it is typed."""
    return Markup(f"<code>{for_html(text)}</code>")


def folded(title: str, *parts: str) -> str:
    """What is shown when somebody asks for it."""
    return f"<details><summary>{html(title)}</summary>{''.join(parts)}</details>"


def facts(pairs: Iterable[Fact]) -> str:
    """Names and values below each other."""
    rows = "".join(
        f'{_ROW}<th scope="row" style="{_TEXT};font-weight:normal;opacity:.75">'
        f'{html(name)}</th><td style="{_TEXT}">{html(value)}</td></tr>'
        for name, value in pairs
    )
    return f"{_TABLE}{rows}</table>"


def table(head: Sequence[object], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table whose first column names its rows; of many rows the first ones are shown."""
    listed = [list(row) for row in rows]
    numeric = [
        place > 0 and all(map(_is_numeral, column))
        for place, column in enumerate(zip(*listed, strict=True))
    ] or [False] * len(head)
    styles = [_NUMBER if each else _TEXT for each in numeric]
    body = []
    for name, *cells in listed[:MOST_ROWS]:
        first = f'<th scope="row" style="{_TEXT};font-weight:normal">{html(name)}</th>'
        others = (
            f'<td style="{style}">{html(cell)}</td>'
            for style, cell in zip(styles[1:], cells, strict=True)
        )
        body.append(f"{_ROW}{first}{''.join(others)}</tr>")
    top = "".join(
        f'<th scope="col" style="{style};border-bottom:{_LINE}">{html(name)}</th>'
        for style, name in zip(styles, head, strict=True)
    )
    title = f'<caption style="{_CAPTION}">{html(caption)}</caption>' if caption else ""
    hidden = len(listed) - MOST_ROWS
    more = paragraph(f"… and {hidden:,} more") if hidden > 0 else ""
    return (
        f'<div style="{_WIDE}">{_TABLE}{title}'
        f"<thead><tr>{top}</tr></thead><tbody>{''.join(body)}</tbody></table></div>{more}"
    )


def _is_numeral(cell: object) -> bool:
    """Whether a cell holds a number, or nothing, so that its column ends at the same place."""
    if isinstance(cell, Markup):
        return False
    return isinstance(cell, int | float) or _NUMERAL.fullmatch(str(cell)) is not None


def number(value: object) -> str:
    """A number as people want to read it: six digits, whole ones in full.

    >>> number(1234567), number(0.1234567), number(1e-9), number(None), number(float("nan"))
    ('1,234,567', '0.123457', '1e-09', '–', 'undefined')
    """
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return "undefined" if math.isnan(value) else f"{value:.6g}"
    return for_terminal(value)


@dataclass(frozen=True, slots=True)
class Summary:
    """What is said of a result at a glance, in a line or in HTML."""

    title: str  # of the class, as it is called
    line: str  # what a short ``repr`` says
    facts: tuple[Fact, ...] = ()
    tables: tuple[str, ...] = ()  # HTML that is ready

    def text(self) -> str:
        """The line that a ``repr`` is."""
        return f"<{self.title}: {for_terminal(self.line)}>"

    def html(self) -> str:
        """The result for a notebook."""
        return block(self.title, facts(self.facts) if self.facts else "", *self.tables)


class Shown:
    """What shows itself: a short ``repr``, and HTML where a notebook asks for it."""

    __slots__ = ()

    def _summary(self) -> Summary:
        """What is said of it at a glance."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self._summary().text()

    def _repr_html_(self) -> str:
        return self._summary().html()


def counted(count: int, noun: str) -> str:
    """A number with its noun, which is one or many.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def sized(n: int, d: int) -> str:
    """The size of data in words."""
    return f"{counted(n, 'row')}, {counted(d, 'column')}"


def brief(name: str, fields: Mapping[str, object], numbers: int, words: str) -> str:
    """A ``repr`` as a dataclass has it while there are few numbers, else what they are in words.

    >>> brief("P", {"a": (1.0,)}, 1, "1 column"), brief("P", {}, 1000, "1,000 columns")
    ('P(a=(1.0,))', '<P: 1,000 columns>')
    """
    if numbers > _FEW:
        return f"<{name}: {words}>"
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in fields.items())})"
