"""Locks of code: one line per function, class, method or constant that a clause's code reaches.

A line holds the hash of its text, without docstrings and comments, and the names it calls, as
imports resolve them: a changed import is drift even where no text of a function changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from refclust.trace.locks.table import Table, short_hash
from refclust.trace.problem import TraceProblem
from refclust.trace.scan import Scan


def current(tree: Scan) -> dict[str, Table]:
    """The tables of all units, by the folder of the package they lie in."""
    tables: dict[str, Table] = {}
    for name, unit in tree.units.items():
        tables.setdefault(_file(name), {})[name] = {
            "name": name,
            "hash": short_hash(unit.bare),
            "calls": list(unit.calls),
        }
    return tables


def drift(
    tree: Scan, wanted: Mapping[str, Table], locked: Mapping[str, Table]
) -> Iterator[TraceProblem]:
    """Compare the code with its locks, and name the clause behind each change."""
    now, then = _whole(wanted), _whole(locked)
    changed = {name for name in now.keys() & then.keys() if now[name]["hash"] != then[name]["hash"]}
    rewired = {
        name for name in now.keys() & then.keys() if now[name]["calls"] != then[name]["calls"]
    } - changed
    # What a changed caller newly calls, or calls no longer, needs no line of its own.
    altered = changed | rewired
    known = {called for name in altered for units in (now, then) for called in units[name]["calls"]}
    known |= _cited(wanted) ^ _cited(locked)
    strange = {
        name
        for name in (now.keys() ^ then.keys()) - _below(known, now, then)
        if _file(name) in locked
    }
    if not altered and not strange:
        return
    behind = _behind(tree)
    cited = {definition.name: definition.cites.ids for definition in tree.definitions}
    for name in sorted(changed | rewired | strange):
        clauses = tuple(dict.fromkeys(clause for clause, _ in behind.get(name, ())))
        if name not in now:
            file = f"{tree.places.name(tree.places.spec)}/locks/{_file(name)}.lock"
            message = f"{name} is in the lock but nothing that cites a clause reaches it"
            yield TraceProblem("lock-stale", file, 1, message)
            continue
        unit = tree.units[name]
        what = f"{name} {_change(now[name], then.get(name))}"
        if cited.get(name):
            what += f" of {', '.join(clause for clause in cited[name] if clause in tree.clauses)}"
        elif clauses:
            direct = [pair for pair in behind[name] if name in tree.units[pair[1]].calls]
            clause, root = (direct or behind[name])[0]
            verb = "calls" if name in tree.units[root].calls else "reaches"
            more = f" (and {len(clauses) - 1} more)" if len(clauses) > 1 else ""
            what = f"{name}, which {clause}'s {root} {verb}{more}, {what.removeprefix(name)[1:]}"
        yield TraceProblem("code-drift", unit.file, unit.line, what, clauses)


def drifted(tree: Scan, locked: Mapping[str, Table]) -> frozenset[str]:
    """The units that are not as locked, themselves or by something they reach."""
    now, then = _whole(current(tree)), _whole(locked)
    wrong = {name for name in now if now[name] != then.get(name)}
    before: set[str] = set()
    while wrong != before:
        before = wrong
        wrong = before | {name for name in now if not before.isdisjoint(now[name]["calls"])}
    return frozenset(wrong)


def _change(now: Mapping[str, list[str]], then: Mapping[str, list[str]] | None) -> str:
    if then is None:
        return "is not in the lock"
    if now["hash"] != then["hash"]:
        return "changed since the lock"
    new = sorted(set(now["calls"]) - set(then["calls"]))
    old = sorted(set(then["calls"]) - set(now["calls"]))
    parts = [f"calls {', '.join(new)}"] if new else []
    parts += [f"no longer calls {', '.join(old)}"] if old else []
    return f"{' and '.join(parts)}, by an import that changed since the lock"


def _behind(tree: Scan) -> dict[str, list[tuple[str, str]]]:
    """For each unit the clauses and definitions that reach it."""
    behind: dict[str, list[tuple[str, str]]] = {}
    for definition in tree.definitions:
        for clause in (clause for clause in definition.cites.ids if clause in tree.clauses):
            for name in tree.reach(definition.name):
                behind.setdefault(name, []).append((clause, definition.name))
    return behind


def _below(known: set[str], *tables: Table) -> set[str]:
    """Some units and all that they call in any of the tables."""
    reached: set[str] = set()
    waiting = list(known)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            for table in tables:
                waiting += table[name]["calls"] if name in table else ()
    return reached


def _file(name: str) -> str:
    return f"code/{name.partition(':')[0].split('.')[1]}"


def _cited(tables: Mapping[str, Table]) -> set[str]:
    """The definitions that the locks of the chapters name."""
    return {
        name
        for file, table in tables.items()
        if "/" not in file
        for record in table.values()
        for name in record["code"]
    }


def _whole(tables: Mapping[str, Table]) -> Table:
    code = (table for file, table in tables.items() if file.startswith("code/"))
    return {name: record for table in code for name, record in table.items()}
