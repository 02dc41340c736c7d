"""Processes that run inputs under a limit of memory, and the parent that watches the clock.

A worker tells each input before it begins (in memory both share) and how it ended (through a
pipe). One that takes too long is killed and replaced by another that goes on behind that input.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import mmap
import os
import re
import resource
import select
import shutil
import signal
import struct
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from tests.fuzz.cases import Case, Ended, Target, case_of
from tests.fuzz.performing import Finding, performed, scratch

TWICE_EVERY: Final = 8
SLOW: Final = "too slow"
_FRAME: Final = re.compile(r'[/\\]refclust[/\\]([^"]*)", line \d+ in (\w+)')  # the innermost first
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_NOW: Final = struct.Struct("qd")
_TICK: Final = 0.05
ENVIRONMENT: Final = {
    "REFCLUST_BACKEND": "reference",
    "REFCLUST_DISABLE_PLUGINS": "1",
    "COLUMNS": "100",
    "NO_COLOR": "1",
}


@dataclass(frozen=True, slots=True)
class Bounds:
    """What an input may take."""

    seconds: float = 10.0
    memory: int = 2 << 30  # bytes, beyond what the process has before the first input

    def environment(self) -> dict[str, str]:
        """Limits of refclust itself that leave room below the limit of the process."""
        share = max(self.memory // 8, 1 << 20)
        told = f"memory={share},line={share // 4},columns={share // 64}"
        return {**ENVIRONMENT, "REFCLUST_LIMITS": os.environ.get("REFCLUST_LIMITS", told)}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one input went: its code or its finding, its time, and the memory of its process."""

    number: int
    code: str
    seconds: float
    above: int = 0  # the most bytes that its process has held so far, beyond those it began with
    finding: Finding | None = None


def outcomes(
    target: Target, seed: int, numbers: range, bounds: Bounds, until: float
) -> Iterator[Outcome]:
    """Run inputs in workers and yield how each went, until the numbers or the time are used up."""
    first = numbers.start
    while first < numbers.stop and time.monotonic() < until:
        worker = _Worker(lambda number: case_of(target, seed, number), target, bounds)
        worker.start(range(first, numbers.stop), until)
        try:
            for outcome in worker.watched():
                first = outcome.number + 1
                yield outcome
        finally:
            worker.end()
        first = max(first, worker.next)


def tried(target: Target, case: Case, bounds: Bounds) -> Outcome:
    """Run one case in a process of its own, twice."""
    worker = _Worker(lambda _: case, target, bounds)
    worker.start(range(1), time.monotonic() + 3 * bounds.seconds)
    try:
        return next(iter(worker.watched()))
    finally:
        worker.end()


class _Worker:
    """One forked process."""

    def __init__(self, make: Callable[[int], Case], target: Target, bounds: Bounds) -> None:
        self.make, self.target, self.bounds = make, target, bounds
        self.next = 0  # the input behind the last one that was begun
        self.pid = 0
        self.folder = scratch()
        self.shared = mmap.mmap(-1, _NOW.size)
        self.where = tempfile.TemporaryFile("w+")  # noqa: SIM115  (told by a child that takes too long)
        self.reading, self.writing = os.pipe()

    def start(self, numbers: range, until: float) -> None:
        """Fork; the child never comes back."""
        self.next = numbers.start
        self.shared[:] = _NOW.pack(-1, time.monotonic())
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads elsewhere
            self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                self._work(numbers, until)
                code = 0
            finally:
                os._exit(code)
        os.close(self.writing)

    def _work(self, numbers: range, until: float) -> None:
        os.close(self.reading)
        os.chdir(self.folder)
        os.environ.update(self.bounds.environment())
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        faulthandler.register(signal.SIGUSR1, file=self.where, all_threads=False)
        _silence()
        used = _bytes_of("self", 0)
        resource.setrlimit(resource.RLIMIT_AS, (used + self.bounds.memory,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        high = _highest()
        for number in numbers:
            case = self.make(number)
            if time.monotonic() > until:
                break
            ended = performed(
                self.target,
                case,
                twice=number % TWICE_EVERY == 0,
                clock=lambda number=number: self._clock(number),  # type: ignore[misc]
            )
            took = time.monotonic() - _NOW.unpack(self.shared[:])[1]
            self._clock(-1)
            self._tell(number, ended, took, _highest() - high)

    def _clock(self, number: int) -> None:
        """Tell the parent which input begins now."""
        self.shared[:] = _NOW.pack(number, time.monotonic())

    def _tell(self, number: int, ended: Ended | Finding, took: float, above: int) -> None:
        found = [ended.what, ended.where, ended.told] if isinstance(ended, Finding) else None
        code = ended.what if isinstance(ended, Finding) else ended.code
        line = json.dumps([number, code, round(took, 6), above, found]) + "\n"
        os.write(self.writing, line.encode())

    def watched(self) -> Iterator[Outcome]:
        """Yield what the child tells; kill it if an input takes too long."""
        rest = b""
        while True:
            ready, _, _ = select.select([self.reading], [], [], _TICK)
            if ready:
                piece = os.read(self.reading, 1 << 16)
                if not piece:
                    yield from self._ended()
                    return
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    outcome = _told(json.loads(line))
                    self.next = outcome.number + 1
                    yield outcome
                continue
            number, begun = _NOW.unpack(self.shared[:])
            took = time.monotonic() - begun
            size = _bytes_of(str(self.pid), 1)
            if number >= 0 and took > self.bounds.seconds:
                yield self._stopped(number, took, size)
                return

    def _stopped(self, number: int, took: float, size: int) -> Outcome:
        """Ask the child where it is, and kill it."""
        os.kill(self.pid, signal.SIGUSR1)
        time.sleep(_TICK)
        os.kill(self.pid, signal.SIGKILL)
        self.next = number + 1
        self.where.seek(0)
        inside = _FRAME.search(self.where.read())
        place = f"{inside[1]}:{inside[2]}" if inside else self.target.name
        finding = Finding(SLOW, place, f"{took:.1f} s, memory {size >> 20} MiB")
        return Outcome(number, SLOW, took, 0, finding)

    def _ended(self) -> Iterator[Outcome]:
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        code = os.waitstatus_to_exitcode(status)
        number, begun = _NOW.unpack(self.shared[:])
        if code and number >= 0:
            told = f"exit code {code}"
            what = f"died of {signal.Signals(-code).name}" if code < 0 else "the process ended"
            self.next = number + 1
            took = time.monotonic() - begun
            yield Outcome(number, what, took, 0, Finding(what, self.target.name, told))
        elif code:
            raise RuntimeError(f"the fuzzer itself failed: {self.target.name}, input {self.next}")

    def end(self) -> None:
        """Take the process and its folder away."""
        os.close(self.reading)
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self.shared.close()
        self.where.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _told(entry: list[Any]) -> Outcome:
    number, code, seconds, above, found = entry
    return Outcome(number, code, seconds, above, Finding(*found) if found else None)


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(nowhere, descriptor)
    if not os.environ.get("REFCLUST_FUZZ_STDERR"):
        os.dup2(nowhere, 2)


def _highest() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _bytes_of(process: str, field: int) -> int:
    """Address space (0) or resident memory (1) of a process; 0 where the system does not tell."""
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as stream:
            return int(stream.read().split()[field]) * _PAGE
    except OSError:
        return 0
