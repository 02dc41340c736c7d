"""Many rows: beyond the blocks that nobody declares, huge cells, loads for several threads."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Final

from refclust.data.dataset import Dataset
from refclust.kernels.points import Vector
from refclust.testing.rungs import (
    Rung,
    blobs_of,
    dense_of,
    rung_of,
    sparse_of,
    weighted_singles,
)
from refclust.testing.rungs.passes import load as load_pairs

_PRIME: Final = 65521


def long() -> Iterable[Rung]:
    """Numbers of rows around the blocks of compiled code, stored in all ways."""
    why = "more rows than fit a block of 2^{}"
    for power in (13, 14, 15, 16, 17):
        n = (1 << power) + 1
        data = _many(n, power)
        rung = rung_of(f"rows-beyond-2^{power}", why.format(power), data, k=2 + power % 3)
        yield replace(rung, large=True)


def _many(n: int, turn: int) -> Dataset:
    """Small integers and quarters, so that the reference is quick: dense, weighted, sparse."""
    rows: list[Vector] = [((i * 7919) % 251 / 4, float((i * i) % 113)) for i in range(n)]
    weights = [float((i * 31) % _PRIME) / 8 for i in range(n)]
    if turn % 4 == 0:
        return dense_of(rows)
    if turn % 4 == 1:
        return weighted_singles(rows, weights)
    if turn % 4 == 2:
        return sparse_of(
            [{j: x for j, x in enumerate(row) if x} for row in rows], 2, weights=weights
        )
    return dense_of(rows, weights)


def cells() -> Iterable[Rung]:
    """Clusters of as many rows, or as much weight, as counters of 8 to 64 bits hold."""
    why = "clusters of {} rows, one less and one more"
    for bits in (8, 16):
        size = 1 << bits
        rungs = tuple(_of_size(n) for n in (size - 1, size, size + 1))
        yield Rung(f"clusters-of-2^{bits}", why.format(size), "several", rungs)
    why = "clusters whose weight is at the end of 31, 32, 53, 63 or 64 bits"
    rungs = tuple(_of_weight(bits) for bits in (31, 32, 53, 63, 64))
    yield Rung("heavy-clusters", why, "several", rungs, quick=True)


def _of_size(n: int) -> Rung:
    """One cluster of n rows and one of two, quickly told apart."""
    rows = [*((float(i % 3), 1.0) for i in range(n)), (100.0, 1.0), (101.0, 1.0)]
    rung = rung_of(f"{n} rows in a cluster", "", dense_of(rows), k=2)
    return replace(rung, large=True, centres=((1.0, 1.0), (100.0, 1.0)))


def _of_weight(bits: int) -> Rung:
    rows = [(float(i), 1.0) for i in range(6)] + [(90.0, 3.0), (93.0, 4.0)]
    most = 2.0**bits
    weights = [
        most - (1.0 if bits <= 53 else 2.0 ** (bits - 52)),
        1.0,
        1.0,
        0.0,
        2.0,
        1.0,
        most,
        1.0,
    ]
    centres = ((1.0, 1.0), (91.0, 3.0))
    return Rung(f"a weight of 2^{bits}", "", "steps", dense_of(rows, weights), 2, centres)


@cache
def loads() -> tuple[Rung, ...]:
    """Enough work for several threads: rows of k-means, labels, mixtures."""
    rows = [tuple(round(x, 1) for x in row) for row in blobs_of(60_013, 6, 91)]
    clusters = rung_of("load", "many rows, several threads", dense_of(rows), k=40)
    from refclust.kernels.contingency import LabelPairs

    cluster_labels, class_labels = (
        memoryview(array("i", ((i * i) % m for i in range(600_011)))).toreadonly()
        for m in (701, 97)
    )
    labels = Rung("load-labels", "many labels", "labels", LabelPairs(cluster_labels, class_labels))
    some = [tuple(abs(round(x, 1)) for x in row) for row in blobs_of(12_007, 3, 92)]
    mixtures = Rung("load-mixtures", "many rows of mixtures", "mixture-calls", dense_of(some), 3)
    return (replace(clusters, large=True), labels, mixtures, load_pairs())


@cache
def around(size: int) -> tuple[Rung, ...]:
    """As many rows, columns and clusters as a block holds; one less, one more, twice as many."""
    rungs = []
    for n in (size - 1, size, size + 1, 2 * size + 1):
        if n >= 1:
            rung = rung_of(f"{n} rows", "", _one_column(n), k=min(2, n))
            rungs.append(replace(rung, large=True))
    if size <= 300:
        for number in (size - 1, size, size + 1):
            if number >= 1:
                rows = blobs_of(4, number, 93)
                rungs.append(
                    Rung(f"{number} columns", "", "steps", dense_of(rows), 2, (*rows[:2],))
                )
                line = [(float(3 * i),) for i in range(number)]
                rungs.append(
                    Rung(
                        f"{number} clusters",
                        "",
                        "steps",
                        dense_of([*line, (1.5,)]),
                        number,
                        (*line,),
                    )
                )
        for n in (size - 1, size + 1):
            data = _one_column(max(n, 1))
            rungs.append(Rung(f"pairs of {n} rows", "", "passes", data, 1))
    mixtures = [tuple(map(abs, row)) for row in blobs_of(min(size + 1, 5000), 2, 94)]
    rungs.append(Rung(f"{size} rows", "", "mixture-calls", dense_of(mixtures), 2))
    return tuple(rungs)


def _one_column(n: int) -> Dataset:
    """One number a row, so that blocks of numbers are blocks of rows; the last row stands out."""
    return dense_of([(float((i * 7919) % 97),) for i in range(n - 1)] + [(1000.5,)])
