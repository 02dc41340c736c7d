"""The rungs of tables: labels of all kinds and formats, margins (chapter 81)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Final

from refclust.kernels.contingency import LabelPairs
from refclust.kernels.information import Margins
from refclust.numbers.sampling import below, stream
from refclust.testing.rungs import Rung
from refclust.testing.rungs.design import sizes

_FORMATS: Final = "bBhHiIlLqQ"
_ODD: Final[tuple[Any, ...]] = (
    *(1, "1", 1.0, True, None, (1, 2), 2**70),
    *(-1, "", "ü", 0.0, -0.0, 10**20, b"1"),
)
_HEAVY: Final = (2**31 - 1, 2**31, 2**53 + 1, 2**63, 2**64 + 1, 3**60)
_SHARES: Final = (Fraction(1, 3), Fraction(0), Fraction(22, 7), 5, Fraction(1, 10**30), 0)


def labels() -> Iterable[Rung]:
    """Labels of all kinds."""
    yield from _few_labels()
    yield _formats()
    yield _cells()
    yield _more()
    yield _rare()
    yield _pieces()
    far = array("q", ((i * i) % 211 * 2**54 - 2**62 for i in range(9000)))
    yield _rung(
        "far-labels",
        "buffers of integers that are far apart: no table over their range fits",
        LabelPairs(memoryview(far).toreadonly(), memoryview(array("i", range(9000))).toreadonly()),
    )
    yield _rung(
        "many-labels",
        "more objects and labels than fit a block, negative numbers too",
        LabelPairs([(i * i) % 701 - 350 for i in range(9000)], [i % 97 for i in range(9000)]),
    )


def _rung(name: str, why: str, pairs: LabelPairs, quick: bool = False) -> Rung:
    return Rung(name, why, "labels", pairs, quick=quick)


def _few_labels() -> Iterable[Rung]:
    """A few hundred objects: kinds of labels, kinds of weights."""
    rng = stream(12)
    clusters = [below(rng, 5) for _ in range(300)]
    classes = ["xyzw"[below(rng, 4)] for _ in range(300)]
    yield _rung("labels", "integers and words", LabelPairs(clusters, classes), quick=True)
    yield _rung("no-labels", "no object at all", LabelPairs([], []), quick=True)
    yield _rung(
        "odd-labels",
        "labels of all kinds, equal as Python says: 1 and 1.0 are, 1 and '1' are not",
        LabelPairs([_ODD[i % 14] for i in range(90)], [_ODD[i // 14] for i in range(90)]),
        quick=True,
    )
    yield _rung(
        "heavy-labels",
        "integer weights beyond 32, 53 and 64 bits",
        LabelPairs(
            [i % 3 for i in range(60)],
            [i % 4 for i in range(60)],
            [_HEAVY[i % 6] for i in range(60)],
        ),
        quick=True,
    )
    yield _rung(
        "weighted-labels",
        "weights that are fractions, some of them 0",
        LabelPairs(clusters[:80], classes[:80], [_SHARES[i % 6] for i in range(80)]),
        quick=True,
    )
    narrow, wide = array("b", (i % 7 - 3 for i in range(500))), array("Q", bytes(8 * 500))
    wide[::9], wide[::7] = array("Q", [2**64 - 1] * 56), array("Q", [2**63] * 72)
    yield _rung(
        "buffer-labels",
        "flat buffers of integers, narrow and wide, to the ends of their range",
        LabelPairs(memoryview(narrow).toreadonly(), memoryview(wide).toreadonly()),
        quick=True,
    )


def _more() -> Rung:
    """All kinds of labels and weights again, of so many objects that no short way is left."""
    n = 701
    plain, classes = [i * i % 13 - 6 for i in range(n)], [i % 7 for i in range(n)]
    scattered = [i * 7919 % n for i in range(n)]
    halves = array("d", (i % 5 / 2 for i in range(n)))
    kinds = {
        "odd": LabelPairs([_ODD[i % 14] for i in range(n)], classes),
        "sums beyond 53 bits": LabelPairs(plain, classes, [2**51 + 2 * i + 1 for i in range(n)]),
        "sums of 53 bits": LabelPairs(plain, classes, [2**53 // n - i % 3 for i in range(n)]),
        "weights beyond 64 bits": LabelPairs(plain, classes, [3**60 + i for i in range(n)]),
        "negative weights": LabelPairs(plain, classes, [i % 5 - 2 for i in range(n)]),
        "fractions": LabelPairs(plain, classes, [_SHARES[i % 6] for i in range(n)]),
        "each its own": LabelPairs(scattered, list(range(n))),
        "far apart": LabelPairs([i * 2**40 for i in scattered], [-i for i in scattered]),
        "beyond 64 bits": LabelPairs([2**64 + i % 3 for i in range(n)], classes),
        "buffers, each its own": LabelPairs(
            _viewed(array("i", scattered)), _viewed(array("q", range(n)))
        ),
        "buffers, weighted": LabelPairs(
            _viewed(array("h", plain)), _viewed(array("B", classes)), [i % 4 for i in range(n)]
        ),
        "buffers of halves": LabelPairs(memoryview(halves).toreadonly(), classes),
        "arrays of halves": LabelPairs(classes, halves),
        "a buffer and a list": LabelPairs(_viewed(array("i", plain)), classes),
    }
    rungs = tuple(Rung(name, "", "labels", pairs) for name, pairs in kinds.items())
    why = "labels and weights of all kinds, of more objects than are few"
    return Rung("more-labels", why, "several", rungs, quick=True)


def _rare() -> Rung:
    """Labels one beyond all others, carried by a single object that a sample of them passes by."""
    rungs = []
    for n in (2501, 5003):
        usual = [i // 9 % 4 + 3 for i in range(n)]  # in runs, which a sample meets
        for rare in (2, 7):
            once = [usual[0], rare, *usual[2:]]
            for clusters, classes in ((once, usual), (usual, once), (once, once)):
                pairs = LabelPairs(_viewed(array("i", clusters)), _viewed(array("i", classes)))
                rungs.append(Rung(f"{n} labels, {rare} once", "", "labels", pairs))
    why = "a label of one object, next to the range of all others"
    return Rung("rare-labels", why, "several", tuple(rungs), quick=True)


def _pieces() -> Rung:
    """So many labels that their range is found in pieces, which have other ranges each."""
    n = 2**19 + 6
    rising = array("i", (i % 3 if 2 * i < n else 5 + i % 2 for i in range(n)))
    pairs = LabelPairs(_viewed(rising), _viewed(array("i", (9 - label for label in rising))))
    return Rung("pieces-of-labels", "labels whose range no part of them has", "labels", pairs)


def margins() -> Iterable[Rung]:
    """Sizes of clusters and classes."""
    small = (
        Margins(((2, 2),), ((2, 2),), 4),
        Margins(((7, 1),), ((3, 1), (4, 1)), 7),
        Margins(((1, 6),), ((1, 6),), 6),
        Margins(((1, 1), (2, 1), (3, 1), (5, 1)), ((4, 1), (7, 1)), 11),
        Margins(((1, 1),), ((1, 1),), 1),
    )
    yield Rung("margins", "few objects, single clusters, singletons", "margins", small, quick=True)
    each = tuple((size, 1) for size in range(3, 21))
    sides = (
        Margins(((1, 1), (2, 1), *each), ((1, 3), *each), 210),
        Margins(((1, 3), *each), ((7, 30),), 210),
        Margins(((2500, 1), (500, 1)), ((2600, 1), (399, 1), (1, 1)), 3000),
    )
    why = "many sizes, most of them on both sides; overlaps above 1,024"
    yield Rung("sizes-on-both-sides", why, "margins", sides, quick=True)
    large = (
        Margins(((1, 3), (50, 2), (897, 1)), ((250, 4),), 1000),
        Margins(((100, 100),), ((99, 1), (1, 1), (4950, 2)), 10000),
    )
    yield Rung("large-margins", "thousands of objects, sizes far apart", "margins", large)
    sixes = tuple(
        Margins(((n, 2), (1, 1)), ((2 * n + 1, 1),), 2 * n + 1) for n in sizes(2, 40, each=3)
    )
    yield Rung("sizes-of-margins", "sizes without a gap", "margins", sixes)


def _viewed(labels: array[int]) -> memoryview:
    return memoryview(labels).toreadonly()


def _formats() -> Rung:
    """Buffers of all formats, with the ends of their ranges, weighted now and then."""
    rungs = []
    for place, code in enumerate(_FORMATS):
        bits = 8 * array(code).itemsize
        low, high = (
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if code.islower() else (0, (1 << bits) - 1)
        )
        few = [low, high, low + 1, high - 1, 0, 1, high // 2, high // 2 + 1]
        if bits > 32:
            few += [2**32, 2**33, 2**32 + 1]  # equal to others in 32 bits
        clusters = array(code, (few[(i * i + place) % len(few)] for i in range(300)))
        other = _FORMATS[(place + 3) % len(_FORMATS)]
        classes = array(other, (i % 11 for i in range(300)))
        weights: Sequence[int | Fraction] | None = None
        if place % 3 == 1:
            weights = [Fraction(i % 4, 3) if place % 2 else i % 5 for i in range(300)]
        pairs = LabelPairs(_viewed(clusters), _viewed(classes), weights)
        rungs.append(Rung(f"format {code}", "", "labels", pairs))
    why = "buffers of integers of all formats, to the ends of their range, some with weights"
    return Rung("formats-of-labels", why, "several", tuple(rungs), quick=True)


def _cells() -> Rung:
    """Cells of as many objects as counters of 8 and 16 bits hold, one less and one more."""
    rungs = []
    for size in (255, 256, 257, 65535, 65536, 65537):
        code = "i" if size % 2 else "q"
        clusters = array(code, [3]) * size + array(code, [4, 5, 4])
        classes = array("i", [7]) * size + array("i", [7, 8, 8])
        rungs.append(
            Rung(f"a cell of {size}", "", "labels", LabelPairs(_viewed(clusters), _viewed(classes)))
        )
    for n in sizes(1, 40, each=17):
        clusters = array("h", (i % 3 - 1 for i in range(n)))
        classes = array("B", (255 - i % 2 for i in range(n)))
        rungs.append(
            Rung(f"{n} labels", "", "labels", LabelPairs(_viewed(clusters), _viewed(classes)))
        )
    for names in ([3, 4, 3], [5, 5, 5]):  # a single class, a single cluster too
        clusters, classes = array("h", names), array("B", [7, 7, 7])
        rungs.append(
            Rung("one class", "", "labels", LabelPairs(_viewed(clusters), _viewed(classes)))
        )
        rungs.append(Rung("one class", "", "labels", LabelPairs(names, ["x"] * 3)))
    why = "cells at the ends of counters of 8 and 16 bits, in buffers; few labels"
    return Rung("full-cells", why, "several", tuple(rungs), quick=True)
