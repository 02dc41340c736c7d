"""Where a short way ends: means between two doubles, every power of two, products in parts.

A kernel that is quick on most data asks first whether these allow it. The data here lie on either
side of such questions: quotients at so small a distance from the middle of two doubles that pairs
of doubles cannot tell; numbers whose squares, or the squares of whose centres alone, leave the
doubles; sums that are zero throughout; as many rows, columns and centres that no product of all of
them is small, though none of the three is large.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from refclust.kernels.points import Vector
from refclust.testing.rungs import Rung, dense_of, sparse_of

_FRACTIONS: Final = (*range(56, 132, 2), 200, 500, 1000)
_MIDDLES: Final = (-(2.0**-54), 2.0**-53, 3 * 2.0**-53)  # from 1.0, beside which they lie


def edges() -> Iterable[Rung]:
    """All of them."""
    yield _means()
    yield _powers()
    yield _products()


def _means() -> Rung:
    """Columns whose mean is the middle of two doubles, but for a tiny part of it, or exactly."""
    rungs = tuple(
        Rung(f"means of {len(rows)}", "", "steps", dense_of(_scaled(rows, scale)), 1,
             (_scaled(rows, scale)[0],))
        for rows in between_doubles()
        for scale in (1.0, -(2.0**300))
    )  # fmt: skip
    why = "means so near to the middle of two doubles that pairs of doubles cannot tell"
    return Rung("means-between", why, "several", rungs)


def between_doubles(*, few: bool = False) -> tuple[list[Vector], list[Vector]]:
    """Four rows and three rows whose means are such.

    The mean of 2, 2, 4 m and a power of two t is 1 + m + t / 4, that of 2, 1 and 3 m + t is
    1 + m + t / 3; below 1 doubles lie closer together than above.

    Spec: none (made-up data)
    """
    fractions = _FRACTIONS[::4] if few else _FRACTIONS
    parts = [0.0, *(sign * 2.0**-k for k in fractions for sign in (1.0, -1.0))]
    wide: list[Vector] = [
        tuple(_of_four(m, t)[i] for m in _MIDDLES for t in parts) for i in range(4)
    ]
    # 3 m + t has to be a double.
    some = [t for t in parts if abs(t) >= 2.0**-104 or not t]
    three: list[Vector] = [
        tuple(_of_three(m, t)[i] for m in _MIDDLES for t in some) for i in range(3)
    ]
    return wide, three


def _of_four(middle: float, part: float) -> tuple[float, ...]:
    return 2.0, 2.0, 4 * middle, part


def _of_three(middle: float, part: float) -> tuple[float, ...]:
    return 2.0, 1.0, 3 * middle + part


def _scaled(rows: list[Vector], scale: float) -> list[Vector]:
    return [tuple(scale * x for x in row) for row in rows]


def _powers() -> Rung:
    """Numbers around every sixtieth power of two, those of centres too; rows that are zero."""
    rungs = []
    for place, power in enumerate(range(-1020, 1020, 60)):
        rows = _scaled(
            [(1.0, 0.5), (1.5, -0.25), (-1.25, 0.75), (0.0, 1.75), (-1.5, -1.0)], 2.0**power
        )
        weights = [0.5, 1.0, 3.0, 0.1, 2.0] if place % 3 == 1 else None
        data = (
            dense_of(rows, weights) if place % 4 else sparse_of([{0: x, 1: y} for x, y in rows], 2)
        )
        rungs.append(Rung(f"around 2^{power}", "", "steps", data, 2, (rows[0], rows[2])))
    ones: tuple[Vector, ...] = ((1.0, -2.0), (0.5, 0.25))
    rungs.append(Rung("zeros", "", "steps", dense_of([(0.0, 0.0)] * 5), 2, ones))
    rungs.append(Rung("no numbers", "", "steps", sparse_of([{}] * 5, 2), 2, ones))
    far = tuple(tuple(2.0**200 * x for x in centre) for centre in ones)
    rungs.append(Rung("zeros, far from centres", "", "steps", dense_of([(0.0, 0.0)] * 5), 2, far))
    for power in (-700, 700):  # the rows alone are ordinary
        far = tuple(tuple(2.0**power * x for x in centre) for centre in ones)
        rows = [(1.0, 0.5), (0.25, -1.0), (3.0, 2.0)]
        rungs.append(Rung(f"centres around 2^{power}", "", "steps", dense_of(rows), 2, far))
    why = (
        "rows and centres of every size: squares of some leave the doubles, those of others do not"
    )
    return Rung("every-power", why, "several", tuple(rungs))


def _products() -> Rung:
    """Rows, columns and centres of which none is many: together they are."""
    n, d, k = 331, 59, 17
    rows: list[Vector] = [
        tuple(float((i * (j + 7) + i * i // 5 + j * j) % 23 - 11) for j in range(d))
        for i in range(n)
    ]
    centres = tuple(rows[i * 19] for i in range(k))
    why = "more products than a part holds, though neither rows nor columns nor centres are many"
    inner = Rung(f"{n} x {d}, K = {k}", "", "steps", dense_of(rows), k, centres)
    return Rung("products-in-parts", why, "several", (inner,))
