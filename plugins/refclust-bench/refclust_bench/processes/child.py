"""A process that runs contenders on request: one JSON object a line in, one a line out.

It stays alive between runs, so that imports and compiled code are warm when time counts.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from refclust_bench import data
from refclust_bench.outcome import Outcome, Work
from refclust_bench.processes import machine


@dataclass(slots=True)
class _Ready:
    work: Work
    given: data.Input


class Worker:
    """Holds the contenders that were opened, and answers requests."""

    def __init__(self) -> None:
        self._ready: dict[str, _Ready] = {}
        self._inputs: dict[str, data.Input] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what is asked; trouble is an answer too."""
        doing: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "open": self._open,
            "run": self._run,
            "digest": self._digest,
        }
        used = machine.own_seconds()
        try:
            answer = doing[request["do"]](request)
            return {"ok": True, "cpu": machine.own_seconds() - used, **answer}
        except Exception as error:  # a contender may fail in any way, and the report tells how
            words = " ".join(f"{type(error).__name__}: {error}".split())
            return {"ok": False, "error": words[:500]}

    def _open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Import, warm up on tiny data, load the data."""
        started = time.perf_counter()
        module, _, name = request["place"].partition(":")
        maker = getattr(import_module(module), name)
        for options in request["warm_up"]:
            maker(data.read(Path(request["tiny"])), options).run()
        folder = request["folder"]
        if folder not in self._inputs:
            self._inputs.clear()
            self._ready.clear()  # of earlier data, which would count as memory
            self._inputs[folder] = data.read(Path(folder))
        inputs = self._inputs[folder]
        work = maker(inputs, request["options"])
        self._ready[request["key"]] = _Ready(work, inputs)
        if request.get("tidy"):
            machine.tidy()
        return {
            "digest": inputs.digest(),
            "ready_seconds": time.perf_counter() - started,
            "resident": machine.resident(),
            "warm_up_peak": machine.high_water(),
        }

    def _run(self, request: dict[str, Any]) -> dict[str, Any]:
        ready = self._ready[request["key"]]
        if request.get("tidy"):
            machine.tidy()
        machine.reset_high_water()
        started = time.perf_counter()
        answer = ready.work.run()
        seconds = time.perf_counter() - started
        # Of a process that has ended the system tells no less than its parent held.
        peak = None if ready.work.outside else machine.high_water()
        outcome = ready.work.told(answer)
        if request.get("labels") and outcome.labels is not None:
            Path(request["labels"]).write_bytes(outcome.labels.tobytes())
        return {"seconds": seconds, "peak": peak, **_plain(outcome)}

    def _digest(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"digest": self._ready[request["key"]].given.digest()}


def _plain(outcome: Outcome) -> dict[str, Any]:
    return {
        "iterations": outcome.iterations,
        "value": None if outcome.value is None else outcome.value.hex(),
        "result": outcome.digest(),
        "details": dict(outcome.details),
    }


def serve(requests: Iterable[str], answers: TextIO) -> None:
    """Answer every request in turn."""
    worker = Worker()
    for line in requests:
        answers.write(json.dumps(worker.answer(json.loads(line))) + "\n")
        answers.flush()


def main() -> None:
    """Serve on stdin and stdout; whatever libraries print goes to stderr."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin, answers)
