"""What each function, class, method and constant names, read from syntax trees (tracing).

Names are resolved through imports, attributes of imported modules, and ``self.x`` of a class and
its bases. A class that is named counts as a whole, with all of its methods; a value whose class is
told by no annotation is not followed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from refclust.trace.code import source
from refclust.trace.code.modules import Module, constants, walk
from refclust.trace.code.names import Chain, imported, named

Key = tuple[str, str]  # a module, and a qualified name in it


@dataclass(frozen=True, slots=True)
class Unit:
    """A function, class, method or constant: its text without comments, and what it names."""

    name: str
    file: str
    line: int
    bare: str
    calls: tuple[str, ...]


class Graph:
    """The units of some modules; ``within`` says which modules a module's units are followed to."""

    def __init__(self, modules: Iterable[Module], within: Callable[[Module, Module], bool]) -> None:
        self._modules = {module.name: module for module in modules}
        self._within = within
        self._nodes: dict[str, dict[str, list[ast.stmt]]] = {}
        self._imports: dict[str, dict[str, list[tuple[str, str]]]] = {}
        self._units: dict[Key, Unit] = {}

    def reached(self, roots: Iterable[Key]) -> dict[str, Unit]:
        """The units of the roots and all that they name, directly or not, by their names."""
        return {unit.name: unit for unit in self.followed(roots)}

    def followed(self, roots: Iterable[Key]) -> Iterator[Unit]:
        """The same one after another, for those who need not see all."""
        reached: set[str] = set()
        waiting = list(roots)
        while waiting:
            unit = self.unit(waiting.pop())
            if unit.name not in reached:
                reached.add(unit.name)
                yield unit
                waiting += [_key(called) for called in unit.calls if called not in reached]

    def unit(self, key: Key) -> Unit:
        """One unit; a name that is bound twice (under an ``if``) has both texts."""
        if key not in self._units:
            module = self._modules[key[0]]
            nodes = self.nodes(key)
            self._units[key] = Unit(
                name=_told(key),
                file=module.file,
                line=nodes[0].lineno,
                bare="\n".join(source.bare_text(module.text, node) for node in nodes),
                calls=tuple(sorted({_told(target) for target in self._named(module, key, nodes)})),
            )
        return self._units[key]

    def nodes(self, key: Key) -> list[ast.stmt]:
        """The statements that bind a name."""
        return self._bound(key[0])[key[1]]

    def _bound(self, module: str) -> dict[str, list[ast.stmt]]:
        if module not in self._nodes:
            tree = self._modules[module].tree
            nodes: dict[str, list[ast.stmt]] = {}
            for node, name in [*walk(tree), *constants(tree.body)]:
                nodes.setdefault(name, []).append(node)
            self._nodes[module] = nodes
        return self._nodes[module]

    def _named(self, module: Module, key: Key, nodes: list[ast.stmt]) -> Iterator[Key]:
        owner = key[1].partition(".<locals>")[0].rpartition(".")[0]
        for node in nodes:
            for chain in named(node):
                if chain[0] in ("self", "cls") and owner and len(chain) > 1:
                    target = self._member((module.name, owner), chain[1])
                else:
                    target = self._resolved(module.name, chain)
                if target is None or target == key:
                    continue
                if self._within(module, self._modules[target[0]]):
                    yield target

    def _member(self, owner: Key, name: str) -> Key | None:
        """A method or constant of a class, or of its bases."""
        member = (owner[0], f"{owner[1]}.{name}")
        if member[1] in self._bound(owner[0]):
            return member
        for node in self._bound(owner[0]).get(owner[1], ()):
            for base in node.bases if isinstance(node, ast.ClassDef) else ():
                for chain in named(base):
                    target = self._resolved(owner[0], chain)
                    if target is not None and target != owner:
                        inherited = self._member(target, name)
                        if inherited is not None:
                            return inherited
        return None

    def _resolved(
        self, module: str, chain: Chain, seen: frozenset[Key] = frozenset()
    ) -> Key | None:
        """What a dotted name in a module stands for, if that is one of the units."""
        name, *rest = chain
        if name in self._bound(module):
            return module, name
        if (module, name) in seen:
            return None  # modules that import the name from each other
        seen |= {(module, name)}
        for target, attribute in self._names(module).get(name, ()):
            key = self._in_module(target, [*filter(None, [attribute]), *rest], seen)
            if key is not None:
                return key
        return None

    def _in_module(self, module: str, chain: list[str], seen: frozenset[Key]) -> Key | None:
        for inside in range(len(chain) - 1, -1, -1):
            deepest = ".".join([module, *chain[:inside]])
            if deepest in self._modules:
                return self._resolved(deepest, tuple(chain[inside:]), seen)
        return None

    def _names(self, module: str) -> dict[str, list[tuple[str, str]]]:
        if module not in self._imports:
            parsed = self._modules[module]
            self._imports[module] = imported(parsed.tree, parsed.name, parsed.is_package)
        return self._imports[module]


def _told(key: Key) -> str:
    return f"{key[0]}:{key[1]}"


def _key(name: str) -> Key:
    module, _, qualname = name.partition(":")
    return module, qualname
