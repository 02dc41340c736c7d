"""Whether memory grows from call to call, and from session to session (chapter 81).

What Python allocates is counted in blocks; what compiled code allocates only shows in the memory
that the process has, which a system tells page by page. Both are looked at before and after some
hundred calls, when everything that is made once has been made.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import ClassVar, Final

from refclust.backends.protocol import Backend
from refclust.testing.outcomes import Outcome
from refclust.testing.rungs import Rung, blobs_of, dense_of
from refclust.testing.scripts.lockstep import Raised, Script, kernels_of, script
from refclust.testing.scripts.player import Player, offered

CALLS: Final = 500
SESSIONS: Final = 100
_LEAST: Final = 60
_ROWS: Final = 800
_BLOCKS_A_CALL: Final = 0.5  # blocks of Python's memory that a call may leave behind
_BYTES_A_CALL: Final = 2000  # two thirds of the labels of one call
_TIMES: Final = 3  # only what grows each time is a leak; caches fill once
_SECONDS: Final = 1.0  # after which a slow kernel has been called often enough
_STATM: Final = "/proc/self/statm"


@cache
def rung() -> Rung:
    """Rows of which each answer takes some kilobytes."""
    rows = [tuple(abs(round(x, 1)) for x in row) for row in blobs_of(_ROWS, 2, 61)]
    return Rung("memory", "calls leave nothing behind", "some-calls", dense_of(rows))


def kernels() -> frozenset[str]:
    """The kernels that are called."""
    return kernels_of(rung())


def memory(backend: Backend) -> list[Outcome]:
    """Call every kernel 500 times, and begin 100 sessions."""
    whole = script(rung())
    outcomes: list[Outcome] = []
    names = offered(backend)
    for kernel in dict.fromkeys(call.kernel for call in whole.calls):
        if kernel not in names:
            continue
        player = _ready(backend, _part(whole, kernel))
        fault = player.faults.get(kernel)
        if fault is None and player.calls.get(kernel):
            grown = _growth(lambda player=player: player.again(0), CALLS)  # type: ignore[misc]
            fault = grown and f"memory grows with every call: {grown}"
        outcomes.append(Outcome(kernel, "memory", CALLS, fault or None))
    if outcomes:
        outcomes[0] = _sessions(backend, whole, outcomes[0])
    return outcomes


def _sessions(backend: Backend, whole: Script, first: Outcome) -> Outcome:
    """Prepare the data again and again."""
    if first.fault is not None:
        return first
    grown = _growth(lambda: _ready(backend, _part(whole, first.kernel)), SESSIONS)
    fault = f"memory grows with every session: {grown}" if grown else None
    return replace(first, fault=fault)


def _ready(backend: Backend, part: Script) -> Player:
    player = Player(backend, part)
    player.prepare()
    player.call(0, "reference")
    return player


def _part(whole: Script, kernel: str) -> Script:
    """The first call of a kernel alone, with the states that it needs written out."""
    calls = (call for call in whole.calls if call.kernel == kernel)
    call = next(call for call in calls if not isinstance(call.due, Raised))
    args = tuple(whole.value(arg) for arg in call.args)
    return replace(whole, calls=[replace(call, args=args)])


def _growth(work: Callable[[], object], most: int) -> str:
    """What is left behind each time, in words, or nothing."""
    _repeated(work, most // 5)
    leak = ""
    for _ in range(_TIMES):
        before = _now()
        times = _repeated(work, most)
        blocks, held = (now - then for now, then in zip(_now(), before, strict=True))
        if blocks > _BLOCKS_A_CALL * times:
            leak = f"{blocks} blocks of Python's memory in {times} of them"
        elif held > _BYTES_A_CALL * times:
            leak = f"{held >> 10} KiB in {times} of them"
        else:
            return ""
    return leak


def _repeated(work: Callable[[], object], most: int) -> int:
    """Do the work many times, and say how often."""
    until = time.perf_counter() + _SECONDS
    for number in range(most):
        work()
        if number >= _LEAST and time.perf_counter() > until:
            return number + 1
    return most


def _now() -> tuple[int, int]:
    gc.collect()
    return sys.getallocatedblocks(), held_bytes()


class _Malloc(ctypes.Structure):
    """What the C library tells of its memory (``struct mallinfo2``)."""

    _names = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks")
    _fields_: ClassVar = [(name, ctypes.c_size_t) for name in (*_names, "fordblks", "keepcost")]


def held_bytes() -> int:
    """The bytes that are allocated now: by the C library's count, else what the process has.

    What the process has does not grow as long as a leak fits into memory that was freed before.

    Spec: none (a measurement)
    """
    try:
        tell = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):  # another C library
        return resident()
    tell.restype = _Malloc
    usage = tell()
    return int(usage.uordblks) + int(usage.hblkhd)


def resident() -> int:
    """The bytes of memory that this process has, 0 where the system does not tell.

    Spec: none (a measurement)
    """
    try:
        with open(_STATM, encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
