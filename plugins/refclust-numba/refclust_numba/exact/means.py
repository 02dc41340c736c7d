"""Means of clusters as nearest doubles, and the exact products behind the objective, from limbs.

Keeps the contracts of ``kmeans.means``, ``kmeans.residual`` and ``kmeans.cosine_terms``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from refclust.kernels.clusters import means as reference
from refclust.numbers.nearest import nearest
from refclust_numba.centres import matrix
from refclust_numba.exact import limbs as cutting
from refclust_numba.exact.limbs import dyadic, leading
from refclust_numba.exact.totals import LimbSums
from refclust_numba.lowlevel.compiling import compiled, inlined, room, with_room
from refclust_numba.lowlevel.scalars import bits, power_of_two, two_product, two_sum
from refclust_numba.lowlevel.threads import chunks, in_threads
from refclust_numba.prepared import Rows, joined_span
from refclust_numba.sparse.versions import Buffer, Versions

_CELLS: Final = 1 << 14  # cells of one task
_TERMS: Final = 256  # cells whose products are cut into limbs at a time
_BLOCK: Final = 64  # cells whose means are made side by side


def means(rows: Rows, sums: Any) -> Any:
    """All means one after another."""
    if not isinstance(sums, LimbSums) or sums.rows is not rows:
        return reference.means(rows.points, sums)
    cut, k, d, limbs = rows.scale, len(sums.limbs), rows.d, sums.limbs
    assert cut is not None
    if rows.dense:
        buffer, states, wanted = Buffer(k, d), np.zeros(k, np.int64), np.arange(k)
    else:
        # Clusters that are what they were when the buffer was filled are left alone.
        versions = Versions.of(rows)
        states, buffer = versions.states(sums), versions.buffer(k, d)
        wanted = np.nonzero(buffer.states != states)[0]
    buffer.states[wanted] = 0  # until they are written: whatever interrupts us, nothing is stale
    out = buffer.values
    shift, weights = sums.weight_shift, sums.weights
    high = np.array([_double(w) for w in weights])
    low = np.array([float(w - int(h)) if h < np.inf else 0.0 for w, h in zip(weights, high)])  # noqa: B905
    step = max(1, _CELLS // max(d, 1))

    def work(begin: int, end: int) -> Any:
        asked = wanted[begin:end]
        if cut.count <= 2:
            return mean_pairs(limbs, high, low, factors, cut.width, out, asked)
        return mean_cells(limbs, high, low, cut.tops, cut.width, shift, out, asked)

    factors = rows.memory.get(("factors", shift))
    if factors is None:
        factors = rows.memory["factors", shift] = _powers(cut.tops - cut.width + shift)
    for doubtful in in_threads(work, chunks(len(wanted), step)):
        for cell in doubtful.tolist():
            c, j = divmod(cell, d)
            unit = cut.unit(j) + shift
            total = cut.integer(limbs[c, :, j])
            out[cell] = nearest(total << max(unit, 0), weights[c] << max(-unit, 0))
    return buffer.finished(states)


def _powers(exponents: Any) -> Any:
    """Powers of two, 0 for those beyond ordinary doubles."""
    return np.where(np.abs(exponents) < 1000, np.ldexp(1.0, np.clip(exponents, -1000, 1000)), 0.0)


def _double(weight: int) -> float:
    try:
        return float(weight)
    except OverflowError:
        return float("inf")


@compiled
def mean_pairs(limbs, high, low, factors, width, out, asked):  # type: ignore[no-untyped-def]
    """The means of some clusters from one or two limbs; return the cells that are not proven."""
    count, d = np.uint64(limbs.shape[1]), np.uint64(limbs.shape[2])
    left = room(64, np.int64)
    waiting = 0
    flags = room(_BLOCK, np.uint8)
    flat = limbs.reshape(-1)
    block = np.uint64(_BLOCK)
    for c in asked:
        base = np.uint64(c) * d
        if high[c] == 0.0:
            out[c * d : (c + 1) * d] = 0.0
            continue
        for start in range(np.uint64(0), d, block):
            size = min(block, d - start)
            first, target = count * base + start, base + start
            second = first + d if count == 2 else first
            filled = np.int64(0)
            for j in range(size):
                filled |= flat[first + j] | flat[second + j]
            if filled == 0:
                for j in range(size):
                    out[target + j] = 0.0
            elif mean_block(
                flat, first, second, high[c], low[c], factors, start, width, out, target, size,
                flags,
            ):  # fmt: skip
                for j in range(size):
                    if flags[j]:
                        left = with_room(left, waiting)
                        left[waiting] = target + j
                        waiting += 1
    return left[:waiting].copy()


@inlined
def mean_block(  # type: ignore[no-untyped-def]
    flat, first, second, weight, rest, factors, start, width, out, target, size, flags
):
    """Some means side by side; flags those that are not proven, and says whether there are any.

    A sum is upper 2**width + lower, with lower in [0, 2**width) after the carry; upper is cut at 31
    bits, so three doubles hold it exactly, and two exact additions leave h + (e + f), of which
    only e + f is rounded, by g. Division and proof are those of ``mean_cells``. If g is 0 and the
    weight a power of two, nothing at all is rounded before the last addition, and ties are real:
    the mean is the sum of q0 and q1 rounded to even.
    """
    unit = power_of_two(-width)
    tie = 0.0 if rest == 0.0 and bits(weight) & 0xFFFFFFFFFFFFF == 0 else 2.0**-90
    usable = weight < 2.0**900
    doubts = np.uint8(0)
    for j in range(size):
        lower = flat[second + j] if first != second else np.int64(0)
        over = lower >> width
        lower -= over << width
        upper = flat[first + j] + over
        head = upper >> 31
        middle = upper - (head << 31)
        s, e = two_sum(np.float64(head) * 2147483648.0, np.float64(middle))
        s, f = two_sum(s, np.float64(lower) * unit)
        r, g = two_sum(e, f)
        h, r = two_sum(s, r)
        q0 = h / weight
        p, e = two_product(q0, weight)
        q1 = (((h - p) - e) + (r - q0 * rest)) / weight
        spread_of = abs(q0) * (tie if g == 0.0 else 2.0**-90)
        below, above = q0 + (q1 - spread_of), q0 + (q1 + spread_of)
        value = below * factors[start + j]
        size_of = abs(value)
        proven = below == above and 2.0**-1000 < size_of < 2.0**1000
        flag = np.uint8(0 if h == 0.0 or (proven and usable) else 1)
        out[target + j] = value
        flags[j] = flag
        doubts |= flag
    return doubts != 0


@compiled
def mean_cells(limbs, high, low, tops, width, shift, out, asked):  # type: ignore[no-untyped-def]
    """The means of some clusters; return the cells that could not be proven.

    The quotient q0 + q1 of double-doubles errs by less than 2**-96 of itself: the sum by 2**-100,
    q1, itself below 2**-51 of q0, by 2**-50. If q0 + (q1 - E) and q0 + (q1 + E), E = 2**-90 |q0|,
    round to one double, so does everything between them, and the exact mean is between them.
    """
    count, d = limbs.shape[1], limbs.shape[2]
    left = room(64, np.int64)
    waiting = 0
    work = room(count, np.int64)
    for c in asked:
        for j in range(d):
            cell = c * d + j
            any_limb = np.int64(0)
            for level in range(count):
                work[level] = limbs[c, level, j]
                any_limb |= work[level]
            if any_limb == 0 or high[c] == 0.0:
                out[cell] = 0.0
                continue
            h, r, first = leading(work, width)
            if h == 0.0:
                out[cell] = 0.0
                continue
            q0 = h / high[c]
            p, e = two_product(q0, high[c])
            q1 = (((h - p) - e) + (r - q0 * low[c])) / high[c]
            spread_of = abs(q0) * 2.0**-90
            below, above = q0 + (q1 - spread_of), q0 + (q1 + spread_of)
            power = tops[j] - (first + 1) * width + shift
            exponent = ((bits(below) >> 52) & 0x7FF) - 1023 + power
            ordinary = -1000 < exponent < 1000 and -1000 < power < 1000
            if below == above and ordinary and high[c] < 2.0**900:
                out[cell] = below * power_of_two(power)
            else:
                left = with_room(left, waiting)
                left[waiting] = cell
                waiting += 1
    return left[:waiting].copy()


def residual(rows: Rows, sums: Any, centres: Sequence[Any]) -> tuple[Fraction, ...]:
    """For each cluster W |c|^2 - 2 c.S."""
    integers = _products(rows, sums, centres)
    if integers is None:
        return reference.residual(rows.points, sums, centres)
    shift, weight_shift = integers[0], sums.weight_shift
    return tuple(
        dyadic(weight * square - (product << (weight_shift + 1)), shift + weight_shift)
        for weight, square, product in zip(sums.weights, integers[1], integers[2], strict=True)
    )


def cosine_terms(rows: Rows, sums: Any, centres: Sequence[Any]) -> tuple[Fraction, ...]:
    """For each cluster the square of S.c / |c|, with the sign of S.c."""
    integers = _products(rows, sums, centres)
    if integers is None:
        return reference.cosine_terms(rows.points, sums, centres)
    shift, squares, products = integers
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
    in_threads(
        lambda b, e: add_products(
            table, sums.limbs, cut.tops, cut.width, squares, products, magic, b, e
        ),
        chunks(len(table), max(1, _CELLS // rows.d)),
    )
    return (
        -own.unit(0),
        [own.integer(limbs) for limbs in squares],
        [own.integer(limbs) for limbs in products],
    )


@compiled
def add_products(  # type: ignore[no-untyped-def]
    table, limbs, tops, width, squares, products, magic, begin, end
):
    """c.c and c.S of some clusters, exactly: a limb is the sum of two doubles."""
    count, d = limbs.shape[1], limbs.shape[2]
    own = room(2 * _TERMS, np.float64)
    shared_terms = room(4 * count * _TERMS, np.float64)
    for k in range(begin, end):
        filled, others = 0, 0
        for j in range(d):
            c = table[k, j]
            if c == 0.0:
                continue
            own[filled], own[filled + 1] = two_product(c, c)
            filled += 2
            for level in range(count):
                limb = limbs[k, level, j]
                if limb == 0:
                    continue
                unit = power_of_two(tops[j] - (level + 1) * width)
                upper = limb >> 31
                scaled = np.float64(upper) * 2147483648.0 * unit
                rest = np.float64(limb - (upper << 31)) * unit
                shared_terms[others], shared_terms[others + 1] = two_product(c, scaled)
                shared_terms[others + 2], shared_terms[others + 3] = two_product(c, rest)
                others += 4
            if filled == own.shape[0]:
                cut_terms(own, filled, squares[k], magic)
                cut_terms(shared_terms, others, products[k], magic)
                filled, others = 0, 0
        cut_terms(own, filled, squares[k], magic)
        cut_terms(shared_terms, others, products[k], magic)


@compiled
def cut_terms(terms, count, into, magic):  # type: ignore[no-untyped-def]
    """Add some doubles to limbs, level by level, so that they are cut side by side."""
    for level in range(into.shape[0]):
        m = magic[level]
        total = np.int64(0)
        for p in range(np.uint64(count)):
            t = terms[p] + m
            terms[p] -= t - m
            total += bits(t)
        into[level] += total - count * bits(m)
