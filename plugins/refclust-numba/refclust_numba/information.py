"""The mean mutual information under permutation, enclosed by double-doubles with proven errors.

Keeps the contract of ``information.expected_mi``: E[I] = (1/n) sum E[k log k] + log n - ... as in
``refclust.kernels.information``. E[k log k] of one cluster and one class is T / S with
S = sum w_k and T = sum w_k k log k, where the weights start with 1 at the mode and follow the
ratios of successive probabilities outwards: all terms are positive, nothing cancels.

Errors, relative: a product, a quotient or a sum of double-doubles errs by less than 2**-101; so
a weight after s steps (two products and a quotient each) by less than s 2**-99, and N additions by
N 2**-101. The logarithm of k comes from logarithms of primes p = 3, 5, 7, ...:
log p = (log(p - 1) + log(p + 1)) / 2 + artanh(1 / (2 p**2 - 1)), whose factors are below p. Each
step down at least halves the largest factor, so for k < 2**40 an error of less than 2**-99 is
added at most 40 times: below 2**-93. What is left out beyond the last weight is below a geometric
series, and less than 2**-105 of S and of T. Together T / S errs by less than
(s + N) 2**-98 + 2**-92; more digits than that are left to the reference.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np

from refclust.kernels import information as reference
from refclust.kernels.information import Margins
from refclust.numbers.intervals import arithmetic
from refclust.numbers.real import Interval
from refclust_numba.compiling import compiled, inlined
from refclust_numba.scalars import two_product, two_sum
from refclust_numba.threads import shared

_DIGITS: Final = 30  # more are asked only where the first answer left a doubt
_LARGEST: Final = 1 << 26  # of a table of logarithms
_LOG2: Final = (0.6931471805599453, 2.3190468138462996e-17)


def expected_mi(margins: Margins, digits: int) -> Interval:
    """Enclose the mean mutual information, in nats, over all permutations of the labels."""
    n = margins.total
    row_sizes = [size for size, _ in margins.rows]
    column_sizes = [size for size, _ in margins.columns]
    most = min(max(row_sizes, default=0), max(column_sizes, default=0))
    if digits > _DIGITS or most >= _LARGEST or n >= 1 << 40:
        return reference.expected_mi(margins, digits)
    high, low = logarithms(max(most, 2))
    a = np.array(row_sizes, np.int64)
    b = np.array(column_sizes, np.int64)
    counts = np.array([count for _, count in margins.columns], np.float64)
    sums = np.empty((len(a), 3))

    def work(row: int, _worker: int) -> None:
        sums[row] = overlaps(a[row], b, counts, n, high, low)

    shared(work, len(a))
    numbers = arithmetic(digits + 10)
    below = above = Fraction(0)
    for (_, count), (upper, lower, steps) in zip(margins.rows, sums.tolist(), strict=True):
        value = count * (Fraction(upper) + Fraction(lower))
        error = value * (Fraction(int(steps) + len(b), 2**98) + Fraction(1, 2**92))
        below += value - error
        above += value + error
    overlap = (numbers.rational(below / n)[0], numbers.rational(above / n)[1])
    terms = [overlap, numbers.log_integer(n)]
    for size, count in (*margins.rows, *margins.columns):
        share = numbers.rational(Fraction(-size * count, n))
        terms.append(numbers.multiply(share, numbers.log_integer(size)))
    answer: tuple[Decimal, Decimal] = numbers.add(terms)
    return answer


@inlined
def times(a, a_low, b, b_low):  # type: ignore[no-untyped-def]
    """The product of two double-doubles."""
    p, e = two_product(a, b)
    e += a * b_low + a_low * b
    s = p + e
    return s, e - (s - p)


@inlined
def over(a, a_low, b, b_low):  # type: ignore[no-untyped-def]
    """The quotient of two double-doubles."""
    q = a / b
    p, e = two_product(q, b)
    r = (((a - p) - e) + (a_low - q * b_low)) / b
    s = q + r
    return s, r - (s - q)


@inlined
def plus(a, a_low, b, b_low):  # type: ignore[no-untyped-def]
    """The sum of two double-doubles of one sign."""
    s, e = two_sum(a, b)
    t, f = two_sum(a_low, b_low)
    e += t
    u = s + e
    e = (e - (u - s)) + f
    v = u + e
    return v, e - (v - u)


_TABLE: dict[str, Any] = {}


def logarithms(most: int) -> Any:
    """Logarithms of 0 (as 0), 1, ..., most in double-double; the longest table is kept."""
    kept = _TABLE.get("logs")
    if kept is None or len(kept[0]) <= most:
        kept = _TABLE["logs"] = log_table(max(most, 1024) + 1, *_LOG2)
    return kept


@compiled
def log_table(size, log2, log2_low):  # type: ignore[no-untyped-def]
    """Logarithms by least prime factors; p + 1 of a prime p has its factors in the table too."""
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
    return high[: size + 1], low[: size + 1]


@compiled
def overlaps(a, sizes, counts, n, logs, logs_low):  # type: ignore[no-untyped-def]
    """The sum over all classes of E[k log k] for one cluster size, and the most terms used."""
    sum_high, sum_low = 0.0, 0.0
    longest = 0
    for c in range(sizes.shape[0]):
        b = sizes[c]
        least, most = max(0, a + b - n), min(a, b)
        mode = min(
            max(np.int64(np.float64(a + 1) * np.float64(b + 1) / np.float64(n + 2)), least), most
        )
        # Any start is right; near the mode the weights stay below a small power of two.
        whole, whole_low = 1.0, 0.0
        part, part_low = times(logs[mode], logs_low[mode], np.float64(mode), 0.0)
        count = 2
        edge = np.float64(most) * logs[most]
        for direction in range(2):
            k = mode
            w, w_low = 1.0, 0.0
            steps = 0
            end = most if direction == 0 else least
            while k != end:
                if direction == 0:
                    top, top_low = two_product(np.float64(a - k), np.float64(b - k))
                    bottom, bottom_low = two_product(
                        np.float64(k + 1), np.float64(n - a - b + k + 1)
                    )
                else:
                    top, top_low = two_product(np.float64(k), np.float64(n - a - b + k))
                    bottom, bottom_low = two_product(np.float64(a - k + 1), np.float64(b - k + 1))
                ratio = top / bottom
                if ratio < 0.999:
                    # The ratios only fall from here on, so the rest is below a geometric series.
                    rest = 1.01 * w * ratio / (1.0 - ratio)
                    # Downwards k log k falls too, from its present value.
                    worth = edge if direction == 0 else np.float64(k) * logs[k]
                    if rest < whole * 2.0**-106 and rest * worth <= part * 2.0**-106:
                        break
                w, w_low = times(w, w_low, top, top_low)
                w, w_low = over(w, w_low, bottom, bottom_low)
                k += 1 if direction == 0 else -1
                steps += 1
                whole, whole_low = plus(whole, whole_low, w, w_low)
                if k > 1:
                    v, v_low = times(logs[k], logs_low[k], np.float64(k), 0.0)
                    v, v_low = times(v, v_low, w, w_low)
                    part, part_low = plus(part, part_low, v, v_low)
            count += 2 * steps
        value, value_low = over(part, part_low, whole, whole_low)
        value, value_low = times(value, value_low, counts[c], 0.0)
        sum_high, sum_low = plus(sum_high, sum_low, value, value_low)
        longest = max(longest, count)
    return sum_high, sum_low, np.float64(longest)
