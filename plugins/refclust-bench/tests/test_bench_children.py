"""Children of the benchmark: they answer, die and are ended."""

from __future__ import annotations

import textwrap
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from refclust_bench.processes.child import Worker
from refclust_bench.processes.process import Child, Ended, TookTooLong
from refclust_bench.workloads import WORKLOADS

CONTENDER = """
import os, time
from array import array
from refclust_bench.outcome import Outcome, Work

def make(given, options):
    def run():
        print("chatter on standard output")
        if options["how"] == "dies":
            os.write(2, b"one line\\nlast words\\n")
            os._exit(3)
        if options["how"] == "sleeps":
            time.sleep(60)
        if options["how"] == "raises":
            raise ValueError("not\\ntoday")
        if options["how"] == "mutates":
            given.buffers["rows"][0] += 1
        return os.environ["OMP_NUM_THREADS"]
    return Work(run, lambda found: Outcome(array("i", [0, 1]), 7, 0.25, {"threads": found}))
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "fake_contender.py").write_text(textwrap.dedent(CONTENDER), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return "fake_contender:make"


@pytest.fixture
def opened(place: str, tmp_path: Path) -> Iterator[Callable[[str], Child]]:
    case = WORKLOADS["KM-A"].case("blobs", quick=True)
    case.tiny().write(tmp_path / "tiny")
    children: list[Child] = []

    def begin(how: str) -> Child:
        children.append(Child(3))
        folder = str(tmp_path / "tiny")
        request: dict[str, Any] = {"do": "open", "key": "k", "place": place}
        request |= {
            "options": {"how": how},
            "warm_up": [{"how": ""}],
            "folder": folder,
            "tiny": folder,
            "tidy": True,
        }
        answer = children[-1].ask(request, 60)
        assert answer["ok"], answer
        assert answer["digest"] == case.tiny().digest()
        return children[-1]

    yield begin
    for child in children:
        child.close()


def test_a_child_answers_and_stays_alive(opened: Callable[[str], Child], tmp_path: Path) -> None:
    child = opened("runs")
    answer = child.ask({"do": "run", "key": "k", "labels": str(tmp_path / "labels")}, 60)
    assert answer["ok"]
    assert (answer["iterations"], float.fromhex(answer["value"])) == (7, 0.25)
    assert answer["details"] == {"threads": "3"}
    assert (tmp_path / "labels").read_bytes() == array("i", [0, 1]).tobytes()
    assert answer["seconds"] >= 0
    again = child.ask({"do": "run", "key": "k", "tidy": True}, 60)
    assert again["result"] == answer["result"]


def test_a_child_that_dies_leaves_its_last_words(opened: Callable[[str], Child]) -> None:
    child = opened("dies")
    for _ in range(2):  # asking again does not wait for ever
        with pytest.raises(Ended, match="died with code 3: last words"):
            child.ask({"do": "run", "key": "k"}, 60)


def test_a_child_that_takes_too_long_is_ended(opened: Callable[[str], Child]) -> None:
    child = opened("sleeps")
    with pytest.raises(TookTooLong, match=r"no result within 0\.2 s"):
        child.ask({"do": "run", "key": "k"}, 0.2)


def test_trouble_is_an_answer_and_input_is_watched(opened: Callable[[str], Child]) -> None:
    child = opened("raises")
    answer = child.ask({"do": "run", "key": "k"}, 60)
    assert (answer["ok"], answer["error"]) == (False, "ValueError: not today")
    child = opened("mutates")
    before = child.ask({"do": "digest", "key": "k"}, 60)
    child.ask({"do": "run", "key": "k"}, 60)
    assert child.ask({"do": "digest", "key": "k"}, 60)["digest"] != before["digest"]


def test_a_worker_forgets_earlier_data(place: str, tmp_path: Path) -> None:
    worker = Worker()
    case = WORKLOADS["KM-A"].case("blobs", quick=True)
    for name in ("one", "two"):
        folder = tmp_path / name
        case.tiny().write(folder)
        request = {"do": "open", "key": name, "place": place, "options": {"how": "runs"}}
        answer = worker.answer(
            {**request, "warm_up": [], "folder": str(folder), "tiny": str(folder)}
        )
        assert answer["ok"], answer
    assert worker.answer({"do": "digest", "key": "two"})["ok"]
    assert worker.answer({"do": "digest", "key": "one"})["error"] == "KeyError: 'one'"
    assert not worker.answer({"do": "nonsense", "key": "one"})["ok"]
