"""Locks of evidence: one line per vector file, generator, property test and helper of the tests.

A vector file is pinned by the hash of its text, its number of cases and how many of them cite each
clause; a generator by the hash of its text; a property test by the hash of its text, the clauses it
cites and what it calls below ``tests/``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from refclust.trace.markers import Marker
from refclust.trace.problem import Problem
from refclust.trace.scan import Scan
from refclust.trace.table import Record, Table, short_hash

MUTANTS = "evidence/mutants"
_VECTORS, _GENERATORS = "evidence/vectors", "evidence/generators"
_TESTS, _HELPERS = "evidence/tests", "evidence/helpers"


def current(found: Scan) -> dict[str, Table]:
    """The tables of the evidence, empty ones included: what was in them is told line by line."""
    tests = {one.test: one for one in proofs(found)}
    own = {one.unit for one in tests.values()}
    return {
        _VECTORS: {one.file: _sealed(found, one.file, one.hash) for one in found.files},
        _GENERATORS: {
            found.places.name(path): {
                "file": found.places.name(path),
                "hash": short_hash(path.read_text(encoding="utf-8")),
            }
            for path in sorted((found.places.spec / "generators").glob("*.py"))
        },
        _TESTS: {name: _proof(found, one) for name, one in tests.items()},
        _HELPERS: {
            name: {"name": name, "hash": short_hash(unit.bare), "calls": list(unit.calls)}
            for name, unit in found.helpers.items()
            if name not in own
        },
    }


def proofs(found: Scan) -> list[Marker]:
    """The tests that are evidence: property tests, and golden cases held against formulas."""
    return [one for one in found.markers if one.is_evidence]


def drift(
    found: Scan, wanted: Mapping[str, Table], locked: Mapping[str, Table]
) -> Iterator[Problem]:
    """Compare the evidence with its locks."""
    spec = found.places.name(found.places.spec)
    for name, differences in (
        (_VECTORS, _vectors),
        (_GENERATORS, _generators),
        (_TESTS, _tests),
        (_HELPERS, _helpers),
    ):
        if name in locked:
            now = wanted.get(name, {})
            yield from differences(found, now, locked[name], f"{spec}/locks/{name}.lock")


def _sealed(found: Scan, file: str, digest: str) -> Record:
    cases = [one for one in found.cases if one.file == file]
    cited = Counter(clause for one in cases for clause in one.ids)
    return {"file": file, "cases": len(cases), "hash": digest, "clauses": dict(cited)}


def _proof(found: Scan, one: Marker) -> Record:
    unit = found.helpers[one.unit]
    return {
        "test": one.test,
        "hash": short_hash(unit.bare),
        "cites": sorted(one.ids),
        "calls": list(unit.calls),
    }


def _vectors(found: Scan, now: Table, then: Table, lock: str) -> Iterator[Problem]:  # noqa: ARG001
    for file in sorted(now.keys() | then.keys()):
        new, old = now.get(file), then.get(file)
        clauses = tuple({**(new or {}).get("clauses", {}), **(old or {}).get("clauses", {})})
        if new is None:
            message = f"the vector file {file} is in the lock but gone"
            yield Problem("vector-drift", lock, 1, message, clauses)
        elif old is None:
            message = f"the vector file {file} is not in the lock"
            yield Problem("vector-drift", file, 1, message, clauses)
        elif new != old:
            changes = [f"has {_cases(new['cases'])}, the lock says {old['cases']}"]
            changes = changes if new["cases"] != old["cases"] else []
            for clause in sorted(clauses):
                count, before = new["clauses"].get(clause, 0), old["clauses"].get(clause, 0)
                if count != before and not changes:
                    changes.append(f"cites {clause} in {_cases(count)}, the lock says {before}")
            message = f"the vector file {file} {', '.join(changes) or 'changed since its lock'}"
            yield Problem("vector-drift", file, 1, message, clauses)


def _generators(found: Scan, now: Table, then: Table, lock: str) -> Iterator[Problem]:  # noqa: ARG001
    for file in sorted(now.keys() | then.keys()):
        if file not in now:
            message = f"the generator {file} is in the lock but gone"
            yield Problem("generator-drift", lock, 1, message)
        elif file not in then:
            message = f"the generator {file} is not in the lock"
            yield Problem("generator-drift", file, 1, message)
        elif now[file] != then[file]:
            message = f"the generator {file} changed since its lock"
            yield Problem("generator-drift", file, 1, message)


def _tests(found: Scan, now: Table, then: Table, lock: str) -> Iterator[Problem]:
    lines = {one.test: (one.file, one.line) for one in proofs(found)}
    for test in sorted(now.keys() | then.keys()):
        new, old = now.get(test), then.get(test)
        clauses = tuple((new or old or {})["cites"])
        told = ", ".join(clauses)
        if new is None:
            message = f"the test {test} of {told} is in the lock but is no evidence now"
            yield Problem("test-drift", lock, 1, message, clauses)
        elif old is None:
            message = f"the test {test} of {told} is not in the lock"
            yield Problem("test-drift", *lines[test], message, clauses)
        elif new["cites"] != old["cites"]:
            message = f"the test {test} cites {told}, the lock says {_told(old['cites'])}"
            yield Problem("test-drift", *lines[test], message, clauses)
        elif new != old:
            message = f"the test {test} of {told} changed since its lock"
            yield Problem("test-drift", *lines[test], message, clauses)


def _helpers(found: Scan, now: Table, then: Table, lock: str) -> Iterator[Problem]:  # noqa: ARG001
    for name in sorted(now.keys() & then.keys()):
        if now[name] != then[name]:
            unit = found.helpers[name]
            using = [one for one in proofs(found) if name in found.reach(one.unit)]
            clauses = tuple(dict.fromkeys(clause for one in using for clause in one.ids))
            first = f", which {using[0].test} of {', '.join(using[0].ids)} uses," if using else ""
            message = f"{name}{first} changed since its lock"
            yield Problem("test-drift", unit.file, unit.line, message, clauses)


def _cases(count: int) -> str:
    return f"{count} case{'' if count == 1 else 's'}"


def _told(ids: list[str]) -> str:
    return ", ".join(ids) or "none"
