"""The rungs of mixtures: rows under normal densities, rows of counts (chapter 81)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from refclust.kernels.points import Vector
from refclust.numbers.sampling import below, stream
from refclust.testing.rungs import (
    Rung,
    dense_of,
    on_grid,
    rung_of,
    singles_of,
    sparse_of,
    weights_of,
)


def gaussians() -> Iterable[Rung]:
    """Dense and sparse rows under normal densities."""
    blobs = _clouds(30, 2, 31)
    yield rung_of(
        "gaussian", "three clouds that overlap", dense_of(blobs), kind="gaussian", quick=True
    )
    for offset in (1e3, 1e6, 1e9):
        moved = [tuple(offset + on_grid(x) for x in row) for row in blobs]
        why = "rows far from the origin: squares and products that cancel lose every digit"
        name = f"gaussian-offset-{offset:.0e}".replace("+0", "")
        yield rung_of(name, why, dense_of(moved), kind="gaussian", quick=offset > 1e8)
    for sharp, size in ((1e2, "1e4"), (1e3, "1e6"), (1e4, "1e8")):
        why = "rows far from every component: densities that no double holds"
        rung = rung_of(f"gaussian-far-{size}", why, dense_of(blobs[:18]), kind="gaussian")
        yield replace(rung, sharp=sharp, quick=size == "1e6")
    yield rung_of(
        "gaussian-weights",
        "weights that are fractions, some of them 0, of rows that are far away too",
        dense_of([*_clouds(24, 3, 32), (1e6, 0.0, 0.0)], [*weights_of(24, 33), 0.0]),
        kind="gaussian",
        quick=True,
    )
    yield rung_of(
        "gaussian-ties",
        "rows exactly between components, and components that are equal",
        dense_of([(float(i), float(j)) for i in range(-2, 3) for j in range(-2, 3)]),
        kind="gaussian",
        centres=((-1.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 0.0)),
        quick=True,
    )
    yield rung_of(
        "gaussian-duplicates",
        "many equal rows, components without spread",
        dense_of([blobs[i % 4] for i in range(22)]),
        kind="gaussian",
    )
    yield rung_of("gaussian-singles", "32-bit floats", singles_of(blobs[:20]), kind="gaussian")
    words = _words(24, 6, 34)
    yield rung_of(
        "gaussian-sparse", "sparse rows, some empty", sparse_of(words, 6), kind="gaussian"
    )
    yield rung_of(
        "gaussian-wide", "many columns", dense_of(_clouds(14, 20, 35)), kind="gaussian", k=2
    )
    why = "more components than fit a block"
    yield rung_of("gaussian-components", why, dense_of(_clouds(40, 2, 37)), kind="gaussian", k=13)
    yield _sizes("gaussian-sizes", [
        rung_of(f"{n} x {d}", "", dense_of(_clouds(n, d, n)), kind="gaussian", k=min(n, 1 + n % 3))
        for n, d in (*_SIZES, (129, 5), (70, 25), (33, 41))
    ])  # fmt: skip
    many = rung_of("gaussian-many", _MANY, dense_of(_clouds(2100, 2, 36)), kind="gaussian", k=2)
    yield replace(many, large=True)


def counts() -> Iterable[Rung]:
    """Rows of counts, sparse and dense."""
    words = _words(30, 12, 41)
    yield rung_of(
        "counts",
        "counts of words, rows without any, words that nobody uses",
        sparse_of([{}, *words, {}], 14),
        kind="counts",
        quick=True,
    )
    long = [{0: 60_000.0, 3: 40_000.0}, {j: 5_000.0 + 37 * j for j in range(12)}]
    yield rung_of(
        "counts-long",
        "documents of 100,000 words beside short ones: probabilities that no double holds",
        sparse_of([*words[:12], *long, *words[12:18]], 12, indices="i"),
        kind="counts",
        quick=True,
    )
    parts = [{j: x / 3 for j, x in row.items()} for row in words[:20]]
    yield rung_of(
        "counts-fractions",
        "parts of counts, kept as 32-bit floats, with weights some of which are 0",
        sparse_of(parts, 12, indices="i", values="f", weights=weights_of(20, 42)),
        kind="counts",
        quick=True,
    )
    rows: list[Vector] = [tuple(row.get(j, 0.0) for j in range(12)) for row in words]
    yield rung_of(
        "counts-dense", "counts kept with their zeros", dense_of(rows), kind="counts", quick=True
    )
    equal = [{0: 1.0, 1: 2.0, 2: 0.5}] * 9
    yield rung_of("counts-equal-rows", "rows that are equal", sparse_of(equal, 3), kind="counts")
    yield _sizes("counts-sizes", [
        rung_of(f"{n} x {d}", "", sparse_of(_words(n, d, n), d), kind="counts", k=min(n, 1 + n % 3))
        for n, d in _SIZES
    ])  # fmt: skip
    why = "more components than fit a block"
    yield rung_of("counts-components", why, sparse_of(_words(40, 9, 44), 9), kind="counts", k=19)
    why = "more words than fit a block"
    vast = rung_of("counts-vast", why, sparse_of(_words(30, 5000, 45), 5000), kind="counts", k=3)
    yield replace(vast, large=True)
    many = rung_of("counts-many", _MANY, sparse_of(_words(2100, 40, 43), 40), kind="counts", k=2)
    yield replace(many, large=True)


def made_up() -> Iterable[Rung]:
    """Densities of counts that nobody estimated, over rows of counts and of any numbers."""
    words = _words(40, 12, 46)
    signed = [{j: x * (-1.0) ** (i + j) for j, x in row.items()} for i, row in enumerate(words)]
    some = [(sparse_of(words, 12), 3), (sparse_of(signed, 12), 5), (sparse_of(words[:12], 12), 70)]
    why = "columns that some component asks for or rules out; numbers below 0; many components"
    rungs = tuple(Rung(f"K = {k}", "", "terms", data, k) for data, k in some)
    yield Rung("made-up-terms", why, "several", rungs, quick=True)
    plain = [tuple(row.get(j, 0.0) for j in range(12)) for row in signed]
    sizes = [(dense_of(plain), 1), (dense_of(plain), 34), (sparse_of(signed * 40, 12), 2)]
    rungs = tuple(Rung(f"K = {k}", "", "terms", data, k) for data, k in sizes)
    yield Rung("more-terms", why, "several", rungs)


_SIZES = ((1, 2), (2, 1), (63, 1), (64, 2), (65, 3), (255, 4), (257, 8))
_MANY = "more rows than fit a block: sums do not depend on the number of threads"


def _sizes(name: str, rungs: list[Rung]) -> Rung:
    why = "numbers of rows and columns around the sizes of blocks"
    return Rung(name, why, "several", tuple(replace(rung, large=True) for rung in rungs))


def _clouds(n: int, d: int, seed: int) -> list[Vector]:
    """Decimals around three places, not far from each other: shares are neither 0 nor 1."""
    rng = stream(seed)
    return [
        tuple(round((i + j) % 3 + 2.5 * rng.random() - 1.0, 4) for j in range(d)) for i in range(n)
    ]


def _words(n: int, d: int, seed: int) -> list[dict[int, float]]:
    """Documents of a few words each, the first words more often."""
    rng = stream(seed)
    return [
        {below(rng, 1 + below(rng, d)): float(1 + below(rng, 4)) for _ in range(i % 5)}
        for i in range(n)
    ]
