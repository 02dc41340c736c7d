"""Steps of k-means and seeding over a grid of d, K and kinds of numbers: the reference's answers.

A process of its own runs this for each number of lanes (see ``test_numba_lanes``). The sizes stand
around the multiples at which whole vectors, groups of centres and blocks of rows begin and end.
"""

from __future__ import annotations

import random
import sys
from array import array
from collections.abc import Iterator
from typing import Any

from refclust_numba.prepared import Rows
from refclust_numba.registry import FUNCTIONS

from refclust.data.dataset import Dataset, dense
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS

COLUMNS = (1, 2, 3, 4, 5, 7, 8, 9, 11, 15, 16, 17)
CENTRES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17)
BLOCKS = (12, 24, 64)  # rows of a block, for 4, 8 and 16 lanes
METRICS = ("euclidean", "cosine")


def table(n: int, d: int, kind: str, seed: int) -> Dataset:
    """Rows of a cloud, some of them twice."""
    draw = random.Random(seed)
    values = [draw.uniform(-10.0, 10.0) for _ in range(n * d)]
    if n > 4:
        values[-d:] = values[:d]
    return dense(array(kind, values), d)


def same(name: str, data: tuple[Any, Any], *args: Any, other: Any = None) -> tuple[Any, Any]:
    """The answers of both, which must be equal by the kernel's contract."""
    due = KERNELS[name].reference(data[0], *args)
    answer = FUNCTIONS[name](data[1], *(args if other is None else other))
    fault = KERNELS[name].contract.fault(due, answer)
    if fault is not None:
        raise SystemExit(f"{name}, n={data[0].n}, d={data[0].d}: {fault}")
    return due, answer


def sums(kind: str) -> int:
    """The sums of all clusters for every K: what is added, and then what moves."""
    count = 0
    for d in COLUMNS:
        n = 45
        data = table(n, d, kind, d)
        points, rows = Points(data), Rows(data)
        for k in range(1, 67):
            labels = array("i", [i * 7 % k for i in range(n)])
            same("kmeans.accumulate", (points, rows), labels, k)
            count += 1
    return count


def steps(kind: str, metric: str) -> int:
    """Three steps each, so that rows are labelled, moved, and left alone for their margins."""
    count = 0
    for n, d, k in sizes():
        data = table(n, d, kind, n + d)
        both = Points(data), Rows(data)
        centres: Any = CentreMatrix.of([both[0].whole_row(i) for i in range(min(k, n))])
        due = made = None
        for _ in range(3):
            due, made = same(
                "kmeans.lloyd_step", both, centres, due, metric, other=(centres, made, metric)
            )
            means, _ = same("kmeans.means", both, due.sums, other=(made.sums,))
            centres = CentreMatrix.flat(means, d)
            if metric == "cosine" and not all(any(centre) for centre in centres):
                break
        count += 1
    return count


def starts(kind: str) -> int:
    """Greedy seeding: distances, draws, and which of some candidates is best."""
    count = 0
    for n, d, k in sizes():
        if k not in (2, 5) or n < k:
            continue
        data = table(n, d, kind, n * d)
        both = Points(data), Rows(data)
        due = made = None
        for at in range(k):
            row = at * 5 % n
            centre = both[0].whole_row(row)
            due, made = same("seeding.potential", both, centre, due, other=(centre, made))
            asked = tuple(i * 3 % n for i in range(at + 3))
            same("seeding.best_candidate", both, due, asked, other=(made, asked))
            same("seeding.locate", both, due, 0.618, "squares", other=(made, 0.618, "squares"))
            same("seeding.farthest", both, due, other=(made,))
        count += 1
    return count


def sizes() -> Iterator[tuple[int, int, int]]:
    """n, d, K: every d with every K, and every n with some of both."""
    for d in COLUMNS:
        for k in CENTRES:
            yield 40 + d, d, k
    for block in BLOCKS:
        for n in (1, 2, block - 1, block, block + 1, 2 * block, 2 * block + 1):
            for d, k in ((1, 3), (2, 16), (3, 5), (5, 31), (9, 2), (16, 8), (33, 4)):
                yield n, d, k


def main() -> None:
    """Run all, and say how many cases there were."""
    count = 0
    for kind in "df":
        count += sums(kind) + starts(kind)
        count += sum(steps(kind, metric) for metric in METRICS)
    sys.stdout.write(f"{count} cases are equal\n")


if __name__ == "__main__":
    main()
