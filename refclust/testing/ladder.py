"""The ladder of data sets on which backends are tried (chapter 81).

Plain random data find nearly nothing: a kernel in single precision passes them. Each rung here
makes one kind of carelessness visible: large offsets, exact ties, equal rows, empty rows, weights,
numbers at both ends of the doubles. All is made from seeds, so every run sees the same.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from refclust.cluster.rows import unit_rows
from refclust.kernels.contingency import LabelPairs
from refclust.kernels.distances import pairwise
from refclust.kernels.information import Margins
from refclust.kernels.points import Points, Vector
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
from refclust.testing.rungs.mixtures import counts, gaussians
from refclust.testing.rungs.rows import bulk, directions, rows, sparse_rows


def ladder(*, quick: bool = False) -> tuple[Rung, ...]:
    """All rungs, or the few that find most faults.

    >>> [rung.name for rung in ladder() if rung.kind == "margins"]
    ['margins', 'large-margins']
    """
    return tuple(rung for rung in _all() if rung.quick or not quick)


def twins() -> tuple[Rung, Rung]:
    """Two data sets of one shape and other numbers.

    >>> [(rung.data.n, rung.data.d) for rung in twins()]
    [(40, 3), (40, 3)]
    """
    why = "data of one shape must not be taken for each other"
    one, other = (
        Rung(
            "twins",
            why,
            "all-rows",
            dense_of(sorted(_counted(blobs_of(40, 3, seed)), reverse=seed > 21), weights),
        )
        for seed, weights in ((21, weights_of(40, 21)), (22, weights_of(40, 22)))
    )
    return one, other


def _counted(rows: list[Vector]) -> list[Vector]:
    """Rows that may be counts, too: none of their numbers is negative."""
    return [tuple(round(x + 1.0, 4) for x in row) for row in rows]


@lru_cache(maxsize=1)
def _all() -> tuple[Rung, ...]:
    return (
        *rows(),
        *sparse_rows(),
        *directions(),
        *_assorted(),
        *bulk(),
        *_labels(),
        *_margins(),
        *_distances(),
        *gaussians(),
        *counts(),
    )


def _assorted() -> Iterable[Rung]:
    """Many small data sets in one rung."""
    why = "many small data sets of numbers of all magnitudes"
    small = [_small(number) for number in range(72)]
    yield Rung("assorted", why, "several", tuple(small[:24]), quick=True)
    yield Rung("assorted-more", why, "several", tuple(small[24:]))
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
        tuple((a + b) / 2 for a, b in zip(one, other, strict=True))
        for one in centres
        for other in centres
    ]
    data = dense_of(rows) if number % 3 else sparse_of(nonzero(rows), d)
    return rung_of(f"middles {number}", "", data, centres=tuple(centres))


def _cosine_middle(number: int) -> Rung:
    rng, d = stream(3000 + number), 2 + number % 3
    centres = [tuple(2.0 * rng.random() - 1.0 for _ in range(d)) for _ in range(3)]
    units = [[x / math.hypot(*centre) for x in centre] for centre in centres]
    rows = [
        tuple(a + b for a, b in zip(one, other, strict=True)) for one in units for other in units
    ]
    data = unit_rows(dense_of(rows) if number % 3 else sparse_of(nonzero(rows), d))
    return rung_of(f"cosine-middles {number}", "", data, kind="cosine", centres=tuple(centres))


def _labels() -> Iterable[Rung]:
    rng = stream(12)
    clusters = [below(rng, 5) for _ in range(300)]
    classes = ["xyzw"[below(rng, 4)] for _ in range(300)]

    def rung(name: str, why: str, pairs: LabelPairs, quick: bool = False) -> Rung:
        return Rung(name, why, "labels", pairs, quick=quick)

    yield rung("labels", "integers and words", LabelPairs(clusters, classes), quick=True)
    yield rung("no-labels", "no object at all", LabelPairs([], []))
    odd: list[Any] = [1, "1", 1.0, True, None, (1, 2), 2**70, -1, "", "ü", 0.0, -0.0, 10**20, b"1"]
    yield rung(
        "odd-labels",
        "labels of all kinds, equal as Python says: 1 and 1.0 are, 1 and '1' are not",
        LabelPairs([odd[i % 14] for i in range(90)], [odd[i // 14] for i in range(90)]),
        quick=True,
    )
    heavy = [2**31 - 1, 2**31, 2**53 + 1, 2**63, 2**64 + 1, 3**60]
    yield rung(
        "heavy-labels",
        "integer weights beyond 32, 53 and 64 bits",
        LabelPairs(
            [i % 3 for i in range(60)],
            [i % 4 for i in range(60)],
            [heavy[i % 6] for i in range(60)],
        ),
        quick=True,
    )
    shares: list[int | Fraction] = [
        Fraction(1, 3),
        Fraction(0),
        Fraction(22, 7),
        5,
        Fraction(1, 10**30),
        0,
    ]
    yield rung(
        "weighted-labels",
        "weights that are fractions, some of them 0",
        LabelPairs(clusters[:80], classes[:80], [shares[i % 6] for i in range(80)]),
        quick=True,
    )
    narrow, wide = array("b", (i % 7 - 3 for i in range(500))), array("Q", bytes(8 * 500))
    wide[::9], wide[::7] = array("Q", [2**64 - 1] * 56), array("Q", [2**63] * 72)
    yield rung(
        "buffer-labels",
        "flat buffers of integers, narrow and wide, to the ends of their range",
        LabelPairs(memoryview(narrow).toreadonly(), memoryview(wide).toreadonly()),
        quick=True,
    )
    far = array("q", ((i * i) % 211 * 2**54 - 2**62 for i in range(9000)))
    yield rung(
        "far-labels",
        "buffers of integers that are far apart: no table over their range fits",
        LabelPairs(memoryview(far).toreadonly(), memoryview(array("i", range(9000))).toreadonly()),
    )
    yield rung(
        "many-labels",
        "more objects and labels than fit a block, negative numbers too",
        LabelPairs([(i * i) % 701 - 350 for i in range(9000)], [i % 97 for i in range(9000)]),
    )


def _margins() -> Iterable[Rung]:
    small = (
        Margins(((2, 2),), ((2, 2),), 4),
        Margins(((7, 1),), ((3, 1), (4, 1)), 7),
        Margins(((1, 6),), ((1, 6),), 6),
        Margins(((1, 1), (2, 1), (3, 1), (5, 1)), ((4, 1), (7, 1)), 11),
        Margins(((1, 1),), ((1, 1),), 1),
    )
    yield Rung("margins", "few objects, single clusters, singletons", "margins", small, quick=True)
    large = (
        Margins(((1, 3), (50, 2), (897, 1)), ((250, 4),), 1000),
        Margins(((100, 100),), ((99, 1), (1, 1), (4950, 2)), 10000),
    )
    yield Rung("large-margins", "thousands of objects, sizes far apart", "margins", large)


def _distances() -> Iterable[Rung]:
    def rung(name: str, why: str, rows: Sequence[Vector], quick: bool = False) -> Rung:
        flat = pairwise(Points(dense_of(rows)), "sqeuclidean") if len(rows) > 1 else array("d")
        return Rung(name, why, "distances", flat, quick=quick, n=len(rows))

    grid = [(float(i), float(j)) for i in range(4) for j in range(4)]
    blobs = blobs_of(24, 2, 13)
    yield rung("distances", "distances without ties", blobs, quick=True)
    yield rung("equal-distances", "the first of equally close pairs merges first", grid, quick=True)
    yield rung("zero-distances", "rows that are equal", [*blobs[:5], *blobs[:7], *blobs[2:6]])
    yield rung("no-distances", "one row, nothing to merge", [(0.0,)])
    yield rung("one-distance", "two rows", [(0.0,), (0.1,)])
    far = array("d", [2.0**961, 1.0, 2.0**970, 3.0, 5.0, 2.0**961])
    why = "distances too large to compute with: the error not-finite"
    yield Rung("far-distances", why, "distances", far, n=4)
