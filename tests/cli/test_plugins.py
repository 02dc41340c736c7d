"""Commands of plugins: listed like ours, loaded when called (chapter 80)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from refclust.backends.plugins import commands
from refclust.cli.plugins import HEADING
from refclust.escape import for_terminal
from tests.backends.plugins import command, greeting, listed_by_plugins, put_command
from tests.cli.conftest import Cli

TWO = """
    import typer

    greet = typer.Typer()

    @greet.command()
    def formally(name: str) -> None:
        "Say good day."
        print(f"good day {name}")

    @greet.command()
    def briefly(name: str) -> None:
        raise KeyError(name)
"""
EVIL = "\x1b]0;t\x07\x9b31m\u202e"


@pytest.mark.spec("BK-COMMAND")
def test_a_command_is_listed_and_called(tmp_path: Path) -> None:
    put_command(tmp_path, "rc-greets", greeting())
    listed = command(tmp_path, "--help")
    assert (listed.code, listed.err) == (0, "")
    assert "  greet     Say hello. [rc-greets]" in listed_by_plugins(listed.out)
    assert "\n  fit " in listed.out.partition(HEADING)[0]
    bare = command(tmp_path)
    assert (bare.code, bare.out, bare.err) == (2, "", listed.out)
    done = command(tmp_path, "greet", "you")
    assert (done.code, done.out, done.err) == (0, "hello you\n", "")
    own = command(tmp_path, "greet", "-h")
    assert (own.code, own.err) == (0, "")
    assert own.out.startswith("Usage: refclust greet [OPTIONS] {name}\n\n  Say hello.\n")


@pytest.mark.spec("BK-COMMAND")
def test_a_group_of_commands(tmp_path: Path) -> None:
    put_command(tmp_path, "rc-greets", TWO)
    done = command(tmp_path, "greet", "formally", "you")
    assert (done.code, done.out, done.err) == (0, "good day you\n", "")
    own = command(tmp_path, "greet", "--help")
    assert "formally  Say good day." in own.out
    assert "completion" not in own.out  # that of the program is refclust's
    done = command(tmp_path, "greet", "briefly", "you")
    told = "refclust: the command 'greet' (rc-greets 1.2.3) failed: KeyError: 'you'"
    assert (done.code, done.out, done.err) == (4, "", f"{told} [backend-failure]\n")


@pytest.mark.spec("BK-COMMAND")
def test_a_place_may_be_within_something(tmp_path: Path) -> None:
    source = "class Box:\n    def greet(name: str) -> None:\n        print(name)\n"
    put_command(tmp_path, "rc-greets", source, entries="greet = {module}:Box.greet")
    assert command(tmp_path, "greet", "you").out == "you\n"


@pytest.mark.spec("BK-COMMAND", "BK-COMMANDGUARD")
@pytest.mark.parametrize("source", ["1 / 0", "raise SystemExit(3)", "print('here')", "while 1: 0"])
def test_only_the_plugin_that_is_called_is_loaded(tmp_path: Path, source: str) -> None:
    put_command(tmp_path, "rc-odd", source, entries="odd = {module}:odd")
    put_command(tmp_path, "rc-greets", greeting())
    done = command(tmp_path, "greet", "you")
    assert (done.code, done.out, done.err) == (0, "hello you\n", "")
    listed = command(tmp_path, "--help")
    assert (listed.code, listed.err) == (0, "")
    assert [line.split()[0] for line in listed_by_plugins(listed.out)][-2:] == ["greet", "odd"]


@pytest.mark.spec("BK-COMMAND")
def test_our_own_commands_look_for_no_plugin(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "offered", None)
    assert cli("score", "true.txt", "pred.txt", "-m", "ari").code == 0
    assert cli("--version").code == 0
    assert cli("fit", "--help").code == 0


@pytest.mark.spec("BK-COMMAND")
def test_a_typing_error_is_answered_with_the_name(tmp_path: Path) -> None:
    put_command(tmp_path, "rc-greets", greeting())
    done = command(tmp_path, "graet", "you")
    assert done.code == 2
    assert "No such command 'graet'. Did you mean 'greet', " in done.err


@pytest.mark.spec("BK-COMMAND")
def test_the_shell_completes_the_name_and_the_options(tmp_path: Path) -> None:
    put_command(tmp_path, "rc-greets", greeting())

    def completed(words: str, place: int) -> list[str]:
        asked = {"COMP_WORDS": words, "COMP_CWORD": str(place)}
        done = command(tmp_path, _REFCLUST_COMPLETE="complete_bash", **asked)
        assert done.err == ""
        return done.out.split()

    assert completed("refclust gre", 1) == ["greet"]
    assert completed("refclust greet --l", 2) == ["--loud"]


@pytest.mark.spec("BK-COMMAND", "OUT-TERM")
def test_texts_of_plugins_hide_nothing(tmp_path: Path) -> None:
    source = f"""
        from typing import Annotated
        import typer

        greet = typer.Typer(help="all {EVIL}")

        @greet.command(help="one {EVIL}", epilog="end {EVIL}")
        def first(name: Annotated[str, typer.Argument(metavar="A{EVIL}", help="a {EVIL}")]) -> None:
            raise KeyError("{EVIL}")

        @greet.command(short_help="two {EVIL}")
        def second() -> None:
            print()
    """
    metadata = f"Name: rc-odd{EVIL}\nVersion: 1.2.3{EVIL}\nSummary: Say {EVIL}.\n"
    put_command(tmp_path, "rc-odd", source, metadata=metadata)
    shown = for_terminal(EVIL)
    variables = {"PYTHONIOENCODING": "utf-8", "COLUMNS": "200"}
    for arguments, expected in (
        (("--help",), f"greet     Say {shown}. [rc-odd{shown}]"),
        (("greet", "--help"), f"all {shown}"),
        (("greet", "--help"), f"second  two {shown}"),
        (("greet", "first", "--help"), f"end {shown}"),
        (("greet", "first"), f"A{shown}"),
        (("greet", "first", "x"), f"(rc-odd{shown} 1.2.3{shown}) failed: KeyError: "),
    ):
        done = command(tmp_path, *arguments, **variables)
        text = done.out + done.err
        assert expected in text, (arguments, text)
        assert not any(sign in text for sign in EVIL if not sign.isprintable()), arguments


@pytest.mark.spec("BK-COMMAND")
def test_a_long_summary_is_cut(tmp_path: Path) -> None:
    metadata = f"Name: rc-odd\nVersion: 1\nSummary: {'x' * 500}\n\nSummary: of the description\n"
    put_command(tmp_path, "rc-odd", greeting(), metadata=metadata)
    listed = command(tmp_path, "--help", COLUMNS="200")
    assert listed_by_plugins(listed.out)[-1] == f"  greet     {'x' * 59}… [rc-odd]"


@pytest.mark.spec("BK-COMMAND")
def test_the_first_distribution_of_a_name_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        put_command(tmp_path / folder, "rc-greets", "", entries=f"{folder} = a:b")
    missing, file = tmp_path / "missing", tmp_path / "first" / "rc_greets.py"
    places = [missing, file, tmp_path / "first", tmp_path / "second"]
    monkeypatch.setattr(sys, "path", list(map(str, places)))
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "0")
    assert commands.offered(()) == (
        commands.PluginCommand("first", "a:b", "rc-greets", "1.2.3", "Say hello."),
    )


@pytest.mark.spec("BK-COMMAND")
def test_other_groups_of_entry_points_are_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = "# said = so:said\n\n greet = a:b \n[console_scripts]\nother = a:b"
    put_command(tmp_path, "rc-greets", "", entries=entries)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "")
    assert [(one.name, one.place) for one in commands.offered(())] == [("greet", "a:b")]


@pytest.mark.spec("BK-COMMAND")
def test_plugins_can_be_switched_off(tmp_path: Path) -> None:
    put_command(tmp_path, "rc-greets", greeting())
    off = command(tmp_path, "--help", REFCLUST_DISABLE_PLUGINS="1")
    assert (off.code, HEADING in off.out) == (0, False)
    assert command(tmp_path, "greet", "you", REFCLUST_DISABLE_PLUGINS="1").code == 2
    odd = command(tmp_path, "--help", REFCLUST_DISABLE_PLUGINS="maybe")
    assert (odd.code, odd.out) == (2, "")
    assert odd.err.startswith("refclust: REFCLUST_DISABLE_PLUGINS='maybe': use 1 or 0")


@pytest.mark.spec("BK-COMMAND")
def test_a_command_of_ours_that_is_not_installed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    done = cli("bench", "--quick")
    assert (done.code, done.out, done.err) == (
        2,
        "",
        "refclust: 'bench' is a command of refclust-bench, and REFCLUST_DISABLE_PLUGINS switches "
        "plugins off [missing-plugin]\n",
    )
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "0")
    monkeypatch.setattr(commands, "_read", lambda: iter(()))
    done = cli("bench", "--quick")
    assert (done.code, done.out, done.err) == (
        2,
        "",
        "refclust: 'bench' is a command of refclust-bench, which is not installed: pip install "
        "refclust-bench, or in a checkout pip install -e plugins/refclust-bench "
        "[missing-plugin]\n",
    )
    assert json.loads(cli("bench", "--json").err)["code"] == "missing-plugin"


@pytest.mark.spec("BK-COMMAND")
def test_the_help_imports_nothing_of_plugins(tmp_path: Path) -> None:
    put_command(tmp_path, "rc-greets", greeting())
    script = (
        "import sys; from refclust.cli.app import run; run(['--help']);"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "REFCLUST_DISABLE_PLUGINS": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "[rc-greets]" in done.stdout
    assert not set(done.stderr.split()) & {"rc_greets", "pluggy", "importlib.metadata"}
