"""Finds the tests that cite clauses with ``@pytest.mark.spec("ID", …)`` (tracing, no chapter).

A marker may stand on a function, on a class, in ``pytestmark`` of a class or module, or on one
parameter of a parametrised test. Property tests are those below ``tests/property`` and those
that use ``@given`` of Hypothesis.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from refclust.trace.functions import parse
from refclust.trace.places import Places

_NOT_RUN = frozenset(["skip", "skipif", "xfail"])


@dataclass(frozen=True, slots=True)
class Marker:
    """One marked test; ``counts`` is false where pytest does not run it or lets it fail."""

    test: str
    file: str
    line: int
    ids: tuple[str, ...]
    is_property: bool
    counts: bool
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Marks:
    """What the marks of one place say: cited IDs, unreadable arguments, and whether it runs."""

    ids: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    runs: bool = True

    def __add__(self, other: _Marks) -> _Marks:
        return _Marks(
            tuple(dict.fromkeys(self.ids + other.ids)),
            self.faults + other.faults,
            self.runs and other.runs,
        )


def scan(places: Places) -> list[Marker]:
    """Find all marked tests of a checkout; none outside one."""
    if places.tests is None:
        return []
    return [
        marker
        for path in sorted(places.tests.rglob("*.py"))
        for marker in _file(path, places.tests, places.name(path))
    ]


def _file(path: Path, tests: Path, name: str) -> Iterator[Marker]:
    tree = parse(path.read_text(encoding="utf-8"), name)
    collected = path.name.startswith("test_") or path.stem.endswith("_test")
    below_property = path.relative_to(tests).parts[0] == "property"
    module = _pytestmark(tree.body)
    for marker in _tests(tree.body, module, name):
        yield replace(
            marker,
            is_property=marker.is_property or below_property,
            counts=marker.counts and collected,
        )


def _tests(body: list[ast.stmt], inherited: _Marks, prefix: str) -> Iterator[Marker]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            marks = inherited + _read(node.decorator_list) + _pytestmark(node.body)
            marks = replace(marks, runs=marks.runs and node.name.startswith("Test"))
            yield from _tests(node.body, marks, f"{prefix}::{node.name}")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            marks = inherited + _read(node.decorator_list)
            if marks.ids or marks.faults:
                yield Marker(
                    test=f"{prefix}::{node.name}",
                    file=prefix.split("::")[0],
                    line=node.lineno,
                    ids=marks.ids,
                    is_property=any(_last(one) == "given" for one in node.decorator_list),
                    counts=marks.runs and node.name.startswith("test"),
                    faults=marks.faults,
                )


def _pytestmark(body: list[ast.stmt]) -> _Marks:
    found = _Marks()
    for statement in body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id="pytestmark")], value=value)
                | ast.AnnAssign(target=ast.Name(id="pytestmark"), value=ast.expr() as value)
            ):
                found += _read(value.elts if isinstance(value, ast.List | ast.Tuple) else [value])
    return found


def _read(expressions: list[ast.expr]) -> _Marks:
    found = _Marks()
    for expression in expressions:
        if _mark(expression) in _NOT_RUN:
            found += _Marks(runs=False)
        # A parametrised test may carry marks on single parameters, deep inside the decorator.
        for node in ast.walk(expression):
            if isinstance(node, ast.Call) and _mark(node) == "spec":
                found += _cited(node)
    return found


def _cited(call: ast.Call) -> _Marks:
    literal = [
        one.value
        for one in call.args
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    # What is not written out cannot be read without running the tests.
    readable = len(literal) == len(call.args) and not call.keywords and literal
    return _Marks(tuple(literal), () if readable else (ast.unparse(call),))


def _mark(expression: ast.expr) -> str:
    """Read ``x`` from ``pytest.mark.x``, ``mark.x`` or a call of either; else nothing."""
    match expression:
        case ast.Call(func=func):
            return _mark(func)
        case ast.Attribute(attr=name, value=ast.Attribute(attr="mark") | ast.Name(id="mark")):
            return name
    return ""


def _last(expression: ast.expr) -> str:
    match expression:
        case ast.Call(func=func):
            return _last(func)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
