"""How many changes of compiled code the conformance kit notices, all of them compiled at once.

``python -m tests.mutation.switched numba --module dense.assignment --sample 40`` samples changes as
``tests.mutation.backends`` does, but puts all those of some modules into one copy of the package,
each behind a number that is read when the code runs (``schemata``, ``switch``, ``fitting``). The
copy is compiled once; with number 0 it must pass the kit, which also shows what of it which check
runs. Then each mutant is judged in a process of its own, forked from the compiled one, by the
checks and kernels that run its place. All modules that are asked for are compiled together: it
takes about as long as for one of them. Mutants that cannot stand behind a number are not judged,
and counted apart.
"""

from __future__ import annotations

import gc
import importlib
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from refclust.kernels.registry import KERNELS
from refclust.testing.evidence.forked import allow, ran, start
from refclust.testing.kit import Part, checks
from tests.mutation import backends
from tests.mutation.backends import Options, Trial
from tests.mutation.changes import Mutant, mutants
from tests.mutation.judge import (
    MEMORY,
    Step,
    Verdict,
    backend_in,
    first_fault,
    forked,
    known_checks,
)
from tests.mutation.lines import Edge, given, with_others
from tests.mutation.reach import Definition
from tests.mutation.report import Row, report, row_of
from tests.mutation.schemata import Schema, schema
from tests.mutation.thrift import affected, reuse

_MORE: Final = 1.3  # so many times the sample is compiled, since some do not fit
_TIMES: Final = 4  # times as long as the original takes
_SLACK: Final = 8.0  # seconds
_MEMORY: Final = 5 << 30  # of a mutant: many of them ask for as much as there is
_AT_ONCE: Final = ("at-once", "load")  # checks in which several kernels run at a time


@dataclass(frozen=True, slots=True)
class Seen:
    """One check on the original: its seconds, who was called, what was asked for by whom."""

    name: str
    quick: bool
    seconds: float
    called: frozenset[str]
    asked: Mapping[str, frozenset[int]]  # "" stands for what ran outside of any kernel


@dataclass(slots=True)
class Fates:
    """What became of the mutants of a group."""

    rows: list[Row] = field(default_factory=list)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)  # by module and reason


class Group:
    """Modules that are compiled together, with their mutants."""

    def __init__(self, trial: Trial, modules: Sequence[str]) -> None:
        self.trial, self.modules = trial, modules
        self.package = trial.package
        self.numbered: dict[int, tuple[str, Mutant]] = {}
        self.schemas: dict[str, Schema] = {}
        self.left_out: dict[int, str] = {}
        self._imported = [
            (other, place)
            for other, tree in self.package.trees.items()
            for targets in self.package.imported(tree).values()
            for place in targets
        ]
        self._sources = {
            module: self.package.sources[module].read_text(encoding="utf-8") for module in modules
        }
        for module in modules:
            self._choose(module)

    def _choose(self, module: str) -> None:
        options = self.trial.options
        # Seeded by text: the sample of a module does not depend on which others are asked for.
        rng = random.Random(f"{options.seed} {module}")
        wanted = int(_MORE * options.sample)
        known = dict(enumerate(islice(mutants(self._sources[module], rng), 2 * wanted)))
        impossible = schema(self._sources[module], known, self._shared(module)).left_out
        first, placed = len(self.numbered) + 1, 0
        for place, mutant in known.items():
            if placed == wanted:
                break
            number = first + place
            self.numbered[number] = (module, mutant)
            if place in impossible:
                self.left_out[number] = impossible[place]
            else:
                placed += 1
        self.schemas[module] = self.make(module, frozenset(self.numbered))

    def make(self, module: str, numbers: frozenset[int]) -> Schema:
        """A module with some of its mutants."""
        own = {
            number: mutant
            for number, (where, mutant) in self.numbered.items()
            if where == module and number in numbers and number not in self.left_out
        }
        return schema(self._sources[module], own, self._shared(module))

    def _shared(self, module: str) -> frozenset[str]:
        """The names of a module that others import."""
        return frozenset(
            name for other, (where, name) in self._imported if where == module and other != module
        )

    def prepare(self) -> Callable[[], None]:
        """Write the copy of the package; gives what is done before it is imported."""
        place, changed = self.trial.place, self.changed()
        place.fresh()
        for module, made in self.schemas.items():
            place.change(self.package.sources[module], made.text)

        def ready() -> None:
            reuse(place.folder, self.package.folder, changed)
            compiling: Any = importlib.import_module(f"{place.folder.name}.lowlevel.compiling")
            switch: Any = importlib.import_module("tests.mutation.switch")
            compiling.generated = switch.generated

        return ready

    def changed(self) -> set[Definition]:
        """The definitions with mutants, and all that name them."""
        own = {(module, name) for module, made in self.schemas.items() for name in made.functions}
        return affected(self.package, own)

    def kernels(self) -> frozenset[str]:
        """The kernels that can see some mutant; all if their rows can, or if nobody can say."""
        table, changed = self.package.table(), self.changed()
        own = frozenset(kernel for kernel, function in table.items() if function in changed)
        everywhere = {module for module, _ in changed} & {"backend", "prepared", "registry"}
        return own if own and not everywhere else frozenset(KERNELS)

    def functions(self) -> dict[tuple[str, str], frozenset[int]]:
        """What is switched in which function of which module."""
        return {
            (f"{self.package.name}.{module}", name): numbers
            for module, made in self.schemas.items()
            for name, numbers in made.functions.items()
        }


class Bench:
    """The compiled copy: what its checks ask for, and the judge of its mutants."""

    def __init__(self, group: Group, edges: Sequence[Edge], backend: Any) -> None:
        self.group, self.edges = group, edges
        self.backend: Any = Part(backend, group.kernels())
        self.seen: list[Seen] = []
        self.fresh = _tables(group.package.name)

    def control(self, *, quick: bool) -> None:
        """Run the kit on the original, which must pass."""
        for check in checks(quick=quick):
            if any(known.name == check.name for known in self.seen) and check.name != "merge":
                continue
            if check.kernels and check.kernels.isdisjoint(self.backend.kernels()):
                continue
            first = self._run(check)[1] if quick else {}  # what it needs is compiled now
            begun = time.process_time()
            called, again = self._run(check)
            # The second time something may be remembered, and not worked out again.
            asked = {
                kernel: first.get(kernel, frozenset()) | again.get(kernel, frozenset())
                for kernel in first.keys() | again.keys()
            }
            seconds = time.process_time() - begun
            self.seen.append(Seen(check.name, quick, seconds, called, asked))

    def _run(self, check: Any) -> tuple[frozenset[str], dict[str, frozenset[int]]]:
        shown = _Asking(self.backend)
        outcomes = check.run(shown)
        faults = [f"{one.kernel}, {check.name}: {one.fault}" for one in outcomes if one.fault]
        if faults:
            raise SystemExit(f"the kit rejects the copy with all mutants off: {faults[0]}")
        return frozenset(one.kernel for one in outcomes if one.calls), shown.all()

    def steps(self, number: int, *, full: bool) -> list[Step]:
        """The checks that ask for a number, the short ones first."""
        steps = []
        for seen in sorted(self.seen, key=lambda seen: (not seen.quick, seen.seconds)):
            kernels = {kernel for kernel, numbers in seen.asked.items() if number in numbers}
            if not kernels or not (full or seen.quick):
                continue
            everyone = "" in kernels or seen.name in (*_AT_ONCE, "merge")
            shown = seen.called if everyone else with_others(kernels, self.edges) & seen.called
            steps.append(Step(seen.name, seen.quick, shown, _SLACK + _TIMES * seen.seconds, True))
        return steps

    def judge(self, number: int, steps: Sequence[Step]) -> Verdict:
        """The verdict of the kit on a mutant."""
        from tests.mutation import switch

        def run(tell: Callable[[Any], None]) -> None:
            _forget(self.group.package.name, self.fresh)
            switch.turn(number)
            for step in steps:
                kit = "quick" if step.quick else "full"
                tell(["", kit, step.check])
                allow(step.limit)
                fault = first_fault(
                    known_checks()[step.quick, step.check], Part(self.backend, step.kernels)
                )
                if fault:
                    return tell(["killed", kit, fault])
            return tell(["survived", kit, ""])

        if not steps:
            return Verdict("survived", "quick", "no check runs it", 0.0)
        lines, end, seconds = ran(run, max(step.limit for step in steps), memory=_MEMORY)
        fate, kit, told = lines[-1] if lines else ("", "quick", "")
        if fate == "killed":
            return Verdict("killed", kit, told[:300], seconds)
        if end:
            timeout = end == "timeout"
            return Verdict(
                "timeout" if timeout else "crashed", kit, f"{told}: {end[-300:]}", seconds
            )
        return Verdict("survived", kit, "", seconds)


class _Asking(Part):
    """A backend that notes which numbers are asked for while a kernel runs."""

    def __init__(self, backend: Any) -> None:
        super().__init__(backend, frozenset(backend.kernels()))
        self._asked: dict[str, frozenset[int]] = {}
        self._note("")

    def _note(self, kernel: str) -> None:
        from tests.mutation import switch

        self._asked[kernel] = self._asked.get(kernel, frozenset()) | switch.reached()

    def all(self) -> dict[str, frozenset[int]]:
        """What was asked for, by kernel."""
        self._note("")
        return self._asked

    def kernels(self) -> dict[str, Callable[..., Any]]:
        """The kernels, each of which is noted."""
        return {name: self._noted(name, run) for name, run in super().kernels().items()}

    def _noted(self, name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any) -> Any:
            self._note("")
            try:
                return run(*args)
            finally:
                self._note(name)

        return noted


def _modules(package: str) -> list[Any]:
    loaded = list(sys.modules.items())
    return [module for name, module in loaded if name.partition(".")[0] == package]


def _tables(package: str) -> list[tuple[dict[Any, Any], dict[Any, Any]]]:
    """The tables at the top of the modules of a package, and what is in them now."""
    return [
        (value, value.copy())
        for module in _modules(package)
        for name, value in vars(module).items()
        if type(value) is dict and "__" not in name
    ]


def _forget(package: str, fresh: list[tuple[dict[Any, Any], dict[Any, Any]]]) -> None:
    """Forget what the original has worked out, and left in some table or cache."""
    for table, before in fresh:
        table.clear()
        table.update(before)
    for module in _modules(package):
        for value in list(vars(module).values()):
            clear = getattr(value, "cache_clear", None)
            if callable(clear):
                clear()


def judged(
    group: Group, edges: Sequence[Edge], known: Mapping[str, Row], tell: Callable[[Any], None]
) -> None:
    """Compile a group and judge its mutants, in this process and its children."""
    from tests.mutation.fitting import Fitting

    trial, full = group.trial, group.trial.options.full
    ready = group.prepare()
    fitting = Fitting(
        lambda module, numbers: group.make(module.partition(".")[2], numbers), group.functions()
    )
    fitting.install()
    backend = backend_in(trial.options.backend, trial.place.folder, ready)
    for module in group.modules:
        importlib.import_module(f"{group.package.name}.{module}")
    bench = Bench(group, edges, backend)
    bench.control(quick=True)
    if full:
        bench.control(quick=False)
    gc.collect()
    gc.freeze()
    from tests.mutation import switch

    tell({"faults": fitting.faults, "seconds": round(time.process_time())})
    unfit = (fitting.compiled - fitting.fits) | switch.spoiled
    for module in group.modules:
        judged_here = 0
        for number, (where, mutant) in group.numbered.items():
            if where != module or judged_here == trial.options.sample:
                continue
            reason = group.left_out.get(number) or (
                "it has another type" if number in unfit else ""
            )
            if reason:
                tell({"module": module, "left out": reason})
                continue
            judged_here += 1
            row = known.get(mutant.key)
            steps = bench.steps(number, full=full)
            if row is None or (full and row.fate == "survived" and row.kit == "quick"):
                row = row_of(module, mutant, steps, bench.judge(number, steps), trial.kit)
                tell({"row": asdict(row), "new": True})
            else:
                tell({"row": asdict(row), "new": False})


def run(options: Options) -> Fates:
    """Judge a sample of each module."""
    trial, fates = Trial(options), Fates()
    trial.ready()
    _keep_original(trial)
    edges = sorted(given(trial.answers(())))
    asked = options.modules or tuple(name for name in trial.package.sources if "__" not in name)
    _group(trial, asked, edges, fates)
    return fates


def _keep_original(trial: Trial) -> None:
    """Compile the original once, so that groups need not compile what they do not change."""
    mark = trial.work / "original"
    if mark.exists() and mark.read_text() == trial.digest:
        return
    trial.place.fresh()

    def compile_all(tell: Callable[[Any], None]) -> None:
        backend = backend_in(trial.options.backend, trial.place.folder)
        for check in checks(quick=True):
            check.run(backend)
        tell(True)

    _, end, _ = forked(compile_all, 7200.0)
    if end:
        raise SystemExit(f"the kit cannot be run on the original: {end}")
    trial.place.keep()
    mark.write_text(trial.digest)


def _group(trial: Trial, modules: Sequence[str], edges: Sequence[Edge], fates: Fates) -> None:
    folder = trial.work / "switched"
    folder.mkdir(parents=True, exist_ok=True)
    own = {module: backends.digest_of([trial.package.sources[module]]) for module in modules}
    known: dict[str, Row] = {}
    for module in modules:
        counts = trial.counts_now(own[module])
        known |= {row.key: row for row in backends.kept(folder / f"{module}.jsonl", counts)}
    group = Group(trial, modules)
    child = start(lambda tell: judged(group, edges, known, tell), memory=MEMORY)
    for line in child.lines():
        if "row" in line:
            row = Row(**line["row"])
            fates.rows.append(row)
            if line["new"]:
                made = {"module digest": own[row.module], "package digest": trial.digest}
                with (folder / f"{row.module}.jsonl").open("a", encoding="utf-8") as out:
                    out.write(json.dumps(made | asdict(row)) + "\n")
                backends.say(row)
        elif "left out" in line:
            fates.left_out[line["module"], line["left out"]] += 1
        else:
            print(f"{', '.join(modules)}: {json.dumps(line)}", file=sys.stderr, flush=True)
    if child.end:
        raise SystemExit(f"{', '.join(modules)}: {child.end}")


def main(arguments: list[str]) -> int:
    """Judge samples, print the report; 1 if some survivor has no reason."""
    options = backends.options(arguments)
    fates = run(options)
    if options.record:
        backends.record(options.backend, fates.rows)
    text, unexplained = report(options.backend, fates.rows, backends.equivalents(options.backend))
    print(text)
    for (module, reason), count in sorted(fates.left_out.items()):
        print(f"not judged: {module}: {count}: {reason}")
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    sys.exit(main(sys.argv[1:]))
