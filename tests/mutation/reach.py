"""Which kernels can see a definition of a backend's package.

The functions of the package that run in Python while a kernel is tried are watched; what these
name, directly or not, is read from the sources, since compiled code cannot be watched.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from refclust.backends import builtin  # noqa: F401  (registers all kernels)
from refclust.kernels.registry import KERNELS
from tests.mutation.changes import computing

Definition: TypeAlias = tuple[str, str]  # a module of the package, a name at its top


class Package:
    """The sources of a package: what each definition names."""

    def __init__(self, folder: Path) -> None:
        self.name, self.folder = folder.name, folder
        self.sources = {
            ".".join(path.relative_to(folder).with_suffix("").parts): path
            for path in sorted(folder.rglob("*.py"))
        }
        self.names: dict[Definition, set[Definition]] = {}
        self.trees = {
            module: ast.parse(path.read_text(encoding="utf-8"))
            for module, path in self.sources.items()
        }
        for module, tree in self.trees.items():
            self._read(module, tree)

    def _read(self, module: str, tree: ast.Module) -> None:
        known = self.imported(tree)
        own = {name for statement in tree.body for name in _defined(statement)}
        for statement in tree.body:
            used: set[Definition] = set()
            for node in computing(statement):
                if isinstance(node, ast.Name):
                    if node.id in own:
                        used.add((module, node.id))
                    used |= {one for one in known.get(node.id, ()) if one[1]}
                elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    of = known.get(node.value.id, ())
                    used |= {(name, node.attr) for name, what in of if not what}
            if _is_table(statement):
                used = set()
            for name in _defined(statement):
                self.names.setdefault((module, name), set()).update(used)

    def imported(self, tree: ast.Module) -> dict[str, list[Definition]]:
        """For each name what it may be: (module, name), or (module, "") for a module."""
        found: dict[str, list[Definition]] = {}
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            package, _, module = node.module.partition(".")
            if package != self.name:
                continue
            for alias in node.names:
                inner = ".".join(filter(None, (module, alias.name)))
                one = (inner, "") if inner in self.sources else (module or "__init__", alias.name)
                found.setdefault(alias.asname or alias.name, []).append(one)
        return found

    def table(self) -> dict[str, Definition]:
        """Which function is which kernel, as the package's own table says."""
        found: dict[str, Definition] = {}
        for tree in self.trees.values():
            known = self.imported(tree)
            for statement in filter(_is_table, tree.body):
                for node in ast.walk(statement):
                    if isinstance(node, ast.Dict):
                        found |= _entries(node, known)
        return found

    def at(self, module: str, lines: Iterable[int]) -> set[Definition]:
        """The definitions at some lines."""
        wanted = set(lines)
        return {
            (module, name)
            for top in self.trees[module].body
            if wanted.intersection(range(top.lineno, (top.end_lineno or 0) + 1))
            for name in _defined(top)
        }

    def closure(self, roots: Iterable[Definition]) -> set[Definition]:
        """All that some definitions name, directly or not."""
        found: set[Definition] = set()
        waiting = list(roots)
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += self.names.get(one, ())
        return found


def _is_table(statement: ast.stmt) -> bool:
    """Whether it says which function is which kernel: who looks one up does not call all."""
    keys = [
        key.value
        for node in ast.walk(statement)
        if isinstance(node, ast.Dict) and isinstance(statement, ast.Assign | ast.AnnAssign)
        for key in node.keys
        if isinstance(key, ast.Constant)
    ]
    return sum(key in KERNELS for key in keys) > 1


def _entries(node: ast.Dict, known: Mapping[str, list[Definition]]) -> dict[str, Definition]:
    return {
        key.value: (module, value.attr)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value in KERNELS
        if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name)
        for module, _ in known.get(value.value.id, ())
    }


def _defined(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return []


def seen_by(
    package: Package, roots: Mapping[str, Iterable[Definition]]
) -> dict[Definition, frozenset[str]]:
    """For each definition the kernels that reach it, given what runs for each kernel."""
    found: dict[Definition, set[str]] = {}
    for kernel, begun in roots.items():
        for one in package.closure(begun):
            found.setdefault(one, set()).add(kernel)
    return {one: frozenset(kernels) for one, kernels in found.items()}
