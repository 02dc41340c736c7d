"""Children that answer as they are told, and rows measured with them."""

from __future__ import annotations

from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

from refclust_bench import data, runner
from refclust_bench.contenders import Contender
from refclust_bench.runner import Plan, Pool, Row
from refclust_bench.workloads import WORKLOADS, Workload

QUICK = Plan(repeat=2, limit=60.0, settle=0.0)


class Fake:
    """Answers as a child would, and writes down who was asked for what."""

    def __init__(self, log: list[tuple[str, str]], behaviour: dict[str, dict[str, Any]]) -> None:
        self.log, self.behaviour, self.closed, self.runs = log, behaviour, False, 0
        self.digest = ""

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        assert seconds > 0
        name = request["key"].rsplit(" ", 1)[0]
        self.log.append((name, request["do"]))
        here = self.behaviour.get(name, {})
        if "ends" in here and here["ends"][0] == request["do"]:
            raise here["ends"][1]
        if here.get("error") == request["do"]:
            return {"ok": False, "error": "ValueError: not today"}
        if request["do"] == "open":
            self.digest = data.read(Path(request["folder"])).digest()
            return {
                "ok": True,
                "digest": here.get("opened", self.digest),
                "ready_seconds": 0.5,
                "resident": 1000,
                "warm_up_peak": 1500,
            }
        if request["do"] == "digest":
            return {"ok": True, "digest": here.get("digest", self.digest)}
        self.runs += 1
        labels = array("i", here.get("labels", [0, 1]))
        if request.get("labels"):
            Path(request["labels"]).write_bytes(labels.tobytes())
        return {
            "ok": True,
            "cpu": 0.0,
            "seconds": here.get("seconds", 1.0) * self.runs,
            "peak": here.get("peak", 1200),
            "iterations": 4,
            "value": None,
            "result": str(labels) + (str(self.runs) if here.get("changes") else ""),
            "details": {},
        }

    def close(self) -> None:
        self.closed = True


def contender(name: str, *, ours: bool = False, threads: tuple[int, ...] = (1,)) -> Contender:
    return Contender(name, ours, name.split()[0], "1.0", "fake:make", {}, threads)


def measured(
    rivals: list[Contender],
    behaviour: dict[str, dict[str, Any]] | None = None,
    plan: Plan = QUICK,
    workload: Workload = WORKLOADS["KM-A"],
) -> tuple[Row, list[tuple[str, str]], list[Fake]]:
    log: list[tuple[str, str]] = []
    children: list[Fake] = []

    def launch(_: int) -> Fake:
        children.append(Fake(log, behaviour or {}))
        return children[-1]

    tiny = replace(workload, quick={"n": 30, "d": 2, "k": 3})
    row = runner.begin(tiny.case(tiny.sorts[0], quick=True), rivals, [])
    pool = Pool(launch)
    runner.measure(row, plan, pool)
    pool.close()
    assert all(child.closed for child in children)
    return row, log, children
