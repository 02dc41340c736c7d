"""Locks: files that pin the clauses, the code that realises them, and the evidence for them.

``spec/locks/<chapter>.lock`` holds one JSON line per clause; ``locks/code/`` one per function,
class or constant that the cited code reaches; ``locks/evidence/`` one per vector file, generator
and property test. Whoever changes a formula, its code or its evidence renews the locks, and a
reviewer sees both changes side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from refclust.trace import room
from refclust.trace.clauses import Clause
from refclust.trace.locks import code as lock_code
from refclust.trace.locks import evidence as lock_evidence
from refclust.trace.locks import inventory, table
from refclust.trace.locks.table import Table, short_hash
from refclust.trace.places import checkout
from refclust.trace.problem import TraceProblem
from refclust.trace.scan import Scan, scan

__all__ = ["clause_hash", "current", "drift", "read", "short_hash", "update"]

Locks = dict[str, Table]  # tables by the names of their files, without the suffix


def update(root: Path | None = None) -> list[Path]:
    """Rewrite all locks of a checkout, and its inventory; return the files that changed.

    Clauses that have a definition now are taken off the list of undefined ones.
    Raises ``needs-checkout`` outside a checkout.
    """
    tree = scan(checkout(root).root)
    folder = tree.places.spec / "locks"
    wanted = {
        folder / f"{name}.lock": table.text(records) for name, records in current(tree).items()
    }
    changed: list[Path] = []
    for path, text in wanted.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            table.write(path, text)
            changed.append(path)
    to_come = tree.places.spec / room.UNDEFINED_FILE
    if any(tree.definitions_of(clause) for clause in tree.undefined):
        table.write(to_come, room.shrunk(to_come, lambda clause: bool(tree.definitions_of(clause))))
        changed.append(to_come)
    listed = tree.places.spec / inventory.FILE
    text = inventory.renewed(tree)
    if not listed.is_file() or listed.read_text(encoding="utf-8") != text:
        table.write(listed, text)
        changed.append(listed)
    kept = {folder / f"{lock_evidence.MUTANTS}.lock"}
    for path in sorted(set(folder.rglob("*.lock")) - set(wanted) - kept):
        path.unlink()
        changed.append(path)
    return changed


def current(tree: Scan) -> Locks:
    """Compute what the locks should say."""
    chapters: Locks = {}
    for clause in tree.clauses.values():
        chapters.setdefault(clause.chapter, {})[clause.id] = {
            "id": clause.id,
            "clause": clause_hash(clause),
            "code": sorted({definition.name for definition in tree.code(clause.id)}),
        }
    return {**chapters, **lock_code.current(tree), **lock_evidence.current(tree)}


def read(spec: Path) -> Locks:
    """Read the locks; raises ``bad-spec`` for an unreadable line."""
    folder = spec / "locks"
    locks: Locks = {}
    for path in sorted(folder.rglob("*.lock")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        kind = "code" if name.startswith("code/") else path.stem if "/" in name else "chapter"
        if kind in table.FIELDS:
            locks[name] = table.read(path, f"{name}.lock", kind)
        else:
            locks[name] = {}
    return locks


def drift(tree: Scan) -> list[TraceProblem]:
    """Compare the tree with its locks."""
    wanted, locked = current(tree), read(tree.places.spec)
    return [
        *_files(tree, wanted, locked),
        *_chapters(tree, wanted, locked),
        *lock_code.drift(tree, wanted, locked),
        *lock_evidence.drift(tree, wanted, locked),
    ]


def clause_hash(clause: Clause) -> str:
    """Hash title, kind and text of a clause, however its whitespace is laid out."""
    return short_hash(" ".join(f"{clause.title} {clause.kind} {clause.text}".split()))


def _files(tree: Scan, wanted: Locks, locked: Locks) -> Iterator[TraceProblem]:
    spec = tree.places.name(tree.places.spec)
    for name in sorted(locked.keys() - wanted.keys() - {lock_evidence.MUTANTS}):
        message = f"the lock {name}.lock belongs to no chapter with clauses"
        if "/" in name:
            message = f"the lock {name}.lock pins nothing"
        yield TraceProblem("lock-stale", f"{spec}/locks/{name}.lock", 1, message)
    for name in sorted(wanted.keys() - locked.keys()):
        if "/" in name:
            message = f"the lock {name}.lock is missing"
            yield TraceProblem("lock-missing", f"{spec}/locks/{name}.lock", 1, message)
        else:
            message = f"chapter {name} has no lock"
            yield TraceProblem("lock-missing", f"{spec}/{name}.md", 1, message)


def _chapters(tree: Scan, wanted: Locks, locked: Locks) -> Iterator[TraceProblem]:
    spec = tree.places.name(tree.places.spec)
    lines = {definition.name: (definition.file, definition.line) for definition in tree.definitions}
    for chapter in sorted(wanted.keys() & locked.keys()):
        if "/" in chapter:
            continue
        here = f"{spec}/{chapter}.md"
        new, old = wanted[chapter], locked[chapter]
        for clause in sorted(old.keys() - new.keys()):
            message = f"clause {clause} is in the lock but no longer in chapter {chapter}"
            yield TraceProblem("clause-drift", f"{spec}/locks/{chapter}.lock", 1, message)
        for clause, entry in new.items():
            line = tree.clauses[clause].line
            if clause not in old:
                message = f"clause {clause} is not in the lock of its chapter"
                yield TraceProblem("clause-drift", here, line, message)
                continue
            if entry["clause"] != old[clause]["clause"]:
                message = f"clause {clause} changed since its lock"
                yield TraceProblem("clause-drift", here, line, message)
            now, then = set(entry["code"]), set(old[clause]["code"])
            for name in sorted(then - now):
                message = f"{name} no longer realises {clause}, as the lock says it does"
                yield TraceProblem("code-drift", here, line, message)
            for name in sorted(now - then):
                message = f"{name} realises {clause}, but not in the lock"
                yield TraceProblem("code-drift", *lines[name], message)
