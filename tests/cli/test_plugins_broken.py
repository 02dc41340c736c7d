"""Commands of plugins that are broken: in their metadata, while they are loaded, while they run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.backends.plugins import command, greeting, listed_by_plugins, put_command
from tests.cli.conftest import Cli


@pytest.mark.spec("BK-COMMAND")
@pytest.mark.parametrize(
    ("entries", "name", "reason"),
    [
        ("fit = m:greet", "fit", "refclust has a command of that name"),
        ("bench = m:greet", "bench", "the name belongs to refclust-bench"),
        ("Greet = m:greet", "Greet",
         "a name is made of words of small letters and digits, joined by '-'"),
        ("--greet = m:greet", "--greet",
         "a name is made of words of small letters and digits, joined by '-'"),
        ("= m:greet", "",
         "a name is made of words of small letters and digits, joined by '-'"),
        ("greet = m", "greet", "its entry point is 'm', not 'module:attribute'"),
        ("greet", "greet", "its entry point is '', not 'module:attribute'"),
        ("greet = m:f()", "greet", "its entry point is 'm:f()', not 'module:attribute'"),
    ],
)  # fmt: skip
def test_names_and_places_that_are_none(
    tmp_path: Path, entries: str, name: str, reason: str
) -> None:
    put_command(tmp_path, "rc-odd", "", entries=entries)
    put_command(tmp_path, "rc-well", greeting(), entries="salute = {module}:greet")
    told = f"refclust: the command {name!r} (rc-odd 1.2.3) is left out: {reason}\n"
    listed = command(tmp_path, "--help")
    assert (listed.code, listed.err) == (0, told)
    assert "[rc-odd]" not in listed.out
    done = command(tmp_path, "salute", "you")
    assert (done.code, done.out, done.err) == (0, "hello you\n", told)
    assert command(tmp_path, "fit", "--help").err == ""


@pytest.mark.spec("BK-COMMAND")
def test_a_name_of_ours_stays_with_its_distribution(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    for impostor in ("a-rc-odd", "z-rc-odd"):
        put_command(tmp_path, impostor, "1 / 0", entries="bench = {module}:greet")
    told = "".join(
        f"refclust: the command 'bench' ({impostor} 1.2.3) is left out: "
        "the name belongs to refclust-bench\n"
        for impostor in ("a-rc-odd", "z-rc-odd")
    )
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "0")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    done = cli("bench")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"{told}refclust: 'bench' is a command of refclust-bench, which is")
    put_command(tmp_path, "refclust-bench", greeting(), entries="bench = {module}:greet")
    called = command(tmp_path, "bench", "you")
    assert (called.code, called.out, called.err) == (0, "hello you\n", told)


@pytest.mark.spec("BK-COMMANDGUARD")
def test_a_name_that_two_offer_is_nobodys(tmp_path: Path) -> None:
    put_command(tmp_path, "rc-one", greeting())
    put_command(
        tmp_path, "rc-two", greeting(), entries="greet = {module}:greet\nnod = {module}:greet"
    )
    reason = "its name is offered twice, by rc-one 1.2.3 and rc-two 1.2.3"
    listed = command(tmp_path, "--help")
    assert listed.err == "".join(
        f"refclust: the command 'greet' ({owner} 1.2.3) is left out: {reason}\n"
        for owner in ("rc-one", "rc-two")
    )
    assert [line.split()[0] for line in listed_by_plugins(listed.out)][-1:] == ["nod"]
    assert "greet" not in listed.out
    done = command(tmp_path, "greet", "you")
    assert (done.code, done.out) == (4, "")
    told = f"the command 'greet' (rc-two 1.2.3) cannot be used: {reason} [backend-refused]"
    assert done.err == f"refclust: {told}\n"
    assert command(tmp_path, "nod", "you").out == "hello you\n"


@pytest.mark.spec("BK-COMMANDGUARD")
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)", "it tried to end the program (SystemExit: 0)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("import no_such_library", "ModuleNotFoundError: No module named 'no_such_library'"),
        ("", "AttributeError: module 'rc_odd' has no attribute 'greet'"),
        ("while True:\n        pass",
         "it was not done after 0.5 s, the time limit (see REFCLUST_PLUGIN_SECONDS)"),
        ("greet = 7", "TypeError: rc_odd:greet is 7, neither a function nor a typer application"),
        ("class greet: pass",
         "TypeError: rc_odd:greet is <class 'rc_odd.greet'>, neither a function nor a typer "
         "application"),
        ("import typer\n    greet = typer.Typer()",
         "RuntimeError: Could not get a command for this Typer instance"),
        ("import typer\n    greet = typer.Typer()\n    greet.registered_commands = None",
         "TypeError: object of type 'NoneType' has no len()"),
        ("def greet(what: object) -> None: pass",
         "RuntimeError: Type not yet supported: <class 'object'>"),
    ],
)  # fmt: skip
def test_ways_to_break_the_loading(tmp_path: Path, source: str, reason: str) -> None:
    put_command(tmp_path, "rc-odd", f"    {source}")
    called = command(tmp_path, "greet", "you", REFCLUST_PLUGIN_SECONDS="0.5")
    told = f"the command 'greet' (rc-odd 1.2.3) cannot be used: {reason}"
    assert (called.code, called.out) == (4, "")
    assert called.err == f"refclust: {told} [backend-refused]\n"
    listed = command(tmp_path, "--help")
    assert (listed.code, listed.err) == (0, "")


@pytest.mark.spec("BK-COMMANDGUARD")
def test_a_refusal_is_an_object_or_a_traceback_where_asked(tmp_path: Path) -> None:
    put_command(tmp_path, "rc-odd", "1 / 0")
    done = command(tmp_path, "greet", "you", "--json")
    assert (done.code, done.out) == (4, "")
    assert json.loads(done.err) == {
        "schema": "refclust-error/1",
        "code": "backend-refused",
        "message": "the command 'greet' (rc-odd 1.2.3) cannot be used: "
        "ZeroDivisionError: division by zero",
    }
    done = command(tmp_path, "--debug", "greet", "you")
    assert done.err.startswith("Traceback")
    assert "rc_odd.py" in done.err


@pytest.mark.spec("BK-COMMANDGUARD")
def test_what_is_printed_while_it_is_loaded_is_no_result(tmp_path: Path) -> None:
    put_command(tmp_path, "rc-odd", "    print('loading')\n" + greeting())
    done = command(tmp_path, "greet", "you")
    assert (done.code, done.out) == (0, "hello you\n")
    assert done.err == (
        "refclust: the command 'greet' (rc-odd 1.2.3) printed while it was loaded: loading\n"
    )


FAILS = "refclust: the command 'greet' (rc-odd 1.2.3) failed: "


@pytest.mark.spec("BK-COMMANDGUARD")
@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("raise KeyError(name)", 4, f"{FAILS}KeyError: 'you' [backend-failure]\n"),
        ("class Odd(BaseException): pass\n        raise Odd('no')", 4,
         f"{FAILS}Odd: no [backend-failure]\n"),
        ("class Odd(Exception): exit_code = 0\n        raise Odd('no')", 4,
         f"{FAILS}Odd: no [backend-failure]\n"),
        ("raise SystemExit('no')", 4,
         f"{FAILS}it ended with 'no', which is no exit code [backend-failure]\n"),
        ("raise SystemExit(256)", 4,
         f"{FAILS}it ended with 256, which is no exit code [backend-failure]\n"),
        ("raise typer.Exit(-1)", 4,
         f"{FAILS}it ended with -1, which is no exit code [backend-failure]\n"),
        ("raise SystemExit(7)", 7, ""),
        ("raise SystemExit", 0, ""),
        ("raise typer.Exit(5)", 5, ""),
        ("raise typer.Abort", 1, "Aborted!\n"),
        ("raise KeyboardInterrupt", 130, "refclust: interrupted\n"),
        ("raise BrokenPipeError", 141, ""),
        ("raise MemoryError", 3,
         "refclust: this takes more memory than there is; fewer rows, columns or clusters take "
         "less [too-large]\n"),
        ("from refclust.errors import EmptyInput; raise EmptyInput('nobody')", 3,
         "refclust: nobody [empty-input]\n"),
    ],
)  # fmt: skip
def test_ways_to_end(tmp_path: Path, line: str, code: int, told: str) -> None:
    put_command(tmp_path, "rc-odd", greeting(line))
    done = command(tmp_path, "greet", "you")
    assert (done.code, done.out, done.err) == (code, "", told)


@pytest.mark.spec("BK-COMMANDGUARD")
def test_wrong_arguments_are_told_as_ours_are(tmp_path: Path) -> None:
    put_command(tmp_path, "rc-odd", greeting("raise typer.BadParameter('no such name')"))
    done = command(tmp_path, "greet", "you")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("Error: Invalid value: no such name\n")
    done = command(tmp_path, "greet")
    assert done.code == 2
    assert "Missing argument 'name'" in done.err


@pytest.mark.spec("BK-COMMANDGUARD")
def test_an_option_that_fails_is_the_plugins(tmp_path: Path) -> None:
    source = """
        from typing import Annotated
        import typer

        def refuse(value):
            raise LookupError(value)

        def greet(name: Annotated[str, typer.Option(callback=refuse)] = "x") -> None:
            "Say hello."
    """
    put_command(tmp_path, "rc-odd", source)
    done = command(tmp_path, "greet", "--name", "you")
    assert (done.code, done.out, done.err) == (
        4,
        "",
        f"{FAILS}LookupError: you [backend-failure]\n",
    )


@pytest.mark.spec("BK-COMMANDGUARD")
def test_a_failure_is_an_object_or_a_traceback_where_asked(tmp_path: Path) -> None:
    put_command(tmp_path, "rc-odd", greeting("raise KeyError(name)").replace("loud", "json"))
    done = command(tmp_path, "greet", "you", "--json")
    message = FAILS.removeprefix("refclust: ") + "KeyError: 'you'"
    assert json.loads(done.err) == {
        "schema": "refclust-error/1",
        "code": "backend-failure",
        "message": message,
    }
    done = command(tmp_path, "--debug", "greet", "you")
    assert done.code == 4
    assert "raise KeyError(name)" in done.err
    assert done.err.endswith(f"refclust: {message} [backend-failure]\n")


@pytest.mark.spec("BK-COMMANDGUARD")
def test_metadata_that_are_broken(tmp_path: Path) -> None:
    put_command(tmp_path, "rc-odd", greeting(), metadata="")
    (tmp_path / "rc_folder-1.dist-info" / "entry_points.txt").mkdir(parents=True)
    (tmp_path / "rc_empty-1.dist-info").mkdir()
    bytes_of = tmp_path / "rc_bytes-1.dist-info"
    bytes_of.mkdir()
    (bytes_of / "entry_points.txt").write_bytes(b"[refclust.commands]\n\xff\xfe = a:b\n")
    listed = command(tmp_path, "--help")
    assert listed.code == 0
    assert "  greet     [unknown]" in listed_by_plugins(listed.out)
    assert listed.err == (
        r"refclust: the command '\\xff\\xfe' (unknown unknown) is left out: a name is made of "
        "words of small letters and digits, joined by '-'\n"
    )
    assert command(tmp_path, "greet", "you").out == "hello you\n"
