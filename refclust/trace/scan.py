"""Everything tracing knows about one tree: clauses, code, tests and vectors.

Found by reading text and syntax trees; nothing of the tree is imported or run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from refclust.trace import clauses as chapters
from refclust.trace import markers, room, vectors
from refclust.trace.clauses import Clause, Planned
from refclust.trace.code import functions, modules
from refclust.trace.code.functions import Definition
from refclust.trace.code.graph import Graph, Unit
from refclust.trace.locks import inventory
from refclust.trace.locks.inventory import Known
from refclust.trace.markers import Marker
from refclust.trace.places import Places, locate
from refclust.trace.vectors import CitingCase, Sealed, VectorFile, citing

# What a definition calls is followed inside its own folder, and into these.
_FOLLOWED = frozenset(["formulas", "numbers"])


@dataclass(frozen=True, slots=True)
class Scan:
    """The clauses of a tree and all that cites them.

    ``units`` are all functions, classes and constants that the cited code reaches, by name;
    ``helpers`` the same of the tests that prove something.
    """

    places: Places
    clauses: dict[str, Clause]
    planned: dict[str, Planned]
    undefined: dict[str, int]
    known: dict[str, Known]
    definitions: tuple[Definition, ...]
    units: dict[str, Unit]
    markers: tuple[Marker, ...]
    helpers: dict[str, Unit]
    files: tuple[Sealed, ...]
    cases: tuple[CitingCase, ...]
    _reach: dict[str, frozenset[str]] = field(default_factory=dict)

    def code(self, clause: str) -> tuple[Definition, ...]:
        """The definitions that realise a clause, first the one that defines it."""
        others = (definition for definition in self.definitions if clause in definition.cites.ids)
        return tuple(dict.fromkeys([*self.definitions_of(clause), *others]))

    def definitions_of(self, clause: str) -> tuple[Definition, ...]:
        """The definitions that say ``Defines:`` of a clause; one, where all is well."""
        return tuple(
            definition for definition in self.definitions if clause in definition.cites.defines
        )

    def reach(self, name: str) -> frozenset[str]:
        """The names of all that a definition or a property test reaches, itself included."""
        if name not in self._reach:
            reached: set[str] = set()
            waiting = [name]
            while waiting:
                called = waiting.pop()
                if called not in reached:
                    reached.add(called)
                    waiting += (self.units.get(called) or self.helpers[called]).calls
            self._reach[name] = frozenset(reached)
        return self._reach[name]

    def tests(self, clause: str) -> tuple[Marker, ...]:
        """The tests that run, demand something, and cite a clause."""
        return tuple(
            marker
            for marker in self.markers
            if marker.counts and marker.asserts and clause in marker.ids
        )

    def vectors(self, clause: str) -> tuple[VectorFile, ...]:
        """The vector files that cite a clause, with their numbers of cases."""
        return citing(list(self.cases), clause)


def scan(root: Path | None = None) -> Scan:
    """Read the tree below ``root``, or the one around the running package."""
    places = locate(root)
    package, tests = modules.package(places), modules.tests(places)
    definitions = functions.scan(package)
    code = Graph(package, lambda caller, called: called.folder in _FOLLOWED | {caller.folder})
    proofs = Graph(tests, lambda _, __: True)
    marked = markers.scan(tests, proofs)
    files, cases = vectors.scan(places)
    return Scan(
        places=places,
        clauses=chapters.load(places.spec),
        planned=chapters.planned(places.spec),
        undefined=room.undefined(places.spec),
        known=inventory.read(places.spec),
        definitions=tuple(definitions),
        units=code.reached(
            (definition.module, definition.qualname)
            for definition in definitions
            if definition.cites.ids
        ),
        markers=tuple(marked),
        helpers=proofs.reached(marker.key for marker in marked if marker.is_evidence),
        files=tuple(files),
        cases=tuple(cases),
    )
