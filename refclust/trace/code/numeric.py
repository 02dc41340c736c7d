"""Decides which return annotations promise numbers (tracing, no chapter).

A function owes the reader a clause when it returns numbers. A type is numeric when it

- is one of the number types of Python or of refclust,
- mentions a numeric type (``tuple[float, ...]``, ``Fraction | None``),
- is an alias of a numeric type or a class derived from one, or
- is a record (a class of annotated fields) all of whose fields are numeric.

Types are known by their bare names, over the whole package, without importing anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

NUMBERS = frozenset(
    ["int", "float", "complex", "Fraction", "Decimal", "Real", "Score", "Rational", "Number"]
)


def mentions(annotation: ast.expr | None, numeric: frozenset[str]) -> bool:
    """Tell whether an annotation names a numeric type anywhere, quoted annotations included."""
    if annotation is None:
        return False
    for node in ast.walk(annotation):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in numeric:
                return True
            case ast.Constant(value=str(quoted)) if mentions(_parsed(quoted), numeric):
                return True
    return False


def numeric_names(modules: Iterable[ast.Module]) -> frozenset[str]:
    """Collect the names of all numeric types that the modules define, and the built-in ones.

    >>> sorted(numeric_names([ast.parse("Vector = tuple[float, ...]")]) - NUMBERS)
    ['Vector']
    """
    statements = [statement for module in modules for statement in module.body]
    known, before = NUMBERS, frozenset[str]()
    # An alias may be read before the type it stands for: go round until nothing is new.
    while known != before:
        before = known
        known |= frozenset(name for stmt in statements for name in _defines(stmt, before))
    return known


def _defines(statement: ast.stmt, numeric: frozenset[str]) -> Iterable[str]:
    match statement:
        case ast.ClassDef(name=name, bases=bases, body=body):
            fields = [field.annotation for field in body if isinstance(field, ast.AnnAssign)]
            derived = any(mentions(base, numeric) for base in bases)
            if derived or (fields and all(mentions(field, numeric) for field in fields)):
                yield name
        # Only a type expression makes an alias: `LIMIT = int(...)` is a value.
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Subscript() | ast.BinOp(op=ast.BitOr()) | ast.Name() as value,
        ) if mentions(value, numeric):
            yield name
        case ast.AnnAssign(
            target=ast.Name(id=name), annotation=annotation, value=ast.expr() as value
        ) if mentions(annotation, frozenset(["TypeAlias"])) and mentions(value, numeric):
            yield name


def _parsed(quoted: str) -> ast.expr | None:
    try:
        return ast.parse(quoted, mode="eval").body
    except SyntaxError:
        return None
