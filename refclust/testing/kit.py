"""The conformance kit: everything a backend must keep, checked in one go (chapter 81).

>>> from refclust.backends.builtin import Loopback
>>> report = conform(Loopback(), quick=True, only=("contingency.table",))
>>> report.ok, sum(outcome.calls for outcome in report.outcomes) > 5
(True, True)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from refclust.backends import builtin  # noqa: F401  (registers all kernels)
from refclust.backends.protocol import Backend
from refclust.kernels.registry import KERNELS
from refclust.testing.checks import blocks, claims, memory, reference_calls, sessions, threads
from refclust.testing.checks.merging import merge_faults, merged_kernels
from refclust.testing.checks.protocol import protocol
from refclust.testing.checks.threads import threads_of
from refclust.testing.ladder import ladder
from refclust.testing.outcomes import BACKEND, Check, Outcome, Report, outcomes_of
from refclust.testing.rungs import Rung
from refclust.testing.scripts.lockstep import kernels_of, script
from refclust.testing.scripts.player import Player, offered

__all__ = [
    "BACKEND",
    "Check",
    "Outcome",
    "Part",
    "Report",
    "checks",
    "conform",
    "never_run",
    "optional",
    "threads_of",
]

_ALL: Final = frozenset(KERNELS)
_DECLINED: Final = "it declined every problem: {}; a kernel that never runs should not be offered"


def conform(
    backend: Backend,
    *,
    quick: bool = False,
    only: Collection[str] | None = None,
    stop: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Report:
    """Run the kit on a backend, or on some of its kernels.

    With ``stop`` it ends at the first fault; ``tell`` hears what comes next.
    """
    backend = backend if only is None else Part(backend, frozenset(only))
    outcomes: list[Outcome] = []
    tried = checks(quick=quick)
    kernels: frozenset[str] = frozenset()
    for check in tried:
        if tell is not None:
            tell(check.name)
        if check.kernels and not check.kernels & kernels:
            continue  # it calls nothing that is here
        outcomes += check.run(backend)
        # What is no backend cannot be tried.
        if outcomes[0].fault is not None or (stop and any(outcome.fault for outcome in outcomes)):
            break
        kernels = kernels or frozenset(offered(backend))
    return Report(
        str(getattr(backend, "name", "?")),
        quick,
        tuple(check.name for check in tried),
        tuple(outcomes + never_run(outcomes)),
        tuple(sorted(_ALL - kernels)) if outcomes[0].fault is None else (),
    )


def never_run(outcomes: list[Outcome]) -> list[Outcome]:
    """The kernels that were offered, and declined whatever they were asked."""
    called = {outcome.kernel for outcome in outcomes if outcome.calls}
    declined = {outcome.kernel: outcome for outcome in outcomes if outcome.declined}
    return [
        Outcome(kernel, outcome.check, 0, _DECLINED.format(outcome.declined[0]))
        for kernel, outcome in declined.items()
        if kernel not in called
    ]


def checks(*, quick: bool = False) -> tuple[Check, ...]:
    """All checks in their order: the protocol, what only shows across data, the ladder, threads.

    >>> checks(quick=True)[0].name, checks(quick=True)[-1].name
    ('protocol', 'threads')
    """
    rows = sessions.on_rows()
    ladder_checks = (
        Check(rung.name, rung.why, _on(rung), kernels_of(rung)) for rung in ladder(quick=quick)
    )
    short = (
        Check("protocol", "the backend is what the protocol says", protocol, frozenset()),
        Check("twins", "data of one shape are not taken for each other", sessions.twins, rows),
        Check("short-lived", "nothing is remembered of data that are gone",
              sessions.short_lived, rows),
        *ladder_checks,
        Check("merge", "parts of the rows add up to the whole", _merge(quick), merged_kernels()),
    )  # fmt: skip
    last = Check("threads", "the number of threads changes nothing", threads.any_number, _ALL)
    if quick:
        return (*short, last)
    return (
        *short,
        Check("long-session", "calls do not depend on those before, and answers stay",
              sessions.long_session, rows),
        Check("at-once", "sessions do not disturb each other", sessions.at_once, rows),
        Check("declared-blocks", "sizes around the blocks that the backend declares",
              blocks.declared, blocks.on_rows()),
        Check("tiny-blocks", "the ladder in blocks of a few rows, if the backend can",
              blocks.tiny, blocks.kernels()),
        Check(claims.CHECK, "no less is expected for more work, and decided rows add up",
              claims.claims, claims.kernels()),
        Check("memory", "calls and sessions leave nothing behind", memory.memory, memory.kernels()),
        Check("reference", "how often the reference itself is called",
              reference_calls.handed_over, reference_calls.kernels()),
        Check("load", "many rows, several threads, again and again",
              threads.under_load, threads.loaded()),
        last,
    )  # fmt: skip


def optional(check: str, backend: Any) -> bool:
    """Whether a check asks for a member that backends may lack, and this one does."""
    match check:
        case "threads" | "load":
            return threads_of(backend) is None
        case "tiny-blocks":
            return blocks.tiny_of(backend) is None
        case "declared-blocks":
            return not callable(getattr(backend, "blocks", None))
    return False


def _on(rung: Rung) -> Callable[[Backend], list[Outcome]]:
    def run(backend: Backend) -> list[Outcome]:
        player = Player(backend, script(rung))
        player.prepare()
        player.play("reference")
        player.play("own")
        return outcomes_of(player, rung.name)

    return run


def _merge(quick: bool) -> Callable[[Backend], list[Outcome]]:
    def run(backend: Backend) -> list[Outcome]:
        faults = merge_faults(backend, quick=quick)
        return [Outcome(kernel, "merge", calls, fault) for kernel, calls, fault in faults]

    return run


class Part:
    """A backend of which only some kernels are shown."""

    def __init__(self, backend: Backend, kernels: frozenset[str]) -> None:
        self._backend, self._kernels = backend, kernels

    def kernels(self) -> Mapping[str, Callable[..., Any]]:
        """The kernels to try."""
        return {
            name: function
            for name, function in self._backend.kernels().items()
            if name in self._kernels
        }

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)
