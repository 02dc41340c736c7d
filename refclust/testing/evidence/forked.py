"""Something run in a forked process, with limits, that tells its results line by line.

Who judges changes of definitions and who judges changes of backends runs them here.
"""

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

MEMORY: Final = 8 << 30
_PATIENCE: Final = 8  # times the limit of the processor, on a machine that is shared


@dataclass(slots=True)
class Child:
    """A forked process; ``end`` says how it ended: "", "timeout", or what went wrong.

    ``seconds`` are those of the processor: they do not depend on what else the machine does.
    """

    number: int
    reading: int
    patience: float
    end: str = ""
    seconds: float = 0.0

    def lines(self) -> Iterator[Any]:
        """What the process tells, until it ends or is silent for too long."""
        rest, ended = b"", False
        try:
            while True:
                wait = None if math.isinf(self.patience) else self.patience
                ready, _, _ = select.select([self.reading], [], [], wait)
                if not ready:
                    self.end = "timeout"
                    break
                chunk = os.read(self.reading, 1 << 16)
                if not chunk:
                    ended = True
                    break
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    message = json.loads(line)
                    if isinstance(message, dict) and "raised" in message:
                        self.end = message["raised"]
                    else:
                        yield message
        finally:
            self._close(ended)

    def _close(self, ended: bool) -> None:
        os.close(self.reading)
        if not ended:
            os.killpg(self.number, signal.SIGKILL)
        _, status, used = os.wait4(self.number, 0)
        self.seconds = round(used.ru_utime + used.ru_stime, 2)
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGXCPU:
            self.end = "timeout"
        elif code and not self.end:
            self.end = f"it ended with {code}"


def ran(
    run: Callable[[Tell], None], limit: float = math.inf, *, memory: int = MEMORY
) -> tuple[list[Any], str, float]:
    """Run something to its end: the lines it told, how it ended ("" if well), its seconds."""
    child = start(run, limit, memory=memory)
    lines = list(child.lines())
    return lines, child.end, child.seconds


def start(run: Callable[[Tell], None], limit: float = math.inf, *, memory: int = MEMORY) -> Child:
    """Run something in a forked process; the limit is in seconds of the processor.

    One that waits for ever is ended by the clock, much later than it told something.
    """
    reading, writing = os.pipe()
    number = os.fork()
    if number == 0:
        code = 1
        try:
            os.close(reading)
            os.setsid()
            _limit(memory)
            allow(limit)
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
    return Child(number, reading, _PATIENCE * limit)


def allow(seconds: float) -> None:
    """Let this process use the processor for some seconds more, whatever it has used so far."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    if not math.isinf(seconds):
        used = math.ceil(time.process_time() + seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (used, most))


def _limit(memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    own = memory if most == resource.RLIM_INFINITY else min(memory, most)
    resource.setrlimit(resource.RLIMIT_AS, (own, most))
