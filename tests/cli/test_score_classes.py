"""Classes, probabilities, sets of labels, raters and shares on the command line."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_pipes import run

TRUE, PRED, OTHER = "a\na\nb\nb\nc\n", "a\nb\nb\nb\na\n", "a\na\na\nb\nc\n"
TABLE = ',ground beetle,"ant, red"\nground beetle,3,1\n"ant, red",0,4\n'
RATERS = "anna,bob,eve\na,a,a\na,b,\nb,b,b\n"
SCORES = "y,score\n1,0.75\n0,0.25\n1,0.5\n0,1/2\n"
EACH = "id,class,p_a,p_b,p_c\n0,a,1,0,0\n1,b,0.25,0.5,0.25\n2,b,0,1,0\n3,b,0,1,0\n4,a,0.5,0,0.5\n"
REPORT = """\
5 objects in 3 classes; accuracy 0.6000 (3 of 5 right)

  class             precision  recall      F1  support
  a                    0.5000  0.5000  0.5000        2
  b                    0.6667  1.0000  0.8000        2
  c                 undefined  0.0000  0.0000        1

  macro average     undefined  0.5000  0.4333        5
  weighted average  undefined  0.6000  0.5200        5

precision of c is undefined (0/0: nothing was predicted to be of the class)

rows are true, columns are predicted classes
        a     b  c  Σ
  a  ▒▒ 1  ▒▒ 1  0  2
  b     0  ██ 2  0  2
  c  ██ 1     0  0  1
  Σ     2     3  0  5
  shade by share of the row: ░░ ▒▒ ▓▓ ██
"""


@pytest.fixture(autouse=True)
def _files(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli is not None
    monkeypatch.delenv("COLUMNS", raising=False)
    for name, content in {
        "t.txt": TRUE,
        "p.txt": PRED,
        "q.txt": OTHER,
        "table.csv": TABLE,
        "wrong.csv": ",a,b\nb,1,2\na,3,4\n",
        "wide.csv": "1,2,3\n4,5,6\n",
        "raters.csv": RATERS,
        "counts.csv": "a,b\n3,0\n1,1\n0,3\n",
        "scores.csv": SCORES,
        "above.csv": SCORES.replace("0.75", "1.5"),
        "each.csv": EACH,
        "ragged.csv": "a,b\n1,2\n3\n",
        "sets.txt": "a,b\n\nb\n",
        "other.txt": "a\nb\nb\n",
        "costs.csv": "0,1,1\n2,0,1\n4,1,0\n",
    }.items():
        Path(name).write_text(content, encoding="utf-8")


def test_the_report_of_classes(cli: Cli) -> None:
    done = cli("score", "--classification", "t.txt", "p.txt")
    assert (done.code, done.err) == (0, "")
    assert done.out == REPORT
    assert max(map(len, done.out.splitlines())) < 80
    assert run(cli, "score", "--classification", "A", "B", A=TRUE, B=PRED) == (0, REPORT, "")
    standard = cli("score", "--classification", "-", "p.txt", stdin=TRUE.encode())
    assert standard.out == REPORT


def test_the_report_in_other_forms(cli: Cli) -> None:
    call = ("score", "--classification", "t.txt", "p.txt", "--format")
    assert list(csv.reader(io.StringIO(cli(*call, "csv").out))) == [
        ["kind", "name", "precision", "recall", "f1", "accuracy", "support"],
        ["class", "a", "0.5", "0.5", "0.5", "", "2"],
        ["class", "b", "0.6666666666666666", "1.0", "0.8", "", "2"],
        ["class", "c", "NaN", "0.0", "0.0", "", "1"],
        ["average", "macro", "NaN", "0.5", "0.43333333333333335", "", "5"],
        ["average", "weighted", "NaN", "0.6", "0.52", "", "5"],
        ["all", "", "", "", "", "0.6", "5"],
    ]
    assert cli(*call, "markdown", "--digits", "2").out.splitlines()[:5] == [
        "5 objects in 3 classes; accuracy 0.60 (3 of 5 right).",
        "",
        "| class | precision | recall | F1 | support |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| a | 0.50 | 0.50 | 0.50 | 2 |",
    ]
    assert r"c & undefined & $0.0000$ & $0.0000$ & $1$ \\" in cli(*call, "latex").out
    answer = cli(*call, "json").json()
    assert (answer["schema"], answer["evidence"]) == ("refclust-score/1", "confusion")
    assert answer["report"]["classes"][2] == {
        "class": "c",
        "precision": None,
        "recall": 0.0,
        "f1": 0.0,
        "support": 1,
    }
    assert answer["report"]["averages"]["macro"]["recall"] == 0.5
    assert {score["key"] for score in answer["scores"]} >= {"accuracy", "kappa", "mcc"}


def test_named_metrics_and_all_of_them(cli: Cli) -> None:
    head = "5 objects in 3 classes; ↑ higher is better, ↓ lower is better\n\n"
    plain = cli("score", "t.txt", "p.txt", "-m", "accuracy")  # the metric says what files mean
    assert plain.out == head + "  accuracy  ↑ 0.6  = 3/5\n"
    call = ("score", "--classification", "t.txt", "p.txt")
    assert cli(*call, "-m", "accuracy").out == plain.out
    recall = cli(*call, "-m", "recall", "--positive", "b")
    assert recall.out == head + "  recall  ↑ 1.0  = 1\n"
    cost = cli(*call, "-m", "expected_cost", "--costs", "costs.csv")
    assert cost.out == head + "  expected_cost  ↓ 1.0  = 1\n"  # (1 + 4) / 5
    every = cli(*call, "--all")
    assert "  kappa " in every.out
    assert "positive" in every.err


def test_several_classifiers(cli: Cli) -> None:
    done = cli("score", "--classification", "t.txt", "p.txt", "q.txt", "-m", "accuracy")
    assert done.out.splitlines() == [
        "2 classifiers; ↑ higher is better, ↓ lower is better, * the best of its row",
        "  p.txt  5 objects in 3 classes",
        "  q.txt  5 objects in 3 classes",
        "",
        "  metric      p.txt  q.txt",
        "  accuracy ↑  0.6    0.8*",
    ]


def test_a_confusion_table(cli: Cli) -> None:
    done = cli("score", "--classification", "--table", "table.csv", "--header")
    lines = done.out.splitlines()
    assert lines[0] == "8 objects in 2 classes; accuracy 0.8750 (7 of 8 right)"
    assert "  ground beetle        1.0000  0.7500  0.8571        4" in lines
    assert "  ground beetle           ▓▓ 3      ░░ 1  4" in lines
    order = cli("score", "--classification", "t.txt", "p.txt", "--classes", "c,b,a")
    assert [line.split()[0] for line in order.out.splitlines()[3:6]] == ["c", "b", "a"]


def test_probabilities(cli: Cli) -> None:
    call = ("score", "--proba", "scores.csv", "--column-true", "y", "-m", "roc_auc")
    done = cli(*call, "-m", "brier_score")
    assert done.out.splitlines()[2:] == [
        "  roc_auc      ↑ 0.875    = 7/8",
        "  brier_score  ↓ 0.15625  = 5/32",
    ]
    each = ("score", "--proba", "each.csv", "t.txt", "-m", "top_k_accuracy[k=1]")
    assert cli(*each).code == 0
    several = ("score", "--proba", "each.csv", "--proba", "each.csv", "t.txt", "-m", "brier_score")
    assert cli(*several).out.startswith("2 classifiers; ")
    piped = run(cli, "score", "--proba", "A", "B", "-m", "brier_score", A=EACH, B=TRUE)
    assert piped[1] == cli("score", "--proba", "each.csv", "t.txt", "-m", "brier_score").out


def test_raters_sets_and_shares(cli: Cli) -> None:
    done = cli("score", "--raters", "raters.csv", "-m", "percent_agreement")
    assert done.out.splitlines() == [
        "3 objects, 3 raters, 2 categories; ↑ higher is better, ↓ lower is better",
        "",
        "  percent_agreement  ↑ 0.6666666666666666  = 2/3",
    ]
    counts = cli("score", "--raters", "counts.csv", "--counts", "-m", "percent_agreement")
    assert counts.out.splitlines()[2] == done.out.splitlines()[2]
    assert run(cli, "score", "--raters", "A", "-m", "percent_agreement", A=RATERS)[1] == done.out
    sets = cli("score", "--label-sets", "sets.txt", "other.txt", "-m", "hamming_loss")
    assert sets.out.splitlines()[2] == "  hamming_loss  ↓ 0.3333333333333333  = 1/3"
    shares = cli("score", "--memberships", "each.csv", "-m", "partition_coefficient")
    # (1 + 3/8 + 1 + 1 + 1/2) / 5
    assert shares.out.splitlines()[2] == "  partition_coefficient  ↑ 0.775  = 31/40"


def test_a_metric_that_refuses_does_not_cost_the_others(cli: Cli) -> None:
    done = cli("score", "--raters", "raters.csv")
    assert done.code == 0
    assert "  fleiss_kappa " in done.out
    assert done.err.startswith("refclust: left out: scott_pi (")


@pytest.mark.parametrize(
    "call",
    [
        ("accuracy", "--classification", "t.txt", "p.txt"),
        ("kappa", "--classification", "--table", "table.csv", "--header"),
        ("roc_auc", "--proba", "scores.csv", "--column-true", "y"),
        ("percent_agreement", "--raters", "raters.csv"),
        ("hamming_loss", "--label-sets", "sets.txt", "other.txt"),
        ("partition_coefficient", "--memberships", "each.csv"),
    ],
)
@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_every_kind_is_explained(cli: Cli, call: tuple[str, ...], form: str) -> None:
    done = cli("explain", *call, "--format", form)
    assert (done.code, done.err) == (0, "")
    assert "nearest double" in done.out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--classification",), 2, "nothing to read"),
        (("--classification", "t.txt"), 2, "PRED is missing"),
        (("--classification", "t.txt", "sets.txt"), 3, "sets.txt:2: the line is empty"),
        (("--classification", "t.txt", "other.txt"), 3, "[label-length-mismatch]"),
        (("--classification", "--table", "wide.csv"), 3, "[bad-table]"),
        (("--classification", "--table", "wrong.csv", "--header"), 3, "the same classes in the"),
        (("--classification", "--table", "table.csv", "t.txt"), 2, "--table replaces the labels"),
        (("--classification", "t.txt", "p.txt", "--positive", "z"), 2, "none of the classes"),
        (("--classification", "t.txt", "p.txt", "--noise", "a"), 2, "--noise cannot go with pred"),
        (("--classification", "t.txt", "p.txt", "-m", "recall"), 2, "[bad-option]"),
        (("--classification", "t.txt", "p.txt", "--classes", '"a'), 2, "separated by commas"),
        (("--classification", "t.txt", "p.txt", "--costs", "wide.csv"), 3, "[wrong-count]"),
        (("--proba", "scores.csv"), 2, "the truth is missing"),
        (("--proba", "scores.csv", "t.txt"), 3, "t.txt has 5, scores.csv has 4"),
        (("--proba", "scores.csv", "--column-true", "z"), 3, "no column 'z'; it has: 'y', 'score"),
        (("--proba", "each.csv", "t.txt", "p.txt"), 2, "one file TRUE"),
        (("--proba", "above.csv", "--column-true", "y", "-m", "log_loss"), 3, "[bad-distribution]"),
        (("--proba", "each.csv", "--column-true", "id"), 2, "the true class '0' is not among"),
        (("--proba", "table.csv", "t.txt"), 3, "t.txt has 5, table.csv has 2"),
        (("--raters", "ragged.csv"), 3, "ragged.csv:3: the row has 1 cell, the header has 2"),
        (("--raters", "raters.csv", "--column", "anna"), 3, "[wrong-count]"),
        (("--raters", "raters.csv", "--classes", "a"), 3, "[bad-label]"),
        (("--raters", "raters.csv", "--counts"), 3, "is 'a', which is not a number"),
        (("--label-sets", "sets.txt"), 2, "--label-sets needs two files or more"),
        (("--label-sets", "sets.txt", "t.txt"), 3, "[label-length-mismatch]"),
        (("--memberships", "raters.csv"), 3, "[bad-number]"),
    ],
)
def test_broken_files_are_told_in_one_line(
    cli: Cli, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = cli("score", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1), done
    assert message in done.err
