"""The formula room: where the one definition of each clause lies (tracing, no chapter).

``spec/10-kmeans.md`` is defined in ``refclust/formulas/kmeans.py``; the clauses of the chapter of
numbers are defined below ``refclust/numbers/``. ``spec/undefined.txt`` lists the normative clauses
whose definition is still to come, an ID a line; an ID in it that has a definition is an error, so
that the list can only shrink (``trace --update`` does it).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from refclust.errors import BadSpec
from refclust.trace.clauses import ID
from refclust.trace.places import PACKAGE

UNDEFINED_FILE = "undefined.txt"
_NUMBERS = "numbers"


def home(chapter: str) -> str:
    """The file, or the folder with a slash at its end, that defines the clauses of a chapter.

    >>> home("10-kmeans"), home("09-data-formats"), home("05-numbers")
    ('refclust/formulas/kmeans.py', 'refclust/formulas/data_formats.py', 'refclust/numbers/')
    """
    name = re.sub(r"^\d+-", "", chapter).replace("-", "_")
    return f"{PACKAGE}/{_NUMBERS}/" if name == _NUMBERS else f"{PACKAGE}/formulas/{name}.py"


def at_home(file: str, chapter: str) -> bool:
    """Tell whether a file may define the clauses of a chapter."""
    place = home(chapter)
    return file.startswith(place) if place.endswith("/") else file == place


def shrunk(path: Path, defined: Callable[[str], bool]) -> str:
    """The list of undefined clauses without those that are defined."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not defined(line.partition("#")[0].strip()))


def undefined(spec: Path) -> dict[str, int]:
    """Read the clauses whose definition is still to come, with their lines.

    Raises ``bad-spec`` for a line that is no ID, or an ID that comes twice.
    """
    path = spec / UNDEFINED_FILE
    first_lines: dict[str, int] = {}
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for number, line in enumerate(lines, 1):
        clause = line.partition("#")[0].strip()
        if not clause:
            continue
        if not re.fullmatch(ID, clause):
            raise BadSpec(f"{UNDEFINED_FILE}:{number}: {clause!r} is no ID; allowed is one a line")
        if first_lines.setdefault(clause, number) != number:
            raise BadSpec(
                f"{UNDEFINED_FILE}:{number}: {clause} is listed twice, "
                f"first in line {first_lines[clause]}"
            )
    return first_lines
