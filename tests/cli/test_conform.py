"""``refclust conform``: the kit from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from refclust.kernels.registry import KERNELS
from refclust.testing.ladder import ladder
from refclust.version import __version__
from tests.backends.plugins import GOOD, installed
from tests.cli.conftest import Cli

RIGHT = GOOD.replace("problem.n > 1000", "problem.n > 10**9")
WRONG = RIGHT.replace(
    'return KERNELS["contingency.table"].reference(data)',
    "return {cell: 1 for cell in KERNELS['contingency.table'].reference(data)}",
)


@pytest.mark.spec("BK-KIT")
def test_the_loopback_conforms(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    few = ("plain", "ties", "cosine", "labels", "margins", "distances")
    rungs = tuple(rung for rung in ladder(quick=True) if rung.name in few)
    monkeypatch.setattr("refclust.testing.kit.ladder", lambda *, quick: rungs if quick else ())
    done = cli("conform", "loopback", "--quick")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].split()[:2] == ["kernel", "calls"]
    assert {line.split()[0] for line in lines[2 : 2 + len(KERNELS)]} == set(KERNELS)
    assert "X" not in "".join(lines[1 : 2 + len(KERNELS)])
    assert lines[-1].startswith(
        f"loopback (refclust {__version__}) keeps its contracts: {len(KERNELS)} kernels, "
    )


def test_a_plugin_that_leaves_most_to_the_reference(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REFCLUST_DISABLE_PLUGINS")
    with installed(tmp_path, right_plugin=RIGHT):
        done = cli("conform", "quick", "--quick")
        told = cli("conform", "quick", "--quick", "--json")
    assert (done.code, done.err) == (0, "")
    assert "keeps its contracts: 1 kernel, " in done.out
    assert "left to the reference: distances.pairwise, " in done.out
    content = told.json()
    assert told.code == 0
    assert content["schema"] == "refclust-conform/1"
    assert (content["ok"], content["backend"], content["quick"]) == (True, "quick", True)
    assert (content["distribution"], content["version"]) == ("right_plugin", "1.2.3")
    assert set(content["absent"]) == set(KERNELS) - {"contingency.table"}
    assert {one["kernel"] for one in content["outcomes"]} == {"(backend)", "contingency.table"}
    assert all(one["fault"] is None for one in content["outcomes"])
    assert set(content["checks"]) > {"protocol", "ties", "labels"}


def test_a_plugin_that_is_wrong(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REFCLUST_DISABLE_PLUGINS")
    with installed(tmp_path, wrong_plugin=WRONG):
        done = cli("conform", "quick", "--quick")
        told = cli("conform", "quick", "--quick", "--json")
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert "contingency.table on labels (integers and words)" in lines
    place = lines.index("contingency.table on labels (integers and words)")
    assert " 1 instead of " in lines[place + 1]
    assert "X" in next(line for line in lines if line.startswith("contingency.table"))
    assert lines[-1].startswith("quick (wrong_plugin 1.2.3): 1 of 1 kernel broken, in ")
    assert told.code == 1
    assert told.json()["ok"] is False
    assert any(one["fault"] for one in told.json()["outcomes"])


def test_who_is_not_there(cli: Cli) -> None:
    done = cli("conform", "nobody")
    assert (done.code, done.out) == (4, "")
    assert done.err.endswith("[unknown-backend]\n")
    assert cli("conform").code == 2
