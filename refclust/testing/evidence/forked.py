"""Something run in a forked process, with limits, that tells its results line by line."""

from __future__ import annotations

import json
import math
import os
import resource
import select
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Tell: TypeAlias = Callable[[Any], None]

_MEMORY: Final = 8 << 30
_PATIENCE: Final = 8  # times the limit of the processor, on a machine that is shared


@dataclass(slots=True)
class Child:
    """A forked process; ``end`` says how it ended: "", "timeout", or what went wrong."""

    number: int
    reading: int
    deadline: float
    end: str = ""

    def lines(self) -> Iterator[Any]:
        """What the process tells, until it ends or its time is over."""
        rest = b""
        try:
            while True:
                wait = None if math.isinf(self.deadline) else self.deadline - time.monotonic()
                ready, _, _ = select.select(
                    [self.reading], [], [], None if wait is None else max(0.0, wait)
                )
                if not ready:
                    self.end = "timeout"
                    break
                chunk = os.read(self.reading, 1 << 16)
                if not chunk:
                    break
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    told = json.loads(line)
                    if isinstance(told, dict) and "raised" in told:
                        self.end = told["raised"]
                    else:
                        yield told
        finally:
            self._close()

    def _close(self) -> None:
        os.close(self.reading)
        done, status = os.waitpid(self.number, os.WNOHANG)
        if not done:
            if self.end == "":
                # Its pipe is closed: it ends by itself, unless it was left in the middle.
                time.sleep(0.01)
                done, status = os.waitpid(self.number, os.WNOHANG)
            if not done:
                os.killpg(self.number, signal.SIGKILL)
                _, status = os.waitpid(self.number, 0)
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGXCPU:
            self.end = "timeout"
        elif code and not self.end:
            self.end = f"it ended with {code}"


def start(run: Callable[[Tell], None], limit: float = math.inf) -> Child:
    """Run something in a forked process; the limit is in seconds of the processor.

    One that waits for ever is ended by the clock, much later.
    """
    reading, writing = os.pipe()
    number = os.fork()
    if number == 0:
        code = 1
        try:
            os.close(reading)
            os.setsid()
            _limit(limit)
            silent = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(silent, stream)
            with os.fdopen(writing, "w", encoding="utf-8") as out:

                def tell(value: Any) -> None:
                    out.write(json.dumps(value) + "\n")
                    out.flush()

                try:
                    run(tell)
                    code = 0
                except BaseException as error:
                    tell({"raised": f"{type(error).__name__}: {error}"})
        finally:
            os._exit(code)
    os.close(writing)
    return Child(number, reading, time.monotonic() + _PATIENCE * limit)


def _limit(seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    memory = _MEMORY if most == resource.RLIM_INFINITY else min(_MEMORY, most)
    resource.setrlimit(resource.RLIMIT_AS, (memory, most))
    if not math.isinf(seconds):
        whole = math.ceil(seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 5))
