"""``refclust bench`` from the command line: small, on the pure core, with its report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from command_line import Bench

from refclust.cli.app import run
from refclust.escape import for_terminal
from refclust_bench import runner

SMALL = ("--quick", "--workload", "MX-2", "--peers", "none", "--repeat", "1")


def test_one_object(bench: Bench) -> None:
    done = bench(*SMALL, "--backend", "reference,loopback", "--json")
    assert done.code == 0, done.err
    content = done.json()
    assert content["schema"] == "refclust-bench/1"
    assert (content["ok"], content["interrupted"], content["quick"], content["repeat"]) == (
        True,
        False,
        True,
        1,
    )
    assert content["threads"] == [1]
    assert [(row["id"], row["data"]) for row in content["workloads"]] == [
        ("MX-2", "flat"),
        ("MX-2", "zipf"),
    ]
    for row in content["workloads"]:
        assert row["finished"]
        assert row["best_peer"] is None
        names = [part["name"] for part in row["contenders"]]
        assert names == ["refclust reference", "refclust loopback"]
        assert {part["status"] for part in row["contenders"]} == {"same"}
        assert len({part["value"] for part in row["contenders"]}) == 1
        kernels = row["contenders"][1]["details"]["kernels"]
        assert [part["backend"] for part in kernels] == ["loopback"]


def test_a_table(bench: Bench) -> None:
    done = bench(*SMALL, "--backend", "reference", "--threads", "1")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert any(line.startswith("MX-2  ARI of 10,000 labels, 20×20; data: flat") for line in lines)
    assert any(line.startswith("refclust reference") and "same" in line for line in lines)
    assert "quick: sizes too small for figures worth quoting" in lines
    assert "no comparable pair of times" in lines[-1]
    assert done.err == ""


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--workload", "KM-X"), 2, "no workload is called 'KM-X'"),
        (("--peers", "weka"), 2, "no peer is called 'weka'"),
        (("--backend", "gpu"), 4, "no backend is called 'gpu'"),
        (("--threads", "0"), 2, "--threads"),
    ],
)
def test_mistakes(bench: Bench, arguments: tuple[str, ...], code: int, message: str) -> None:
    done = bench("--quick", *arguments)
    assert done.code == code
    assert message in done.err
    assert done.out == ""


def fail_in(monkeypatch: pytest.MonkeyPatch, sort: str, failing: BaseException | str) -> None:
    """Let the measurement of one data set be interrupted, or go wrong."""
    whole = runner.measure

    def measure(row: runner.Row, *arguments: Any) -> None:
        whole(row, *arguments)
        if row.case.sort != sort:
            return
        if isinstance(failing, BaseException):
            row.finished = False
            raise failing
        row.settings[0].status, row.settings[0].reason = "differs", failing

    monkeypatch.setattr(runner, "measure", measure)


def test_an_interrupt_prints_what_is_there(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_in(monkeypatch, "flat", KeyboardInterrupt())
    done = bench(*SMALL, "--backend", "reference")
    assert done.code == 130
    assert "data: flat" in done.out
    assert "(interrupted)" in done.out
    assert "data: zipf" not in done.out
    done = bench(*SMALL, "--backend", "reference", "--json")
    assert done.code == 130
    assert done.json()["interrupted"] is True
    assert [row["finished"] for row in done.json()["workloads"]] == [False]


def test_a_backend_that_differs_fails_the_benchmark(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_in(monkeypatch, "zipf", "3 of 9 labels are not those of refclust numpy")
    done = bench(*SMALL, "--backend", "reference")
    assert done.code == 1
    assert "WRONG  MX-2 zipf: refclust reference: 3 of 9 labels" in done.out
    done = bench(*SMALL, "--backend", "reference", "--json")
    assert (done.code, done.json()["ok"]) == (1, False)


def test_a_peer_that_differs_is_told_and_fails_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = runner.measure

    def measure(row: runner.Row, *arguments: Any) -> None:
        whole(row, *arguments)
        stranger = replace(row.settings[0].contender, name="stranger", own=False, version="7.1")
        reason = "0.5, refclust reference gave 0.75"
        row.settings.append(runner.Setting(stranger, 1, "not comparable", reason))

    monkeypatch.setattr(runner, "measure", measure)
    done = bench(*SMALL, "--backend", "reference")
    assert done.code == 0
    findings = [line for line in done.out.splitlines() if line.startswith("FOUND")]
    assert findings == [
        f"FOUND  MX-2 {sort}: stranger 7.1, 1 thread: 0.5, refclust reference gave 0.75"
        for sort in ("flat", "zipf")
    ]
    done = bench(*SMALL, "--backend", "reference", "--json")
    assert (done.code, done.json()["ok"]) == (0, True)
    assert [
        (finding["data"], finding["peer"], finding["version"])
        for finding in done.json()["findings"]
    ] == [
        ("flat", "stranger", "7.1"),
        ("zipf", "stranger", "7.1"),
    ]


def test_peers_that_are_missing_are_noted(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from refclust_bench import peers

    monkeypatch.setitem(peers.PEERS, "genieclust", peers.Peer("genieclust", "no_such_module"))
    arguments = [*SMALL, "--backend", "reference"]
    arguments[arguments.index("none")] = "genieclust"
    done = bench(*arguments)
    assert done.code == 0
    assert "refclust: genieclust is not installed; pip install genieclust" in done.err
    assert "left out: genieclust: not installed" in done.out


EVIL = "\x1b]0;t\x07\x9b31m\u202e"


@pytest.mark.parametrize("arguments", [("--workload", EVIL), ("--peers", EVIL), (f"--{EVIL}",)])
def test_what_is_hidden_in_arguments_is_shown(bench: Bench, arguments: tuple[str, ...]) -> None:
    done = bench(*arguments)
    assert (done.code, done.out) == (2, "")
    assert for_terminal(EVIL).lower() in done.err.lower()  # workloads are upper case
    assert not any(sign in done.err for sign in EVIL if not sign.isprintable())


def test_the_help_is_that_of_a_command_of_ours(bench: Bench) -> None:
    done = bench("-h")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(
        "Usage: refclust bench [OPTIONS]\n\n  Measure refclust beside its peers"
    )


def test_it_is_listed_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    assert "\n  bench     Measure refclust beside its peers. [refclust-bench]\n" in (
        capsys.readouterr().out
    )
