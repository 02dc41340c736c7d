"""Contenders that do the same work, and what counts as another result."""

from __future__ import annotations

import json
from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from refclust_bench import own
from refclust_bench.judge import Result, difference
from refclust_bench.outcome import Outcome, Work
from refclust_bench.workloads import WORKLOADS


def result_of(work: Work, who: str, *, ours: bool) -> Result:
    outcome = work.told(work.run())
    again = work.told(work.run())
    assert outcome.digest() == again.digest()
    return Result(who, ours, outcome.labels, outcome.iterations, outcome.value)


def test_contenders_without_arrays_do_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"backend": "reference", "limit": 5, "linkage": "average"}
    for name in ("KM-A", "SK-20", "PP-B", "MX-1", "HC", "PY-1", "PY-2"):
        case = WORKLOADS[name].cases(quick=True)[0]
        maker = getattr(own, own.TASKS[case.workload.task])
        with_arrays = result_of(maker(case.tiny(), options), "arrays", ours=True)
        with monkeypatch.context() as patch:
            patch.setattr(own, "installed", lambda _: None)
            without = result_of(maker(case.tiny(), options), "buffers", ours=True)
        assert difference(case.workload, without, with_arrays) is None


def test_a_module_that_is_not_there() -> None:
    assert own.installed("no_such_module_at_all") is None
    assert own.installed("json") is json


@pytest.mark.parametrize("through", ["library", "command line"])
def test_cold_starts_end_well(through: str, tmp_path: Path) -> None:
    blobs = WORKLOADS["ST-1"].case("blobs", quick=True).tiny()
    blobs.write(tmp_path)
    work = own.cold_start(blobs, {"through": through, "folder": str(tmp_path)})
    assert work.outside
    assert work.told(work.run()) == Outcome()


def test_a_cold_start_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match="ended with 3: no way"):
        own.spawned("-c", "import sys; sys.stderr.write('no way'); sys.exit(3)").run()


def result(**changes: Any) -> Result:
    plain = Result("other", False, array("i", [0, 1, 1]), 4, 0.5)
    return replace(plain, **changes)


MINE = result(who="mine", own=True)


@pytest.mark.parametrize(
    ("workload", "changes", "reason"),
    [
        ("KM-A", {}, None),
        ("KM-A", {"iterations": 5}, "5 iterations, mine did 4"),
        ("KM-A", {"labels": array("i", [0, 1, 0])}, "1 of 3 labels are not those of mine"),
        ("KM-A", {"labels": array("i", [0, 1])}, "2 labels, mine gave 3"),
        ("KM-A", {"labels": None}, "it gave no labels"),
        ("KM-A", {"value": 7.0}, None),
        ("PY-1", {"iterations": 5}, None),
        ("MX-1", {"value": 0.5 + 1e-10, "labels": None}, None),
        ("MX-1", {"value": 0.5 + 1e-8}, "0.50000001, mine gave 0.5"),
        ("MX-1", {"value": 0.5 + 1e-10, "own": True}, "0.5000000001, mine gave 0.5"),
        ("MX-1", {"value": None}, "it gave no value"),
        ("HC", {"value": 1.0}, "1.0, mine gave 0.5"),
        ("HC", {"labels": array("i", [0, 0, 0])}, "2 of 3 labels are not those of mine"),
        ("PP-B", {"labels": array("i", [5, 3, 9])}, None),
        ("PP-B", {"labels": array("i", [5, 3, 3])}, "the rows it chose are not different rows"),
        ("PP-B", {"labels": array("i", [5, 3, -1])}, "the rows it chose are not different rows"),
        ("PP-B", {"labels": array("i", [5, 3])}, "2 rows, mine chose 3"),
        ("PP-B", {"labels": None}, "it gave no rows"),
        ("PP-B", {"labels": array("i", [5, 3, 9]), "own": True}, "3 of 3 labels are not those"),
        ("ST-1", {"labels": None, "value": None}, None),
    ],
)
def test_difference(workload: str, changes: dict[str, Any], reason: str | None) -> None:
    fault = difference(WORKLOADS[workload], result(**changes), MINE)
    assert fault is None if reason is None else (fault or "").startswith(reason)
