"""Fits of mixtures in processes of their own, killed at random moments, go on to the same bits."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from refclust.mixture.families.named.gaussian import gaussian_mixture

DATA = [[(37 * i * i) % 101 / 8, (53 * i) % 89 / 4] for i in range(40)]
OPTIONS: dict[str, Any] = {
    "k": 3,
    "start": "random",
    "restarts": 2,
    "seed": 3,
    "variation": "monte-carlo",
    "samples": 2,
    "limit": 6,
    "floor": 0.1,
    "covariance": "VVI",
    "backend": "reference",
}

CHILD = """
import json, os, sys, time
from refclust.fitting.checkpoint import Checkpoint
from refclust.mixture.families.named.gaussian import gaussian_steps

def slow(function):
    def called(*args):
        time.sleep(0.004)
        result = function(*args)
        time.sleep(0.004)
        return result
    return called

os.fsync, os.replace = slow(os.fsync), slow(os.replace)
given = json.loads(sys.stdin.read())
path = given["path"]
checkpoint = Checkpoint(path, every=0.0, resume=os.path.exists(path))
steps = gaussian_steps(given["data"], checkpoint=checkpoint, **given["options"])
print("begun", flush=True)
for state in steps:
    pass
fit = steps.result()
print(json.dumps([list(fit.labels), repr(fit.runs)]), flush=True)
"""


@pytest.mark.spec("EM-CKPT")
def test_a_killed_fit_goes_on(tmp_path: Path) -> None:
    due = gaussian_mixture(DATA, **OPTIONS)
    rng = random.Random(4)
    path = tmp_path / "fit.json"
    kills = 0
    while True:
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps({"path": str(path), "data": DATA, "options": OPTIONS}))
        child.stdin.close()
        assert child.stdout.readline() == "begun\n"
        if kills < 3:
            time.sleep(rng.random() * 0.1)
            child.send_signal(signal.SIGKILL)
        rest = child.stdout.read()
        child.stdout.close()
        status = child.wait(timeout=60)
        if status == 0:
            break
        assert status == -signal.SIGKILL
        kills += 1
        if path.exists():
            assert json.loads(path.read_text(encoding="utf-8"))["format"] == "refclust-checkpoint"
    assert json.loads(rest) == [list(due.labels), repr(due.runs)]
    assert kills > 0
    assert not path.exists()
