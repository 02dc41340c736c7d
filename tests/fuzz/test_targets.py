"""A short run of every target: no fault that is not known, inputs that come past the door."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.cases import case_of, written
from tests.fuzz.targets import targets

pytestmark = pytest.mark.long  # by `pytest -m long`

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).parent / "open.txt"
OPEN = [key for key in LIST.read_text(encoding="utf-8").splitlines() if not key.startswith("#")]
NAMES = [target.name for target in targets()]
FEW = {"commands": 60, "calls": 150, "checkpoints": 100, "keys": 150}


def fresh(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=200,
        env={**os.environ, **environment},
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_a_short_run_finds_nothing_new(name: str) -> None:
    told = json.loads(
        fresh(f"""
import json
from tests.fuzz.__main__ import fuzzed
from tests.fuzz.targets import targets
from tests.fuzz.watching import Bounds
target = next(one for one in targets() if one.name == {name!r})
tally = fuzzed(target, 1, {FEW.get(name, 250)}, 150.0, Bounds(seconds=20.0))
print(json.dumps([tally.inputs, tally.accepted, target.least, list(tally.found)]))
""")
    )
    inputs, accepted, least, found = told
    assert inputs == FEW.get(name, 250)
    assert accepted >= least
    assert [key for key in found if key not in OPEN] == []


def test_inputs_are_the_same_in_every_process() -> None:
    code = """
import hashlib
from tests.fuzz.cases import case_of, written
from tests.fuzz.targets import targets
told = hashlib.sha256()
for target in targets():
    for number in range(20):
        told.update(written(target.name, case_of(target, 3, number), "").encode())
print(told.hexdigest())
"""
    told = {fresh(code, PYTHONHASHSEED=seed).strip() for seed in ("1", "2")}
    assert len(told) == 1


def test_inputs_differ_by_seed_and_number() -> None:
    csv = next(target for target in targets() if target.name == "csv")
    cases = [written("csv", case_of(csv, s, i), "") for s in (1, 2) for i in range(50)]
    assert len({hashlib.sha256(text.encode()).hexdigest() for text in cases}) > 95
    assert cases[7] == written("csv", case_of(csv, 1, 7), "")
