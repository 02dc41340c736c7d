"""Locks: files that pin the clauses, the code that realises them, and the evidence for them.

``spec/locks/<chapter>.lock`` holds one JSON line per clause; ``locks/code/`` one per function,
class or constant that the cited code reaches; ``locks/evidence/`` one per vector file, generator
and property test. Whoever changes a formula, its code or its evidence renews the locks, and a
reviewer sees both changes side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from refclust.trace import room, table
from refclust.trace.clauses import Clause
from refclust.trace.locks import code as lock_code
from refclust.trace.locks import evidence as lock_evidence
from refclust.trace.locks import inventory
from refclust.trace.places import checkout
from refclust.trace.problem import Problem
from refclust.trace.scan import Scan, scan
from refclust.trace.table import Table, short_hash

__all__ = ["clause_hash", "current", "drift", "read", "short_hash", "update"]

Locks = dict[str, Table]  # tables by the names of their files, without the suffix


def update(root: Path | None = None) -> list[Path]:
    """Rewrite all locks of a checkout, and its inventory; return the files that changed.

    Clauses that have a definition now are taken off the list of undefined ones.
    Raises ``needs-checkout`` outside a checkout.
    """
    found = scan(checkout(root).root)
    folder = found.places.spec / "locks"
    wanted = {folder / f"{name}.lock": table.text(one) for name, one in current(found).items()}
    changed: list[Path] = []
    for path, text in wanted.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            table.write(path, text)
            changed.append(path)
    to_come = found.places.spec / room.UNDEFINED_FILE
    if any(found.definitions_of(one) for one in found.undefined):
        table.write(to_come, room.shrunk(to_come, lambda one: bool(found.definitions_of(one))))
        changed.append(to_come)
    listed = found.places.spec / inventory.FILE
    text = inventory.renewed(found)
    if not listed.is_file() or listed.read_text(encoding="utf-8") != text:
        table.write(listed, text)
        changed.append(listed)
    kept = {folder / f"{lock_evidence.MUTANTS}.lock"}
    for path in sorted(set(folder.rglob("*.lock")) - set(wanted) - kept):
        path.unlink()
        changed.append(path)
    return changed


def current(found: Scan) -> Locks:
    """Compute what the locks should say."""
    chapters: Locks = {}
    for clause in found.clauses.values():
        chapters.setdefault(clause.chapter, {})[clause.id] = {
            "id": clause.id,
            "clause": clause_hash(clause),
            "code": sorted({one.name for one in found.code(clause.id)}),
        }
    return {**chapters, **lock_code.current(found), **lock_evidence.current(found)}


def read(spec: Path) -> Locks:
    """Read the locks; raises ``bad-spec`` for an unreadable line."""
    folder = spec / "locks"
    found: Locks = {}
    for path in sorted(folder.rglob("*.lock")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        kind = "code" if name.startswith("code/") else path.stem if "/" in name else "chapter"
        if kind in table.FIELDS:
            found[name] = table.read(path, f"{name}.lock", kind)
        else:
            found[name] = {}
    return found


def drift(found: Scan) -> list[Problem]:
    """Compare the tree with its locks."""
    wanted, locked = current(found), read(found.places.spec)
    return [
        *_files(found, wanted, locked),
        *_chapters(found, wanted, locked),
        *lock_code.drift(found, wanted, locked),
        *lock_evidence.drift(found, wanted, locked),
    ]


def clause_hash(clause: Clause) -> str:
    """Hash title, kind and text of a clause, however its whitespace is laid out."""
    return short_hash(" ".join(f"{clause.title} {clause.kind} {clause.text}".split()))


def _files(found: Scan, wanted: Locks, locked: Locks) -> Iterator[Problem]:
    spec = found.places.name(found.places.spec)
    for name in sorted(locked.keys() - wanted.keys() - {lock_evidence.MUTANTS}):
        message = f"the lock {name}.lock belongs to no chapter with clauses"
        if "/" in name:
            message = f"the lock {name}.lock pins nothing"
        yield Problem("lock-stale", f"{spec}/locks/{name}.lock", 1, message)
    for name in sorted(wanted.keys() - locked.keys()):
        if "/" in name:
            message = f"the lock {name}.lock is missing"
            yield Problem("lock-missing", f"{spec}/locks/{name}.lock", 1, message)
        else:
            message = f"chapter {name} has no lock"
            yield Problem("lock-missing", f"{spec}/{name}.md", 1, message)


def _chapters(found: Scan, wanted: Locks, locked: Locks) -> Iterator[Problem]:
    spec = found.places.name(found.places.spec)
    lines = {one.name: (one.file, one.line) for one in found.definitions}
    for chapter in sorted(wanted.keys() & locked.keys()):
        if "/" in chapter:
            continue
        here = f"{spec}/{chapter}.md"
        new, old = wanted[chapter], locked[chapter]
        for clause in sorted(old.keys() - new.keys()):
            message = f"clause {clause} is in the lock but no longer in chapter {chapter}"
            yield Problem("clause-drift", f"{spec}/locks/{chapter}.lock", 1, message)
        for clause, entry in new.items():
            line = found.clauses[clause].line
            if clause not in old:
                message = f"clause {clause} is not in the lock of its chapter"
                yield Problem("clause-drift", here, line, message)
                continue
            if entry["clause"] != old[clause]["clause"]:
                message = f"clause {clause} changed since its lock"
                yield Problem("clause-drift", here, line, message)
            now, then = set(entry["code"]), set(old[clause]["code"])
            for name in sorted(then - now):
                message = f"{name} no longer realises {clause}, as the lock says it does"
                yield Problem("code-drift", here, line, message)
            for name in sorted(now - then):
                message = f"{name} realises {clause}, but not in the lock"
                yield Problem("code-drift", *lines[name], message)
