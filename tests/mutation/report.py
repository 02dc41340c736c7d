"""What a mutation run found: the share killed of each module, and the survivors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist


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


def report(backend: str, rows: Iterable[Row], reasons: Mapping[str, str]) -> tuple[str, int]:
    """The report as text, and the number of survivors without a reason."""
    by_module: dict[str, list[Row]] = {}
    for row in rows:
        by_module.setdefault(row.module, []).append(row)
    lines = [
        f"{'module':22} mutants  quick  full  crash  time  equivalent  left  killed (95 %)  seconds"
    ]
    everything = [row for some in by_module.values() for row in some]
    for module, some in [*by_module.items(), ("all", everything)]:
        lines.append(_line(module, some, reasons))
    alive = [row for row in everything if row.fate == "survived"]
    for row in alive:
        unseen = "" if row.kernels else " (no kernel reaches it)"
        lines += ["", f"refclust_{backend}/{row.module}.py:{row.line}: {row.kind}{unseen}"]
        lines += [f"  - {line}" for line in row.before.splitlines()]
        lines += [f"  + {line}" for line in row.after.splitlines()]
        lines.append(f"  {row.key}: {reasons.get(row.key, 'no reason known')}")
    return "\n".join(lines), sum(row.key not in reasons for row in alive)


def _line(module: str, rows: list[Row], reasons: Mapping[str, str]) -> str:
    fates = Counter((row.fate, row.kit) if row.fate == "killed" else row.fate for row in rows)
    alive = [row for row in rows if row.fate == "survived"]
    same = sum(row.key in reasons for row in alive)
    killed, counted = len(rows) - len(alive), len(rows) - same
    low, high = wilson(killed, counted)
    share = f"{killed / counted:.0%} ({low:.0%} to {high:.0%})" if counted else "-"
    return (
        f"{module:22} {len(rows):7}  {fates['killed', 'quick']:5}  {fates['killed', 'full']:4}"
        f"  {fates['crashed']:5}  {fates['timeout']:4}  {same:10}  {len(alive) - same:4}"
        f"  {share:20} {sum(row.seconds for row in rows):7.0f}"
    )
