"""Finds what the package defines and what it cites, by reading and never by importing.

A definition is a function, a method or a class. Module docstrings cite chapters in prose and
do not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from refclust.errors import BadSpec
from refclust.trace import citations, numeric, source
from refclust.trace.places import PACKAGE, Places

# The folders whose public functions are formulas.
NUMERIC_FOLDERS = frozenset(
    ["numbers", "formulas", "data", "kernels", "metrics", "cluster", "mixture", "classify"]
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, method or class that cites something, or that owes a citation.

    ``bare`` is its source text without docstrings; ``kernel`` its kernel name, if it is one;
    ``owes`` is true for kernels and for public numeric functions.
    """

    module: str
    qualname: str
    file: str
    line: int
    cites: citations.Citations
    kernel: str | None
    contract: bool
    owes: bool
    text: str
    bare: str

    @property
    def name(self) -> str:
        """The name by which locks know the definition."""
        return f"{self.module}:{self.qualname}"


def scan(places: Places) -> list[Definition]:
    """Find all definitions of the package that cite a clause or owe a citation."""
    parsed = [(path, *_read(path, places)) for path in _files(places.package)]
    numbers = numeric.numeric_names(tree for _, _, tree in parsed)
    return [
        definition
        for path, text, tree in parsed
        for definition in _definitions(places, path, text, tree, numbers)
    ]


def _files(package: Path) -> Iterator[Path]:
    # refclust/_spec is the shipped specification: its generators are no part of the package.
    for path in sorted(package.rglob("*.py")):
        if "_spec" not in path.relative_to(package).parts:
            yield path


def _read(path: Path, places: Places) -> tuple[str, ast.Module]:
    text = path.read_text(encoding="utf-8")
    return text, parse(text, places.name(path))


def parse(text: str, name: str) -> ast.Module:
    """Parse one file; raises ``bad-spec`` where it is not Python."""
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise BadSpec(f"{name}:{error.lineno}: not Python: {error.msg}") from error


def _definitions(
    places: Places, path: Path, text: str, tree: ast.Module, numbers: frozenset[str]
) -> Iterator[Definition]:
    inside = path.relative_to(places.package).with_suffix("").parts
    module = ".".join([PACKAGE, *(part for part in inside if part != "__init__")])
    public_module = inside[0] in NUMERIC_FOLDERS and not any(
        part.startswith("_") for part in inside if part != "__init__"
    )
    for node, qualname in _walk(tree):
        cites = citations.read(ast.get_docstring(node) or "")
        kernel, contract = _kernel(node)
        public_number = (
            public_module
            and not isinstance(node, ast.ClassDef)
            and not qualname.startswith("_")
            and "." not in qualname
            and not any(_called(one) == "overload" for one in node.decorator_list)
            and numeric.mentions(node.returns, numbers)
        )
        owes = public_number or kernel is not None
        if not owes and cites == citations.Citations():
            continue
        yield Definition(
            module=module,
            qualname=qualname,
            file=places.name(path),
            line=node.lineno,
            cites=cites,
            kernel=kernel,
            contract=contract,
            owes=owes,
            text=source.text(text, node),
            bare=source.bare_text(text, node),
        )


def _walk(node: ast.AST, prefix: str = "") -> Iterator[tuple[source.Definable, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, source.Definable):
            yield child, prefix + child.name
            inner = "." if isinstance(child, ast.ClassDef) else ".<locals>."
            yield from _walk(child, prefix + child.name + inner)
        elif not isinstance(child, ast.expr):
            yield from _walk(child, prefix)


def _kernel(node: source.Definable) -> tuple[str | None, bool]:
    """Read ``@kernel("name", contract=…)``: the name, and whether a contract is given."""
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(args=[ast.Constant(value=str(name)), *_], keywords=keywords):
                if _called(decorator) == "kernel":
                    given = [one.value for one in keywords if one.arg == "contract"]
                    empty = [isinstance(one, ast.Constant) and one.value is None for one in given]
                    return name, bool(given) and not any(empty)
    return None, False


def _called(decorator: ast.expr) -> str:
    match decorator:
        case ast.Call(func=func):
            return _called(func)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
