"""``refclust score`` and ``explain`` on every kind of evidence, from files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from refclust.errors import WrongEvidence
from tests.cli.conftest import Cli
from tests.cli.test_app import refclust
from tests.cli.test_pipes import run

ROWS = "x,y,kind\n0,0,u\n0,2,u\n4,0,v\n4,2,v\n"
GOOD, POOR = "a\na\nb\nb\n", "a\nb\na\nb\n"
HEAD = "4 objects in 2 clusters; ↑ higher is better, ↓ lower is better\n\n"
P_WORDS = "It is not the chance\nthat they are equally good"


@pytest.fixture(autouse=True)
def _files(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli is not None
    monkeypatch.delenv("COLUMNS", raising=False)
    for name, content in {
        "rows.csv": ROWS,
        "good.txt": GOOD,
        "poor.txt": POOR,
        "short.txt": "a\nb\n",
        "long.txt": GOOD + "b\n",
        "ragged.csv": "x,y\n1,2\n3\n",
        "labels.csv": "id,cluster\n1,a\n2,a\n3,b\n4,b\n",
        "near.csv": "0,1,9\n1,0,9\n9,9,0\n",
        "odd.csv": "0,1\n2,0\n",
        "empty.csv": "",
        "three.txt": "a\na\nb\n",
        "other.txt": "a\nb\na\n",
        "trials.csv": "fold,bayes,tree\n1,0.5,0.25\n2,1,0.5\n3,1,1/2\n4,0.75,1\n",
        "weights.txt": "2\n1\n1\n0\n",
    }.items():
        Path(name).write_text(content, encoding="utf-8")


# SSE of the good clustering: 4 rows at distance 1 from their means; BSS: 4 at distance 2.
def test_rows_and_labels(cli: Cli) -> None:
    call = ("score", "--data", "rows.csv", "--label-column", "kind")
    done = cli(*call, "good.txt", "-m", "sse", "-m", "bss")
    assert (done.code, done.err) == (0, "")
    assert done.out == HEAD + "  sse  ↓ 4.0   = 4\n  bss  ↑ 16.0  = 16\n"
    for labels in (
        (),
        ("labels.csv",),
        ("labels.csv:cluster",),
        ("labels.csv", "--column-pred", "cluster"),
    ):
        assert cli(*call, *labels, "-m", "sse", "-m", "bss").out == done.out
    dropped = cli("score", "--data", "rows.csv", "--column", "y", "good.txt", "-m", "sse")
    assert dropped.out == HEAD + "  sse  ↓ 4.0  = 4\n"


def test_several_clusterings_of_rows(cli: Cli) -> None:
    call = ("score", "--data", "rows.csv", "--label-column", "kind", "good.txt", "poor.txt")
    done = cli(*call, "-m", "sse", "-m", "bss", "-m", "size_entropy")
    assert done.out.splitlines()[4:7] == [
        "  metric        good.txt             poor.txt",
        "  sse ↓         4.0*                 16.0",
        "  bss ↑         16.0*                4.0",
    ]


def test_clusters_by_models(cli: Cli) -> None:
    fit = ("fit", "kmeans", "rows.csv", "--label-column", "kind", "-k", "2", "-o", "m.json")
    assert cli(*fit).code == 0
    done = cli("score", "--data", "rows.csv", "m.json", "poor.txt", "-m", "sse", "--format", "csv")
    assert done.out == "metric,better,m.json,poor.txt\nsse,lower,4.0,16.0\n"
    tree = ("fit", "agglomerative", "rows.csv", "--label-column", "kind", "-o", "t.json")
    assert cli(*tree).code == 0
    refused = cli("score", "--data", "rows.csv", "t.json")
    assert (refused.code, refused.err.endswith("[cannot-predict]\n")) == (2, True)


def test_proximities(cli: Cli) -> None:
    call = ("score", "--proximity", "near.csv", "three.txt", "-m")
    done = cli(*call, "silhouette", "-m", "dunn", "-m", "weight_between")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[2:] == [
        "  silhouette      ↑ 0.5925925925925926  = 16/27",  # (8/9 + 8/9 + 0) / 3
        "  dunn            ↑ 9.0                 = 9",
        "  weight_between  ↑ 18.0                = 18",
    ]
    assert cli(*call, "weight_between", "--similarities").out.splitlines()[2:] == [
        "  weight_between  ↓ 18.0  = 18",
    ]
    several = cli(*call, "silhouette", "other.txt", "--format", "csv")
    assert several.out.splitlines()[1] == f"silhouette,higher,{16 / 27},{-8 / 27}"
    piped = run(
        cli, "score", "--proximity", "A", "three.txt", "-m", "dunn", A="0,1,9\n1,0,9\n9,9,0\n"
    )
    assert piped[1].splitlines()[2] == "  dunn  ↑ 9.0  = 9"


def test_rows_serve_where_proximities_are_needed(cli: Cli) -> None:
    call = ("score", "--data", "rows.csv", "--label-column", "kind", "-m", "dunn")
    assert cli(*call).out == HEAD + "  dunn  ↑ 2.0  = 2\n"  # 4 between, 2 within


def test_weights_and_noise_of_rows(cli: Cli) -> None:
    call = ("score", "--data", "rows.csv", "--label-column", "kind", "-m", "sse")
    weighted = cli(*call, "good.txt", "--weights", "weights.txt")
    assert weighted.out.splitlines()[0].startswith("4 objects in 2 clusters;")
    assert weighted.out.splitlines()[2] == "  sse  ↓ 2.6666666666666665  = 8/3"
    done = cli(*call, "good.txt", "--noise", "b", "--noise-policy", "ignore")
    assert done.out.splitlines()[::2] == [
        "2 objects in 1 cluster; ↑ higher is better, ↓ lower is better",
        "  sse  ↓ 2.0  = 2",
    ]


def test_pipes(cli: Cli) -> None:
    plain = cli("score", "--data", "rows.csv", "good.txt", "--label-column", "kind", "-m", "sse")
    call = ("score", "--data", "A", "B", "--label-column", "kind", "-m", "sse")
    assert run(cli, *call, A=ROWS, B=GOOD) == (0, plain.out, "")
    standard = ("score", "--data", "-", "good.txt", "--label-column", "kind", "-m", "sse")
    assert cli(*standard, stdin=ROWS.encode()).out == plain.out
    labels = ("score", "--data", "rows.csv", "-", "--label-column", "kind", "-m", "sse")
    assert cli(*labels, stdin=GOOD.encode()).out == plain.out
    for twice in (("--data", "-", "-"), ("--data", "-", "good.txt", "--weights", "-")):
        done = cli("score", *twice)
        assert done.err == "refclust: standard input (-) can be read only once [bad-option]\n"
    piped = run(cli, "score", "A", "A", "good.txt", A=GOOD)
    assert piped[2].endswith("can be read only once [bad-option]\n")


def test_standard_input_by_any_name(tmp_path: Path) -> None:
    call = ("--label-column", "kind", "good.txt", "-m", "sse", "--format", "csv")
    for name in ("-", "/dev/stdin", "/dev/fd/0"):
        done = refclust("score", "--data", name, *call, cwd=tmp_path, input=ROWS)
        assert (done.returncode, done.stdout) == (0, "metric,better,value\nsse,lower,4.0\n")
    twice = refclust("score", "--data", "-", "/dev/stdin", cwd=tmp_path, input=ROWS)
    assert (twice.returncode, "can be read only once" in twice.stderr) == (2, True)


def test_trials(cli: Cli) -> None:
    call = ("score", "--trials", "trials.csv", "--id-column", "fold", "-m")
    done = cli(*call, "wilcoxon")
    assert done.out.splitlines()[:3] == [
        "4 trials, 2 methods; ↑ higher is better, ↓ lower is better",
        "",
        "  wilcoxon    0.375  = 3/8",
    ]
    assert P_WORDS in done.out
    statistic = cli(*call, "friedman_chi_squared")
    assert statistic.out.splitlines()[2:] == ["  friedman_chi_squared    1.0  = 1"]
    piped = run(
        cli, "score", "--trials", "A", *call[3:], "wilcoxon", A=Path("trials.csv").read_text()
    )
    assert piped[1] == done.out


def test_classifiers_are_one_case(cli: Cli) -> None:
    done = cli("score", "good.txt", "good.txt", "poor.txt", "-m", "mcnemar")
    assert done.out.splitlines()[:3] == [
        "4 objects, 2 classifiers; ↑ higher is better, ↓ lower is better",
        "",
        "  mcnemar    0.5  = 1/2",
    ]
    assert P_WORDS in done.out
    alone = cli("score", "good.txt", "poor.txt", "-m", "mcnemar")
    assert (alone.code, "name at least two classifiers" in alone.err) == (2, True)


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_explain_takes_the_same_evidence(cli: Cli, form: str) -> None:
    written = ("--format", form)
    tested = cli("explain", "mcnemar", "good.txt", "good.txt", "poor.txt", *written)
    assert tested.code == 0
    assert "It is not the" in tested.out.replace("\n", " ")
    assert "poor.txt wrong" in tested.out
    rows = cli("explain", "sse", "--data", "rows.csv", "--label-column", "kind", *written)
    assert rows.code == 0
    assert "nearest double 4.0" in rows.out
    trials = ("--trials", "trials.csv", "--id-column", "fold")
    assert "3/8" in cli("explain", "wilcoxon", *trials, *written).out


def test_explain_for_programs(cli: Cli) -> None:
    done = cli("explain", "mcnemar", "good.txt", "good.txt", "poor.txt", "--format", "json")
    answer = done.json()
    assert answer["schema"] == "refclust-explanation/1"
    assert answer["evidence"] == {"kind": "classifiers", "size": "4 objects, 2 classifiers"}
    assert answer["score"]["exact"] == "1/2"
    assert [formula["clause"] for formula in answer["formulas"]] == answer["score"]["clauses"]
    assert answer["derivation"][-1].endswith("= 0.5")
    assert answer["p_value"].startswith("p is the chance")
    plain = cli("explain", "ari", "good.txt", "poor.txt", "--format", "json").json()
    assert (plain["p_value"], plain["score"]["exact"]) == (None, "-1/2")
    refused = cli("explain", "em", "nosuch.json", "rows.csv", "--format", "json")
    assert (refused.code, json.loads(refused.err)["code"]) == (3, "file-not-found")


def test_explain_one_at_a_time(cli: Cli) -> None:
    done = cli("explain", "nmi", "good.txt", "poor.txt", "good.txt")
    assert (done.code, done.err) == (
        2,
        "refclust: 2 cases; one score is explained at a time [bad-option]\n",
    )
    done = cli("explain", "em", "a", "b", "--data", "rows.csv")
    assert (done.code, "explain em takes MODEL, DATA" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        (
            "score",
            ("good.txt", "poor.txt", "-m", "sse"),
            "sse needs rows and their clusters: ",
        ),
        (
            "score",
            ("--data", "rows.csv", "good.txt", "-m", "nmi"),
            "nmi needs a clustering and t",
        ),
        ("score", ("--trials", "t.csv", "-m", "nmi"), "give TRUE PRED, or --table FILE ["),
        (
            "score",
            ("a", "b", "-m", "nmi", "-m", "mcnemar"),
            "mcnemar needs two or more",
        ),
        ("score", ("a", "b", "-m", "wilcoxon"), "give --trials FILE ["),
        ("score", ("--proximity", "near.csv", "three.txt", "-m", "sse"), "give --data X LABELS ["),
        ("explain", ("sse", "good.txt", "poor.txt"), "give --data X LABELS ["),
        ("explain", ("nmi", "--data", "rows.csv", "good.txt"), "give TRUE PRED, or --table FILE ["),
    ],
)
def test_wrong_evidence_is_one_line(
    cli: Cli, command: str, arguments: tuple[str, ...], message: str
) -> None:
    done = cli(command, *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err
    assert done.err.endswith(f"[{WrongEvidence.code}]\n")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--data", "no.csv", "good.txt"), 3, "no.csv"),
        (("--data", "ragged.csv", "good.txt"), 3, "[ragged-rows]"),
        (
            ("--data", "rows.csv", "short.txt", "--label-column", "kind"),
            3,
            "has 2 labels",
        ),
        (
            ("--data", "rows.csv", "long.txt", "--label-column", "kind"),
            3,
            "5 labels, the data ha",
        ),
        (
            ("--data", "rows.csv", "good.txt", "short.txt", "--label-column", "3"),
            3,
            "short.txt has 2",
        ),
        (("--data", "rows.csv", "rows.csv", "--label-column", "kind"), 3, "so one must be named"),
        (("--data", "rows.csv", "no.json"), 3, "[file-not-found]"),
        (
            ("--proximity", "near.csv", "m.json"),
            2,
            "m.json: a model puts rows into clus",
        ),
        (("--proximity", "odd.csv", "short.txt"), 3, "[bad-distances]"),
        (("--trials", "trials.csv", "--column", "bayes"), 3, "[wrong-count]"),
        (("--trials", "rows.csv"), 3, "rows.csv:2, column 'kind' is 'u', which is not a number"),
        (("--trials", "ragged.csv"), 3, "ragged.csv:3: the row has 1 cell, the header has 2"),
        (
            ("--trials", "trials.csv", "--column", "svm"),
            3,
            "no column 'svm'; it has: 'fold'",
        ),
        (("--trials", "empty.csv"), 3, "[empty-file]"),
    ],
)
def test_broken_files_are_told_in_one_line(
    cli: Cli, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = cli("score", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1)
    assert message in done.err


def test_json_of_rows(cli: Cli) -> None:
    call = ("score", "--data", "rows.csv", "--label-column", "kind", "-m", "sse", "--json")
    answer = cli(*call).json()
    assert (answer["schema"], answer["evidence"]) == ("refclust-score/1", "rows")
    assert (answer["n"], answer["clusters"]) == (4, 2)
    assert [score["exact"] for score in answer["scores"]] == ["4"]
    refused = cli("score", "--data", "no.csv", "good.txt", "--format", "json")
    assert json.loads(refused.err)["schema"] == "refclust-error/1"
