"""Every number of rows, of columns and of clusters, one after another (chapter 81).

Faults of blocks and tails show for some sizes only. Small sizes are all tried, larger ones so that
no range from a to 1.2 a is missed, and those around powers of two.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from math import isqrt
from typing import Final

from refclust.cluster.directions import unit_rows
from refclust.kernels.points import Vector
from refclust.numbers.sampling import shuffled, stream
from refclust.testing.rungs import Rung, blobs_of, dense_of, nonzero, sparse_of, weights_of
from refclust.testing.rungs.design import sizes

_SQUARE: Final = 5 * 13 * 17 * 29 * 37 * 41  # of a radius: 256 points of the circle are integers


def lines() -> Iterable[Rung]:
    """Three rungs of many small data sets each."""
    why = "every number of rows up to 66, and larger ones without a gap"
    yield Rung("numbers-of-rows", why, "several", tuple(map(_of_rows, sizes(1, 4200, each=66))))
    why = "every number of columns up to 34, and larger ones without a gap"
    yield Rung(
        "numbers-of-columns", why, "several", tuple(map(_of_columns, sizes(1, 2100, each=34)))
    )
    why = "every number of clusters up to 66, and larger ones without a gap; ties of all of them"
    clusters = sizes(1, 256, each=66)
    rungs = (
        *map(_of_clusters, (*clusters, 141, 513)),
        *map(_of_angles, clusters[::5]),
    )
    yield Rung("numbers-of-clusters", why, "several", rungs)
    why = "distances of more rows than fit a byte or a block"
    pairs = tuple(
        Rung(f"{n} rows", "", "pairs", dense_of(blobs_of(n, d, n)), 1)
        for n, d in ((91, 2), (127, 9), (128, 1), (130, 64), (257, 2))
    )
    yield Rung("many-pairs", why, "several", pairs)


def few_lines() -> Rung:
    """The sizes that show most: around vectors and small blocks."""
    why = "numbers of rows, columns and clusters around those of vectors"
    rungs = (
        *map(_of_rows, (1, 3, 7, 9, 15, 31, 63, 65, 129, 257)),
        *map(_of_columns, (1, 5, 9, 13, 33, 65)),
        *map(_of_clusters, (1, 4, 7, 8, 12, 15, 16, 31, 32, 48, 130)),
    )
    return Rung("few-sizes", why, "several", rungs, quick=True)


def _of_rows(n: int) -> Rung:
    d, k = 1 + n % 3, 2 + n % 4
    rows = [tuple(round(x, 1) for x in row) for row in blobs_of(n, d, 70 + n)]
    centres = tuple(tuple(x + c / 4 for x in rows[(c * n) // k]) for c in range(k))
    return Rung(f"{n} rows", "", "steps", dense_of(rows), k, centres)


def _of_columns(d: int) -> Rung:
    """A few rows, among them one exactly between two centres, weighted or sparse now and then."""
    rows = blobs_of(9, d, 80 + d)
    centre = tuple(float(round(x)) for x in rows[0])
    other = tuple(x + (2.0 if j == d - 1 else 0.0) for j, x in enumerate(centre))
    rows.append(tuple(x / 2 + y / 2 for x, y in zip(centre, other, strict=True)))
    weights = weights_of(10, d) if d % 3 == 1 else None
    if d % 4 == 2:
        # The narrowest column numbers there are, as other libraries store them.
        code = "B" if d <= 256 else "H"
        data = sparse_of(nonzero(rows), d, indices=code, starts="q", weights=weights)
    else:
        data = dense_of(rows, weights)
    return Rung(f"{d} columns", "", "steps", data, 3, (other, centre, rows[3]))


@cache
def _circle() -> tuple[Vector, ...]:
    """Integer points at one distance from the origin, in no order."""
    points = []
    for x in range(isqrt(_SQUARE) + 1):
        y = isqrt(_SQUARE - x * x)
        if x * x + y * y == _SQUARE:
            points += [(s * x, t * y) for s in (1, -1) for t in (1, -1)]
    whole = [(float(x), float(y)) for x, y in dict.fromkeys(points)]
    return tuple(shuffled(stream(81), whole))


def _of_clusters(k: int) -> Rung:
    """Centres on a circle: its middle is equally far from all, and each centre is a row too."""
    around = _circle()
    # More than there are on the circle lie on a second one, twice as large.
    points = [*around, *((2 * x, 2 * y) for x, y in around), (0.0, 1.0)][:k]
    middles = [((a + c) / 2, (b + e) / 2) for (a, b), (c, e) in pairwise(points)]
    x, y = points[-1]
    rows = [(0.0, 0.0), *points, *middles[:40], (x, y + 1.0), (x + 1.0, y), (0.0, 0.0)]
    if k % 3 == 2:
        rows = rows[: max(1, k // 2)]  # fewer rows than clusters
    return Rung(f"{k} clusters", "", "steps", dense_of(rows), k, tuple(points))


def _of_angles(k: int) -> Rung:
    """Directions on a circle, and some that no centre is near to."""
    points = _circle()[:k]
    rows = [*points, (1.0, 0.0), (0.0, -1.0), (-3.0, 4.0), *((-x, -y) for x, y in points[:3])]
    data = unit_rows(dense_of(rows))
    return Rung(f"{k} directions", "", "cosine-steps", data, k, points)
