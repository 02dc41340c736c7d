"""The modules of a package or of the tests, parsed once; nothing is imported (tracing)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from refclust.errors import BadSpec
from refclust.trace.code import source
from refclust.trace.places import PACKAGE, Places


@dataclass(frozen=True, slots=True)
class Module:
    """One file: ``inside`` are the parts of its path below its folder, without the suffix."""

    name: str
    file: str
    inside: tuple[str, ...]
    text: str
    tree: ast.Module

    @property
    def folder(self) -> str:
        """The folder or file right below the package that it belongs to."""
        return self.inside[0]

    @property
    def is_package(self) -> bool:
        """Whether it is the ``__init__`` of a folder."""
        return self.inside[-1] == "__init__"


def package(places: Places) -> list[Module]:
    """All modules of the package."""
    # refclust/_spec is the shipped specification: its generators are no part of the package.
    return [
        _module(places, path, places.package, PACKAGE)
        for path in sorted(places.package.rglob("*.py"))
        if "_spec" not in path.relative_to(places.package).parts
    ]


def tests(places: Places) -> list[Module]:
    """All modules below ``tests/``; none outside a checkout."""
    if places.tests is None:
        return []
    return [
        _module(places, path, places.tests, "tests") for path in sorted(places.tests.rglob("*.py"))
    ]


def parse(text: str, name: str) -> ast.Module:
    """Parse one file; raises ``bad-spec`` where it is not Python."""
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise BadSpec(f"{name}:{error.lineno}: not Python: {error.msg}") from error


def walk(node: ast.AST, prefix: str = "") -> Iterator[tuple[source.Definable, str]]:
    """All functions and classes below a node, with their qualified names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, source.Definable):
            yield child, prefix + child.name
            inner = "." if isinstance(child, ast.ClassDef) else ".<locals>."
            yield from walk(child, prefix + child.name + inner)
        elif not isinstance(child, ast.expr):
            yield from walk(child, prefix)


def constants(body: Iterable[ast.stmt], prefix: str = "") -> Iterator[tuple[ast.stmt, str]]:
    """The statements of a module or of its classes that bind names, with each name."""
    for statement in body:
        match statement:
            case ast.Assign(targets=targets):
                yield from (
                    (statement, prefix + name)
                    for expression in targets
                    for name in bound(expression)
                )
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                yield from ((statement, prefix + name) for name in bound(target))
            case ast.ClassDef(name=name, body=inner):
                yield from constants(inner, f"{prefix}{name}.")
            case ast.If() | ast.Try() | ast.With() | ast.For() | ast.While():
                yield from constants(_inner(statement), prefix)


def bound(target: ast.AST) -> Iterator[str]:
    """The names that a target of an assignment binds."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _inner(statement: ast.stmt) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler):
            yield from child.body


def _module(places: Places, path: Path, folder: Path, top: str) -> Module:
    inside = path.relative_to(folder).with_suffix("").parts
    name = ".".join([top, *(part for part in inside if part != "__init__")])
    text = path.read_text(encoding="utf-8")
    return Module(name, places.name(path), inside, text, parse(text, places.name(path)))
