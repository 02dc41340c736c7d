"""Messages, read as a stranger reads them: they advise what exists, and what helps."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer

import refclust
from refclust.cli.commands.fit import running
from refclust.cli.options import complete
from refclust.mixture.theory import row_divergence
from tests.cli.conftest import Cli


def test_a_selection_that_is_interrupted_advises_nothing(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(**_: object) -> None:
        raise KeyboardInterrupt

    Path("x.csv").write_text("a\n1\n2\n8\n9\n", encoding="utf-8")
    monkeypatch.setattr("refclust.mixture.choosing.selection.select", stopped)
    done = cli("select", "x.csv", "--k", "1..2")
    assert done.code == 130
    assert done.err == "refclust: interrupted at its beginning; nothing was written\n"


def test_a_fit_that_is_interrupted_advises_its_own_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stopped(_live: running.Live) -> None:
        raise KeyboardInterrupt

    with pytest.raises(typer.Exit):
        running.run(stopped, None)
    assert "nothing is kept without --model or --checkpoint" in capsys.readouterr().err


@pytest.mark.spec("EM-DECOMP", "IT-KL")
def test_a_divergence_is_never_negative() -> None:
    joint = [math.log(0.1), math.log(0.2), math.log(0.3)]
    for scale in range(1, 200):
        shares = [1 / 6, 2 / 6, 3 / 6]
        moved = [x - scale / 7 for x in joint]
        assert row_divergence(shares, moved) >= 0.0
    fit = refclust.gaussian_mixture([[0.0], [1.0], [5.0], [7.0]], 2, covariance="tied")
    text = fit.explain([[0.0], [1.0], [5.0], [7.0]]).text()
    [line] = [line for line in text.splitlines() if line.strip().startswith("KL before")]
    assert float(line.split()[2]) >= 0.0


@pytest.mark.parametrize(
    ("name", "clause"), [("kmeans", "KM-ALG"), ("k-means++", "KM-PP"), ("ward", "HC-WARD")]
)
def test_methods_are_known_to_spec(cli: Cli, name: str, clause: str) -> None:
    done = cli("spec", name)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{clause} ")


@pytest.mark.parametrize("covariance", ["full", "EII", "VII", "tied", "diagonal"])
def test_identical_rows_are_not_advised_what_fails_too(cli: Cli, covariance: str) -> None:
    Path("same.csv").write_text("a,b\n" + "1,2\n" * 5, encoding="utf-8")
    keep = ("--constants", "keep")
    done = cli("fit", "gaussian", "same.csv", "-k", "1", "--covariance", covariance, *keep)
    assert done.code == 3
    assert done.err == (
        "refclust: all rows are the same, within rounding: no covariance can be estimated from "
        "them; give rows that differ [degenerate-covariance]\n"
    )


def test_a_column_that_is_constant_is_still_advised(cli: Cli) -> None:
    Path("flat.csv").write_text("a,b\n1,2\n2,2\n4,2\n7,2\n", encoding="utf-8")
    done = cli("fit", "gaussian", "flat.csv", "-k", "1", "--constants", "keep")
    assert "column b has the same value in all rows" in done.err
    assert "choose a spherical covariance (EII, VII)" in done.err
    assert cli("fit", "gaussian", "flat.csv", "-k", "1", "--covariance", "EII").code == 0


def test_rows_that_are_all_the_same_have_no_feature_left(cli: Cli) -> None:
    Path("same.csv").write_text("a,b\n" + "1,2\n" * 5, encoding="utf-8")
    done = cli("fit", "gaussian", "same.csv", "-k", "1")
    assert (done.code, done.err) == (
        3,
        "refclust: same.csv has no column left for a feature: a (constant), b (constant); "
        "--columns uses what it names [missing-column]\n",
    )


def test_squares_beyond_the_doubles_say_what_to_do(cli: Cli) -> None:
    Path("huge.csv").write_text("a\n1e300\n-1e300\n5e299\n", encoding="utf-8")
    done = cli("fit", "kmeans", "huge.csv", "-k", "2")
    assert done.code == 3
    assert done.err.startswith(
        "refclust: the squared distances of these rows add up to more than the largest double: "
    )
    assert done.err.endswith("; divide the columns by a power of ten [not-finite]\n")


def test_one_row_is_one_row(cli: Cli) -> None:
    Path("same.csv").write_text("a\n1\n1\n1\n", encoding="utf-8")
    done = cli("fit", "kmeans", "same.csv", "-k", "2")
    assert "there is only 1 different row [k-out-of-range]" in done.err


# -- completion -----------------------------------------------------------------------------------


def test_columns_are_completed(tmp_path: Path) -> None:
    table, lines = tmp_path / "x.csv", tmp_path / "x.jsonl"
    table.write_text("height;width;kind\n1;2;a\n", encoding="utf-8")
    lines.write_text(json.dumps({"text": "a", "topic": "b"}) + "\n", encoding="utf-8")
    for path, start, due in (
        (table, "", ["height", "width", "kind"]),
        (table, "w", ["width"]),
        (lines, "t", ["text", "topic"]),
        (tmp_path / "none.csv", "", []),
    ):
        context = SimpleNamespace(params={"data": str(path), "k": 3})
        assert complete.complete_column(context, start) == due  # type: ignore[arg-type]


def test_covariances_and_citable_names_are_completed() -> None:
    assert complete.complete_covariance("V")[:2] == ["VII", "VEI"]
    assert complete.complete_covariance("ti") == ["tied"]
    assert ("ward", "a method") in complete.complete_citable("wa")


def test_the_version_names_plugins(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "0")
    names = ["refclust-numpy 1.0", "refclust-x 2.0"]
    monkeypatch.setattr("refclust.backends.plugins.commands.distributions", lambda: names)
    done = cli("--version")
    assert done.out.splitlines()[1:] == ["plugins: refclust-numpy 1.0, refclust-x 2.0"]
