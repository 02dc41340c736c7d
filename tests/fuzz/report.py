"""What a run found, target by target: figures, codes, findings with the words that repeat them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.fuzz.cases import ACCEPTED, Target
from tests.fuzz.performing import Finding
from tests.fuzz.watching import Outcome


@dataclass(slots=True)
class Found:
    """One fault: its first input, how often it came, and where the case was saved."""

    finding: Finding
    number: int
    times: int = 1
    saved: str = ""


@dataclass(slots=True)
class Tally:
    """The figures of one target."""

    target: Target
    seed: int
    seconds: float = 0.0
    codes: Counter[str] = field(default_factory=Counter)
    found: dict[str, Found] = field(default_factory=dict)
    slowest: tuple[float, int] = (0.0, -1)
    highest: tuple[int, int] = (0, -1)  # bytes beyond the start, and the input that reached them

    @property
    def inputs(self) -> int:
        """How many inputs were run."""
        return self.codes.total()

    @property
    def accepted(self) -> float:
        """The share of inputs that were accepted."""
        return self.codes[ACCEPTED] / self.inputs if self.inputs else 0.0

    def add(self, outcome: Outcome) -> bool:
        """Count an outcome; say whether it is a fault that was not seen before."""
        self.codes[outcome.code if outcome.finding is None else "FINDING"] += 1
        self.slowest = max(self.slowest, (outcome.seconds, outcome.number))
        if outcome.above > self.highest[0]:
            self.highest = outcome.above, outcome.number
        if outcome.finding is None:
            return False
        known = self.found.get(outcome.finding.key)
        if known is not None:
            known.times += 1
            return False
        self.found[outcome.finding.key] = Found(outcome.finding, outcome.number)
        return True


def row(tally: Tally) -> str:
    """The figures of a target in one line.

    Exit codes and error codes follow, the most frequent first.
    """
    speed = tally.inputs / tally.seconds if tally.seconds else 0.0
    codes = ", ".join(f"{code} {count}" for code, count in tally.codes.most_common(8))
    more = len(tally.codes) - 8
    few = "" if tally.accepted >= tally.target.least else " (too few)"
    return (
        f"{tally.target.name:<13} {tally.inputs:>8,} inputs {tally.seconds:>7.1f} s "
        f"{speed:>7,.0f}/s  accepted {tally.accepted:>4.0%}{few}  faults {len(tally.found)}  "
        f"slowest {tally.slowest[0]:.2f} s (#{tally.slowest[1]})  "
        f"memory +{tally.highest[0] >> 20} MiB (#{tally.highest[1]})\n"
        f"    {codes}{f' and {more} more codes' if more > 0 else ''}"
    )


def told(tally: Tally, found: Found) -> str:
    """A fault with the words that repeat it."""
    name = f"{tally.target.name}:{tally.seed}:{found.number}"
    lines = [
        f"FINDING {found.finding.key} ({found.times} time{'s' * (found.times > 1)})",
        f"    {found.finding.told}",
        f"    python -m tests.fuzz --replay {name}",
    ]
    if found.saved:
        lines.append(f"    python -m tests.fuzz --replay {found.saved}")
    return "\n".join(lines)


def summary(tallies: Iterable[Tally]) -> str:
    """All targets in one line."""
    every = list(tallies)
    inputs, seconds = sum(one.inputs for one in every), sum(one.seconds for one in every)
    faults = sum(len(one.found) for one in every)
    slowest = max((one.slowest[0] for one in every), default=0.0)
    memory = max((one.highest[0] for one in every), default=0) >> 20
    return (
        f"{inputs:,} inputs over {len(every)} targets in {seconds:.0f} s: {faults} faults, "
        f"slowest input {slowest:.2f} s, memory +{memory} MiB"
    )
