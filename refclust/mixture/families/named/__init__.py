"""The families of mixtures by name: each module here is one, and nothing else lists them.

The first line of a module is what ``refclust fit --help`` says of it; its ``RECORD`` is the rest.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from refclust.errors import BadOption
from refclust.numbers.reading import shown

if TYPE_CHECKING:
    from refclust.mixture.families.record import FamilyRecord


@cache
def names() -> tuple[str, ...]:
    """The names of all families.

    >>> "gaussian" in names(), "poisson" in names()
    (True, True)
    """
    folder = Path(__file__).parent
    return tuple(sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__"))


def help_of(name: str) -> str:
    """One line about a family, read from its source: listing families imports none of them.

    >>> help_of("poisson")
    'Poisson mixture: soft clusters of counts, each column by itself.'
    """
    with (Path(__file__).parent / f"{name}.py").open(encoding="utf-8") as source:
        line = source.readline()
    return re.sub(r' \(chapter \d+\)\."*$', ".", line.strip().strip('"'))


def record(name: str) -> FamilyRecord:
    """The record of a family.

    >>> record("bernoulli").title
    'a Bernoulli mixture'
    """
    if name not in names():
        raise BadOption(f"family is {shown(name)}; allowed are {', '.join(names())}")
    family: FamilyRecord = import_module(f"{__name__}.{name}").RECORD
    return family
