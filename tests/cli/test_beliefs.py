"""Beliefs about mixtures on the command line: written by select, used like any model."""

from __future__ import annotations

from pathlib import Path

from refclust.models.clusters import load_model
from tests.cli.conftest import Cli

POINTS = ["x,y", "0,1", "0.5,0", "1,2", "6,5", "7,6.5", "6.5,8"]


def test_the_command_line_writes_and_uses_beliefs(cli: Cli, tmp_path: Path) -> None:
    table = str(tmp_path / "points.csv")
    Path(table).write_text("\n".join([*POINTS, ""]), encoding="utf-8")
    path, criterion = str(tmp_path / "beliefs.json"), ("--criterion", "evidence")
    done = cli("select", table, "-k", "2", *criterion, "--restarts", "1", "-o", path)
    assert done.code == 0, done.err
    found = load_model(path)
    assert (found.algorithm, found.data.features) == ("variational-gaussian", ("x", "y"))
    done = cli("predict", path, table, "--proba", "--log-density")
    assert done.code == 0, done.err
    assert done.out.splitlines()[0] == "id,cluster,p_0,p_1,log_density"
    done = cli("describe", path)
    assert done.code == 0, done.err
    assert done.out.startswith("2 clusters by variational-gaussian from 6 rows, 2 features")
    done = cli("sample", path, "-n", "3", "--seed", "7")
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == 4
    done = cli("explain", "em", path, table)
    assert (done.code, "holds beliefs; EM belongs to mixtures" in done.err) == (2, True)
    done = cli("fit", "gaussian", table, "--start-model", path, "--floor", "0.1")
    assert done.code == 0, done.err
