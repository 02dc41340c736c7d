"""Rows on the borders of many centres, where bounds of errors have no room left (chapter 81).

A bound is made of the longest row, the longest centre and the worst of all roundings, so most rows
lie well within it, and one that is too small is not missed. Here all rows and centres are as long
as the longest; or rows are far longer than all centres, or centres than rows; and rows lie at every
small distance from a border, on both sides, under distances and under angles.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Final, TypeAlias

from refclust.cluster.directions import unit_rows
from refclust.data.dataset import Dataset
from refclust.kernels.points import Vector
from refclust.numbers.sampling import below, stream
from refclust.testing.rungs import Rung, RungKind, dense_of, nonzero, rung_of, sparse_of
from refclust.testing.rungs.centres.searched import to_the_plane

Centres: TypeAlias = tuple[Vector, ...]

_SINGLE: Final = (21, 22, 23, 24, 25, 26)  # what single precision tells apart, or not
# Columns, centres and storage; the first two of each are for the short kit.
_WHEELS: Final = (
    *((2, 24, "dense"), (3, 20, "sparse"), (2, 90, "dense"), (3, 40, "dense")),
    *((8, 40, "dense"), (2, 60, "sparse"), (9, 33, "sparse")),
)
_LONG: Final = ((2, "sparse"), (3, "dense"), (2, "dense"), (9, "sparse"), (17, "dense"))
_TURNS: Final = (
    *((3, 2, "dense"), (4, 20, "sparse"), (2, 20, "dense"), (3, 33, "sparse"), (9, 40, "dense")),
)
_SIZES: Final = (
    *(61, 64, 128, 700, -70),  # of centres beside rows around 1; the first ones for the short kit
    *(30, 59, 60, 62, 63, 65, 100, 127, 129, 140, 300, 511, 513, 1000),
    *(-30, -126, -140, -150, -300, -513, -700, -1000),
)


def borders(*, quick: bool) -> Rung:
    """All of them, or a few of each."""
    rims = [(k, storage) for k in (2, 20) for storage in ("dense", "sparse")]
    rungs = [
        *(_wheel(*wheel) for wheel in (_WHEELS[:2] if quick else _WHEELS[2:])),
        *(_rim(*rim, 60 + turn) for rim in rims for turn in range(1 if quick else 8)),
        *(_long_rows(*rows) for rows in (_LONG[:2] if quick else _LONG[2:])),
        *(_turned(*turn) for turn in (_TURNS[:2] if quick else _TURNS[2:])),
        *(rung for power in (_SIZES[:5] if quick else _SIZES) for rung in _sized(power)),
    ]
    why = "rows on borders that are as long as bounds of errors assume, or far longer or shorter"
    return Rung("borders" if quick else "more-borders", why, "several", tuple(rungs), quick=quick)


def _path(name: str, data: Dataset, path: Sequence[Centres], kind: RungKind = "path") -> Rung:
    return replace(rung_of(name, "", data, kind=kind, centres=path[0]), path=tuple(path))


def _stored(rows: Sequence[Vector], storage: str) -> Dataset:
    return dense_of(rows) if storage == "dense" else sparse_of(nonzero(rows), len(rows[0]))


def _directions(k: int, d: int, rng: Random) -> Iterator[Vector]:
    for _ in range(k):
        vector = [rng.random() - 0.5 for _ in range(d)]
        size = math.hypot(*vector)
        yield tuple(x / size for x in vector)


def _wheel(d: int, k: int, storage: str) -> Rung:
    """Centres of one length, and rows of that length between each and the nearest other one."""
    rng = stream(1100 + 10 * d + k)
    centres = tuple(_directions(k, d, rng))
    rows = []
    for place, a in enumerate(centres):
        b = min((c for c in centres if c != a), key=lambda c: math.dist(a, c))
        middle = [x + y for x, y in zip(a, b, strict=True)]
        size = math.hypot(*middle)
        border = to_the_plane([x / size for x in middle], a, b)
        j = max(range(d), key=lambda j: abs(a[j] - b[j]))
        for e in _SINGLE[place % 2 :: 2]:
            rows += [_off(border, j, sign * 2.0**-e) for sign in (1.0, -1.0)]
    return _path(f"wheel, d = {d}, K = {k}, {storage}", _stored(rows, storage), (centres,))


def _off(row: Vector, j: int, step: float) -> Vector:
    return (*row[:j], row[j] + step, *row[j + 1 :])


def _rim(k: int, storage: str, seed: int) -> Rung:
    """Rows at the ends of a line, and a centre that comes to where they are on the border.

    It comes from nearby, and from so far away that its scores were worth little.
    """
    rng = stream(seed)
    end = (2 + below(rng, 60)) / 8 + below(rng, 1 << 30) * 2.0**-33
    rows = [
        (side * (end + sign * 2.0**-e),)
        for e in range(8, 46)
        for sign in (1.0, -1.0)
        for side in (1.0, -1.0)
    ]
    rest = tuple((side * c / 4,) for c in range(1, k) for side in (1.0, -1.0))[: k - 2]

    def centres(gap: float, other: float) -> Centres:
        return ((end - 1.0,), *((-c,) for c in (end - 1.0, end + other)), *rest, (end + gap,))

    places = ((3.0, 2.5), (1.0, 1.0), (1.5, 1.0), (1.0, 2.0**12), (1.0, 1.0), (2.0**13, 1.0))
    path = [centres(*place) for place in (*places, (1.0, 1.0))]
    return _path(f"rim, K = {k}, {storage}", _stored(rows, storage), path)


def _long_rows(d: int, storage: str) -> Rung:
    """Rows far along the border of two centres that are short beside them."""
    rng = stream(1200 + d)
    a, b, c = (tuple(2.0 * rng.random() - 1.0 for _ in range(d)) for _ in range(3))
    rows = []
    for number in range(60):
        vector = next(_directions(1, d, rng))
        row = to_the_plane([2.0 ** (6 + number // 2) * x for x in vector], a, b)
        j = max(range(d), key=lambda j: abs(a[j] - b[j]))
        rows += [row, *(_off(row, j, way * math.ulp(row[j])) for way in (1.0, -1.0))]
    beyond = tuple(x / 2 + (y + z) / 4 for x, y, z in zip(c, a, b, strict=True))
    path = ((a, b), (b, a), (a, b, beyond))
    return _path(f"long rows, d = {d}, {storage}", _stored(rows, storage), path[:2])


def _turned(d: int, k: int, storage: str) -> Rung:
    """Directions at every small angle from a border, all of them around one that sums to 0."""
    rng = stream(1300 + 10 * d + k)
    axis = [(-1.0) ** j for j in range(d)]
    centres = tuple(
        tuple(x + 0.4 * y for x, y in zip(axis, vector, strict=True))
        for vector in _directions(k, d, rng)
    )
    units = [tuple(x / math.hypot(*c) for x in c) for c in centres]
    rows = []
    for place, a in enumerate(units):
        b = min((c for c in units if c != a), key=lambda c: math.dist(a, c))
        for e in range(3 + place % 3, 52, 3):
            for t in (2.0**-e, -(2.0**-e)):
                rows.append(tuple(x * (1.0 + t) + y * (1.0 - t) for x, y in zip(a, b, strict=True)))
    path = (centres, (*centres[1:], centres[0]), centres)
    data = unit_rows(_stored(rows, storage))
    return _path(f"angles, d = {d}, K = {k}, {storage}", data, path, "cosine-path")


def _sized(power: int) -> Iterator[Rung]:
    """Ordinary rows, and centres of another size: all of them, all but one, one."""
    rows = [(1.0, 0.5, 0.0), (0.25, -1.0, 0.0), (3.0, 2.0, 1.0), (0.0, 0.0, 0.0), (-1.5, 0.0, 2.0)]
    others = [(2.0, -0.5, 1.0), (-1.0, -3.0, 0.25), (0.5, 0.5, -4.0)]
    scaled = [tuple(2.0**power * x for x in centre) for centre in others]
    path = (tuple(scaled), (rows[2], *scaled[1:]), (*rows[:2], scaled[2]), tuple(scaled))
    for storage in ("dense", "sparse"):
        yield _path(f"centres around 2^{power}, {storage}", _stored(rows, storage), path)
