"""What the conformance kit says of a backend: outcomes, checks, the report (chapter 81)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from refclust.backends.protocol import Backend
from refclust.testing.scripts.facts import Trial, common
from refclust.testing.scripts.player import Player

BACKEND: Final = "(backend)"  # stands for a kernel where the backend itself is checked


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one kernel did in one check; no fault means that it passed."""

    kernel: str
    check: str
    calls: int
    fault: str | None
    declined: tuple[str, ...] = ()  # kinds of problems it left to the reference, and why
    note: str = ""  # what is worth knowing, but no fault
    trials: tuple[Trial, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to try: a rung of the ladder, or a question of manners."""

    name: str
    why: str
    run: Callable[[Backend], list[Outcome]]
    kernels: frozenset[str]  # those that it calls if the backend has them


@dataclass(frozen=True, slots=True)
class Report:
    """All outcomes, and the kernels that the backend leaves to the reference."""

    backend: str
    quick: bool
    checks: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    absent: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether some kernel was tried and nothing is wrong."""
        tried = any(outcome.calls for outcome in self.outcomes if outcome.kernel != BACKEND)
        return tried and not self.faults

    @property
    def faults(self) -> tuple[Outcome, ...]:
        """The first fault of each kernel."""
        first: dict[str, Outcome] = {}
        for outcome in self.outcomes:
            if outcome.fault is not None:
                first.setdefault(outcome.kernel, outcome)
        return tuple(first.values())

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels that were tried."""
        return tuple(
            sorted({outcome.kernel for outcome in self.outcomes if outcome.calls} - {BACKEND})
        )

    @property
    def declined(self) -> Mapping[str, tuple[str, ...]]:
        """Of each kernel the kinds of problems that it left to the reference, and why."""
        by_kernel: dict[str, dict[str, None]] = {}
        for outcome in self.outcomes:
            if outcome.declined:
                by_kernel.setdefault(outcome.kernel, {}).update(dict.fromkeys(outcome.declined))
        return {kernel: tuple(kinds) for kernel, kinds in sorted(by_kernel.items())}

    @property
    def notes(self) -> tuple[str, ...]:
        """What is worth knowing, but no fault."""
        return tuple(
            dict.fromkeys(
                f"{outcome.kernel}: {outcome.note}" for outcome in self.outcomes if outcome.note
            )
        )

    def common(self, kernel: str) -> str:
        """What the wrong calls of a kernel have in common, and no right one has."""
        return common(
            trial
            for outcome in self.outcomes
            if outcome.kernel == kernel
            for trial in outcome.trials
        )


def outcomes_of(player: Player, check: str) -> list[Outcome]:
    """How the kernels did in a script."""
    kernels = dict.fromkeys((*player.calls, *player.faults, *player.declined))
    return [
        Outcome(
            kernel,
            check,
            player.calls.get(kernel, 0),
            player.faults.get(kernel),
            tuple(player.declined.get(kernel, ())),
            trials=tuple(player.trials.get(kernel, ())),
        )
        for kernel in kernels
    ]


def merged(first: list[Outcome], second: list[Outcome]) -> list[Outcome]:
    """Outcomes of one check, added up by kernel; the earlier fault stays."""
    by_kernel = {outcome.kernel: outcome for outcome in first}
    for outcome in second:
        old = by_kernel.get(outcome.kernel)
        if old is None:
            by_kernel[outcome.kernel] = outcome
            continue
        by_kernel[outcome.kernel] = replace(
            old,
            calls=old.calls + outcome.calls,
            fault=outcome.fault if old.fault is None else old.fault,
            declined=tuple(dict.fromkeys((*old.declined, *outcome.declined))),
            note=old.note or outcome.note,
            trials=(*old.trials, *outcome.trials),
        )
    return list(by_kernel.values())
