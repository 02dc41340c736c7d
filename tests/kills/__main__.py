"""Kills at random moments: ``python -m tests.kills --kills 100``.

For every kind of fit that keeps checkpoints and every backend, so many processes are killed
(SIGKILL, now and then SIGTERM or SIGINT), also while they write and while they resume. Each fit is
resumed until it ends, and must leave the very files of one that nobody killed, and no others.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.kills import fits


def main() -> int:
    """Run the stories of one kind on one backend, or of all in processes of their own."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="for each kind and backend")
    parser.add_argument("--kind", action="append", choices=fits.KINDS)
    parser.add_argument("--backend", action="append", choices=fits.BACKENDS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--worker", default=None, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    return _worker(asked) if asked.worker else _all(asked)


def _worker(asked: argparse.Namespace) -> int:
    from tests.kills.stories import Stories

    os.environ["REFCLUST_THREADS"] = "1"  # no thread outlives a fork
    kind, _, backend = asked.worker.partition(":")
    # In memory if possible: a kill loses nothing that was written, and disks are slow.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="refclust-kills-", dir=memory) as name:
        folder = Path(name)
        fits.write_data(folder)
        # Verdicts on backends are no matter of these fits, and neither is the user's cache.
        os.environ["REFCLUST_CACHE_DIR"] = str(folder / "cache")
        stories = Stories(kind, backend, folder, random.Random(f"{asked.seed} {asked.worker}"))
        started = time.monotonic()
        stories.run(asked.kills)
        seconds = time.monotonic() - started
    told = {"counts": stories.counts, "faults": stories.faults, "seconds": seconds}
    print(json.dumps(told), flush=True)
    return 0


def _all(asked: argparse.Namespace) -> int:
    waiting = [
        f"{kind}:{backend}"
        for backend in asked.backend or fits.BACKENDS
        for kind in asked.kind or fits.KINDS
    ]
    running: list[tuple[str, subprocess.Popen[str]]] = []
    totals: dict[str, int] = {}
    faults, started = 0, time.monotonic()
    while waiting or running:
        while waiting and len(running) < asked.jobs:
            name = waiting.pop(0)
            command = [sys.executable, "-m", "tests.kills", "--worker", name]
            command += ["--kills", str(asked.kills), "--seed", str(asked.seed)]
            running.append((name, subprocess.Popen(command, stdout=subprocess.PIPE, text=True)))
        name, child = running.pop(0)
        out, _ = child.communicate()
        if child.returncode:
            faults += 1
            print(f"{name}: the process ended with {child.returncode}", flush=True)
            continue
        faults += _told(name, json.loads(out), totals)
    counted = ", ".join(f"{number} {what}" for what, number in totals.items())
    print(f"{counted}; {faults} faults, {time.monotonic() - started:.0f} s")
    return 1 if faults else 0


def _told(name: str, outcome: dict[str, Any], totals: dict[str, int]) -> int:
    for what, number in outcome["counts"].items():
        totals[what] = totals.get(what, 0) + number
    counted = ", ".join(f"{number} {what}" for what, number in outcome["counts"].items())
    print(f"{name:28} {counted}; {outcome['seconds']:.0f} s", flush=True)
    for fault in outcome["faults"]:
        print(f"    {fault}", flush=True)
    return len(outcome["faults"])


if __name__ == "__main__":
    raise SystemExit(main())
