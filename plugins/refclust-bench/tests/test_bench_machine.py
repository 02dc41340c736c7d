"""Facts and limits of the machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import Fake

from refclust_bench import limits
from refclust_bench.processes import machine
from refclust_bench.processes.process import Child


def test_facts_of_the_machine() -> None:
    facts = machine.facts()
    assert facts["cores"] == machine.cores() >= 1
    assert facts["cpu"]
    assert machine.versions()["refclust"]
    before = machine.own_seconds()
    sum(i * i for i in range(200_000))
    assert machine.own_seconds() >= before
    json.dumps(facts)


def test_facts_that_a_system_does_not_tell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("_STATUS", "_CLEAR", "_STAT"):
        monkeypatch.setattr(machine, name, str(tmp_path / "no" / "such"))
    assert machine.busy_seconds() is None
    assert machine.resident() is None
    assert machine.reset_high_water() is False
    assert (machine.high_water() or 1) > 0


def test_limits_of_the_machine() -> None:
    assert limits.possible()
    rates = limits.measured(Child, [1], side=8, length=100)
    assert [(measurement["kind"], measurement["threads"]) for measurement in rates] == [
        (kind, 1) for kind in limits.KINDS
    ]
    assert all(measurement["rate"] > 0 for measurement in rates)
    assert len(limits.told(rates)) == 3
    assert limits.told([]) == []


def test_limits_that_cannot_be_measured_are_left_out() -> None:
    behaviour = {"limit": {"error": "open"}}
    children: list[Fake] = []

    def launch(_: int) -> Fake:
        children.append(Fake([], behaviour))
        return children[-1]

    assert limits.measured(launch, [1, 2]) == []
    assert [child.closed for child in children] == [True, True]
