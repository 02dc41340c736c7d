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
from typing import Any, Final

from refclust.data.accepting.door import dataset
from refclust.errors import BadOption, ImpossibleRow
from refclust.fitting.checks import whole
from refclust.kernels.points import Points
from refclust.mixture.families.exact import minus
from refclust.mixture.families.named import record
from refclust.mixture.options import Missing
from refclust.mixture.predict import Parameters, check_mixture, takes_gaps
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
    parameters: Parameters, data: Any, *, family: str, digits: int = 30, missing: Missing = "refuse"
) -> Certified:
    """Enclose log p(X) of rows under given parameters, to about so many digits.

    Spec: EM-CERT, MIX-MARGLL, MISS-LL

    >>> from refclust.mixture.families.counts.parameters import CountParameters
    >>> one = CountParameters((1.0,), ((0.5, 0.5),))
    >>> certified_log_likelihood(one, [[1, 1]], family="multinomial", digits=20).width < 1e-20
    True
    """
    whole("digits", digits, 1)
    if digits > _MOST_DIGITS:
        raise BadOption(f"digits is {digits}; at most {_MOST_DIGITS} are worked out")
    points = Points(dataset(data, gaps=takes_gaps(family, missing)))
    check_mixture(parameters, family, points.d)
    arithmetic = Arithmetic(digits + _GUARD)
    joint = record(family).exact(parameters, arithmetic)
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


def _log_sum(logs: list[Interval], arithmetic: Arithmetic) -> Interval | None:
    """Enclose the logarithm of a sum of exponentials, the largest taken out."""
    if not logs:
        return None
    peak = max(low for low, _ in logs)
    away = [arithmetic.add([log, minus((peak, peak))]) for log in logs]
    if max(high for _, high in away) > 1:
        # So few digits that the terms are not known to a factor: between the largest and K of it.
        most = arithmetic.add(
            [(peak, max(high for _, high in logs)), arithmetic.log_integer(len(logs))]
        )
        return peak, most[1]
    shifted = [arithmetic.exp(difference) for difference in away]
    return arithmetic.add([(peak, peak), arithmetic.log(arithmetic.add(shifted))])
