"""``refclust fit``: what it prints and writes, what it refuses, and how it is interrupted."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import signal
import subprocess
import sys
import time
from array import array
from pathlib import Path
from typing import Any

import pytest

from refclust.cli.commands.fit import running as fit_run
from refclust.cluster.kmeans import LloydSteps, State
from refclust.errors import FileNotReadable
from refclust.version import __version__
from tests.cli.conftest import Cli

POINTS = "name,x,y,kind\na,0,0,u\nb,0,1,u\nc,4,0,v\nd,4,1,v\n"
ROLES = ("--id-column", "name", "--label-column", "kind")
KMEANS = ("fit", "kmeans", "points.csv", *ROLES, "--centres", "centres.csv")
SUMMARY = """\
4 rows, 2 features; 2 clusters by k-means (euclidean)

RSS          1
mean square  0.25
stopped      after 2 iterations: no row changed its cluster any more
start        the centres given
backend      reference

cluster  size  share  RSS  mean square
      0     2  50.0%  0.5         0.25
      1     2  50.0%  0.5         0.25

against the known classes (↑ higher is better; `refclust score` has all metrics)
  nmi            ↑ 1.0  = 1
  adjusted_rand  ↑ 1.0  = 1
  purity         ↑ 1.0  = 1
"""
LABELS = "id,cluster\na,0\nb,0\nc,1\nd,1\n"


@pytest.fixture(autouse=True)
def _files(cli: Cli) -> None:  # after cli, which goes to the folder
    assert callable(cli)
    Path("points.csv").write_text(POINTS, encoding="utf-8")
    Path("centres.csv").write_text("x,y\n0,0\n4,0\n", encoding="utf-8")
    Path("line.csv").write_text("v\n0\n1\n2\n", encoding="utf-8")
    Path("far.csv").write_text("v\n0\n50\n60\n", encoding="utf-8")
    Path("matrix.csv").write_text("0,3,2\n3,0,1\n2,1,0\n", encoding="utf-8")


def text(name: str) -> str:
    return Path(name).read_text(encoding="utf-8")


# -- k-means --------------------------------------------------------------------------------------


def test_summary(cli: Cli) -> None:
    done = cli(*KMEANS)
    assert (done.code, done.out, done.err) == (0, SUMMARY, "")


def test_files(cli: Cli) -> None:
    done = cli(*KMEANS, "-o", "m.json", "--labels", "l.csv", "--trace", "t.csv")
    assert (done.code, done.out) == (0, SUMMARY)
    assert done.err == "refclust: wrote m.json\nrefclust: wrote l.csv\nrefclust: wrote t.csv\n"
    assert text("l.csv") == LABELS
    assert text("t.csv") == "iteration,changed,rss,rss_updated\n1,4,2.0,1.0\n2,0,1.0,\n"
    model = json.loads(text("m.json"))
    assert model["fitted"]["centres"] == [[0.0, 0.5], [4.0, 0.5]]
    assert model["data"]["reading"]["options"] == {"id_column": "name", "label_column": "kind"}
    assert not list(Path().glob("*.checkpoint"))


def test_labels_on_standard_output(cli: Cli) -> None:
    done = cli(*KMEANS, "--labels", "-")
    assert (done.code, done.out, done.err) == (0, LABELS, SUMMARY)


@pytest.mark.parametrize("ending", ["tsv", "jsonl"])
def test_label_formats(cli: Cli, ending: str) -> None:
    assert cli(*KMEANS, "--labels", f"l.{ending}").code == 0
    first = {"tsv": "id\tcluster", "jsonl": '{"id": "a", "cluster": 0}'}[ending]
    assert text(f"l.{ending}").splitlines()[0] == first


def without_seconds(provenance: dict[str, Any]) -> dict[str, Any]:
    for run in provenance["kernels"]:
        assert run.pop("seconds") >= 0
    return provenance


def test_json(cli: Cli) -> None:
    done = cli(*KMEANS, "--labels", "l.csv", "--json")
    answer = done.json()
    assert answer["schema"] == "refclust-fit/1"
    assert answer["refclust"] == __version__
    assert (answer["rows"], answer["features"], answer["k"]) == (4, 2, 2)
    assert (answer["rss"], answer["mean_square"], answer["cosine"]) == (1.0, 0.25, None)
    assert (answer["iterations"], answer["stopped"], answer["converged"]) == (2, "unchanged", True)
    assert answer["clusters"] == [
        {"cluster": 0, "size": 2, "rss": 0.5},
        {"cluster": 1, "size": 2, "rss": 0.5},
    ]
    assert [(one["key"], one["value"]) for one in answer["scores"]] == [
        ("nmi", 1.0),
        ("adjusted_rand", 1.0),
        ("purity", 1.0),
    ]
    assert answer["files"] == {"model": None, "labels": "l.csv", "table": None, "output": None}
    assert without_seconds(answer["provenance"])["requested"] == "auto"
    assert (answer["seed"], answer["format"]) == (0, "csv")


def test_runs_and_cosine(cli: Cli) -> None:
    Path("angles.csv").write_text("x,y\n1,0\n3,0\n0,1\n0,5\n1,1\n", encoding="utf-8")
    call = ("fit", "kmeans", "angles.csv", "-k", "2", "--metric", "cosine", "--restarts", "3")
    done = cli(*call, "--trace", "t.csv")
    lines = done.out.splitlines()
    assert lines[0] == "5 rows, 2 features; 2 clusters by k-means (cosine)"
    assert lines[2].startswith("total cosine  ")
    assert any(line.startswith("runs          3, the best is number ") for line in lines)
    assert text("t.csv").startswith("iteration,changed,rss,rss_updated,cosine\n")
    Path("zero.csv").write_text("x,y\n1,0\n0,0\n", encoding="utf-8")
    refused = cli("fit", "kmeans", "zero.csv", "-k", "2", "--metric", "cosine")
    assert (refused.code, refused.out) == (3, "")
    assert refused.err.endswith("[zero-vector]\n")


@pytest.mark.parametrize(
    ("policy", "clusters", "told"),
    [
        ("farthest", 3, "1 moved to row 2 in iteration 1, 2 moved to row 1 in iteration 1"),
        ("keep", 3, "1 stayed in iteration 1, 2 stayed in iteration 1 (policy keep)"),
        ("drop", 1, "1 was dropped in iteration 1, 2 was dropped in iteration 1 (policy drop)"),
    ],
)
def test_empty_clusters_are_told(cli: Cli, policy: str, clusters: int, told: str) -> None:
    call = ("fit", "kmeans", "line.csv", "--centres", "far.csv", "--empty", policy)
    done = cli(*call)
    assert done.code == 0
    assert f"empty clusters  {told}" in done.out
    assert len(cli(*call, "--json").json()["clusters"]) == clusters
    asked = "1 cluster of 3 asked for" if clusters == 1 else "3 clusters"
    assert done.out.startswith(f"3 rows, 1 feature; {asked} by k-means")


def test_an_empty_cluster_may_be_an_error(cli: Cli) -> None:
    call = ("fit", "kmeans", "line.csv", "--centres", "far.csv", "--empty", "error")
    done = cli(*call, "-o", "m.json")
    assert (done.code, done.out) == (3, "")
    assert done.err.endswith("[empty-cluster]\n")
    assert not Path("m.json").exists()


def test_start_from_labels(cli: Cli) -> None:
    assert cli(*KMEANS, "--labels", "l.csv").code == 0
    call = ("fit", "kmeans", "points.csv", *ROLES)
    done = cli(*call, "--start-labels", "l.csv:cluster")
    assert "start        the labels given\n" in done.out
    Path("four.txt").write_text("1\n1\n2\n2\n", encoding="utf-8")
    assert cli(*call, "--start-labels", "four.txt").out == done.out
    Path("three.txt").write_text("1\n1\n2\n", encoding="utf-8")
    assert cli(*call, "--start-labels", "three.txt").err.endswith("[label-length-mismatch]\n")


def test_centres_go_by_name(cli: Cli) -> None:
    Path("swapped.csv").write_text("y,x\n0,0\n0,4\n", encoding="utf-8")
    call = ("fit", "kmeans", "points.csv", *ROLES)
    assert cli(*call, "--centres", "swapped.csv").out == SUMMARY
    Path("more.csv").write_text("x,y,z\n0,0,0\n4,0,0\n", encoding="utf-8")
    assert cli(*call, "--centres", "more.csv").err.endswith("[dimension-mismatch]\n")


def test_standard_input(cli: Cli) -> None:
    call = ("fit", "kmeans", "-", *ROLES, "--centres", "centres.csv")
    assert cli(*call, stdin=POINTS.encode()).out == SUMMARY


def test_weights_and_columns(cli: Cli) -> None:
    Path("w.csv").write_text("x,y,w\n0,9,1\n1,9,0.5\n8,9,2\n", encoding="utf-8")
    call = ("fit", "kmeans", "w.csv", "-k", "2", "--weight-column", "w", "--column", "x")
    done = cli(*call, "--start", "farthest")
    assert done.out.startswith("3 rows, 1 feature, weighted; 2 clusters")
    sizes = [one["size"] for one in cli(*call, "--start", "farthest", "--json").json()["clusters"]]
    assert sorted(map(str, sizes)) == ["2", "3/2"]


def test_the_limit_is_told(cli: Cli) -> None:
    done = cli(*KMEANS, "--limit", "1")
    assert done.code == 0
    told = "after 1 iteration: not converged, this is the limit; --limit N allows more\n"
    assert told in done.out
    line = "x\n" + "".join(f"{x}\n" for x in (*range(12), 20, 30))
    Path("line.csv").write_text(line, encoding="utf-8")
    runs = ("fit", "kmeans", "line.csv", "-k", "2", "--restarts", "3", "--limit", "2")
    [found] = [each for each in cli(*runs).out.splitlines() if each.startswith("runs")]
    stopped = [run["stopped"] for run in cli(*runs, "--json").json()["runs"]]
    assert 0 < stopped.count("limit") <= 3
    assert found.endswith(f"; {stopped.count('limit')} did not converge")


@pytest.mark.spec("HC-BISECT")
def test_splits_that_did_not_converge(cli: Cli) -> None:
    call = ("fit", "bisecting", "points.csv", *ROLES, "-k", "3")
    done = cli(*call, "--limit", "1")
    told = "not converged  2 of 2 splits: 1 iteration is the limit, --limit N allows more\n"
    assert told in done.out
    limited, free = (cli(*call, "--limit", n, "--json").json() for n in ("1", "300"))
    assert (limited["converged"], limited["unconverged"]) == (False, 2)
    assert (free["converged"], free["unconverged"]) == (True, 0)
    assert "not converged" not in cli(*call).out


def test_progress_tells_which_run(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(fit_run.Live, "tell", lambda _, line: told.append(line))
    call = ("fit", "kmeans", "points.csv", *ROLES, "-k", "2")
    assert cli(*call, "--restarts", "3").code == 0
    assert {line.partition(", ")[0] for line in told} == {f"run {i} of 3" for i in (1, 2, 3)}
    assert told[0].startswith("run 1 of 3, iteration 1: 4 rows changed, RSS ")
    told.clear()
    assert cli(*call).code == 0
    assert told[0].startswith("iteration 1: 4 rows changed, RSS ")
    told.clear()
    mixture = ("fit", "gaussian", "points.csv", *ROLES, "-k", "1", "--restarts", "2")
    assert cli(*mixture, "--start", "points", "--covariance", "EII").code == 0
    assert told[-1].startswith("run 2 of 2, iteration ")


def test_another_backend(cli: Cli) -> None:
    assert cli(*KMEANS, "--backend", "loopback").out == SUMMARY.replace("reference", "loopback")
    assert cli(*KMEANS, "--backend", "nosuch").code == 4


def test_texts(cli: Cli) -> None:
    for name, words in {
        "pets/1.txt": "the cat sat with the other cat",
        "pets/2.txt": "a cat and a dog",
        "money/1.txt": "stock prices fall",
        "money/2.txt": "the stock of prices",
    }.items():
        path = Path("texts", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(words, encoding="utf-8")
    Path("stop.txt").write_text("the\na  # articles\nof\n", encoding="utf-8")
    call = ("fit", "kmeans", "texts", "--metric", "cosine", "--label-column", "folder", "-k", "2")
    text_options = ("--stop-words", "stop.txt", "--tfidf", "--max-df", "75%", "--min-df", "1")
    done = cli(*call, *text_options, "--restarts", "5", "-o", "m.json")
    assert done.code == 0
    assert done.out.startswith("4 rows, 9 features; 2 clusters by k-means (cosine)")
    assert "adjusted_rand  ↑ 1.0  = 1" in done.out
    reading = json.loads(text("m.json"))["data"]["reading"]
    assert reading["options"]["text"]["max_df"] == "3/4"
    assert reading["weighing"]["documents"] == 4
    Path("new.txt").write_text("Cat, dog and THE zebra\n", encoding="utf-8")
    done = cli("predict", "m.json", "new.txt", "--format", "lines")
    assert done.err == "refclust: 1 feature of the data is unknown to the model\n"
    assert done.code == 0


# -- what is refused ------------------------------------------------------------------------------


def test_nothing_is_overwritten_and_that_is_said_first(cli: Cli) -> None:
    for option, name in (("-o", "m.json"), ("--labels", "l.csv"), ("--trace", "t.csv")):
        Path(name).write_text("mine", encoding="utf-8")
        # The data do not even exist: the output is looked at before any work.
        done = cli("fit", "kmeans", "missing.csv", "-k", "2", option, name)
        assert (done.code, done.out) == (3, "")
        assert done.err == f"refclust: {name} exists already; --force replaces it [exists]\n"
        assert text(name) == "mine"
        assert cli(*KMEANS, option, name, "--force").code == 0
        assert text(name) != "mine"


@pytest.mark.parametrize(
    ("arguments", "code", "ending"),
    [
        (("-k", "2", "-o", "x.csv", "--labels", "x.csv"), 2, "[bad-option]"),
        (("-k", "2", "--labels", "points.csv", "--force"), 2, "[bad-option]"),
        (("-k", "2", "--labels", "./points.csv", "--force"), 2, "[bad-option]"),
        (("-k", "2", "--labels", "x.xls"), 2, "[unknown-format]"),
        (("-k", "2", "-o", "no/m.json"), 3, "[file-not-found]"),
        (("-k", "2", "-o", "."), 3, "[exists]"),
        (("-k", "2", "-o", ".", "--force"), 3, "[file-not-found]"),
        (("-k", "2", "-o", "-"), 2, "[bad-option]"),
        (("-k", "2", "--labels", "-", "--json"), 2, '"bad-option"'),
        ((), 2, "[bad-option]"),
        (("-k", "5"), 3, "[k-out-of-range]"),
        (("-k", "0"), 3, "[k-out-of-range]"),
        (("-k", "2", "--seed", "-1"), 2, "[bad-option]"),
        (("-k", "2", "--restarts", "0"), 2, "[bad-option]"),
        (("-k", "2", "--trials", "3", "--start", "random"), 2, "[bad-option]"),
        (("-k", "2", "--tolerance", "nan"), 2, "[bad-option]"),
        (("-k", "3", "--centres", "centres.csv"), 2, "[bad-option]"),
        (("--centres", "-", "--start-labels", "-"), 2, "[bad-option]"),
        (("-k", "2", "--resume"), 2, "[bad-option]"),
        (("-k", "2", "-o", "m.json", "--resume"), 3, "[file-not-found]"),
        (("-k", "2", "--checkpoint", "points.csv", "--force"), 2, "[bad-option]"),
        (("-k", "2", "--checkpoint", "-"), 2, "[bad-option]"),
        (("-k", "2", "--checkpoint-every", "nan"), 2, "[bad-option]"),
        (("-k", "2", "--delimiter", "xy"), 2, "[bad-option]"),
        (("-k", "2", "--base", "2"), 2, "[bad-option]"),
        (("-k", "2", "--min-df", "often"), 2, "[bad-option]"),
        (("-k", "2", "--tfidf"), 2, "[bad-option]"),
        (("-k", "2", "--format", "xls"), 2, "[unknown-format]"),
    ],
)
def test_refused(cli: Cli, arguments: tuple[str, ...], code: int, ending: str) -> None:
    before = sorted(path.name for path in Path().iterdir())
    done = cli("fit", "kmeans", "points.csv", *ROLES, *arguments)
    assert (done.code, done.out) == (code, "")
    assert ending in done.err
    assert done.err.count("\n") == 1
    assert sorted(path.name for path in Path().iterdir()) == before
    assert text("points.csv") == POINTS


def test_help_begins_with_examples(cli: Cli) -> None:
    done = cli("fit", "--help")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[4] == "  refclust fit kmeans iris.csv -k 3 --label-column label"
    for name in ("kmeans", "bisecting", "agglomerative"):
        assert any(line.startswith(f"  {name} ") for line in lines)
        own = cli("fit", name, "-h").out
        assert own.startswith(f"Usage: refclust fit {name} [OPTIONS]")
        assert own.index("  refclust fit ") < own.index("Options:") < own.index("--label-column C")
    assert "Did you mean 'kmeans'?" in cli("fit", "kmens").err


@pytest.mark.parametrize("arguments", [("--start", "best"), ("-k", "two"), ("--empty", "x")])
def test_usage(cli: Cli, arguments: tuple[str, ...]) -> None:
    done = cli("fit", "kmeans", "points.csv", *arguments)
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("name", "content", "code", "place"),
    [
        ("a.csv", b"x,y\n1,2\n3,\n", "missing-value", "a.csv:3: column 2"),
        ("a.csv", b"x,y\n1,2\n3,4,5\n", "ragged-rows", "a.csv:3"),
        ("a.csv", b"x,y\n1,2\n3,red\n", "bad-cell", "a.csv:3: column 2"),
        ("a.csv", b"x,y\n1,2\n3,inf\n", "not-finite", "a.csv:3: column 2"),
        ("a.csv", b"x,y\n1,2\n3,\xff\n", "not-text", "a.csv:3"),
        ("a.csv", b"", "empty-file", "a.csv"),
        ("a.jsonl", b"[1, 2]\n[3\n", "bad-file", "a.jsonl:2"),
        ("a.svmlight", b"0 1:2 1:3\n", "index-out-of-range", "a.svmlight:1"),
        ("a.mtx", b"hello\n", "bad-header", "a.mtx:1"),
        ("a.npy", b"\x93NUMPY\x01\x00", "bad-file", "a.npy"),
    ],
)
def test_broken_files(cli: Cli, name: str, content: bytes, code: str, place: str) -> None:
    Path(name).write_bytes(content)
    done = cli("fit", "kmeans", name, "-k", "1", "-o", "m.json")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"refclust: {place}")
    assert done.err.endswith(f"[{code}]\n")
    assert done.err.count("\n") == 1
    assert not Path("m.json").exists()
    told = json.loads(cli("fit", "kmeans", name, "-k", "1", "--json").err)
    assert told["code"] == code


# -- interrupts -----------------------------------------------------------------------------------

SLOW = ("-k", "9", "--restarts", "40", "--checkpoint-every", "0.05")


def grid() -> str:
    """A few hundred rows without structure, so that k-means takes its time."""
    rows = [f"{i * i * 37 % 101},{i * i * i * 11 % 103}" for i in range(240)]
    return "x,y\n" + "\n".join(rows) + "\n"


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_a_checkpoint_that_goes_on_to_the_same_model(
    cli: Cli, sent: signal.Signals, code: int
) -> None:
    Path("grid.csv").write_text(grid(), encoding="utf-8")
    script = "import sys; from refclust.cli.app import main; sys.exit(main())"
    call = ["fit", "kmeans", "grid.csv", *SLOW, "-o", "m n.json"]
    environment = {**os.environ, "REFCLUST_DISABLE_PLUGINS": "1"}
    running = subprocess.Popen(
        [sys.executable, "-c", script, *call],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    kept = Path("m n.json.checkpoint")
    while not kept.exists():
        assert running.poll() is None, "the fit ended before it could be interrupted"
        time.sleep(0.01)
    running.send_signal(sent)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (code, "")
    assert err.startswith("refclust: interrupted after iteration ")
    assert err.endswith(
        "; this goes on from there: refclust fit kmeans grid.csv -k 9 --restarts 40 "
        "--checkpoint-every 0.05 -o 'm n.json' --resume\n"
    )
    assert kept.exists()
    assert not Path("m n.json").exists()
    refused = cli(*call)
    assert refused.code == 3
    assert refused.err == (
        "refclust: the checkpoint m n.json.checkpoint of an interrupted fit exists already; "
        "--resume goes on with it, --force begins anew [exists]\n"
    )
    other = cli(*call[:3], "-k", "8", *call[5:], "--resume")
    assert other.err.endswith("[bad-checkpoint]\n")
    assert kept.exists()
    resumed = cli(*call, "--resume")
    assert resumed.code == 0
    assert not kept.exists()
    straight = cli(*call[:-1], "straight.json")
    assert straight.out == resumed.out
    assert text("straight.json") == text("m n.json")


def interrupted(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Let a fit be interrupted after some iterations."""
    original = LloydSteps.__next__
    count = 0

    def step(self: LloydSteps) -> State:
        nonlocal count
        count += 1
        if count > after:
            raise KeyboardInterrupt
        return original(self)

    monkeypatch.setattr(LloydSteps, "__next__", step)


def test_without_a_checkpoint_nothing_is_kept(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(monkeypatch, after=0)
    done = cli(*KMEANS)
    assert (done.code, done.out) == (130, "")
    assert done.err == (
        "refclust: interrupted at its beginning; nothing is kept without --model or --checkpoint\n"
    )


def test_force_begins_anew(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "argv", ["refclust", *KMEANS, "--checkpoint", "c"])
        interrupted(patched, after=1)
        done = cli(*KMEANS, "--checkpoint", "c")
        assert done.code == 130
        assert "interrupted after iteration 1 of run 1; this goes on from there: " in done.err
        assert done.err.endswith(" --checkpoint c --resume\n")
    assert Path("c").exists()
    assert cli(*KMEANS, "--checkpoint", "c").err.endswith("[exists]\n")
    assert cli(*KMEANS, "--checkpoint", "c", "--force").out == SUMMARY
    assert not Path("c").exists()


def test_a_model_that_cannot_be_written_costs_no_second_fit(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise FileNotReadable("cannot write m.json: no space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("refclust.models.clusters.save_model", full)
        done = cli(*KMEANS, "-o", "m.json")
    assert (done.code, done.out) == (3, "")
    assert done.err == "refclust: cannot write m.json: no space left on device [file-not-found]\n"
    assert Path("m.json.checkpoint").exists()
    done = cli(*KMEANS, "-o", "m.json", "--resume")
    assert (done.code, done.out) == (0, SUMMARY)
    assert Path("m.json").exists()
    assert not Path("m.json.checkpoint").exists()


def test_an_interrupt_before_there_is_anything_to_keep(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("refclust.cluster.fit.kmeans_steps", begin)
    done = cli(*KMEANS, "-o", "m.json")
    assert (done.code, done.out) == (130, "")
    assert done.err == "refclust: interrupted at its beginning; there is nothing to keep yet\n"


def test_bisecting_goes_on(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("grid.csv").write_text(grid(), encoding="utf-8")
    call = ("fit", "bisecting", "grid.csv", "-k", "6", "-o", "m.json")
    with monkeypatch.context() as patched:
        patched.setattr(sys, "argv", ["refclust", *call])
        tell = fit_run.Live.tell

        def stop(self: fit_run.Live, line: str) -> None:
            tell(self, line)
            if line == "4 of 6 clusters":
                raise KeyboardInterrupt

        patched.setattr(fit_run.Live, "tell", stop)
        done = cli(*call)
    assert (done.code, done.out) == (130, "")
    assert done.err == (
        "refclust: interrupted with 4 of 6 clusters; this goes on from there: "
        "refclust fit bisecting grid.csv -k 6 -o m.json --resume\n"
    )
    assert cli(*call).err.endswith("[exists]\n")
    resumed = cli(*call, "--resume")
    assert resumed.code == 0
    assert not Path("m.json.checkpoint").exists()
    assert cli(*call[:-1], "straight.json").out == resumed.out
    assert text("straight.json") == text("m.json")


def test_progress_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        live = fit_run.Live()
        live.tell("iteration 1")
        assert stream.getvalue() == ""  # the first second is silent
        monkeypatch.setattr(live, "_next", 0.0)
        live.tell("iteration 9")
        live.tell("iteration 10")  # a moment later: not worth it
        assert stream.getvalue() == ("\riteration 9" if shown else "")
        monkeypatch.setattr(live, "_next", 0.0)
        live.tell("done")
        live.clear()
        live.clear()
        assert stream.getvalue() == ("\riteration 9\rdone       \r    \r" if shown else "")


# -- trees ----------------------------------------------------------------------------------------


def test_bisecting(cli: Cli) -> None:
    call = ("fit", "bisecting", "points.csv", *ROLES, "-k", "2", "--by", "size")
    done = cli(*call, "-o", "m.json", "--labels", "l.csv")
    assert done.code == 0
    assert done.out.startswith("4 rows, 2 features; 2 clusters by bisecting k-means (euclidean)")
    assert "splits       1, each of the cluster with the most rows" in done.out
    assert cli("predict", "m.json", "points.csv").out == text("l.csv")
    answer = cli(*call, "--json").json()
    assert (answer["algorithm"], answer["rss"], answer["by"]) == ("bisecting", 1.0, "size")
    assert cli("fit", "bisecting", "points.csv", *ROLES).err.endswith("[bad-option]\n")


def test_agglomerative(cli: Cli) -> None:
    call = ("fit", "agglomerative", "points.csv", *ROLES, "--linkage", "single")
    done = cli(*call, "--merges", "merges.csv")
    assert done.out == (
        "4 rows; 3 merges, single linkage\n\n"
        "distances     euclidean\n"
        "last heights  4, 1, 1\n"
        "backend       reference\n\n"
        "not cut; -k K or --height H cuts the tree into clusters\n"
    )
    assert text("merges.csv") == "a,b,height,size\n0,1,1.0,2\n2,3,1.0,2\n4,5,4.0,4\n"
    for cut in (("-k", "2"), ("--height", "1")):
        done = cli(*call, *cut, "--labels", "l.csv", "-o", "m.json", "--force")
        assert text("l.csv") == LABELS
        assert "adjusted_rand  ↑ 1.0  = 1" in done.out
        told = json.loads(text("m.json"))["params"]["cut"]
        assert told == ({"k": 2} if cut[0] == "-k" else {"height": 1.0})
    answer = cli(*call, "-k", "2", "--json").json()
    assert answer["merges"] == [[0, 1, 1.0, 2], [2, 3, 1.0, 2], [4, 5, 4.0, 4]]
    assert [one["size"] for one in answer["clusters"]] == [2, 2]


def test_given_distances(cli: Cli) -> None:
    call = ("fit", "agglomerative", "--distances", "matrix.csv", "--linkage", "complete")
    done = cli(*call, "-k", "2", "-o", "m.json")
    assert "last heights  3, 1\n" in done.out
    assert json.loads(text("m.json"))["params"]["metric"] == "given"
    Path("bad.csv").write_text("0,3\n2,0\n", encoding="utf-8")
    assert cli("fit", "agglomerative", "--distances", "bad.csv").err.endswith("[bad-distances]\n")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("points.csv", "--distances", "matrix.csv"),
        ("points.csv", *ROLES, "--labels", "l.csv"),
        ("points.csv", *ROLES, "-k", "2", "--height", "1"),
        ("points.csv", *ROLES, "--metric", "cosine"),
    ],
)
def test_agglomerative_refuses(cli: Cli, arguments: tuple[str, ...]) -> None:
    done = cli("fit", "agglomerative", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("[bad-option]\n")


def test_a_fit_is_checked_again(cli: Cli) -> None:
    Path("l.csv").write_text("0\n1\n9\n", encoding="utf-8")
    done = cli("fit", "kmeans", "l.csv", "-k", "2", "--check")
    assert done.code == 0
    assert done.err.count("refclust: checked, right: the ") >= 2
    assert "checked" not in cli("fit", "kmeans", "l.csv", "-k", "2").err


def test_a_wrong_fit_is_found_out(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("l.csv").write_text("0\n1\n9\n", encoding="utf-8")
    honest = fit_run.iterated

    def wrong(*args: Any) -> Any:
        fit = honest(*args)
        return dataclasses.replace(fit, labels=array("i", [1 - label for label in fit.labels]))

    monkeypatch.setattr(fit_run, "iterated", wrong)
    done = cli("fit", "kmeans", "l.csv", "-k", "2", "--check", "-o", "m.json")
    assert done.code == 4
    assert "the fit is wrong" in done.err
    assert not Path("m.json").exists()


@pytest.mark.parametrize(
    ("share", "code", "told"),
    [
        ("１", 2, "is needed [bad-option]"),
        ("1/0", 2, "is needed [bad-option]"),
        ("%", 2, "is needed [bad-option]"),
        ("", 2, "is needed [bad-option]"),
        ("1e999999999", 3, "raises it [too-large]"),
        ("1" * 20_000, 3, "raises it [too-large]"),
        ("1" * 5_000, 3, "leave out too much [empty-input]"),
    ],
)
def test_a_share_has_an_end(cli: Cli, share: str, code: int, told: str) -> None:
    Path("t.txt").write_text("a b\nb c\n", encoding="utf-8")
    done = cli("fit", "kmeans", "t.txt", "--format", "lines", "-k", "2", "--min-df", share)
    assert (done.code, done.err.endswith(f"{told}\n")) == (code, True), done.err
    assert len(done.err) < 250
