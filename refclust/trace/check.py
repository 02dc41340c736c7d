"""Checks that every formula is traced, and lists what is not (tracing, no chapter)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from refclust.trace import matrix
from refclust.trace.citations import Citations
from refclust.trace.clauses import PLANNED_FILE
from refclust.trace.locks import inventory, lock, mutants
from refclust.trace.places import checkout
from refclust.trace.problem import TraceProblem
from refclust.trace.room import UNDEFINED_FILE, at_home, home
from refclust.trace.scan import Scan, scan
from refclust.trace.vectors import CitingCase

__all__ = ["TraceProblem", "problems"]

_SOURCE = re.compile(r"^- Source: \S", re.MULTILINE)
_WANTED = {
    "code": "no code: no docstring under refclust/ cites it",
    "golden": "no golden evidence: no case under vectors/ cites it",
    "property": "no property evidence: no property test that runs cites it",
}


def problems(root: Path | None = None) -> list[TraceProblem]:
    """List all problems of a checkout, sorted by place.

    Raises ``needs-checkout`` outside a checkout, ``bad-spec`` where a file cannot be read.
    """
    tree = scan(checkout(root).root)
    everything = [
        *_holes(tree),
        *_defined(tree),
        *_planned(tree),
        *_code(tree),
        *_tests(tree),
        *_vectors(tree),
        *inventory.problems(tree),
        *lock.drift(tree),
        *mutants.problems(tree),
    ]
    return sorted(
        everything, key=lambda problem: (problem.file, problem.line, problem.code, problem.message)
    )


def _holes(tree: Scan) -> Iterator[TraceProblem]:
    for row in matrix.of(tree).rows():
        clause = tree.clauses[row.id]
        file = _chapter(tree, clause.chapter)
        if not clause.text:
            yield TraceProblem("empty-clause", file, clause.line, f"clause {row.id} says nothing")
        elif clause.kind != "informative" and not _SOURCE.search(clause.text):
            message = f"{row.kind} clause {row.id} does not say where it comes from ('- Source: …')"
            yield TraceProblem("no-source", file, clause.line, message)
        for need in row.missing:
            # A missing contract is reported below, at the kernel itself.
            if need in _WANTED:
                message = f"{row.kind} clause {row.id} has {_WANTED[need]}"
                yield TraceProblem(f"no-{need}", file, clause.line, message)


def _defined(tree: Scan) -> Iterator[TraceProblem]:
    """Each normative clause has one definition, in its place, or is listed as still to come."""
    for clause in tree.clauses.values():
        place, defining = home(clause.chapter), tree.definitions_of(clause.id)
        if not defining and clause.kind == "normative" and clause.id not in tree.undefined:
            message = (
                f"normative clause {clause.id} has no definition: "
                f"no docstring in {place} says 'Defines: {clause.id}'"
            )
            yield TraceProblem(
                "no-definition", _chapter(tree, clause.chapter), clause.line, message
            )
        for definition in defining[1:]:
            message = (
                f"{definition.name} defines {clause.id}, which {defining[0].name} defines already"
            )
            yield TraceProblem("defined-twice", definition.file, definition.line, message)
        for definition in defining:
            if not at_home(definition.file, clause.chapter):
                message = f"{definition.name} defines {clause.id}, which only {place} may define"
                yield TraceProblem("wrong-room", definition.file, definition.line, message)
    for cited, line in tree.undefined.items():
        file = f"{_spec(tree)}/{UNDEFINED_FILE}"
        defining = tree.definitions_of(cited)
        if cited not in tree.clauses or tree.clauses[cited].kind != "normative":
            message = f"{cited} is listed as undefined but is no normative clause"
            yield TraceProblem("undefined-unknown", file, line, message)
        elif defining:
            message = f"{cited} is listed as undefined but {defining[0].name} defines it"
            yield TraceProblem("undefined-defined", file, line, message)


def _planned(tree: Scan) -> Iterator[TraceProblem]:
    for row in tree.planned.values():
        if row.id in tree.clauses:
            clause = tree.clauses[row.id]
            message = (
                f"{row.id} is listed as {row.status!r} but is a clause: "
                f"{_chapter(tree, clause.chapter)}:{clause.line}"
            )
            yield TraceProblem("planned-clause", f"{_spec(tree)}/{PLANNED_FILE}", row.line, message)


def _code(tree: Scan) -> Iterator[TraceProblem]:
    for definition in tree.definitions:
        yield from _ids(
            tree, definition.cites.ids, definition.file, definition.line, definition.name
        )
        for fault in definition.cites.faults:
            message = (
                f"{definition.name}: cannot read {fault!r}; allowed: 'Defines: ID', 'Spec: ID, ID' "
                "or 'Spec: none (why)'"
            )
            yield TraceProblem("bad-citation", definition.file, definition.line, message)
        if definition.cites.ids and definition.cites.exempt:
            message = f"{definition.name} cites clauses and says 'Spec: none'"
            yield TraceProblem("bad-citation", definition.file, definition.line, message)
        if definition.cites == Citations():
            what = f"kernel {definition.kernel}" if definition.kernel else "public numeric function"
            message = (
                f"{what} {definition.name} cites no clause; add 'Spec: ID' or 'Spec: none (why)' "
                "to its docstring"
            )
            yield TraceProblem("uncited", definition.file, definition.line, message)
        if definition.kernel is not None and definition.cites.ids and not definition.contract:
            realised = ", ".join(definition.cites.ids)
            message = f"kernel {definition.kernel} realises {realised} without a contract"
            yield TraceProblem("no-contract", definition.file, definition.line, message)


def _tests(tree: Scan) -> Iterator[TraceProblem]:
    for marker in tree.markers:
        yield from _ids(tree, marker.ids, marker.file, marker.line, marker.test)
        if marker.counts and not marker.asserts:
            message = f"{marker.test} asserts nothing: it is no evidence of {', '.join(marker.ids)}"
            yield TraceProblem("asserts-nothing", marker.file, marker.line, message)
        for fault in marker.faults:
            message = (
                f"{marker.test}: cannot read {fault}; allowed: one or more IDs, as plain strings"
            )
            yield TraceProblem("bad-citation", marker.file, marker.line, message)


def _vectors(tree: Scan) -> Iterator[TraceProblem]:
    citing: dict[tuple[str, str], list[CitingCase]] = {}
    for case in tree.cases:
        if not case.ids:
            message = f"case {case.id} cites no clause; its formulas are empty"
            yield TraceProblem("uncited", case.file, case.line, message)
        if case.empty:
            message = f"case {case.id} leaves {case.empty} empty: it is no evidence"
            yield TraceProblem("expects-nothing", case.file, case.line, message)
        for cited in case.ids:
            citing.setdefault((case.file, cited), []).append(case)
    # One line per file and ID: generated files repeat a wrong ID a thousand times.
    for (file, cited), cases in citing.items():
        more = f" (and {len(cases) - 1} more)" if len(cases) > 1 else ""
        yield from _ids(tree, (cited,), file, cases[0].line, f"case {cases[0].id}{more}")


def _ids(
    tree: Scan, ids: tuple[str, ...], file: str, line: int, who: str
) -> Iterator[TraceProblem]:
    for cited in ids:
        if cited in tree.clauses:
            continue
        if cited in tree.planned:
            status = tree.planned[cited].status
            message = f"{who} cites {cited}, which has no clause yet ({status})"
            yield TraceProblem("planned-id", file, line, message)
        else:
            message = f"{who} cites {cited}, which is no clause"
            yield TraceProblem("unknown-id", file, line, message)


def _spec(tree: Scan) -> str:
    return tree.places.name(tree.places.spec)


def _chapter(tree: Scan, chapter: str) -> str:
    return f"{_spec(tree)}/{chapter}.md"
