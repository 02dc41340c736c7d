"""Random fits on every backend: ``python -m tests.fits --fits 10000``.

K-means, trees and tables must be the reference's bit for bit, errors included; of mixtures and
their twins every call of every kernel must keep its bound, and the number of threads must change
no bit. A build is ``numpy``, ``numba`` (the machine's own vectors), ``numba:8`` (so many lanes) or
``numba:generic`` (no extensions of the processor at all); each runs in processes of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from typing import Any

BUILDS = ("numpy", "numba:4", "numba:8", "numba:16", "numba:generic")


def main() -> int:
    """Run the fits of one build, or of all builds in processes of their own."""
    parser = argparse.ArgumentParser(prog="python -m tests.fits", description=__doc__)
    parser.add_argument("--fits", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first fit")
    parser.add_argument("--step", type=int, default=1, help="take every so many-th fit")
    parser.add_argument("--build", action="append", default=None, help=", ".join(BUILDS))
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--worker", default=None, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.worker:
        return _worker(asked)
    return _all(asked, tuple(asked.build or BUILDS))


def _worker(asked: argparse.Namespace) -> int:
    from tests.fits.running import tried

    for number in range(asked.first, asked.first + asked.fits, asked.step):
        print(json.dumps(tried(asked.worker, asked.seed, number)), flush=True)
    return 0


def _environment(build: str) -> dict[str, str]:
    _, _, width = build.partition(":")
    chosen = {"generic": {"NUMBA_CPU_NAME": "generic"}, "": {}}
    return {**os.environ, **chosen.get(width, {"REFCLUST_NUMBA_LANES": width})}


def _all(asked: argparse.Namespace, builds: tuple[str, ...]) -> int:
    """Every fit runs on NumPy and on one of the widths of Numba in turn, or on all builds named."""
    widths = [build for build in builds if build.startswith("numba")] if not asked.build else []
    waiting = [
        (build, asked.first + (widths.index(build) if build in widths else 0),
         len(widths) if build in widths else 1)
        for build in builds
    ]  # fmt: skip
    started, counts, faults = time.perf_counter(), Counter[tuple[str, str, str]](), 0
    running: list[tuple[str, subprocess.Popen[str]]] = []
    while waiting or running:
        while waiting and len(running) < asked.jobs:
            build, first, step = waiting.pop(0)
            command = [sys.executable, "-m", "tests.fits", "--worker", build.partition(":")[0],
                       "--fits", str(asked.fits - (first - asked.first)), "--first", str(first),
                       "--step", str(step), "--seed", str(asked.seed)]  # fmt: skip
            child = subprocess.Popen(
                command, env=_environment(build), stdout=subprocess.PIPE, text=True
            )
            running.append((build, child))
        build, child = running.pop(0)
        lines, _ = child.communicate()
        for line in lines.splitlines():
            faults += _noted(build, json.loads(line), counts)
        if child.returncode:
            faults += 1
            print(f"{build}: the process ended with {child.returncode}")
    _table(counts)
    total = sum(counts.values())
    print(f"{total} fits, {faults} faults, {time.perf_counter() - started:.0f} s")
    return 1 if faults else 0


def _noted(build: str, outcome: dict[str, Any], counts: Counter[tuple[str, str, str]]) -> int:
    counts[build, outcome["family"], outcome["ended"]] += 1
    if outcome["fault"]:
        print(f"{build}, fit {outcome['number']}: {outcome['told']}\n    {outcome['fault']}")
    return 1 if outcome["fault"] else 0


def _table(counts: Counter[tuple[str, str, str]]) -> None:
    for build in sorted({key[0] for key in counts}):
        for family in sorted({key[1] for key in counts if key[0] == build}):
            ends = {key[2]: n for key, n in counts.items() if key[:2] == (build, family)}
            told = ", ".join(f"{name} {n}" for name, n in sorted(ends.items()))
            print(f"{build:14} {family:16} {told}")


if __name__ == "__main__":
    raise SystemExit(main())
