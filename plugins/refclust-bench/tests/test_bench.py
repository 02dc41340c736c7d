"""The benchmark: inputs, judgement, turns, children that fail. No test looks at times."""

from __future__ import annotations

import json
import textwrap
from array import array
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from refclust.errors import BadOption, UnknownBackend
from refclust_bench import contenders, data, limits, own, peers, report, runner
from refclust_bench.contenders import Contender
from refclust_bench.judge import Result, difference
from refclust_bench.outcome import Outcome, Work
from refclust_bench.processes import machine
from refclust_bench.processes.child import Worker
from refclust_bench.processes.process import Child, Ended, TookTooLong
from refclust_bench.runner import Plan, Pool, Row, Setting
from refclust_bench.workloads import WORKLOADS, BenchCase, Workload, chosen

CASES = [case for one in WORKLOADS.values() for case in one.cases(quick=True)]
QUICK = Plan(repeat=2, limit=60.0, settle=0.0)


def named(case: BenchCase) -> str:
    return f"{case.workload.id}-{case.sort}"


# -- inputs ---------------------------------------------------------------------------------------


def test_random_bits_belong_to_their_name() -> None:
    assert data.words("a", 700_000)[:5] == data.words("a", 5)
    assert data.words("a", 5) != data.words("b", 5)
    assert len(data.words("a", 600_000, "I")) == 600_000
    assert max(data.words("a", 70_000)) <= data.STEPS - 1


@pytest.mark.parametrize("case", CASES, ids=named)
def test_inputs_are_repeatable_and_survive_a_file(case: BenchCase, tmp_path: Path) -> None:
    given = case.tiny()
    given.write(tmp_path)
    assert data.read(tmp_path).digest() == given.digest() == case.tiny().digest()
    assert dict(data.read(tmp_path).facts) == dict(given.facts)
    other = {name: values[:] for name, values in given.buffers.items()}
    first = next(iter(other.values()))
    first[0] += 1
    assert data.Input(given.kind, given.facts, other).digest() != given.digest()


@pytest.mark.parametrize("sort", sorted(data.DENSE))
def test_starting_centres_are_different_rows(sort: str) -> None:
    given = data.dense("test", sort, 50, 3, 7)
    rows = [tuple(given.buffers["rows"][i : i + 3]) for i in range(0, 150, 3)]
    centres = [tuple(given.buffers["centres"][i : i + 3]) for i in range(0, 21, 3)]
    assert len(rows) == 50
    assert len(set(centres)) == 7
    assert set(centres) <= set(rows)


def test_too_few_different_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="fewer than 5 different rows"):
        data._different("test", 9, 5, lambda i: i % 3)


def test_data_sets_are_what_they_are_called() -> None:
    duplicated = data.dense("test", "duplicated", 400, 2, 3).buffers["rows"]
    assert len(set(zip(duplicated[::2], duplicated[1::2], strict=True))) <= 50
    assert min(data.dense("test", "uncentred", 400, 2, 3).buffers["rows"]) > 900
    uniform = data.dense("test", "uniform", 400, 2, 3).buffers["rows"]
    assert 0 < min(uniform) < max(uniform) < 1
    pixels = data.dense("test", "pixels", 400, 8, 3).buffers["rows"]
    assert set(pixels) <= set(map(float, range(256)))
    assert 0.0 in pixels
    heavy = data.dense("test", "heavy-tailed", 4000, 2, 3).buffers["rows"]
    blobs = data.dense("test", "blobs", 4000, 2, 3).buffers["rows"]
    assert max(map(abs, heavy)) > 30 > max(map(abs, blobs))


@pytest.mark.parametrize("sort", ["tf-idf", "counts"])
def test_documents_are_ordered_rows_without_zeros(sort: str) -> None:
    given = data.documents("test", sort, 40, 300, 4)
    starts, columns, values = (given.buffers[name] for name in ("starts", "columns", "values"))
    assert (starts[0], starts[-1], len(starts)) == (0, len(columns), 41)
    for begin, end in pairwise(starts):
        row = columns[begin:end].tolist()
        assert row == sorted(set(row))
        assert 0 <= row[0] <= row[-1] < 300
    assert all(values)
    whole = all(value == int(value) for value in values)
    assert whole == (sort == "counts")


@pytest.mark.parametrize("sort", ["flat", "zipf", "distinct"])
def test_labels_fill_their_groups(sort: str) -> None:
    given = data.labels("test", sort, 20_000, 30)
    true, pred = given.buffers["true"], given.buffers["pred"]
    assert set(true) == set(pred) == set(range(30))
    agreeing = sum(a == b for a, b in zip(true, pred, strict=True))
    assert 9_000 < agreeing < 13_000
    sizes = [true.count(group) for group in range(30)]
    assert (max(sizes) > 5 * min(sizes)) == (sort != "flat")


def test_workloads_are_chosen_by_name() -> None:
    assert [one.id for one in chosen([])] == list(WORKLOADS)
    assert [one.id for one in chosen(["sk-20"])] == ["SK-20"]
    with pytest.raises(BadOption, match="no workload is called 'KM-X'; there are: KM-A"):
        chosen(["km-x"])


def test_every_workload_has_two_data_sets_and_contenders() -> None:
    for one in WORKLOADS.values():
        assert len(set(one.sorts)) >= 2
        assert callable(getattr(own, own.TASKS[one.task]))
        for entry in peers.TASKS[one.task]:
            assert callable(getattr(peers, entry.place))
            assert entry.peer in peers.PEERS
    assert len(WORKLOADS["ST-1"].cases(quick=True)) == 1
    assert len(WORKLOADS["ST-1"].cases(quick=False)) == 2


# -- the same work --------------------------------------------------------------------------------


def result_of(work: Work, who: str, *, ours: bool) -> Result:
    outcome = work.told(work.run())
    again = work.told(work.run())
    assert outcome.digest() == again.digest()
    return Result(who, ours, outcome.labels, outcome.iterations, outcome.value)


def test_contenders_without_arrays_do_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"backend": "reference", "limit": 5, "linkage": "average"}
    for name in ("KM-A", "SK-20", "PP-B", "MX-1", "HC", "PY-1", "PY-2"):
        case = WORKLOADS[name].cases(quick=True)[0]
        maker = getattr(own, own.TASKS[case.workload.task])
        with_arrays = result_of(maker(case.tiny(), options), "arrays", ours=True)
        with monkeypatch.context() as patch:
            patch.setattr(own, "installed", lambda _: None)
            without = result_of(maker(case.tiny(), options), "buffers", ours=True)
        assert difference(case.workload, without, with_arrays) is None


def test_a_module_that_is_not_there() -> None:
    assert own.installed("no_such_module_at_all") is None
    assert own.installed("json") is json


@pytest.mark.parametrize("through", ["library", "command line"])
def test_cold_starts_end_well(through: str, tmp_path: Path) -> None:
    given = WORKLOADS["ST-1"].case("blobs", quick=True).tiny()
    given.write(tmp_path)
    work = own.cold_start(given, {"through": through, "folder": str(tmp_path)})
    assert work.outside
    assert work.told(work.run()) == Outcome()


def test_a_cold_start_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match="ended with 3: no way"):
        own.spawned("-c", "import sys; sys.stderr.write('no way'); sys.exit(3)").run()


# -- judgement ------------------------------------------------------------------------------------


def result(**changes: Any) -> Result:
    plain = Result("other", False, array("i", [0, 1, 1]), 4, 0.5)
    return replace(plain, **changes)


MINE = result(who="mine", own=True)


@pytest.mark.parametrize(
    ("workload", "changes", "reason"),
    [
        ("KM-A", {}, None),
        ("KM-A", {"iterations": 5}, "5 iterations, mine did 4"),
        ("KM-A", {"labels": array("i", [0, 1, 0])}, "1 of 3 labels are not those of mine"),
        ("KM-A", {"labels": array("i", [0, 1])}, "2 labels, mine gave 3"),
        ("KM-A", {"labels": None}, "it gave no labels"),
        ("KM-A", {"value": 7.0}, None),
        ("PY-1", {"iterations": 5}, None),
        ("MX-1", {"value": 0.5 + 1e-10, "labels": None}, None),
        ("MX-1", {"value": 0.5 + 1e-8}, "0.50000001, mine gave 0.5"),
        ("MX-1", {"value": 0.5 + 1e-10, "own": True}, "0.5000000001, mine gave 0.5"),
        ("MX-1", {"value": None}, "it gave no value"),
        ("HC", {"value": 1.0}, "1.0, mine gave 0.5"),
        ("HC", {"labels": array("i", [0, 0, 0])}, "2 of 3 labels are not those of mine"),
        ("PP-B", {"labels": array("i", [5, 3, 9])}, None),
        ("PP-B", {"labels": array("i", [5, 3, 3])}, "the rows it chose are not different rows"),
        ("PP-B", {"labels": array("i", [5, 3, -1])}, "the rows it chose are not different rows"),
        ("PP-B", {"labels": array("i", [5, 3])}, "2 rows, mine chose 3"),
        ("PP-B", {"labels": None}, "it gave no rows"),
        ("PP-B", {"labels": array("i", [5, 3, 9]), "own": True}, "3 of 3 labels are not those"),
        ("ST-1", {"labels": None, "value": None}, None),
    ],
)
def test_difference(workload: str, changes: dict[str, Any], reason: str | None) -> None:
    told = difference(WORKLOADS[workload], result(**changes), MINE)
    assert told is None if reason is None else (told or "").startswith(reason)


# -- turns ----------------------------------------------------------------------------------------


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
    found: list[Contender],
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
    row = runner.begin(tiny.case(tiny.sorts[0], quick=True), found, [])
    pool = Pool(launch)
    runner.measure(row, plan, pool)
    pool.close()
    assert all(child.closed for child in children)
    return row, log, children


def test_contenders_take_turns_and_everybody_is_first_once() -> None:
    found = [contender("a", ours=True), contender("b"), contender("c")]
    row, log, children = measured(found, plan=replace(QUICK, repeat=3))
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
    found = [contender(name, ours=name == "a") for name in "abcde"]
    row, log, _ = measured(
        found,
        {
            "b": {"ends": ("open", Ended("the process died with code -9"))},
            "c": {"ends": ("run", TookTooLong("no result within 60 s"))},
            "d": {"error": "run"},
        },
    )
    assert [(one.status, one.reason) for one in row.settings] == [
        ("same", ""),
        ("failed", "the process died with code -9"),
        ("too slow", "no result within 60 s"),
        ("failed", "ValueError: not today"),
        ("same", ""),
    ]
    assert log.count(("d", "run")) == 1
    assert log.count(("e", "run")) == 3


def test_a_peer_that_differs_is_not_comparable_and_takes_no_part_in_ratios() -> None:
    found = [contender("a", ours=True), contender("b"), contender("c")]
    row, _, _ = measured(found, {"b": {"labels": [1, 0], "seconds": 0.01}, "c": {"seconds": 8.0}})
    assert row.settings[1].status == "not comparable"
    assert row.settings[1].reason == "2 of 2 labels are not those of a"
    assert len(row.settings[1].seconds) == 2
    best = report.best_peer(row)
    assert best is not None
    assert best.contender.name == "c"
    assert [report.ratio(one, row) for one in row.settings] == [8.0, None, 1.0]
    assert report.wrong([row]) == []


def test_a_peer_that_differs_is_a_finding() -> None:
    found = [contender("a", ours=True), contender("b"), contender("c")]
    row, _, _ = measured(found, {"b": {"labels": [1, 0]}})
    assert [one.contender.name for _, one in report.findings([row])] == ["b"]
    assert report.plain_finding(row, row.settings[1]) == {
        "workload": "KM-A",
        "data": "blobs",
        "peer": "b",
        "version": "1.0",
        "threads": 1,
        "reason": "2 of 2 labels are not those of a",
    }


def test_beside_a_wrong_backend_nothing_is_a_finding() -> None:
    found = [contender("a", ours=True), contender("b", ours=True), contender("c")]
    row, _, _ = measured(found, {"a": {"labels": [1, 0]}})
    assert [one.status for one in row.settings] == ["same", "differs", "not comparable"]
    assert report.findings([row]) == []
    row, _, _ = measured([*found[2:], contender("d")], {"d": {"labels": [1, 0]}})
    assert [one.status for one in row.settings] == ["same", "not comparable"]
    assert report.findings([row]) == []  # peers among themselves: nobody knows who is right


def test_a_backend_that_differs_is_wrong() -> None:
    found = [contender("a", ours=True), contender("b", ours=True), contender("c")]
    row, _, _ = measured(found, {"b": {"labels": [1, 0]}})
    assert [one.status for one in row.settings] == ["same", "differs", "same"]
    assert [one.contender.name for _, one in report.wrong([row])] == ["b"]


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ({"changes": True}, "its result changes from run to run"),
        ({"digest": "else"}, "it changed its input"),
    ],
)
def test_results_and_inputs_must_stay(behaviour: dict[str, Any], reason: str) -> None:
    found = [contender("a", ours=True), contender("b")]
    row, _, _ = measured(found, {"a": behaviour, "b": behaviour})
    assert [one.status for one in row.settings] == ["differs", "not comparable"]
    assert {one.reason for one in row.settings} == {reason}


def test_another_input_is_found_out() -> None:
    row, log, _ = measured([contender("a")], {"a": {"opened": "else"}})
    assert row.settings[0].reason == "it was not given the input of the others"
    assert log == [("a", "open")]


def test_the_better_number_of_threads_counts() -> None:
    found = [contender("a", ours=True, threads=(1, 2)), contender("b", threads=(1, 2))]
    row, _, children = measured(found)
    assert len(children) == 4
    row.settings[0].seconds = [2.0, 2.0, 9.0]
    row.settings[1].seconds = [3.0, 1.0, 3.0]
    row.settings[2].seconds = [8.0]
    row.settings[3].seconds = [6.0]
    assert [(one.contender.name, one.threads) for one in report.better(row)] == [("a", 1), ("b", 2)]
    assert [report.ratio(one, row) for one in row.settings] == [3.0, 2.0, 0.75, 1.0]
    assert report.verdict(row) == "a: 3.00× the speed of b"
    # A setting whose result is not the same is no better, however fast.
    row.settings[3].status = "not comparable"
    assert [one.threads for one in report.better(row)] == [1, 1]


def test_contenders_of_one_library_share_a_process_if_asked() -> None:
    found = [contender("lib one"), contender("lib two")]
    assert len(measured(found)[2]) == 2
    assert len(measured(found, plan=replace(QUICK, shared=True))[2]) == 1


def test_without_any_contender_there_is_nothing_to_compare() -> None:
    row, log, _ = measured([])
    assert (row.finished, log) == (True, [])
    assert report.verdict(row) is None


def test_an_interrupt_leaves_what_was_measured() -> None:
    found = [contender("a", ours=True), contender("b")]
    row = runner.begin(WORKLOADS["KM-A"].case("blobs", quick=True), found, [])
    row.case.sizes["n"] = 30  # type: ignore[index]
    told: list[str] = []

    def tell(text: str) -> None:
        told.append(text)
        if text.startswith("round 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.measure(row, QUICK, Pool(lambda _: Fake([], {})), tell)
    assert told[0] == "making the data"
    assert [len(one.seconds) for one in row.settings] == [1, 1]
    assert not row.finished
    assert report.heading(row).endswith("(interrupted)")


# -- reports --------------------------------------------------------------------------------------


def test_a_time_per_iteration() -> None:
    row, _, _ = measured([contender("a", ours=True)], workload=WORKLOADS["PY-1"])
    assert row.settings[0].seconds == [2.0, 3.0]
    assert report.scaled(row.settings[0], row) == [0.5, 0.75]
    assert report.median(row.settings[0], row) == 0.625


def test_the_table_and_the_object_tell_the_same() -> None:
    found = [contender("a", ours=True), contender("b"), contender("c")]
    row, _, _ = measured(found, {"b": {"seconds": 3.0, "peak": 3 << 20}, "c": {"error": "open"}})
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


# -- who takes part -------------------------------------------------------------------------------


@pytest.fixture
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "1")


@pytest.mark.usefixtures("no_plugins")
def test_without_plugins_the_reference_takes_part_where_it_can() -> None:
    assert contenders.backends(None) == ["reference", "auto"]
    small, large = (WORKLOADS["KM-A"].case("blobs", quick=quick) for quick in (True, False))
    found, left_out = contenders.contenders(small, ["reference", "auto"], [], [1, 2])
    assert [(one.name, one.threads) for one in found] == [("refclust reference", (1,))]
    assert [one.name for one in left_out] == ["refclust auto"]
    found, left_out = contenders.contenders(large, ["reference"], [], [1, 2])
    assert found == []
    assert left_out[0].reason == "the pure core would take minutes"
    # Workloads of the pure core run on it, whatever was asked for.
    found, _ = contenders.contenders(WORKLOADS["PY-1"].case("blobs", quick=False), [], [], [1])
    assert [one.name for one in found] == ["refclust reference"]


@pytest.mark.usefixtures("no_plugins")
def test_backends_are_asked_for_by_name() -> None:
    assert contenders.backends("loopback, auto") == ["loopback", "auto"]
    with pytest.raises(UnknownBackend, match="no backend is called 'gpu'"):
        contenders.backends("gpu")


@pytest.mark.usefixtures("no_plugins")
def test_a_backend_runs_with_every_number_of_threads() -> None:
    case = WORKLOADS["KM-A"].case("blobs", quick=False)
    found, _ = contenders.contenders(case, ["loopback"], [], [1, 8])
    assert [(one.name, one.threads) for one in found] == [("refclust loopback", (1, 8))]
    assert found[0].warm_up == ({"limit": 20, "backend": "loopback"},)


def test_peers_that_are_missing_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(peers.PEERS, "nltk", peers.Peer("nltk", "no_such_module_at_all"))
    monkeypatch.setitem(peers.PEERS, "scipy", peers.Peer("scipy", "json.no.such"))
    assert peers.missing(["nltk"]) == ["nltk is not installed; pip install nltk"]
    assert peers.PEERS["scipy"].version is None
    case = WORKLOADS["PY-1"].case("blobs", quick=True)
    found, left_out = contenders.contenders(case, ["reference"], ["nltk"], [1])
    assert [one.name for one in found] == ["refclust reference"]
    assert [(one.name, one.reason) for one in left_out] == [("nltk", "not installed")]
    assert contenders.contenders(case, ["reference"], [], [1])[1] == []


def test_peers_are_asked_for_by_name() -> None:
    assert peers.asked(None) == list(peers.PEERS)
    assert peers.asked("NLTK,") == ["nltk"]
    with pytest.raises(BadOption, match="no peer is called 'weka'; there are: none, scikit-learn"):
        peers.asked("weka")


# -- children -------------------------------------------------------------------------------------

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
    found = limits.measured(Child, [1], side=8, length=100)
    assert [(one["kind"], one["threads"]) for one in found] == [(kind, 1) for kind in limits.KINDS]
    assert all(one["rate"] > 0 for one in found)
    assert len(limits.told(found)) == 3
    assert limits.told([]) == []


def test_limits_that_cannot_be_measured_are_left_out() -> None:
    behaviour = {"limit": {"error": "open"}}
    children: list[Fake] = []

    def launch(_: int) -> Fake:
        children.append(Fake([], behaviour))
        return children[-1]

    assert limits.measured(launch, [1, 2]) == []
    assert [child.closed for child in children] == [True, True]
