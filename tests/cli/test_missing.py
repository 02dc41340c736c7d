"""Missing cells on the command line: fit, predict, select, and who refuses them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

ROWS = (
    *("0,1", "1,NA", "0.5,0", ",1.5", "1.5,?", "0.25,0.75"),
    *("9,8", "NaN,9", "10,-", "9.5,8.5", "8.5,", "10.5,9.75"),
)
TABLE = "x,y\n" + "".join(f"{row}\n" for row in ROWS)
FIT = ("fit", "gaussian", "holes.csv", "-k", "2", "--covariance", "EEI", "--missing", "integrate")


@pytest.fixture(autouse=True)
def _files(cli: Cli) -> None:  # after cli, which goes to the folder
    assert callable(cli)
    Path("holes.csv").write_text(TABLE, encoding="utf-8")


@pytest.mark.spec("MISS-CELL", "MISS-EM")
def test_a_fit_says_what_is_missing(cli: Cli) -> None:
    done = cli(*FIT, "--certify")
    assert done.code == 0
    assert "12 rows, 2 features; 2 components of a Gaussian mixture (EEI)" in done.out
    assert "missing         6 cells in 6 rows (25 %), integrated over" in done.out
    assert "certified" in done.out
    assert cli(*FIT, "--json").json()["missing"] == "integrate"


@pytest.mark.spec("MISS-PRED", "MODEL-READ")
def test_a_model_reads_new_rows_as_its_own(cli: Cli) -> None:
    assert cli(*FIT, "-o", "m.json").code == 0
    model = json.loads(Path("m.json").read_text(encoding="utf-8"))
    assert model["params"]["missing"] == "integrate"
    assert model["data"]["reading"]["options"]["missing"] == "integrate"
    Path("new.csv").write_text("y,x\n,0.5\n9,\n,\n", encoding="utf-8")
    done = cli("predict", "m.json", "new.csv", "--proba", "--log-density")
    assert done.code == 0
    lines = [line.split(",") for line in done.out.splitlines()]
    assert lines[0] == ["id", "cluster", "p_0", "p_1", "log_density"]
    weights = model["fitted"]["parameters"]["weights"]
    assert [float(p) for p in lines[3][2:4]] == weights
    assert abs(float(lines[3][4])) < 1e-15
    assert lines[1][1] != lines[2][1]


@pytest.mark.spec("MISS-LL")
def test_models_are_compared(cli: Cli) -> None:
    done = cli(
        "select", "holes.csv", "-k", "1..2", "--covariance", "EEI,EII", "--missing", "integrate"
    )
    assert done.code == 0
    assert "with K = 2: smallest BIC" in done.out
    told = cli(*("select", "holes.csv", "--model", "kmeans", "-k", "2", "--missing", "integrate"))
    assert told.code == 2
    assert "missing='integrate' belongs to gaussian mixtures, not to kmeans" in told.err


@pytest.mark.spec("MISS-CELL")
@pytest.mark.parametrize(
    "call",
    [
        ("fit", "kmeans", "holes.csv", "-k", "2"),
        ("fit", "poisson", "holes.csv", "-k", "2"),
        ("fit", "agglomerative", "holes.csv", "-k", "2"),
    ],
)
def test_others_say_what_to_do(cli: Cli, call: tuple[str, ...]) -> None:
    done = cli(*call, "--missing", "integrate")
    assert done.code == 3
    assert done.err == (
        "refclust: row 1, column y is missing; a Gaussian mixture can do without a cell "
        "(missing='integrate', --missing integrate); elsewhere every cell is needed: drop the "
        "row, or fill the cell [missing-value]\n"
    )
    assert cli(*call).err.startswith("refclust: holes.csv:3: column 2 ('y') is 'NA', a missing")


@pytest.mark.spec("MISS-CELL")
def test_an_iteration_is_explained_on_whole_rows(cli: Cli) -> None:
    assert cli(*FIT, "-o", "m.json").code == 0
    done = cli("explain", "em", "m.json", "holes.csv")
    assert (done.code, done.err) == (
        3,
        "refclust: cells are missing; an iteration is worked through on whole rows: leave the "
        "others out [missing-value]\n",
    )
