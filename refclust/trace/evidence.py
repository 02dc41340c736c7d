"""What ``refclust trace --evidence`` found, kept in ``spec/locks/evidence/mutants.lock``.

A line says of one clause how many changes of its definition were tried, what noticed them, and
which nothing noticed. Its key is the hash of the definition, of all it reaches, and of the evidence
that cites the clause: another key says that the line belongs to other code or other evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from refclust.trace import table
from refclust.trace.code.functions import Definition
from refclust.trace.locks.evidence import MUTANTS, proofs
from refclust.trace.problem import Problem
from refclust.trace.scan import Scan
from refclust.trace.table import Record, Table, short_hash


def read(spec: Path) -> Table:
    """Read what was found, clause by clause."""
    path = _path(spec)
    return table.read(path, f"{MUTANTS}.lock", "mutants") if path.is_file() else {}


def record(spec: Path, results: Iterable[Record]) -> None:
    """Keep results, in place of what was known of their clauses."""
    known = read(spec)
    known.update((str(one["id"]), one) for one in results)
    table.write(_path(spec), table.text(known))


def forget(spec: Path, found: Scan) -> None:
    """Drop what is known of clauses that have no definition any more."""
    known = read(spec)
    kept = {clause: one for clause, one in known.items() if found.definitions_of(clause)}
    if kept != known:
        table.write(_path(spec), table.text(kept))


def key(found: Scan, clause: str) -> str:
    """The hash of the definition of a clause, of all it reaches, and of its evidence."""
    definition = definition_of(found, clause)
    if definition is None:
        return ""
    # With its docstring: its doctest is evidence, too.
    parts = [definition.text]
    parts += (found.units[name].bare for name in sorted(found.reach(definition.name)))
    cited = {one.file for one in found.vectors(clause)}
    parts += (one.hash for one in found.files if one.file in cited)
    for test in (one for one in proofs(found) if clause in one.ids):
        parts += (found.helpers[name].bare for name in sorted(found.reach(test.unit)))
    return short_hash("\0".join(parts))


def definition_of(found: Scan, clause: str) -> Definition | None:
    """The definition of a clause, if it has one."""
    return next(iter(found.definitions_of(clause)), None)


def share(one: Mapping[str, object]) -> str:
    """The share of changes that golden cases and property tests noticed; + what the doctest adds.

    >>> share({"mutants": 8, "killed": {"golden": 4, "timeout": 2, "doctest": 1}})
    '75% +12%'
    """
    tried, killed = one["mutants"], one["killed"]
    assert isinstance(tried, int)
    assert isinstance(killed, dict)
    if not tried:
        return "-"
    own = int(killed.get("doctest", 0))
    noticed = sum(map(int, killed.values())) - own
    return f"{100 * noticed // tried}%" + (f" +{100 * own // tried}%" if own else "")


def problems(found: Scan) -> Iterator[Problem]:
    """What was found of other code than the present, and definitions that no evidence minds."""
    file = f"{found.places.name(found.places.spec)}/locks/{MUTANTS}.lock"
    for number, (clause, one) in enumerate(sorted(read(found.places.spec).items()), 1):
        definition = definition_of(found, clause)
        if definition is None:
            message = f"evidence was tried for {clause}, which has no definition now"
            yield Problem("evidence-stale", file, number, message)
        elif one["key"] != key(found, clause):
            message = (
                f"the evidence of {clause} was tried on another {one['definition']}, or is "
                f"another since; run `refclust trace --evidence --clause {clause}`"
            )
            yield Problem("evidence-stale", file, number, message)
        elif one["mutants"] and not sum(one["killed"].values()):
            message = (
                f"no evidence of {clause} fails, however {definition.name} is changed "
                f"({one['mutants']} changes tried)"
            )
            yield Problem("no-bite", definition.file, definition.line, message)


def _path(spec: Path) -> Path:
    return spec / "locks" / f"{MUTANTS}.lock"
