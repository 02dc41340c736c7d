"""What makes a mutant of a compiled package cheap: hardly anything is compiled for it.

Compiled code is kept by the sources of a module and of all it imports, so a change deep down would
have everything compiled anew. Here only what names the changed definition is compiled; all else is
the original's. And kernels are tried one by one first, those with the least to compile before the
others, until a call is answered wrongly.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from tests.mutation.judge import Plan, Step
from tests.mutation.reach import Definition, Package

KEEPING: Final = (
    "lowlevel.keeping"  # of a package that keeps compiled code as the Numba plugin does
)
SLACK: Final = 240.0  # seconds that a check gets for compiling
_ALONE: Final = 3  # kernels that are tried alone, before all of them


class Found(Exception):
    """The first fault: what it was."""


class FirstFault(dict[str, str]):
    """The faults of a player, which end everything once there is one."""

    def __setitem__(self, kernel: str, fault: str) -> None:
        raise Found(f"{kernel}: {fault}")

    def setdefault(self, kernel: str, fault: str = "") -> str:
        """Tell a fault, as an assignment does."""
        raise Found(f"{kernel}: {fault}")


def compiles(package: Package) -> bool:
    """Whether a package keeps compiled code."""
    return KEEPING in package.sources


def affected(package: Package, changed: Iterable[Definition]) -> set[Definition]:
    """The definitions that name some others, directly or not, and these."""
    users: dict[Definition, set[Definition]] = {}
    for user, used in package.names.items():
        for one in used:
            users.setdefault(one, set()).add(user)
    found: set[Definition] = set()
    waiting = list(changed)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += users.get(one, ())
    return found


def alone_first(plan: Plan, kernels: Collection[str], weight: Callable[[str], int]) -> Plan:
    """The same plan after the quick checks of a few kernels, each alone, the lightest first."""
    few = sorted(filter(None, kernels), key=lambda name: (weight(name), name))[:_ALONE]
    return Plan((*_alone(plan, few), *plan.steps), plan.called)


def _alone(plan: Plan, kernels: Iterable[str]) -> Iterator[Step]:
    for kernel in kernels:
        for step in plan.steps:
            if step.quick and kernel in step.kernels and len(step.kernels) > 1:
                yield Step(step.check, True, frozenset([kernel]), step.limit, first=True)


def reuse(folder: Path, original: Path, changed: Collection[Definition]) -> None:
    """Take the compiled code of the original for all that the changed definitions do not reach.

    To be called before anything of the package is imported that is compiled.
    """
    keeping: Any = importlib.import_module(f"{folder.name}.{KEEPING}")

    def source(module: str) -> str:
        inner = original.joinpath(*module.split(".")[1:]).with_suffix(".py")
        return inner.read_text(encoding="utf-8")

    class Reused(keeping.Kept):  # type: ignore[misc]
        def __init__(self, function: Callable[..., Any]) -> None:
            module = function.__module__.partition(".")[2]
            if (module, function.__qualname__.partition(".")[0]) in changed:
                raise RuntimeError("it is compiled here and not kept")
            super().__init__(function)

    keeping.source = source
    keeping.Kept = Reused
