"""Many small data sets in one rung (chapter 81)."""

from __future__ import annotations

import math
from collections.abc import Iterable

from refclust.cluster.directions import unit_rows
from refclust.numbers.sampling import below, stream
from refclust.testing.rungs import (
    LEAST,
    STEP,
    Rung,
    blobs_of,
    dense_of,
    nonzero,
    rung_of,
    sparse_of,
    weights_of,
)


def assorted() -> Iterable[Rung]:
    """Many small data sets in one rung."""
    why = "many small data sets of numbers of all magnitudes"
    small = [_small(number) for number in range(72)]
    yield Rung("assorted", why, "several", tuple(small[:12]), quick=True)
    yield Rung("assorted-more", why, "several", tuple(small[12:]))
    why = "rows as near to the middle of two centres as rounding leaves them"
    yield Rung("middles", why, "several", tuple(map(_middle, range(32))))
    yield Rung("cosine-middles", why, "several", tuple(map(_cosine_middle, range(24))))
    why = "all numbers of rows, columns and clusters around the sizes of blocks"
    sizes = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 257)
    tails = [
        rung_of(f"{n} x {d}", why, dense_of(blobs_of(n, d, n)), k=min(n, 1 + place % 9))
        for place, n in enumerate(sizes)
        for d in [1 + (place * 5) % 19]
    ]
    yield Rung("tails", why, "several", tuple(tails))


def _small(number: int) -> Rung:
    """A few rows with numbers of one pool, one of them twice, maybe with weights."""
    pools = (
        [-2.0, -1.0, 0.0, 1.0, 2.0],
        [0.1, 0.2, 0.3, 0.7, -0.6, 1.1, 2.9],
        [1e8 + i * STEP for i in range(5)],
        [1e-300, -1e-300, 3e-310, -2.5e-308, 0.0, -0.0, 3 * LEAST],
        [1e300, -1e300, 1.7e308, -1.7e308, 1e155, 1.0],
        [1e300, 1e-300, 1.0, -1.0, 0.0, LEAST, 1e9, 0.1],
    )
    rng, pool = stream(1000 + number), pools[number % 6]
    d = 1 + below(rng, 3)
    some = [tuple(pool[below(rng, len(pool))] for _ in range(d)) for _ in range(2 + number % 7)]
    rows = [*some, some[below(rng, len(some))]]
    weights = weights_of(len(rows), number) if number % 4 == 1 else None
    k = 1 + below(rng, min(3, len(set(rows))))
    data = dense_of(rows, weights) if number % 2 else sparse_of(nonzero(rows), d, weights=weights)
    return rung_of(f"assorted {number}", "", data, k=k)


def _middle(number: int) -> Rung:
    rng, d = stream(2000 + number), 1 + number % 4
    offset = (0.0, 1e3, 1e6, 1e9)[number // 4 % 4]
    centres = [tuple(offset + 3.0 * rng.random() for _ in range(d)) for _ in range(4)]
    rows = [
        tuple((a + b) / 2 for a, b in zip(centre, other, strict=True))
        for centre in centres
        for other in centres
    ]
    data = dense_of(rows) if number % 3 else sparse_of(nonzero(rows), d)
    return rung_of(f"middles {number}", "", data, centres=tuple(centres))


def _cosine_middle(number: int) -> Rung:
    rng, d = stream(3000 + number), 2 + number % 3
    centres = [tuple(2.0 * rng.random() - 1.0 for _ in range(d)) for _ in range(3)]
    units = [[x / math.hypot(*centre) for x in centre] for centre in centres]
    rows = [
        tuple(a + b for a, b in zip(unit, other, strict=True)) for unit in units for other in units
    ]
    data = unit_rows(dense_of(rows) if number % 3 else sparse_of(nonzero(rows), d))
    return rung_of(f"cosine-middles {number}", "", data, kind="cosine", centres=tuple(centres))
