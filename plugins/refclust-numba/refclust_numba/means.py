"""Means of clusters as nearest doubles, and the exact products behind the objective, from limbs.

Keeps the contracts of ``kmeans.means``, ``kmeans.residual`` and ``kmeans.cosine_terms``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from refclust.kernels import means as reference
from refclust.numbers.nearest import nearest
from refclust_numba import limbs as cutting
from refclust_numba.centres import matrix
from refclust_numba.compiling import compiled
from refclust_numba.limbs import deposit_product, dyadic, leading, leading_two
from refclust_numba.prepared import Rows, joined_span
from refclust_numba.scalars import bits, power_of_two, two_product
from refclust_numba.sums import LimbSums
from refclust_numba.threads import shared

_CELLS: Final = 1 << 14  # cells of one task


def means(rows: Rows, sums: Any) -> Any:
    """All means one after another."""
    if not isinstance(sums, LimbSums) or sums.rows is not rows:
        return reference.means(rows.points, sums)
    cut, k, d = rows.scale, len(sums.limbs), rows.d
    assert cut is not None
    shift, weights = sums.weight_shift, sums.weights
    high = np.array([_double(w) for w in weights])
    low = np.array([float(w - int(h)) if h < np.inf else 0.0 for w, h in zip(weights, high)])  # noqa: B905
    out = np.empty(k * d)
    step = max(1, _CELLS // max(d, 1))
    pieces = [(b, min(b + step, k)) for b in range(0, k, step)]
    doubts: list[Any] = [None] * len(pieces)

    def work(piece: int, _worker: int) -> None:
        begin, end = pieces[piece]
        doubts[piece] = mean_cells(
            sums.limbs, high, low, cut.tops, cut.width, shift, out, begin, end
        )

    shared(work, len(pieces))
    for doubtful in doubts:
        for cell in doubtful.tolist():
            c, j = divmod(cell, d)
            unit = cut.unit(j) + shift
            total = cut.integer(sums.limbs[c, :, j])
            out[cell] = nearest(total << max(unit, 0), weights[c] << max(-unit, 0))
    return memoryview(out)  # type: ignore[arg-type]


def _double(weight: int) -> float:
    try:
        return float(weight)
    except OverflowError:
        return float("inf")


@compiled
def mean_cells(limbs, high, low, tops, width, shift, out, begin, end):  # type: ignore[no-untyped-def]
    """The means of some clusters; return the cells that could not be proven.

    The quotient q0 + q1 of double-doubles errs by less than 2**-96 of itself: the sum by 2**-100,
    q1, itself below 2**-51 of q0, by 2**-50. If q0 + (q1 - E) and q0 + (q1 + E), E = 2**-90 |q0|,
    round to one double, so does everything between them, and the exact mean is between them.
    """
    count, d = limbs.shape[1], limbs.shape[2]
    left = np.empty((end - begin) * d, np.int64)
    waiting = 0
    work = np.empty(count, np.int64)
    for c in range(begin, end):
        for j in range(d):
            cell = c * d + j
            any_limb = np.int64(0)
            for level in range(count):
                work[level] = limbs[c, level, j]
                any_limb |= work[level]
            if any_limb == 0 or high[c] == 0.0:
                out[cell] = 0.0
                continue
            if count == 2:
                h, r, first = leading_two(work[0], work[1], width)
            else:
                h, r, first = leading(work, width)
            if h == 0.0:
                out[cell] = 0.0
                continue
            q0 = h / high[c]
            p, e = two_product(q0, high[c])
            q1 = (((h - p) - e) + (r - q0 * low[c])) / high[c]
            spread = abs(q0) * 2.0**-90
            below, above = q0 + (q1 - spread), q0 + (q1 + spread)
            power = tops[j] - (first + 1) * width + shift
            exponent = ((bits(below) >> 52) & 0x7FF) - 1023 + power
            ordinary = -1000 < exponent < 1000 and -1000 < power < 1000
            if below == above and ordinary and high[c] < 2.0**900:
                out[cell] = below * power_of_two(power)
            else:
                left[waiting] = cell
                waiting += 1
    return left[:waiting].copy()


def residual(rows: Rows, sums: Any, centres: Sequence[Any]) -> tuple[Fraction, ...]:
    """For each cluster W |c|^2 - 2 c.S."""
    found = _products(rows, sums, centres)
    if found is None:
        return reference.residual(rows.points, sums, centres)
    shift, weight_shift = found[0], sums.weight_shift
    return tuple(
        dyadic(weight * square - (product << (weight_shift + 1)), shift + weight_shift)
        for weight, square, product in zip(sums.weights, found[1], found[2], strict=True)
    )


def cosine_terms(rows: Rows, sums: Any, centres: Sequence[Any]) -> tuple[Fraction, ...]:
    """For each cluster the square of S.c / |c|, with the sign of S.c."""
    found = _products(rows, sums, centres)
    if found is None:
        return reference.cosine_terms(rows.points, sums, centres)
    shift, squares, products = found
    return tuple(
        Fraction((p * abs(p)) << max(-shift, 0), s << max(shift, 0)) if p else Fraction(0)
        for s, p in zip(squares, products, strict=True)
    )


def _products(
    rows: Rows, sums: Any, centres: Sequence[Any]
) -> tuple[int, list[int], list[int]] | None:
    """|c|^2 and c.S of each cluster as integers over 2**shift, or nothing if limbs cannot."""
    if not isinstance(sums, LimbSums) or sums.rows is not rows:
        return None
    table, cut = matrix(centres), rows.scale
    assert cut is not None
    top, low = joined_span(table.reshape(-1))
    if top == -2000:
        return 0, [0] * len(table), [0] * len(table)
    # A limb is below 2**62 times its unit, the first unit is 2**(top - width).
    highest = max(2 * top, top + int(cut.tops.max()) - cut.width + 63)
    lowest = min(2 * low, low + int(cut.tops.min()) - cut.count * cut.width)
    own = cutting.scale(np.array([highest]), lowest, (4 * cut.count + 2) * rows.d)
    if own is None:
        return None
    magic = np.ascontiguousarray(own.magic[:, 0])
    squares = np.zeros((len(table), own.count), np.int64)
    products = np.zeros((len(table), own.count), np.int64)
    step = max(1, _CELLS // rows.d)
    pieces = [(b, min(b + step, len(table))) for b in range(0, len(table), step)]

    def work(piece: int, _worker: int) -> None:
        begin, end = pieces[piece]
        add_products(table, sums.limbs, cut.tops, cut.width, squares, products, magic, begin, end)

    shared(work, len(pieces))
    return (
        -own.unit(0),
        [own.integer(one) for one in squares],
        [own.integer(one) for one in products],
    )


@compiled
def add_products(  # type: ignore[no-untyped-def]
    table, limbs, tops, width, squares, products, magic, begin, end
):
    """c.c and c.S of some clusters, exactly: a limb is the sum of two doubles."""
    count, d = limbs.shape[1], limbs.shape[2]
    for k in range(begin, end):
        for j in range(d):
            c = table[k, j]
            if c == 0.0:
                continue
            deposit_product(squares[k], c, c, magic, 1)
            for level in range(count):
                limb = limbs[k, level, j]
                if limb != 0:
                    unit = power_of_two(tops[j] - (level + 1) * width)
                    upper = limb >> 31
                    rest = limb - (upper << 31)
                    if upper != 0:
                        scaled = np.float64(upper) * 2147483648.0
                        deposit_product(products[k], c, scaled * unit, magic, 1)
                    if rest != 0:
                        deposit_product(products[k], c, np.float64(rest) * unit, magic, 1)
