"""The rungs of passes over pairs: sizes around blocks, far offsets, pairs that are nearly tied."""

from __future__ import annotations

from collections.abc import Iterable

from refclust.kernels.points import Vector
from refclust.testing.rungs import Rung, blobs_of, dense_of, singles_of, weights_of


def passes() -> Iterable[Rung]:
    """Rows of which pairs alone are asked, beside those of the other rungs."""
    yield _pairs("pairs-far-away", "rows around 2^50: only differences keep their digits", [
        tuple(2.0**50 + round(8 * x) / 4 for x in row) for row in blobs_of(40, 3, 31)
    ])  # fmt: skip
    yield _near_ties()
    why = "numbers of rows around those of blocks and of chains of additions"
    few = tuple(_of_rows(n) for n in (31, 33, 65, 129, 257))
    yield Rung("few-pairs", why, "several", few, quick=True)
    sizes = (15, 16, 17, 32, 63, 64, 127, 128, 255, 256, 259, 513)
    yield Rung("sizes-of-pairs", why, "several", tuple(map(_of_rows, sizes)))


def load() -> Rung:
    """Enough pairs for several threads."""
    rows = dense_of(blobs_of(701, 3, 93), weights_of(701, 93))
    return Rung("load-pairs", "many pairs of rows", "passes", rows, 5)


def _pairs(name: str, why: str, rows: list[Vector]) -> Rung:
    return Rung(name, why, "passes", dense_of(rows), 3, quick=True)


def _near_ties() -> Rung:
    """From the origin to (N + t, N - t) it is 2 N^2 + 2 t^2: doubles see no t if N is large."""
    large = 2.0**40
    rows: list[Vector] = []
    for t in (5, -3, 2, 0, 1, -2, 6, -6, 4, -1):
        rows += [(0.0, 0.0), (large + t, large - t)]
    why = "pairs whose distances doubles cannot tell apart, and exact ties"
    return Rung("near-pairs", why, "passes", dense_of(rows), 2, quick=True)


def _of_rows(n: int) -> Rung:
    d = 1 + n % 4
    rows = [tuple(round(x, 1) for x in row) for row in blobs_of(n, d, 60 + n)]
    data = (
        dense_of(rows, weights_of(n, n))
        if n % 3 == 0
        else singles_of(rows)
        if n % 3 == 1
        else dense_of(rows)
    )
    return Rung(f"{n} rows", "", "passes", data, 1 + n % 3)
