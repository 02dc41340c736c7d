"""``refclust trace --evidence``: what is tried, told and kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from refclust.testing.evidence import run
from refclust.testing.evidence.run import Result, Survivor, Trial
from refclust.trace import places, scan
from refclust.trace.locks import mutants
from tests.cli.conftest import Cli
from tests.trace.trees import FORMULA_FILE, TEST_FILE, Tree

NAME = "refclust.formulas.matching:purity"
SURVIVORS = (
    Survivor(11, "Div to *", "    return a / b", "    return (a * b)", "survived"),
    Survivor(11, "max to min", "    return max(a)", "    return min(a)", "doctest"),
)


class Trials:
    """Stands for the trials: remembers what was asked for, and gives one result."""

    def __init__(self, killed: dict[str, int]) -> None:
        self.killed, self.asked, self.options = killed, list[Trial](), dict[str, Any]()

    def __call__(
        self, trials: Sequence[Trial], done: Callable[[Result], None], **options: object
    ) -> None:
        self.asked, self.options = list(trials), options
        for one in trials:
            done(Result(one.clause, NAME, 4, 9, self.killed, {"golden": 3}, ("t",), SURVIVORS, 1.5))


@pytest.fixture
def tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Trials]:
    """The command on a small tree of its own."""
    tree = Tree(tmp_path)

    def use(**killed: int) -> Trials:
        trials = Trials(killed)
        monkeypatch.setattr(run, "each", trials)
        return trials

    real, found = scan.scan, places.locate(tree.root)
    monkeypatch.setattr(scan, "scan", lambda _: real(tree.root))
    monkeypatch.setattr(places, "checkout", lambda: found)
    return use


def test_the_report_and_what_is_kept(
    cli: Cli, tried: Callable[..., Trials], tmp_path: Path
) -> None:
    trials = tried(golden=2, doctest=1)
    done = cli("trace", "--evidence", "--sample", "4", "--jobs", "2")
    assert done.code == 0
    assert [(one.clause, one.place.qualname, one.tests) for one in trials.asked] == [
        ("PUR", "purity", (f"{TEST_FILE}::test_bounds",))
    ]
    assert trials.options == {"root": tmp_path, "sample": 4, "jobs": 2}
    assert done.out == (
        f"PUR  {NAME}\n"
        "  4 of 9 changes tried; noticed: 2 by golden, 1 by doctest; reached by: 3 golden\n"
        "  fails without any change: t\n"
        "  line 11: Div to *\n"
        "    -     return a / b\n    +     return (a * b)\n"
        "  line 11: max to min (noticed by the doctest alone)\n"
        "    -     return max(a)\n    +     return min(a)\n\n"
        "1 clause, 4 changes: 2 noticed, 1 by the doctest alone, 0 listed as equivalent, 1 not\n"
    )
    assert done.err == "refclust: 1 clause to try\nrefclust: PUR: 50% +25% of 4, 1.5 s\n"
    [line] = mutants.read(tmp_path / "spec").values()
    assert line["survived"] == [["Div to *", "return a / b", "return (a * b)"]]
    assert (line["mutants"], line["of"]) == (4, 9)


def test_only_what_is_stale_is_tried_again(
    cli: Cli, tried: Callable[..., Trials], tmp_path: Path
) -> None:
    trials = tried(golden=4)
    cli("trace", "--evidence")
    assert cli("trace", "--evidence", "--json").json()["evidence"] == []
    assert len(cli("trace", "--evidence", "--clause", "pur", "--json").json()["evidence"]) == 1
    assert len(cli("trace", "--evidence", "--chapter", "41", "--json").json()["evidence"]) == 1
    text = (tmp_path / FORMULA_FILE).read_text(encoding="utf-8")
    (tmp_path / FORMULA_FILE).write_text(text.replace("max(row)", "min(row)"), encoding="utf-8")
    cli("trace", "--evidence")
    assert [one.clause for one in trials.asked] == ["PUR"]


def test_evidence_that_does_not_bite_fails(cli: Cli, tried: Callable[..., Trials]) -> None:
    tried()
    done = cli("trace", "--evidence")
    assert done.code == 1
    assert done.out.endswith("0 listed as equivalent, 4 not; no evidence bites: PUR\n")


def test_changes_that_change_nothing_are_told_apart(
    cli: Cli, tried: Callable[..., Trials], tmp_path: Path
) -> None:
    change = ["Div to *", "return a / b", "return (a * b)"]
    line = json.dumps({"id": "PUR", "change": change, "why": "b is 1"})
    (tmp_path / "spec/locks/evidence/equivalent.jsonl").write_text(line, encoding="utf-8")
    tried(golden=2, doctest=1)
    done = cli("trace", "--evidence")
    assert done.code == 0
    assert done.out.endswith("1 by the doctest alone, 1 listed as equivalent, 0 not\n")
    assert done.err.endswith("PUR: 66% +33% of 4, 1.5 s\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--evidence", "--check"], "--evidence stands alone"),
        (["--clause", "PUR"], "--clause, --sample and --jobs go with --evidence"),
        (["--evidence", "--jobs", "0"], "--jobs 0: allowed are 1 and more"),
        (["--evidence", "--sample", "-1"], "--sample -1: allowed are 1 and more"),
        (["--evidence", "--clause", "PURR"], "no clause 'PURR'; `refclust spec` lists them all"),
        (["--evidence", "--clause", "PUR-NOTE"], "PUR-NOTE: it has no definition to change"),
    ],
)
def test_what_is_refused(
    cli: Cli, tried: Callable[..., Trials], arguments: list[str], message: str
) -> None:
    tried()
    done = cli("trace", *arguments)
    assert done.code == 2
    assert message in done.err
