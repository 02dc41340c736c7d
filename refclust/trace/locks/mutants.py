"""What ``refclust trace --evidence`` found, kept in ``spec/locks/evidence/mutants.lock``.

A line says of one clause how many changes of its definition were tried, what noticed them, and
which nothing noticed. Its key is the hash of the definition, of what it reaches in its own package,
and of the evidence that cites the clause: another key says that the line belongs to another formula
or to other evidence. What lies below, such as the arithmetic, is held right by its own clauses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from refclust.trace.code.functions import Definition
from refclust.trace.locks import equivalent, table
from refclust.trace.locks.equivalent import Equivalent
from refclust.trace.locks.evidence import MUTANTS, proofs
from refclust.trace.locks.table import Record, Table, short_hash
from refclust.trace.problem import TraceProblem
from refclust.trace.scan import Scan

# A declaration tells of a formula and returns it unchanged: it is no part of what is computed.
_DECLARATIONS: Final = "refclust.formulas.declared:"


def read(spec: Path) -> Table:
    """Read what was found, clause by clause."""
    path = _path(spec)
    return table.read(path, f"{MUTANTS}.lock", "mutants") if path.is_file() else {}


def record(spec: Path, results: Iterable[Record]) -> None:
    """Keep results, in place of what was known of their clauses."""
    known = read(spec)
    known.update((str(outcome["id"]), outcome) for outcome in results)
    table.write(_path(spec), table.text(known))


def forget(spec: Path, tree: Scan) -> None:
    """Drop what is known of clauses that have no definition any more."""
    known = read(spec)
    kept = {clause: outcome for clause, outcome in known.items() if tree.definitions_of(clause)}
    if kept != known:
        table.write(_path(spec), table.text(kept))


def key(tree: Scan, clause: str) -> str:
    """The hash of the definition of a clause, of what it reaches beside it, and of its evidence."""
    definition = definition_of(tree, clause)
    if definition is None:
        return ""
    # With its docstring: its doctest is evidence, too.
    parts = [definition.text]
    package = definition.name.split(".")[:2]
    parts += (
        tree.units[name].bare
        for name in sorted(tree.reach(definition.name))
        if name.split(".")[:2] == package and not name.startswith(_DECLARATIONS)
    )
    cited = {file.file for file in tree.vectors(clause)}
    parts += (file.hash for file in tree.files if file.file in cited)
    for test in (marker for marker in proofs(tree) if clause in marker.ids):
        parts += (tree.helpers[name].bare for name in sorted(tree.reach(test.unit)))
    # Sorted by what they say: a module that moves, or a name that changes place, changes nothing.
    return short_hash("\0".join(sorted(parts)))


def definition_of(tree: Scan, clause: str) -> Definition | None:
    """The definition of a clause, if it has one."""
    return next(iter(tree.definitions_of(clause)), None)


def share(outcome: Mapping[str, object], same: int = 0) -> str:
    """The share of changes that golden cases and property tests noticed; + what the doctest adds.

    Changes that are known to change nothing do not count.

    >>> share({"mutants": 8, "killed": {"golden": 4, "timeout": 2, "doctest": 1}})
    '75% +12%'
    >>> share({"mutants": 8, "killed": {"golden": 6, "doctest": 1}}, same=1)
    '85% +14%'
    """
    noticed, own, of = _counts(outcome, same)
    if not of:
        return "-"
    return f"{100 * noticed // of}%" + (f" +{100 * own // of}%" if own else "")


def _counts(outcome: Mapping[str, object], same: int) -> tuple[int, int, int]:
    """What evidence noticed, what only the doctest did, and of how many changes."""
    tried, killed = outcome["mutants"], outcome["killed"]
    assert isinstance(tried, int)
    assert isinstance(killed, dict)
    own = int(killed.get("doctest", 0))
    return sum(map(int, killed.values())) - own, own, tried - same


def problems(tree: Scan) -> Iterator[TraceProblem]:
    """What was found of other code than the present, and definitions whose evidence is weak."""
    file = f"{tree.places.name(tree.places.spec)}/locks/{MUTANTS}.lock"
    results, listed = read(tree.places.spec), equivalent.read(tree.places.spec)
    for number, (clause, outcome) in enumerate(sorted(results.items()), 1):
        definition = definition_of(tree, clause)
        if definition is None:
            message = f"evidence was tried for {clause}, which has no definition now"
            yield TraceProblem("evidence-stale", file, number, message)
        elif outcome["key"] != key(tree, clause):
            message = (
                f"the evidence of {clause} was tried on another {outcome['definition']}, or is "
                f"another since; run `refclust trace --evidence --clause {clause}`"
            )
            yield TraceProblem("evidence-stale", file, number, message)
        elif tree.clauses[clause].kind == "normative":
            same = equivalent.number_of(listed, outcome)
            yield from _weak(clause, definition, outcome, same)
    yield from _noticed(tree, results, listed)


def _weak(
    clause: str, definition: Definition, outcome: Record, same: int
) -> Iterator[TraceProblem]:
    """Nine in ten changes must be noticed, and not by the doctest of the definition alone."""
    noticed, _, of = _counts(outcome, same)
    if of and not sum(outcome["killed"].values()):
        message = (
            f"no evidence of {clause} fails, however {definition.name} is changed "
            f"({of} changes tried)"
        )
        yield TraceProblem("no-bite", definition.file, definition.line, message)
    elif 10 * noticed < 9 * of:
        message = (
            f"the evidence of {clause} notices {noticed} of {of} changes of {definition.name}, "
            "less than nine in ten; add evidence, or list changes that change nothing in "
            f"{equivalent.FILE}"
        )
        yield TraceProblem("weak-evidence", definition.file, definition.line, message)


def _noticed(tree: Scan, results: Table, listed: list[Equivalent]) -> Iterator[TraceProblem]:
    """Changes that are listed as equivalent, but are noticed, or are no changes any more."""
    file = f"{tree.places.name(tree.places.spec)}/{equivalent.FILE}"
    for entry in listed:
        outcome = results.get(entry.id)
        # A sample need not hold the change; a result of other code says nothing.
        refuted = outcome is None or (
            outcome["mutants"] == outcome["of"]
            and outcome["key"] == key(tree, entry.id)
            and not equivalent.survives(entry, outcome)
        )
        if refuted:
            message = (
                f"a change of {entry.id} is listed as equivalent, but is none that survived: "
                f"{entry.change[0]}: {entry.change[2]}"
            )
            yield TraceProblem("equivalent-noticed", file, entry.line, message)


def _path(spec: Path) -> Path:
    return spec / "locks" / f"{MUTANTS}.lock"
