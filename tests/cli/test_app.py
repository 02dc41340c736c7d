"""How every run ends: exit codes, one line on stderr, no traceback, quick start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from typer.testing import CliRunner

from refclust import errors
from refclust.cli.app import app, commands
from refclust.version import SPEC_VERSION, __version__
from tests.backends.plugins import command, installed, put
from tests.cli.conftest import Cli

COMMANDS = {
    *("demo", "fit", "predict", "describe", "sniff", "convert", "formats"),
    *("score", "explain", "spec", "verify", "vectors", "trace", "backends"),
    *("bench", "conform", "sample", "select"),
}


def refclust(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run the real command in a process of its own."""
    script = "import sys; from refclust.cli.app import main; sys.exit(main())"
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    done: subprocess.CompletedProcess[str] = subprocess.run(  # type: ignore[call-overload]
        [sys.executable, "-c", script, *arguments],
        text=True,
        encoding="utf-8",
        check=False,
        **piped,
    )
    return done


def test_help_names_every_command() -> None:
    shown = CliRunner().invoke(app, ["--help"])
    assert shown.exit_code == 0
    assert commands() == COMMANDS
    for name in COMMANDS:
        assert f"\n  {name} " in shown.stdout
        own = CliRunner().invoke(app, [name, "-h"])
        assert own.exit_code == 0
        assert own.stdout.startswith(f"Usage: refclust {name} ")


def test_version(cli: Cli) -> None:
    python = ".".join(map(str, sys.version_info[:3]))
    told = (
        f"refclust {__version__} (specification {SPEC_VERSION}, backend API 1, Python {python})\n"
    )
    done = cli("--version")
    assert (done.code, done.out, done.err) == (0, told, "")


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from refclust.cli.app import run; run(['--help']);"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stderr.split())
    assert "refclust.cli.commands.score" in loaded
    heavy = {"rich", "click", "pluggy", "decimal", "fractions", "json", "csv", "importlib.metadata"}
    assert not loaded & heavy
    parts = {name.split(".")[1] for name in loaded if name.startswith("refclust.")}
    assert parts == {"cli", "errors", "notes", "version"}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["score", "true.txt", "pred.txt", "-m", "ari"], 0),
        (["score", "--nope"], 2),
        (["score", "true.txt", "missing.txt"], 3),
        (["score", "true.txt", "pred.txt", "--backend", "none"], 4),
        (["verify", "--answers", "wrong.json", "--chapter", "errata"], 1),
        (["nothing"], 2),
        ([], 2),
    ],
)
def test_exit_codes_of_the_real_command(tmp_path: Path, arguments: list[str], code: int) -> None:
    for name in ("true.txt", "pred.txt"):
        (tmp_path / name).write_text("a\nb\n", encoding="utf-8")
    (tmp_path / "wrong.json").write_text(
        '{"format": "refclust-answers/1", "answers": {}}', encoding="utf-8"
    )
    done = refclust(*arguments, cwd=tmp_path)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_unknown_command_and_option(cli: Cli) -> None:
    done = cli("scoer")
    assert (done.code, done.out) == (2, "")
    assert "Did you mean 'score'" in done.err
    assert cli("score", "--jsn").code == 2


def test_traceback_only_on_request(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "refclust: cannot read no.txt: no such file or directory [file-not-found]\n"
    call = ("score", "no.txt", "no.txt")
    assert cli(*call).err == line
    shown = cli("--debug", *call)
    assert shown.code == 3
    assert shown.err.startswith("Traceback")
    assert shown.err.endswith(line)
    monkeypatch.setenv("REFCLUST_DEBUG", "yes")
    assert cli(*call).err.startswith("Traceback")
    monkeypatch.setenv("REFCLUST_DEBUG", "0")
    assert cli(*call).err == line
    monkeypatch.setenv("REFCLUST_DEBUG", "maybe")
    done = cli(*call)
    assert done.code == 2
    assert done.err == (
        "refclust: REFCLUST_DEBUG='maybe': use 1 or 0, true or false, yes or no [bad-option]\n"
    )


def test_a_fault_of_our_own_is_told_in_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ZeroDivisionError("two\nlines")

    monkeypatch.setattr("refclust.backends.plugins.discovery.discover", broken)
    done = cli("backends")
    assert (done.code, done.out) == (70, "")
    assert done.err == (
        "refclust: a fault of refclust itself, ZeroDivisionError: two lines "
        "(--debug shows where) [fault]\n"
    )
    assert "Traceback" in cli("--debug", "backends").err


def test_interrupted(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("refclust.backends.plugins.discovery.discover", interrupted)
    done = cli("backends")
    assert (done.code, done.out, done.err) == (130, "", "refclust: interrupted\n")


def test_nobody_reads_the_output() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = refclust("vectors", "list", stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_every_error_has_an_exit_code() -> None:
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.RefclustError)
    ]
    assert {kind.exit_code for kind in kinds} == {2, 3, 4}


def test_signs_that_the_terminal_lacks(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\nb\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    call = ("score", "a.txt", "a.txt", "-m", "ari")
    done = refclust(*call, cwd=tmp_path, env=environment)
    assert done.returncode == 0
    assert "\\u2191" in done.stdout
    done = refclust(*call, "--json", cwd=tmp_path, env=environment)
    assert done.returncode == 0


def completed(words: str, position: int) -> list[str]:
    environment = {
        **os.environ,
        "_REFCLUST_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(position),
        "REFCLUST_DISABLE_PLUGINS": "1",
    }
    return refclust(env=environment).stdout.split()


def test_completion() -> None:
    assert completed("refclust ba", 1) == ["backends"]
    assert completed("refclust score -m pur", 3) == ["purity", "purity_f"]
    assert completed("refclust explain nmi[average=m", 2) == [
        "nmi[average=min]",
        "nmi[average=max]",
    ]


def test_completion_of_names() -> None:
    from refclust.cli.options import complete

    assert complete.complete_profile("s") == ["sklearn"]
    assert complete.complete_backend("l") == ["loopback"]
    assert complete.complete_chapter("43") == ["43-information"]
    assert ("PUR-INV", "Inverse purity") in complete.complete_clause("pur")
    assert [case for case, _ in complete.complete_case("x-ii")] == ["x-iir"]


PLUGIN = """
    import pluggy

    @pluggy.HookimplMarker("refclust")
    def refclust_register_commands(app):
        @app.command("greet")
        def greet(name: str) -> None:
            "Say hello."
            print(f"hello {name}")
"""


def test_a_command_of_a_plugin(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "registered_commands", list(app.registered_commands))
    assert cli("greet", "you").code == 2  # plugins are disabled
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "0")
    with installed(tmp_path, refclust_a_broken="1 / 0", refclust_greets=PLUGIN):
        done = cli("greet", "you")
        assert (done.code, done.out) == (0, "hello you\n")
        assert done.err == (
            "refclust: looked for the command 'greet' in the plugin 'refclust_a_broken', which "
            "failed: ZeroDivisionError: division by zero\n"
        )


@pytest.mark.spec("BK-GUARD")
@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("@app.command", "raise SystemExit(0)\n        @app.command",
         "it tried to end the program (SystemExit: 0)"),
        ("@app.command", "1 / 0\n        @app.command", "ZeroDivisionError: division by zero"),
        ('"greet")', '"fit")', "the command 'fit' is there already"),
        ("@app.command", "app.registered_commands.append(7)\n        @app.command",
         "it adds 7, which is no command"),
        ("@app.command", "app.registered_commands = None\n        return\n        @app.command",
         "its commands are None, not a list"),
    ],
)  # fmt: skip
def test_ways_to_break_the_commands(tmp_path: Path, old: str, new: str, reason: str) -> None:
    assert old in PLUGIN
    put(tmp_path, rc_odd=PLUGIN.replace(old, new), rc_well=PLUGIN.replace("greet", "salute"))
    done = command(tmp_path, "salute", "you")
    assert (done.code, done.out) == (0, "hello you\n")
    assert done.err == (
        "refclust: looked for the command 'salute' in the plugin 'rc_odd', which failed: "
        f"{reason}\n"
    )


@pytest.mark.spec("BK-GUARD")
def test_a_command_of_a_plugin_that_fails(tmp_path: Path) -> None:
    told = 'print(f"hello {name}")'
    put(tmp_path, rc_odd=PLUGIN.replace(told, "raise KeyError(name)"))
    done = command(tmp_path, "greet", "you")
    assert (done.code, done.out, done.err) == (
        4,
        "",
        "refclust: the command 'greet' (rc_odd 1.2.3) failed: KeyError: 'you' [backend-failure]\n",
    )
    assert command(tmp_path, "greet").code == 2
    for line, code in (("raise SystemExit(7)", 7), ("import typer; raise typer.Exit(5)", 5)):
        (tmp_path / "rc_odd.py").write_text(dedent(PLUGIN.replace(told, line)))
        assert command(tmp_path, "greet", "you").code == code
    (tmp_path / "rc_odd.py").write_text(
        dedent(PLUGIN.replace(told, "import typer; raise typer.BadParameter('no such name')"))
    )
    done = command(tmp_path, "greet", "you")
    assert done.code == 2
    assert "no such name" in done.err


def test_the_hook_of_a_plugin_prints(tmp_path: Path) -> None:
    put(tmp_path, rc_odd=PLUGIN.replace("@app.command", "print('adding')\n        @app.command"))
    done = command(tmp_path, "greet", "you")
    assert (done.code, done.out) == (0, "hello you\n")
    assert done.err == (
        "refclust: the plugin 'rc_odd' (rc_odd 1.2.3) printed in refclust_register_commands: "
        "adding\n"
    )


def test_our_own_commands_look_for_no_plugin(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refclust.cli.plugins.add_commands", None)
    assert cli("score", "true.txt", "pred.txt", "-m", "ari").code == 0
