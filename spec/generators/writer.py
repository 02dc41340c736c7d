"""Vector files: one JSON object each, one case a line, the same bytes on every run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from .catalogue import all_encoded, clauses
from .tables import make_table
from .values import Json

FORMAT = "refclust-vectors/1"
METRICS = "metrics.external"


def dumps(value: Json) -> str:
    """Compact JSON with sorted keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass(slots=True)
class VectorFile:
    """One file to be written: where, about what, and its cases."""

    path: str
    subject: str
    title: str
    notes: dict[str, str] = field(default_factory=dict)
    formulas: list[str] = field(default_factory=list)
    cases: list[dict[str, Json]] = field(default_factory=list)

    def text(self) -> str:
        """The bytes of the file, as text."""
        head: dict[str, Json] = {
            "format": FORMAT,
            "subject": self.subject,
            "title": self.title,
            "notes": dict(self.notes),
        }
        if self.formulas:
            head["formulas"] = list(self.formulas)
        lines = ["{"]
        lines += [f'"{key}":{dumps(value)},' for key, value in sorted(head.items())]
        lines.append('"cases":[')
        lines.append(",\n".join(dumps(case) for case in self.cases))
        lines.append("]}")
        return "\n".join(lines) + "\n"

    def add(
        self,
        slug: str,
        given: dict[str, Json],
        expect: dict[str, Json],
        description: str = "",
        *,
        flags: list[str] | None = None,
        formulas: list[str] | None = None,
        misprint: dict[str, Json] | None = None,
    ) -> None:
        """Append a case; formulas are left out when the file states them once for all."""
        case: dict[str, Json] = {"id": slug, "input": given, "expect": expect}
        if description:
            case["description"] = description
        if flags:
            case["flags"] = list(flags)
        if formulas is not None or not self.formulas:
            case["formulas"] = list(formulas if formulas is not None else clauses(list(expect)))
        if misprint:
            case["misprint"] = misprint
        self.cases.append(case)

    def add_table(
        self,
        slug: str,
        rows: list[list[int | str]],
        description: str = "",
        *,
        flags: list[str] | None = None,
        bases: tuple[int, ...] = (2,),
        formulas: list[str] | None = None,
    ) -> None:
        """Append a case with every key within reach of a table."""
        given: dict[str, Json] = {"table": [list(row) for row in rows]}
        expect = all_encoded(make_table(rows), bases)
        self.add(slug, given, expect, description, flags=flags, formulas=formulas)


def write_all(files: list[VectorFile], folder: Path) -> list[Path]:
    """Write every file and return the paths."""
    written = []
    for file in files:
        target = folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(file.text(), encoding="utf-8", newline="\n")
        written.append(target)
    return written
