"""The judge of a mutant: the conformance kit, in a process of its own, with limits.

The process is forked from one that has worked out what the reference answers, so a mutant costs
only its own calls: first those of the quick kit, then, if that finds nothing, the others; of both
only the checks that run what was changed, the short ones first.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from refclust.testing.evidence.forked import Tell, allow, ran

Fate: TypeAlias = Literal["killed", "crashed", "timeout", "survived"]

MEMORY: Final = 12 << 30


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant, which kit decided it, what was said, and what it took.

    Seconds are of the processor: they do not depend on what else the machine does.
    """

    fate: Fate
    kit: str
    told: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Step:
    """A check to run, with which kernels, and the seconds that it may take."""

    check: str
    quick: bool
    kernels: frozenset[str]
    limit: float
    first: bool = False  # whether the first wrong answer is enough


@dataclass(frozen=True, slots=True)
class Plan:
    """The checks that can see a change, in their order."""

    steps: tuple[Step, ...]
    called: frozenset[str]  # kernels that the original takes part with here, and nowhere else


def judged(
    backend: str, folder: Path, plan: Plan, ready: Callable[[], None] | None = None
) -> Verdict:
    """Let the kit judge the backend whose package lies in a folder.

    ``ready`` is called before anything of the package is imported.
    """
    longest = max(step.limit for step in plan.steps)

    def judge(tell: Callable[[Any], None]) -> None:
        from refclust.testing.kit import Part, never_run

        tell({"fate": "", "kit": "quick", "told": ""})
        allow(longest)
        made = backend_in(backend, folder, ready)
        known = known_checks()
        outcomes = []
        for step in plan.steps:
            kit = "quick" if step.quick else "full"
            tell({"fate": "", "kit": kit, "told": step.check})
            allow(step.limit)
            check = known[step.quick, step.check]
            if step.first:
                told = first_fault(check, Part(made, step.kernels))
                if told:
                    return tell({"fate": "killed", "kit": kit, "told": told})
                continue
            outcomes += check.run(Part(made, step.kernels))
            for one in outcomes:
                if one.fault is not None:
                    told = f"{one.kernel}, {one.check}: {one.fault}"
                    return tell({"fate": "killed", "kit": kit, "told": told})
        for one in never_run(outcomes):
            if one.kernel in plan.called:
                told = f"{one.kernel}: {one.fault}"
                return tell({"fate": "killed", "kit": kit, "told": told})
        return tell({"fate": "survived", "kit": kit, "told": ""})

    lines, end, seconds = forked(judge, longest)
    last = lines[-1] if lines else {"kit": "", "fate": "", "told": ""}
    if last["fate"] == "killed":
        return Verdict("killed", last["kit"], last["told"][:300], seconds)
    if end == "timeout":
        return Verdict("timeout", last["kit"], f"{last['told']}: {seconds:.0f} s", seconds)
    if end:
        return Verdict("crashed", last["kit"], f"{last['told']}: {end[-300:]}", seconds)
    return Verdict("survived", last["kit"], "", seconds)


def first_fault(check: Any, backend: Any) -> str:
    """What is wrong first, if something is; nothing is asked after that."""
    from refclust.testing.scripts import player
    from tests.mutation.thrift import FirstFault, Found

    class Impatient(player.Player):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.faults = FirstFault()

    usual = player.Player
    modules: list[Any] = list(sys.modules.values())
    places = [one for one in modules if vars(one).get("Player") is usual]
    for place in places:
        place.Player = Impatient
    try:
        faults = [f"{one.kernel}: {one.fault}" for one in check.run(backend) if one.fault]
    except Found as found:
        faults = [str(found)]
    finally:
        for place in places:
            place.Player = usual
    return f"{check.name}: {faults[0]}" if faults else ""


@cache
def known_checks() -> dict[tuple[bool, str], Any]:
    """All checks, of the quick kit and of the whole one, by name."""
    from refclust.testing.kit import checks

    return {(quick, one.name): one for quick in (True, False) for one in checks(quick=quick)}


def backend_in(name: str, folder: Path, ready: Callable[[], None] | None = None) -> Any:
    """The backend from the package in this folder and from nowhere else."""
    sys.path.insert(0, str(folder.parent))
    sys.dont_write_bytecode = True
    if ready is not None:
        ready()
    [entry] = [
        entry
        for entry in importlib.metadata.entry_points(group="refclust")
        if entry.module.partition(".")[0] == folder.name
    ]
    plugin = entry.load()
    where = Path(str(sys.modules[folder.name].__file__))
    if where.parent != folder:
        raise RuntimeError(f"{folder.name} came from {where}, not from {folder}")
    [backend] = [one for one in plugin.refclust_register_backends() if one.name == name]
    return backend


def forked(run: Callable[[Tell], None], limit: float) -> tuple[list[Any], str, float]:
    """Run something in a forked process, as evidence is judged, with room for compilers."""
    return ran(run, limit, memory=MEMORY)


class Place:
    """A folder with a copy of a package, to be changed, and with its compiled code."""

    def __init__(self, work: Path, package: Path) -> None:
        self.original = package
        self.folder = work / "package" / package.name
        self.cache, self._base = work / "cache", work / "cache-of-the-original"

    def fresh(self) -> None:
        """Copy the package again, and give it the compiled code of the original."""
        shutil.rmtree(self.folder.parent, ignore_errors=True)
        shutil.copytree(self.original, self.folder, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.rmtree(self.cache, ignore_errors=True)
        if self._base.exists():
            # Links: what is compiled anew is written to files of its own.
            shutil.copytree(self._base, self.cache, copy_function=os.link)
        else:
            self.cache.mkdir(parents=True)

    def change(self, path: Path, text: str) -> None:
        """Put a changed module in the place of the one at this path of the original."""
        (self.folder / path.relative_to(self.original)).write_text(text, encoding="utf-8")

    def keep(self) -> None:
        """Keep what is compiled now as that of the original."""
        shutil.rmtree(self._base, ignore_errors=True)
        shutil.copytree(self.cache, self._base, copy_function=os.link)
