"""Fuzz refclust: ``python -m tests.fuzz [TARGET ...] [--minutes M] [--inputs N] [--replay CASE]``.

Exit 1 if there is a fault: an exception that is not refclust's own, an input that takes more than
ten seconds or more than the stated memory, or a promise that is not kept.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz import report
from tests.fuzz.cases import Case, Target, case_of, read, written
from tests.fuzz.minimising import minimised
from tests.fuzz.report import Tally
from tests.fuzz.targets import checks, targets
from tests.fuzz.watching import SLOW, Bounds, outcomes, tried

_ENDLESS = 1 << 62


def main(arguments: Sequence[str] | None = None, known: Sequence[Target] | None = None) -> int:
    """Fuzz the targets named, or all; return 1 if there is a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", nargs="*", help="[all; --list names them]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inputs", type=int, help="in all, shared out by the speed of targets")
    parser.add_argument("--minutes", type=float, help="in all, the same for each target [3]")
    parser.add_argument(
        "--memory", default="2g", metavar="BYTES", help="that an input may take [2g]"
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="that an input may take [10]")
    parser.add_argument("--replay", metavar="T:S:I|FILE", help="run one input again")
    parser.add_argument("--save", default="fuzz-findings", metavar="DIR", help="[fuzz-findings]")
    parser.add_argument("--no-pipes", action="store_true", help="do not read through pipes, too")
    parser.add_argument("--list", action="store_true", help="name the targets")
    asked = parser.parse_args(arguments)
    every = {one.name: one for one in (targets() if known is None else known)}
    if asked.list:
        print("\n".join(every))
        return 0
    strangers = [name for name in asked.target if name not in every]
    if strangers:
        parser.error(f"no target is called {strangers[0]!r}; there are: {', '.join(every)}")
    checks.PIPES = not asked.no_pipes
    bounds = Bounds(asked.seconds, _size(asked.memory))
    if asked.replay:
        return _replayed(asked.replay, every, bounds)
    chosen = [every[name] for name in asked.target or every]
    return _all(chosen, asked, bounds)


def _all(chosen: list[Target], asked: argparse.Namespace, bounds: Bounds) -> int:
    minutes = asked.minutes if asked.minutes is not None or asked.inputs else 3.0
    shares = sum(one.share for one in chosen)
    tallies = []
    for target in chosen:
        count = -(-asked.inputs * target.share // shares) if asked.inputs else _ENDLESS
        seconds = float("inf") if minutes is None else 60 * minutes / len(chosen)
        tally = fuzzed(target, asked.seed, count, seconds, bounds)
        tallies.append(tally)
        for found in tally.found.values():
            found.saved = _saved(tally, found, bounds, Path(asked.save))
            print(report.told(tally, found), flush=True)
        print(report.row(tally), flush=True)
    print(report.summary(tallies))
    return 1 if any(tally.found for tally in tallies) else 0


def fuzzed(target: Target, seed: int, count: int, seconds: float, bounds: Bounds) -> Tally:
    """Run so many inputs of one target, or so many seconds of them."""
    os.environ.update(bounds.environment())
    target.prepare()
    tally = Tally(target, seed)
    begun = time.monotonic()
    for outcome in outcomes(target, seed, range(count), bounds, begun + seconds):
        tally.add(outcome)
    tally.seconds = time.monotonic() - begun
    return tally


def _saved(tally: Tally, found: report.Found, bounds: Bounds, folder: Path) -> str:
    """Make the case of a fault smaller and save it."""
    case = case_of(tally.target, tally.seed, found.number)
    # A slow input stays slow in each trial, and an expectation holds for the whole document only.
    if found.finding.what != SLOW and "expected" not in case.call:

        def same(smaller: Case) -> bool:
            finding = tried(tally.target, smaller, bounds).finding
            return finding is not None and finding.key == found.finding.key

        case = minimised(case, same)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{tally.target.name}-{tally.seed}-{found.number}.json"
    path.write_text(written(tally.target.name, case, found.finding.key), encoding="utf-8")
    return str(path)


def _replayed(text: str, every: dict[str, Target], bounds: Bounds) -> int:
    os.environ.update(bounds.environment())
    if Path(text).is_file():
        name, case = read(Path(text).read_text(encoding="utf-8"))
        target = every[name]
        target.prepare()
    else:
        name, seed, number = text.split(":")
        target = every[name]
        target.prepare()
        case = case_of(target, int(seed), int(number))
    print(written(name, case, "")[:4000])
    outcome = tried(target, case, bounds)
    finding = outcome.finding
    told = outcome.code if finding is None else f"FINDING {finding.key}\n    {finding.told}"
    print(f"{told}\n{outcome.seconds:.2f} s, memory +{outcome.above >> 20} MiB")
    return 0 if finding is None else 1


def _size(text: str) -> int:
    units = {"k": 10, "m": 20, "g": 30}
    return int(text[:-1]) << units[text[-1].lower()] if text[-1:].lower() in units else int(text)


if __name__ == "__main__":
    sys.exit(main())
