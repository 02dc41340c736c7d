"""What is reported of a row that was measured."""

from __future__ import annotations

import json

from fakes import contender, measured

from refclust_bench import report
from refclust_bench.runner import Setting
from refclust_bench.workloads import WORKLOADS


def test_a_time_per_iteration() -> None:
    row, _, _ = measured([contender("a", ours=True)], workload=WORKLOADS["PY-1"])
    assert row.settings[0].seconds == [2.0, 3.0]
    assert report.scaled(row.settings[0], row) == [0.5, 0.75]
    assert report.median(row.settings[0], row) == 0.625


def test_the_table_and_the_object_tell_the_same() -> None:
    rivals = [contender("a", ours=True), contender("b"), contender("c")]
    row, _, _ = measured(rivals, {"b": {"seconds": 3.0, "peak": 3 << 20}, "c": {"error": "open"}})
    table = report.cells(row)
    assert [line[0] for line in table] == ["contender", "a", "b", "c"]
    assert table[1][:6] == ["a", "1.0", "1", "2.50 s", "2.00 s..3.00 s", "3.00×"]
    assert table[2][5:8] == ["1.00×", "3", "3"]
    assert table[3][3:8] == ["-"] * 5
    assert table[3][9] == "failed: ValueError: not today"
    content = json.loads(json.dumps(report.row_json(row), allow_nan=False))
    assert content["id"] == "KM-A"
    assert content["best_peer"] == "b"
    assert content["data_digest"] == row.digest
    assert content["sizes"] == {"n": 30, "d": 2, "k": 3}
    a, b, c = content["contenders"]
    assert (a["median_seconds"], a["min_seconds"], a["max_seconds"]) == (2.5, 2.0, 3.0)
    assert (a["ratio"], b["ratio"], c["ratio"]) == (3.0, 1.0, None)
    assert (b["peak_bytes"], b["extra_bytes"]) == (3 << 20, (3 << 20) - 1000)
    assert (c["status"], c["median_seconds"], c["iterations"]) == ("failed", None, None)


def test_what_others_used() -> None:
    setting = Setting(contender("a"), 1)
    assert setting.others is None
    setting.busy, setting.used, setting.watched = 3.0, 2.0, 2.0
    assert setting.others == 0.5
    setting.used = 4.0
    assert setting.others == 0.0
