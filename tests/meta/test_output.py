"""Only one module writes to the terminal: everything else goes through it (chapter 06)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
ROOT = CHECKOUT / "refclust"
BENCH = CHECKOUT / "plugins" / "refclust-bench" / "refclust_bench"
STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}
PRINTERS = {
    *("print", "echo", "secho", "print_exc", "print_exception", "print_stack", "pprint", "warn"),
    *("echo_via_pager", "confirm", "prompt", "StreamHandler", "basicConfig"),
}
_BOTH = {"sys.stdout", "sys.stderr"}
# Who may take which way, and why.
ALLOWED = {
    "cli/output.py": _BOTH,  # the one module that writes
    "models/schema.py": {"sys.stdout"},  # prints the schema, as a module that is run
    "cli/app.py": _BOTH,  # sets the streams up, and writes nothing
    "backends/choosing/firstcall.py": {"print()"},  # numbers for the process that started it
    "processes/child.py": _BOTH,  # answers for the process that started it
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


def ways(path: Path) -> list[tuple[int, str]]:
    return sorted(found(ast.parse(path.read_text(encoding="utf-8"))))


def modules() -> dict[str, Path]:
    """The modules whose output is ours, by their names within their packages."""
    return {
        path.relative_to(root).as_posix(): path
        for root in (BENCH, ROOT)
        for path in sorted(root.rglob("*.py"))
    }


@pytest.mark.spec("OUT-TERM")
def test_nothing_goes_around_the_one_module_that_writes() -> None:
    for name, path in modules().items():
        around = [one for one in ways(path) if one[1] not in ALLOWED.get(name, ())]
        assert around == [], name


def test_the_list_of_exceptions_is_short_and_needed() -> None:
    for name, allowed in ALLOWED.items():
        assert {what for _, what in ways(modules()[name])} == allowed, name


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
