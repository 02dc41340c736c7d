"""Locks as files: JSON lines sorted by their key, so that they merge and a diff can be read."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from refclust.errors import BadSpec

Record = dict[str, Any]
Table = dict[str, Record]  # records by their key

# The fields of a line of each kind of lock: the first is its key.
FIELDS: Mapping[str, Mapping[str, type]] = {
    "chapter": {"id": str, "clause": str, "code": list},
    "code": {"name": str, "hash": str, "calls": list},
    "vectors": {"file": str, "cases": int, "hash": str, "clauses": dict},
    "generators": {"file": str, "hash": str},
    "tests": {"test": str, "hash": str, "cites": list, "calls": list},
    "helpers": {"name": str, "hash": str, "calls": list},
    "mutants": {
        "id": str,
        "key": str,
        "definition": str,
        "mutants": int,
        "of": int,
        "killed": dict,
        "survived": list,
    },
}


def short_hash(text: str) -> str:
    """Hash a text to 16 hexadecimal digits of SHA-256.

    >>> short_hash("refclust")
    '36ced11c728a8bc5'
    """
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def text(table: Table) -> str:
    """The lines of a lock."""
    return "".join(
        json.dumps(table[key], ensure_ascii=False, sort_keys=True) + "\n" for key in sorted(table)
    )


def read(path: Path, name: str, kind: str) -> Table:
    """Read a lock; raises ``bad-spec`` for a line that is none."""
    fields = FIELDS[kind]
    records: Table = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            record = json.loads(line)
            wrong = [field for field, kind in fields.items() if not isinstance(record[field], kind)]
            if wrong:
                raise TypeError(f"{wrong[0]} is {record[wrong[0]]!r}")
        except (ValueError, KeyError, TypeError) as error:
            raise BadSpec(
                f"locks/{name}:{number}: not a line of a lock ({error}); renew the lock"
            ) from error
        records[record[next(iter(fields))]] = record
    return records


def write(path: Path, content: str) -> None:
    """Write the whole file or nothing: first beside it, then in its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.new")
    beside.write_text(content, encoding="utf-8", newline="\n")
    os.replace(beside, path)
