"""``refclust predict``: new rows, read as those of the model, into its clusters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from refclust.cli.commands.predict import SCHEMA
from tests.cli.conftest import Cli

POINTS = "name,x,y,kind\na,0,0,u\nb,0,1,u\nc,4,0,v\nd,4,1,v\n"
ROLES = ("--id-column", "name", "--label-column", "kind")
LABELS = "id,cluster\na,0\nb,0\nc,1\nd,1\n"


@pytest.fixture(autouse=True)
def _model(cli: Cli) -> None:
    Path("points.csv").write_text(POINTS, encoding="utf-8")
    Path("centres.csv").write_text("x,y\n0,0\n4,0\n", encoding="utf-8")
    call = ("fit", "kmeans", "points.csv", *ROLES, "--centres", "centres.csv", "-o", "m.json")
    assert cli(*call).code == 0


def test_the_data_of_the_fit(cli: Cli) -> None:
    done = cli("predict", "m.json", "points.csv")
    assert (done.code, done.out, done.err) == (0, LABELS, "")
    assert cli("predict", "m.json", "points.csv", "--labels", "-").out == LABELS


def test_new_data_need_no_labels_and_go_by_name(cli: Cli) -> None:
    Path("new.csv").write_text("y,colour,x,name\n1,7,9,p\n2,8,1,q\n", encoding="utf-8")
    done = cli("predict", "m.json", "new.csv")
    assert (done.code, done.out) == (0, "id,cluster\np,1\nq,0\n")
    assert done.err == "refclust: 1 feature of the data is unknown to the model\n"


def test_standard_input_with_and_without_labels(cli: Cli) -> None:
    assert cli("predict", "m.json", "-", stdin=POINTS.encode()).out == LABELS
    bare = "name,x,y\np,9,1\n"
    assert cli("predict", "m.json", "-", stdin=bare.encode()).out == "id,cluster\np,1\n"
    model = Path("m.json").read_bytes()
    assert cli("predict", "-", "points.csv", stdin=model).out == LABELS
    assert cli("predict", "-", "-").err.endswith("[bad-option]\n")


def test_options_overrule_the_model(cli: Cli) -> None:
    Path("new.csv").write_text("x;y;who\n9;1;p\n", encoding="utf-8")
    call = ("predict", "m.json", "new.csv", "--delimiter", ";", "--label-column", "")
    assert cli(*call, "--id-column", "who").out == "id,cluster\np,1\n"
    assert cli("predict", "m.json", "new.csv").code == 3


def test_another_format_than_that_of_the_fit(cli: Cli) -> None:
    Path("new.jsonl").write_text("[9, 1]\n[0, 0]\n", encoding="utf-8")
    assert cli("predict", "m.json", "new.jsonl").out == "id,cluster\n0,1\n1,0\n"


def test_distances_and_files(cli: Cli) -> None:
    call = ("predict", "m.json", "points.csv", "--distance")
    done = cli(*call, "--labels", "l.tsv")
    assert (done.code, done.out, done.err) == (0, "", "refclust: wrote l.tsv\n")
    lines = Path("l.tsv").read_text(encoding="utf-8").splitlines()
    assert lines == ["id\tcluster\tdistance", "a\t0\t0.5", "b\t0\t0.5", "c\t1\t0.5", "d\t1\t0.5"]
    assert cli(*call, "--labels", "l.tsv").err.endswith("[exists]\n")
    assert cli(*call, "--labels", "l.tsv", "--force").code == 0


def test_json(cli: Cli) -> None:
    answer = cli("predict", "m.json", "points.csv", "--json", "--distance").json()
    assert answer["schema"] == SCHEMA == "refclust-predict/1"
    assert (answer["rows"], answer["unknown_features"]) == (4, 0)
    assert (answer["ids"], answer["labels"]) == (list("abcd"), [0, 0, 1, 1])
    assert answer["distances"] == [0.5] * 4
    assert cli("predict", "m.json", "points.csv", "--json").json()["distances"] is None


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("name,x,kind\na,1,u\n", "feature-mismatch"),
        ("name,x,y\na,1,red\n", "missing-column"),  # without labels it is no better
        ("name,x,y,kind\na,1,red,u\n", "bad-cell"),
        ("", "empty-file"),
    ],
)
def test_data_that_do_not_fit(cli: Cli, content: str, code: str) -> None:
    Path("new.csv").write_text(content, encoding="utf-8")
    done = cli("predict", "m.json", "new.csv", "--labels", "l.csv")
    assert (done.code, done.out) == (3, "")
    assert done.err.endswith(f"[{code}]\n")
    assert done.err.count("\n") == 1
    assert not Path("l.csv").exists()


def test_broken_models(cli: Cli) -> None:
    model = json.loads(Path("m.json").read_text(encoding="utf-8"))
    for change in ({"version": 99}, {"surprise": 1}, {"fitted": None}):
        Path("broken.json").write_text(json.dumps({**model, **change}), encoding="utf-8")
        done = cli("predict", "broken.json", "points.csv")
        assert (done.code, done.out) == (3, "")
        assert done.err.endswith("[bad-model]\n")
    assert cli("predict", "points.csv", "points.csv").err.endswith("[bad-model]\n")
    assert cli("predict", "missing.json", "points.csv").err.endswith("[file-not-found]\n")


def test_a_tree_of_merges_has_no_rule(cli: Cli) -> None:
    call = ("fit", "agglomerative", "points.csv", *ROLES, "-k", "2", "-o", "tree.json")
    assert cli(*call).code == 0
    done = cli("predict", "tree.json", "missing.csv")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("--start-labels LABELS.csv:cluster [cannot-predict]\n")


def test_weights_of_words_are_those_of_the_model(cli: Cli) -> None:
    Path("texts.txt").write_text("cat dog\ncat mouse\nstock price\nstock fall\n", encoding="utf-8")
    call = ("fit", "kmeans", "texts.txt", "--format", "lines", "--tfidf", "-k", "2")
    assert cli(*call, "--metric", "cosine", "--start", "farthest", "-o", "t.json").code == 0
    found = cli("predict", "t.json", "texts.txt").out.split()
    assert found[1][-1] == found[2][-1] != found[3][-1] == found[4][-1]
    refused = cli("predict", "t.json", "texts.txt", "--tfidf")
    assert (refused.code, refused.err[-13:]) == (2, "[bad-option]\n")


@pytest.mark.parametrize(
    "header",
    ["x,weight,label", "x,label", "x,weight", "x"],
    ids=lambda text: text.replace(",", "-"),
)
@pytest.mark.parametrize("piped", [False, True])
def test_new_data_may_lack_labels_and_weights(cli: Cli, header: str, piped: bool) -> None:
    roles = ("--label-column", "label", "--weight-column", "weight")
    Path("old.csv").write_text("x,weight,label\n0,1,a\n1,2,a\n9,1,b\n", encoding="utf-8")
    assert cli("fit", "kmeans", "old.csv", "-k", "2", *roles, "-o", "roles.json").code == 0
    cells = {"x": "8", "weight": "3", "label": "b"}
    new = header + "\n" + ",".join(cells[name] for name in header.split(",")) + "\n"
    Path("new.csv").write_text(new, encoding="utf-8")
    done = cli("predict", "roles.json", "-" if piped else "new.csv", stdin=new.encode())
    whole = cli("predict", "roles.json", "old.csv").out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[1].split(",")[1] == whole[3].split(",")[1]
    # What the user asks for by name must be there.
    if "weight" not in header:
        asked = cli("predict", "roles.json", "new.csv", "--weight-column", "weight")
        assert (asked.code, "[missing-column]" in asked.err) == (3, True)
