"""``refclust compare``: what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from refclust.cli.app import run

TRUE = "xxxxxxxxxxyyyy"
FIRST = "xxxxxxxxxxyyyx"
SECOND = "yyyyyyxxxxyyyx"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = []
    for name, labels in (("true", TRUE), ("a", FIRST), ("b", SECOND), ("c", TRUE)):
        path = tmp_path / f"{name}.txt"
        path.write_text("\n".join(labels) + "\n")
        paths.append(str(path))
    return paths


def test_two_classifiers(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", *files[:3]]) == 0
    out = capsys.readouterr().out
    assert "2 classifiers, 14 objects" in out
    assert "0.03125" in out  # 2 / 2^6
    assert "It is not the" in out


def test_json(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", *files, "--json", "--samples", "99"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "refclust-compare/1"
    assert [c["right"] for c in told["classifiers"]] == [13, 7, 14]
    first = told["pairs"][0]
    assert first["tests"]["exact"]["exact"] == "1/32"
    assert first["tests"]["mid-p"]["exact"] == "1/64"
    assert first["tests"]["permutation"]["exact"] == "1/32"
    assert not first["tests"]["bootstrap"]["certified"]
    assert [pair["holm"] for pair in told["pairs"]] == [2 / 32, 1.0, 3 / 64]
    assert told["cochran"]["clauses"] == ["ST-COCHRAN", "ST-CHI2"]


def test_columns_and_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "answers.csv"
    lines = [",".join(row) for row in zip(TRUE, FIRST, SECOND, strict=True)]
    table.write_text("y,bayes,tree\n" + "\n".join(lines) + "\n")
    asked = ["compare", str(table), "--column-true", "y", "--column-pred", "bayes"]
    asked += ["--column-pred", "tree", "--samples", "9"]
    for form, sign in (("markdown", "| bayes |"), ("latex", "bayes & "), ("csv", "bayes,tree,6,0")):
        assert run([*asked, "--format", form]) == 0
        assert sign in capsys.readouterr().out


def test_forms(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["compare", *files[:3], "--samples", "9"]
    assert run([*asked, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "refclust-compare/1"
    assert run([*asked, "--format", "csv"]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.split(",")[2:5] == ["only first right", "only second right", "p exact"]
    assert row.split(",")[2:6] == ["6", "0", "0.03125", "0.015625"]
    assert run([*asked, "--format", "markdown", "--digits", "2"]) == 0
    assert "| p exact | 0.031 |" in capsys.readouterr().out
    assert run([*asked, "--format", "csv", "--digits", "2"]) == 2


def test_trials(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "trials.csv"
    table.write_text("bayes,tree\n1,0\n3,1\n2,2\n5,0\n")
    assert run(["compare", "--trials", str(table)]) == 0
    out = capsys.readouterr().out
    assert "2 methods, 4 trials" in out
    assert "0.9799819922700271" in out  # 1.96 / 2
    assert run(["compare", "--trials", str(table), "--alpha", "0.1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "refclust-trials/1"
    assert [method["mean_rank"] for method in told["methods"]] == [1.875, 1.125]
    [pair] = told["pairs"]
    assert pair["tests"]["Wilcoxon"]["exact"] == "1/4"
    assert (pair["ranks_apart"], pair["holm"]) == (0.75, 0.25)
    assert pair["tests"]["Nemenyi"]["clauses"] == ["ST-NEMENYI"]
    for form, sign in (
        ("markdown", "| bayes |"),
        ("latex", "bayes & "),
        ("csv", "bayes,tree,0.75"),
    ):
        assert run(["compare", "--trials", str(table), "--format", form]) == 0
        assert sign in capsys.readouterr().out
    assert run(["compare", "--trials", str(table), str(table)]) == 2
    assert run(["compare", "--trials", str(table), "--alpha", "1"]) == 2
    assert run(["compare"]) == 2
    table.write_text("a,b\n1,1\n")  # no difference at all, and one trial
    assert run(["compare", "--trials", str(table)]) == 0
    assert "undefined" in capsys.readouterr().out


def test_refusals(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = tmp_path / "short.txt"
    short.write_text("x\n")
    for asked, code, words in (
        ([files[0], files[1]], 2, "at least two classifiers"),
        ([files[0], files[1], str(short)], 3, "label-length-mismatch"),
        ([files[0], files[1], files[2], "--column-pred", "x"], 3, "missing-column"),
        ([files[0], "--column-pred", "x"], 2, "--column-true"),
        ([files[0], files[1], str(tmp_path / "none.txt")], 3, "file-not-found"),
    ):
        assert run(["compare", *asked]) == code
        captured = capsys.readouterr()
        assert words in captured.err
        assert not captured.out
