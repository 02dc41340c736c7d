"""``refclust crossval``: what it prints, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from refclust.classify.crossval import crossval
from refclust.cli.app import run
from refclust.data.accepting.door import dataset

ROWS = [[float(i * 37 % 101), float(i * i * 13 % 97)] for i in range(24)]
CLASSES = ["xyy"[i * 5 % 7 % 3] for i in range(24)]


@pytest.fixture
def table(tmp_path: Path) -> str:
    lines = ["a,b,kind", *(f"{x},{y},{c}" for (x, y), c in zip(ROWS, CLASSES, strict=True))]
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(lines) + "\n")
    return str(file)


def test_text(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["crossval", "lda", table, "--labels", "kind", "--folds", "4"]) == 0
    shown = capsys.readouterr().out
    model = crossval("lda", dataset(ROWS), CLASSES, folds=4).models[0]
    assert "24 rows, 4 folds, seed 0" in shown
    assert f"{float(model.pooled):.6g}" in shown
    assert "no standard error" in shown


def test_json_of_two_models(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["crossval", "lda,qda", table, "--labels", "kind", "--folds", "2", "--repeats", "5"]
    assert run([*asked, "--seed", "3", "--stratified", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "refclust-crossval/1"
    due = crossval(["lda", "qda"], ROWS, CLASSES, folds=2, repeats=5, seed=3, stratified=True)
    for model, validated in zip(told["models"], due.models, strict=True):
        assert model["pooled"]["exact"] == str(validated.pooled)
        assert model["accuracies"] == [float(rate) for rate in validated.rates]
        assert sum(cell["count"] for cell in model["confusion"]) == 120
        assert len(model["predictions"]) == 5
    assert set(told["tests"]) == {"corrected t", "5x2cv t"}
    assert told["splits"] == [[list(fold) for fold in split] for split in due.splits]


def test_what_p_is_not(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["crossval", "lda,qda", table, "--labels", "kind", "--folds", "3"]
    assert run(asked) == 0
    assert "It is not the chance that they are equally good" in " ".join(
        capsys.readouterr().out.split()
    )
    assert run([*asked, "--as", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    due = crossval(["lda", "qda"], ROWS, CLASSES, folds=3)
    assert [[float(row["lda"]), float(row["qda"])] for row in rows] == [
        [float(first), float(second)] for first, second in zip(*due.rates, strict=True)
    ]


def test_other_forms_and_files(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    classes = tmp_path / "kinds.txt"
    classes.write_text("\n".join(CLASSES) + "\n")
    asked = ["crossval", "qda", table, "--labels", str(classes), "--column", "a", "--column", "b"]
    assert run([*asked, "--leave-one-out", "--set", "qda:floor=0.1", "--as", "csv"]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows[0] == ["repeat", "fold", "rows", "qda"]
    assert len(rows) == 25
    for form in ("markdown", "latex"):
        assert run(["crossval", "lda", table, "--labels", "kind", "--as", form]) == 0
        assert "pooled" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (["tree"], 2),
        ([","], 2),
        (["lda", "--folds", "25"], 2),
        (["lda", "--folds", "3", "--leave-one-out"], 2),
        (["lda", "--set", "floor"], 2),
        (["lda", "--set", "qda:floor=1"], 2),
        (["lda", "--set", "data=1"], 2),
        (["lda", "--set", "nothing=1"], 2),
    ],
)
def test_refusals(
    asked: list[str], code: int, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["crossval", asked[0], table, "--labels", "kind", *asked[1:]]) == code
    assert capsys.readouterr().err.startswith("refclust: ")


def test_classes_are_needed(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["crossval", "lda", table, "--column", "a"]) == 2
    assert "which classes?" in capsys.readouterr().err


@pytest.mark.spec("PREP-MODEL")
def test_scales_have_seen_all_rows_and_say_so(
    table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["crossval", "lda", table, "--labels", "kind", "--folds", "4"]
    said = "refclust: scales and fills are those of all rows, also of those that a fold holds out\n"
    assert run([*asked, "--scale", "standard"]) == 0
    assert capsys.readouterr().err == said
    assert run(asked) == 0
    assert capsys.readouterr().err == ""
