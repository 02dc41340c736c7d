"""Several clusterings and metrics in one table, in every form; the list of all metrics."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from refclust.cli.options.complete import metric_offers
from refclust.cli.show import tables
from refclust.cli.show.tables import Table
from refclust.metrics.catalogue import ENTRIES, NEEDS, entries_for
from refclust.version import __version__
from tests.cli.conftest import TRUE, Cli

SEVERAL = ("score", "true.txt", "pred.txt", "true.txt", "one.txt")
ASKED = ("-m", "ari", "-m", "mirkin", "-m", "entropy_clusters", "-m", "nmi")


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def several(cli: Cli) -> Cli:
    Path("one.txt").write_text("a\n" * len(TRUE), encoding="utf-8")
    return cli


def test_the_best_of_each_row_is_marked(several: Cli) -> None:
    done = several(*SEVERAL, *ASKED)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "3 clusterings; ↑ higher is better, ↓ lower is better, * the best of its row\n"
        "  pred.txt  17 objects in 3 clusters and 3 classes\n"
        "  true.txt  17 objects in 3 clusters and 3 classes\n"
        "  one.txt   17 objects in 1 cluster and 3 classes\n"
        "\n"
        "  metric            pred.txt            true.txt             one.txt\n"
        "  adjusted_rand ↑   0.242914979757085   1.0*                 0.0\n"
        "  mirkin ↓          88.0                0.0*                 184.0\n"
        "  entropy_clusters  1.0950778621205006  1.0551016181686423   0.0\n"
        "  nmi ↑             0.3646247961942429  1.0*                 undefined\n"
        "\n"
        "nmi of one.txt is undefined (0/0: the entropies that should normalise are zero)\n"
    )


def test_ties_are_all_marked(cli: Cli) -> None:
    done = cli("score", "true.txt", "pred.txt", "pred.txt", "-m", "mirkin")
    assert done.out.splitlines()[-1] == "  mirkin ↓  88.0*      88.0*"


def test_what_is_undefined_is_never_the_best(several: Cli) -> None:
    done = several("score", "true.txt", "one.txt", "pred.txt", "true.txt", "-m", "nmi", "--json")
    assert done.json()["best"] == {"nmi": [2]}


def test_all_metrics_of_several_by_family(several: Cli) -> None:
    done = several(*SEVERAL)
    heads = [line.split() for line in done.out.splitlines() if line.endswith("one.txt")]
    assert [head[0] for head in heads] == ["matching", "pairs", "information", "association"]
    keys = {line.split()[0] for line in done.out.splitlines()[4:] if line.startswith("  ")}
    assert {entry.name for entry in entries_for("labelings")} <= keys


def test_a_narrow_terminal_continues_below(several: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    done = several(*SEVERAL, "-m", "ari", "-m", "nmi")
    assert done.out.splitlines()[5:12] == [
        "  metric           pred.txt            true.txt",
        "  adjusted_rand ↑  0.242914979757085   1.0*",
        "  nmi ↑            0.3646247961942429  1.0*",
        "",
        "  metric           one.txt",
        "  adjusted_rand ↑  0.0",
        "  nmi ↑            undefined",
    ]


def test_csv_has_every_digit_and_no_words(several: Cli) -> None:
    done = several(*SEVERAL, *ASKED, "--format", "csv")
    rows = list(csv.reader(io.StringIO(done.out)))
    assert rows == [
        ["metric", "better", "pred.txt", "true.txt", "one.txt"],
        ["adjusted_rand", "higher", "0.242914979757085", "1.0", "0.0"],
        ["mirkin", "lower", "88.0", "0.0", "184.0"],
        ["entropy_clusters", "neither", "1.0950778621205006", "1.0551016181686423", "0.0"],
        ["nmi", "higher", "0.3646247961942429", "1.0", "NaN"],
    ]
    single = several("score", "true.txt", "pred.txt", "-m", "ari", "--format", "csv")
    assert single.out == "metric,better,value\nadjusted_rand,higher,0.242914979757085\n"


def test_markdown_and_latex_with_few_digits(several: Cli) -> None:
    call = (*SEVERAL, "-m", "ari", "-m", "mirkin")
    assert several(*call, "--format", "markdown").out == (
        "| metric | better | pred.txt | true.txt | one.txt |\n"
        "| --- | --- | ---: | ---: | ---: |\n"
        "| adjusted\\_rand | higher | 0.2429 | **1.000** | 0.000 |\n"
        "| mirkin | lower | 88.00 | **0.000** | 184.0 |\n"
    )
    assert several(*call, "--format", "latex", "--digits", "2").out == (
        "\\begin{tabular}{llrrr}\n"
        "metric & better & pred.txt & true.txt & one.txt \\\\\n"
        "\\hline\n"
        "adjusted\\_rand & higher & $0.24$ & $\\mathbf{1.0}$ & $0.0$ \\\\\n"
        "mirkin & lower & $88$ & $\\mathbf{0.0}$ & $184$ \\\\\n"
        "\\end{tabular}\n"
    )


def test_json_of_several(several: Cli) -> None:
    done = several(*SEVERAL, *ASKED, "--format", "json")
    answer = done.json()
    assert (answer["schema"], answer["refclust"]) == ("refclust-score-table/1", __version__)
    assert answer["evidence"] == "labelings"
    assert [case["name"] for case in answer["cases"]] == ["pred.txt", "true.txt", "one.txt"]
    assert [case["clusters"] for case in answer["cases"]] == [3, 3, 1]
    assert [score["value"] for score in answer["cases"][1]["scores"][:2]] == [1.0, 0.0]
    assert answer["best"] == {
        "adjusted_rand": [1],
        "mirkin": [1],
        "entropy_clusters": [],
        "nmi": [1],
    }


def test_columns_of_one_file(cli: Cli) -> None:
    columns = ("both.csv", "--column-true", "species", "--column-pred", "cluster")
    done = cli("score", *columns, "--column-pred", "species", "-m", "mirkin")
    assert done.out.splitlines()[-2:] == [
        "  metric    cluster  species",
        "  mirkin ↓  88.0     0.0*",
    ]
    named = cli("score", "both.csv:species", "both.csv:cluster", "-m", "mirkin", "--format", "csv")
    assert named.out == "metric,better,value\nmirkin,lower,88.0\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("true.txt", "pred.txt", "--json", "--format", "csv"), "--json and --format csv are two"),
        (("true.txt", "pred.txt", "--format", "csv", "--digits", "3"), "every digit there is"),
        (("true.txt", "pred.txt", "--format", "latex", "--draw"), "--draw goes with text"),
        (("true.txt", "pred.txt", "--format", "csv", "-v"), "--verbose goes with text"),
        (("--data", "x", "--classification", "true.txt"), "--data and --classification are evi"),
        (("true.txt", "pred.txt", "--similarities"), "--similarities says what --proximity FILE"),
        (("true.txt", "pred.txt", "--counts"), "--counts says what --raters FILE holds"),
        (("true.txt", "pred.txt", "--label-column", "y"), "options for reading data cannot go wit"),
        (("--data", "x", "l", "--column-true", "y"), "--column-true cannot go with rows and their"),
    ],
)
def test_what_does_not_go_together(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    done = cli("score", *arguments)
    assert (done.code, done.out) == (2, "")
    message = json.loads(done.err)["message"] if "--json" in arguments else done.err
    assert words in message
    assert done.err.count("\n") == 1


def test_errors_are_json_if_the_answer_would_be(cli: Cli) -> None:
    for call in (("--format", "json"), ("--format=json",), ("--json",)):
        done = cli("score", "no.txt", "pred.txt", *call)
        assert json.loads(done.err)["code"] == "file-not-found"


def test_the_list_of_all_metrics(cli: Cli) -> None:
    done = cli("score", "--list")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == f"{NEEDS['labelings']}: refclust score TRUE PRED, or --table FILE"
    listed = [line for line in lines if line.startswith("  ") and not line.startswith("   ")]
    assert {line.split()[0] for line in listed} == set(ENTRIES)
    [nmi] = [line for line in lines if line.startswith("  nmi ")]
    assert nmi.split(maxsplit=5)[1:] == [
        *("↑", "0", "…", "1"),
        "Normalised mutual information [average=geometric|arithmetic|min|max|joint]",
    ]
    answer = cli("score", "--list", "--json").json()
    assert answer["schema"] == "refclust-metrics/1"
    assert [metric["key"] for metric in answer["metrics"]] == [
        entry.name for kind in NEEDS for entry in ENTRIES.values() if entry.evidence == kind
    ]
    rows = list(csv.DictReader(io.StringIO(cli("score", "--list", "--format", "csv").out)))
    assert {row["metric"]: row["better"] for row in rows} == {
        entry.name: entry.better for entry in ENTRIES.values()
    }
    of_trials = cli("score", "--list", "--trials", "x").out.splitlines()
    assert of_trials[0] == f"{NEEDS['measurements']}: refclust score --trials FILE"
    assert "  wilcoxon " in "\n".join(of_trials)
    assert "  nmi " not in "\n".join(of_trials)


def test_the_list_fits_a_narrow_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = cli("score", "--list").out.splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("  nmi "))
    assert lines[place + 1] == "      [average=geometric|arithmetic|min|max|joint]"


def test_completion_knows_the_evidence() -> None:
    assert ("mcnemar", "McNemar's test, p-value (two or more classifiers on one test set)") in (
        metric_offers("mcn")
    )
    assert metric_offers("mcn", "labelings") == []
    assert [key for key, _ in metric_offers("wil", "measurements")] == ["wilcoxon"]


def test_tables_escape_for_where_they_go() -> None:
    evil = "=a|b_&\x1b[1m\n"
    table = Table(["", evil], [[evil, "-1.5"]], marked=frozenset([(0, 1)]))
    shown = "=a|b_&\\x1b[1m\\x0a"
    assert tables.written(table, "text").split("\n") == [
        " " * (2 + len(shown) + 2) + shown,
        f"  {shown}" + "-1.5*".rjust(2 + len(shown) + 1),
    ]
    assert tables.written(table, "markdown").splitlines()[2] == (
        "| =a\\|b\\_\\&\\\\x1b\\[1m\\\\x0a | **-1.5** |"
    )
    assert tables.written(table, "latex").splitlines()[3] == (
        "=a|b\\_\\&\\textbackslash{}x1b[1m\\textbackslash{}x0a & $\\mathbf{-1.5}$ \\\\"
    )
    cells = list(csv.reader(io.StringIO(tables.csv(table), newline="")))
    assert cells == [["", f"'{evil}"], [f"'{evil}", "-1.5"]]
