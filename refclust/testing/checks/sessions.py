"""What only shows across data, and across calls: twins, short lives, long sessions (chapter 81)."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Final

from refclust.backends.protocol import Backend
from refclust.data.dataset import Dataset
from refclust.numbers.sampling import shuffled, stream
from refclust.testing.ladder import twins as two_data_sets
from refclust.testing.outcomes import Outcome, merged, outcomes_of
from refclust.testing.rungs import Rung
from refclust.testing.scripts.layouts import copied
from refclust.testing.scripts.lockstep import Script, kernels_of, script
from refclust.testing.scripts.player import Player, State

_TIMES: Final = 6
_FEW_CALLS: Final = 4
_LONG: Final = 25  # times that a script is played in one session
_AT_ONCE: Final = 4  # sessions at the same time
_SWITCH: Final = 1e-5  # seconds after which the interpreter lets another thread run


@cache
def pair() -> tuple[Rung, Rung]:
    """Two data sets of one shape."""
    return two_data_sets()


def on_rows() -> frozenset[str]:
    """The kernels that the checks here try."""
    return kernels_of(pair()[0])


def twins(backend: Backend) -> list[Outcome]:
    """Prepare two data sets of one shape, then call in turn."""
    scripts = [script(rung) for rung in pair()]
    first_player, second_player = (
        Player(backend, mine, rival) for mine, rival in zip(scripts, reversed(scripts), strict=True)
    )
    first_player.prepare()
    second_player.prepare()
    for place in range(max(len(made.calls) for made in scripts)):
        for player in (first_player, second_player):
            if place < len(player.script.calls):
                player.call(place, "own")
    return merged(outcomes_of(first_player, "twins"), outcomes_of(second_player, "twins"))


def short_lived(backend: Backend) -> list[Outcome]:
    """Data come and go, and what is at an address now need not be what was there before."""
    outcomes: list[Outcome] = []
    scripts = [_beginning(script(rung)) for rung in pair()]
    player: Player | None = None
    for time in range(_TIMES):
        mine, rival = scripts[time % 2], scripts[1 - time % 2]
        parts = copied(mine.data[0])
        player = None  # the old data go, and the new ones will most likely take their place
        data = Dataset(parts.matrix, weights=parts.weights)
        player = Player(backend, mine, rival)
        player.prepare([data])
        del data  # the player has them
        player.play("reference")
        outcomes = merged(outcomes, outcomes_of(player, "short-lived"))
    return outcomes


def long_session(backend: Backend) -> list[Outcome]:
    """Play the beginning of a script again and again on data prepared once; all answers stay."""
    player = Player(backend, _beginning(script(pair()[0])))
    player.prepare()
    player.kept = []
    rng, places = stream(96), range(len(player.script.calls))
    for number in range(_LONG):
        # In another order each time, so that no buffer gets the answer it had before.
        state: State = "reference" if number % 2 else "own"
        player.play(state, f", played {number + 1} times", shuffled(rng, places))
    player.settle()
    return outcomes_of(player, "long-session")


def at_once(backend: Backend) -> list[Outcome]:
    """Play scripts on data of their own in several threads at the same time."""
    scripts = [_beginning(script(rung)) for rung in pair()]
    players = [Player(backend, scripts[number % 2]) for number in range(_AT_ONCE)]
    ready = threading.Barrier(_AT_ONCE)

    def run(player: Player) -> None:
        player.prepare()
        ready.wait()
        for _ in range(2):
            player.play("reference", ", while other sessions run at the same time")

    with _switching_often():
        workers = [threading.Thread(target=run, args=(player,)) for player in players]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    outcomes: list[Outcome] = []
    for player in players:
        outcomes = merged(outcomes, outcomes_of(player, "at-once"))
    return outcomes


@contextmanager
def _switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _beginning(whole: Script) -> Script:
    """The first few calls of each kernel; what later calls rely on stays in its place."""
    count: dict[str, int] = {}
    last = 0
    for place, call in enumerate(whole.calls):
        count[call.kernel] = count.get(call.kernel, 0) + 1
        if count[call.kernel] <= _FEW_CALLS:
            last = place
    return replace(whole, calls=whole.calls[: last + 1])
