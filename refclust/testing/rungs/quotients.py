"""Means that are hard to round: between two doubles, of least weights, smaller than all rows.

The short kit has the same columns as ``edges`` has, but asks for means alone.
"""

from __future__ import annotations

from dataclasses import replace

from refclust.kernels.points import Vector
from refclust.testing.rungs import LEAST, Rung, blobs_of, dense_of, rung_of, sparse_of
from refclust.testing.rungs.edges import between_doubles


def quotients() -> Rung:
    """Data sets of which means are asked."""
    rungs = [_mean(f"means of {len(rows)}", rows, None) for rows in between_doubles(few=True)]
    blobs = blobs_of(9, 3, 61)
    wide: list[Vector] = [(2.0 ** (40 * i - 160), *row) for i, row in enumerate(blobs)]
    for rows, kind in ((blobs, "narrow"), (wide, "wide")):
        for unit in (LEAST, 2.0**-1030, 2.0**-600, 2.0**900, 2.0**1015):
            weights = [unit * (1 + i % 4) for i in range(9)]
            rungs.append(_mean(f"weights around {unit:g}, {kind}", rows, weights))
    for spread in (0, 40):
        rungs += [_below(power, spread) for power in (60, 80, 100, 120)]
    zeros = (0.0, 0.0, 0.0)
    rungs += [
        Rung("centres at 0", "", "steps", dense_of(blobs), 1, (zeros,)),
        Rung("two centres at 0", "", "steps", dense_of(blobs), 2, (zeros, zeros)),
        Rung(
            "centres at 0, sparse", "", "steps", sparse_of([{1: 2.0}, {}, {0: 0.1}], 3), 1, (zeros,)
        ),
    ]
    why = "means between two doubles, of least weights, and smaller than any row"
    return Rung("quotients", why, "several", tuple(rungs), quick=True)


def _mean(name: str, rows: list[Vector], weights: list[float] | None) -> Rung:
    rung = rung_of(name, "", dense_of(rows, weights), kind="path", centres=(rows[0],))
    return replace(rung, path=((rows[0],),))


def _below(power: int, spread: int) -> Rung:
    """A row of tiny numbers, and one of zeros that weighs so much that the mean is subnormal."""
    tiny = tuple((2 * j + 3) * 2.0 ** (-940 - j // 4) for j in range(12))
    rows: list[Vector] = [(*tiny, 1.0), (*(0.0,) * 12, 2.0**spread)]
    return _mean(f"means of tiny rows over 2^{power}", rows, [1.0, 2.0**power])
