"""``refclust sample``: rows drawn from a model, the same for the same seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from refclust.mixture.sample import sample
from refclust.models.clusters import load_model
from refclust.models.mixtures import parameters_of
from refclust.models.records.clusters import MixtureModel
from tests.cli.conftest import Cli

LINE = "v,k\n0,a\n1,a\n2,a\n7,b\n8,b\n9,b\n"
FIT = ("fit", "gaussian", "line.csv", "--label-column", "k", "-k", "2", "-o", "m.json")


@pytest.fixture(autouse=True)
def _model(cli: Cli) -> None:
    Path("line.csv").write_text(LINE, encoding="utf-8")
    Path("words.csv").write_text("cat,dog,k\n3,1,a\n2,0,a\n0,4,b\n1,3,b\n", encoding="utf-8")
    assert cli(*FIT).code == 0


@pytest.mark.spec("EM-SAMPLE")
def test_rows_and_components(cli: Cli) -> None:
    model = load_model("m.json")
    assert isinstance(model, MixtureModel)
    drawn = sample(parameters_of(model), 4, family="gaussian", seed=7)
    lines = [f"{row[0]!r},{label}" for row, label in zip(drawn.rows, drawn.labels, strict=True)]
    done = cli("sample", "m.json", "-n", "4", "--seed", "7", "--labels")
    assert (done.code, done.out.splitlines(), done.err) == (0, ["v,label", *lines], "")
    assert (
        cli("sample", "m.json", "-n", "4").out
        != cli("sample", "m.json", "-n", "4", "--seed", "1").out
    )


def test_files_and_formats(cli: Cli) -> None:
    call = ("sample", "m.json", "-n", "3", "--out", "new.csv")
    done = cli(*call)
    assert (done.code, done.out, done.err) == (0, "", "refclust: wrote new.csv\n")
    assert Path("new.csv").read_text("utf-8") == cli("sample", "m.json", "-n", "3").out
    assert cli(*call).err.endswith("[exists]\n")
    assert cli(*call, "--force").code == 0
    told = cli("sample", "m.json", "-n", "3", "--labels", "--out", "new.npy").err
    assert "labels are left out" in told
    assert cli("predict", "m.json", "new.csv").code == 0


@pytest.mark.spec("EM-SAMPLE")
def test_classes_and_documents(cli: Cli) -> None:
    call = ("fit", "naive-bayes", "words.csv", "--labels", "k", "-o", "nb.json")
    assert cli(*call).code == 0
    head, *rows = cli("sample", "nb.json", "-n", "5", "--length", "6", "--labels").out.splitlines()
    assert head == "cat,dog,label"
    assert {row.split(",")[2] for row in rows} <= {"a", "b"}
    assert all(float(x).is_integer() for row in rows for x in row.split(",")[:2])


@pytest.mark.parametrize(
    ("arguments", "code", "ending"),
    [
        (("m.json", "-n", "0"), 2, "[bad-option]"),
        (("m.json", "-n", "2", "--length", "3"), 2, "[bad-option]"),
        (("m.json", "-n", "2", "--out", "x.what"), 2, "[unknown-format]"),
        (("m.json", "-n", "2", "--seed", "-1"), 2, "[bad-option]"),
        (("none.json", "-n", "2"), 3, "[file-not-found]"),
        (("line.csv", "-n", "2"), 3, "[bad-model]"),
        (("k.json", "-n", "2"), 2, "[bad-option]"),
        (("nb.json", "-n", "2"), 2, "[bad-option]"),
        (("nb.json", "-n", "2", "--length", "-1"), 2, "[bad-option]"),
    ],
)
def test_what_is_refused(cli: Cli, arguments: tuple[str, ...], code: int, ending: str) -> None:
    assert (
        cli("fit", "kmeans", "line.csv", "--label-column", "k", "-k", "2", "-o", "k.json").code == 0
    )
    assert cli("fit", "naive-bayes", "words.csv", "--labels", "k", "-o", "nb.json").code == 0
    done = cli("sample", *arguments)
    assert (done.code, done.out) == (code, "")
    assert done.err.endswith(ending + "\n")
    assert done.err.count("\n") == 1
