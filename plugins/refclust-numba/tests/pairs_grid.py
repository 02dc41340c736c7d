"""Passes over pairs on a grid of sizes: within the contract, and digests that all builds share.

Sizes stand around strands, chains of additions and chunks of rows. Data are made of integers, so
that nothing but the compiled code decides a bit.
"""

from __future__ import annotations

import hashlib
import random
from array import array
from collections.abc import Iterator
from typing import Any

from refclust_numba.lowlevel.threads import limited
from refclust_numba.prepared import Rows
from refclust_numba.registry import FUNCTIONS

from refclust.data.dataset import Dataset, dense
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import accumulate
from refclust.kernels.pairs.fine import split_means
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS

# n, d, K, threads
SHAPES = (
    *((n, 3, 2, 1) for n in (1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65)),
    *((40, d, 3, 2) for d in (1, 2, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 33)),
    *((45, 2, k, 2) for k in (1, 4, 8, 44, 45, 46, 70)),
    *((n, 2, 1, threads) for n in (255, 256, 257, 300, 513) for threads in (1, 2, 3)),
    *((n, 2, 3, threads) for n in (127, 129, 400, 701) for threads in (1, 2)),
    *((1100, 2, 3, threads) for threads in (1, 3)),
    (4099, 5, 3, 2),
)
KINDS = ("plain", "far", "equal", "singles", "weights")


def table(n: int, d: int, kind: str) -> Dataset:
    """Rows of multiples of 2**-20, of all kinds."""
    draw = random.Random(f"{n} {d} {kind}")
    offset = 2.0**33 if kind == "far" else 0.0
    steps = 3 if kind == "equal" else 1 << 22
    values = [offset + draw.randrange(-steps, steps + 1) / (1 << 20) for _ in range(n * d)]
    weights = [draw.randrange(9) / 8 for _ in range(n)]
    weights[0] = 1.0
    known = memoryview(array("d", weights)).toreadonly() if kind == "weights" else None
    return dense(array("f" if kind == "singles" else "d", values), d, weights=known)


def calls(data: Dataset, k: int) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The kernels and their arguments."""
    labels = array("i", ((i * i + i // 3) % k for i in range(data.n)))
    if data.n < 2000:
        yield "silhouette.distance_sums", (labels, k)
        yield "pairs.extremes", (labels, k)
    if data.n < 600:
        yield "silhouette.fine_sums", (labels, k)
    means: tuple[CentreMatrix, CentreMatrix] = split_means(accumulate(Points(data), labels, k))
    yield "scatter.centre_distances", (labels, *means)


def problems() -> Iterator[tuple[str, int, int, int, int]]:
    """All kinds in all shapes, large ones of one kind only."""
    for kind in KINDS:
        for shape in SHAPES:
            if kind == "weights" or shape[0] < 1000:
                yield kind, *shape


def faults() -> Iterator[str]:
    """What is wrong with any answer."""
    for kind, n, d, k, threads in problems():
        data = table(n, d, kind)
        points, rows = Points(data), Rows(data)
        for kernel, args in calls(data, k):
            due = KERNELS[kernel].reference(points, *args)
            with limited(threads):
                answer = FUNCTIONS[kernel](rows, *args)
            contract: Any = KERNELS[kernel].contract
            if hasattr(contract, "judged"):
                fault = contract.judged(points, args, due, answer)
            else:
                fault = contract.fault(due, answer)
            if fault is not None:
                yield f"{kernel} {kind} n={n} d={d} k={k}: {fault}"


def lines() -> Iterator[str]:
    """One digest for each problem; the number of threads is no part of its name."""
    for kind, n, d, k, threads in problems():
        data, content = table(n, d, kind), hashlib.sha256()
        rows = Rows(data)
        for kernel, args in calls(data, k):
            with limited(threads):
                content.update(memoryview(FUNCTIONS[kernel](rows, *args)).tobytes())
        yield f"pairs {kind} n={n} d={d} k={k}: {content.hexdigest()}"
