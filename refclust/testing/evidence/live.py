"""Definitions that run: changed in their place, and watched whether something reaches them.

The code of the function itself is exchanged, so that whoever has imported it runs the change.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final

from refclust.errors import BadSpec

_WATCH: Final = "__refclust_reached_"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a definition stands: a module of Python and a qualified name in it."""

    module: str
    qualname: str

    def source(self) -> str:
        """The text of its module."""
        return Path(str(importlib.import_module(self.module).__file__)).read_text(encoding="utf-8")

    def lines(self) -> frozenset[int]:
        """The lines of the bodies of its functions; arguments and decorators are left alone."""
        found = list(self._bodies(ast.parse(self.source())))
        if not found:
            raise BadSpec(f"{self.module}:{self.qualname} is no function or class to change")
        return frozenset(
            line
            for body in found
            for line in range(body[0].lineno, (body[-1].end_lineno or body[-1].lineno) + 1)
        )

    def put(self, text: str) -> None:
        """Let a changed text of the module be what the definition runs from now on."""
        self._put(compile(text, "<change>", "exec", dont_inherit=True))

    def watch(self, reached: Callable[[], object]) -> None:
        """Have something called whenever the definition runs."""
        tree = ast.parse(self.source())
        # A name for each definition: several of a module may be watched at once.
        name = f"{_WATCH}{self.qualname.replace('.', '_')}"
        for body in self._bodies(tree):
            call = ast.parse(f"{name}()").body[0]
            at = 1 if len(body) > 1 and isinstance(body[0], ast.Expr) else 0
            body.insert(at, call)
        ast.fix_missing_locations(tree)
        vars(importlib.import_module(self.module))[name] = reached
        self._put(compile(tree, "<watch>", "exec", dont_inherit=True))

    def object(self) -> Any:
        """The function or class itself."""
        found: Any = importlib.import_module(self.module)
        for name in self.qualname.split("."):
            found = inspect.getattr_static(found, name)
        return found

    def _put(self, code: CodeType) -> None:
        new = {one.co_qualname: one for one in _codes(code)}
        for function in _functions(self.object()):
            function.__code__ = new.get(function.__code__.co_qualname, function.__code__)

    def _bodies(self, tree: ast.Module) -> Iterator[list[ast.stmt]]:
        inside: list[ast.stmt] = list(tree.body)
        node: ast.stmt | None = None
        for name in self.qualname.split("."):
            node = next((one for one in inside if getattr(one, "name", "") == name), None)
            inside = list(getattr(node, "body", []))
        functions = inside if isinstance(node, ast.ClassDef) else [node]
        for one in functions:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                yield one.body


def _functions(found: Any) -> Iterator[FunctionType]:
    """The functions behind an object: itself, what it wraps, the methods of a class."""
    if inspect.isclass(found):
        for member in vars(found).values():
            if not inspect.isclass(member):
                yield from _functions(member)
        return
    if hasattr(found, "cache_clear"):
        found.cache_clear()
    match found:
        case property():
            for one in filter(None, (found.fget, found.fset)):
                yield from _functions(one)
        case cached_property():
            yield from _functions(found.func)
        case staticmethod() | classmethod():
            yield from _functions(found.__func__)
        case _ if hasattr(found, "__wrapped__"):
            yield from _functions(found.__wrapped__)
        case FunctionType() if "<" not in found.__code__.co_filename:
            yield found


def _codes(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes(one)
