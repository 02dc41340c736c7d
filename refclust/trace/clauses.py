"""Reads the chapters of the specification: clauses, their formulas, and the planned IDs.

A clause is a heading ``## ID Title {kind}`` (two to four hashes) with the text up to the next
heading of any level. Headings inside fenced code are examples, not clauses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from refclust.errors import BadSpec
from refclust.trace.places import spec_root

__all__ = ["ID", "Clause", "ClauseKind", "Planned", "load", "parse", "planned", "spec_root"]

ClauseKind = Literal["normative", "identity", "informative"]

ID = r"[A-Z][A-Z0-9-]*"
PLANNED_FILE = "99-planned.md"
_CLAUSE = re.compile(rf"#{{2,4}} ({ID}) (.+?) \{{(normative|identity|informative)\}}")
_HEADING = re.compile(r"#{1,6} ")
_MARKED_HEADING = re.compile(r"#{1,6} .*\{[A-Za-z-]+\}")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_FORMULA = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
# A bar inside a cell is written \|, as Markdown wants it.
_CELL = r"(?:[^|\\]|\\.)*?"
_PLANNED_ROW = re.compile(rf"\| *({ID}) *\| *({_CELL}) *\| *((?:planned|left out)\b{_CELL}) *\|")
_TABLE_HEAD = re.compile(r"\| *ID *\|.*|[|: -]+")


@dataclass(frozen=True, slots=True, repr=False)
class Clause:
    """One clause: ``line`` is that of its heading, ``chapter`` the file name without ``.md``."""

    id: str
    title: str
    kind: ClauseKind
    chapter: str
    line: int
    text: str
    formulas: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Clause {self.id}: {self.title}>"

    def _repr_html_(self) -> str:
        """The clause for a notebook, its formulas drawn.

        Spec: OUT-HTML
        """
        from refclust.shown.markdown import markdown
        from refclust.shown.page import block, paragraph

        title = f"{self.id}  {self.title}"
        kind = paragraph(f"{self.kind} clause of chapter {self.chapter}")
        return block(title, kind, markdown(self.text))


@dataclass(frozen=True, slots=True)
class Planned:
    """An ID without a clause: still to come, or left out on purpose."""

    id: str
    what: str
    status: str
    line: int


def load(spec: Path) -> dict[str, Clause]:
    """Read all clauses below ``spec``, in the order of the chapters.

    Raises ``bad-spec`` when two clauses have the same ID.
    """
    clauses: dict[str, Clause] = {}
    for path in sorted(spec.glob("*.md")):
        for clause in parse(path.read_text(encoding="utf-8"), path.stem):
            first = clauses.setdefault(clause.id, clause)
            if first is not clause:
                raise BadSpec(
                    f"clause {clause.id} is defined twice: {first.chapter}.md:{first.line} "
                    f"and {clause.chapter}.md:{clause.line}; an ID names one clause"
                )
    return clauses


def parse(text: str, chapter: str) -> list[Clause]:
    r"""Read the clauses of one chapter.

    >>> [clause] = parse("## PUR Purity {normative}\n\n$$ P $$\n", "41-matching")
    >>> clause.id, clause.kind, clause.line, clause.formulas
    ('PUR', 'normative', 1, ('P',))
    """
    clauses: list[Clause] = []
    heading: tuple[int, re.Match[str]] | None = None
    body: list[tuple[str, bool]] = []

    def close() -> None:
        if heading is not None:
            clauses.append(_clause(chapter, *heading, body))

    for number, line, fenced in _lines(text):
        if fenced or not _HEADING.match(line):
            body.append((line, fenced))
            continue
        close()
        match = _CLAUSE.fullmatch(line)
        if match is None and _MARKED_HEADING.fullmatch(line):
            raise BadSpec(
                f"{chapter}.md:{number}: not a clause heading: {line!r}; allowed is "
                "'## ID Title {normative}' with 2 to 4 hashes, an upper-case ID, and "
                "normative, identity or informative"
            )
        heading, body = (None if match is None else (number, match)), []
    close()
    return clauses


def planned(spec: Path) -> dict[str, Planned]:
    """Read the rows ``| ID | what | planned … |`` or ``left out …`` of the planned chapter.

    Raises ``bad-spec`` for any other row: a mistyped one would silently drop its ID.
    """
    path = spec / PLANNED_FILE
    rows: dict[str, Planned] = {}
    if not path.is_file():
        return rows
    for number, line, fenced in _lines(path.read_text(encoding="utf-8")):
        if fenced or not line.startswith("|") or _TABLE_HEAD.fullmatch(line):
            continue
        match = _PLANNED_ROW.fullmatch(line)
        if match is None:
            raise BadSpec(
                f"{PLANNED_FILE}:{number}: not a planned row: {line!r}; allowed is "
                "'| ID | what | planned … |' or '| ID | what | left out … |'"
            )
        row = Planned(match[1], match[2], match[3], number)
        first = rows.setdefault(row.id, row)
        if first is not row:
            raise BadSpec(
                f"{PLANNED_FILE}:{row.line}: {row.id} is listed twice, first in line {first.line}"
            )
    return rows


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield number, line without trailing blanks, and whether it belongs to fenced code."""
    fence = ""
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip()
        match = _FENCE.match(line)
        if match is None:
            yield number, line, bool(fence)
            continue
        yield number, line, True
        if not fence:
            fence = match[1]
        elif match[1].startswith(fence) and line.strip() == match[1]:
            fence = ""


def _clause(
    chapter: str, line: int, heading: re.Match[str], body: list[tuple[str, bool]]
) -> Clause:
    prose = "\n".join(text for text, fenced in body if not fenced)
    if prose.count("$$") % 2:
        raise BadSpec(f"{chapter}.md:{line}: clause {heading[1]} leaves a $$ formula open")
    return Clause(
        id=heading[1],
        title=heading[2],
        kind=cast(ClauseKind, heading[3]),
        chapter=chapter,
        line=line,
        text="\n".join(text for text, _ in body).strip(),
        formulas=tuple(formula.strip() for formula in _FORMULA.findall(prose)),
    )
