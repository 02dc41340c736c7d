"""Commands on pipes, and the limits that a run is given."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from refclust.limits import LIMITS, VARIABLE, limit
from refclust.trace.places import spec_root
from tests.cli.conftest import PRED, TRUE, Cli
from tests.data.conftest import piped

ROWS = "".join(f"{i % 3 * 100 + i % 7},{i % 5}\n" for i in range(60_000))
LABELS = {"true": "\n".join(TRUE) + "\n", "pred": "\n".join(PRED) + "\n"}


def run(cli: Cli, *arguments: str, **content: str) -> tuple[int, str, str]:
    """Run a command whose arguments in capitals are pipes."""
    with ExitStack() as stack:
        paths = {
            name: stack.enter_context(piped(given.encode())) for name, given in content.items()
        }
        done = cli(*(paths.get(word, word) for word in arguments))
    return done.code, done.out, done.err


@pytest.mark.spec("DATA-SOURCE")
def test_every_command_gets_all_rows_of_a_pipe(cli: Cli) -> None:
    Path("rows.csv").write_text(ROWS, encoding="utf-8")
    start = "1,1\n100,1\n200,1\n"
    Path("start.csv").write_text(start, encoding="utf-8")
    fit = ("fit", "kmeans", "rows.csv", "--centres", "start.csv", "--json")
    plain = json.loads(cli(*fit).out)
    code, out, _ = run(cli, *fit[:2], "A", "--centres", "B", "--json", A=ROWS, B=start)
    told = json.loads(out)
    assert (code, told["rows"], told["rss"]) == (0, 60_000, plain["rss"])
    code, out, _ = run(cli, "convert", "A", "-", "--to", "csv", A=ROWS)
    assert (code, out.count("\n")) == (0, 60_000)
    code, out, _ = run(cli, "sniff", "A", "--json", A=ROWS)
    told = json.loads(out)
    assert (code, told["rows"], told["format"], told["kind"]) == (0, 60_000, "csv", "dense")


@pytest.mark.spec("DATA-SOURCE", "MODEL-READ")
def test_models_and_new_data_come_through_pipes(cli: Cli) -> None:
    Path("few.csv").write_text("x,label\n0,a\n1,a\n9,b\n", encoding="utf-8")
    roles = ("--label-column", "label", "-o", "m.json")
    assert cli("fit", "kmeans", "few.csv", "-k", "2", *roles).code == 0
    model = Path("m.json").read_text(encoding="utf-8")
    new = "x\n" + "8\n" * 50_000  # without labels: a second reading is needed
    plain = cli("predict", "m.json", "few.csv").out
    assert run(cli, "predict", "A", "few.csv", A=model) == (0, plain, "")
    code, out, err = run(cli, "predict", "A", "B", A=model, B=new)
    assert (code, out.count("\n"), err) == (0, 50_001, "")
    code, out, _ = run(cli, "describe", "A", "B", A=model, B="x,label\n0,a\n1,a\n9,b\n")
    assert (code, out) == (0, cli("describe", "m.json", "few.csv").out)


@pytest.mark.spec("DATA-SOURCE")
def test_labels_tables_weights_words_and_answers_come_through_pipes(cli: Cli) -> None:
    plain = cli("score", "true.txt", "pred.txt", "-m", "ari").out
    given = ("-m", "ari")
    code, out, _ = run(cli, "score", "A", "B", *given, A=LABELS["true"], B=LABELS["pred"])
    assert (code, out) == (0, plain)
    weights = "".join("1\n" for _ in TRUE)
    code, out, _ = run(cli, "score", "true.txt", "pred.txt", "--weights", "A", *given, A=weights)
    assert (code, out) == (0, plain)
    code, out, _ = run(cli, "score", "--table", "A", *given, A="[[5, 1, 0], [1, 4, 1], [2, 0, 3]]")
    assert (code, out) == (0, plain)
    answers = {"format": "refclust-answers/1", "answers": {"g-five": {"rand": "1/2"}}}
    code, out, _ = run(cli, "verify", "--answers", "A", A=json.dumps(answers))
    assert (code, "1 wrong" in out) == (1, True)
    texts = "one two\ntwo three\nfour five\n"
    Path("start.csv").write_text("i,g\n1,a\n2,b\n3,b\n", encoding="utf-8")
    call = ("fit", "kmeans", "A", "--format", "lines", "--stop-words", "B", "--start-labels")
    for labels in ("C", "start.csv:g"):  # whose delimiter is an option, as the words are
        code, out, _ = run(cli, *call, labels, A=texts, B="two\n", C="a\nb\nb\n")
        assert (code, out.startswith("3 rows, 4 features; 2 clusters")) == (0, True)


@pytest.mark.spec("DATA-SOURCE")
@pytest.mark.parametrize(
    "call",
    [
        ("score", "A", "A"),
        ("score", "A", "pred.txt", "--weights", "A"),
        ("fit", "kmeans", "A", "--centres", "A"),
        ("fit", "kmeans", "A", "-k", "2", "--stop-words", "A"),
        ("fit", "gaussian", "A", "--start-labels", "A"),
        ("predict", "A", "A"),
        ("describe", "A", "A"),
        ("explain", "em", "A", "A"),
    ],
)
def test_one_pipe_twice_is_refused(cli: Cli, call: tuple[str, ...]) -> None:
    code, out, err = run(cli, *call, A="1\n")
    assert (code, out) == (2, "")
    assert err.endswith(" is no file: it can be read only once [bad-option]\n")


@pytest.mark.spec("DATA-SOURCE")
def test_standard_input_has_several_names(tmp_path: Path) -> None:
    code = "from refclust.cli.app import run; import sys; sys.exit(run(sys.argv[1:]))"
    environment = {**os.environ, "REFCLUST_DISABLE_PLUGINS": "1"}

    def called(*words: str, given: str) -> subprocess.CompletedProcess[str]:
        call = [sys.executable, "-c", code, *words]
        return subprocess.run(
            call, input=given, capture_output=True, text=True, env=environment, cwd=tmp_path
        )

    for name in ("-", "/dev/stdin", "/dev/fd/0"):
        done = called("convert", name, "-", "--to", "csv", given=ROWS)
        assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 60_000, "")
    done = called("score", "-", "/dev/stdin", given="a\n")
    told = "refclust: /dev/stdin is no file: it can be read only once [bad-option]\n"
    assert (done.returncode, done.stderr) == (2, told)


@pytest.mark.spec("DATA-LIMIT")
def test_limits_of_a_run(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("wide.csv").write_text("1,2,3\n4,5,6\n", encoding="utf-8")
    call = ("convert", "wide.csv", "-", "--to", "csv")
    done = cli("--limit", "line=5", *call)
    assert (done.code, done.out, done.err) == (
        3,
        "",
        "refclust: wide.csv:1: the line goes on beyond 5 bytes, the limit; refclust --limit "
        "line=SIZE (or REFCLUST_LIMITS) raises it [too-large]\n",
    )
    assert limit("line") == LIMITS["line"].default  # only for the run
    assert cli("--limit", "line=5", "--limit", "line=6", *call).code == 0
    assert cli("--limit=line=5,line=6", "--debug", *call).code == 0
    monkeypatch.setenv(VARIABLE, "line=5")
    assert cli(*call).code == 3
    assert cli("--limit", "line=1k", *call).code == 0
    for wrong in ("lines=5", "line", "line=x", "line=-1", "line=" + "9" * 19, "line=٣"):
        done = cli("--limit", wrong, *call)
        assert (done.code, done.err.endswith("[bad-option]\n")) == (2, True)


@pytest.mark.spec("DATA-LIMIT")
def test_limits_are_listed(cli: Cli) -> None:
    lines = cli("--limit", "line=7", "formats", "--limits").out.splitlines()
    assert [line.split()[0] for line in lines[1 : len(LIMITS) + 1]] == list(LIMITS)
    assert lines[1].split()[:3] == ["line", "7", "bytes"]
    told = cli("formats", "--limits", "--json").json()
    assert told["schema"] == "refclust-limits/1"
    assert {one["name"]: one["default"] for one in told["limits"]} == {
        one.name: one.default for one in LIMITS.values()
    }
    assert "--limit NAME=SIZE" in re.sub(r"\s+", " ", cli("--help").out)


@pytest.mark.spec("DATA-LIMIT")
def test_the_chapter_lists_every_limit() -> None:
    text = (spec_root() / "09-data.md").read_text(encoding="utf-8")
    clause = text[text.index("## DATA-LIMIT") :].split("\n## ")[0]
    due = {
        f"| `{one.name}` | {one.default} | {one.unit} | {one.meaning} |" for one in LIMITS.values()
    }
    there = {line for line in clause.splitlines() if line.startswith("| `")}
    assert due - there == set(), "missing in the table of DATA-LIMIT"
    assert there - due == set(), "in the table of DATA-LIMIT, but no limit"


def test_too_little_memory_is_no_fault(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def hungry(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("refclust.data.readers.tables.opening.open_table", hungry)
    done = cli("sniff", "table.csv")
    assert (done.code, done.err.endswith("[too-large]\n")) == (3, True)
