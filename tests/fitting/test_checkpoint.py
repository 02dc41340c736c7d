"""A fit that was stopped goes on to the same bits (KM-CKPT)."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import pytest

from refclust.backends.protocol import Problem
from refclust.backends.session import Provenance, Session
from refclust.cluster import objective
from refclust.cluster.fit import kmeans, kmeans_steps
from refclust.cluster.results import KMeansFit
from refclust.data.accepting.door import dataset
from refclust.errors import BadCheckpoint, RefclustError
from refclust.fitting.checkpoint import Checkpoint

LINE = [[float(x), x * x / 7] for x in (0, 1, 2, 3, 4, 5, 6, 9, 9, 14, 20, 30, -4)]
WEIGHTS = [1, 2, 0, 1, 0.5, 3, 0, 1, 1, 1, 0.25, 1, 0]
WORDS = [{"a": 1, "b": x} for x in range(1, 7)] + [{"c": 2, "a": x / 3} for x in range(5)]

FITS: dict[str, dict[str, Any]] = {
    "restarts": {"data": LINE, "k": 3, "start": "random", "restarts": 3},
    "greedy": {"data": LINE, "k": 3, "start": "greedy", "restarts": 2, "seed": 4},
    "given": {"data": LINE, "centres": [[0, 0], [1, 0], [2, 0]], "trace": "full"},
    "drop": {
        "data": LINE,
        "k": 4,
        "start": "random-centres",
        "empty": "drop",
        "restarts": 3,
        "weights": WEIGHTS,
    },
    "drop given": {
        "data": LINE,
        "weights": WEIGHTS,
        "centres": [[99, 99], [2, 0.5], [-50, 3], [3, 0]],
        "empty": "drop",
        "trace": "full",
    },
    "split": {"data": LINE, "k": 4, "start": "random-centres", "empty": "split", "restarts": 2},
    "farthest": {"data": LINE, "centres": [[0, 0], [500, 0], [500, 1]], "empty": "farthest"},
    "keep": {"data": LINE, "centres": [[0, 0], [500, 0], [5, 1]], "empty": "keep"},
    "tolerance": {"data": LINE, "k": 3, "start": "random", "tolerance": 0.1, "restarts": 3},
    "limit": {"data": LINE, "k": 3, "start": "random", "limit": 2, "restarts": 3, "seed": 1},
    "cosine": {"data": LINE[1:], "k": 3, "metric": "cosine", "restarts": 3, "start": "random"},
    "cosine weights": {
        "data": LINE[1:],
        "weights": WEIGHTS[1:],
        "k": 3,
        "metric": "cosine",
        "tolerance": 1e-3,
        "restarts": 2,
    },
    "cosine drop": {
        "data": WORDS,
        "k": 4,
        "metric": "cosine",
        "start": "random-centres",
        "empty": "drop",
        "restarts": 2,
    },
    "sparse": {"data": WORDS, "k": 3, "restarts": 2, "trace": "scalars"},
}


def without_provenance(fit: KMeansFit) -> KMeansFit:
    return dataclasses.replace(fit, provenance=Provenance("", "", ()))


def begin(options: dict[str, Any], **more: Any) -> Any:
    rest = {key: value for key, value in options.items() if key != "data"}
    return kmeans_steps(options["data"], **{**rest, **more})


def finish(options: dict[str, Any], **more: Any) -> KMeansFit:
    rest = {key: value for key, value in options.items() if key != "data"}
    return without_provenance(kmeans(options["data"], **{**rest, **more}))


@pytest.mark.spec("KM-CKPT")
@pytest.mark.parametrize("name", FITS)
def test_resuming_at_every_boundary_gives_the_same_fit(name: str, tmp_path: Path) -> None:
    options, path = FITS[name], str(tmp_path / "fit.json")
    due = finish(options)
    count = sum(len(run.trace) for run in due.runs)
    assert count > 2
    for taken in range(count + 1):
        steps = begin(options, checkpoint=Checkpoint(path))
        for _ in range(taken):
            next(steps)
        steps.save()
        for backend in ("reference", "loopback"):
            found = finish(options, backend=backend, checkpoint=Checkpoint(path, resume=True))
            assert found == due
            assert not Path(path).exists()  # the result is there: no need for it any more
            steps.save()


@pytest.mark.spec("KM-CKPT")
@pytest.mark.parametrize("name", ["restarts", "drop", "cosine", "limit"])
def test_from_one_backend_to_another_and_back_at_each_step(name: str, tmp_path: Path) -> None:
    """Every iteration in a new process, so to speak, on the other backend each time."""
    options, path = FITS[name], tmp_path / "fit.json"
    begin(options, checkpoint=Checkpoint(str(path))).save()
    backends = ["reference", "loopback"]
    while True:
        checkpoint = Checkpoint(str(path), every=0.0, resume=True)
        steps = begin(options, backend=backends[0], checkpoint=checkpoint)
        if next(steps, None) is None:
            break
        steps.save()
        backends.reverse()
    assert without_provenance(steps.result()) == finish(options)


class Interrupted(Session):
    """A session in which somebody presses Ctrl-C during the call of that number."""

    def __init__(self, after: int) -> None:
        super().__init__("reference")
        self.left = after

    def run(self, kernel: str, problem: Problem, data: Any, *args: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return super().run(kernel, problem, data, *args)


@pytest.mark.spec("KM-CKPT")
@pytest.mark.parametrize("name", FITS)
def test_an_interrupt_in_any_kernel_call_loses_nothing(name: str, tmp_path: Path) -> None:
    options, path = FITS[name], tmp_path / "fit.json"
    due = finish(options)
    for call in range(2, 10**6):  # the first call comes before the first iteration
        path.unlink(missing_ok=True)
        session = Interrupted(call)
        try:
            steps = begin(options, session=session, checkpoint=Checkpoint(str(path)))
            for _ in steps:
                pass
        except KeyboardInterrupt:
            assert finish(options, checkpoint=Checkpoint(str(path), resume=True)) == due
        else:
            break
    assert session.left > 0


@pytest.mark.spec("KM-CKPT")
@pytest.mark.parametrize("name", ["restarts", "limit", "cosine", "drop"])
def test_an_interrupt_between_kernel_calls_loses_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while sums are turned into numbers, in particular while a run is being closed."""
    options, path = FITS[name], tmp_path / "fit.json"
    due = finish(options)
    plain = objective.exact_rss
    for call in range(1, 10**6):
        path.unlink(missing_ok=True)
        left = call

        def interrupted(*args: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
            return plain(*args)

        monkeypatch.setattr("refclust.cluster.kmeans.exact_rss", interrupted)
        try:
            for _ in begin(options, checkpoint=Checkpoint(str(path))):
                pass
        except KeyboardInterrupt:
            monkeypatch.setattr("refclust.cluster.kmeans.exact_rss", plain)
            assert finish(options, checkpoint=Checkpoint(str(path), resume=True)) == due
        else:
            break
    assert left > 0
    assert call > 3


@pytest.mark.spec("KM-CKPT")
def test_a_finished_fit_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    steps = begin(FITS["restarts"], checkpoint=Checkpoint(str(path), every=0.0))
    next(steps)
    assert path.exists()
    for _ in steps:
        pass
    steps.result()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spec("KM-CKPT")
def test_a_caller_who_stops_early_keeps_the_file(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    options = FITS["restarts"]
    steps = begin(options, checkpoint=Checkpoint(str(path), every=0.0))
    next(steps)
    assert steps.result().stopped == "caller"
    assert finish(options, checkpoint=Checkpoint(str(path), resume=True)) == finish(options)


def test_when_to_write() -> None:
    assert Checkpoint("x", every=0.0).due()
    assert not Checkpoint("x").due()
    soon = Checkpoint("x", every=0.02)
    assert not soon.due()
    time.sleep(0.03)
    assert soon.due()


def test_no_file_is_written_unless_it_is_time(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    steps = begin(FITS["given"], checkpoint=Checkpoint(str(path), every=1000.0))
    next(steps)
    assert not path.exists()


# -- files that cannot be taken -------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A checkpoint in the middle of the second run of a fit."""
    path = tmp_path / "fit.json"
    steps = begin(FITS["restarts"], checkpoint=Checkpoint(str(path)))
    for state in steps:
        if state.run == 1:
            break
    steps.save()
    return path


def refused(path: Path, **change: Any) -> str:
    """The message of the refusal to go on with this file."""
    options = {**FITS["restarts"], **change}
    before = path.read_bytes()
    with pytest.raises(BadCheckpoint) as caught:
        begin(options, checkpoint=Checkpoint(str(path), resume=True))
    assert caught.value.code == "bad-checkpoint"
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    return str(caught.value)


@pytest.mark.spec("KM-CKPT")
def test_the_saved_file_is_good(saved: Path) -> None:
    options = FITS["restarts"]
    assert finish(options, checkpoint=Checkpoint(str(saved), resume=True)) == finish(options)


@pytest.mark.spec("KM-CKPT")
@pytest.mark.parametrize(
    "change",
    [
        {"k": 2},
        {"start": "greedy"},
        {"start": "farthest"},
        {"metric": "cosine", "data": LINE[1:]},
        {"seed": 1},
        {"restarts": 4},
        {"empty": "keep"},
        {"tolerance": 0.0},
        {"limit": 299},
        {"trace": "full"},
        {"data": LINE[:-1]},
        {"data": [*LINE[:-1], [-4.0, 16 / 7 + 1e-15]]},
        {"data": LINE[::-1]},
        {"data": dataset(LINE, weights=[1] * len(LINE))},
        {"weights": WEIGHTS},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_fit_is_refused(saved: Path, change: dict[str, Any]) -> None:
    refused(saved, **change)


@pytest.mark.spec("KM-CKPT")
def test_another_given_start_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    options = FITS["given"]
    steps = begin(options, checkpoint=Checkpoint(str(path)))
    next(steps)
    steps.save()
    for centres in ([[0, 0], [1, 0], [2, 1]], [[1, 0], [0, 0], [2, 0]]):
        with pytest.raises(BadCheckpoint):
            begin({**options, "centres": centres}, checkpoint=Checkpoint(str(path), resume=True))


@pytest.mark.spec("KM-CKPT")
@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("format", "refclust-model", "format"),
        ("version", 2, "version is 2; 3 is needed"),
        ("algorithm", "bisecting", "algorithm is 'bisecting'"),
        ("data", "0" * 64, "other data"),
        ("options", [], ""),
        ("options", None, ""),
        ("options", {}, ""),
        ("progress", None, ""),
        ("progress", {}, ""),
        ("progress", [], ""),
    ],
)
def test_another_file_is_refused(saved: Path, key: str, value: Any, told: str) -> None:
    content = json.loads(saved.read_text(encoding="utf-8"))
    saved.write_text(json.dumps({**content, key: value}), encoding="utf-8")
    assert told in refused(saved)


@pytest.mark.spec("KM-CKPT")
def test_options_of_a_later_version_are_refused(saved: Path) -> None:
    content = json.loads(saved.read_text(encoding="utf-8"))
    content["options"]["new"] = 1
    saved.write_text(json.dumps(content), encoding="utf-8")
    refused(saved)


@pytest.mark.spec("KM-CKPT")
def test_a_missing_part_is_refused(saved: Path) -> None:
    content = json.loads(saved.read_text(encoding="utf-8"))
    for part in (content, content["progress"], content["progress"]["finished"][0]):
        for key in list(part):
            value = part.pop(key)
            saved.write_text(json.dumps(content), encoding="utf-8")
            refused(saved)
            part[key] = value


@pytest.mark.spec("KM-CKPT")
@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("draws",), float("inf")),
        (("draws",), -1),
        (("draws",), "many"),
        (("finished", 0, "exact_rss"), "1/0"),
        (("finished", 0, "exact_rss"), "x"),
        (("finished", 0, "stopped"), 5),
        (("finished", 0), 5),
        (("finished",), 5),
        (("centres",), [[1.0]]),
        (("centres",), []),
        (("centres",), [[0.0, float("nan")], [1.0, 0.0], [2.0, 0.0]]),
        (("centres",), "here"),
        (("previous",), [[1.0, 2.0, 3.0]]),
        (("start",), None),
        (("trace", 0), {}),
        (("emptied",), [1]),
    ],
    ids=repr,
)
def test_a_damaged_part_is_refused(saved: Path, place: tuple[Any, ...], value: Any) -> None:
    content = json.loads(saved.read_text(encoding="utf-8"))
    part = content["progress"]
    for key in place[:-1]:
        part = part[key]
    assert place[-1] in part or isinstance(place[-1], int)
    part[place[-1]] = value
    saved.write_text(json.dumps(content), encoding="utf-8")
    refused(saved)


@pytest.mark.spec("KM-CKPT")
def test_truncated_files_are_refused(saved: Path) -> None:
    whole = saved.read_bytes()
    for length in [*range(60), *range(60, len(whole) - 1, 97), len(whole) - 2]:
        saved.write_bytes(whole[:length])
        refused(saved)


@pytest.mark.spec("KM-CKPT")
@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"\n",
        b"null",
        b"[]",
        b"{}",
        b"3",
        b'"refclust-checkpoint"',
        b"\x80\x81\xff",
        b"\x00" * 64,
        b"[" * 100000,
        b"\x93NUMPY\x01\x00",
        b'{"format": "refclust-checkpoint"}',
        b'\xef\xbb\xbf{"format": "refclust-checkpoint"}',
    ],
)
def test_garbage_is_refused(tmp_path: Path, garbage: bytes) -> None:
    path = tmp_path / "fit.json"
    path.write_bytes(garbage)
    refused(path)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(RefclustError) as caught:
            begin(FITS["restarts"], checkpoint=Checkpoint(str(path), resume=True))
        assert caught.value.code == "file-not-found"
        assert str(path) in str(caught.value)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    path = tmp_path / "no" / "fit.json"
    with pytest.raises(RefclustError) as caught:
        for _ in begin(FITS["restarts"], checkpoint=Checkpoint(str(path), every=0.0)):
            pass
    assert caught.value.code == "file-not-found"
