"""Columns chosen, filled in, encoded and scaled on the command line (chapter 07)."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

SHEET = "id;x;y;when;colour;group_class;note\n"


@pytest.fixture(autouse=True)
def _sheet(cli: Cli) -> None:
    assert cli is not None
    draw = random.Random(3)
    rows = []
    for i in range(1, 31):
        middle = 10 * (i % 3)
        x, y = middle + draw.randint(0, 3), 1000 * middle + draw.randint(0, 99)
        cell = "?" if i in (4, 9) else str(x)
        day = f"2024-05-{i:02d}"
        rows.append(f"{i};{cell};{y};{day};{'red' if i % 4 else 'blue'};{i % 3};note {i} here\n")
    Path("sheet.csv").write_text(SHEET + "".join(rows), encoding="utf-8")


READ = ("--delimiter", ";")
NOTE = (
    "refclust: not used as features: id (ids: --id-column id), when (dates), group_class "
    "(classes: --label-column group_class), note (text); --columns uses what it names\n"
)


@pytest.mark.spec("PREP-DEFAULT")
def test_every_step_says_what_is_needed_next(cli: Cli) -> None:
    fit = ("fit", "kmeans", "sheet.csv", "-k", "3", *READ)
    done = cli(*fit)
    assert done.code == 3
    assert "--categorical colour uses them" in done.err
    done = cli(*fit, "--exclude", "colour")
    assert (done.code, "sheet.csv:5: column 2 ('x')" in done.err) == (3, True)
    assert "--missing drop, mean or median" in done.err
    done = cli(*fit, "--exclude", "colour", "--missing", "drop")
    assert done.code == 0
    assert done.err.startswith(NOTE + "refclust: 2 of 30 rows dropped: a cell is missing\n")
    assert "y has 100% of all variance" in done.err
    assert done.out.startswith("28 rows, 2 features (missing cells: rows dropped)")


@pytest.mark.spec("PREP-MODEL", "PREP-UNITS", "PREP-UNSEEN")
def test_a_model_does_the_same_to_new_rows(cli: Cli) -> None:
    fit = ("fit", "kmeans", "sheet.csv", "-k", "3", *READ, "--label-column", "group_class")
    prepared = ("--categorical", "colour", "--missing", "median", "--scale", "standard")
    done = cli(*fit, *prepared, "-o", "m.json", "--labels", "fit.csv", "--json")
    assert done.code == 0
    assert done.json()["preparation"]["missing"] == "median"
    model = json.loads(Path("m.json").read_text("utf-8"))
    assert model["data"]["reading"]["options"] == {
        "delimiter": ";",
        "label_column": "group_class",
        "columns": ["x", "y", "colour"],
        "categorical": ["colour"],
    }
    labels = Path("fit.csv").read_text("utf-8")
    assert cli("predict", "m.json", "sheet.csv").out == labels
    Path("new.csv").write_text("colour;y;x;more\nred;20050;;a\ngreen;3;1;b\n", encoding="utf-8")
    done = cli("predict", "m.json", "new.csv")
    assert (done.code, "[unseen-category]" in done.err) == (3, True)
    done = cli("predict", "m.json", "new.csv", "--unseen", "zeros")
    assert (done.code, len(done.out.splitlines())) == (0, 3)
    for option in (("--scale", "range"), ("--missing", "drop"), ("--categorical", "x")):
        assert cli("predict", "m.json", "new.csv", *option).code == 2
    told = cli("describe", "m.json").out
    assert "(scaled: standard; 1 column as 2 indicators of weight 1; missing cells: median)" in told
    assert "colour=red" in told
    means = [line.split() for line in told.splitlines() if line.startswith("  y ")]
    assert sorted(round(float(mean[2]), -3) for mean in means) == [0.0, 10000.0, 20000.0]
    done = cli("explain", "kmeans", "m.json", "sheet.csv", "--row", "3")
    assert "Row 3 in your own units" in done.out
    assert "In your own units, x = c + s z:" in done.out


@pytest.mark.spec("PREP-UNITS")
def test_mixtures_speak_the_users_units(cli: Cli) -> None:
    call = ("sheet.csv", "-k", "3", *READ, "--columns", "x,y", "--missing", "drop")
    form = ("--covariance", "diagonal", "--seed", "1")
    raw = cli("fit", "gaussian", *call, *form)
    done = cli("fit", "gaussian", *call, *form, "--scale", "standard", "-o", "g.json")
    assert (raw.code, done.code) == (0, 0)

    def table(text: str) -> list[str]:
        lines = text.splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("component"))
        return sorted(line.partition("  ")[2] for line in lines[at + 1 : at + 4])

    assert table(done.out) == table(raw.out)
    told = cli("explain", "em", "g.json", "sheet.csv")
    assert "in your own units" in told.out


@pytest.mark.spec("PREP-CONSTANT")
def test_gaussians_leave_out_what_is_constant(cli: Cli) -> None:
    rows = "".join(f"{x},{x * x % 7},5\n" for x in (1.5, 2, 3, 7, 8.5, 9, 4, 4.25))
    Path("flat.csv").write_text("x,y,c\n" + rows, encoding="utf-8")
    done = cli("fit", "gaussian", "flat.csv", "-k", "1")
    assert done.code == 0
    assert "not used as features: c (constant); " in done.err
    assert cli("fit", "gaussian", "flat.csv", "-k", "1", "--constants", "keep").code == 3
    assert cli("fit", "kmeans", "flat.csv", "-k", "1").out.startswith("8 rows, 3 features;")


@pytest.mark.spec("PREP-COLUMNS", "PREP-KIND")
@pytest.mark.parametrize(
    "call",
    [
        ("fit", "kmeans", "-k", "2"),
        ("fit", "bisecting", "-k", "2"),
        ("fit", "agglomerative", "-k", "2"),
        ("select", "--model", "kmeans", "-k", "2"),
        ("sniff",),
        ("convert",),
        ("crossval", "lda", "--labels", "group_class", "--folds", "3"),
    ],
)
def test_columns_wherever_rows_are_read(cli: Cli, call: tuple[str, ...]) -> None:
    ends = ("out.csv",) if call[0] == "convert" else ()
    at = 2 if call[0] in ("fit", "crossval") else 1
    given = (*call[:at], "sheet.csv", *ends, *call[at:], *READ)
    done = cli(*given, "--columns", "y,group_class" if "group_class" not in call else "y")
    assert done.code == 0, done.err
    assert cli(*given, "--columns", "z*").code == 3
    if ends:
        assert Path("out.csv").read_text("utf-8").startswith("y,group_class\n")


@pytest.mark.spec("DIST-GOWER")
def test_trees_of_mixed_tables(cli: Cli) -> None:
    fit = ("fit", "agglomerative", "sheet.csv", "-k", "3", *READ, "--metric", "gower")
    done = cli(*fit, "--linkage", "average", "--label-column", "group_class", "-o", "t.json")
    assert done.code == 0
    assert "distances     gower" in done.out
    assert cli("describe", "t.json").code == 0
    assert cli(*fit).code == 2  # Ward
    assert cli(*fit, "--linkage", "average", "--scale", "range").code == 2


@pytest.mark.spec("PREP-KIND")
def test_a_running_number_is_no_feature(cli: Cli) -> None:
    rows = [f"{i},{(i - 1) // 4}.5\n" for i in range(1, 13)]
    for head in ("row,x\n", ""):
        Path("run.csv").write_text(head + "".join(rows), encoding="utf-8")
        done = cli("fit", "kmeans", "run.csv", "-k", "3")
        assert done.code == 0
        assert "12 rows, 1 feature;" in done.out
        assert "(ids: --id-column" in done.err
    done = cli("sniff", "run.csv")
    assert "not used as features: column 1 (ids: --id-column 1)" in done.out


@pytest.mark.spec("PREP-DEFAULT")
def test_centres_are_in_the_users_units(cli: Cli) -> None:
    Path("centres.csv").write_text("y,x\n50,1\n10050,11\n20050,21\n", encoding="utf-8")
    call = ("fit", "kmeans", "sheet.csv", *READ, "--columns", "x,y", "--missing", "drop")
    done = cli(*call, "--scale", "range", "--centres", "centres.csv", "--json")
    assert done.code == 0
    assert sorted(cluster["size"] for cluster in done.json()["clusters"]) == [9, 9, 10]


@pytest.mark.parametrize(
    "option",
    [
        ("--columns", ","),
        ("--columns", '"x'),
        ("--exclude", ""),
        ("--category-weight", "0"),
        ("--category-weight", "nan"),
        ("--columns", "y:x"),
    ],
)
def test_wrong_options(cli: Cli, option: tuple[str, str]) -> None:
    done = cli("fit", "kmeans", "sheet.csv", "-k", "3", *READ, *option)
    assert (done.code, done.out) == (2, "")


def test_sniff_advises_once(cli: Cli) -> None:
    rows = [f"shop {i} here,{'nord' if i % 2 else 'sued'},{i * i % 7}" for i in range(12)]
    Path("shops.csv").write_text("\n".join(["shop,region,x", *rows]) + "\n", encoding="utf-8")
    done = cli("sniff", "shops.csv")
    assert done.code == 3
    assert done.out.count("is not a number") == 1
    assert "it cannot be read: shops.csv:2: column 2 ('region') is 'sued'" in done.out
