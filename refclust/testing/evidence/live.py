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

# With two underscores in front a class would take it for a private name of its own.
_WATCH: Final = "_refclust_reached_"


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
        bodies = list(self._bodies(ast.parse(self.source())))
        if not bodies:
            raise BadSpec(f"{self.module}:{self.qualname} is no function or class to change")
        return frozenset(
            line
            for body in bodies
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
        member: Any = importlib.import_module(self.module)
        for name in self.qualname.split("."):
            member = inspect.getattr_static(member, name)
        return member

    def _put(self, code: CodeType) -> None:
        new = {body.co_qualname: body for body in _codes(code)}
        for function in _functions(self.object()):
            function.__code__ = new.get(function.__code__.co_qualname, function.__code__)

    def _bodies(self, tree: ast.Module) -> Iterator[list[ast.stmt]]:
        inside: list[ast.stmt] = list(tree.body)
        node: ast.stmt | None = None
        for name in self.qualname.split("."):
            node = next(
                (statement for statement in inside if getattr(statement, "name", "") == name), None
            )
            inside = list(getattr(node, "body", []))
        functions = inside if isinstance(node, ast.ClassDef) else [node]
        for statement in functions:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                yield statement.body


def _functions(owner: Any) -> Iterator[FunctionType]:
    """The functions behind an object: itself, what it wraps, the methods of a class."""
    if inspect.isclass(owner):
        for member in vars(owner).values():
            if not inspect.isclass(member):
                yield from _functions(member)
        return
    if hasattr(owner, "cache_clear"):
        owner.cache_clear()
    match owner:
        case property():
            for accessor in filter(None, (owner.fget, owner.fset)):
                yield from _functions(accessor)
        case cached_property():
            yield from _functions(owner.func)
        case staticmethod() | classmethod():
            yield from _functions(owner.__func__)
        case _ if hasattr(owner, "__wrapped__"):
            yield from _functions(owner.__wrapped__)
        case FunctionType() if "<" not in owner.__code__.co_filename:
            yield owner


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
