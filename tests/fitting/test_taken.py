"""A checkpoint belongs to one fit at a time, and to no dead one (KM-CKPT)."""

from __future__ import annotations

import fcntl
import gc
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from refclust.cluster import kmeans as iterations
from refclust.cluster.bisecting import bisecting
from refclust.cluster.fit import kmeans, kmeans_steps
from refclust.data.files.taken import release_all, take
from refclust.errors import CheckpointInUse
from refclust.fitting.checkpoint import Checkpoint
from refclust.mixture.families.named.gaussian import gaussian_steps

ROWS = [[float(x)] for x in (0, 1, 2, 9, 10, 12, 20, 24)]
LOCK = ".fit.json.lock"
# Another process that takes the name, tells that it has it, and waits.
HOLDER = """
import sys
from refclust.fitting.checkpoint import Checkpoint
from refclust.cluster.fit import kmeans_steps
steps = kmeans_steps([[0.0], [1.0], [9.0]], 2, checkpoint=Checkpoint("fit.json"))
next(steps)
steps.save()
print("begun", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "1")


def is_free() -> bool:
    """Whether nobody has the name, this process included, and nothing is left of whoever had it."""
    if not os.path.exists(LOCK):
        return True
    with open(LOCK, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    raise AssertionError("a lock is left that nobody holds")


@contextmanager
def holder() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOLDER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            yield process
        finally:
            process.kill()


def refclust(*words: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "refclust", "fit", "kmeans", "rows.csv", "-k", "2", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    return done.returncode, done.stderr


@pytest.mark.spec("KM-CKPT")
def test_the_second_of_two_fits_is_refused_and_changes_nothing() -> None:
    Path("rows.csv").write_text("".join(f"{row[0]}\n" for row in ROWS))
    with holder() as first:
        content = Path("fit.json").read_bytes()
        for more in ((), ("--resume",), ("--force",)):
            code, told = refclust("--checkpoint", "fit.json", *more)
            assert (code, told) == (
                3,
                f"refclust: the checkpoint fit.json is in use by another fit that runs (process "
                f"{first.pid}); wait for its end, or give this one another name "
                "[checkpoint-in-use]\n",
            )
        os.symlink("fit.json", "other.json")  # by whatever name
        with pytest.raises(CheckpointInUse, match=r"^the checkpoint other\.json is in use by ano"):
            kmeans(ROWS, 2, checkpoint=Checkpoint("other.json"))
        assert Path("fit.json").read_bytes() == content


@pytest.mark.spec("KM-CKPT")
def test_a_killed_fit_holds_nothing() -> None:
    Path("rows.csv").write_text("0\n1\n9\n")
    with holder():
        pass
    assert os.path.exists(LOCK)  # nobody was left to take it away
    code, told = refclust("--checkpoint", "fit.json", "--force")
    assert code == 0, told
    assert sorted(os.listdir()) == ["rows.csv"]


@pytest.mark.spec("KM-CKPT")
def test_a_fit_that_ends_leaves_no_lock() -> None:
    steps = kmeans_steps(ROWS, 2, checkpoint=Checkpoint("fit.json"))
    assert not is_free()
    for _ in steps:
        pass
    steps.result()
    assert os.listdir() == []
    Path("rows.csv").write_text("a\n")  # no numbers: refused after the name was taken
    assert refclust("--checkpoint", "fit.json")[0] == 3
    assert sorted(os.listdir()) == ["rows.csv"]


@pytest.mark.spec("KM-CKPT")
def test_within_a_process_the_fit_that_began_last_has_the_name() -> None:
    first = kmeans_steps(ROWS, 2, checkpoint=Checkpoint("fit.json"))
    next(first)
    first.save()
    second = kmeans_steps(ROWS, 3, checkpoint=Checkpoint("fit.json"))
    next(second)
    second.save()
    content = Path("fit.json").read_bytes()
    with pytest.raises(CheckpointInUse, match="another fit of this process has begun with it"):
        first.save()
    first.result()  # which takes away its own checkpoint only
    assert Path("fit.json").read_bytes() == content
    for _ in second:
        pass
    second.result()
    assert os.listdir() == []


@pytest.mark.spec("KM-CKPT")
def test_a_fit_that_nobody_can_go_on_with_lets_go() -> None:
    steps = kmeans_steps(ROWS, 2, checkpoint=Checkpoint("fit.json"))
    assert not is_free()
    del steps
    gc.collect()
    assert is_free()


@pytest.mark.spec("KM-CKPT", "EM-CKPT")
@pytest.mark.parametrize("fit", ["kmeans", "bisecting", "gaussian"])
def test_an_interrupted_fit_lets_go_and_may_go_on(
    fit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = Checkpoint("fit.json")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    if fit == "bisecting":
        with pytest.raises(KeyboardInterrupt):
            bisecting(ROWS, 3, checkpoint=checkpoint, after_split=stop)
        assert is_free()
        return
    if fit == "kmeans":
        begun = kmeans_steps(ROWS, 2, checkpoint=checkpoint)
        next(begun)
        with monkeypatch.context() as patch:
            patch.setattr(iterations.LloydSteps, "_iteration", stop)
            with pytest.raises(KeyboardInterrupt):
                next(begun)
        assert is_free()
        begun.save()
    else:
        climb = gaussian_steps(ROWS, 2, covariance="tied", checkpoint=checkpoint)
        next(climb)
        with monkeypatch.context() as patch:
            patch.setattr(climb, "_maximised", stop)
            with pytest.raises(KeyboardInterrupt):
                next(climb)
        assert is_free()
        climb.save()
    assert not is_free()  # it took the name again


@pytest.mark.spec("KM-CKPT")
def test_names_that_begin_alike_are_different_names() -> None:
    one, other = "n" * 120 + "1", "n" * 120 + "2"
    take(one)
    take(other)
    assert len([name for name in os.listdir() if name.endswith(".lock")]) == 2
    release_all()
    assert os.listdir() == []


@pytest.mark.spec("KM-CKPT")
def test_a_lock_that_is_taken_away_meanwhile_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever had it unlinks it between our opening and our locking."""
    lock, calls = fcntl.flock, itertools.count()

    def locked(number: int, how: int) -> None:
        if not next(calls):
            os.unlink(LOCK)
        lock(number, how)

    monkeypatch.setattr("refclust.data.files.taken.fcntl.flock", locked)
    take("fit.json")
    assert not is_free()
    release_all()
    assert is_free()


@pytest.mark.spec("KM-CKPT")
def test_a_place_without_locks_keeps_fits_apart_within_a_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "operation not supported")

    monkeypatch.setattr("refclust.data.files.taken.fcntl.flock", refuse)
    first = kmeans_steps(ROWS, 2, checkpoint=Checkpoint("fit.json"))
    assert os.listdir() == []
    second = kmeans_steps(ROWS, 2, checkpoint=Checkpoint("fit.json"))
    with pytest.raises(CheckpointInUse):
        first.save()
    second.save()
    assert os.listdir() == ["fit.json"]
