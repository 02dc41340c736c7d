"""What a mutation run found: the share killed of each module, and the survivors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from tests.mutation.changes import Mutant
from tests.mutation.judge import Step, Verdict


@dataclass(frozen=True, slots=True)
class Row:
    """One mutant and what became of it."""

    module: str
    key: str
    line: int
    kind: str
    before: str
    after: str
    kernels: int  # how many can see it
    fate: str
    kit: str
    told: str
    seconds: float
    judge: str = ""  # which kit it was


def row_of(module: str, mutant: Mutant, steps: Sequence[Step], verdict: Verdict, kit: str) -> Row:
    """What became of a mutant."""
    kernels = frozenset[str]().union(*(step.kernels for step in steps))
    return Row(
        module,
        mutant.key,
        mutant.line,
        mutant.kind,
        mutant.before,
        mutant.after,
        len(kernels),
        verdict.fate,
        verdict.kit,
        verdict.told,
        verdict.seconds,
        kit,
    )


def wilson(killed: int, of: int, level: float = 0.95) -> tuple[float, float]:
    """The interval of a share by Wilson's score.

    >>> tuple(round(end, 4) for end in wilson(36, 40))
    (0.7695, 0.9604)
    """
    if not of:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, scale = killed / of, 1 + z * z / of
    middle = (share + z * z / (2 * of)) / scale
    reach = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / scale
    # At the ends of the scale the interval ends there too, whatever rounding makes of it.
    return middle - reach if killed else 0.0, middle + reach if killed < of else 1.0


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a change changes no answer; it may still lose a short way to it."""

    text: str
    slower: bool = False

    def __str__(self) -> str:
        """The reason in words."""
        return f"slower: {self.text}" if self.slower else self.text


@dataclass(frozen=True, slots=True)
class Figures:
    """How many mutants of a module the short kit killed, the long one, and what survived.

    The long kit is asked about survivors of the short one only, and not about all of them.
    """

    backend: str
    module: str
    mutants: int
    short: int
    long: int
    equivalent: int
    slower: int
    left: int

    def share(self) -> tuple[float, float, float]:
        """The share killed of those that change an answer, and its interval."""
        killed, of = self.short + self.long, self.mutants - self.equivalent - self.slower
        return (killed / of if of else 1.0, *wilson(killed, of))


def report(backend: str, rows: Iterable[Row], reasons: Mapping[str, Reason]) -> tuple[str, int]:
    """The report as text, and the number of survivors without a reason."""
    by_module: dict[str, list[Row]] = {}
    for row in rows:
        by_module.setdefault(row.module, []).append(row)
    lines = [
        f"{'module':22} mutants  quick  full  crash  time  equivalent  slower  left  "
        f"{'killed (95 %)':20} {'of changed answers':20} seconds"
    ]
    everything = [row for some in by_module.values() for row in some]
    for module, some in [*by_module.items(), ("all", everything)]:
        lines.append(_line(module, some, reasons))
    judges = Counter(row.judge for row in everything)
    if len(judges) > 1:
        told = (f"{judge} ({count})" for judge, count in judges.items())
        lines.append(f"verdicts of several kits: {', '.join(told)}")
    alive = [row for row in everything if row.fate == "survived"]
    for row in alive:
        unseen = "" if row.kernels else " (no kernel reaches it)"
        lines += ["", f"refclust_{backend}/{row.module}.py:{row.line}: {row.kind}{unseen}"]
        lines += [f"  - {line}" for line in row.before.splitlines()]
        lines += [f"  + {line}" for line in row.after.splitlines()]
        lines.append(f"  {row.key}: {reasons.get(row.key, 'no reason known')}")
    return "\n".join(lines), sum(row.key not in reasons for row in alive)


def figures(backend: str, rows: Iterable[Row], reasons: Mapping[str, Reason]) -> list[Figures]:
    """What became of the mutants of each module, to be kept."""
    by_module: dict[str, list[Row]] = {}
    for row in rows:
        by_module.setdefault(row.module, []).append(row)
    return [_figures(backend, module, some, reasons) for module, some in by_module.items()]


def _figures(backend: str, module: str, rows: list[Row], reasons: Mapping[str, Reason]) -> Figures:
    alive = [row for row in rows if row.fate == "survived"]
    known = [reasons[row.key] for row in alive if row.key in reasons]
    slower = sum(reason.slower for reason in known)
    long = sum(row.kit == "full" for row in rows if row.fate != "survived")
    return Figures(
        backend=backend,
        module=module,
        mutants=len(rows),
        short=len(rows) - len(alive) - long,
        long=long,
        equivalent=len(known) - slower,
        slower=slower,
        left=len(alive) - len(known),
    )


def _line(module: str, rows: list[Row], reasons: Mapping[str, Reason]) -> str:
    fates = Counter((row.fate, row.kit) if row.fate == "killed" else row.fate for row in rows)
    alive = [row for row in rows if row.fate == "survived"]
    known = [reasons[row.key] for row in alive if row.key in reasons]
    slower = sum(reason.slower for reason in known)
    same, killed = len(known) - slower, len(rows) - len(alive)
    # A change that only makes an answer late is missed, too, though the answer is right.
    shares = [_share(killed, len(rows) - same), _share(killed, len(rows) - len(known))]
    return (
        f"{module:22} {len(rows):7}  {fates['killed', 'quick']:5}  {fates['killed', 'full']:4}"
        f"  {fates['crashed']:5}  {fates['timeout']:4}  {same:10}  {slower:6}"
        f"  {len(alive) - len(known):4}  {shares[0]:20} {shares[1]:20}"
        f" {sum(row.seconds for row in rows):7.0f}"
    )


def _share(killed: int, counted: int) -> str:
    low, high = wilson(killed, counted)
    return f"{killed / counted:.0%} ({low:.0%} to {high:.0%})" if counted else "-"
