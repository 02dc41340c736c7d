"""Finds which clauses the golden vectors cite (tracing, no chapter).

A case cites what its ``formulas`` and the ``formulas`` of its whole file name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from refclust.errors import BadSpec
from refclust.trace.places import Places


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a vector file and the clauses it cites."""

    id: str
    file: str
    line: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VectorFile:
    """One vector file and the number of its cases that cite a clause."""

    file: str
    cases: int


def scan(places: Places) -> list[Case]:
    """Read all cases below ``vectors/``; raises ``bad-spec`` for a file that is no JSON."""
    return [
        case
        for path in sorted((places.spec / "vectors").rglob("*.json"))
        for case in _file(path, places.name(path))
    ]


def citing(cases: list[Case], clause: str) -> tuple[VectorFile, ...]:
    """Count per file the cases that cite one clause."""
    files = Counter(case.file for case in cases if clause in case.ids)
    return tuple(VectorFile(file, files[file]) for file in sorted(files))


def _file(path: Path, name: str) -> Iterator[Case]:
    text = path.read_text(encoding="utf-8")
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadSpec(f"{name}:{error.lineno}: not JSON: {error.msg}") from error
    if not isinstance(content, dict) or not isinstance(content.get("cases"), list):
        raise BadSpec(f"{name}:1: a vector file is an object with a list of cases")
    shared = _formulas(content, f"{name}:1")
    lines = text.split("\n")
    at = 0
    for number, case in enumerate(content["cases"]):
        if not isinstance(case, dict) or not isinstance(case.get("id"), str):
            raise BadSpec(f"{name}:1: case number {number} has no id")
        # Cases stand in the order of the file, so the search goes on where it stopped.
        quoted = json.dumps(case["id"])
        at = next((line for line in range(at, len(lines)) if quoted in lines[line]), at)
        own = _formulas(case, f"{name}:{at + 1}")
        yield Case(case["id"], name, at + 1, tuple(dict.fromkeys(shared + own)))


def _formulas(item: dict[str, object], where: str) -> tuple[str, ...]:
    cited = item.get("formulas", [])
    if not isinstance(cited, list):
        raise BadSpec(f"{where}: formulas must be a list of clause IDs, not {cited!r}")
    return tuple(str(one) for one in cited)
