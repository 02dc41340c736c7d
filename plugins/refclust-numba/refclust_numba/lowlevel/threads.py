"""Work on chunks of rows by a few threads; compiled code runs without the interpreter's lock.

What is computed never depends on the number of threads: sums are integers, every other result
belongs to one row or to one chunk, and chunks depend on the number of rows only.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from itertools import count as counter
from typing import Any, Final, TypeVar

from refclust.errors import BadOption

VARIABLE: Final = "REFCLUST_THREADS"
T = TypeVar("T")


_limits: list[int] = []  # numbers of threads asked for by ``limited``, the last one counts


def threads() -> int:
    """How many threads to use: of ``limited``, REFCLUST_THREADS, or one per usable processor."""
    if _limits:
        return _limits[-1]
    setting = os.environ.get(VARIABLE, "")
    if setting:
        if not (setting.isdecimal() and int(setting)):
            raise BadOption(f"{VARIABLE}={setting!r}: use a number of threads from 1 on")
        return int(setting)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def limited(number: int) -> Iterator[None]:
    """Use so many threads for a while, whatever the environment says."""
    _limits.append(max(1, number))
    try:
        yield
    finally:
        _limits.pop()


def chunks(n: int, size: int) -> list[tuple[int, int]]:
    """0..n in pieces of one size, the last one shorter; at least one piece."""
    return [(b, min(b + size, n)) for b in range(0, n, size)] or [(0, 0)]


def even(n: int, least: int) -> list[tuple[int, int]]:
    """0..n in a few pieces for each thread, none much below the least size.

    Only for work of which no result depends on the pieces.
    """
    return chunks(n, max(least, -(-n // (4 * threads()))))


@lru_cache(maxsize=4)
def _pool(workers: int, process: int) -> ThreadPoolExecutor:  # noqa: ARG001  (forks need their own)
    return ThreadPoolExecutor(workers, thread_name_prefix="refclust-numba")


def in_threads(work: Callable[[int, int], T], pieces: Sequence[tuple[int, int]]) -> list[T]:
    """The results of work(begin, end) for all pieces, in order of the pieces."""
    results: list[Any] = [None] * len(pieces)

    def run_piece(number: int, _worker: int) -> None:
        results[number] = work(*pieces[number])

    shared(run_piece, len(pieces))
    return results


def shared(work: Callable[[int, int], None], tasks: int) -> int:
    """Run work(task, worker) for all tasks, each worker taking the next; say how many workers."""
    workers = max(1, min(threads(), tasks))
    numbers = counter()

    def run(worker: int) -> None:
        while (task := next(numbers)) < tasks:
            work(task, worker)

    if workers == 1:
        run(0)
        return 1
    others = [_pool(workers - 1, os.getpid()).submit(run, w) for w in range(1, workers)]
    run(0)
    for other in others:
        other.result()
    return workers
