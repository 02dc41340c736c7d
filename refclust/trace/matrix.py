"""The matrix clause × definition × code × golden × property × contract × bites (tracing).

A normative clause needs a definition, golden cases and a property test; an identity needs a
property test; an informative clause needs nothing. A clause that a kernel realises needs its
contract.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from refclust.trace.clauses import Clause, ClauseKind
from refclust.trace.code.index import Index
from refclust.trace.locks import equivalent, mutants
from refclust.trace.locks.table import Record, Table
from refclust.trace.scan import Scan, scan

Contract = Literal["yes", "no", "-"]
_NEEDS: dict[ClauseKind, tuple[str, ...]] = {
    "normative": ("definition", "code", "golden", "property"),
    "identity": ("property",),
    "informative": (),
}
_HEADER = (
    *("ID", "clause", "kind", "defined", "code"),
    *("golden", "property", "tests", "contract", "bites", "state"),
)
_RIGHT = frozenset(["golden", "property", "tests", "bites"])


@dataclass(frozen=True, slots=True)
class Row:
    """One clause and its evidence.

    ``golden`` counts vector cases, ``properties`` and ``tests`` count marked tests: property
    tests and all others. Both are None where the tests are not at hand. ``contract`` is "-"
    where no kernel realises the clause, "no" where one of its kernels has no contract.
    ``defined`` names the definition, "later" where it is still to come, "-" where there is none.
    ``bites`` is the share of changes of the definition that the evidence noticed when it was last
    tried, "stale" where that was with other code or other evidence, "-" where it never was.
    """

    id: str
    title: str
    kind: ClauseKind
    chapter: str
    code: tuple[str, ...]
    golden: int
    properties: int | None
    tests: int | None
    contract: Contract
    missing: tuple[str, ...]
    defined: str = "-"
    bites: str = "-"

    @property
    def state(self) -> str:
        """``ok``, or ``HOLE`` with what is missing."""
        return "HOLE " + ", ".join(self.missing) if self.missing else "ok"

    def plain(self) -> dict[str, object]:
        """The row as JSON can hold it."""
        return {
            "id": self.id,
            "title": self.title,
            "kind": self.kind,
            "chapter": self.chapter,
            "defined": self.defined,
            "code": list(self.code),
            "golden": self.golden,
            "property": self.properties,
            "tests": self.tests,
            "contract": self.contract,
            "bites": self.bites,
            "missing": list(self.missing),
            "state": self.state,
        }


@dataclass(frozen=True, slots=True)
class Matrix:
    """All rows in the order of the chapters, and the planned IDs; ``complete`` with tests."""

    clauses: tuple[Row, ...]
    planned: tuple[str, ...]
    complete: bool

    def rows(self) -> tuple[Row, ...]:
        """One row per clause, in the order of the chapters."""
        return self.clauses

    def holes(self) -> tuple[Row, ...]:
        """The rows whose evidence is incomplete."""
        return tuple(row for row in self.clauses if row.missing)

    def plain(self) -> dict[str, object]:
        """The matrix as JSON can hold it."""
        return {
            "clauses": [row.plain() for row in self.clauses],
            "planned": list(self.planned),
            "complete": self.complete,
            "holes": len(self.holes()),
        }

    def text(self) -> str:
        """The matrix as a table, with one line below it that counts."""
        table = [_HEADER, *(_cells(row) for row in self.clauses)]
        widths = [max(len(line[column]) for line in table) for column in range(len(_HEADER))]
        lines = [
            "  ".join(
                cell.rjust(width) if name in _RIGHT else cell.ljust(width)
                for cell, width, name in zip(line, widths, _HEADER, strict=True)
            ).rstrip()
            for line in table
        ]
        count = (
            f"{len(self.clauses)} clauses, {len(self.holes())} with holes, "
            f"{len(self.planned)} IDs planned or left out"
        )
        if not self.complete:
            count += "; tests are not part of an installed package and were not counted"
        return "\n".join([*lines, "", count])


def build(root: Path | None = None) -> Matrix:
    """Build the matrix of the tree below ``root``, or of the running package."""
    index = Index(root, "matrix")
    kept = index.get("MATRIX")
    if kept is not None:
        return _matrix_of(kept)
    built = of(scan(root))
    index.put({"MATRIX": built.plain()})
    return built


def _matrix_of(content: dict[str, Any]) -> Matrix:
    """A matrix from its plain form."""
    rows = []
    for row in content["clauses"]:
        fields = {name: value for name, value in row.items() if name != "state"}
        fields["properties"] = fields.pop("property")
        lists = {name: tuple(fields[name]) for name in ("code", "missing")}
        rows.append(Row(**{**fields, **lists}))
    return Matrix(tuple(rows), tuple(content["planned"]), content["complete"])


def of(tree: Scan) -> Matrix:
    """Build the matrix of a tree that was already read."""
    tried = mutants.read(tree.places.spec)
    return Matrix(
        clauses=tuple(_row(tree, clause, tried) for clause in tree.clauses.values()),
        planned=tuple(tree.planned),
        complete=tree.places.tests is not None,
    )


def _row(tree: Scan, clause: Clause, tried: Table) -> Row:
    code = tree.code(clause.id)
    golden = sum(file.cases for file in tree.vectors(clause.id))
    tests = tree.tests(clause.id)
    counted = tree.places.tests is not None
    kernels = [definition for definition in code if definition.kernel is not None]
    contract: Contract = "-"
    if kernels:
        contract = "yes" if all(kernel.contract for kernel in kernels) else "no"
    properties = sum(test.is_property for test in tests)
    defined = "later" if clause.id in tree.undefined else "-"
    defined = next((definition.name for definition in tree.definitions_of(clause.id)), defined)
    present = {
        "definition": defined != "-",
        "code": bool(code),
        "golden": golden > 0,
        "property": properties > 0 or not counted,
    }
    missing = [need for need in _NEEDS[clause.kind] if not present[need]]
    return Row(
        id=clause.id,
        title=clause.title,
        kind=clause.kind,
        chapter=clause.chapter,
        code=tuple(definition.name for definition in code),
        golden=golden,
        properties=properties if counted else None,
        tests=len(tests) - properties if counted else None,
        contract=contract,
        missing=tuple([*missing, "contract"] if contract == "no" else missing),
        defined=defined,
        bites=_bites(tree, tried.get(clause.id)),
    )


def _bites(tree: Scan, trial: Record | None) -> str:
    if trial is None:
        return "-"
    # Without the tests the key cannot be made: what was shipped was checked before.
    same = tree.places.tests is None or trial["key"] == mutants.key(tree, trial["id"])
    listed = equivalent.number_of(equivalent.read(tree.places.spec), trial)
    return mutants.share(trial, listed) if same else "stale"


def _cells(row: Row) -> tuple[str, ...]:
    others = [name.removeprefix("refclust.") for name in row.code if name != row.defined]
    code = others[0] if others else "-"
    if len(others) > 1:
        code += f" +{len(others) - 1}"
    unknown = "?"
    return (
        row.id,
        row.title,
        row.kind,
        row.defined.removeprefix("refclust."),
        code,
        str(row.golden),
        unknown if row.properties is None else str(row.properties),
        unknown if row.tests is None else str(row.tests),
        row.contract,
        row.bites,
        row.state,
    )
