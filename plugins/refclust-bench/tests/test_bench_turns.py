"""Contenders take turns; whoever fails or differs does not stop the rest (times do not matter)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes import QUICK, Fake, contender, measured

from refclust_bench import report, runner
from refclust_bench.processes.process import Ended, TookTooLong
from refclust_bench.runner import Pool
from refclust_bench.workloads import WORKLOADS


def test_contenders_take_turns_and_everybody_is_first_once() -> None:
    rivals = [contender("a", ours=True), contender("b"), contender("c")]
    row, log, children = measured(rivals, plan=replace(QUICK, repeat=3))
    runs = [name for name, what in log if what == "run"]
    assert runs == [*"abc", *"abc", *"bca", *"cab"]
    assert len(children) == 3
    assert [setting.status for setting in row.settings] == ["same"] * 3
    # The first run, of one second, is judged; those that count are the later ones.
    assert row.settings[0].first_seconds == 1.0
    assert row.settings[0].seconds == [2.0, 3.0, 4.0]
    assert row.settings[0].extra == 200
    assert row.finished


def test_whoever_dies_fails_or_is_slow_does_not_stop_the_rest() -> None:
    rivals = [contender(name, ours=name == "a") for name in "abcde"]
    row, log, _ = measured(
        rivals,
        {
            "b": {"ends": ("open", Ended("the process died with code -9"))},
            "c": {"ends": ("run", TookTooLong("no result within 60 s"))},
            "d": {"error": "run"},
        },
    )
    assert [(setting.status, setting.reason) for setting in row.settings] == [
        ("same", ""),
        ("failed", "the process died with code -9"),
        ("too slow", "no result within 60 s"),
        ("failed", "ValueError: not today"),
        ("same", ""),
    ]
    assert log.count(("d", "run")) == 1
    assert log.count(("e", "run")) == 3


def test_a_peer_that_differs_is_not_comparable_and_takes_no_part_in_ratios() -> None:
    rivals = [contender("a", ours=True), contender("b"), contender("c")]
    row, _, _ = measured(rivals, {"b": {"labels": [1, 0], "seconds": 0.01}, "c": {"seconds": 8.0}})
    assert row.settings[1].status == "not comparable"
    assert row.settings[1].reason == "2 of 2 labels are not those of a"
    assert len(row.settings[1].seconds) == 2
    best = report.best_peer(row)
    assert best is not None
    assert best.contender.name == "c"
    assert [report.ratio(setting, row) for setting in row.settings] == [8.0, None, 1.0]
    assert report.wrong([row]) == []


def test_a_peer_that_differs_is_a_finding() -> None:
    rivals = [contender("a", ours=True), contender("b"), contender("c")]
    row, _, _ = measured(rivals, {"b": {"labels": [1, 0]}})
    assert [setting.contender.name for _, setting in report.findings([row])] == ["b"]
    assert report.plain_finding(row, row.settings[1]) == {
        "workload": "KM-A",
        "data": "blobs",
        "peer": "b",
        "version": "1.0",
        "threads": 1,
        "reason": "2 of 2 labels are not those of a",
    }


def test_beside_a_wrong_backend_nothing_is_a_finding() -> None:
    rivals = [contender("a", ours=True), contender("b", ours=True), contender("c")]
    row, _, _ = measured(rivals, {"a": {"labels": [1, 0]}})
    assert [setting.status for setting in row.settings] == ["same", "differs", "not comparable"]
    assert report.findings([row]) == []
    row, _, _ = measured([*rivals[2:], contender("d")], {"d": {"labels": [1, 0]}})
    assert [setting.status for setting in row.settings] == ["same", "not comparable"]
    assert report.findings([row]) == []  # peers among themselves: nobody knows who is right


def test_a_backend_that_differs_is_wrong() -> None:
    rivals = [contender("a", ours=True), contender("b", ours=True), contender("c")]
    row, _, _ = measured(rivals, {"b": {"labels": [1, 0]}})
    assert [setting.status for setting in row.settings] == ["same", "differs", "same"]
    assert [setting.contender.name for _, setting in report.wrong([row])] == ["b"]


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ({"changes": True}, "its result changes from run to run"),
        ({"digest": "else"}, "it changed its input"),
    ],
)
def test_results_and_inputs_must_stay(behaviour: dict[str, Any], reason: str) -> None:
    rivals = [contender("a", ours=True), contender("b")]
    row, _, _ = measured(rivals, {"a": behaviour, "b": behaviour})
    assert [setting.status for setting in row.settings] == ["differs", "not comparable"]
    assert {setting.reason for setting in row.settings} == {reason}


def test_another_input_is_found_out() -> None:
    row, log, _ = measured([contender("a")], {"a": {"opened": "else"}})
    assert row.settings[0].reason == "it was not given the input of the others"
    assert log == [("a", "open")]


def test_the_better_number_of_threads_counts() -> None:
    rivals = [contender("a", ours=True, threads=(1, 2)), contender("b", threads=(1, 2))]
    row, _, children = measured(rivals)
    assert len(children) == 4
    row.settings[0].seconds = [2.0, 2.0, 9.0]
    row.settings[1].seconds = [3.0, 1.0, 3.0]
    row.settings[2].seconds = [8.0]
    row.settings[3].seconds = [6.0]
    assert [(setting.contender.name, setting.threads) for setting in report.better(row)] == [
        ("a", 1),
        ("b", 2),
    ]
    assert [report.ratio(setting, row) for setting in row.settings] == [3.0, 2.0, 0.75, 1.0]
    assert report.verdict(row) == "a: 3.00× the speed of b"
    # A setting whose result is not the same is no better, however fast.
    row.settings[3].status = "not comparable"
    assert [setting.threads for setting in report.better(row)] == [1, 1]


def test_contenders_of_one_library_share_a_process_if_asked() -> None:
    rivals = [contender("lib one"), contender("lib two")]
    assert len(measured(rivals)[2]) == 2
    assert len(measured(rivals, plan=replace(QUICK, shared=True))[2]) == 1


def test_without_any_contender_there_is_nothing_to_compare() -> None:
    row, log, _ = measured([])
    assert (row.finished, log) == (True, [])
    assert report.verdict(row) is None


def test_an_interrupt_leaves_what_was_measured() -> None:
    rivals = [contender("a", ours=True), contender("b")]
    row = runner.begin(WORKLOADS["KM-A"].case("blobs", quick=True), rivals, [])
    row.case.sizes["n"] = 30  # type: ignore[index]
    messages: list[str] = []

    def tell(text: str) -> None:
        messages.append(text)
        if text.startswith("round 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.measure(row, QUICK, Pool(lambda _: Fake([], {})), tell)
    assert messages[0] == "making the data"
    assert [len(setting.seconds) for setting in row.settings] == [1, 1]
    assert not row.finished
    assert report.heading(row).endswith("(interrupted)")
