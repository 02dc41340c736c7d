"""The kernel behind adjusted mutual information: the expectation of I under permutation (43).

E[I] = (1/n) Σ_{a,b} E[k log k] + log n − (1/n) Σ a log a − (1/n) Σ b log b, where a and b run over
the cluster and the class sizes and k, the size of their overlap, is hypergeometric. The identity
follows from E[k] = ab/n and needs no factorial. Pairs of large sizes take a series of moments
instead (``overlaps``), which needs no logarithm either.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from refclust.kernels.contracts.basic import Enclosing
from refclust.kernels.overlaps import by_moments, moments_needed
from refclust.kernels.registry import kernel
from refclust.numbers.real import Interval
from refclust.numbers.reals.intervals import Arithmetic, arithmetic

Sizes: TypeAlias = tuple[tuple[int, int], ...]
_GUARD_BITS = 48  # the steps away from the mode lose less than one unit each: 2**48 are plenty


@dataclass(frozen=True, slots=True)
class Margins:
    """The sizes of the clusters and of the classes, each with how often it occurs."""

    rows: Sizes
    columns: Sizes
    total: int


@kernel("information.expected_mi", contract=Enclosing())
def expected_mi(margins: Margins, digits: int) -> Interval:
    """Enclose the mean mutual information, in nats, over all permutations of the labels.

    Spec: EMI, KER-EMI

    >>> low, high = expected_mi(Margins(((2, 2),), ((2, 2),), 4), 20)
    >>> str(low)[:18], str(high)[:18]
    ('0.2310490601866484', '0.2310490601866484')
    """
    n, numbers = margins.total, arithmetic(digits + 10)
    scale = 1 << (math.ceil(digits * math.log2(10)) + _GUARD_BITS)
    logs = _ScaledLogs(numbers, scale)
    low = high = 0
    terms: list[Interval] = []
    weights: Counter[int] = Counter()  # of the logarithms, times n²
    for a, rows in margins.rows:
        for b, columns in margins.columns:
            count = rows * columns
            last = moments_needed(a, b, n, digits)
            if last is not None:
                part = by_moments(a, b, n, last, numbers)
                terms.append(numbers.multiply((Decimal(count), Decimal(count)), part))
                continue
            below, above = _expected_k_log_k(a, b, n, scale, logs)
            low += count * below
            high += count * above
            weights[n] += a * b * count
            weights[a] -= a * b * count
            weights[b] -= a * b * count
    unit = Decimal(n * scale)
    terms.append((numbers.down.divide(Decimal(low), unit), numbers.up.divide(Decimal(high), unit)))
    for size, weight in weights.items():
        share = numbers.ratio(weight, n * n)
        terms.append(numbers.multiply(share, numbers.log_integer(size)))
    return numbers.add(terms)


class _ScaledLogs:
    """k log k times the scale, rounded down and up to integers."""

    def __init__(self, numbers: Arithmetic, scale: int) -> None:
        self._numbers, self._scale = numbers, scale
        self._known: dict[int, tuple[int, int]] = {0: (0, 0), 1: (0, 0)}

    def __getitem__(self, k: int) -> tuple[int, int]:
        bounds = self._known.get(k)
        if bounds is None:
            low, high = self._numbers.log_integer(k)
            bounds = (
                math.floor(k * Fraction(low) * self._scale),
                math.ceil(k * Fraction(high) * self._scale),
            )
            self._known[k] = bounds
        return bounds


def _expected_k_log_k(a: int, b: int, n: int, scale: int, logs: _ScaledLogs) -> tuple[int, int]:
    """Enclose E[k log k] times the scale for the overlap k of a cluster and a class.

    Weights start with ``scale`` at the mode and follow the ratio of successive probabilities
    outwards. Each floor loses less than 1, and ratios below 1 never magnify a loss, so after s
    steps the true weight lies in [w, w + s]. Dividing by their sum normalises them.
    """
    least, most = max(0, a + b - n), min(a, b)
    mode = min(max((a + 1) * (b + 1) // (n + 2), least), most)
    low_log, high_log = logs[mode]
    weight_low, weight_high = scale, scale
    sum_low, sum_high = scale * low_log, scale * high_log
    for direction, end in ((1, most), (-1, least)):
        k, weight, steps = mode, scale, 0
        while k != end:
            if direction > 0:
                top, bottom = (a - k) * (b - k), (k + 1) * (n - a - b + k + 1)
            else:
                top, bottom = k * (n - a - b + k), (a - k + 1) * (b - k + 1)
            # The ratios only fall from here on, so the rest is below a geometric series.
            if weight * top < bottom - top and top < bottom:
                rest = (weight + steps) * top // (bottom - top) + 1
                weight_high += rest
                sum_high += rest * logs[most][1]
                break
            weight = weight * top // bottom
            steps += 1
            k += direction
            low_log, high_log = logs[k]
            weight_low += weight
            weight_high += weight + steps
            sum_low += weight * low_log
            sum_high += (weight + steps) * high_log
    return sum_low // weight_high, -(-sum_high // weight_low)
