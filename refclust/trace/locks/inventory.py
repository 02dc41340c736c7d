"""The inventory: every ID there ever was, with its state (tracing, no chapter).

``spec/inventory.txt`` has a line for each: ``KM-RSS clause 10-kmeans``, ``DIST-SP planned`` or
``KM-EX left-out``, and ``sources`` at the end where the ID comes from the inventory of the source
documents. ``trace --update`` adds IDs and renews their states, and never takes one away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from refclust.errors import BadSpec
from refclust.trace.clauses import ID, PLANNED_FILE, Clause, Planned
from refclust.trace.problem import TraceProblem

if TYPE_CHECKING:
    from refclust.trace.scan import Scan

FILE = "inventory.txt"
_LINE = re.compile(rf"({ID}) (clause \S+|planned|left-out)( sources)?")


@dataclass(frozen=True, slots=True)
class Known:
    """One line of the inventory."""

    id: str
    state: str
    sources: bool
    line: int


def read(spec: Path) -> dict[str, Known]:
    """Read the inventory; raises ``bad-spec`` for a line that is none, or an ID listed twice."""
    path = spec / FILE
    inventory: dict[str, Known] = {}
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise BadSpec(
                f"{FILE}:{number}: not a line of the inventory: {line!r}; allowed is "
                "'ID clause CHAPTER', 'ID planned' or 'ID left-out', with or without ' sources'"
            )
        entry = Known(match[1], match[2], match[3] is not None, number)
        first = inventory.setdefault(entry.id, entry)
        if first is not entry:
            raise BadSpec(
                f"{FILE}:{number}: {entry.id} is listed twice, first in line {first.line}"
            )
    return inventory


def states(clauses: Mapping[str, Clause], planned: Mapping[str, Planned]) -> dict[str, str]:
    """The present state of each ID of the specification."""
    to_come = {
        row.id: "planned" if row.status.startswith("planned") else "left-out"
        for row in planned.values()
    }
    return {**to_come, **{clause.id: f"clause {clause.chapter}" for clause in clauses.values()}}


def renewed(tree: Scan) -> str:
    """The inventory with every ID it had, and the present ones."""
    now = states(tree.clauses, tree.planned)
    lines: list[str] = []
    for identifier in sorted({*now, *tree.known}):
        known = tree.known.get(identifier)
        state = now.get(identifier) or (known.state if known else "")
        lines.append(f"{identifier} {state}{' sources' if known and known.sources else ''}\n")
    return "".join(lines)


def problems(tree: Scan) -> Iterator[TraceProblem]:
    """IDs that vanished, that are new, or whose state is another."""
    now = states(tree.clauses, tree.planned)
    spec = tree.places.name(tree.places.spec)
    for entry in tree.known.values():
        if entry.id not in now:
            message = (
                f"{entry.id} ({entry.state}) is in the inventory but is no clause "
                f"and no row of {PLANNED_FILE}"
            )
            yield TraceProblem("id-vanished", f"{spec}/{FILE}", entry.line, message)
        elif now[entry.id] != entry.state:
            message = f"{entry.id} is '{entry.state}' in the inventory but is now '{now[entry.id]}'"
            yield TraceProblem("inventory-drift", f"{spec}/{FILE}", entry.line, message)
    for new in (identifier for identifier in now if identifier not in tree.known):
        message = f"{new} is not in the inventory ({now[new]})"
        yield TraceProblem("inventory-drift", f"{spec}/{FILE}", 1, message)
