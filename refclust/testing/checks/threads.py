"""Threads: the same answers with any number of them, under load, and a proof that they worked.

How much time other threads than the calling one had is told by the system: that of the process
less that of this thread. A backend may tell itself, with ``worked()``: the number of threads that
took part in its last call (chapter 81).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, Final

from refclust.backends.protocol import Backend
from refclust.testing.ladder import named
from refclust.testing.outcomes import Outcome, merged, outcomes_of
from refclust.testing.rungs import Rung
from refclust.testing.rungs.bulk import loads
from refclust.testing.scripts.layouts import fingerprint
from refclust.testing.scripts.lockstep import kernels_of, script
from refclust.testing.scripts.player import Player, offered

THREADED: Final = (
    *("many-rows", "many-labels", "large-margins", "distances", "cosine", "one-row"),
    *("gaussian-many", "counts-many"),
)
NUMBERS: Final = (1, 2, 3, 8)
_LOADED: Final = (2, 3)
_TIMES: Final = 4  # that each load is played with each number of threads
_SHARE: Final = 0.05  # of the time, that others than the calling thread must have had


def threads_of(backend: Any) -> Callable[[int], AbstractContextManager[Any]] | None:
    """How to tell the backend its number of threads."""
    if callable(getattr(backend, "threads", None)):
        known: Callable[[int], AbstractContextManager[Any]] = backend.threads
        return known
    set_threads = getattr(backend, "set_threads", None)
    if not callable(set_threads):
        return None

    @contextmanager
    def limited(number: int) -> Iterator[None]:
        before = set_threads(number)
        try:
            yield
        finally:
            if isinstance(before, int):
                set_threads(before)

    return limited


def any_number(backend: Backend) -> list[Outcome]:
    """The same calls with 1, 2, 3 and 8 threads, if the backend can be told how many."""
    outcomes: list[Outcome] = []
    if threads_of(backend) is None:
        return outcomes
    for rung in named(THREADED):
        outcomes = merged(outcomes, _played(backend, rung, NUMBERS, "threads"))
    return outcomes


def _played(backend: Backend, rung: Rung, numbers: tuple[int, ...], check: str) -> list[Outcome]:
    """One session in which the number of threads changes."""
    threads = threads_of(backend)
    assert threads is not None
    player = Player(backend, script(rung))
    player.prepare()
    first: dict[int, Any] = {}
    for number in numbers:
        player.marks["threads"] = number
        with threads(number):
            player.play("own", f", with {number} thread{'s' * (number > 1)}")
        for place, answer in player.answers().items():
            imprint = fingerprint(answer)
            if first.setdefault(place, imprint) != imprint:
                fault = f"with {number} threads the answer is not that of one thread"
                player.faults.setdefault(player.script.calls[place].kernel, fault)
    return outcomes_of(player, check)


def under_load(backend: Backend) -> list[Outcome]:
    """Many rows, several threads, again and again: races show under load only."""
    threads = threads_of(backend)
    if threads is None:
        return []
    outcomes: list[Outcome] = []
    clock = _Clock(backend)
    for rung in loads():
        player = Player(clock, script(rung))
        player.prepare()
        for number in _LOADED * _TIMES:
            player.marks["threads"] = number
            with threads(number):
                player.play("own", f", with {number} threads, under load")
        outcomes = merged(outcomes, outcomes_of(player, "load"))
    return [replace(outcome, note=clock.note(outcome.kernel)) for outcome in outcomes]


def loaded() -> frozenset[str]:
    """The kernels that are tried under load."""
    return frozenset().union(*map(kernels_of, loads()))


class _Clock:
    """A backend of which it is noted who worked."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._seconds: dict[str, list[float]] = {}
        self._most: dict[str, int] = {}
        self._tells = callable(getattr(backend, "worked", None))
        self._functions = {
            name: self._timed(name, function) for name, function in offered(backend).items()
        }

    def kernels(self) -> dict[str, Callable[..., Any]]:
        """The kernels, each with a clock."""
        return self._functions

    def note(self, kernel: str) -> str:
        """Whether several threads worked, and how that is known."""
        if kernel in self._most:
            most = self._most[kernel]
            word = "one thread" if most < 2 else f"{most} threads"
            return f"{word} worked, as the backend tells"
        whole, others = self._seconds.get(kernel, (0.0, 0.0))
        if whole and others > _SHARE * whole:
            share = f"{others / whole:.0%}"
            return f"several threads worked: others than the caller had {share} of the time"
        return "no proof that several threads worked: the calling one had all the time"

    def _timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            process, thread = time.process_time(), time.thread_time()
            try:
                return function(*args)
            finally:
                whole = time.process_time() - process
                others = whole - (time.thread_time() - thread)
                known = self._seconds.setdefault(name, [0.0, 0.0])
                known[0] += whole
                known[1] += others
                if self._tells:
                    most = int(self._backend.worked())  # type: ignore[attr-defined]
                    self._most[name] = max(self._most.get(name, 0), most)

        return run

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)
