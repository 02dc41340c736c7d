"""Only one module writes to the terminal: everything else goes through it (chapter 06)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "refclust"
STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}
PRINTERS = {
    *("print", "echo", "secho", "print_exc", "print_exception", "print_stack", "pprint", "warn"),
    *("echo_via_pager", "confirm", "prompt", "StreamHandler", "basicConfig"),
}
# Who may touch the streams, and why.
ALLOWED = {
    "cli/output.py": "the one module that writes",
    "cli/app.py": "sets the streams up, and writes nothing",
    "backends/firstcall.py": "numbers for the process that started it",
    "testing/bench/child.py": "answers for the process that started it",
}


def found(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every way to a terminal that a module takes, by line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in STREAMS:
            if isinstance(node.value, ast.Name) and node.value.id == "sys":
                yield node.lineno, f"sys.{node.attr}"
        elif isinstance(node, ast.ImportFrom) and node.module == "sys":
            yield from ((node.lineno, one.name) for one in node.names if one.name in STREAMS)
        elif isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in PRINTERS:
                yield node.lineno, f"{name}()"
            elif name in ("write", "open") and any(
                isinstance(one, ast.Constant) and one.value in (1, 2) for one in node.args[:1]
            ):
                yield node.lineno, f"{name}() of a descriptor"


def ways(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [f"{path.relative_to(ROOT)}:{line}: {what}" for line, what in sorted(found(tree))]


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


@pytest.mark.spec("OUT-TERM")
def test_nothing_goes_around_the_one_module_that_writes() -> None:
    around = [
        one
        for path in modules()
        if path.relative_to(ROOT).as_posix() not in ALLOWED
        for one in ways(path)
    ]
    assert around == []


def test_the_list_of_exceptions_is_short_and_needed() -> None:
    for name in ALLOWED:
        assert ways(ROOT / name), name


@pytest.mark.spec("OUT-JSON")
def test_commands_make_json_in_one_place() -> None:
    for path in sorted((ROOT / "cli").glob("*.py")):
        if path.name != "output.py":
            calls = [
                node.lineno
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.Attribute) and node.attr in ("dumps", "dump")
            ]
            assert calls == [], path.name


@pytest.mark.parametrize(
    "source",
    [
        "print('x')",
        "import sys\nsys.stdout.write('x')",
        "import sys\nout = sys.stderr",
        "from sys import stdout",
        "import typer\ntyper.echo('x')",
        "import os\nos.write(1, b'x')",
        "import warnings\nwarnings.warn('x')",
        "import traceback\ntraceback.print_exc()",
    ],
)
def test_every_way_is_seen(source: str) -> None:
    assert list(found(ast.parse(source)))
