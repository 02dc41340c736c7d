"""The log-likelihood of a mixture enclosed by decimal intervals (EM-CERT, chapter 30).

The parameters and the rows are doubles, so covariances are rational matrices: their inverses and
determinants are worked out exactly, and only logarithms, exponentials and pi are enclosed. What
comes out holds the exact log-likelihood of the parameters as they are written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any, Final, Protocol

from refclust.data.accepting.door import dataset
from refclust.errors import BadOption, DegenerateCovariance, ImpossibleRow
from refclust.fitting.checks import whole
from refclust.kernels.points import Points, Vector
from refclust.mixture.families.count_parameters import CountParameters
from refclust.mixture.families.gaussian_parameters import GaussianParameters
from refclust.mixture.predict import Parameters, check_mixture
from refclust.numbers.linalg import (
    ExactMatrix,
    NotPositive,
    exact_determinant,
    exact_inverse,
)
from refclust.numbers.real import Interval
from refclust.numbers.reals.intervals import Arithmetic

_GUARD: Final = 12  # digits beyond those asked for: sums of many rows lose some
_MOST_DIGITS: Final = 1000
_UPWARDS: Final = Context(28, ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class Certified:
    """An interval that holds the exact log-likelihood.

    Spec: EM-CERT
    """

    low: Decimal
    high: Decimal

    def __float__(self) -> float:
        """A double next to the exact value: the nearest one, unless the ends round apart."""
        return float((Fraction(self.low) + Fraction(self.high)) / 2)

    @property
    def width(self) -> Decimal:
        """How far apart the ends are.

        Spec: EM-CERT
        """
        return _UPWARDS.subtract(self.high, self.low)

    def distance(self, value: float) -> float:
        """The most that a value can be away from the exact one.

        Spec: EM-CERT

        >>> Certified(Decimal(1), Decimal(2)).distance(1.5)
        0.5
        """
        exact = Fraction(value)
        most = max(abs(exact - Fraction(self.low)), abs(exact - Fraction(self.high)))
        nearest = float(most)
        return nearest if nearest >= most else math.nextafter(nearest, math.inf)


def certified_log_likelihood(
    parameters: Parameters, data: Any, *, family: str, digits: int = 30
) -> Certified:
    """Enclose log p(X) of rows under given parameters, to about so many digits.

    Spec: EM-CERT, MIX-MARGLL

    >>> one = CountParameters((1.0,), ((0.5, 0.5),))
    >>> certified_log_likelihood(one, [[1, 1]], family="multinomial", digits=20).width < 1e-20
    True
    """
    whole("digits", digits, 1)
    if digits > _MOST_DIGITS:
        raise BadOption(f"digits is {digits}; at most {_MOST_DIGITS} are worked out")
    points = Points(dataset(data))
    check_mixture(parameters, family, points.d)
    arithmetic = Arithmetic(digits + _GUARD)
    if isinstance(parameters, GaussianParameters):
        joint: _Joint = _GaussianJoint(parameters, arithmetic)
    else:
        joint = _CountJoint(parameters, arithmetic, family)
    weights = points.data.weights
    terms: list[Interval] = []
    for i in range(points.n):
        weight = Fraction(1 if weights is None else weights[i])
        if not weight:
            continue
        row = _log_sum(joint.of(points.whole_row(i)), arithmetic)
        if row is None:
            raise ImpossibleRow(
                f"row {points.data.row_name(i)} has probability zero under every component: the "
                "log-likelihood is minus infinity"
            )
        terms.append(arithmetic.multiply(arithmetic.rational(weight), row))
    return Certified(*arithmetic.add(terms))


def pi(digits: int) -> Interval:
    """Enclose pi by Machin's formula in integers, 16 arctan(1/5) - 4 arctan(1/239).

    Spec: NUM-ROUND

    >>> pi(10)
    (Decimal('3.1415926535'), Decimal('3.1415926536'))
    """
    unit = 10 ** (digits + 10)
    # Each arctangent is a sum of fewer than 4 (digits + 10) quotients, each rounded down by < 1.
    value = 4 * (4 * _arctan(5, unit) - _arctan(239, unit))
    slack = 80 * (digits + 10)
    low, high = (value - slack) // 10**10, -(-(value + slack) // 10**10)
    exact = Context(digits + 10)  # moving the point must not round, whatever the caller's context
    return exact.scaleb(Decimal(low), -digits), exact.scaleb(Decimal(high), -digits)


def _arctan(inverse: int, unit: int) -> int:
    """unit * arctan(1 / inverse), by its series."""
    power, total, n, sign = unit // inverse, 0, 1, 1
    while power:
        total += sign * (power // n)
        power //= inverse * inverse
        n, sign = n + 2, -sign
    return total


class _Joint(Protocol):
    """Encloses log p(x, k) of a row for every component that can have made it."""

    def of(self, row: Vector) -> list[Interval]: ...


class _GaussianJoint:
    def __init__(self, parameters: GaussianParameters, arithmetic: Arithmetic) -> None:
        self._arithmetic = arithmetic
        d = len(parameters.means[0])
        two_pi = arithmetic.multiply((Decimal(2), Decimal(2)), pi(arithmetic.down.prec))
        half = arithmetic.multiply(arithmetic.rational(Fraction(d, 2)), arithmetic.log(two_pi))
        self._components: list[tuple[Interval, tuple[Fraction, ...], ExactMatrix]] = []
        for weight, mean, covariance in zip(
            parameters.weights, parameters.means, parameters.covariances, strict=True
        ):
            if not weight:
                continue
            matrix = tuple(tuple(map(Fraction, line)) for line in covariance)
            # log pi - log |C| / 2 as half the logarithm of a rational number
            inside = Fraction(weight) ** 2 / _determinant(matrix, len(self._components))
            logarithm = arithmetic.divide(arithmetic.log_rational(inside), (Decimal(2), Decimal(2)))
            offset = arithmetic.add([logarithm, _minus(half)])
            exact = tuple(map(Fraction, mean))
            self._components.append((offset, exact, exact_inverse(matrix)))

    def of(self, row: Vector) -> list[Interval]:
        found = []
        for offset, mean, inverse in self._components:
            away = [Fraction(x) - m for x, m in zip(row, mean, strict=True)]
            square = sum(
                (
                    a * sum((c * b for c, b in zip(line, away, strict=True)), Fraction(0))
                    for a, line in zip(away, inverse, strict=True)
                ),
                Fraction(0),
            )
            found.append(self._arithmetic.add([offset, self._arithmetic.rational(-square / 2)]))
        return found


class _CountJoint:
    def __init__(self, parameters: CountParameters, arithmetic: Arithmetic, family: str) -> None:
        self._arithmetic, self._presence = arithmetic, family == "bernoulli"
        self._components = [
            (arithmetic.log_rational(Fraction(weight)), row)
            for weight, row in zip(parameters.weights, parameters.probabilities, strict=True)
            if weight
        ]
        self._logs: dict[Fraction, Interval] = {}

    def of(self, row: Vector) -> list[Interval]:
        found = []
        for share, probabilities in self._components:
            terms = [share]
            for x, theta in zip(row, probabilities, strict=True):
                if x and theta:
                    terms.append(self._times(x, Fraction(theta)))
                elif x or (self._presence and theta == 1.0):
                    break  # what cannot be there is there, or what must be there is not
                elif self._presence and theta:
                    terms.append(self._times(1.0, 1 - Fraction(theta)))
            else:
                found.append(self._arithmetic.add(terms))
        return found

    def _times(self, x: float, theta: Fraction) -> Interval:
        if theta not in self._logs:
            self._logs[theta] = self._arithmetic.log_rational(theta)
        return self._arithmetic.multiply(self._arithmetic.rational(Fraction(x)), self._logs[theta])


def _determinant(matrix: ExactMatrix, k: int) -> Fraction:
    try:
        return exact_determinant(matrix)
    except NotPositive as wrong:
        raise DegenerateCovariance(
            f"the covariance of component {k} is not positive definite: column {wrong.column} is a "
            "combination of those before it"
        ) from None


def _minus(x: Interval) -> Interval:
    """Change the sign; the minus of Python would round to the caller's digits."""
    return x[1].copy_negate(), x[0].copy_negate()


def _log_sum(logs: list[Interval], arithmetic: Arithmetic) -> Interval | None:
    """Enclose the logarithm of a sum of exponentials, the largest taken out."""
    if not logs:
        return None
    peak = max(low for low, _ in logs)
    away = [arithmetic.add([one, _minus((peak, peak))]) for one in logs]
    if max(high for _, high in away) > 1:
        # So few digits that the terms are not known to a factor: between the largest and K of it.
        most = arithmetic.add(
            [(peak, max(high for _, high in logs)), arithmetic.log_integer(len(logs))]
        )
        return peak, most[1]
    shifted = [arithmetic.exp(one) for one in away]
    return arithmetic.add([(peak, peak), arithmetic.log(arithmetic.add(shifted))])
