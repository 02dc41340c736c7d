"""Means that are hard to round: between two doubles, of least weights, smaller than all rows.

The short kit has the same columns as ``edges`` has, but asks for means alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from refclust.kernels.points import Vector
from refclust.testing.rungs import LEAST, Rung, blobs_of, dense_of, rung_of, sparse_of
from refclust.testing.rungs.centres.edges import between_doubles


def quotients() -> Iterator[Rung]:
    """Data sets of which means are asked, or sums of squares beside centres."""
    rungs = [_mean(f"means of {len(rows)}", rows, None) for rows in between_doubles(few=True)]
    blobs = blobs_of(9, 3, 61)
    wide: list[Vector] = [(2.0 ** (40 * i - 160), *row) for i, row in enumerate(blobs)]
    for rows, kind in ((blobs, "narrow"), (wide, "wide")):
        for unit in (LEAST, 2.0**-1030, 2.0**-600, 2.0**900, 2.0**1015):
            weights = [unit * (1 + i % 4) for i in range(9)]
            rungs.append(_mean(f"weights around {unit:g}, {kind}", rows, weights))
    for spread in (0, 40):
        rungs += [_below(power, spread) for power in (64, 80, 100, 120)]
    rungs += [_mean("long sums of a wide column", _many(), None), _mean("apart", _apart(), None)]
    for size in (0.0, LEAST, -3 * LEAST):
        for data in (dense_of(blobs), sparse_of([{1: 2.0}, {}, {0: 0.1}], 3)):
            path = (((size, 0.0, -0.0), (0.0, size, 0.0))[: 2 if size else 1],)
            rung = rung_of(f"centres at {size}", "", data, kind="path", centres=path[0])
            rungs.append(replace(rung, path=path))
    why = "means between two doubles, of least weights, and smaller than any row"
    yield Rung("quotients", why, "several", tuple(rungs), quick=True)
    why = "rows and centres around each power of two from 1 to 2^120, and back"
    powers = tuple(_around(power) for power in range(-120, 121))
    yield Rung("powers-of-two", why, "several", powers)


def _many() -> list[Vector]:
    """Numbers with all their digits, so many that their sum needs more, and one tiny number."""
    return [(1.0 + i / 1009, 1e6 + i / 3, 2.0**-180 if i == 7 else i / 7) for i in range(260)]


def _apart() -> list[Vector]:
    """Columns so different that no common unit suits them."""
    return [(2.0**500 * (1 + i / 7), 2.0**-390 * (i - 3) / 3, i / 5, 2.0**-300) for i in range(9)]


def _around(power: int) -> Rung:
    scale = 2.0**power
    rows: list[Vector] = [(scale,), (3 * scale,), (-scale / 2,)]
    return _mean(f"around 2^{power}", rows, None)


def _mean(name: str, rows: list[Vector], weights: list[float] | None) -> Rung:
    rung = rung_of(name, "", dense_of(rows, weights), kind="path", centres=(rows[0],))
    return replace(rung, path=((rows[0],),))


def _below(power: int, spread: int) -> Rung:
    """A row of tiny numbers, and one of zeros that weighs so much that the mean is subnormal."""
    tiny = tuple((2 * j + 3) * 2.0 ** (-940 - j // 4) for j in range(12))
    rows: list[Vector] = [(*tiny, 1.0), (*(0.0,) * 12, 2.0**spread)]
    return _mean(f"means of tiny rows over 2^{power}", rows, [1.0, 2.0**power])
