"""Changes that change nothing: ``spec/locks/evidence/equivalent.jsonl``, written by hand.

A line names a change of a definition that no evidence can notice, as ``refclust trace --evidence``
records it, and says why; it is checked that the change still survives. Such a change does not
count when the share of the changes that evidence notices is worked out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from refclust.errors import BadSpec

FILE: Final = "locks/evidence/equivalent.jsonl"


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A change of the definition of a clause, and why it makes no difference."""

    id: str
    change: tuple[str, str, str]  # its kind, the lines before, the lines after
    why: str
    line: int


def read(spec: Path) -> list[Equivalent]:
    """Read the list; raises ``bad-spec`` for a line that is none."""
    path = spec / FILE
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [_read(line, number) for number, line in enumerate(lines, 1)]


def _read(line: str, number: int) -> Equivalent:
    try:
        item = json.loads(line)
        kind, before, after = item["change"]
        texts = (item["id"], kind, before, after, item["why"])
        if not all(isinstance(text, str) and text for text in texts):
            raise TypeError("a text is missing")
    except (ValueError, KeyError, TypeError) as error:
        raise BadSpec(f'{FILE}:{number}: allowed are "id", "change" and "why" ({error})') from error
    return Equivalent(item["id"], (kind, before, after), item["why"], number)


def survives(entry: Equivalent, record: Mapping[str, Any]) -> bool:
    """Whether a change is among those that nothing noticed.

    >>> entry = Equivalent("PUR", ("+ 1", "a", "b"), "both are even", 1)
    >>> survives(entry, {"survived": [["+ 1", "a", "b"]]}), survives(entry, {"survived": []})
    (True, False)
    """
    return list(entry.change) in record["survived"]


def number_of(listed: list[Equivalent], record: Mapping[str, Any]) -> int:
    """How many of the changes that nothing noticed are listed as equivalent."""
    changes = [list(entry.change) for entry in listed if entry.id == record["id"]]
    return sum(change in changes for change in record["survived"])
