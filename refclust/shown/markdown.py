"""The Markdown that clauses are written in as HTML, formulas as MathML (chapter 06, OUT-HTML).

Paragraphs, lists, tables, fenced code, `code`, **strong**, *emphasis*, links and formulas: what the
chapters use, and no HTML of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refclust.escape import for_html
from refclust.shown.mathml import mathml
from refclust.shown.page import Markup, formula, table

_SPAN: Final = re.compile(
    r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)"
    r"|\$\$(?P<block>.+?)\$\$"
    r"|\$(?P<math>[^$]+)\$"
    r"|\*\*(?P<strong>.+?)\*\*"
    r"|\*(?P<weak>[^*\s](?:[^*]*[^*\s])?)\*"
    r"|\[(?P<words>[^\]]+)\]\((?P<link>[^)\s]+)\)"
    r"|\\(?P<sign>[\\`*_\[\]<>&|$#~!@])",
    re.DOTALL,
)
_ITEM: Final = re.compile(r"(?:[-*]|[0-9]+\.) +")
_CELL: Final = re.compile(r"(?<!\\)\|")


def markdown(text: str) -> str:
    """A text of Markdown as HTML.

    Spec: OUT-HTML

    >>> markdown("a **b** <i>")
    '<p style="margin:.5em 0">a <strong>b</strong> &lt;i&gt;</p>'
    """
    return "".join(_block(lines) for lines in _blocks(text))


def _blocks(text: str) -> Iterator[list[str]]:
    """The lines that belong together: up to a blank line, or to the end of fenced code."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if fence:
            lines.append(line)
            if line.strip() == fence:
                yield lines
                lines, fence = [], ""
            continue
        mark = re.match(r"```+|~~~+", line)
        starts = mark is not None or (
            bool(lines) and _ITEM.match(line) is not None and _ITEM.match(lines[0]) is None
        )
        if lines and (starts or not line.strip()):
            yield lines
            lines = []
        if line.strip():
            lines.append(line)
        if mark is not None:
            fence = mark[0]
    if lines:
        yield lines


def _block(lines: list[str]) -> str:
    first = lines[0]
    if first.startswith(("```", "~~~")):
        inside = lines[1:-1] if len(lines) > 1 else []
        body = "\n".join(map(for_html, inside))
        return f'<pre style="overflow-x:auto;background:none"><code>{body}</code></pre>'
    whole = "\n".join(lines)
    if first.startswith("$$") and whole.count("$$") == 2 and whole.rstrip().endswith("$$"):
        return formula(whole.strip().strip("$"))
    if first.startswith("|") and len(lines) > 1 and re.fullmatch(r"[|: -]+", lines[1]):
        head, _, *rows = (_cells(line) for line in lines)
        # A short row ends in empty cells, and what a row has too much is not shown.
        fill = [Markup("")] * len(head)
        return table(head, [[*row, *fill][: len(head)] for row in rows])
    if _ITEM.match(first):
        return _list(lines)
    if match := re.match(r"(#{1,6}) +(.*)", first):
        return f"<p><strong>{_inline(match[2])}</strong></p>"
    return f'<p style="margin:.5em 0">{_inline(whole)}</p>'


def _list(lines: list[str]) -> str:
    items: list[str] = []
    for line in lines:
        match = _ITEM.match(line)
        if match:
            items.append(line[match.end() :])
        else:
            items[-1] += "\n" + line.strip()
    name = "ol" if lines[0][0].isdecimal() else "ul"
    inside = "".join(f"<li>{_inline(item)}</li>" for item in items)
    return f'<{name} style="margin:.5em 0">{inside}</{name}>'


def _cells(line: str) -> list[Markup]:
    return [Markup(_inline(cell.strip())) for cell in _CELL.split(line.strip().strip("|"))]


def _inline(text: str) -> str:
    parts, place = [], 0
    for match in _SPAN.finditer(text):
        parts += [_escaped(text[place : match.start()]), _span(match)]
        place = match.end()
    return "".join([*parts, _escaped(text[place:])])


def _escaped(text: str) -> str:
    return for_html(text.replace("\n", " "))


def _span(match: re.Match[str]) -> str:
    if match["code"] is not None:
        return f"<code>{_escaped(match['code'].strip())}</code>"
    if match["block"] is not None:
        return formula(match["block"].strip())
    if match["math"] is not None:
        return mathml(match["math"])
    if match["strong"] is not None:
        return f"<strong>{_inline(match['strong'])}</strong>"
    if match["weak"] is not None:
        return f"<em>{_inline(match['weak'])}</em>"
    if match["words"] is not None:
        if not match["link"].startswith(("https://", "http://")):
            return _inline(match["words"])  # a file of the repository: a notebook has no such place
        return f'<a href="{for_html(match["link"])}">{_inline(match["words"])}</a>'
    return for_html(match["sign"])
