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


@dataclass(frozen=True, slots=True, repr=False)
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
                    "name": code.name,
                    "file": code.file,
                    "line": code.line,
                    "source": code.source,
                    "kernel": code.kernel,
                    "contract": code.contract,
                    "locked": code.locked,
                    "defines": code.defines,
                }
                for code in self.code
            ],
            "vectors": [{"file": file.file, "cases": file.cases} for file in self.vectors],
            "tests": None
            if self.tests is None
            else [{"name": test.name, "property": test.is_property} for test in self.tests],
        }

    def __repr__(self) -> str:
        return repr(self.clause)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """The page for a notebook: the clause, its definition, its evidence.

        Spec: OUT-HTML
        """
        from refclust.escape import for_html
        from refclust.shown.page import folded, paragraph

        parts = [self.clause._repr_html_()]
        for code in self.code:
            if code.defines:
                source = "\n".join(map(for_html, code.source.split("\n")))
                listing = (
                    f'<pre style="overflow-x:auto;background:none"><code>{source}</code></pre>'
                )
                parts.append(folded(f"Definition  {code.file}:{code.line}  {code.name}", listing))
        cases = sum(file.cases for file in self.vectors)
        parts.append(paragraph(f"{cases} golden cases; the definition is {self.locked}"))
        return "".join(parts)

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
        whole = [code for code in self.code if code.defines] or list(self.code)
        for code in whole:
            title = "Definition" if code.defines else "Code"
            parts += ["", f"{title}  {_code_line(code)}", "", textwrap.indent(code.source, "    ")]
        if not self.code:
            parts += ["", "Code  none"]
        parts += ["", *_list("Golden vectors", [_vector_line(file) for file in self.vectors])]
        if self.tests is None:
            parts += ["", "Tests  not part of an installed package"]
        else:
            tests = [
                f"{test.name}{' (property)' if test.is_property else ''}" for test in self.tests
            ]
            parts += ["", *_list("Tests", tests)]
        others = [_code_line(code) for code in self.code if code not in whole]
        if others:
            parts += ["", *_list("Also realised by", others)]
        return "\n".join(parts)


def clause(name: str, root: Path | None = None) -> ClausePage:
    """Gather the page of one clause; upper and lower case are the same.

    Raises ``unknown-clause``, with the nearest IDs, where there is none.
    """
    if not isinstance(name, str):
        raise UnknownClause(f"no clause {name!r}; a clause is named by a text such as NMI-GEO")
    wanted = name.strip().upper()
    index = Index(root)
    kept = index.get(wanted)
    if kept is not None:
        return _page_of(kept)
    tree = scan(root)
    if wanted not in tree.clauses:
        raise UnknownClause(_unknown(tree, name, wanted))
    locked = lock.read(tree.places.spec)
    drifted = lock_code.drifted(tree, locked)
    pages = {identifier: _page(tree, identifier, locked, drifted) for identifier in tree.clauses}
    index.put({identifier: page.plain() for identifier, page in pages.items()})
    return pages[wanted]


def _page(tree: Scan, wanted: str, locked: lock.Locks, drifted: frozenset[str]) -> ClausePage:
    chosen = tree.clauses[wanted]
    entry = locked.get(chosen.chapter, {}).get(wanted)
    pinned = () if entry is None else entry["code"]
    counted = tree.places.tests is not None
    return ClausePage(
        clause=chosen,
        locked=_locked(None if entry is None else entry["clause"] == lock.clause_hash(chosen)),
        code=tuple(
            Code(
                name=definition.name,
                file=definition.file,
                line=definition.line,
                source=textwrap.dedent(definition.text),
                kernel=definition.kernel,
                contract=definition.contract,
                locked=_locked(
                    definition.name not in drifted if definition.name in pinned else None
                ),
                defines=wanted in definition.cites.defines,
            )
            for definition in tree.code(wanted)
        ),
        vectors=tree.vectors(wanted),
        tests=tuple(CitingTest(marker.test, marker.is_property) for marker in tree.tests(wanted))
        if counted
        else None,
    )


def _page_of(content: dict[str, Any]) -> ClausePage:
    """A page from its plain form."""
    fields = {name: content[name] for name in ("id", "title", "kind", "chapter", "line", "text")}
    tests = content["tests"]
    return ClausePage(
        clause=Clause(**fields, formulas=tuple(content["formulas"])),
        locked=content["locked"],
        code=tuple(Code(**code) for code in content["code"]),
        vectors=tuple(VectorFile(**file) for file in content["vectors"]),
        tests=None
        if tests is None
        else tuple(CitingTest(test["name"], test["property"]) for test in tests),
    )


def _unknown(tree: Scan, name: str, wanted: str) -> str:
    if wanted in tree.planned:
        row = tree.planned[wanted]
        return f"{wanted} has no clause ({row.status}): {row.what}"
    near = difflib.get_close_matches(wanted, [*tree.clauses, *tree.planned], n=3, cutoff=0.5)
    advice = f"; did you mean {' or '.join(near)}?" if near else "; `refclust trace` lists them all"
    return f"no clause {name!r}{advice}"


def _locked(same: bool | None) -> Locked:
    if same is None:
        return "not locked"
    return "as locked" if same else "changed since the lock"


def _code_line(code: Code) -> str:
    kernel = "" if code.kernel is None else f", kernel {code.kernel}"
    return f"{code.file}:{code.line}  {code.name}{kernel} ({code.locked})"


def _vector_line(file: VectorFile) -> str:
    return f"{file.file}: {file.cases} case{'' if file.cases == 1 else 's'}"


def _list(title: str, items: list[str]) -> list[str]:
    return [title, *(f"    {item}" for item in items)] if items else [f"{title}  none"]
