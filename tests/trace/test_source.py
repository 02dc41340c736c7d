"""The source text that locks hash: everything but docstrings and blanks at line ends."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.trace.code import source


def bare(text: str) -> str:
    node = ast.parse(text).body[-1]
    assert isinstance(node, source.Definable)
    return source.bare_text(text, node)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f():\n    return 1\n", "def f():\n    return 1"),
        ('def f():\n    """A."""\n    return 1\n', "def f():\n    return 1"),
        ('def f():\n\n    """A.\n\n    B.\n    """\n\n\n    return 1\n', "def f():\n    return 1"),
        ("def f():\n    g()\n", "def f():\n    g()"),
        ("def f():\n    return 1  \n", "def f():\n    return 1"),
        ("def f():\n    x = 1\n\n    return x\n", "def f():\n    x = 1\n\n    return x"),
        ("@a\n@b(\n    1\n)\ndef f(): ...\n", "@a\n@b(\n    1\n)\ndef f(): ..."),
        ('def f(): "é doc"; return 1\n', "def f(): ; return 1"),
        (
            'def f():\n    return """not\n\n  a doc"""\n',
            'def f():\n    return """not\n\n  a doc"""',
        ),
        ('def f():\n    x = 1\n    "no doc"\n', 'def f():\n    x = 1\n    "no doc"'),
        ("def f():\n    b'no doc'\n", "def f():\n    b'no doc'"),
        (
            'class A:\n    """A."""\n\n    def f(self):\n        """F."""\n        return 1\n',
            "class A:\n    def f(self):\n        return 1",
        ),
        (
            'async def f():\n    def g():\n        """G."""\n        return 1\n    return g\n',
            "async def f():\n    def g():\n        return 1\n    return g",
        ),
        # A form feed and a line separator end no line for Python.
        ("x = '\u2028'\n\x0c\ndef f():\n    return 1\n", "def f():\n    return 1"),
    ],
)
def test_bare_text(text: str, expected: str) -> None:
    assert bare(text) == expected


def test_whole_text_keeps_docstring_and_decorators() -> None:
    text = 'x = 1\n@a\ndef f():\n    """F."""\n    return 1\n\n\ny = 2\n'
    node = ast.parse(text).body[1]
    assert isinstance(node, ast.FunctionDef)
    assert source.text(text, node) == '@a\ndef f():\n    """F."""\n    return 1'


@given(st.text(st.characters(blacklist_characters='"\\\r\0', blacklist_categories=["Cs"])))
def test_no_docstring_changes_the_bare_text(docstring: str) -> None:
    expected = "def f(x):\n    y = x\n    return y"
    assert bare(f'def f(x):\n    """{docstring}."""\n\n    y = x\n    return y\n') == expected
