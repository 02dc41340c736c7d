"""A small mutation tester: ``python -m tests.mutation refclust/numbers/decide.py tests/numbers``.

Each mutant of the first file (a comparison, an operator, a constant, a condition or a statement
changed) is loaded in place of the module, in a process of its own, and the given tests run until
one fails. Survivors are printed: a missing test, or a change that changes nothing.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import hypothesis
import pytest

SECONDS = 60
_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def mutants(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the change and the text of every mutant of a module."""
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if id(node) in docstrings:
            continue
        for change in _changes(node):
            yield getattr(node, "lineno", 0), change, ast.unparse(tree)


def _changes(node: ast.AST) -> Iterator[str]:
    """Change a node in one way after another, undoing each change before the next."""
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in _SWAPS:
        yield from _swapped(node, "op", _SWAPS[type(node.op)]())
    elif isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            if type(operator) in _SWAPS:
                ops = list(node.ops)
                ops[place] = _SWAPS[type(operator)]()  # type: ignore[call-overload]
                yield from _swapped(node, "ops", ops)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
        yield from _swapped(node, "value", not node.value if node.value in (0, 1) else 0)
        if type(node.value) is int:
            yield from _swapped(node, "value", node.value + 1)
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        yield from _swapped(node, "test", ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Return) and node.value is not None:
        yield from _swapped(node, "value", ast.Constant(None))
    elif isinstance(node, ast.FunctionDef):
        for place, statement in enumerate(node.body):
            if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr) and (
                place > 0 or not ast.get_docstring(node)
            ):
                body = [*node.body[:place], ast.Pass(), *node.body[place + 1 :]]
                yield from _swapped(node, "body", body)


def _swapped(node: ast.AST, field: str, value: object) -> Iterator[str]:
    before = getattr(node, field)
    setattr(node, field, value)
    ast.fix_missing_locations(node)
    yield f"{type(node).__name__}.{field}: {_told(before)} -> {_told(value)}"
    setattr(node, field, before)


def _told(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_told, value))[:60]
    if isinstance(value, ast.operator | ast.cmpop | ast.boolop):
        return type(value).__name__
    return (ast.unparse(value) if isinstance(value, ast.AST) else repr(value))[:60]


class _Replacement(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads a mutant where its module is imported."""

    def __init__(self, name: str, path: Path, text: str) -> None:
        self.name, self.path, self.text = name, path, text

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.text, str(self.path), "exec"), module.__dict__)


def survives(name: str, path: Path, text: str, tests: list[str]) -> bool:
    """Run the tests on a mutant; one that hangs counts as found out."""
    child = os.fork()
    if child == 0:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        sys.meta_path.insert(0, _Replacement(name, path, text))
        options = ["-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-o", "addopts="]
        options += ["-o", "filterwarnings=default", "--assert=plain"]
        os._exit(int(pytest.main([*options, *tests]) != 0))
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def main(arguments: list[str]) -> int:
    """Mutate one module, print the survivors, return 1 if there are any."""
    path, tests = Path(arguments[0]), arguments[1:]
    name = ".".join(path.with_suffix("").parts)
    assert hypothesis.__version__  # loaded once, here, and inherited by every child
    source = path.read_text(encoding="utf-8")
    if not survives(name, path, source, tests):
        print("the tests fail on the module as it is")
        return 2
    count = alive = 0
    for line, change, text in mutants(source):
        count += 1
        if survives(name, path, text, tests):
            alive += 1
            print(f"{path}:{line}: survived: {change}", flush=True)
    print(f"{count} mutants, {count - alive} killed, {alive} survived")
    return int(alive > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
