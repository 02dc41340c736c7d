"""The mean mutual information under permutation, enclosed by double-doubles with proven errors.

Keeps the contract of ``information.expected_mi``: E[I] = (1/n) sum E[k log k] + log n - ... as in
``refclust.kernels.information``. E[k log k] of one cluster and one class is T / S with
S = sum w_k and T = sum w_k k log k, where the weights start with 1 at the mode and follow the
ratios of successive probabilities outwards: all terms are positive, nothing cancels.

Errors, relative: a product, a quotient or a sum of double-doubles errs by less than 2**-101; so
a weight after s steps (a product and a quotient each) by less than s 2**-100, and N additions by
N 2**-101. The logarithm of k comes from logarithms of primes p = 3, 5, 7, ...:
log p = (log(p - 1) + log(p + 1)) / 2 + artanh(1 / (2 p**2 - 1)), whose factors are below p. Each
step down at least halves the largest factor, so for k < 2**40 an error of less than 2**-99 is
added at most 40 times: below 2**-93.

As soon as all further weights are worth less than 2**-46 of S and of T, they go on as doubles:
dropping the low part, four roundings for each of s steps, two for the factor k log k and s for
adding up make less than (5 s + 4) 2**-53 of that. What is left out beyond the last weight is below
a geometric series, and less than 2**-102 of S and of T. T and S together err by less than twice
s 2**-100 + (s + 1) 2**-101 + 2**-93 + (5 s + 4) 2**-99 + 2**-102, and their quotient, its product
with a count and the sum of N of these by (N + 3) 2**-101 more: less than
(s + 1) 2**-95 + N 2**-101 + 2**-92. More digits than that are left to the reference.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np

from refclust.kernels import information as reference
from refclust.kernels.information import Margins, Sizes
from refclust.numbers.real import Interval
from refclust.numbers.reals.intervals import arithmetic
from refclust.numbers.reals.logs import enclose_log_sum
from refclust_numba.lowlevel.compiling import compiled, inlined, room
from refclust_numba.lowlevel.scalars import fused, two_product, two_sum
from refclust_numba.lowlevel.threads import chunks, shared

_DIGITS: Final = 30  # more are asked only where the first answer left a doubt
_LARGEST: Final = 1 << 26  # of a table of logarithms
_LOG2: Final = (0.6931471805599453, 2.3190468138462996e-17)
_UNIT_BITS: Final = 160  # sums of double-doubles become integers in units of 2**-160
_ROWS: Final = 8  # cluster sizes that a thread takes at once

# Classes of similar size are worked on side by side, each in a lane of its own; one array holds
# all that is known of them, so that the compiler sees that nothing overlaps.
_LANES: Final = 16
(
    _WEIGHT, _WEIGHT_LOW, _WHOLE, _WHOLE_LOW, _PART, _PART_LOW, _PLACE, _SIZE, _WORTH, _FACTOR,
    _FACTOR_LOW, _TAIL, _TAIL_PART,
) = range(0, 13 * _LANES, _LANES)  # fmt: skip


def expected_mi(margins: Margins, digits: int) -> Interval:
    """Enclose the mean mutual information, in nats, over all permutations of the labels."""
    n = margins.total
    most = min(
        max((size for size, _ in side), default=0) for side in (margins.rows, margins.columns)
    )
    if digits > _DIGITS or most >= _LARGEST or n >= 1 << 40:
        return reference.expected_mi(margins, digits)
    common = sorted(dict(margins.rows).keys() & dict(margins.columns).keys())
    rows = _in_order(margins.rows, common)
    columns = _in_order(margins.columns, common, pad=_LANES)
    values = k_log_k(max(most, 2))
    sums = np.empty((rows.shape[1], 3))
    pieces = chunks(len(sums), _ROWS)

    def work(piece: int, _worker: int) -> None:
        overlaps(rows, columns, len(common), float(n), *values, sums, *pieces[piece])

    shared(work, len(pieces))
    whole = 0
    for upper, lower, _ in sums.tolist():
        # Cutting both parts to whole units loses less than one of each.
        whole += int(math.ldexp(upper, _UNIT_BITS)) + int(math.ldexp(lower, _UNIT_BITS))
    steps = int(sums[:, 2].max(initial=0))
    terms = ((steps + 1) << 6) + columns.shape[1]
    error = (whole * terms >> 101) + (whole >> 92) + 2 + 2 * len(sums)
    numbers, unit = arithmetic(_DIGITS), Decimal(n << _UNIT_BITS)
    overlap = (
        numbers.down.divide(Decimal(whole - error), unit),
        numbers.up.divide(Decimal(whole + error), unit),
    )
    weights = Counter({n: n})
    for size, count in (*margins.rows, *margins.columns):
        weights[size] -= size * count
    return numbers.add([overlap, enclose_log_sum(weights, n, _DIGITS)])


def _in_order(sizes: Sizes, common: Sequence[int], pad: int = 1) -> Any:
    """Sizes and how often they occur: first the common ones; filled up with some that never do."""
    counts: Counter[int] = Counter()
    for size, count in sizes:
        counts[size] += count
    order = [*common, *sorted(counts.keys() - set(common))]
    missing = -len(order) % pad
    return np.array(
        [order + order[-1:] * missing, [counts[size] for size in order] + [0] * missing],
        np.float64,
    )


@inlined
def times(a, a_low, b, b_low):  # type: ignore[no-untyped-def]
    """The product of two double-doubles."""
    p, e = two_product(a, b)
    e += a * b_low + a_low * b
    s = p + e
    return s, e - (s - p)


@inlined
def over(a, a_low, b, b_low):  # type: ignore[no-untyped-def]
    """The quotient of two double-doubles.

    q errs by less than 2 ulps, so the rest a - q b is below 2**-51 a; it is rounded once, its own
    quotient three times.
    """
    inverse = 1.0 / b
    q = a * inverse
    r = (fused(-q, b, a) + (a_low - q * b_low)) * inverse
    s = q + r
    return s, r - (s - q)


@inlined
def plus(a, a_low, b, b_low):  # type: ignore[no-untyped-def]
    """The sum of two double-doubles of one sign, which cannot cancel."""
    s, e = two_sum(a, b)
    e += a_low + b_low
    v = s + e
    return v, e - (v - s)


_TABLE: dict[str, Any] = {}


def k_log_k(most: int) -> Any:
    """k log k for 0, 1, ..., most in double-double; the longest table is kept."""
    kept = _TABLE.get("values")
    if kept is None or len(kept[0]) <= most:
        kept = _TABLE["values"] = log_table(max(most, 1024) + 1, *_LOG2)
    return kept


@compiled
def log_table(size, log2, log2_low):  # type: ignore[no-untyped-def]
    """k log k, the logarithms by least prime factors.

    p + 1 of a prime p has its factors in the table too.
    """
    length = size + 1
    factor = np.zeros(length + 1, np.int64)
    for i in range(2, length + 1):
        if factor[i] == 0:
            for j in range(i, length + 1, i):
                if factor[j] == 0:
                    factor[j] = i
    high, low = np.zeros(length + 1), np.zeros(length + 1)
    high[2], low[2] = log2, log2_low
    for k in range(3, length + 1):
        p = factor[k]
        if p < k:
            high[k], low[k] = plus(high[p], low[p], high[k // p], low[k // p])
            continue
        # log(p + 1) is not in the table yet: put it together from 2 and what is left.
        rest = (p + 1) // 2
        up, up_low = plus(log2, log2_low, high[rest], low[rest])
        up, up_low = plus(up, up_low, high[p - 1], low[p - 1])
        z, z_low = over(1.0, 0.0, 2.0 * p * p - 1.0, 0.0)
        square, square_low = times(z, z_low, z, z_low)
        term, term_low = z, z_low
        total, total_low = z, z_low
        step = 1.0
        while term > total * 2.0**-112:
            term, term_low = times(term, term_low, square, square_low)
            step += 2.0
            part, part_low = over(term, term_low, step, 0.0)
            total, total_low = plus(total, total_low, part, part_low)
        high[k], low[k] = plus(0.5 * up, 0.5 * up_low, total, total_low)
    for k in range(length + 1):
        high[k], low[k] = times(high[k], low[k], np.float64(k), 0.0)
    return high[: size + 1], low[: size + 1]


@compiled
def overlaps(rows, columns, common, n, values, values_low, sums, begin, end):  # type: ignore[no-untyped-def]
    """For some cluster sizes the sum over the classes of E[k log k], and the most terms used.

    Rows and columns hold sizes and how often these occur. It is the same for clusters of size a
    and classes of size b as the other way round: of two sizes that both sides have in common,
    which come first, the earlier one answers for both.
    """
    lanes, modes = room(13 * _LANES, np.float64), room(_LANES, np.float64)
    places = room(_LANES, np.int64)
    for row in range(begin, end):
        a, own = rows[0, row], row if row < common else 0
        total, total_low, longest = 0.0, 0.0, 0
        for first in range(own // _LANES * _LANES, columns.shape[1], _LANES):
            for c in range(_LANES):
                b = columns[0, first + c]
                # Any start is right; near the mode the weights stay below a small power of two.
                mode = np.floor((a + 1.0) * (b + 1.0) / (n + 2.0))
                modes[c] = min(max(mode, max(0.0, a + b - n)), min(a, b))
                k = places[c] = np.int64(modes[c])
                lanes[_WHOLE + c], lanes[_WHOLE_LOW + c] = 1.0, 0.0
                lanes[_PART + c], lanes[_PART_LOW + c] = values[k], values_low[k]
                lanes[_PLACE + c], lanes[_SIZE + c] = modes[c], b
                lanes[_WORTH + c] = values[np.int64(min(a, b))]
            steps = climb(a, n, lanes, places, 1, values, values_low)
            for c in range(_LANES):
                # Downwards the same with the objects outside of the class: as k falls, the rest
                # a - k of the cluster grows, and k log k is never worth more than at the start.
                places[c] = np.int64(modes[c])
                lanes[_PLACE + c], lanes[_SIZE + c] = a - modes[c], n - columns[0, first + c]
                lanes[_WORTH + c] = values[places[c]]
            steps += climb(a, n, lanes, places, -1, values, values_low)
            longest = max(longest, steps)
            for c in range(_LANES):
                whole, whole_low = lanes[_WHOLE + c], lanes[_WHOLE_LOW + c]
                v, v_low = over(lanes[_PART + c], lanes[_PART_LOW + c], whole, whole_low)
                lanes[_PART + c], lanes[_PART_LOW + c] = v, v_low
            for c in range(max(own - first, 0), _LANES):
                column = first + c
                m, m_low = two_product(rows[1, row], columns[1, column])
                if row < column < common:
                    t, t_low = two_product(rows[1, column], columns[1, row])
                    m, m_low = plus(m, m_low, t, t_low)
                v, v_low = times(lanes[_PART + c], lanes[_PART_LOW + c], m, m_low)
                total, total_low = plus(total, total_low, v, v_low)
        sums[row, 0], sums[row, 1], sums[row, 2] = total, total_low, longest


@compiled
def climb(a, n, lanes, places, direction, values, values_low):  # type: ignore[no-untyped-def]
    """Add the weights upwards from a place x in each lane; say how many steps that takes.

    In a lane of size b the next weight is (a - x) (b - x) / ((x + 1) (n - a - b + x + 1)) of this
    one. It counts for k log k, where k goes up or down by one. Beyond the last x it is zero.
    """
    steps = 0
    for c in range(_LANES):
        lanes[_WEIGHT + c], lanes[_WEIGHT_LOW + c] = 1.0, 0.0
        lanes[_TAIL + c], lanes[_TAIL_PART + c] = 0.0, 0.0
    while matters(a, n, lanes, 2.0**-46):
        for c in range(_LANES):
            x, b = lanes[_PLACE + c], lanes[_SIZE + c]
            top, top_low = two_product(a - x, b - x)
            bottom, bottom_low = two_product(x + 1.0, (n - a - b) + (x + 1.0))
            w, w_low = times(lanes[_WEIGHT + c], lanes[_WEIGHT_LOW + c], top, top_low)
            w, w_low = over(w, w_low, bottom, bottom_low)
            s, s_low = plus(lanes[_WHOLE + c], lanes[_WHOLE_LOW + c], w, w_low)
            lanes[_WEIGHT + c], lanes[_WEIGHT_LOW + c] = w, w_low
            lanes[_WHOLE + c], lanes[_WHOLE_LOW + c] = s, s_low
            lanes[_PLACE + c] = x + 1.0
        look_up(lanes, places, direction, values, values_low)
        for c in range(_LANES):
            w, w_low = lanes[_WEIGHT + c], lanes[_WEIGHT_LOW + c]
            v, v_low = times(w, w_low, lanes[_FACTOR + c], lanes[_FACTOR_LOW + c])
            p, p_low = plus(lanes[_PART + c], lanes[_PART_LOW + c], v, v_low)
            lanes[_PART + c], lanes[_PART_LOW + c] = p, p_low
        steps += 1
    while matters(a, n, lanes, 2.0**-102):
        for _ in range(2):
            for c in range(_LANES):
                x, b = lanes[_PLACE + c], lanes[_SIZE + c]
                top, bottom = (a - x) * (b - x), (x + 1.0) * ((n - a - b) + (x + 1.0))
                w = lanes[_WEIGHT + c] * top / bottom
                lanes[_WEIGHT + c] = w
                lanes[_TAIL + c] += w
                lanes[_PLACE + c] = x + 1.0
            look_up(lanes, places, direction, values, values_low)
            for c in range(_LANES):
                lanes[_TAIL_PART + c] += lanes[_WEIGHT + c] * lanes[_FACTOR + c]
        steps += 2
    for c in range(_LANES):
        s, s_low = plus(lanes[_WHOLE + c], lanes[_WHOLE_LOW + c], lanes[_TAIL + c], 0.0)
        p, p_low = plus(lanes[_PART + c], lanes[_PART_LOW + c], lanes[_TAIL_PART + c], 0.0)
        lanes[_WHOLE + c], lanes[_WHOLE_LOW + c] = s, s_low
        lanes[_PART + c], lanes[_PART_LOW + c] = p, p_low
    return steps


@inlined
def matters(a, n, lanes, share):  # type: ignore[no-untyped-def]
    """Whether all further weights of some lane may exceed a share of its sums.

    The ratios r only fall from here on, so they are below a geometric series: w r / (1 - r).
    """
    some = 0
    for c in range(_LANES):
        x, b = lanes[_PLACE + c], lanes[_SIZE + c]
        top, bottom = (a - x) * (b - x), (x + 1.0) * ((n - a - b) + (x + 1.0))
        rest, limit = 1.01 * lanes[_WEIGHT + c] * top, share * (bottom - top)
        some |= (rest > limit * lanes[_WHOLE + c]) | (
            rest * lanes[_WORTH + c] > limit * lanes[_PART + c]
        )
    return some != 0


@inlined
def look_up(lanes, places, direction, values, values_low):  # type: ignore[no-untyped-def]
    """Put the next k log k into the lanes; a lane that has come to its end may read any."""
    last = values.shape[0] - 1
    for c in range(_LANES):
        k = places[c] = min(max(places[c] + direction, 0), last)
        lanes[_FACTOR + c], lanes[_FACTOR_LOW + c] = values[k], values_low[k]
