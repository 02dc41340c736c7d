"""Checks that every formula is traced, and lists what is not (tracing, no chapter)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from refclust.trace import evidence, matrix
from refclust.trace.citations import Citations
from refclust.trace.clauses import PLANNED_FILE
from refclust.trace.locks import inventory, lock
from refclust.trace.places import checkout
from refclust.trace.problem import Problem
from refclust.trace.room import UNDEFINED_FILE, at_home, home
from refclust.trace.scan import Scan, scan
from refclust.trace.vectors import Case

__all__ = ["Problem", "problems"]

_SOURCE = re.compile(r"^- Source: \S", re.MULTILINE)
_WANTED = {
    "code": "no code: no docstring under refclust/ cites it",
    "golden": "no golden evidence: no case under vectors/ cites it",
    "property": "no property evidence: no property test that runs cites it",
}


def problems(root: Path | None = None) -> list[Problem]:
    """List all problems of a checkout, sorted by place.

    Raises ``needs-checkout`` outside a checkout, ``bad-spec`` where a file cannot be read.
    """
    found = scan(checkout(root).root)
    everything = [
        *_holes(found),
        *_defined(found),
        *_planned(found),
        *_code(found),
        *_tests(found),
        *_vectors(found),
        *inventory.problems(found),
        *lock.drift(found),
        *evidence.problems(found),
    ]
    return sorted(everything, key=lambda one: (one.file, one.line, one.code, one.message))


def _holes(found: Scan) -> Iterator[Problem]:
    for row in matrix.of(found).rows():
        clause = found.clauses[row.id]
        file = _chapter(found, clause.chapter)
        if not clause.text:
            yield Problem("empty-clause", file, clause.line, f"clause {row.id} says nothing")
        elif clause.kind != "informative" and not _SOURCE.search(clause.text):
            message = f"{row.kind} clause {row.id} does not say where it comes from ('- Source: …')"
            yield Problem("no-source", file, clause.line, message)
        for need in row.missing:
            # A missing contract is reported below, at the kernel itself.
            if need in _WANTED:
                message = f"{row.kind} clause {row.id} has {_WANTED[need]}"
                yield Problem(f"no-{need}", file, clause.line, message)


def _defined(found: Scan) -> Iterator[Problem]:
    """Each normative clause has one definition, in its place, or is listed as still to come."""
    for clause in found.clauses.values():
        place, defining = home(clause.chapter), found.definitions_of(clause.id)
        if not defining and clause.kind == "normative" and clause.id not in found.undefined:
            message = (
                f"normative clause {clause.id} has no definition: "
                f"no docstring in {place} says 'Defines: {clause.id}'"
            )
            yield Problem("no-definition", _chapter(found, clause.chapter), clause.line, message)
        for one in defining[1:]:
            message = f"{one.name} defines {clause.id}, which {defining[0].name} defines already"
            yield Problem("defined-twice", one.file, one.line, message)
        for one in defining:
            if not at_home(one.file, clause.chapter):
                message = f"{one.name} defines {clause.id}, which only {place} may define"
                yield Problem("wrong-room", one.file, one.line, message)
    for cited, line in found.undefined.items():
        file = f"{_spec(found)}/{UNDEFINED_FILE}"
        defining = found.definitions_of(cited)
        if cited not in found.clauses or found.clauses[cited].kind != "normative":
            message = f"{cited} is listed as undefined but is no normative clause"
            yield Problem("undefined-unknown", file, line, message)
        elif defining:
            message = f"{cited} is listed as undefined but {defining[0].name} defines it"
            yield Problem("undefined-defined", file, line, message)


def _planned(found: Scan) -> Iterator[Problem]:
    for row in found.planned.values():
        if row.id in found.clauses:
            clause = found.clauses[row.id]
            message = (
                f"{row.id} is listed as {row.status!r} but is a clause: "
                f"{_chapter(found, clause.chapter)}:{clause.line}"
            )
            yield Problem("planned-clause", f"{_spec(found)}/{PLANNED_FILE}", row.line, message)


def _code(found: Scan) -> Iterator[Problem]:
    for one in found.definitions:
        yield from _ids(found, one.cites.ids, one.file, one.line, one.name)
        for fault in one.cites.faults:
            message = (
                f"{one.name}: cannot read {fault!r}; allowed: 'Defines: ID', 'Spec: ID, ID' "
                "or 'Spec: none (why)'"
            )
            yield Problem("bad-citation", one.file, one.line, message)
        if one.cites.ids and one.cites.exempt:
            message = f"{one.name} cites clauses and says 'Spec: none'"
            yield Problem("bad-citation", one.file, one.line, message)
        if one.cites == Citations():
            what = f"kernel {one.kernel}" if one.kernel else "public numeric function"
            message = (
                f"{what} {one.name} cites no clause; add 'Spec: ID' or 'Spec: none (why)' "
                "to its docstring"
            )
            yield Problem("uncited", one.file, one.line, message)
        if one.kernel is not None and one.cites.ids and not one.contract:
            message = f"kernel {one.kernel} realises {', '.join(one.cites.ids)} without a contract"
            yield Problem("no-contract", one.file, one.line, message)


def _tests(found: Scan) -> Iterator[Problem]:
    for one in found.markers:
        yield from _ids(found, one.ids, one.file, one.line, one.test)
        if one.counts and not one.asserts:
            message = f"{one.test} asserts nothing: it is no evidence of {', '.join(one.ids)}"
            yield Problem("asserts-nothing", one.file, one.line, message)
        for fault in one.faults:
            message = f"{one.test}: cannot read {fault}; allowed: one or more IDs, as plain strings"
            yield Problem("bad-citation", one.file, one.line, message)


def _vectors(found: Scan) -> Iterator[Problem]:
    citing: dict[tuple[str, str], list[Case]] = {}
    for one in found.cases:
        if not one.ids:
            message = f"case {one.id} cites no clause; its formulas are empty"
            yield Problem("uncited", one.file, one.line, message)
        if one.empty:
            message = f"case {one.id} leaves {one.empty} empty: it is no evidence"
            yield Problem("expects-nothing", one.file, one.line, message)
        for cited in one.ids:
            citing.setdefault((one.file, cited), []).append(one)
    # One line per file and ID: generated files repeat a wrong ID a thousand times.
    for (file, cited), cases in citing.items():
        more = f" (and {len(cases) - 1} more)" if len(cases) > 1 else ""
        yield from _ids(found, (cited,), file, cases[0].line, f"case {cases[0].id}{more}")


def _ids(found: Scan, ids: tuple[str, ...], file: str, line: int, who: str) -> Iterator[Problem]:
    for cited in ids:
        if cited in found.clauses:
            continue
        if cited in found.planned:
            status = found.planned[cited].status
            message = f"{who} cites {cited}, which has no clause yet ({status})"
            yield Problem("planned-id", file, line, message)
        else:
            message = f"{who} cites {cited}, which is no clause"
            yield Problem("unknown-id", file, line, message)


def _spec(found: Scan) -> str:
    return found.places.name(found.places.spec)


def _chapter(found: Scan, chapter: str) -> str:
    return f"{_spec(found)}/{chapter}.md"
