"""Small positive definite matrices: triangular factors and their inverses, exact inverses.

Realises LIN-CHOL, LIN-INV and LIN-EXACT of chapter 05. A matrix is a tuple of rows. Sums of
products are rounded once by ``fsum``, so the bounds, in units of u = 2**-53, do not grow with the
size; terms of order u**2 and below 2**-1074 are left out of them. No threshold is an absolute
number: a matrix multiplied by a power of 4 has exactly the multiplied factors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from refclust.numbers.argmin import ROUND

Matrix: TypeAlias = tuple[tuple[float, ...], ...]
ExactMatrix: TypeAlias = tuple[tuple[Fraction, ...], ...]


class NotPositive(Exception):
    """A matrix is not positive definite: in this column nothing is left beside the earlier ones.

    ``entry`` is the diagonal entry of the column, ``pivot`` what the earlier columns leave of it.
    """

    def __init__(self, column: int, pivot: float | Fraction, entry: float | Fraction) -> None:
        super().__init__(f"column {column} has the pivot {pivot} of {entry}")
        self.column = column
        self.pivot = pivot
        self.entry = entry


def cholesky(matrix: Matrix) -> Matrix:
    """The lower triangular L with a positive diagonal and L L' = A, or ``NotPositive``.

    The pivot of column j must exceed 8 (j + 1)^2 u times the diagonal entry.

    Spec: LIN-CHOL

    >>> cholesky(((4.0, 2.0), (2.0, 5.0)))
    ((2.0, 0.0), (1.0, 2.0))
    """
    # Products, the sum, the quotient and the root round once each, so L L' = A + E exactly with
    # |e_ij| <= 3u sqrt(a_ii a_jj). If a column is a combination of the earlier ones and b are its
    # coefficients, for columns scaled to a diagonal of 1, then x = (-b, 1) has x'Ax = 0, and the
    # computed pivot is at most |x'Ex| <= 3u (1 + sum |b|)^2 a_jj. With |b| <= 1, and entries that
    # err by 4u sqrt(a_ii a_jj) themselves, as those of a scatter matrix do, that is 7 (j + 1)^2 u.
    size = len(matrix)
    lower = [[0.0] * size for _ in range(size)]
    for j in range(size):
        own = lower[j][:j]
        pivot = _less(matrix[j][j], own, own)
        if not pivot > 8 * (j + 1) ** 2 * ROUND * matrix[j][j]:
            raise NotPositive(j, pivot, matrix[j][j])
        lower[j][j] = root = math.sqrt(pivot)
        for i in range(j + 1, size):
            lower[i][j] = _less(matrix[i][j], lower[i][:j], own) / root
    return tuple(map(tuple, lower))


def inverse_lower(triangle: Matrix) -> Matrix:
    """The inverse of a lower triangular matrix, lower triangular itself.

    Spec: LIN-INV

    >>> inverse_lower(((2.0, 0.0), (1.0, 2.0)))
    ((0.5, 0.0), (-0.25, 0.5))
    """
    # With the roundings of the products, the sum and the quotient, |L W - I| <= 3u |L| |W|, entry
    # by entry.
    size = len(triangle)
    inverse = [[0.0] * size for _ in range(size)]
    for j in range(size):
        column = [1 / triangle[j][j]]
        for i in range(j + 1, size):
            column.append(_less(0.0, triangle[i][j:i], column) / triangle[i][i])
        for i, value in enumerate(column, start=j):
            inverse[i][j] = value
    return tuple(map(tuple, inverse))


def log_determinant(triangle: Matrix) -> float:
    """log |L L'| for a lower triangular L with a positive diagonal.

    Spec: LIN-CHOL

    >>> log_determinant(((1.0, 0.0), (7.0, 1.0)))
    0.0
    """
    return 2 * math.fsum(math.log(row[i]) for i, row in enumerate(triangle))


def exact_inverse(matrix: ExactMatrix) -> ExactMatrix:
    """The inverse of a positive definite matrix of rational numbers, or ``NotPositive``.

    Spec: LIN-EXACT

    >>> [[str(x) for x in row] for row in exact_inverse(((Fraction(2), Fraction(1)),
    ...                                                  (Fraction(1), Fraction(1))))]
    [['1', '-1'], ['-1', '2']]
    """
    adjugate, determinant, unit = _eliminated(matrix)
    return tuple(tuple(Fraction(x * unit, determinant) for x in row) for row in adjugate)


def exact_determinant(matrix: ExactMatrix) -> Fraction:
    """The determinant of a positive definite matrix of rational numbers, or ``NotPositive``.

    Spec: LIN-EXACT

    >>> exact_determinant(((Fraction(2), Fraction(1)), (Fraction(1), Fraction(1))))
    Fraction(1, 1)
    """
    _, determinant, unit = _eliminated(matrix)
    return Fraction(determinant, unit ** len(matrix))


def signed_determinant(matrix: ExactMatrix) -> Fraction:
    """The determinant of any square matrix of rational numbers.

    Spec: LIN-EXACT

    >>> signed_determinant(((Fraction(0), Fraction(1)), (Fraction(1), Fraction(5))))
    Fraction(-1, 1)
    """
    rows = [list(row) for row in matrix]
    determinant = Fraction(1)
    for j in range(len(rows)):
        place = next((i for i in range(j, len(rows)) if rows[i][j]), None)
        if place is None:
            return Fraction(0)
        if place != j:
            rows[j], rows[place] = rows[place], rows[j]
            determinant = -determinant
        determinant *= rows[j][j]
        for i in range(j + 1, len(rows)):
            factor = rows[i][j] / rows[j][j]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[j], strict=True)]
    return determinant


def _eliminated(matrix: ExactMatrix) -> tuple[list[list[int]], int, int]:
    """The adjugate and the determinant of c A, in integers, and the least c that clears A.

    Elimination without fractions (Bareiss): every number on the way is a minor of c A, and the
    division by the pivot before is exact. The pivots are the leading minors, which are all positive
    if and only if the matrix is positive definite (Sylvester).
    """
    size = len(matrix)
    unit = math.lcm(*(x.denominator for row in matrix for x in row))
    rows = [
        [int(x * unit) for x in row] + [int(i == j) for j in range(size)]
        for i, row in enumerate(matrix)
    ]
    before = 1
    for j in range(size):
        pivot_row = rows[j]
        pivot = pivot_row[j]
        if pivot <= 0:
            raise NotPositive(j, Fraction(pivot, before * unit), matrix[j][j])
        for i, row in enumerate(rows):
            if i != j:
                factor = row[j]
                rows[i] = [
                    (pivot * x - factor * y) // before for x, y in zip(row, pivot_row, strict=True)
                ]
        before = pivot
    return [row[size:] for row in rows], before, unit


def _less(start: float, left: Sequence[float], right: Sequence[float]) -> float:
    """A number less a sum of products, the difference rounded once."""
    return math.fsum([start, *(-x * y for x, y in zip(left, right, strict=True))])
