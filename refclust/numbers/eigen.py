"""Orthonormal axes of symmetric matrices: of one, and as nearly as can be of several.

Realises LIN-EIG and LIN-JOINT of chapter 05 by rotations in one plane after the other. The angles
depend on ratios alone, so a matrix multiplied by a power of 2 has exactly the same axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import TypeAlias

from refclust.numbers.argmin import ROUND
from refclust.numbers.linalg import Matrix

Lines: TypeAlias = list[list[float]]  # a matrix that is still being worked on

# Rotations converge quadratically: matrices of size 40 take about 8 sweeps.
_SWEEPS = 60
# Matrices without common axes converge linearly, and need no more than a good start here. An entry
# this far below the geometric mean of the diagonal entries beside it is taken for rounding.
_JOINT_SWEEPS = 16
_SMALL = 2.0**-48


@dataclass(frozen=True, slots=True)
class Eigen:
    """Eigenvalues in descending order, and orthonormal eigenvectors as the columns of a matrix."""

    values: tuple[float, ...]
    vectors: Matrix


def symmetric_eigen(matrix: Matrix) -> Eigen:
    """The eigenvalues and eigenvectors of a symmetric matrix, by cyclic Jacobi rotations.

    In each vector the first of its greatest entries, in absolute value, is positive.

    Spec: LIN-EIG

    >>> symmetric_eigen(((2.0, 0.0), (0.0, 3.0)))
    Eigen(values=(3.0, 2.0), vectors=((0.0, 1.0), (1.0, 0.0)))
    """
    size = len(matrix)
    work, axes = [list(row) for row in matrix], identity(size)
    # An entry ends where it can no longer change the digits of the two eigenvalues; u^2 of the
    # greatest number stands in for a vanishing one.
    least = ROUND**2 * max(abs(x) for row in matrix for x in row)
    for _ in range(_SWEEPS):
        turned = False
        for p in range(size):
            for q in range(p + 1, size):
                off, a, b = work[p][q], work[p][p], work[q][q]
                if abs(off) <= max(least, ROUND * math.sqrt(abs(a)) * math.sqrt(abs(b))):
                    continue
                turned = True
                half = (b - a) / 2 / off  # the cotangent of twice the angle, which is below 45°
                tangent = math.copysign(1 / (abs(half) + math.hypot(half, 1)), half)
                rotate(work, p, q, tangent)
                turn(axes, p, q, tangent)
                work[p][q] = work[q][p] = 0.0
        if not turned:
            break
    order = sorted(range(size), key=lambda j: -work[j][j])
    vectors = [_signed([row[j] for row in axes]) for j in order]
    return Eigen(tuple(work[j][j] for j in order), transposed(vectors))


def joint_axes(matrices: Sequence[Matrix]) -> Matrix:
    """Orthonormal axes, as columns, along which positive definite matrices are nearly diagonal.

    If there are axes common to all of them, these are found.

    Spec: LIN-JOINT

    >>> joint_axes([((2.0, 0.0), (0.0, 3.0)), ((1.0, 0.0), (0.0, 1.0))])
    ((1.0, 0.0), (0.0, 1.0))
    """
    size = len(matrices[0])
    axes = identity(size)
    works: list[Lines] = []
    for matrix in matrices:
        trace = math.fsum(row[i] for i, row in enumerate(matrix))
        works.append([[x / trace for x in row] for row in matrix])
    for _ in range(_JOINT_SWEEPS):
        turned = False
        for p in range(size):
            for q in range(p + 1, size):
                if all(abs(x[p][q]) <= _SMALL * math.sqrt(abs(x[p][p] * x[q][q])) for x in works):
                    continue
                turned = True
                # With h half the difference of the two diagonal entries and o the one beside them,
                # a turn by t makes h cos 2t - o sin 2t of h. Its squares, added over the matrices,
                # are greatest where 4t has the direction of (sum of h^2 - o^2, - sum of 2 h o).
                pairs = [((x[p][p] - x[q][q]) / 2, x[p][q]) for x in works]
                along = math.fsum((h - o) * (h + o) for h, o in pairs)
                across = -2 * math.fsum(h * o for h, o in pairs)
                tangent = math.tan(math.atan2(across, along) / 4)
                for work in works:
                    rotate(work, p, q, tangent)
                turn(axes, p, q, tangent)
        if not turned:
            break
    return tuple(map(tuple, axes))


def rotate(work: Lines, p: int, q: int, tangent: float) -> None:
    """Turn the axes p and q of a symmetric matrix towards each other, in place.

    Spec: LIN-EIG

    >>> work = [[1.0, 0.0], [0.0, 3.0]]
    >>> rotate(work, 0, 1, 1.0)
    >>> [[round(x, 9) for x in row] for row in work]
    [[2.0, -1.0], [-1.0, 2.0]]
    """
    cosine = 1 / math.hypot(1, tangent)
    sine = tangent * cosine
    half = sine / (1 + cosine)
    first, second = work[p], work[q]
    a, b, off = first[p], second[q], first[q]
    # As in ``turn``, and mirrored at once; what that makes of the four entries of both axes
    # themselves is overwritten below.
    for i, row in enumerate(work):
        x, y = row[p], row[q]
        row[p] = first[i] = x - sine * (y + half * x)
        row[q] = second[i] = y + sine * (x - half * y)
    # For the angle that removes ``off`` these are a - t off and b + t off.
    change = sine * (sine * (b - a) - 2 * cosine * off)
    first[p], second[q] = a + change, b - change
    first[q] = second[p] = (cosine - sine) * (cosine + sine) * off + sine * cosine * (a - b)


def turn(rows: Lines, p: int, q: int, tangent: float) -> None:
    """Turn the columns p and q of some rows towards each other, in place.

    Spec: LIN-EIG

    >>> rows = [[5.0, 0.0]]
    >>> turn(rows, 0, 1, 0.75)
    >>> [round(x, 9) for x in rows[0]]
    [4.0, 3.0]
    """
    # Corrections are added to the old numbers instead of forming c x - s y, so that small angles
    # cost no digits: with s = t c and h = s / (1 + c), c x - s y = x - s (y + h x).
    cosine = 1 / math.hypot(1, tangent)
    sine = tangent * cosine
    half = sine / (1 + cosine)
    for row in rows:
        x, y = row[p], row[q]
        row[p] = x - sine * (y + half * x)
        row[q] = y + sine * (x - half * y)


def identity(size: int) -> Lines:
    """The unit matrix, to be worked on.

    Spec: LIN-EIG

    >>> identity(2)
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return [[float(i == j) for j in range(size)] for i in range(size)]


def transposed(matrix: Sequence[Sequence[float]]) -> Matrix:
    """The columns as rows.

    Spec: LIN-EIG

    >>> transposed([[1.0, 2.0], [3.0, 4.0]])
    ((1.0, 3.0), (2.0, 4.0))
    """
    return tuple(zip(*matrix, strict=True))


def composed(vectors: Matrix, values: Sequence[float]) -> Matrix:
    """V diag(values) V', symmetric to the last bit: what ``symmetric_eigen`` takes apart.

    Spec: LIN-EIG

    >>> composed(((0.0, 1.0), (1.0, 0.0)), (3.0, 2.0))
    ((2.0, 0.0), (0.0, 3.0))
    """
    scaled = [list(map(mul, row, values)) for row in vectors]
    return _mirrored(scaled, vectors)


def congruent(matrix: Matrix, vectors: Matrix) -> Matrix:
    """V' A V for a symmetric A, symmetric to the last bit: A along the columns of V.

    Spec: LIN-EIG

    >>> congruent(((2.0, 0.0), (0.0, 3.0)), ((0.0, 1.0), (1.0, 0.0)))
    ((3.0, 0.0), (0.0, 2.0))
    """
    columns = transposed(vectors)
    return _mirrored([[_dot(row, column) for row in matrix] for column in columns], columns)


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(map(mul, left, right))


def _mirrored(left: Sequence[Sequence[float]], right: Sequence[Sequence[float]]) -> Matrix:
    """The products of the rows of two matrices, known to be symmetric: one half is computed."""
    lower = [[_dot(left[i], right[j]) for j in range(i + 1)] for i in range(len(left))]
    return tuple(
        tuple(lower[max(i, j)][min(i, j)] for j in range(len(left))) for i in range(len(left))
    )


def _signed(vector: list[float]) -> list[float]:
    """The vector or its negative."""
    return vector if max(vector, key=abs) > 0 else [0.0 - x for x in vector]
