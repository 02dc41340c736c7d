"""How many changes of a backend's sources the conformance kit notices.

``python -m tests.mutation.backends numpy --module exact.sums --sample 40`` changes the modules of
the package ``refclust_numpy`` mechanically, a seeded sample of each, and lets the kit judge, only
with the checks and kernels that run what was changed. What was judged is kept, so that a run that
was stopped goes on where it was; it is judged anew once the kit or the package has changed, or,
with ``--again survivors``, only what survived. Changes that change no answer stand in
``equivalent.json`` with the reason.
"""

from __future__ import annotations

import argparse
import ast
import gc
import hashlib
import importlib
import importlib.util
import json
import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final

from refclust.testing.scripts.lockstep import Script
from tests.mutation.changes import Mutant, mutants
from tests.mutation.judge import Place, Plan, Verdict, forked, judged, known_checks
from tests.mutation.lines import Map, given, watch_of, watches
from tests.mutation.reach import Package
from tests.mutation.report import Figures, Reason, Row, figures, report, row_of
from tests.mutation.thrift import SLACK, affected, alone_first, compiles, reuse

EQUIVALENT: Final = Path(__file__).with_name("equivalent.json")
FIGURES: Final = Path(__file__).with_name("figures.json")
_SLACK: Final = 15.0  # seconds that a check gets in any case


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says."""

    backend: str
    modules: tuple[str, ...]
    seed: int
    sample: int
    work: Path
    full: bool
    again: str
    trust: bool
    wide: bool
    record: bool = False


class Trial:
    """A backend's package, a folder to change it in, and what is known about it."""

    def __init__(self, options: Options) -> None:
        self.options = options
        spec = importlib.util.find_spec(f"refclust_{options.backend}")
        if spec is None or spec.origin is None:
            raise SystemExit(f"there is no package refclust_{options.backend} here")
        self.package = Package(Path(spec.origin).parent)
        self.work = options.work / options.backend
        self.place = Place(self.work, self.package.folder)
        self.kit = digest_of(_kit())
        self.digest = digest_of(self.package.sources.values())
        self.reasons = equivalents(options.backend)

    @cached_property
    def map(self) -> Map:
        """Which checks and kernels can see what, worked out once for a kit and a package."""
        self.ready()
        file = self.work / "reach.json"
        known = json.loads(file.read_text()) if file.exists() else {}
        own = [Path(__file__).with_name(f"{name}.py") for name in ("lines", "reach")]
        digest = f"{self.kit} {self.digest} {digest_of(own)}"
        if known.get("digest") != digest or known["full"] < self.options.full:
            self.place.fresh()
            full = self.options.full
            known = {"digest": digest, "full": full, "watches": self._watched()}
            self.place.keep()
            file.write_text(json.dumps(known))
        blocks, *found = known["watches"]
        edges = given(self.answers(blocks))
        slack = SLACK if compiles(self.package) else _SLACK
        return Map(self.package, [watch_of(one) for one in found], edges, slack)

    def ready(self) -> None:
        """Import what the package imports."""
        os.environ["NUMBA_CACHE_DIR"] = str(self.place.cache)
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        os.environ["REFCLUST_DISABLE_PLUGINS"] = "1"  # the original must not be loaded here
        for name in sorted(_foreign(self.package)):
            with suppress(ImportError):
                importlib.import_module(name)

    def answers(self, blocks: Iterable[int]) -> list[Script]:
        """Work out what the reference answers, once, for all processes to come."""
        from refclust.testing.checks import blocks as declared
        from refclust.testing.checks import memory, sessions
        from refclust.testing.ladder import ladder
        from refclust.testing.scripts.lockstep import script

        rungs = [*ladder(quick=not self.options.full), *sessions.pair()]
        if self.options.full:
            rungs += [memory.rung(), *declared.declared_rungs(blocks)]
        scripts = [script(rung) for rung in rungs]
        for made in scripts:
            made.work_out()
        known_checks()
        gc.collect()
        gc.freeze()
        return scripts

    def _watched(self) -> list[Any]:
        folder, name = self.place.folder, self.options.backend
        modules = [module for module in self.package.sources if "__" not in module]

        def ask(tell: Any) -> None:
            from refclust.testing.checks.protocol import blocks_of
            from tests.mutation.judge import backend_in

            made = backend_in(name, folder)
            # First, since what runs while a module is imported belongs to no kernel.
            for module in modules:
                importlib.import_module(f"{folder.name}.{module}")
            tell(blocks_of(made))
            for watch in watches(made, folder, full=self.options.full):
                tell(asdict(watch) | {"called": sorted(watch.called)})

        lines, end, _ = forked(ask, 7200.0)
        if end or len(lines) < 2:
            raise SystemExit(f"the backend cannot be asked: {end}")
        return lines

    def judge(self, module: str, mutant: Mutant) -> Row:
        """The verdict on a mutant."""
        plan = self.map.plan(module, mutant, full=self.options.full, wide=self.options.wide)
        steps = plan.steps
        if steps:
            self.place.fresh()
            self.place.change(self.package.sources[module], mutant.text)
            plan, ready = self._thrifty(module, mutant, plan)
            verdict = judged(self.options.backend, self.place.folder, plan, ready)
        else:
            kit = "full" if self.options.full else "quick"
            verdict = Verdict("survived", kit, "no check runs it", 0.0)
        return row_of(module, mutant, steps, verdict, self.kit)

    def _thrifty(
        self, module: str, mutant: Mutant, plan: Plan
    ) -> tuple[Plan, Callable[[], None] | None]:
        """The plan, and what is done first, so that little is compiled; as it is if nothing is."""
        if not compiles(self.package) or self.options.wide:
            return plan, None
        definitions = {(module, name) for name in mutant.where.split(", ")}
        changed = affected(self.package, definitions)
        folder, original = self.place.folder, self.package.folder
        plan = alone_first(
            plan,
            self.map.seen(definitions),
            lambda kernel: len(changed & self.map.reached(kernel)),
        )
        return plan, lambda: reuse(folder, original, changed)

    def run(self) -> Iterator[Row]:
        """Judge a sample of each module."""
        for module in self.options.modules or self.package.sources:
            if module not in self.package.sources:
                raise SystemExit(f"no module {module}; there are {', '.join(self.package.sources)}")
            yield from self._module(module)

    def _module(self, module: str) -> Iterator[Row]:
        file = self.work / "results" / f"{module}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        path = self.package.sources[module]
        own = digest_of([path])
        done = {row.key: row for row in kept(file, self.counts_now(own))}
        # Seeded by text: the sample of a module does not depend on which others are asked for.
        rng = random.Random(f"{self.options.seed} {module}")
        source = path.read_text(encoding="utf-8")
        for mutant in islice(mutants(source, rng), self.options.sample):
            row = done.get(mutant.key)
            if row is None or self._open(row):
                row = self.judge(module, mutant)
                with file.open("a", encoding="utf-8") as out:
                    made = {"module digest": own, "package digest": self.digest}
                    out.write(json.dumps(made | asdict(row)) + "\n")
                say(row)
            yield row

    def counts_now(self, own: str) -> Callable[[Mapping[str, Any]], bool]:
        """Whether a verdict of an earlier run counts."""

        def counts(row: Mapping[str, Any]) -> bool:
            now = row["package digest"] == self.digest and row["judge"] == self.kit
            # A kit that only gained checks rejects what it rejected before.
            more = self.options.again == "survivors" and row["fate"] != "survived"
            trusted = self.options.trust and row["key"] in self.reasons
            return now or ((more or trusted) and row["module digest"] == own)

        return counts

    def _open(self, row: Row) -> bool:
        """Whether only the quick kit has judged, and the whole one is asked for."""
        quick = self.options.full and row.fate == "survived" and row.kit == "quick"
        return quick and not (self.options.trust and row.key in self.reasons)


def say(row: Row) -> None:
    print(
        f"{row.module}:{row.line}: {row.kind}: {row.fate} {row.kit} {row.seconds} s",
        file=sys.stderr,
        flush=True,
    )


def kept(file: Path, counts: Callable[[Mapping[str, Any]], bool]) -> Iterator[Row]:
    """The verdicts in a file that count."""
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        with suppress(ValueError):  # a run was stopped while it wrote
            told = json.loads(line)
            if counts(told):
                yield Row(**{one.name: told[one.name] for one in fields(Row)})


def digest_of(files: Iterable[Path]) -> str:
    told = hashlib.sha256()
    for file in sorted(files):
        told.update(file.name.encode() + b"\n" + file.read_bytes())
    return told.hexdigest()[:16]


def _kit() -> list[Path]:
    spec = importlib.util.find_spec("refclust")
    assert spec is not None
    assert spec.origin is not None
    core = Path(spec.origin).parent
    testing = [path for path in (core / "testing").rglob("*.py") if "bench" not in path.parts]
    return [*testing, *(core / "kernels").rglob("*.py")]


def _foreign(package: Package) -> set[str]:
    """The modules of others that a package imports."""
    found: set[str] = set()
    for path in package.sources.values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module)
    return {name for name in found if name.partition(".")[0] not in ("refclust", package.name)}


def equivalents(backend: str) -> dict[str, Reason]:
    """The changes that are known to change no answer, with the reason."""
    entries = json.loads(EQUIVALENT.read_text(encoding="utf-8"))
    return {
        one["key"]: Reason(one["reason"], one.get("slower", False))
        for one in entries
        if one["backend"] == backend
    }


def recorded() -> list[Figures]:
    """What earlier runs found."""
    return [Figures(**one) for one in json.loads(FIGURES.read_text(encoding="utf-8"))]


def record(backend: str, rows: Iterable[Row]) -> None:
    """Keep what a run found of some modules, instead of what was known of them."""
    new = figures(backend, rows, equivalents(backend))
    judged_now = {(one.backend, one.module) for one in new}
    old = [one for one in recorded() if (one.backend, one.module) not in judged_now]
    every = sorted((*old, *new), key=lambda one: (one.backend, one.module))
    lines = ",\n ".join(json.dumps(asdict(one)) for one in every)
    FIGURES.write_text(f"[\n {lines}\n]\n", encoding="utf-8")


def options(arguments: list[str]) -> Options:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="tests.mutation.backends", description=__doc__)
    parser.add_argument("backend", help="numpy, numba, or NAME of a package refclust_NAME")
    parser.add_argument("--module", action="append", default=[], help="only this one; repeatable")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sample", type=int, default=40, help="mutants of each module")
    parser.add_argument("--work", type=Path, default=Path("mutants"), help="folder for results")
    parser.add_argument("--quick", action="store_true", help="only the quick kit judges")
    parser.add_argument(
        "--again",
        choices=("all", "survivors"),
        default="all",
        help="what is judged again by a kit that changed: survivors, if it only gained checks",
    )
    parser.add_argument(
        "--trust",
        action="store_true",
        help="changes with a known reason: what the quick kit, or an earlier one, said is enough",
    )
    parser.add_argument(
        "--wide", action="store_true", help="with all kernels of a check, not only those it runs in"
    )
    parser.add_argument(
        "--record", action="store_true", help="keep what became of them in figures.json"
    )
    found = parser.parse_args(arguments)
    work = found.work.resolve()
    modules = tuple(found.module)
    return Options(
        found.backend,
        modules,
        found.seed,
        found.sample,
        work,
        not found.quick,
        found.again,
        found.trust,
        found.wide,
        found.record,
    )


def main(arguments: list[str]) -> int:
    """Judge samples, print the report; 1 if some survivor has no reason."""
    asked = options(arguments)
    rows = list(Trial(asked).run())
    if asked.record:
        record(asked.backend, rows)
    text, unexplained = report(asked.backend, rows, equivalents(asked.backend))
    print(text)
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
