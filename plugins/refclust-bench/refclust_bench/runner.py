"""Takes turns: every contender in a process of its own, one run each per round, all interleaved."""

from __future__ import annotations

import tempfile
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from refclust_bench.contenders import Contender, LeftOut
from refclust_bench.judge import Result, difference
from refclust_bench.processes import machine
from refclust_bench.processes.process import Askable, Child, Ended, TookTooLong
from refclust_bench.workloads import BenchCase

Status: TypeAlias = Literal["waiting", "same", "not comparable", "differs", "failed", "too slow"]
Launch: TypeAlias = Callable[[int], Askable]  # from a number of threads
Tell: TypeAlias = Callable[[str], None]

READY_SECONDS: Final = 600.0  # to import, and to compile on tiny data
# Some libraries let idle threads spin for 0.2 s, which would be the next contender's loss.
SETTLE_SECONDS: Final = 0.25


@dataclass(slots=True)
class Setting:
    """A contender with a number of threads, and what has been measured of it so far."""

    contender: Contender
    threads: int
    status: Status = "waiting"
    reason: str = ""
    seconds: list[float] = field(default_factory=list)  # of the runs that count
    first_seconds: float | None = None  # of the run that was judged
    ready_seconds: float | None = None
    resident: int | None = None  # after the warm-up, with the data loaded
    warm_up_peak: int | None = None
    first_peak: int | None = None
    peak: int | None = None
    busy: float = 0.0  # processor seconds of the machine while it ran
    used: float = 0.0  # its own part of them
    watched: float = 0.0  # seconds for which that was told
    answer: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What its process knows it by."""
        return f"{self.contender.name} {self.threads}"

    @property
    def running(self) -> bool:
        """Whether it still takes part."""
        return self.status in ("waiting", "same", "not comparable", "differs")

    @property
    def others(self) -> float | None:
        """How many processors everybody else used on average while it ran."""
        if self.watched == 0:
            return None
        return max(0.0, self.busy - self.used) / self.watched

    @property
    def extra(self) -> int | None:
        """The memory it needed beyond what it held after the warm-up."""
        if self.peak is None or self.resident is None:
            return None
        return max(0, self.peak - self.resident)


@dataclass(slots=True)
class Row:
    """A workload on one data set, with all that take part."""

    case: BenchCase
    settings: list[Setting]
    left_out: list[LeftOut]
    digest: str = ""
    data_bytes: int = 0
    finished: bool = False


class Pool:
    """The children that are alive, by library and number of threads."""

    def __init__(self, launch: Launch = Child) -> None:
        self._launch = launch
        self._children: dict[tuple[str, int], Askable] = {}

    def ask(
        self, setting: Setting, shared: bool, request: dict[str, Any], limit: float
    ) -> dict[str, Any]:
        """Ask the child of a setting, which is started if there is none."""
        who = setting.contender.library if shared else setting.contender.name
        place = (who, setting.threads)
        if place not in self._children:
            self._children[place] = self._launch(setting.threads)
        try:
            return self._children[place].ask({**request, "key": setting.key}, limit)
        except Ended:
            self._children.pop(place).close()
            raise

    def close(self) -> None:
        """End all children."""
        while self._children:
            self._children.popitem()[1].close()


@dataclass(frozen=True, slots=True)
class Plan:
    """How to measure."""

    repeat: int
    limit: float  # seconds a run may take
    settle: float = SETTLE_SECONDS
    shared: bool = False  # whether contenders of one library share a process, which saves imports


def begin(case: BenchCase, contenders: Sequence[Contender], left_out: Sequence[LeftOut]) -> Row:
    """A row in which nothing has been measured yet."""
    settings = [
        Setting(contender, threads) for contender in contenders for threads in contender.threads
    ]
    return Row(case, settings, list(left_out))


def measure(row: Row, plan: Plan, pool: Pool, tell: Tell = lambda _: None) -> None:
    """Measure all settings of a row; what is done stays in the row if this is interrupted."""
    with tempfile.TemporaryDirectory(prefix="refclust-bench-") as name:
        folder = Path(name)
        tell("making the data")
        inputs = row.case.make()
        row.digest, row.data_bytes = inputs.digest(), inputs.size
        inputs.write(folder / "data")
        del inputs  # the children have their own
        row.case.tiny().write(folder / "tiny")
        for setting in row.settings:
            tell(f"{setting.contender.name} ({setting.threads})")
            _guarded(setting, lambda s=setting: _first_run(s, row, folder, plan, pool))  # type: ignore[misc]
        _judge(row, folder)
        for turn in range(plan.repeat):
            # Everybody is first once: what follows a heavy neighbour is not always the same.
            shift = turn % max(1, len(row.settings))
            for setting in row.settings[shift:] + row.settings[:shift]:
                if setting.running:
                    tell(f"round {turn + 1} of {plan.repeat}: {setting.contender.name}")
                    _guarded(setting, lambda s=setting: _timed_run(s, plan, pool))  # type: ignore[misc]
        for setting in row.settings:
            if setting.running:
                _guarded(setting, lambda s=setting: _look_at_input(s, row, plan, pool))  # type: ignore[misc]
    row.finished = True


def _guarded(setting: Setting, work: Callable[[], None]) -> None:
    """Whoever dies or takes too long is out; the others go on."""
    try:
        work()
    except TookTooLong as error:
        setting.status, setting.reason = "too slow", str(error)
    except Ended as error:
        setting.status, setting.reason = "failed", str(error)


def _asked(
    setting: Setting, plan: Plan, pool: Pool, request: dict[str, Any], limit: float
) -> dict[str, Any]:
    # Tidying takes longer than a small run, and a shared process is never quite tidy.
    answer = pool.ask(setting, plan.shared, {**request, "tidy": not plan.shared}, limit)
    if not answer["ok"]:
        raise Ended(answer["error"])
    return answer


def _first_run(setting: Setting, row: Row, folder: Path, plan: Plan, pool: Pool) -> None:
    """Open the contender and run it once; this run is judged, not timed."""
    contender = setting.contender
    more = {"threads": setting.threads, "folder": str(folder / "data")}
    request = {
        "do": "open",
        "place": contender.place,
        "options": {**contender.options, **more},
        "warm_up": [{**options, **more} for options in contender.warm_up],
        "folder": str(folder / "data"),
        "tiny": str(folder / "tiny"),
    }
    answer = _asked(setting, plan, pool, request, READY_SECONDS)
    setting.ready_seconds = answer["ready_seconds"]
    setting.resident, setting.warm_up_peak = answer["resident"], answer["warm_up_peak"]
    if answer["digest"] != row.digest:
        raise Ended("it was not given the input of the others")
    request = {"do": "run", "labels": str(_labels_file(folder, row, setting))}
    setting.answer = _asked(setting, plan, pool, request, plan.limit)
    setting.first_seconds, setting.first_peak = setting.answer["seconds"], setting.answer["peak"]
    time.sleep(plan.settle)


def _labels_file(folder: Path, row: Row, setting: Setting) -> Path:
    return folder / f"labels-{row.settings.index(setting)}.bin"


def _judge(row: Row, folder: Path) -> None:
    """Compare everybody with the first of ours that gave a result, or with the first peer."""
    results: list[tuple[Setting, Result]] = []
    for setting in row.settings:
        if not setting.running:
            continue
        path, labels = _labels_file(folder, row, setting), None
        if path.exists():
            labels = array("i")
            labels.frombytes(path.read_bytes())
        value = setting.answer["value"]
        number = None if value is None else float.fromhex(value)
        who, own = setting.contender.name, setting.contender.own
        results.append((setting, Result(who, own, labels, setting.answer["iterations"], number)))
    anchor = next((r for _, r in results if r.own), results[0][1] if results else None)
    for setting, answer in results:
        assert anchor is not None
        reason = difference(row.case.workload, answer, anchor)
        setting.status = "same"
        if reason is not None:
            # Ours must be equal: that is a fault. A peer rounds in its own way: that is a remark.
            setting.status = "differs" if answer.own else "not comparable"
            setting.reason = reason


def _timed_run(setting: Setting, plan: Plan, pool: Pool) -> None:
    before, started = machine.busy_seconds(), time.perf_counter()
    answer = _asked(setting, plan, pool, {"do": "run"}, plan.limit)
    after, ended = machine.busy_seconds(), time.perf_counter()
    if before is not None and after is not None:
        setting.busy += after - before
        setting.used += answer["cpu"]
        setting.watched += ended - started
    setting.seconds.append(answer["seconds"])
    if answer["peak"] is not None:
        setting.peak = max(setting.peak or 0, answer["peak"])
    if answer["result"] != setting.answer["result"]:
        setting.status = "differs" if setting.contender.own else "not comparable"
        setting.reason = "its result changes from run to run"
    else:
        setting.answer = answer  # the details of the last run are those of a warm one
    time.sleep(plan.settle if setting.threads > 1 else 0.0)


def _look_at_input(setting: Setting, row: Row, plan: Plan, pool: Pool) -> None:
    answer = _asked(setting, plan, pool, {"do": "digest"}, plan.limit)
    if answer["digest"] != row.digest:
        setting.status = "differs" if setting.contender.own else "not comparable"
        setting.reason = "it changed its input"
