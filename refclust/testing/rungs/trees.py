"""The rungs of trees: distances with and without ties, of few and of many rows (chapter 81)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import product

from refclust.kernels.distances import pairwise
from refclust.kernels.points import Points, Vector
from refclust.numbers.sampling import below, stream
from refclust.testing.rungs import Rung, blobs_of, dense_of
from refclust.testing.rungs.design import sizes


def distances() -> Iterable[Rung]:
    """Distances in condensed form."""

    def rung(name: str, why: str, rows: Sequence[Vector], quick: bool = False) -> Rung:
        flat = pairwise(Points(dense_of(rows)), "sqeuclidean") if len(rows) > 1 else array("d")
        return Rung(name, why, "distances", flat, quick=quick, n=len(rows))

    grid = [(float(i), float(j)) for i in range(4) for j in range(4)]
    blobs = blobs_of(24, 2, 13)
    yield rung("distances", "distances without ties", blobs, quick=True)
    yield rung("equal-distances", "the first of equally close pairs merges first", grid, quick=True)
    yield rung("zero-distances", "rows that are equal", [*blobs[:5], *blobs[:7], *blobs[2:6]])
    yield rung("no-distances", "one row, nothing to merge", [(0.0,)], quick=True)
    yield rung("one-distance", "two rows", [(0.0,), (0.1,)], quick=True)
    far = array("d", [2.0**961, 1.0, 2.0**970, 3.0, 5.0, 2.0**961])
    why = "distances too large to compute with: the error not-finite"
    yield Rung("far-distances", why, "distances", far, n=4)
    why = "every number of rows up to 20, and some ties"
    small = [[(float((i * i) % 7), float(i % 3)) for i in range(n)] for n in sizes(1, 70, each=20)]
    yield Rung("numbers-of-merges", why, "several", tuple(rung(str(len(s)), "", s) for s in small))
    yield _ties()
    why = "more rows than bytes can name, {}"
    wide = [(float((i * 37) % 29), float((i * i) % 31)) for i in range(135)]
    yield rung("many-equal-distances", why.format("and equal distances"), wide, quick=True)
    yield rung("many-distances", why.format("and clusters of more"), blobs_of(270, 2, 14))


def _ties() -> Rung:
    """Few rows with distances of three sizes only: a merge makes ties with pairs all around it.

    Of four rows all such distances: the order of three pairs that tie shows in few of them.
    """
    rng, squares = stream(15), (1.0, 4.0, 9.0)
    flats = [(4, array("d", flat)) for flat in product(squares, repeat=6)]
    for n in (5, 6, 9):
        pairs = n * (n - 1) // 2
        flats += [(n, array("d", (squares[below(rng, 3)] for _ in range(pairs)))) for _ in range(9)]
    # Medians and centroids of these are among them again: a merge ties with a pair elsewhere.
    fours = (4.0, 8.0, 12.0, 16.0)
    for n in (5, 6, 7):
        pairs = n * (n - 1) // 2
        flats += [(n, array("d", (fours[below(rng, 4)] for _ in range(pairs)))) for _ in range(40)]
    rungs = tuple(Rung(f"{n} rows", "", "distances", flat, n=n) for n, flat in flats)
    why = "four to nine rows and few different distances: ties before and after a merge"
    return Rung("ties-of-merges", why, "several", rungs)
