"""Calls of the reference from inside a kernel: seen and told, no fault (chapter 81).

A backend may hand doubtful rows to the reference; but one that does nothing else is not what its
name says, and its author should know. Functions of the reference are watched while a script runs.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

from refclust.backends.protocol import Backend
from refclust.kernels import registry
from refclust.kernels.registry import KERNELS
from refclust.testing.ladder import named
from refclust.testing.outcomes import Outcome
from refclust.testing.scripts.lockstep import Script, kernels_of, script
from refclust.testing.scripts.player import Player, offered

RUNGS: Final = ("plain", "ties", "sparse-counts", "cosine", "labels", "buffer-labels", "margins",
                "distances", "gaussian", "counts")  # fmt: skip
_FOLDER: Final = str(Path(registry.__file__).parent)
# Records and what they tell of themselves are no computations.
_RECORDS: Final = frozenset(("centres.py", "registry.py", "basic.py"))
_OF_RECORDS: Final = (
    *("Gaussians.", "Terms.", "ClusterSums.", "CellTable.", "Points.__init__", "plain", "copied"),
    *("_view", "_listed", "squared"),
)


@cache
def kernels() -> frozenset[str]:
    """The kernels that are watched."""
    return frozenset().union(*(kernels_of(rung) for rung in named(RUNGS)))


class Watch:
    """Which functions of the reference run, in this thread and in those that start meanwhile."""

    def __init__(self) -> None:
        self.own: set[CodeType] = {kernel.reference.__code__ for kernel in KERNELS.values()}
        self.whole = self.some = False

    def __enter__(self) -> Watch:
        self.whole = self.some = False
        threading.setprofile(self._saw)
        sys.setprofile(self._saw)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _saw(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        if code in self.own:
            self.whole = True
        elif code.co_filename.startswith(_FOLDER):
            self.some = self.some or not (
                Path(code.co_filename).name in _RECORDS or code.co_qualname.startswith(_OF_RECORDS)
            )


def handed_over(backend: Backend) -> list[Outcome]:
    """Count the calls in which the reference runs."""
    watch, counts = Watch(), {name: [0, 0, 0] for name in offered(backend)}
    watching = _Watching(backend, watch, counts)
    for rung in named(RUNGS):
        made: Script = script(rung)
        player = Player(watching, made)
        player.prepare()
        player.play("own")
    return [
        Outcome(kernel, "reference", calls, None, note=_told(calls, whole, some))
        for kernel, (calls, whole, some) in counts.items()
        if calls
    ]


def _told(calls: int, whole: int, some: int) -> str:
    if whole == calls:
        return f"it calls the reference in each of {calls} calls: nothing of its own is tried"
    if whole:
        return f"{whole} of {calls} calls ran a kernel of the reference"
    return f"{some} of {calls} calls handed rows to the reference" if some else ""


class _Watching:
    """A backend each call of which is watched."""

    def __init__(self, backend: Backend, watch: Watch, counts: dict[str, list[int]]) -> None:
        self._backend = backend
        self._functions = {
            name: self._watched(function, watch, counts[name])
            for name, function in offered(backend).items()
        }

    def kernels(self) -> dict[str, Callable[..., Any]]:
        """The kernels, each watched."""
        return self._functions

    def _watched(
        self, function: Callable[..., Any], watch: Watch, count: list[int]
    ) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            count[0] += 1
            try:
                with watch:
                    return function(*args)
            finally:
                count[1] += watch.whole
                count[2] += watch.some

        return run

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)
