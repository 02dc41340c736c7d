"""Small mechanical changes of a source text: operators, comparisons, constants, bounds, arguments.

A change replaces a piece of the text and leaves the rest as it is, so that it reads as a diff of
one place. Only changes that compile, and compile to something else, are told. Annotations,
docstrings and texts of errors are left alone: nobody computes with them.
"""

from __future__ import annotations

import ast
import hashlib
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final

_OPERATORS: Final[dict[type[ast.AST], tuple[str, ...]]] = {
    ast.Add: ("-",),
    ast.Sub: ("+",),
    ast.Mult: ("+", "/"),
    ast.Div: ("*",),
    ast.FloorDiv: ("*",),
    ast.Mod: ("*",),
    ast.Pow: ("*",),
    ast.LShift: (">>",),
    ast.RShift: ("<<",),
    ast.BitAnd: ("|",),
    ast.BitOr: ("&",),
    ast.BitXor: ("|",),
}
_COMPARISONS: Final[dict[type[ast.AST], tuple[str, ...]]] = {
    ast.Lt: ("<=", ">"),
    ast.LtE: ("<", ">="),
    ast.Gt: (">=", "<"),
    ast.GtE: (">", "<="),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
_PAIRS: Final = (
    ("min", "max"),
    ("minimum", "maximum"),
    ("argmin", "argmax"),
    ("any", "all"),
    ("floor", "ceil"),
    ("left", "right"),
)
_NAMES: Final[dict[str, str]] = {
    **{name: other for pair in _PAIRS for name, other in (pair, pair[::-1])},
    "zeros": "empty",
    "zeros_like": "empty_like",
    "float64": "float32",
    "int64": "int32",
    "int32": "int16",
    "intp": "int32",
    "uint64": "uint32",
    "abs": "float",
}
_SYMMETRIC: Final = frozenset(
    ("min", "max", "minimum", "maximum", "isinstance", "gcd", "logical_and", "logical_or")
)
_TEXTS: Final = frozenset(("named",))  # calls whose arguments are texts of derivations
_ANNOTATIONS: Final = ("annotation", "returns", "type_comment", "type_params")
_MANNERS: Final = ("strict", "copy")  # options that change no answer of a right program
_DROPPED: Final = (ast.AugAssign, ast.Expr, ast.Delete, ast.Break, ast.Continue)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of a source text."""

    line: int
    where: str  # the top-level definition, or the name of a constant
    kind: str
    before: str  # the lines as they were
    after: str  # and as they are now
    text: str  # the whole module
    key: str  # what names the change, wherever its lines move to
    span: tuple[int, int]  # the bytes of the source that are replaced
    piece: str  # and by what


@dataclass(frozen=True, slots=True)
class _Edit:
    node: ast.AST
    kind: str
    text: str


def mutants(
    source: str,
    rng: random.Random | None = None,
    *,
    lines: Collection[int] | None = None,
    terms: bool = False,
) -> Iterator[Mutant]:
    """All mutants of a module in the order of its lines, or shuffled: first one of each place.

    Only places that begin in ``lines`` are changed, if these are given. With ``terms`` also terms
    and factors are left out, and indices moved, as a formula may be misread.

    >>> [mutant.after for mutant in mutants("def f(a, b):\\n    return a < b\\n")]
    ['    return a <= b', '    return a > b']
    """
    tree = ast.parse(source)
    original = compile(source, "<source>", "exec", dont_inherit=True)
    offsets = _offsets(source)
    raw = source.encode()
    seen: set[str] = set()
    edits = [
        (edit, top)
        for top in tree.body
        for edit in _edits(top, terms)
        if lines is None or _lines(edit.node)[0] in lines
    ]
    for edit, top in edits if rng is None else _mixed(edits, offsets, rng):
        begin, end = _span(edit.node, offsets)
        changed = (raw[:begin] + edit.text.encode() + raw[end:]).decode()
        if changed in seen or not _differs(changed, original):
            continue
        seen.add(changed)
        yield _mutant(source, changed, edit, top, (begin, end))


def _mixed(
    edits: list[tuple[_Edit, ast.stmt]], offsets: list[int], rng: random.Random
) -> Iterator[tuple[_Edit, ast.stmt]]:
    """In random order, one change of each place before the second of any."""
    places: dict[tuple[int, int], list[tuple[_Edit, ast.stmt]]] = {}
    for edit in edits:
        places.setdefault(_span(edit[0].node, offsets), []).append(edit)
    waiting = list(places.values())
    for changes in waiting:
        changes.sort(key=lambda _: rng.random())
    while waiting:
        waiting.sort(key=lambda _: rng.random())
        yield from (changes.pop() for changes in waiting)
        waiting = [changes for changes in waiting if changes]


def _mutant(source: str, changed: str, edit: _Edit, top: ast.stmt, span: tuple[int, int]) -> Mutant:
    (first, last), (begin, stop), where = _lines(edit.node), _lines(top), _name(top)
    lines, now = source.splitlines(), changed.splitlines()
    before = "\n".join(lines[first - 1 : last])
    end = last + len(now) - len(lines)
    after = "\n".join(now[first - 1 : end])
    # The lines around tell equal lines apart; their numbers would change with every edit above.
    stop = min(end + 2, stop + len(now) - len(lines))
    around = [line.strip() for line in now[max(first - 3, begin - 1) : stop] if line.strip()]
    description = "\n".join((where, edit.kind, before.strip(), *around))
    key = hashlib.sha256(description.encode()).hexdigest()[:16]
    return Mutant(first, where, edit.kind, before, after, changed, key, span, edit.text)


def _lines(node: ast.AST) -> tuple[int, int]:
    placed: Any = node
    return placed.lineno, placed.end_lineno


def _offsets(source: str) -> list[int]:
    """Where each line begins, in bytes."""
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _span(node: ast.AST, offsets: list[int]) -> tuple[int, int]:
    placed: Any = node
    return (
        offsets[placed.lineno - 1] + placed.col_offset,
        offsets[placed.end_lineno - 1] + placed.end_col_offset,
    )


def _name(top: ast.AST) -> str:
    """What a statement at the top of a module defines."""
    if isinstance(top, ast.FunctionDef | ast.ClassDef):
        return top.name
    targets = top.targets if isinstance(top, ast.Assign) else [getattr(top, "target", top)]
    return ", ".join(
        sorted({n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)})
    )


def _differs(changed: str, original: CodeType) -> bool:
    try:
        code = compile(changed, "<mutant>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return _essence(code) != _essence(original)


def _essence(code: CodeType) -> tuple[Any, ...]:
    """What runs, without lines and names of files."""
    constants = tuple(
        _essence(c) if isinstance(c, CodeType) else (type(c), repr(c)) for c in code.co_consts
    )
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars


def _edits(top: ast.stmt, terms: bool) -> Iterator[_Edit]:
    text = isinstance(top, ast.Expr) and isinstance(top.value, ast.Constant)  # the docstring
    if text or isinstance(top, ast.Import | ast.ImportFrom):
        return
    for node in computing(top):
        yield from _of_expression(node)
        yield from _of_statement(node)
        if terms:
            yield from _of_formula(node)


def computing(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one that are computed with: no annotations, docstrings, texts of errors."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in _ANNOTATIONS:
            continue
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
            return  # texts of errors
        if isinstance(node, ast.keyword) and node.arg in _MANNERS:
            return
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_docstring(node, child):
                yield from computing(child)


def _is_docstring(parent: ast.AST, child: ast.AST) -> bool:
    return (
        isinstance(parent, ast.FunctionDef | ast.ClassDef)
        and isinstance(child, ast.Expr)
        and isinstance(child.value, ast.Constant)
    )


def _of_expression(node: ast.AST) -> Iterator[_Edit]:
    match node:
        case ast.BinOp(op=operator):
            for sign in _OPERATORS.get(type(operator), ()):
                text = f"({_told(node.left)} {sign} {_told(node.right)})"
                yield _Edit(node, f"{type(operator).__name__} to {sign}", text)
        case ast.BoolOp(op=operator):
            sign = "or" if isinstance(operator, ast.And) else "and"
            yield _Edit(node, f"to {sign}", f"({f' {sign} '.join(map(_told, node.values))})")
            for place in range(len(node.values)):
                rest = [_told(v) for j, v in enumerate(node.values) if j != place]
                word = " and " if isinstance(operator, ast.And) else " or "
                yield _Edit(node, f"condition {place} dropped", f"({word.join(rest)})")
        case ast.Compare():
            yield from _of_comparison(node)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield _Edit(node, f"{type(node.op).__name__} dropped", f"({_told(node.operand)})")
        case ast.Constant():
            yield from _of_constant(node)
        case ast.Name(id=name) if name in _NAMES:
            yield _Edit(node, f"{name} to {_NAMES[name]}", _NAMES[name])
        case ast.Attribute(attr=name) if name in _NAMES and name != "abs":
            text = f"{_told(node.value)}.{_NAMES[name]}"
            yield _Edit(node, f"{name} to {_NAMES[name]}", text)
        case ast.Call():
            yield from _of_call(node)
        case ast.Slice():
            for bound in filter(None, (node.lower, node.upper)):
                for sign in "+-":
                    yield _Edit(bound, f"bound {sign} 1", f"({_told(bound)}) {sign} 1")
        case ast.IfExp():
            body, test, other = map(_told, (node.body, node.test, node.orelse))
            yield _Edit(node, "negated", f"({other} if {test} else {body})")


def _of_formula(node: ast.AST) -> Iterator[_Edit]:
    """A term, a factor or a condition left out, an index moved, a sum without its first term."""
    match node:
        case ast.BinOp(op=ast.Add() | ast.Mult(), left=left, right=right):
            yield _Edit(node, "right side left out", f"({_told(left)})")
            yield _Edit(node, "left side left out", f"({_told(right)})")
        case ast.BinOp(op=ast.Sub() | ast.Div() | ast.FloorDiv() | ast.Pow(), left=left):
            yield _Edit(node, "right side left out", f"({_told(left)})")
        case ast.Subscript(slice=ast.Name() | ast.BinOp() as index):
            for sign in "+-":
                yield _Edit(index, f"index {sign} 1", f"({_told(index)} {sign} 1)")
        case ast.Call(args=[ast.GeneratorExp() | ast.ListComp() as terms]) if _is_sum(node.func):
            yield _Edit(
                node, "first term left out", f"{_told(node.func)}(list({_told(terms)})[1:])"
            )
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
            for generator in node.generators:
                for place, condition in enumerate(generator.ifs):
                    yield _Edit(condition, f"condition {place} never asked", "True")


def _is_sum(function: ast.expr) -> bool:
    name = getattr(function, "attr", getattr(function, "id", ""))
    return name in ("sum", "fsum", "total", "sum_of", "prod", "product")


def _of_comparison(node: ast.Compare) -> Iterator[_Edit]:
    sides = [_told(side) for side in (node.left, *node.comparators)]
    for place, operator in enumerate(node.ops):
        for sign in _COMPARISONS.get(type(operator), ()):
            signs = [_SIGNS[type(op)] for op in node.ops]
            signs[place] = sign
            text = sides[0] + "".join(
                f" {s} {side}" for s, side in zip(signs, sides[1:], strict=True)
            )
            # Bare where the source has no brackets either: a comparison binds as its place does.
            yield _Edit(node, f"{type(operator).__name__} to {sign}", text)


_SIGNS: Final = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


def _of_constant(node: ast.Constant) -> Iterator[_Edit]:
    value = node.value
    if isinstance(value, bool):
        yield _Edit(node, "flipped", str(not value))
    elif isinstance(value, int):
        yield _Edit(node, "+ 1", str(value + 1))
        yield _Edit(node, "- 1", f"({value - 1})" if value < 1 else str(value - 1))
    elif isinstance(value, float):
        yield _Edit(node, "doubled", repr(value * 2.0) if value else "1.0")
        yield _Edit(node, "halved", repr(value / 2.0) if value else "(-1.0)")
    elif isinstance(value, str) and value in _NAMES:
        yield _Edit(node, f"{value} to {_NAMES[value]}", repr(_NAMES[value]))


def _of_call(node: ast.Call) -> Iterator[_Edit]:
    arguments = [_told(argument) for argument in node.args]
    keywords = [_told(keyword) for keyword in node.keywords]

    def called(changed: list[str]) -> str:
        return f"{_told(node.func)}({', '.join([*changed, *keywords])})"

    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    for place in range(0 if name in _SYMMETRIC | _TEXTS else len(arguments) - 1):
        changed = arguments.copy()
        changed[place : place + 2] = changed[place + 1], changed[place]
        yield _Edit(node, f"arguments {place} and {place + 1} swapped", called(changed))
    if isinstance(node.func, ast.Name) and node.func.id in ("range", "prange"):
        for place, argument in enumerate(arguments):
            for sign in "+-":
                changed = [*arguments[:place], f"{argument} {sign} 1", *arguments[place + 1 :]]
                yield _Edit(node, f"range {sign} 1", called(changed))
    for place in range(len(keywords)):
        if node.keywords[place].arg in _MANNERS:
            continue
        rest = keywords[:place] + keywords[place + 1 :]
        text = f"{_told(node.func)}({', '.join([*arguments, *rest])})"
        yield _Edit(node, f"option {node.keywords[place].arg} dropped", text)


def _of_statement(node: ast.AST) -> Iterator[_Edit]:
    match node:
        case ast.If() | ast.While():
            yield _Edit(node.test, "negated", f"not ({ast.unparse(node.test)})")
            if isinstance(node, ast.If):
                yield _Edit(node.test, "never", "False")
    if isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
        target, value = _told(node.target), _told(node.value)
        for sign in _OPERATORS[type(node.op)]:
            yield _Edit(node, f"{type(node.op).__name__} to {sign}", f"{target} {sign}= {value}")
        yield _Edit(node, "overwritten", f"{target} = {value}")
    stores = isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple)
    if isinstance(node, _DROPPED) or stores:
        yield _Edit(node, f"{type(node).__name__} dropped", "pass")


def _told(node: ast.AST) -> str:
    text = ast.unparse(node)
    # What binds less than an operator keeps its brackets.
    loose = ast.BinOp | ast.BoolOp | ast.Compare | ast.IfExp | ast.Lambda | ast.NamedExpr
    return f"({text})" if isinstance(node, loose) and not text.startswith("(") else text
