"""Finds which clauses the golden vectors cite (tracing, no chapter).

A case cites what its ``formulas`` and the ``formulas`` of its whole file name. A case that expects
nothing is no evidence.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from refclust.errors import BadSpec
from refclust.trace.locks.table import short_hash
from refclust.trace.places import Places


@dataclass(frozen=True, slots=True)
class CitingCase:
    """One case of a vector file and the clauses it cites; ``empty`` is what it leaves open."""

    id: str
    file: str
    line: int
    ids: tuple[str, ...]
    empty: str = ""


@dataclass(frozen=True, slots=True)
class VectorFile:
    """One vector file and the number of its cases that cite a clause."""

    file: str
    cases: int


@dataclass(frozen=True, slots=True)
class Sealed:
    """One vector file with the hash of its text, as locks pin it; files without cases, too."""

    file: str
    hash: str


def scan(places: Places) -> tuple[list[Sealed], list[CitingCase]]:
    """Read all files and cases below ``vectors/``; raises ``bad-spec`` for one that is no JSON."""
    files: list[Sealed] = []
    cases: list[CitingCase] = []
    for path in sorted((places.spec / "vectors").rglob("*.json")):
        name, text = places.name(path), path.read_text(encoding="utf-8")
        files.append(Sealed(name, short_hash(text)))
        cases += _cases(text, name)
    return files, cases


def citing(cases: list[CitingCase], clause: str) -> tuple[VectorFile, ...]:
    """Count per file the cases that cite one clause."""
    files = Counter(case.file for case in cases if clause in case.ids and not case.empty)
    return tuple(VectorFile(file, files[file]) for file in sorted(files))


def _cases(text: str, name: str) -> Iterator[CitingCase]:
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
        cited = tuple(dict.fromkeys(shared + own))
        yield CitingCase(case["id"], name, at + 1, cited, _empty(case.get("expect"), "expect"))


def _empty(expected: object, where: str) -> str:
    """Where a case expects nothing; an empty list is something to expect."""
    if expected in (None, {}, ""):
        return where
    if isinstance(expected, dict):
        return next(filter(None, (_empty(v, f"{where}.{k}") for k, v in expected.items())), "")
    if isinstance(expected, list):
        return next(filter(None, (_empty(v, where) for v in expected)), "")
    return ""


def _formulas(item: dict[str, object], where: str) -> tuple[str, ...]:
    cited = item.get("formulas", [])
    if not isinstance(cited, list):
        raise BadSpec(f"{where}: formulas must be a list of clause IDs, not {cited!r}")
    return tuple(str(clause) for clause in cited)
