"""How near to the best the default start of k-means ends, beside older defaults and a peer's.

``python -m tests.starts --data DIR`` takes every CSV file of a folder that has numbers and a column
``label`` or ``labels0``, with as many clusters as there are labels, as it is and standardised, and
eight clear clusters of 20,000 rows that it makes itself. Every way to start is run once for each
seed; what is told is RSS divided by the best that any run reached, restarts included. It ends
with 1 if the default is on average, or at worst, worse than the peer's.
"""

from __future__ import annotations

import argparse
import csv
import math
import random
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import refclust
from refclust.backends.session import Session
from refclust.data.dataset import Dataset, dense

MANY: Final = 50  # runs that look for the best
_OLD: Final = "k-means++"  # the default of version 0.2
Contender = Callable[[Dataset, int, int], float]  # rows, K and a seed to RSS


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows, how many clusters they should have, and what to call them."""

    name: str
    rows: Dataset
    k: int


@dataclass(slots=True)
class Tally:
    """What one contender reached: RSS of every problem and seed, and the seconds it took."""

    sums: dict[str, list[float]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


def problems(folder: Path) -> Iterator[Problem]:
    """Every labelled CSV file of numbers, raw and standardised; then the clear clusters."""
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as lines:
            head, *body = list(csv.reader(lines))
        truth = next((name for name in ("label", "labels0") if name in head), None)
        if truth is None:
            continue
        columns = [j for j, name in enumerate(head) if not name.startswith("label")]
        try:
            rows = [[float(line[j]) for j in columns] for line in body]
        except ValueError:
            continue  # words
        k = len({line[head.index(truth)] for line in body})
        yield Problem(path.stem, made(rows), k)
        yield Problem(f"{path.stem} standardised", made(standardised(rows)), k)
    yield Problem("eight clear clusters", made(clear_clusters()), 8)


def made(rows: Sequence[Sequence[float]]) -> Dataset:
    """Rows as a data set."""
    return dense(array("d", (x for row in rows for x in row)), len(rows[0]))


def standardised(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """Every column less its mean, divided by its deviation; constant columns stay zero."""
    columns = []
    for column in zip(*rows, strict=True):
        mean = math.fsum(column) / len(column)
        deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in column) / len(column))
        columns.append([(x - mean) / deviation if deviation else 0.0 for x in column])
    return [list(row) for row in zip(*columns, strict=True)]


def clear_clusters(n: int = 20_000, d: int = 10, k: int = 8) -> list[list[float]]:
    """Normal clouds of deviation 1 around centres that are uniform in a cube of side 20."""
    numbers = random.Random(15)
    centres = [[numbers.uniform(-10, 10) for _ in range(d)] for _ in range(k)]
    return [[numbers.gauss(x, 1) for x in centres[i % k]] for i in range(n)]


def own(session: Session, **options: Any) -> Contender:
    """One run of ours."""

    def run(rows: Dataset, k: int, seed: int) -> float:
        return refclust.kmeans(rows, k, seed=seed, trace="none", session=session, **options).rss

    return run


def peer() -> Contender:
    """One fit of scikit-learn as it is called without options."""
    import numpy as np
    from sklearn.cluster import KMeans

    def run(rows: Dataset, k: int, seed: int) -> float:
        matrix: Any = rows.matrix
        table = np.asarray(matrix.values, dtype=float).reshape(rows.n, rows.d)
        return float(KMeans(n_clusters=k, random_state=seed).fit(table).inertia_)

    return run


def measured(problem: Problem, contenders: Mapping[str, Contender], seeds: int) -> dict[str, Tally]:
    """Run all contenders on one problem."""
    tallies = {name: Tally() for name in contenders}
    for name, contender in contenders.items():
        contender(problem.rows, problem.k, 0)  # what is compiled or checked first is not timed
        begin = time.perf_counter()
        sums = [contender(problem.rows, problem.k, seed) for seed in range(seeds)]
        tallies[name].seconds[problem.name] = time.perf_counter() - begin
        tallies[name].sums[problem.name] = sums
    return tallies


def report(best: Mapping[str, float], tallies: Mapping[str, Tally], seeds: int) -> list[str]:
    """Mean and worst ratio to the best, and seconds a run, of every problem and of all together."""
    width = max(map(len, [*best, "all"]))
    lines = [f"{'':{width}}" + "".join(f"  {name:>27}" for name in tallies)]
    lines.append(f"{'':{width}}" + f"  {'mean':>8} {'worst':>8} {'ms':>9}" * len(tallies))
    for problem, least in best.items():
        cells = []
        for tally in tallies.values():
            ratios = [rss / least for rss in tally.sums[problem]]
            milliseconds = 1000 * tally.seconds[problem] / seeds
            cells.append(f"  {mean(ratios):8.4f} {max(ratios):8.4f} {milliseconds:9.1f}")
        lines.append(f"{problem:{width}}" + "".join(cells))
    cells = []
    for tally in tallies.values():
        average, worst = overall(best, tally)
        milliseconds = 1000 * sum(tally.seconds.values()) / seeds
        cells.append(f"  {average:8.4f} {worst:8.4f} {milliseconds:9.1f}")
    return [*lines, f"{'all':{width}}" + "".join(cells)]


def overall(best: Mapping[str, float], tally: Tally) -> tuple[float, float]:
    """The mean and the worst ratio over all problems and seeds."""
    ratios = [rss / best[name] for name, sums in tally.sums.items() for rss in sums]
    return mean(ratios), max(ratios)


def mean(numbers: Sequence[float]) -> float:
    """The arithmetic mean."""
    return math.fsum(numbers) / len(numbers)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, report and judge."""
    parser = argparse.ArgumentParser(prog="python -m tests.starts", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder of CSV files")
    parser.add_argument("--seeds", type=int, default=20, help="runs of each way to start [20]")
    parser.add_argument("--backend", default="numpy", help="where our kernels run [numpy]")
    asked = parser.parse_args(arguments)
    session = Session(asked.backend)
    contenders = {
        _OLD: own(session, start=_OLD),
        "default": own(session),
        "scikit-learn": peer(),
    }
    many = own(session, start="greedy", restarts=MANY)
    best: dict[str, float] = {}
    tallies = {name: Tally() for name in contenders}
    for problem in problems(asked.data):
        for name, tally in measured(problem, contenders, asked.seeds).items():
            tallies[name].sums |= tally.sums
            tallies[name].seconds |= tally.seconds
        reached = [rss for tally in tallies.values() for rss in tally.sums[problem.name]]
        best[problem.name] = min(many(problem.rows, problem.k, 1), *reached)
        print(problem.name, file=sys.stderr)
    print("\n".join(report(best, tallies, asked.seeds)))
    ours, theirs = (overall(best, tallies[name]) for name in ("default", "scikit-learn"))
    return int(ours[0] > theirs[0] or ours[1] > theirs[1])


if __name__ == "__main__":
    sys.exit(main())
