"""Products, lengths, distances and angles of vectors: one vocabulary for dense and sparse ones.

Realises chapter 08. Every result is the nearest double of the exact real number that the given
numbers define: a float stands for the rational it is. So no result depends on the order of keys or
of rows, nothing cancels, and nothing overflows on the way. A result beyond the largest double is
the error ``not-finite``; one too small for a double is 0.0, as rounding demands. A dense vector
without components is the zero vector of its space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from refclust.data.exact import (
    ArrayLike,
    ExactVector,
    Vector,
    inner,
    read_pair,
    read_rows,
    read_vector,
)
from refclust.errors import NotFinite, ZeroVector
from refclust.numbers.nearest import nearest, nearest_sqrt

Matrix: TypeAlias = tuple[tuple[float, ...], ...]


def dot(x: Vector, y: Vector) -> float:
    """The sum of the products of the components.

    Spec: VEC-DOT, REP-VEC

    >>> dot([1e16, 1.0, -1e16], [1, 1, 1]), dot({"cat": 2, "dog": 1}, {"dog": 3})
    (1.0, 3.0)
    """
    a, b = read_pair(x, y)
    return nearest(inner(a, b), a.denominator * b.denominator)


def norm(x: Vector) -> float:
    """The Euclidean length: the square root of the product of a vector with itself.

    Spec: VEC-NORM

    >>> norm([3, 4]), norm([3e-320, 4e-320]) == 5e-320
    (5.0, True)
    """
    a = read_vector(x, "x")
    return nearest_sqrt(inner(a, a), a.denominator**2)


def squared_distance(x: Vector, y: Vector) -> float:
    """The sum of the squared differences of the components.

    Spec: VEC-SQDIST

    >>> squared_distance([100000000.5, 0], [100000000.25, 0])
    0.0625
    """
    a, b = read_pair(x, y)
    return nearest(*_gap(a, inner(a, a), b, inner(b, b)))


def distance(x: Vector, y: Vector) -> float:
    """The Euclidean distance: the square root of the squared distance, rounded only once.

    Spec: DIST-L2

    >>> distance({"a": 3}, {"b": 4}), distance([1e300], [-1e300])
    (5.0, 2e+300)
    """
    a, b = read_pair(x, y)
    return nearest_sqrt(*_gap(a, inner(a, a), b, inner(b, b)))


def cosine(x: Vector, y: Vector) -> float:
    """The cosine of the angle between two vectors that are not zero.

    Spec: SIM-COS

    >>> cosine([3, 4], [4, 3]), cosine({"a": 0.1}, {"a": 7})
    (0.96, 1.0)
    """
    a, b = read_pair(x, y)
    return _cosine(a, _square_of_direction(a), b, _square_of_direction(b))


def distance_matrix(rows: Iterable[Vector] | ArrayLike) -> Matrix:
    """The Euclidean distances between all rows: symmetric bit for bit, zero on the diagonal.

    Spec: DIST-MAT, DIST-L2

    >>> distance_matrix([[0, 0], [3, 4], [0, 8]])
    ((0.0, 5.0, 8.0), (5.0, 0.0, 5.0), (8.0, 5.0, 0.0))
    """
    vectors = read_rows(rows)
    squares = [inner(v, v) for v in vectors]
    return _symmetric(
        len(vectors),
        0.0,
        lambda i, j: nearest_sqrt(*_gap(vectors[i], squares[i], vectors[j], squares[j])),
    )


def similarity_matrix(rows: Iterable[Vector] | ArrayLike) -> Matrix:
    """The cosines between all rows: symmetric bit for bit, one on the diagonal.

    Spec: SIM-MAT, SIM-COS

    >>> similarity_matrix([[1, 0], [0, 2], [3, 4]])
    ((1.0, 0.0, 0.6), (0.0, 1.0, 0.8), (0.6, 0.8, 1.0))
    """
    vectors = read_rows(rows)
    squares = [_square_of_direction(v) for v in vectors]
    return _symmetric(
        len(vectors),
        1.0,
        lambda i, j: _cosine(vectors[i], squares[i], vectors[j], squares[j]),
    )


def _gap(a: ExactVector, aa: int, b: ExactVector, bb: int) -> tuple[int, int]:
    """The squared distance as a rational, given the integer squares aa and bb.

    With integers, |x - y|**2 = x.x - 2 x.y + y.y loses nothing, shares x.x between the pairs of a
    matrix, and costs a sparse pair only its common keys. In floats it would be the wrong way.
    """
    p, q = a.denominator, b.denominator
    return aa * q * q - 2 * inner(a, b) * p * q + bb * p * p, (p * q) ** 2


def _cosine(a: ExactVector, aa: int, b: ExactVector, bb: int) -> float:
    """The cosine, given the integer squares aa and bb; the denominators cancel."""
    ab = inner(a, b)
    # One rounding of sqrt(ab**2 / (aa bb)), then the sign. Never ab / (|a| |b|) in floats: four
    # roundings, and a result above 1.
    size = nearest_sqrt(ab * ab, aa * bb)
    return -size if ab < 0 < size else size


def _square_of_direction(a: ExactVector) -> int:
    square = inner(a, a)
    if not square:
        raise ZeroVector(f"{a.name} is the zero vector, which has no direction and no cosine")
    return square


def _symmetric(size: int, diagonal: float, entry: Callable[[int, int], float]) -> Matrix:
    """The square matrix whose lower triangle is computed and whose upper one is copied."""
    lower: list[list[float]] = []
    for i in range(size):
        try:
            lower.append([entry(i, j) for j in range(i)])
        except NotFinite as error:
            raise NotFinite(f"rows[{i}] and a row before it: {error}") from None
    return tuple(
        (*lower[i], diagonal, *(lower[j][i] for j in range(i + 1, size))) for i in range(size)
    )
