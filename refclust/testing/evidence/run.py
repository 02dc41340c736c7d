"""Trying the evidence: each definition is changed, in forked processes, and its evidence judges.

First the definitions are watched while all evidence that cites their clauses runs: what fails
already, or never reaches a definition, cannot judge it. Then each change is judged until something
fails, the golden cases first and of each kind the fastest. All of it happens inside one session of
pytest, after one import.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from refclust.errors import BackendFailure, NeedsCheckout
from refclust.testing.evidence.changes import Mutant, mutants
from refclust.testing.evidence.forked import Tell, allow, ran, start
from refclust.testing.evidence.judges import Judge, WitnessKind, judged_by, own_doctest
from refclust.testing.evidence.live import Place
from refclust.testing.evidence.watch import Bench, benches

_LEAST: Final = 5.0  # seconds of the processor that a piece of evidence gets in any case
_TIMES: Final = 4  # times as long as it takes without a change


@dataclass(frozen=True, slots=True)
class Trial:
    """A clause, its definition, and the property tests that cite it, by their node ids.

    ``golden`` are tests, too: those that hold golden cases against the definition.
    """

    clause: str
    place: Place
    tests: tuple[str, ...]
    golden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Survivor:
    """A change that no evidence noticed."""

    line: int
    kind: str
    before: str
    after: str
    fate: str

    def diff(self) -> str:
        """The change as a diff of its lines."""
        old = [f"- {line}" for line in self.before.splitlines()]
        return "\n".join([*old, *(f"+ {line}" for line in self.after.splitlines())])


@dataclass(frozen=True, slots=True)
class Result:
    """What became of the changes of one definition.

    ``killed`` counts by what noticed them first: golden, property, timeout, crash, or doctest,
    where nothing but the doctest of the definition did. ``reaching`` is the number of pieces of
    evidence that reach the definition, by kind; ``broken`` names what fails without any change.
    """

    clause: str
    definition: str
    mutants: int
    of: int
    killed: dict[str, int]
    reaching: dict[str, int]
    broken: tuple[str, ...]
    survivors: tuple[Survivor, ...]
    seconds: float = 0.0


@dataclass(slots=True, eq=False)  # pytest keeps plugins in sets
class _Host:
    """A plugin of pytest that tries evidence in place of running the collected tests."""

    work: Callable[[Sequence[Any]], None]
    errors: list[str] = field(default_factory=list)
    fault: BaseException | None = None
    begun: bool = False

    def pytest_collectreport(self, report: Any) -> None:
        """Remember what cannot be collected."""
        if report.failed:
            self.errors.append(str(report.longrepr))

    def pytest_runtestloop(self, session: Any) -> bool:
        """Try the evidence instead."""
        try:
            if not self.errors:
                self.begun = True
                self.work(session.items)
        except BaseException as fault:  # pytest would make a report of it
            self.fault = fault
        return True


def tried(
    trials: Sequence[Trial],
    *,
    root: Path,
    sample: int | None = None,
    jobs: int = 1,
    golden: Callable[[str], list[Judge]] = judged_by,
) -> list[Result]:
    """Try the evidence of some clauses; see ``each`` for one result after the other."""
    results: list[Result] = []
    each(trials, results.append, root=root, sample=sample, jobs=jobs, golden=golden)
    return results


def each(
    trials: Sequence[Trial],
    done: Callable[[Result], None],
    *,
    root: Path,
    sample: int | None = None,
    jobs: int = 1,
    golden: Callable[[str], list[Judge]] = judged_by,
) -> None:
    """Try the evidence of some clauses, and hand over each result as soon as it is there."""

    def work(items: Sequence[Any]) -> None:
        def citing(trial: Trial) -> list[Judge]:
            own = [*golden(trial.clause), *_properties(trial, items)]
            return [*own, *own_doctest(trial.place)]

        gc.collect()
        gc.freeze()  # what is here now is shared with every child, and never copied by a collection
        trial_benches = benches([(trial.place, citing(trial)) for trial in trials])
        known = {trial.clause: bench for trial, bench in zip(trials, trial_benches, strict=True)}

        def result_of(trial: Trial) -> Result:
            return _result(trial, known[trial.clause], sample)

        for outcome in (
            map(result_of, trials) if jobs < 2 else _in_processes(trials, result_of, jobs)
        ):
            done(outcome)

    tests = sorted({test for trial in trials for test in trial.tests + trial.golden})
    if tests:
        _hosted(tests, root, work)
    else:
        work([])


def _hosted(tests: list[str], root: Path, work: Callable[[Sequence[Any]], None]) -> None:
    try:
        pytest = importlib.import_module("pytest")  # by name: the core does without it
    except ImportError:
        raise NeedsCheckout("the evidence needs pytest: install refclust[test]") from None
    host, said, before = _Host(work), io.StringIO(), Path.cwd()
    options = ["-p", "no:xdist", "-p", "no:cacheprovider", "-o", "addopts=", "-q", "-s"]
    options += ["-o", "filterwarnings=default", f"--rootdir={root}"]
    # Nobody reads how a test failed: no smaller example is looked for, no assertion explained.
    options += ["--tb=no", "--assert=plain"]
    os.chdir(root)
    try:
        with (
            contextlib.redirect_stdout(said),
            patch.dict(os.environ, REFCLUST_TEST_PROFILE="evidence"),
        ):
            pytest.main([*options, *tests], plugins=[host])
    finally:
        os.chdir(before)
    if host.fault is not None:
        raise host.fault
    if not host.begun:
        reasons = "\n".join(host.errors) or said.getvalue()
        raise BackendFailure(f"the tests cannot be collected: {reasons.strip()}")


def _properties(trial: Trial, items: Sequence[Any]) -> Iterator[Judge]:
    for item in items:
        cited = {name for mark in item.iter_markers("spec") for name in mark.args}
        test = item.nodeid.partition("[")[0]
        if test in trial.tests + trial.golden and trial.clause in cited:
            kind: WitnessKind = "property" if test in trial.tests else "golden"
            yield Judge(kind, item.nodeid, lambda item=item: _item_fails(item))  # type: ignore[misc]


def _item_fails(item: Any) -> bool:
    runner = importlib.import_module("_pytest.runner")
    return any(report.failed for report in runner.runtestprotocol(item, log=False, nextitem=None))


def _in_processes(
    trials: Sequence[Trial], result_of: Callable[[Trial], Result], jobs: int
) -> Iterator[Result]:
    """The results of some processes side by side."""

    def worker(share: Sequence[Trial]) -> Callable[[Tell], None]:
        def run(tell: Tell) -> None:
            for trial in share:
                tell(asdict(result_of(trial)))

        return run

    for child in [start(worker(trials[first::jobs])) for first in range(jobs)]:
        for fields in child.lines():
            survivors = tuple(Survivor(**each) for each in fields.pop("survivors"))
            yield Result(**{**fields, "broken": tuple(fields["broken"])}, survivors=survivors)
        if child.end:
            raise BackendFailure(f"a process that tried evidence failed: {child.end}")


def _result(trial: Trial, bench: Bench, sample: int | None) -> Result:
    begun = time.process_time() + os.times().children_user
    source, lines = trial.place.source(), trial.place.lines()
    # Seeded by text: the sample of a clause does not depend on which others are asked for.
    rng = None if sample is None else random.Random(trial.clause)
    everything = list(mutants(source, rng, lines=lines, terms=True))
    chosen = list(islice(everything, sample))
    killed: dict[str, int] = {}
    survivors: list[Survivor] = []
    for mutant in chosen:
        fate = _fate(trial.place, mutant, bench.judges)
        if fate in ("survived", "doctest"):
            change = (mutant.line, mutant.kind, mutant.before, mutant.after)
            survivors.append(Survivor(*change, fate))
        if fate != "survived":
            killed[fate] = killed.get(fate, 0) + 1
    kinds = [judge.kind for judge, _ in bench.judges]
    return Result(
        clause=trial.clause,
        definition=f"{trial.place.module}:{trial.place.qualname}",
        mutants=len(chosen),
        of=len(everything),
        killed=dict(sorted(killed.items())),
        reaching={kind: kinds.count(kind) for kind in sorted(set(kinds))},
        broken=tuple(bench.broken),
        survivors=tuple(survivors),
        seconds=round(time.process_time() + os.times().children_user - begun, 2),
    )


def _fate(place: Place, mutant: Mutant, judges: Sequence[tuple[Judge, float]]) -> str:
    """What notices a change first, or ``survived``."""

    def judge(tell: Tell) -> None:
        place.put(mutant.text)
        for witness, seconds in judges:
            tell("")
            allow(_LEAST + _TIMES * seconds)
            if witness.fails():
                tell(witness.kind)
                return
        tell("survived")

    longest = max((seconds for _, seconds in judges), default=0.0)
    lines, end, _ = ran(judge, _LEAST + _TIMES * longest)
    notices = [line for line in lines if line]
    if notices:
        return str(notices[-1])
    return "timeout" if end == "timeout" else "crash"
