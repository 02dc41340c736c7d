"""Locks of evidence: one line per vector file, generator, property test and helper of the tests.

A vector file is pinned by the hash of its text, its number of cases and how many of them cite each
clause; a generator by the hash of its text; a property test by the hash of its text, the clauses it
cites and what it calls below ``tests/``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from refclust.trace.locks.table import Record, Table, short_hash
from refclust.trace.markers import Marker
from refclust.trace.problem import TraceProblem
from refclust.trace.scan import Scan

MUTANTS = "evidence/mutants"
_VECTORS, _GENERATORS = "evidence/vectors", "evidence/generators"
_TESTS, _HELPERS = "evidence/tests", "evidence/helpers"


def current(tree: Scan) -> dict[str, Table]:
    """The tables of the evidence, empty ones included: what was in them is told line by line."""
    tests = {marker.test: marker for marker in proofs(tree)}
    own = {marker.unit for marker in tests.values()}
    return {
        _VECTORS: {file.file: _sealed(tree, file.file, file.hash) for file in tree.files},
        _GENERATORS: {
            tree.places.name(path): {
                "file": tree.places.name(path),
                "hash": short_hash(path.read_text(encoding="utf-8")),
            }
            for path in sorted((tree.places.spec / "generators").glob("*.py"))
        },
        _TESTS: {name: _proof(tree, marker) for name, marker in tests.items()},
        _HELPERS: {
            name: {"name": name, "hash": short_hash(unit.bare), "calls": list(unit.calls)}
            for name, unit in tree.helpers.items()
            if name not in own
        },
    }


def proofs(tree: Scan) -> list[Marker]:
    """The tests that are evidence: property tests, and golden cases held against formulas."""
    return [marker for marker in tree.markers if marker.is_evidence]


def drift(
    tree: Scan, wanted: Mapping[str, Table], locked: Mapping[str, Table]
) -> Iterator[TraceProblem]:
    """Compare the evidence with its locks."""
    spec = tree.places.name(tree.places.spec)
    for name, differences in (
        (_VECTORS, _vectors),
        (_GENERATORS, _generators),
        (_TESTS, _tests),
        (_HELPERS, _helpers),
    ):
        if name in locked:
            now = wanted.get(name, {})
            yield from differences(tree, now, locked[name], f"{spec}/locks/{name}.lock")


def _sealed(tree: Scan, file: str, digest: str) -> Record:
    cases = [case for case in tree.cases if case.file == file]
    cited = Counter(clause for case in cases for clause in case.ids)
    return {"file": file, "cases": len(cases), "hash": digest, "clauses": dict(cited)}


def _proof(tree: Scan, marker: Marker) -> Record:
    unit = tree.helpers[marker.unit]
    return {
        "test": marker.test,
        "hash": short_hash(unit.bare),
        "cites": sorted(marker.ids),
        "calls": list(unit.calls),
    }


def _vectors(tree: Scan, now: Table, then: Table, lock: str) -> Iterator[TraceProblem]:  # noqa: ARG001
    for file in sorted(now.keys() | then.keys()):
        new, old = now.get(file), then.get(file)
        clauses = tuple({**(new or {}).get("clauses", {}), **(old or {}).get("clauses", {})})
        if new is None:
            message = f"the vector file {file} is in the lock but gone"
            yield TraceProblem("vector-drift", lock, 1, message, clauses)
        elif old is None:
            message = f"the vector file {file} is not in the lock"
            yield TraceProblem("vector-drift", file, 1, message, clauses)
        elif new != old:
            changes = [f"has {_cases(new['cases'])}, the lock says {old['cases']}"]
            changes = changes if new["cases"] != old["cases"] else []
            for clause in sorted(clauses):
                count, before = new["clauses"].get(clause, 0), old["clauses"].get(clause, 0)
                if count != before and not changes:
                    changes.append(f"cites {clause} in {_cases(count)}, the lock says {before}")
            message = f"the vector file {file} {', '.join(changes) or 'changed since its lock'}"
            yield TraceProblem("vector-drift", file, 1, message, clauses)


def _generators(tree: Scan, now: Table, then: Table, lock: str) -> Iterator[TraceProblem]:  # noqa: ARG001
    for file in sorted(now.keys() | then.keys()):
        if file not in now:
            message = f"the generator {file} is in the lock but gone"
            yield TraceProblem("generator-drift", lock, 1, message)
        elif file not in then:
            message = f"the generator {file} is not in the lock"
            yield TraceProblem("generator-drift", file, 1, message)
        elif now[file] != then[file]:
            message = f"the generator {file} changed since its lock"
            yield TraceProblem("generator-drift", file, 1, message)


def _tests(tree: Scan, now: Table, then: Table, lock: str) -> Iterator[TraceProblem]:
    lines = {marker.test: (marker.file, marker.line) for marker in proofs(tree)}
    for test in sorted(now.keys() | then.keys()):
        new, old = now.get(test), then.get(test)
        clauses = tuple((new or old or {})["cites"])
        cited = ", ".join(clauses)
        if new is None:
            message = f"the test {test} of {cited} is in the lock but is no evidence now"
            yield TraceProblem("test-drift", lock, 1, message, clauses)
        elif old is None:
            message = f"the test {test} of {cited} is not in the lock"
            yield TraceProblem("test-drift", *lines[test], message, clauses)
        elif new["cites"] != old["cites"]:
            message = f"the test {test} cites {cited}, the lock says {_told(old['cites'])}"
            yield TraceProblem("test-drift", *lines[test], message, clauses)
        elif new != old:
            message = f"the test {test} of {cited} changed since its lock"
            yield TraceProblem("test-drift", *lines[test], message, clauses)


def _helpers(tree: Scan, now: Table, then: Table, lock: str) -> Iterator[TraceProblem]:  # noqa: ARG001
    for name in sorted(now.keys() & then.keys()):
        if now[name] != then[name]:
            unit = tree.helpers[name]
            using = [marker for marker in proofs(tree) if name in tree.reach(marker.unit)]
            clauses = tuple(dict.fromkeys(clause for marker in using for clause in marker.ids))
            first = f", which {using[0].test} of {', '.join(using[0].ids)} uses," if using else ""
            message = f"{name}{first} changed since its lock"
            yield TraceProblem("test-drift", unit.file, unit.line, message, clauses)


def _cases(count: int) -> str:
    return f"{count} case{'' if count == 1 else 's'}"


def _told(ids: list[str]) -> str:
    return ", ".join(ids) or "none"
