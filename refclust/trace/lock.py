"""Locks: one file per chapter that pins the text of its clauses and the code that realises them.

``spec/locks/<chapter>.lock`` holds one JSON line per clause, sorted by ID. Whoever changes a
formula or its code renews the lock, and a reviewer sees both changes side by side.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from refclust.errors import BadSpec
from refclust.trace.clauses import Clause
from refclust.trace.places import checkout
from refclust.trace.scan import Scan, scan


@dataclass(frozen=True, slots=True)
class Entry:
    """What a lock says of one clause: its hash, and that of each definition realising it."""

    id: str
    clause: str
    code: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference between the tree and its locks; ``kind`` says of what."""

    kind: str
    file: str
    line: int
    message: str


def update(root: Path | None = None) -> list[Path]:
    """Rewrite all locks of a checkout and return the files that changed, removed ones included.

    Raises ``needs-checkout`` outside a checkout.
    """
    found = scan(checkout(root).root)
    folder = found.places.spec / "locks"
    wanted = {folder / f"{name}.lock": _lines(entries) for name, entries in current(found).items()}
    changed: list[Path] = []
    for path, text in wanted.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            folder.mkdir(exist_ok=True)
            _write(path, text)
            changed.append(path)
    for path in sorted(set(folder.glob("*.lock")) - set(wanted)):
        path.unlink()
        changed.append(path)
    return changed


def current(found: Scan) -> dict[str, dict[str, Entry]]:
    """Compute what the locks should say: entries by ID, by chapter."""
    chapters: dict[str, dict[str, Entry]] = {}
    for clause in found.clauses.values():
        code: dict[str, list[str]] = {}
        for one in found.code(clause.id):
            code.setdefault(one.name, []).append(one.bare)
        entry = Entry(
            id=clause.id,
            clause=clause_hash(clause),
            # A name can be defined twice (under an `if`): then both texts count.
            code={name: short_hash("\n".join(texts)) for name, texts in sorted(code.items())},
        )
        chapters.setdefault(clause.chapter, {})[clause.id] = entry
    return chapters


def read(spec: Path) -> dict[str, dict[str, Entry]]:
    """Read the locks: entries by ID, by chapter; raises ``bad-spec`` for an unreadable line."""
    return {path.stem: _read(path) for path in sorted((spec / "locks").glob("*.lock"))}


def drift(found: Scan) -> list[Drift]:
    """Compare the tree with its locks."""
    places = found.places
    wanted, locked = current(found), read(places.spec)
    lines = {one.name: (one.file, one.line) for one in found.definitions}
    differences: list[Drift] = []
    for chapter in sorted(wanted.keys() | locked.keys()):
        lock = f"{places.name(places.spec)}/locks/{chapter}.lock"
        here = f"{places.name(places.spec)}/{chapter}.md"
        if chapter not in wanted:
            message = f"the lock {chapter}.lock belongs to no chapter with clauses"
            differences.append(Drift("lock-stale", lock, 1, message))
            continue
        if chapter not in locked:
            message = f"chapter {chapter} has no lock"
            differences.append(Drift("lock-missing", here, 1, message))
            continue
        new, old = wanted[chapter], locked[chapter]
        for clause in sorted(old.keys() - new.keys()):
            message = f"clause {clause} is in the lock but no longer in chapter {chapter}"
            differences.append(Drift("clause-drift", lock, 1, message))
        for clause, entry in new.items():
            line = found.clauses[clause].line
            if clause not in old:
                message = f"clause {clause} is not in the lock of its chapter"
                differences.append(Drift("clause-drift", here, line, message))
                continue
            if entry.clause != old[clause].clause:
                message = f"clause {clause} changed since its lock"
                differences.append(Drift("clause-drift", here, line, message))
            for name in sorted(entry.code.keys() | old[clause].code.keys()):
                if name not in entry.code:
                    message = f"{name} no longer realises {clause}, as the lock says it does"
                    differences.append(Drift("code-drift", here, line, message))
                elif name not in old[clause].code:
                    message = f"{name} realises {clause}, but not in the lock"
                    differences.append(Drift("code-drift", *lines[name], message))
                elif entry.code[name] != old[clause].code[name]:
                    message = f"{name} changed since the lock of {clause}"
                    differences.append(Drift("code-drift", *lines[name], message))
    return differences


def clause_hash(clause: Clause) -> str:
    """Hash title, kind and text of a clause, however its whitespace is laid out."""
    return short_hash(" ".join(f"{clause.title} {clause.kind} {clause.text}".split()))


def short_hash(text: str) -> str:
    """Hash a text to 16 hexadecimal digits of SHA-256.

    >>> short_hash("refclust")
    '36ced11c728a8bc5'
    """
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _lines(entries: dict[str, Entry]) -> str:
    return "".join(
        json.dumps(
            {"id": one.id, "clause": one.clause, "code": one.code},
            ensure_ascii=False,
            sort_keys=True,
        )
        + "\n"
        for one in sorted(entries.values(), key=lambda entry: entry.id)
    )


def _read(path: Path) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            item = json.loads(line)
            entry = Entry(str(item["id"]), str(item["clause"]), dict(item["code"]))
        except (ValueError, KeyError, TypeError) as error:
            raise BadSpec(
                f"locks/{path.name}:{number}: not a line of a lock ({error}); renew the lock"
            ) from error
        entries[entry.id] = entry
    return entries


def _write(path: Path, text: str) -> None:
    """Write the whole file or nothing: first beside it, then in its place."""
    beside = path.with_suffix(".lock.new")
    beside.write_text(text, encoding="utf-8", newline="\n")
    os.replace(beside, path)
