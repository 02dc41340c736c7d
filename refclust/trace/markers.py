"""Finds the tests that cite clauses with ``@pytest.mark.spec("ID", …)`` (tracing, no chapter).

A marker may stand on a function, on a class, in ``pytestmark`` of a class or module, or on one
parameter of a parametrised test. Property tests are those below ``tests/property`` and those
that use ``@given`` of Hypothesis. A property test that asserts nothing, itself or by a function
of the tests that it calls, is no evidence. The other tests below ``tests/formulas`` hold golden
cases against the formulas.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from refclust.trace.code.graph import Graph
from refclust.trace.code.modules import Module
from refclust.trace.code.names import named

_DEMANDS = frozenset(["raises", "fail", "warns"])
_NOT_RUN = frozenset(["skip", "skipif", "xfail"])


@dataclass(frozen=True, slots=True)
class Marker:
    """One marked test; ``counts`` is false where pytest does not run it or lets it fail.

    ``unit`` names it as ``Graph`` does; ``asserts`` is false where it cannot fail.
    """

    test: str
    file: str
    line: int
    ids: tuple[str, ...]
    is_property: bool
    counts: bool
    faults: tuple[str, ...]
    unit: str = ""
    asserts: bool = True
    is_golden: bool = False

    @property
    def is_evidence(self) -> bool:
        """Whether it proves something: a property, or golden cases held against a formula."""
        return (self.is_property or self.is_golden) and self.counts and self.asserts

    @property
    def key(self) -> tuple[str, str]:
        """The module and the qualified name."""
        module, _, qualname = self.unit.partition(":")
        return module, qualname


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


def scan(modules: list[Module], graph: Graph) -> list[Marker]:
    """Find all marked tests of a checkout."""
    asserting: dict[str, bool] = {}
    return [marker for module in modules for marker in _file(module, graph, asserting)]


def _file(module: Module, graph: Graph, asserting: dict[str, bool]) -> Iterator[Marker]:
    path, last = module.file, module.inside[-1]
    collected = last.startswith("test_") or last.endswith("_test")
    for marker in _tests(module.tree.body, _pytestmark(module.tree.body), path):
        qualname = ".".join(marker.test.split("::")[1:])
        is_property = marker.is_property or module.folder == "property"
        is_golden = module.folder == "formulas" and not is_property
        yield replace(
            marker,
            is_property=is_property,
            counts=marker.counts and collected,
            unit=f"{module.name}:{qualname}",
            asserts=not (is_property or is_golden)
            or _asserts(graph, (module.name, qualname), asserting),
            is_golden=is_golden,
        )


def _asserts(graph: Graph, key: tuple[str, str], known: dict[str, bool]) -> bool:
    """Whether a test can fail by something it demands."""
    for name in (unit.name for unit in graph.followed([key])):
        if name not in known:
            module, _, qualname = name.partition(":")
            known[name] = any(map(demands, graph.nodes((module, qualname))))
        if known[name]:
            return True
    return False


def demands(node: ast.AST) -> bool:
    """Whether a piece of code demands something: an assertion, or an error that must come.

    >>> [demands(ast.parse(text)) for text in ("assert x", "assert True", "pytest.raises(E)")]
    [True, False, True]
    """
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assert) and not isinstance(inner.test, ast.Constant):
            return True
        if isinstance(inner, ast.Call):
            for chain in named(inner.func):
                if chain[-1] in _DEMANDS or chain[-1].startswith("assert"):
                    return True
    return False


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
                    is_property=any(
                        _last(decorator) == "given" for decorator in node.decorator_list
                    ),
                    counts=marks.runs and node.name.startswith("test"),
                    faults=marks.faults,
                )


def _pytestmark(body: list[ast.stmt]) -> _Marks:
    marks = _Marks()
    for statement in body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id="pytestmark")], value=value)
                | ast.AnnAssign(target=ast.Name(id="pytestmark"), value=ast.expr() as value)
            ):
                marks += _read(value.elts if isinstance(value, ast.List | ast.Tuple) else [value])
    return marks


def _read(expressions: list[ast.expr]) -> _Marks:
    marks = _Marks()
    for expression in expressions:
        if _mark(expression) in _NOT_RUN:
            marks += _Marks(runs=False)
        # A parametrised test may carry marks on single parameters, deep inside the decorator.
        for node in ast.walk(expression):
            if isinstance(node, ast.Call) and _mark(node) == "spec":
                marks += _cited(node)
    return marks


def _cited(call: ast.Call) -> _Marks:
    literal = [
        argument.value
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
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
