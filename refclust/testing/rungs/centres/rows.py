"""The rungs that are rows: dense, sparse, directions, many (chapter 81)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from refclust.cluster.directions import unit_rows
from refclust.data.dataset import Dataset
from refclust.kernels.points import Vector
from refclust.numbers.sampling import below, stream
from refclust.testing.rungs import (
    LEAST,
    Rung,
    blobs_of,
    dense_of,
    on_grid,
    rung_of,
    singles_of,
    sparse_of,
    weights_of,
)


def rows() -> Iterable[Rung]:
    """Dense rows."""
    blobs = blobs_of(60, 3, 1)
    yield rung_of("plain", "decimals around three places", dense_of(blobs), quick=True)
    for offset in (1e3, 1e6, 1e9):
        # In single precision nearly nothing is left of what tells the rows apart.
        unit = min(1.0, offset * 2.0**-28)
        moved = [tuple(offset + unit * x for x in row) for row in blobs]
        why = "rows far from the origin: formulas that cancel lose every digit"
        yield rung_of(
            f"offset-{offset:.0e}".replace("+0", ""), why, dense_of(moved), quick=offset > 1e8
        )
    yield rung_of(
        "duplicates",
        "many equal rows, and equal centres to start from",
        dense_of([blobs[i % 7] for i in range(40)]),
        centres=(blobs[0], blobs[1], blobs[0], blobs[2]),
    )
    yield rung_of(
        "ties",
        "rows exactly between centres: the lowest index is due",
        dense_of([(float(i), float(j)) for i in range(-3, 4) for j in range(-3, 4)]),
        centres=((-2.0, 0.0), (2.0, 0.0), (0.0, 2.0), (0.0, -2.0)),
        quick=True,
    )
    yield _near_ties()
    yield rung_of(
        "cancelling",
        "columns whose large numbers cancel: sums of doubles lose the small ones",
        dense_of(
            [(1e16 * (-1) ** i, 1.0 + i / 10, (-1) ** (i // 2) * 3e15 + 0.5) for i in range(30)]
        ),
        k=2,
        quick=True,
    )
    yield rung_of(
        "limbs",
        "columns over hundreds of powers of two: no fixed point of 64 or 128 bits holds them",
        dense_of([(2.0 ** (13 * i - 400), -(3.0 ** (i - 30)), 2.0**-i + 1.0) for i in range(60)]),
    )
    yield rung_of("one-row", "a single row", dense_of([(0.1, -2.5)]), k=1)
    yield rung_of("one-column", "a single column", dense_of([(i / 10,) for i in range(25)]), k=4)
    yield rung_of(
        "equal-rows", "no two rows differ: no row is at a distance", dense_of([(0.1,)] * 6), k=1
    )
    yield rung_of("wide", "more columns than fit a block", dense_of(blobs_of(12, 150, 4)))
    yield rung_of(
        "many-centres", "more centres than fit a block", dense_of(blobs_of(90, 3, 5)), k=37
    )
    yield rung_of("single-precision", "rows kept as 32-bit floats", singles_of(blobs), quick=True)
    yield from _weighted(blobs)
    yield from _magnitudes()


def _near_ties() -> Rung:
    """Rows one unit in the last place to either side of the middle of two centres."""
    low, high, middle = 1e9 + 0.125, 1e9 + 2.125, 1e9 + 1.125
    rows: list[Vector] = []
    for steps in range(-6, 7):
        x = middle
        for _ in range(abs(steps)):
            x = math.nextafter(x, math.copysign(math.inf, steps))
        rows += [(x, 0.3), (x, -1e9), (0.1 * steps, 0.3)]
    why = "rows one rounding away from a tie: the exact distance decides"
    return rung_of("near-ties", why, dense_of(rows), centres=((high, 0.3), (low, 0.3)), quick=True)


def _weighted(blobs: list[Vector]) -> Iterable[Rung]:
    yield rung_of(
        "weights",
        "weights that are fractions, some of them 0",
        dense_of(blobs, weights_of(len(blobs), 6)),
        quick=True,
    )
    far = [*blobs[:20], (1e6, 0.0, 0.0), (-1e6, 1.0, 0.0)]
    yield rung_of(
        "zero-weights",
        "the farthest rows have weight 0: they are in no sum and are no candidates",
        dense_of(far, [1.0] * 20 + [0.0, 0.0]),
        quick=True,
    )
    wild = [0.0, 1.0, LEAST, 1e-310, 3e-320, 1e300, 1.7e308, 2.0**-1060]
    yield rung_of(
        "wild-weights",
        "weights at both ends of the doubles",
        dense_of(blobs[:24], [wild[i % len(wild)] for i in range(24)]),
    )


def _magnitudes() -> Iterable[Rung]:
    signs = [1.0, -1.0, 0.5, -0.25, 0.75, 1.5, -1.7, 1.2]

    def scaled(unit: float, n: int = 20) -> Dataset:
        return dense_of(
            [(unit * signs[i % 8], unit * signs[(3 * i + i // 8) % 8]) for i in range(n)]
        )

    yield rung_of("huge", "squares overflow", scaled(1e300))
    yield rung_of("largest", "sums of two numbers overflow", scaled(1e308), k=2, quick=True)
    many = dense_of([(1e300 * (i % 23) / 7, -1e299 * (i % 3)) for i in range(46)])
    yield rung_of("huge-centres", "squares overflow, and centres are many", many, k=20)
    yield rung_of("tiny", "squares underflow", scaled(1e-300))
    least = [(i * LEAST, -(i // 3) * LEAST) for i in range(-9, 10)]
    why = "the least doubles there are: none may be flushed to zero"
    yield rung_of("subnormal", why, dense_of(least), quick=True)
    mixed = [1e300, -1e-300, 1.0, 0.0, 3e-310, -1e155, 2.5, 1e9]
    rows = [(mixed[i % 8], mixed[(5 * i + 2) % 8], mixed[(i // 2) % 8]) for i in range(18)]
    yield rung_of("mixed", "huge and tiny numbers side by side", dense_of(rows))
    zeros = [0.0, -0.0, 1.0, -1.0]
    rows = [(zeros[i % 4], zeros[i // 4 % 4], -0.0) for i in range(16)]
    yield rung_of("signed-zeros", "-0.0 is 0.0", dense_of(rows))


def bulk() -> Iterable[Rung]:
    """Many rows."""
    yield rung_of(
        "many-rows", "more rows than fit a block", dense_of(blobs_of(4500, 2, 3)), quick=True
    )
    many = dense_of([tuple(round(x, 1) for x in row) for row in blobs_of(40_000, 4, 15)])
    why = "many rows: what is done otherwise on large data must be as right"
    yield replace(rung_of("large", why, many, k=9), large=True)


def sparse_rows() -> Iterable[Rung]:
    """Sparse rows."""
    rng = stream(7)
    counts = [{below(rng, 25): float(1 + below(rng, 4)) for _ in range(6)} for _ in range(50)]
    yield rung_of("sparse-counts", "counts of words", sparse_of(counts, 25), quick=True)
    gaps = [row if i % 5 else {} for i, row in enumerate(counts)]
    why = "rows without any number, at the ends too, and empty columns"
    yield rung_of("sparse-empty-rows", why, sparse_of([{}, *gaps, {}], 30), quick=True)
    tenths = [{j: x / 10 for j, x in row.items()} for row in counts[:20]]
    narrow = sparse_of(tenths, 25, indices="i", values="f", weights=weights_of(20, 8))
    yield rung_of("sparse-weights", "weights, 32-bit column numbers and 32-bit floats", narrow)
    moved = [{j: 1e9 + on_grid(x / 3) for j, x in row.items()} for row in counts[:24]]
    why = "large numbers in few columns: expanded squares lose every digit"
    yield rung_of("sparse-offset", why, sparse_of(moved, 25), quick=True)
    long = [{j: float(1 + (i * j) % 5) for j in range(0, 40, 1 + i % 9)} for i in range(12)]
    why = "rows of one number and of forty, longer than a tiny block"
    mixed = sparse_of([{3: 2.0}, *long, {39: 1.0}, long[0], {}], 40)
    yield rung_of("sparse-long-rows", why, mixed, kind="all-rows")
    ties = [{i % 3: 1.0, 3 + i % 4: 2.0} for i in range(24)]
    starts = ((2.0, 0.0, 0.0, 0, 0, 0, 0), (0.0, 2.0, 0.0, 0, 0, 0, 0), (0.0,) * 7)
    centres = tuple(tuple(map(float, centre)) for centre in starts)
    yield rung_of("sparse-ties", "exact ties of sparse rows", sparse_of(ties, 7), centres=centres)
    many = [{(i * j) % 60: 0.1 + (i + j) % 7 for j in range(1, 5)} for i in range(300)]
    yield rung_of("many-sparse-rows", "more sparse rows than fit a block", sparse_of(many, 60), k=5)
    yield rung_of("sparse-huge", "squares of sparse rows overflow", sparse_of(
        [{i % 4: 1e200 * (i + 1), 4: 1.0} for i in range(12)], 5
    ))  # fmt: skip


def directions() -> Iterable[Rung]:
    """Rows of length one."""
    blobs = blobs_of(40, 3, 9)
    yield rung_of("cosine", "directions", unit_rows(dense_of(blobs)), kind="cosine", quick=True)
    turned = [(math.cos(i * math.pi / 12), math.sin(i * math.pi / 12)) for i in range(24)]
    grid = [(float(i), float(j)) for i in range(-2, 3) for j in range(-2, 3) if i or j]
    yield rung_of(
        "cosine-ties",
        "directions exactly between centres, and opposite ones",
        unit_rows(dense_of([*grid, *turned])),
        kind="cosine",
        centres=((1.0, 1.0), (-3.0, 3.0), (1e-200, -1e-200), (-1e200, -1e200)),
        quick=True,
    )
    rng = stream(10)
    counts = [{below(rng, 20): float(1 + below(rng, 3)) for _ in range(5)} for _ in range(40)]
    words = unit_rows(sparse_of(counts, 20, weights=weights_of(40, 11)))
    yield rung_of("cosine-sparse", "directions of word counts", words, kind="cosine", quick=True)
