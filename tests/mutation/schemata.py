"""All mutants of a module in one text: each behind a question that is asked when the code runs.

``x + 1`` with two mutants becomes ``x - 1 if switched(7) else x if switched(8) else x + 1``, a
statement becomes the branch of an ``if``. So a module that is compiled is compiled once for all of
them. What runs while the module is imported (constants, defaults, decorators, the typing of
generated code) is asked too early to be switched: constants that only the functions of their own
module name are switched where these name them, all else is left out, with the reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tests.mutation.changes import Mutant

SWITCHED: Final = "switched"
SPOILED: Final = "spoil"
HARNESS: Final = "tests.mutation.switch"
ONCE: Final = "it runs while the module is imported"
TYPING: Final = "it runs while a call is typed"
SHARED: Final = "a constant that other modules or other constants name"
_GENERATED: Final = "generated"

Span: TypeAlias = tuple[int, int]
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Schema:
    """A module with its mutants switched in, and why some are not."""

    tree: ast.Module
    functions: Mapping[str, frozenset[int]]  # by definition at the top, what is switched there
    left_out: Mapping[int, str]

    @property
    def text(self) -> str:
        """The module as text."""
        return ast.unparse(self.tree)


def schema(
    source: str, mutants: Mapping[int, Mutant], shared: frozenset[str] = frozenset()
) -> Schema:
    """Switch numbered mutants into a module; ``shared`` are its names that other modules import."""
    tree = ast.parse(source)
    constants, rest = _of_constants(tree, mutants, shared)
    switching = _Switching(source, rest)
    switching.module(tree)
    if constants:
        _Naming(constants, switching.functions).module(tree)
    left_out = {**switching.left_out}
    for number in mutants:
        placed = any(number in numbers for numbers in switching.functions.values())
        if not placed and number not in left_out:
            left_out[number] = _reason(tree, mutants[number])
    place = _after_future(tree.body)
    tree.body.insert(place, _parsed(f"from {HARNESS} import {SPOILED}, {SWITCHED}")[0])
    functions = {name: frozenset(numbers) for name, numbers in switching.functions.items()}
    return Schema(ast.fix_missing_locations(tree), functions, left_out)


def _reason(tree: ast.Module, mutant: Mutant) -> str:
    """Why a mutant is not switched."""
    if _constant(tree, mutant) is not None:
        return SHARED
    tops = [top for top in tree.body if isinstance(top, ast.FunctionDef)]
    typed = any(_is_generated(top) for top in tops if top.name == mutant.where)
    return TYPING if typed else ONCE


def _is_generated(node: ast.FunctionDef) -> bool:
    return any(getattr(decorator, "id", "") == _GENERATED for decorator in node.decorator_list)


def _parsed(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def _after_future(body: Sequence[ast.stmt]) -> int:
    """Where an import may stand: after the docstring and what is taken from the future."""
    place = 0
    for number, statement in enumerate(body):
        doc = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if doc or future:
            place = number + 1
    return place


def _asked(number: int) -> ast.expr:
    return ast.Call(ast.Name(SWITCHED, ast.Load()), [ast.Constant(number)], [])


class _Places:
    """Mutants by the bytes that they replace."""

    def __init__(self, source: str, mutants: Mapping[int, Mutant]) -> None:
        self._starts = [0]
        for line in source.encode().splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._values: dict[Span, list[tuple[int, ast.expr]]] = {}
        self._statements: dict[Span, list[tuple[int, list[ast.stmt]]]] = {}
        for number, mutant in mutants.items():
            try:
                value = ast.parse(mutant.piece, mode="eval").body
            except SyntaxError:
                lines = _parsed(mutant.piece)
                self._statements.setdefault(mutant.span, []).append((number, lines))
            else:
                self._values.setdefault(mutant.span, []).append((number, value))

    def _span(self, node: ast.expr | ast.stmt) -> Span:
        last, column = node.end_lineno or 0, node.end_col_offset or 0
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[last - 1] + column

    def values(self, node: ast.expr) -> list[tuple[int, ast.expr]]:
        """The mutants of an expression; they are handed out once."""
        return self._values.pop(self._span(node), []) if hasattr(node, "lineno") else []

    def statements(self, node: ast.stmt) -> list[tuple[int, list[ast.stmt]]]:
        """The mutants of a statement; they are handed out once."""
        return self._statements.pop(self._span(node), [])


@dataclass
class _Switching(ast.NodeTransformer):
    """Puts mutants into the bodies of functions."""

    source: str
    mutants: Mapping[int, Mutant]
    functions: dict[str, set[int]] = field(default_factory=dict)
    left_out: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._places = _Places(self.source, self.mutants)
        self._top = ""
        self._inside = False
        self._typing = False

    def module(self, tree: ast.Module) -> None:
        """Change a whole module."""
        for number, statement in enumerate(tree.body):
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                self._top = statement.name
                tree.body[number] = self.visit(statement)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Only what stands in its body; of generated code only what stands in an inner function."""
        inside, typing = self._inside, self._typing
        if _is_generated(node):
            self._typing = True
        else:
            # An inner function of generated code runs when code is written.
            self._inside, self._typing = True, False
        node.body = [self._line(old) for old in node.body]
        self._inside, self._typing = inside, typing
        return node

    def _line(self, statement: ast.stmt) -> Any:
        doc = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        return statement if doc else self.visit(statement)

    def visit_Match(self, node: ast.Match) -> ast.AST:
        """Patterns hold no expressions."""
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.body = [self._line(old) for old in case.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Annotations are left alone."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Another function is another call: functions have no common type."""
        if not self._ready():
            return self.generic_visit(node)
        plain, words = deepcopy(node.args), deepcopy(node.keywords)
        others: list[tuple[int, ast.expr]] = [
            (number, ast.Call(function, plain, words))
            for number, function in self._places.values(node.func)
        ]
        return self._switched(node, others + self._places.values(node))

    def visit(self, node: ast.AST) -> Any:
        """Change what is below a node, then the node."""
        if isinstance(node, ast.expr) and not isinstance(node, ast.Call) and self._ready():
            context = getattr(node, "ctx", None)
            if context is None or isinstance(context, ast.Load):
                return self._switched(node, self._places.values(node))
        if isinstance(node, ast.stmt) and self._ready():
            return self._branched(node)
        return super().visit(node)

    def _ready(self) -> bool:
        return self._inside and not self._typing

    def _switched(self, node: ast.expr, others: list[tuple[int, ast.expr]]) -> ast.expr:
        changed = node
        self.generic_visit(changed)
        for number, other in others:
            self._note(number)
            changed = ast.IfExp(_asked(number), other, changed)
        return changed

    def _branched(self, node: ast.stmt) -> ast.AST:
        others = self._places.statements(node)
        special = getattr(self, f"visit_{type(node).__name__}", None)
        changed: ast.AST = special(node) if special else self.generic_visit(node)
        for number, lines in others:
            self._note(number)
            assert isinstance(changed, ast.stmt)
            changed = ast.If(_asked(number), lines, [changed])
        return changed

    def _note(self, number: int) -> None:
        self.functions.setdefault(self._top, set()).add(number)


def _constant(tree: ast.Module, mutant: Mutant) -> ast.Assign | ast.AnnAssign | None:
    """The assignment at the top of a module that a mutant changes, if it is one."""
    for top in tree.body:
        if isinstance(top, ast.Assign | ast.AnnAssign):
            target = top.targets[0] if isinstance(top, ast.Assign) else top.target
            if isinstance(target, ast.Name) and target.id == mutant.where:
                return top
    return None


def _of_constants(
    tree: ast.Module, mutants: Mapping[int, Mutant], shared: frozenset[str]
) -> tuple[dict[str, list[tuple[int, str]]], dict[int, Mutant]]:
    """Mutants of constants by name, with the name of the changed one; and all other mutants."""
    constants: dict[str, list[tuple[int, str]]] = {}
    rest: dict[int, Mutant] = {}
    early = shared | _named_early(tree)
    for number, mutant in mutants.items():
        place = _constant(tree, mutant)
        if place is None:
            rest[number] = mutant
        elif mutant.where not in early:
            other = _constant(ast.parse(mutant.text), mutant)
            assert other is not None
            assert other.value is not None
            name = f"{mutant.where}__{number}"
            value = ast.unparse(other.value)
            # Some cannot be worked out; they are told when the module is imported.
            excused = f"{name} = {SPOILED}({number}, {mutant.where})"
            [line] = _parsed(f"try:\n {name} = {value}\nexcept Exception:\n {excused}")
            tree.body.insert(tree.body.index(place) + 1, line)
            constants.setdefault(mutant.where, []).append((number, name))
    return constants, rest


def _named_early(tree: ast.Module) -> frozenset[str]:
    """What is named by something that runs while the module is imported."""
    return frozenset(
        node.id
        for node in _early(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )


def _early(node: ast.AST) -> Iterator[ast.AST]:
    """What runs while a module is imported, and the typing of generated code."""
    if isinstance(node, ast.FunctionDef):
        parts: list[ast.AST] = [*node.decorator_list, *node.args.defaults]
        parts += node.body if _is_generated(node) else []
    else:
        parts = list(ast.iter_child_nodes(node))
    for part in parts:
        yield part
        yield from _early(part)


@dataclass
class _Naming(ast.NodeTransformer):
    """Puts changed constants where functions name them."""

    constants: Mapping[str, list[tuple[int, str]]]
    functions: dict[str, set[int]]

    def module(self, tree: ast.Module) -> None:
        """Change a whole module."""
        for top in tree.body:
            if isinstance(top, ast.FunctionDef | ast.ClassDef):
                self._top = top.name
                self.visit(top)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Only its body runs late enough."""
        node.body = [self.visit(line) for line in node.body]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """One of the constants, or another name."""
        changed: ast.expr = node
        if isinstance(node.ctx, ast.Load):
            for number, name in self.constants.get(node.id, ()):
                self.functions.setdefault(self._top, set()).add(number)
                changed = ast.IfExp(_asked(number), ast.Name(name, ast.Load()), changed)
        return changed
