"""Fits in processes of their own, killed at random moments, go on to the same bits (KM-CKPT)."""

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

from refclust.cluster.fit import kmeans, kmeans_steps
from refclust.cluster.results import KMeansFit
from refclust.fitting.checkpoint import Checkpoint

DATA = [[(37 * i * i) % 101 / 8, (53 * i) % 89 / 4] for i in range(60)]
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {"k": 5, "start": "random", "restarts": 4, "seed": 3, "trace": "full"},
    "drop": {
        "k": 6,
        "start": "random-centres",
        "restarts": 4,
        "seed": 1,
        "empty": "drop",
        "weights": [i % 4 for i in range(60)],
    },
}

# The child writes a checkpoint after every iteration. What it does to the disk is slowed down, so
# that a kill often comes in the middle of a write: before, between or after sync and replacement.
CHILD = """
import json, os, sys, time
from refclust.fitting.checkpoint import Checkpoint
from refclust.cluster.fit import kmeans_steps

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
steps = kmeans_steps(given["data"], checkpoint=checkpoint, **given["options"])
print("begun", flush=True)
for state in steps:
    pass
fit = steps.result()
print(json.dumps({
    "labels": list(fit.labels),
    "numbers": repr((fit.centres, fit.rss, fit.within, fit.best, fit.stopped)),
    "runs": repr([(r.exact_rss, r.iterations, r.stopped, r.emptied, r.trace) for r in fit.runs]),
}), flush=True)
"""


def told(fit: KMeansFit) -> dict[str, Any]:
    return {
        "labels": list(fit.labels),
        "numbers": repr((fit.centres, fit.rss, fit.within, fit.best, fit.stopped)),
        "runs": repr(
            [(r.exact_rss, r.iterations, r.stopped, r.emptied, r.trace) for r in fit.runs]
        ),
    }


def start(path: Path, options: dict[str, Any]) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    given = {"path": str(path), "data": DATA, "options": options}
    assert child.stdin is not None
    child.stdin.write(json.dumps(given))
    child.stdin.close()
    return child


@pytest.mark.spec("KM-CKPT")
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.long
def test_killed_fits_go_on(name: str, tmp_path: Path) -> None:
    due = told(kmeans(DATA, **OPTIONS[name]))
    rng = random.Random(name)
    path = tmp_path / "fit.json"
    kills = 0
    while True:
        child = start(path, OPTIONS[name])
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        if kills < 4:
            time.sleep(rng.random() * 0.08)
            child.send_signal(signal.SIGKILL)
        rest = child.stdout.read()
        child.stdout.close()
        status = child.wait(timeout=30)
        if status == 0:
            break
        assert status == -signal.SIGKILL
        kills += 1
        if path.exists():
            # Whole or not there at all, whenever the kill came.
            assert json.loads(path.read_text(encoding="utf-8"))["format"] == "refclust-checkpoint"
    assert json.loads(rest) == due
    assert kills > 0
    assert not path.exists()


SUICIDE = """
import os, signal, sys
from refclust.fitting.checkpoint import Checkpoint
from refclust.cluster.fit import kmeans_steps

name, when, number, path = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
plain, left = getattr(os, name), number

def dying(*args):
    global left
    left -= 1
    if left == 0 and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    result = plain(*args)
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return result

setattr(os, name, dying)
rows = [[float(x)] for x in (*range(12), 20, 30)]
for state in kmeans_steps(rows, centres=[[0], [1]], checkpoint=Checkpoint(path, every=0.0)):
    pass
"""


@pytest.mark.spec("KM-CKPT")
@pytest.mark.parametrize(
    ("call", "when", "number", "reached"),
    [
        ("fsync", "before", 3, 1),  # two for each write: the file and its folder
        ("fsync", "after", 5, 2),
        ("fsync", "before", 4, 2),
        ("replace", "before", 3, 2),
        ("replace", "after", 3, 3),
        ("replace", "before", 1, 0),
    ],
)
def test_death_in_the_middle_of_a_write(
    call: str, when: str, number: int, reached: int, tmp_path: Path
) -> None:
    path = tmp_path / "fit.json"
    arguments = [sys.executable, "-c", SUICIDE, call, when, str(number), str(path)]
    assert subprocess.run(arguments, check=False).returncode == -signal.SIGKILL
    rows = [[float(x)] for x in (*range(12), 20, 30)]
    due = kmeans(rows, centres=[[0], [1]])
    if not reached:
        assert not path.exists()
        return
    steps = kmeans_steps(rows, centres=[[0], [1]], checkpoint=Checkpoint(str(path), resume=True))
    assert next(steps).iteration.iteration == reached + 1
    for _ in steps:
        pass
    fit = steps.result()
    assert (fit.labels, fit.centres, fit.runs) == (due.labels, due.centres, due.runs)


@pytest.mark.spec("KM-CKPT")
def test_a_terminated_fit_leaves_the_old_checkpoint_whole(tmp_path: Path) -> None:
    """A process that only writes: whenever it is killed, the file is one of those it wrote."""
    script = (
        "import sys\n"
        "from refclust.fitting.checkpoint import write_atomically\n"
        "print('begun', flush=True)\n"
        "number = 0\n"
        "while True:\n"
        "    number += 1\n"
        "    write_atomically(sys.argv[1], [b'%d ' % number] * 5000)\n"
    )
    path = tmp_path / "file"
    rng = random.Random(5)
    for _ in range(3):
        child = subprocess.Popen(
            [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        time.sleep(0.02 + rng.random() * 0.05)
        child.kill()
        child.wait(timeout=30)
        child.stdout.close()
        words = path.read_bytes().split()
        assert len(words) == 5000
        assert len(set(words)) == 1
