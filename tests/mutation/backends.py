"""How many changes of a backend's sources the conformance kit notices.

``python -m tests.mutation.backends numpy --module sums --sample 40`` changes the modules of the
package ``refclust_numpy`` mechanically, a seeded sample of each, and lets the kit alone judge, only
with the kernels that can see the change. What was judged is kept, so that a run that was stopped
goes on where it was; it is judged anew once the kit or the package has changed. Changes that
change no answer stand in ``equivalent.json`` with the reason.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import importlib.util
import json
import os
import random
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from tests.mutation.changes import Mutant, mutants
from tests.mutation.judge import Place, Verdict, forked, judged
from tests.mutation.reach import Definition, Package, seen_by, watched
from tests.mutation.report import Row, report

EQUIVALENT: Final = Path(__file__).with_name("equivalent.json")
_LEAST: Final = 20.0  # seconds that a mutant gets in any case
_TIMES: Final = 4  # times as long as the original takes, beside the time to compile it


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says."""

    backend: str
    modules: tuple[str, ...]
    seed: int
    sample: int
    work: Path
    full: bool


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
        self.digest = _digest([*self.package.sources.values(), *_kit()])

    def ready(self) -> None:
        """Import what the package imports, and work out what the reference answers, once."""
        os.environ["NUMBA_CACHE_DIR"] = str(self.place.cache)
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        os.environ["REFCLUST_DISABLE_PLUGINS"] = "1"  # the original must not be loaded here
        for name in sorted(_foreign(self.package)):
            with suppress(ImportError):
                importlib.import_module(name)
        from refclust.backends.builtin import Loopback
        from refclust.testing.kit import conform

        conform(Loopback(), only=("kmeans.residual",), quick=not self.options.full)

    def reach(self) -> dict[Definition, frozenset[str]]:
        """For each definition the kernels that can see it."""
        file = self.work / "reach.json"
        known = json.loads(file.read_text()) if file.exists() else {}
        own = [Path(__file__), Path(__file__).with_name("reach.py")]
        digest = self.digest + _digest(own)
        if known.get("digest") != digest:
            self.place.fresh()
            kernels = self._kernels()
            known = {"digest": digest, "roots": {k: self._roots(k) for k in kernels}}
            self.place.keep()
            file.write_text(json.dumps(known))
        roots = {kernel: map(tuple, begun) for kernel, begun in known["roots"].items()}
        return seen_by(self.package, roots)

    def _kernels(self) -> list[str]:
        folder, name = self.place.folder, self.options.backend

        def ask(tell: Any) -> None:
            from refclust.kernels.registry import KERNELS
            from tests.mutation.judge import backend_in

            tell(sorted(set(backend_in(name, folder).kernels()) & set(KERNELS)))

        return list(_only(forked(ask, 600.0)))

    def _roots(self, kernel: str) -> list[list[str]]:
        folder, name = self.place.folder, self.options.backend
        modules = [module for module in self.package.sources if "__" not in module]

        def ask(tell: Any) -> None:
            from refclust.testing.kit import conform
            from tests.mutation.judge import backend_in

            made = backend_in(name, folder)
            # First, since what runs while a module is imported belongs to no kernel.
            for module in modules:
                importlib.import_module(f"{folder.name}.{module}")
            found = watched(folder, lambda: conform(made, quick=True, only=(kernel,)))
            tell(sorted(found))

        return list(_only(forked(ask, 1800.0)))

    def judge(self, module: str, mutant: Mutant | None, kernels: Iterable[str]) -> Verdict:
        """The verdict on a mutant, or on the original."""
        self.place.fresh()
        limit = 3600.0
        if mutant is not None:
            self.place.change(self.package.sources[module], mutant.text)
            limit = self._limits[module]
        some = tuple(sorted(kernels))
        found = judged(
            self.options.backend,
            self.place.folder,
            some or tuple(self._all),
            limit,
            full=self.options.full and bool(some),
        )
        if mutant is None:
            if found.fate != "survived":
                raise SystemExit(f"{module}: the kit rejects the original: {found.told}")
            self.place.keep()
        return found

    def run(self) -> Iterator[Row]:
        """Judge a sample of each module."""
        self.ready()
        seen = self.reach()
        self._all = sorted(set().union(*seen.values()))
        self._limits: dict[str, float] = {}
        for module in self.options.modules or self.package.sources:
            if module not in self.package.sources:
                raise SystemExit(f"no module {module}; there are {', '.join(self.package.sources)}")
            yield from self._module(module, seen)

    def _module(self, module: str, seen: dict[Definition, frozenset[str]]) -> Iterator[Row]:
        file = self.work / "results" / f"{module}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        done = {row.key: row for row in kept(file, self.digest)}
        source = self.package.sources[module].read_text(encoding="utf-8")
        # Seeded by text: the sample of a module does not depend on which others are asked for.
        rng = random.Random(f"{self.options.seed} {module}")
        sample = list(islice(mutants(source, rng), self.options.sample))
        kernels = {
            mutant.key: frozenset[str]().union(
                *(seen.get((module, name), ()) for name in mutant.where.split(", "))
            )
            for mutant in sample
        }
        for mutant in sample:
            row = done.get(mutant.key)
            if row is None or (self.options.full and row.fate == "survived" and row.kit == "quick"):
                if module not in self._limits:
                    self._limits[module] = self._limit(module, frozenset().union(*kernels.values()))
                verdict = self.judge(module, mutant, kernels[mutant.key])
                row = _row(module, mutant, kernels[mutant.key], verdict)
                with file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps({"digest": self.digest, **asdict(row)}) + "\n")
                _say(row)
            yield row

    def _limit(self, module: str, kernels: frozenset[str]) -> float:
        """The seconds that a mutant gets: the original is judged twice, first it is compiled."""
        first, second = (self.judge(module, None, kernels).seconds for _ in range(2))
        return _LEAST + 2 * first + _TIMES * second


def _row(module: str, mutant: Mutant, kernels: frozenset[str], verdict: Verdict) -> Row:
    return Row(
        module,
        mutant.key,
        mutant.line,
        mutant.kind,
        mutant.before,
        mutant.after,
        len(kernels),
        verdict.fate,
        verdict.kit,
        verdict.told,
        verdict.seconds,
    )


def _say(row: Row) -> None:
    print(
        f"{row.module}:{row.line}: {row.kind}: {row.fate} {row.kit} {row.seconds} s",
        file=sys.stderr,
        flush=True,
    )


def kept(file: Path, digest: str) -> Iterator[Row]:
    """The verdicts in a file that were made of these sources by this kit."""
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        with suppress(ValueError):  # a run was stopped while it wrote
            fields = json.loads(line)
            if fields.pop("digest") == digest:
                yield Row(**fields)


def _only(answer: tuple[list[Any], str, float]) -> Any:
    lines, end, _ = answer
    if not lines or end:
        raise SystemExit(f"the backend cannot be asked: {end}")
    return lines[0]


def _digest(files: Iterable[Path]) -> str:
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


def equivalents(backend: str) -> dict[str, str]:
    """The changes that are known to change no answer, with the reason."""
    entries = json.loads(EQUIVALENT.read_text(encoding="utf-8"))
    return {one["key"]: one["reason"] for one in entries if one["backend"] == backend}


def options(arguments: list[str]) -> Options:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="tests.mutation.backends", description=__doc__)
    parser.add_argument("backend", help="numpy, numba, or NAME of a package refclust_NAME")
    parser.add_argument("--module", action="append", default=[], help="only this one; repeatable")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sample", type=int, default=40, help="mutants of each module")
    parser.add_argument("--work", type=Path, default=Path("mutants"), help="folder for results")
    parser.add_argument("--quick", action="store_true", help="only the quick kit judges")
    found = parser.parse_args(arguments)
    work = found.work.resolve()
    modules = tuple(found.module)
    return Options(found.backend, modules, found.seed, found.sample, work, not found.quick)


def main(arguments: list[str]) -> int:
    """Judge samples, print the report; 1 if some survivor has no reason."""
    asked = options(arguments)
    rows = list(Trial(asked).run())
    text, unexplained = report(asked.backend, rows, equivalents(asked.backend))
    print(text)
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
