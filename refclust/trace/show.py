"""One clause with its formula, its code and its evidence, as ``refclust spec ID`` shows it.

Works in an installed package too: there the tests are missing, and the locks say whether the
installed code is the code that was checked.
"""

from __future__ import annotations

import difflib
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from refclust.errors import UnknownClause
from refclust.trace.clauses import Clause
from refclust.trace.code.index import Index
from refclust.trace.locks import code as lock_code
from refclust.trace.locks import lock
from refclust.trace.scan import Scan, scan
from refclust.trace.vectors import VectorFile

Locked = Literal["as locked", "changed since the lock", "not locked"]


@dataclass(frozen=True, slots=True)
class Code:
    """One function or class that realises the clause, with its source text.

    ``defines`` is true of the one that is the formula of the clause.
    """

    name: str
    file: str
    line: int
    source: str
    kernel: str | None
    contract: bool
    locked: Locked
    defines: bool = False


@dataclass(frozen=True, slots=True)
class CitingTest:
    """One test that cites the clause."""

    name: str
    is_property: bool


@dataclass(frozen=True, slots=True)
class ClausePage:
    """A clause and all that is known of it; ``tests`` is None outside a checkout."""

    clause: Clause
    locked: Locked
    code: tuple[Code, ...]
    vectors: tuple[VectorFile, ...]
    tests: tuple[CitingTest, ...] | None

    def plain(self) -> dict[str, object]:
        """The page as JSON can hold it."""
        return {
            "id": self.clause.id,
            "title": self.clause.title,
            "kind": self.clause.kind,
            "chapter": self.clause.chapter,
            "line": self.clause.line,
            "text": self.clause.text,
            "formulas": list(self.clause.formulas),
            "locked": self.locked,
            "code": [
                {
                    "name": one.name,
                    "file": one.file,
                    "line": one.line,
                    "source": one.source,
                    "kernel": one.kernel,
                    "contract": one.contract,
                    "locked": one.locked,
                    "defines": one.defines,
                }
                for one in self.code
            ],
            "vectors": [{"file": one.file, "cases": one.cases} for one in self.vectors],
            "tests": None
            if self.tests is None
            else [{"name": one.name, "property": one.is_property} for one in self.tests],
        }

    def text(self) -> str:
        """The page as plain text."""
        clause = self.clause
        parts = [
            f"{clause.id}  {clause.title}",
            f"{clause.kind} clause of chapter {clause.chapter}, {self.locked}",
            "",
            clause.text,
        ]
        # Where a formula stands in its room, that is what a reader wants to see, and all of it.
        whole = [one for one in self.code if one.defines] or list(self.code)
        for one in whole:
            title = "Definition" if one.defines else "Code"
            parts += ["", f"{title}  {_code_line(one)}", "", textwrap.indent(one.source, "    ")]
        if not self.code:
            parts += ["", "Code  none"]
        parts += ["", *_list("Golden vectors", [_vector_line(one) for one in self.vectors])]
        if self.tests is None:
            parts += ["", "Tests  not part of an installed package"]
        else:
            tests = [f"{one.name}{' (property)' if one.is_property else ''}" for one in self.tests]
            parts += ["", *_list("Tests", tests)]
        others = [_code_line(one) for one in self.code if one not in whole]
        if others:
            parts += ["", *_list("Also realised by", others)]
        return "\n".join(parts)


def clause(name: str, root: Path | None = None) -> ClausePage:
    """Gather the page of one clause; upper and lower case are the same.

    Raises ``unknown-clause``, with the nearest IDs, where there is none.
    """
    wanted = name.strip().upper()
    index = Index(root)
    kept = index.get(wanted)
    if kept is not None:
        return _page_of(kept)
    found = scan(root)
    if wanted not in found.clauses:
        raise UnknownClause(_unknown(found, name, wanted))
    locked = lock.read(found.places.spec)
    drifted = lock_code.drifted(found, locked)
    pages = {one: _page(found, one, locked, drifted) for one in found.clauses}
    index.put({one: page.plain() for one, page in pages.items()})
    return pages[wanted]


def _page(found: Scan, wanted: str, locked: lock.Locks, drifted: frozenset[str]) -> ClausePage:
    chosen = found.clauses[wanted]
    entry = locked.get(chosen.chapter, {}).get(wanted)
    pinned = () if entry is None else entry["code"]
    counted = found.places.tests is not None
    return ClausePage(
        clause=chosen,
        locked=_locked(None if entry is None else entry["clause"] == lock.clause_hash(chosen)),
        code=tuple(
            Code(
                name=one.name,
                file=one.file,
                line=one.line,
                source=textwrap.dedent(one.text),
                kernel=one.kernel,
                contract=one.contract,
                locked=_locked(one.name not in drifted if one.name in pinned else None),
                defines=wanted in one.cites.defines,
            )
            for one in found.code(wanted)
        ),
        vectors=found.vectors(wanted),
        tests=tuple(CitingTest(one.test, one.is_property) for one in found.tests(wanted))
        if counted
        else None,
    )


def _page_of(plain: dict[str, Any]) -> ClausePage:
    """A page from its plain form."""
    fields = {name: plain[name] for name in ("id", "title", "kind", "chapter", "line", "text")}
    tests = plain["tests"]
    return ClausePage(
        clause=Clause(**fields, formulas=tuple(plain["formulas"])),
        locked=plain["locked"],
        code=tuple(Code(**one) for one in plain["code"]),
        vectors=tuple(VectorFile(**one) for one in plain["vectors"]),
        tests=None
        if tests is None
        else tuple(CitingTest(one["name"], one["property"]) for one in tests),
    )


def _unknown(found: Scan, name: str, wanted: str) -> str:
    if wanted in found.planned:
        row = found.planned[wanted]
        return f"{wanted} has no clause ({row.status}): {row.what}"
    near = difflib.get_close_matches(wanted, [*found.clauses, *found.planned], n=3, cutoff=0.5)
    advice = f"; did you mean {' or '.join(near)}?" if near else "; `refclust trace` lists them all"
    return f"no clause {name!r}{advice}"


def _locked(same: bool | None) -> Locked:
    if same is None:
        return "not locked"
    return "as locked" if same else "changed since the lock"


def _code_line(one: Code) -> str:
    kernel = "" if one.kernel is None else f", kernel {one.kernel}"
    return f"{one.file}:{one.line}  {one.name}{kernel} ({one.locked})"


def _vector_line(one: VectorFile) -> str:
    return f"{one.file}: {one.cases} case{'' if one.cases == 1 else 's'}"


def _list(title: str, items: list[str]) -> list[str]:
    return [title, *(f"    {item}" for item in items)] if items else [f"{title}  none"]
