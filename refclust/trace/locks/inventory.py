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
from refclust.trace.problem import Problem

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
    found: dict[str, Known] = {}
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise BadSpec(
                f"{FILE}:{number}: not a line of the inventory: {line!r}; allowed is "
                "'ID clause CHAPTER', 'ID planned' or 'ID left-out', with or without ' sources'"
            )
        one = Known(match[1], match[2], match[3] is not None, number)
        first = found.setdefault(one.id, one)
        if first is not one:
            raise BadSpec(f"{FILE}:{number}: {one.id} is listed twice, first in line {first.line}")
    return found


def states(clauses: Mapping[str, Clause], planned: Mapping[str, Planned]) -> dict[str, str]:
    """The present state of each ID of the specification."""
    to_come = {
        one.id: "planned" if one.status.startswith("planned") else "left-out"
        for one in planned.values()
    }
    return {**to_come, **{one.id: f"clause {one.chapter}" for one in clauses.values()}}


def renewed(found: Scan) -> str:
    """The inventory with every ID it had, and the present ones."""
    now = states(found.clauses, found.planned)
    lines: list[str] = []
    for one in sorted({*now, *found.known}):
        known = found.known.get(one)
        state = now.get(one) or (known.state if known else "")
        lines.append(f"{one} {state}{' sources' if known and known.sources else ''}\n")
    return "".join(lines)


def problems(found: Scan) -> Iterator[Problem]:
    """IDs that vanished, that are new, or whose state is another."""
    now = states(found.clauses, found.planned)
    spec = found.places.name(found.places.spec)
    for one in found.known.values():
        if one.id not in now:
            message = (
                f"{one.id} ({one.state}) is in the inventory but is no clause "
                f"and no row of {PLANNED_FILE}"
            )
            yield Problem("id-vanished", f"{spec}/{FILE}", one.line, message)
        elif now[one.id] != one.state:
            message = f"{one.id} is '{one.state}' in the inventory but is now '{now[one.id]}'"
            yield Problem("inventory-drift", f"{spec}/{FILE}", one.line, message)
    for new in (one for one in now if one not in found.known):
        message = f"{new} is not in the inventory ({now[new]})"
        yield Problem("inventory-drift", f"{spec}/{FILE}", 1, message)
