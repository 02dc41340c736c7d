"""Everything tracing knows about one tree: clauses, code, tests and vectors.

Found by reading text and syntax trees; nothing of the tree is imported or run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from refclust.trace import clauses as chapters
from refclust.trace import functions, markers, room, vectors
from refclust.trace.clauses import Clause, Planned
from refclust.trace.functions import Definition
from refclust.trace.markers import Marker
from refclust.trace.places import Places, locate
from refclust.trace.vectors import Case, VectorFile, citing


@dataclass(frozen=True, slots=True)
class Scan:
    """The clauses of a tree and all that cites them."""

    places: Places
    clauses: dict[str, Clause]
    planned: dict[str, Planned]
    undefined: dict[str, int]
    definitions: tuple[Definition, ...]
    markers: tuple[Marker, ...]
    cases: tuple[Case, ...]

    def code(self, clause: str) -> tuple[Definition, ...]:
        """The definitions that realise a clause, first the one that defines it."""
        others = (one for one in self.definitions if clause in one.cites.ids)
        return tuple(dict.fromkeys([*self.definitions_of(clause), *others]))

    def definitions_of(self, clause: str) -> tuple[Definition, ...]:
        """The definitions that say ``Defines:`` of a clause; one, where all is well."""
        return tuple(one for one in self.definitions if clause in one.cites.defines)

    def tests(self, clause: str) -> tuple[Marker, ...]:
        """The tests that run and cite a clause."""
        return tuple(one for one in self.markers if one.counts and clause in one.ids)

    def vectors(self, clause: str) -> tuple[VectorFile, ...]:
        """The vector files that cite a clause, with their numbers of cases."""
        return citing(list(self.cases), clause)


def scan(root: Path | None = None) -> Scan:
    """Read the tree below ``root``, or the one around the running package."""
    places = locate(root)
    return Scan(
        places=places,
        clauses=chapters.load(places.spec),
        planned=chapters.planned(places.spec),
        undefined=room.undefined(places.spec),
        definitions=tuple(functions.scan(places)),
        markers=tuple(markers.scan(places)),
        cases=tuple(vectors.scan(places)),
    )
