"""The source text of a definition, whole or without its docstrings (tracing, no chapter).

Locks hash this text and not a dump of the syntax tree, because dumps differ between Python
versions.
"""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator
from functools import lru_cache

Definable = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def docstring_node(node: Definable) -> ast.Expr | None:
    """Find the statement that holds the docstring of a definition."""
    first = node.body[0]
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return first
    return None


def text(source: str, node: Definable) -> str:
    r"""Cut one definition out of its file, decorators included.

    >>> source = "x = 1\n\n@cache\ndef f():\n    return 1\n"
    >>> text(source, ast.parse(source).body[1])
    '@cache\ndef f():\n    return 1'
    """
    return "\n".join(_lines(source)[_first(node) - 1 : node.end_lineno])


def bare_text(source: str, node: ast.stmt) -> str:
    r"""Cut one statement out of its file without docstrings, comments and blanks at line ends.

    The docstrings of definitions inside it go as well. Blank lines that touch a docstring go
    with it, so that writing the first docstring of a function changes nothing.

    >>> source = 'def f():\n    "Says what."\n\n    return 1   # why\n'
    >>> bare_text(source, ast.parse(source).body[0])
    'def f():\n    return 1'
    """
    top = _first(node) - 1
    lines: list[str | None] = [*_lines(source)[top : node.end_lineno]]
    for statement in _docstrings(node):
        start, end = (
            statement.lineno - 1 - top,
            (statement.end_lineno or statement.lineno) - 1 - top,
        )
        # Columns count UTF-8 bytes. Only a docstring that shares its line with code leaves
        # something behind.
        before = (lines[start] or "").encode()[: statement.col_offset].decode()
        after = (lines[end] or "").encode()[statement.end_col_offset :].decode()
        rest = before + after
        lines[start : end + 1] = [rest if rest.strip() else None] + [None] * (end - start)
        for step, edge in ((-1, start - 1), (1, end + 1)):
            while 0 <= edge < len(lines) and (kept := lines[edge]) is not None:
                if kept.strip():
                    break
                lines[edge] = None
                edge += step
    inside = [line for line in lines if line is not None]
    return "\n".join(line.rstrip() for line in _without_comments(inside))


def _without_comments(lines: list[str]) -> list[str]:
    if not any("#" in line for line in lines):
        return lines
    kept: list[str | None] = list(lines)
    read = iter([f"{line}\n" for line in lines])
    for token in tokenize.generate_tokens(lambda: next(read, "")):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            before = lines[row - 1][:column]
            kept[row - 1] = before if before.strip() else None
    return [line for line in kept if line is not None]


@lru_cache(maxsize=4)  # units come file by file
def _lines(source: str) -> tuple[str, ...]:
    # Not splitlines(): it also splits at form feeds and Unicode separators, ast does not.
    return tuple(source.split("\n"))


def _first(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, Definable) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _docstrings(node: ast.stmt) -> Iterator[ast.Expr]:
    for inner in ast.walk(node):
        if isinstance(inner, Definable):
            docstring = docstring_node(inner)
            if docstring is not None:
                yield docstring
