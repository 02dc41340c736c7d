"""log p(x, k) enclosed by decimal intervals, family by family (EM-CERT, chapter 30).

Parameters and rows are doubles, that is rationals: covariances are inverted exactly, and only
logarithms and pi are enclosed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import TypeAlias

from refclust.errors import DegenerateCovariance
from refclust.kernels.points import Vector
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.numbers.linalg import ExactMatrix, NotPositive, exact_determinant, exact_inverse
from refclust.numbers.real import Interval
from refclust.numbers.reals.intervals import Arithmetic

# Of a number in a row and a parameter: a rational, and logarithms of rationals with coefficients;
# nothing, if the number is impossible.
Parts: TypeAlias = tuple[Fraction, Sequence[tuple[Fraction, Fraction]]]
Cell: TypeAlias = Callable[[float, float], Parts | None]


class GaussianJoint:
    """Encloses log p(x, k) under normal densities, of the cells that are seen.

    Spec: EM-CERT, GAU-PDF, MISS-PDF
    """

    def __init__(self, parameters: GaussianParameters, arithmetic: Arithmetic) -> None:
        self._parameters, self._arithmetic = parameters, arithmetic
        self._known: dict[tuple[int, ...], _SeenJoint] = {}  # by the columns that are seen

    def of(self, row: Vector) -> list[Interval]:
        """One interval for each component with a share."""
        seen = tuple(j for j, x in enumerate(row) if x == x)
        if seen not in self._known:
            self._known[seen] = _SeenJoint(self._parameters, seen, self._arithmetic)
        return self._known[seen].of([row[j] for j in seen])


class _SeenJoint:
    """Encloses log p(x, k) of cells in some columns."""

    def __init__(
        self, parameters: GaussianParameters, seen: Sequence[int], arithmetic: Arithmetic
    ) -> None:
        self._arithmetic = arithmetic
        d = len(seen)
        two_pi = arithmetic.multiply((Decimal(2), Decimal(2)), pi(arithmetic.down.prec))
        half = arithmetic.multiply(arithmetic.rational(Fraction(d, 2)), arithmetic.log(two_pi))
        self._components: list[tuple[Interval, tuple[Fraction, ...], ExactMatrix]] = []
        for weight, mean, covariance in zip(
            parameters.weights, parameters.means, parameters.covariances, strict=True
        ):
            if not weight:
                continue
            matrix = tuple(tuple(Fraction(covariance[i][j]) for j in seen) for i in seen)
            # log pi - log |C| / 2 as half the logarithm of a rational number
            inside = Fraction(weight) ** 2 / _determinant(matrix, len(self._components))
            logarithm = arithmetic.divide(arithmetic.log_rational(inside), (Decimal(2), Decimal(2)))
            offset = arithmetic.add([logarithm, minus(half)])
            exact = tuple(Fraction(mean[j]) for j in seen)
            self._components.append((offset, exact, exact_inverse(matrix)))

    def of(self, row: Sequence[float]) -> list[Interval]:
        """One interval for each component with a share."""
        logs = []
        for offset, mean, inverse in self._components:
            away = [Fraction(x) - m for x, m in zip(row, mean, strict=True)]
            square = sum(
                (
                    a * sum((c * b for c, b in zip(line, away, strict=True)), Fraction(0))
                    for a, line in zip(away, inverse, strict=True)
                ),
                Fraction(0),
            )
            logs.append(self._arithmetic.add([offset, self._arithmetic.rational(-square / 2)]))
        return logs


class CountJoint:
    """Encloses log p(x, k) of rows of counts whose columns are independent, given the component.

    Spec: EM-CERT, MIX-JOINT
    """

    def __init__(
        self, shares: Sequence[float], rows: Sequence[Vector], cell: Cell, arithmetic: Arithmetic
    ) -> None:
        self._arithmetic, self._cell = arithmetic, cell
        self._components = [
            (arithmetic.log_rational(Fraction(share)), row)
            for share, row in zip(shares, rows, strict=True)
            if share
        ]
        self._logs: dict[Fraction, Interval] = {}

    def of(self, row: Vector) -> list[Interval]:
        """One interval for each component that can have made the row."""
        sums = []
        for share, parameters in self._components:
            terms = [share]
            for x, parameter in zip(row, parameters, strict=True):
                parts = self._cell(x, parameter)
                if parts is None:
                    break
                rational, logs = parts
                terms += [self._times(factor, inside) for factor, inside in logs]
                if rational:
                    terms.append(self._arithmetic.rational(rational))
            else:
                sums.append(self._arithmetic.add(terms))
        return sums

    def _times(self, factor: Fraction, inside: Fraction) -> Interval:
        if inside not in self._logs:
            self._logs[inside] = self._arithmetic.log_rational(inside)
        return self._arithmetic.multiply(self._arithmetic.rational(factor), self._logs[inside])


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


def _determinant(matrix: ExactMatrix, k: int) -> Fraction:
    try:
        return exact_determinant(matrix)
    except NotPositive as wrong:
        raise DegenerateCovariance(
            f"the covariance of component {k} is not positive definite: column {wrong.column} is a "
            "combination of those before it"
        ) from None


def minus(x: Interval) -> Interval:
    """Change the sign; the minus of Python would round to the caller's digits.

    Spec: NUM-ROUND
    """
    return x[1].copy_negate(), x[0].copy_negate()
