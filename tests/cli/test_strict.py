"""An option is never taken for the value of another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from refclust.cli.app import app
from tests.backends.plugins import command, put_command
from tests.cli.conftest import Cli


def every_command() -> dict[str, Any]:
    """The program and all its commands and groups, by their words."""
    root = typer.main.get_command(app)
    found: dict[str, Any] = {}
    todo: list[tuple[str, Any, Any]] = [("", root, root.context_class(root, info_name="refclust"))]
    for path, inner, context in todo:
        found[path] = inner
        for name in list(getattr(inner, "commands", ())):
            _, below, _ = inner.resolve_command(context, [name])
            todo.append(
                (f"{path} {name}".strip(), below, below.context_class(below, parent=context))
            )
    return found


COMMANDS = every_command()


@pytest.mark.parametrize("path", COMMANDS)
def test_every_option_with_a_value_refuses_an_option_in_its_place(path: str) -> None:
    inner = COMMANDS[path]
    names = [
        name
        for option in inner.params
        if option.param_type_name == "option" and not option.is_flag
        for name in option.opts
    ]
    for name in names:
        for value in ("--help", f"{names[0]}=3" if names[0].startswith("--") else names[0]):
            with pytest.raises(Exception, match="needs a value, and") as caught:
                inner.make_context("x", [name, value])
            error: Any = caught.value
            equals = "=" if name.startswith("--") else ""
            assert error.exit_code == 2
            assert error.message == (
                f"Option {name!r} needs a value, and {value!r} is an option; if it is meant, "
                f"write {name}{equals}{value}."
            )


def test_the_program_has_commands_with_values() -> None:
    assert len(COMMANDS) > 25
    assert {"", "vectors list", "fit kmeans", "fit gaussian", "score"} <= set(COMMANDS)


def test_a_forgotten_value_is_a_wrong_call(cli: Cli) -> None:
    done = cli("vectors", "list", "--chapter", "--json")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(
        "Error: Option '--chapter' needs a value, and '--json' is an option; if it is meant, "
        "write --chapter=--json.\n"
    )
    assert cli("--limit", "--debug", "formats").code == 2
    assert cli("score", "true.txt", "pred.txt", "-m", "--json").code == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("vectors", "list", "--chapter=--json"), "no vector file matches '--json'"),
        (("vectors", "list", "--chapter", "--jsn"), "no vector file matches '--jsn'"),
        (("vectors", "show", "--", "--json", "--chapter"), "unexpected extra argument"),
        (("fit", "kmeans", "table.csv", "-k", "-1"), "k is -1;"),
        (("fit", "kmeans", "table.csv", "-k-1"), "k is -1;"),
        (("score", "true.txt", "pred.txt", "-m"), "requires an argument"),
    ],
)
def test_other_values_are_left_alone(cli: Cli, words: tuple[str, ...], told: str) -> None:
    assert told in cli(*words).err


PLUGIN = """
    import typer

    def greet(name: str = typer.Option("you"), loud: bool = typer.Option(False, "--loud")):
        print("hello", name, loud)
"""


def test_commands_of_plugins_are_held_to_it_too(tmp_path: Path) -> None:
    put_command(tmp_path, "rc-greets", PLUGIN)
    done = command(tmp_path, "greet", "--name", "--loud")
    assert (done.code, "needs a value, and '--loud' is an option" in done.err) == (2, True)
    assert command(tmp_path, "greet", "--name=--loud").out == "hello --loud False\n"
