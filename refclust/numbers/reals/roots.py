"""The place where a rising function passes zero, as an exact real (chapter 05).

The sign of the function is certified at both ends of every interval, so the enclosure is right
however the next place to look at is guessed: by the secant, and by halving where that is slow.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Final

from refclust.numbers.real import Interval, Rational, Real, enclosed

_GUARD: Final = 20  # digits beyond those asked for
_PATIENCE: Final = 3  # secants that may fail to halve the interval
_FINER: Final = (1, 2, 4)  # how many times the digits, where a sign does not show


def root(rising: Callable[[Real], Real], low: Rational, high: Rational) -> Real:
    """Return the number between two others where a rising function passes zero.

    The function must not be positive at ``low`` nor negative at ``high``, where it is not asked;
    digits are counted from the first that is not 0, so the number itself must not be 0.

    Spec: NUM-REAL

    >>> float(root(lambda x: x * x - 2, 0, 2))
    1.4142135623730951
    """
    brackets = [(_decimal(low, ROUND_FLOOR), _decimal(high, ROUND_CEILING))]

    def interval(digits: int) -> Interval:
        # Later calls ask for more digits and go on where earlier ones stopped.
        brackets.append(_Search(rising, *brackets[-1], digits).run())
        return brackets[-1]

    return enclosed(interval)


class _Search:
    """One search: an interval with certified signs at its ends, made narrower."""

    def __init__(
        self, rising: Callable[[Real], Real], low: Decimal, high: Decimal, digits: int
    ) -> None:
        self.rising, self.low, self.high, self.digits = rising, low, high, digits
        self.numbers = Context(digits + _GUARD, Emin=MIN_EMIN, Emax=MAX_EMAX)
        self.narrow = Decimal(10) ** -digits
        self.below: Decimal | None = None  # what the function is at the ends, or less of it
        self.above: Decimal | None = None
        self.side = 0  # which end moved last

    def run(self) -> Interval:
        """Narrow the interval until its ends agree in so many digits."""
        slow = _PATIENCE  # steps since the interval was last halved; it begins with one
        while not self.is_narrow():
            width = self.high - self.low
            place = self.middle() if slow == _PATIENCE else self.secant()
            value = self.value(place)
            if value == 0:
                return self.around(place)
            self.move(place, value)
            halved = 2 * (self.high - self.low) <= width
            slow = 0 if halved or slow == _PATIENCE else slow + 1
        return self.low, self.high

    def is_narrow(self) -> bool:
        """Whether the ends are as near to each other as the digits say, or both very near 0."""
        size = max(abs(self.low), abs(self.high), self.narrow**3)
        return self.high - self.low <= self.numbers.multiply(self.narrow, size)

    def middle(self) -> Decimal:
        """Halfway between the ends."""
        return self.numbers.divide(self.numbers.add(self.low, self.high), Decimal(2))

    def secant(self) -> Decimal:
        """Where the line through both ends passes zero, if that is inside."""
        if self.below is None or self.above is None:
            return self.middle()
        n = self.numbers
        share = n.divide(self.below.copy_negate(), n.subtract(self.above, self.below))
        place = n.add(self.low, n.multiply(share, n.subtract(self.high, self.low)))
        return place if self.low < place < self.high else self.middle()

    def move(self, place: Decimal, value: Decimal) -> None:
        """Take a place as the new end; an end that stays twice counts half, so that it moves."""
        side = -1 if value < 0 else 1
        if value < 0:
            self.low, self.below = place, value
            if self.side == side and self.above is not None:
                self.above /= 2
        else:
            self.high, self.above = place, value
            if self.side == side and self.below is not None:
                self.below /= 2
        self.side = side

    def around(self, place: Decimal) -> Interval:
        """Enclose a zero that is too near to a place for its sign to show there."""
        step = self.numbers.multiply(self.narrow, max(abs(place), self.narrow))
        while True:
            low = max(self.low, self.numbers.subtract(place, step))
            high = min(self.high, self.numbers.add(place, step))
            if (low == self.low or self.value(low) < 0) and (
                high == self.high or self.value(high) > 0
            ):
                return low, high
            step *= 1000

    def value(self, place: Decimal) -> Decimal:
        """About what the function is at a place, with a certain sign; 0 if none shows."""
        number = self.rising(Real(Fraction(place)))
        for times in _FINER:
            low, high = number.enclosure(times * (self.digits + _GUARD))
            if low > 0 or high < 0:
                return low if low > 0 else high
        return Decimal(0)


def _decimal(value: Rational, rounding: str) -> Decimal:
    numbers = Context(60, rounding, MIN_EMIN, MAX_EMAX)
    return numbers.divide(Decimal(Fraction(value).numerator), Decimal(Fraction(value).denominator))
