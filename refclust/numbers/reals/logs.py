"""Logarithms of integers as whole multiples of a small unit, and sums of them (chapter 05).

Entropies are sums of n log n over integers that often repeat. With the logarithms as integers such
a sum is exact but for the error of each logarithm, and one division at the end makes it decimals.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction

from refclust.numbers.real import SUM, Enclosure, Interval, Real, log, total
from refclust.numbers.reals.intervals import ZERO, Arithmetic, arithmetic

SLACK = 2  # a logarithm is below its true value by at most so many units
_GUARD_BITS = 16
_SERIES_BITS = 1000  # beyond, the decimals are faster
_CACHE_LIMIT = 200_000
_HEAD_BITS = 8
_MOST_SHIFTS = 1 << 14


class ScaledLogs:
    """Logarithms of positive integers in units of 2**-bits: [k] <= 2**bits log k <= [k] + SLACK.

    With h the leading eight bits of k and near = h 2**e, which is k with its other bits cleared,

        log k = log h + e log 2 + 2 artanh z,   z = (k - near)/(k + near) < 2**-8.

    Everything is rounded down, 16 bits further right than the answer. A power of z is short by
    less than two units (one of its own, less than one from its factors, which are below 2**-8),
    its quotient by one more, and what is left out beyond the last power is less than a unit; log h
    and log 2 are short by less than two. N powers and e shifts together leave an error below
    2(3N + 2) + 2 + 2e. Since z**2 < 2**-16 there are at most 64 powers for 1000 bits, and with at
    most 2**14 shifts that is below 2**16: cutting off 16 bits leaves less than two units.
    """

    __slots__ = ("_bits", "_known", "_numbers", "_small", "bits")

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self._bits = bits + _GUARD_BITS
        # Twelve digits more than a unit has: the logarithm itself may be large.
        self._numbers = Arithmetic(math.ceil(self._bits * math.log10(2)) + 12)
        self._known: dict[int, int] = {}
        self._small: dict[int, int] = {}

    def __getitem__(self, k: int) -> int:
        logarithm = self._known.get(k)
        if logarithm is None:
            if len(self._known) >= _CACHE_LIMIT:
                self._known.clear()
            logarithm = self._known[k] = self._log(k) >> _GUARD_BITS
        return logarithm

    def _log(self, k: int) -> int:
        rest = k.bit_length() - _HEAD_BITS
        if not 0 < rest <= _MOST_SHIFTS or self._bits > _SERIES_BITS:
            return self._from_decimals(k)
        bits, head = self._bits, k >> rest
        near = head << rest
        power = sum_of_powers = ((k - near) << bits) // (k + near)
        square = power * power >> bits
        odd = 1
        while power:
            power = power * square >> bits
            odd += 2
            sum_of_powers += power // odd
        return self._from_decimals(head) + rest * self._from_decimals(2) + 2 * sum_of_powers

    def _from_decimals(self, k: int) -> int:
        logarithm = self._small.get(k)
        if logarithm is None:
            low, _ = self._numbers.log_integer(k)
            top, bottom = low.as_integer_ratio()
            logarithm = (top << self._bits) // bottom
            if k < 1 << _HEAD_BITS:
                self._small[k] = logarithm
        return logarithm


@functools.lru_cache(maxsize=16)
def scaled_logs(bits: int) -> ScaledLogs:
    """Return the logarithms with this unit, and those it remembers."""
    return ScaledLogs(bits)


def enclose_log_sum(weights: Mapping[int, int], divisor: int, digits: int) -> Interval:
    """Enclose Σ w log k, over all k with their weights w, divided by a positive integer.

    Spec: NUM-ROUND

    >>> low, high = enclose_log_sum({4: 1, 2: -1}, 1, 20)
    >>> str(low)[:18], str(high)[:18]
    ('0.6931471805599453', '0.6931471805599453')
    """
    logs = scaled_logs(math.ceil(digits * math.log2(10)) + _GUARD_BITS)
    middle = below = above = 0
    for k, weight in weights.items():
        if k > 1 and weight:
            middle += weight * logs[k]
            # The true sum lies above by up to SLACK for a unit of weight, or below for minus one.
            if weight > 0:
                above += weight
            else:
                below += weight
    if not (above or below):
        return ZERO, ZERO
    unit, numbers = Decimal(divisor << logs.bits), arithmetic(digits)
    return (
        numbers.down.divide(Decimal(middle + SLACK * below), unit),
        numbers.up.divide(Decimal(middle + SLACK * above), unit),
    )


class LongSum(Real):
    """A sum that knows its enclosures: its terms are written when somebody looks at them."""

    __slots__ = ("_write",)

    def __init__(self, content: Enclosure, write: Callable[[], Iterable[Real]]) -> None:
        self.op, self.content, self._write = SUM, content, write

    def __getattr__(self, name: str) -> tuple[Real, ...]:
        # Called only for what is not there yet.
        if name != "args":
            raise AttributeError(name)
        self.args = tuple(self._write())
        return self.args


def log_sum(
    weights: Mapping[int, int], divisor: int, write: Callable[[], Iterable[Real]]
) -> LongSum:
    """Return Σ w log k over a divisor; ``write`` gives the same sum term by term, to be shown.

    Spec: NUM-REAL

    >>> x = log_sum({4: 1, 2: -1}, 1, lambda: [log(4), -log(2)])
    >>> x == log(2), x.args[0] == log(4)
    (True, True)
    """

    def form() -> Real:
        return total(Fraction(weight, divisor) * log(k) for k, weight in weights.items() if weight)

    return LongSum(Enclosure(lambda digits: enclose_log_sum(weights, divisor, digits), form), write)
