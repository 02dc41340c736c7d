"""Many centres of which some move: what is kept of the others must not be believed too long.

Passes keep for groups of centres what they know of them, and leave out groups in which nothing can
have come near. Here rows lie between centres of different groups, at every small distance from the
border on which they end up, and centres get there one alone, a whole group, or every third of all;
then back, by less than single precision tells apart, and by nothing at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Final, TypeAlias

from refclust.kernels.points import Vector
from refclust.numbers.sampling import below, stream
from refclust.testing.rungs import Rung, dense_of, nonzero, rung_of, singles_of, sparse_of

Crowd: TypeAlias = tuple[Vector, ...]

_FILLED: Final = 3  # columns of a centre that are not 0
_APART: Final = 16  # so many centres are within reach of one instruction
_LITTLE: Final = 2.0**-29


def crowds(*, quick: bool) -> Rung:
    """Crowds of centres on paths, among sparse rows, dense ones, and 32-bit floats."""
    rungs = [
        _crowd(37, 12, "sparse", 17),
        _crowd(21, 12, "dense", 18),
        # More groups of centres than columns; more rows than one thread takes.
        replace(_crowd(37, 1, "sparse", 19), path=_crowd(37, 1, "sparse", 19).path[:4]),
        replace(_crowd(20, 2, "sparse", 20, 1100), path=_crowd(20, 2, "sparse", 20).path[:3]),
    ]
    if not quick:
        rungs = [
            *(_crowd(k, 12, kind, 20 + k) for k in (9, 33, 50) for kind in ("sparse", "float32")),
            *(_crowd(k, 12, "dense", 40 + k) for k in (8, 34)),
            *(_crowd(70, d, kind, 60 + d) for d in (1, 2) for kind in ("sparse", "dense")),
        ]
    why = "many centres of which only some move, and rows between those and the others"
    return Rung("crowds" if quick else "more-crowds", why, "several", tuple(rungs), quick=quick)


def fits() -> Rung:
    """Fits in which few clusters change in the end: means of the others are what they were."""
    rungs = []
    for k, d, seed in ((37, 12, 81), (20, 1, 82), (21, 2, 83)):
        rng = stream(seed)
        ends = _ends(k, d, rng)
        rows = [*ends, *_between(ends, rng)]  # no cluster is without a row
        data = dense_of(rows) if d == 2 else sparse_of(nonzero(rows), d, indices="i")
        rungs.append(rung_of(f"K = {k}, d = {d}", "", data, kind="fit", centres=ends))
    why = "each step from the means that the backend itself made of the one before"
    return Rung("own-means", why, "several", tuple(rungs), quick=True)


def _crowd(k: int, d: int, storage: str, seed: int, n: int = 0) -> Rung:
    rng = stream(seed)
    ends = _ends(k, d, rng)
    path = tuple(_path(ends, rng))
    rows = list(_between(ends, rng))
    rows = [rows[i % len(rows)] for i in range(n or len(rows))]
    if storage == "sparse":
        data = sparse_of(nonzero(rows), d, indices="i")
    elif storage == "dense":
        data = dense_of(rows)
    else:
        data = singles_of(rows)
    rung = rung_of(f"K = {k}, d = {d}, {storage}", "", data, kind="path", centres=path[0])
    return replace(rung, path=path)


def _ends(k: int, d: int, rng: Random) -> Crowd:
    """Where the centres end up: a few quarters each, so that middles are exact in doubles."""
    ends: dict[Vector, None] = {}
    while len(ends) < k:
        filled = {below(rng, d): (below(rng, 301) - 150) / 4 for _ in range(_FILLED)}
        ends[tuple(filled.get(j, 0.0) for j in range(d))] = None
    return tuple(ends)


def _between(ends: Crowd, rng: Random) -> Iterator[Vector]:
    """Rows between two centres, moved off the border by less and less; some short, some long."""
    k, d = len(ends), len(ends[0])
    for number in range(4 * k):
        a = ends[number % k]
        # Mostly the nearest one: between others some third centre is nearer.
        others = [c for c in ends if c != a]
        near = min(others, key=lambda c: math.dist(a, c))
        b = near if number % 4 else others[below(rng, k - 1)]
        j = max(range(d), key=lambda j: abs(a[j] - b[j]))
        off = (-1.0) ** number * 2.0 ** -(number % 45)
        middle = [(x + y) / 2 for x, y in zip(a, b, strict=True)]
        middle[j] += off if number % 5 else 0.0
        yield tuple(middle)
    for power in (-40, -20, 3, 8):  # what moves a score by much is the length of a row
        yield tuple(2.0**power * x for x in ends[power % k])
    yield (0.0,) * d


def _path(ends: Crowd, rng: Random) -> Iterator[Crowd]:
    k = len(ends)
    third = [c for c in range(k) if c % 3 == 1]
    group = list(range(min(_APART, k // 2), min(2 * _APART, k)))
    alone = [below(rng, k)]
    away = tuple(_moved(ends, range(k), 0.75, rng))
    for movers in (third, group, alone):
        yield tuple(_moved(ends, movers, 0.5, rng))
        yield ends
    yield ends
    yield tuple(_moved(ends, range(k), _LITTLE, rng))
    yield tuple(_moved(ends, third, 16.0, rng))
    yield away
    # Two that change places, and one that is where another was.
    yield (*ends[1:2], *ends[:1], *ends[2:-1], ends[k // 2])
    yield ends


def _moved(ends: Crowd, movers: Sequence[int], step: float, rng: Random) -> Iterator[Vector]:
    """The centres, of which some have moved in the columns they fill, by whole steps."""
    for c, centre in enumerate(ends):
        shifts = [step * (below(rng, 5) - 2) if x else 0.0 for x in centre]
        moved = tuple(x + shift for x, shift in zip(centre, shifts, strict=True))
        yield moved if c in movers else centre
