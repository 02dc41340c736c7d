"""The formula room: where the one definition of each clause lies (tracing, no chapter).

``spec/10-kmeans.md`` is defined in ``refclust/formulas/kmeans.py``; the clauses of the chapter of
numbers are defined below ``refclust/numbers/``. ``spec/undefined.txt`` lists the normative clauses
whose definition is still to come, an ID a line; an ID in it that has a definition is an error, so
that the list can only shrink.
"""

from __future__ import annotations

import re
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


def undefined(spec: Path) -> dict[str, int]:
    """Read the clauses whose definition is still to come, with their lines.

    Raises ``bad-spec`` for a line that is no ID, or an ID that comes twice.
    """
    path = spec / UNDEFINED_FILE
    found: dict[str, int] = {}
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for number, line in enumerate(lines, 1):
        given = line.partition("#")[0].strip()
        if not given:
            continue
        if not re.fullmatch(ID, given):
            raise BadSpec(f"{UNDEFINED_FILE}:{number}: {given!r} is no ID; allowed is one a line")
        if found.setdefault(given, number) != number:
            raise BadSpec(
                f"{UNDEFINED_FILE}:{number}: {given} is listed twice, first in line {found[given]}"
            )
    return found
