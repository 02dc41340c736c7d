"""How every run ends: exit codes, one line on stderr, no traceback, quick start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from refclust import errors
from refclust.cli.app import app
from refclust.version import SPEC_VERSION, __version__
from tests.cli.conftest import Cli

COMMANDS = {
    *("demo", "fit", "predict", "describe", "sniff", "convert", "formats"),
    *("score", "explain", "spec", "verify", "vectors", "trace", "backends"),
    *("conform", "sample", "select", "compare", "crossval", "cite"),
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
    assert set(typer.main.get_command(app).commands) == COMMANDS  # type: ignore[attr-defined]
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
    assert "refclust.cli.commands.demo" in loaded
    heavy = {"rich", "click", "pluggy", "decimal", "fractions", "json", "csv", "importlib.metadata"}
    assert not loaded & heavy
    parts = {name.split(".")[1] for name in loaded if name.startswith("refclust.")}
    assert parts == {"backends", "cli", "errors", "notes", "version"}
    assert {name for name in loaded if name.startswith("refclust.backends.plugins.")} == {
        "refclust.backends.plugins.commands",
        "refclust.backends.plugins.switch",
    }


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
    assert completed("refclust score --trials x -m w", 5) == ["wilcoxon"]
    assert completed("refclust score --trials x -m pur", 5) == []
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
