"""Which names a piece of a syntax tree takes from its module, and what imports bind (tracing)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

Chain = tuple[str, ...]  # a name and the attributes asked of it: a.b.c

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def named(node: ast.AST, local: frozenset[str] = frozenset()) -> Iterator[Chain]:
    """The names below a node that are no local variables, annotations included.

    >>> tree = ast.parse("def f(x: Row):\\n    y = x\\n    return g(y, real.log(x))")
    >>> sorted(named(tree))
    [('Row',), ('g',), ('real', 'log')]
    """
    if isinstance(node, _Function):
        inner = local | _own(node)
        for child in ast.iter_child_nodes(node):
            outside = isinstance(child, ast.expr) and child is not getattr(node, "body", None)
            yield from named(child, local if outside else inner)
        return
    if isinstance(node, _Comprehension):
        local |= {
            variable.id
            for generator in node.generators
            for variable in ast.walk(generator.target)
            if isinstance(variable, ast.Name)
        }
    chain = _chain(node)
    if chain is not None:
        if chain[0] not in local or chain[0] in ("self", "cls"):
            yield chain
        return
    for child in ast.iter_child_nodes(node):
        yield from named(child, local)


def imported(tree: ast.Module, module: str, is_package: bool) -> dict[str, list[tuple[str, str]]]:
    """What each imported name may be: a module and an attribute of it, "" for the module itself.

    >>> imported(ast.parse("from a.b import c as d\\nimport a.e"), "m", False)
    {'d': [('a.b', 'c')], 'a': [('a', '')]}
    """
    origins: dict[str, list[tuple[str, str]]] = {}
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                origins.setdefault(alias.asname or whole, []).append((whole, ""))
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                parts = module.split(".")
                parts = parts[: len(parts) - node.level + is_package]
                origin = ".".join([*parts, *filter(None, [node.module])])
            for alias in node.names:
                origins.setdefault(alias.asname or alias.name, []).append((origin, alias.name))
    return origins


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements, however deep: imports stand in no expression."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, name, ()):
            yield child
            yield from _statements(child)


def _chain(node: ast.AST) -> Chain | None:
    match node:
        case ast.Name(id=name):
            return (name,)
        case ast.Attribute(value=value, attr=attribute):
            before = _chain(value)
            return None if before is None else (*before, attribute)
    return None


def _own(node: _Function) -> frozenset[str]:
    """The local variables of a function; what it imports is looked up like any import."""
    arguments = node.args
    variables = {
        argument.arg
        for argument in (
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            *filter(None, (arguments.vararg, arguments.kwarg)),
        )
    }
    shared: set[str] = set()
    for inner in _scope(node.body if isinstance(node.body, list) else [node.body]):
        match inner:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                variables.add(name)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                variables.add(inner.name)
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
            ):
                variables.add(name)
            case ast.Global(names=names):
                shared.update(names)
    return frozenset(variables - shared)


def _scope(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of one scope: not those inside functions, classes and comprehensions in it."""
    for node in nodes:
        yield node
        if not isinstance(node, _Function | _Comprehension | ast.ClassDef):
            yield from _scope(ast.iter_child_nodes(node))
