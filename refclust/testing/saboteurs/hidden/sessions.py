"""Saboteurs whose fault depends on what happened before, or at the same time (chapter 81)."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from refclust.backends.builtin import Reference
from refclust.errors import RefclustError
from refclust.kernels import distances
from refclust.kernels.clusters import kmeans
from refclust.kernels.clusters.kmeans import ClusterSums, LloydStep
from refclust.kernels.points import Points
from refclust.testing.saboteurs.hidden.hiding import (
    last_label,
    last_sum_lost,
    nudged,
    twice_the_last,
)
from refclust.testing.saboteurs.saboteur import Functions, Saboteur


def hidden_sessions() -> Iterable[Saboteur]:
    """All of them."""
    return (*_of_calls(), *_of_memory(), *_of_threads())


def _counting(kernel: Callable[..., Any], spoil: Any, when: Callable[[int], bool]) -> Any:
    """A kernel that is wrong on some calls about the same data."""
    calls: dict[int, list[Any]] = {}

    def function(points: Points, *args: Any) -> Any:
        number = calls.setdefault(id(points), [points, 0])  # the data stay, so does their address
        number[1] += 1
        right = kernel(points, *args)
        return spoil(right, points, *args) if when(number[1]) else right

    return function


def _of_calls() -> Iterable[Saboteur]:
    third = _counting(kmeans.squares, twice_the_last, lambda number: number == 20)
    yield Saboteur("the-twentieth-call", "again is answered otherwise", {"kmeans.squares": third})
    hundredth = _counting(kmeans.assign, last_label, lambda number: number % 100 == 0)
    yield Saboteur("every-hundredth-call", "call", {"kmeans.assign": hundredth})

    def cached() -> Functions:
        known: dict[Any, Any] = {}

        def assign(points: Points, centres: Any, metric: str) -> Any:
            """Takes centres for the same as before if the first and the last of them are."""
            key = id(points), len(centres), tuple(centres[0]), tuple(centres[-1]), metric
            kept = known.setdefault(key, (points, kmeans.assign(points, centres, metric)))
            return array("i", kept[1])

        return {"kmeans.assign": assign}

    yield Saboteur("centres-taken-for-others", "instead of", cached())

    def upset() -> Functions:
        raised: list[bool] = []

        def pairwise(points: Points, metric: str) -> Any:
            try:
                right = distances.pairwise(points, metric)
            except RefclustError:
                raised.append(True)
                raise
            return nudged(right) if raised and raised.pop() and len(right) else right

        return {"distances.pairwise": pairwise}

    yield Saboteur("after-an-error", "again is answered otherwise", upset())

    def again() -> Callable[[Any], Any]:
        seen: dict[str, int] = {}

        def prepare(data: Any) -> Any:
            points = Reference().prepare(data)
            if isinstance(points, Points):
                digest = data.digest()
                seen[digest] = seen.get(digest, 0) + 1
                if seen[digest] == 4:
                    del seen[digest]
                    return Points(data.select([*range(data.n - 1), 0]))
            return points

        return prepare

    yield Saboteur(
        "the-fourth-session", "instead of", {"kmeans.squares": kmeans.squares}, make=again()
    )


def _of_memory() -> Iterable[Saboteur]:
    def ring() -> Functions:
        def assign(points: Points, *args: Any) -> Any:
            right = kmeans.assign(points, *args)
            if not hasattr(points, "buffers"):
                points.buffers = []  # type: ignore[attr-defined]
            mine: list[Any] = points.buffers  # type: ignore[attr-defined]
            if len(mine) < 8:
                mine.append(right)
                return right
            buffer = mine.pop(0)
            buffer[:] = right
            mine.append(buffer)
            return buffer

        return {"kmeans.assign": assign}

    def leaking() -> Functions:
        kept: list[Any] = []

        def accumulate(points: Points, labels: Any, k: int) -> ClusterSums:
            right = kmeans.accumulate(points, labels, k)
            kept.append(array("i", labels))
            return right

        return {"kmeans.accumulate": accumulate}

    def hoarding() -> Callable[[Any], Any]:
        kept: list[Any] = []

        def prepare(data: Any) -> Any:
            kept.append(data)
            return Reference().prepare(data)

        return prepare

    yield Saboteur("buffers-again-after-eight-calls", "used again", ring())
    yield Saboteur("leaks", "memory", leaking())
    yield Saboteur("keeps-all-data", "memory", {"kmeans.squares": kmeans.squares}, make=hoarding())


class Threaded:
    """A backend that can be told how many threads to use."""

    def __init__(self) -> None:
        self.number = 1

    @contextmanager
    def threads(self, number: int) -> Iterator[None]:
        """Use so many threads for a while."""
        before, self.number = self.number, number
        try:
            yield
        finally:
            self.number = before


class ThreadedSaboteur(Threaded):
    """A saboteur whose kernels know the number of threads."""

    def __init__(self, name: str, word: str, make: Callable[[Threaded], Functions]) -> None:
        super().__init__()
        self._inside = Saboteur(name, word, make(self))
        self.name, self.word = name, word
        self.api_version, self.accuracy = self._inside.api_version, self._inside.accuracy
        self.kernels, self.supports = self._inside.kernels, self._inside.supports
        self.prepare, self.export = self._inside.prepare, self._inside.export


def _of_threads() -> Iterable[Any]:
    def racing(threads: Threaded) -> Functions:
        calls = [0]

        def step(points: Points, *args: Any) -> LloydStep:
            right = kmeans.lloyd_step(points, *args)
            calls[0] += threads.number > 1 and points.n > 10_000
            # Two threads add to one sum at the same time, now and then.
            late = calls[0] % 8 == 7 and threads.number > 1 and points.n > 10_000
            return last_sum_lost(right, points) if late else right

        return {"kmeans.lloyd_step": step}

    def uneven(threads: Threaded) -> Functions:
        def accumulate(points: Points, labels: Any, k: int) -> ClusterSums:
            left = points.n % threads.number
            whole = range(points.n - (left if points.n > 2000 and threads.number == 3 else 0))
            return kmeans.accumulate_some(points, whole, labels, k)

        return {"kmeans.accumulate": accumulate}

    def too_many(threads: Threaded) -> Functions:
        def assign(points: Points, centres: Any, metric: str) -> Any:
            right = kmeans.assign(points, centres, metric)
            few = points.n < threads.number and len(centres) > 1
            return last_label(right, points, centres) if few else right

        return {"kmeans.assign": assign}

    def switching(threads: Threaded) -> Functions:
        """Keeps its parts from the call before, made for another number of threads."""

        def squares(points: Points, labels: Any, k: int) -> Any:
            number = getattr(points, "threads", threads.number)
            points.threads = threads.number  # type: ignore[attr-defined]
            right = kmeans.squares(points, labels, k)
            return twice_the_last(right) if number != threads.number else right

        return {"kmeans.squares": squares}

    yield ThreadedSaboteur("a-race-under-load", "race", racing)
    yield ThreadedSaboteur("three-threads-leave-rows", "with 3 threads", uneven)
    yield ThreadedSaboteur("more-threads-than-rows", "threads", too_many)
    yield ThreadedSaboteur("threads-change-in-a-session", "threads", switching)
    yield Saboteur("one-scratch-for-all-sessions", "same time", _sharing())


def _sharing() -> Functions:
    """One scratch buffer for all calls: fine, as long as no two run at the same time."""
    scratch: list[Any] = [None]

    def assign(points: Points, *args: Any) -> Any:
        scratch[0] = kmeans.assign(points, *args)
        time.sleep(0.0003)  # as compiled code does that lets other threads run
        return array("i", scratch[0])

    return {"kmeans.assign": assign}
