"""Chapter 08: vectors. Dense ones are sequences, sparse ones are dicts; all numbers are exact.

Beside the clauses stands the small vocabulary in which the other chapters are written: ``exact``,
``total``, ``scaled``, ``sum_of``, ``difference``, ``outer``, ``solution``, ``determinant``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from refclust.errors import BadNumber, DimensionMismatch, EmptyInput, NotFinite, ZeroVector
from refclust.numbers import real as reals
from refclust.numbers.real import Real, sqrt

Number: TypeAlias = int | float | Fraction | Real
Exact: TypeAlias = Fraction | Real
Key: TypeAlias = str | int
Vector: TypeAlias = Sequence[Number] | Mapping[Any, Number]
Matrix: TypeAlias = Sequence[Sequence[Number]]


def components(x: Vector) -> dict[Key, Exact]:
    """The components of a vector by their places; what a sparse one leaves out is zero.

    Defines: REP-VEC

    >>> components([0.5, 3]), components({"cat": 2})
    ({0: Fraction(1, 2), 1: Fraction(3, 1)}, {'cat': Fraction(2, 1)})
    """
    places = x.items() if isinstance(x, Mapping) else enumerate(x)
    return {place: exact(number) for place, number in places}


def dot(x: Vector, y: Vector) -> Exact:
    """The inner product of two vectors.

    Defines: VEC-DOT

    >>> dot([1, 2], [3, 4]), dot({"cat": 2, "dog": 1}, {"dog": 3})
    (Fraction(11, 1), Fraction(3, 1))
    """
    a, b = together(x, y)
    return total(a[place] * b[place] for place in a if place in b)


def norm(x: Vector) -> Real:
    """The length of a vector.

    Defines: VEC-NORM

    >>> norm([3, 4]) == 5
    True
    """
    return sqrt(dot(x, x))


def squared_distance(x: Vector, y: Vector) -> Exact:
    """The squared distance of two vectors.

    Defines: VEC-SQDIST

    >>> squared_distance([1, 2], [4, 6]), squared_distance({"a": 0.5}, {"b": 1})
    (Fraction(25, 1), Fraction(5, 4))
    """
    a, b = together(x, y)
    return total((a.get(place, 0) - b.get(place, 0)) ** 2 for place in {**a, **b})


def distance(x: Vector, y: Vector) -> Real:
    """The Euclidean distance of two vectors.

    Defines: DIST-L2

    >>> distance([1, 2], [4, 6]) == 5
    True
    """
    return sqrt(squared_distance(x, y))


def cosine(x: Vector, y: Vector) -> Real:
    """The cosine of the angle between two vectors.

    Defines: SIM-COS

    >>> cosine([3, 4], [4, 3]).fraction
    Fraction(24, 25)
    """
    for vector in (x, y):
        if dot(vector, vector) == 0:
            raise ZeroVector("the zero vector has no direction and no cosine")
    return dot(x, y) / (norm(x) * norm(y))


def distance_matrix(rows: Sequence[Vector]) -> tuple[tuple[Real, ...], ...]:
    """The distances between all rows.

    Defines: DIST-MAT

    >>> [[float(w) for w in line] for line in distance_matrix([[0, 0], [3, 4]])]
    [[0.0, 5.0], [5.0, 0.0]]
    """
    some(rows)
    return tuple(tuple(distance(a, b) for b in rows) for a in rows)


def similarity_matrix(rows: Sequence[Vector]) -> tuple[tuple[Real, ...], ...]:
    """The cosines between all rows.

    Defines: SIM-MAT

    >>> [[float(s) for s in line] for line in similarity_matrix([[1, 0], [3, 4]])]
    [[1.0, 0.6], [0.6, 1.0]]
    """
    some(rows)
    return tuple(tuple(cosine(a, b) for b in rows) for a in rows)


# The vocabulary.


def exact(number: Number) -> Exact:
    """A number as the exact one it is; a float is a rational.

    Spec: REP-VEC

    >>> exact(0.1)
    Fraction(3602879701896397, 36028797018963968)
    """
    if isinstance(number, Real):
        return number
    if isinstance(number, bool) or not isinstance(number, int | float | Fraction):
        raise BadNumber(f"{number!r} is not a number")
    if isinstance(number, float) and not math.isfinite(number):
        raise NotFinite(f"{number} is not a real number")
    return Fraction(number)


def total(terms: Iterable[Number]) -> Exact:
    """The sum of all terms, a fraction if all of them are rational.

    Spec: REP-VEC

    >>> total([0.5, 1, Fraction(1, 3)])
    Fraction(11, 6)
    """
    numbers = [exact(term) for term in terms]
    rational = [term for term in numbers if isinstance(term, Fraction)]
    return sum(rational, Fraction()) if len(rational) == len(numbers) else reals.total(numbers)


def product(factors: Iterable[Number]) -> Exact:
    """The product of all factors.

    Spec: REP-VEC

    >>> product([2, 0.5, Fraction(1, 3)])
    Fraction(1, 3)
    """
    return math.prod(map(exact, factors), start=Fraction(1))


def absolute(number: Number) -> Exact:
    """A number without its sign.

    Spec: REP-VEC

    >>> absolute(-0.5)
    Fraction(1, 2)
    """
    value = exact(number)
    return -value if value < 0 else value


def together(x: Vector, y: Vector) -> tuple[dict[Key, Exact], dict[Key, Exact]]:
    """The components of two vectors that meet: both dense, of one length, or both sparse.

    Spec: REP-VEC
    """
    sparse = [isinstance(vector, Mapping) for vector in (x, y)]
    if sparse[0] != sparse[1] or (not sparse[0] and len(x) != len(y)):
        kinds = [
            "sparse" if mapped else f"of {len(vector)} components"
            for mapped, vector in zip(sparse, (x, y), strict=True)
        ]
        raise DimensionMismatch(f"one vector is {kinds[0]}, the other {kinds[1]}")
    return components(x), components(y)


def some(rows: Sequence[Any]) -> None:
    """Ask for at least one row."""
    if not rows:
        raise EmptyInput("there are no rows; at least one is needed")


def scaled(factor: Number, x: Any) -> Any:
    """A vector or a matrix, every entry multiplied.

    Spec: REP-VEC

    >>> scaled(2, [1, 0.25]), scaled(2, {"a": 3})
    ((Fraction(2, 1), Fraction(1, 2)), {'a': Fraction(6, 1)})
    """
    if isinstance(x, Mapping):
        return {place: exact(factor) * exact(number) for place, number in x.items()}
    if isinstance(x, Sequence):
        return tuple(scaled(factor, entry) for entry in x)
    return exact(factor) * exact(x)


def sum_of(things: Iterable[Any]) -> Any:
    """The sum of vectors or of matrices, entry by entry.

    Spec: REP-VEC

    >>> sum_of([(1, 2), (3, 0.5)]), sum_of([{"a": 1}, {"b": 2}])
    ((Fraction(4, 1), Fraction(5, 2)), {'a': Fraction(1, 1), 'b': Fraction(2, 1)})
    """
    addends = list(things)
    if isinstance(addends[0], Mapping):
        places = dict.fromkeys(place for x in addends for place in x)
        return {place: total(x.get(place, 0) for x in addends) for place in places}
    if isinstance(addends[0], Sequence):
        return tuple(sum_of(entries) for entries in zip(*addends, strict=True))
    return total(addends)


def difference(x: Vector, y: Vector) -> Any:
    """The difference of two vectors.

    Spec: REP-VEC

    >>> difference([3, 4], [1, 0.5])
    (Fraction(2, 1), Fraction(7, 2))
    """
    together(x, y)
    return sum_of([x, scaled(-1, y)])


def outer(x: Sequence[Number]) -> tuple[tuple[Exact, ...], ...]:
    """The product of a dense vector with its transpose, a matrix.

    Spec: REP-VEC

    >>> outer([1, 2])
    ((Fraction(1, 1), Fraction(2, 1)), (Fraction(2, 1), Fraction(4, 1)))
    """
    return tuple(scaled(a, x) for a in x)


def determinant(matrix: Matrix) -> Exact:
    """The determinant, expanded along the first row.

    Spec: LIN-EXACT

    >>> determinant([[4, 2], [2, 5]])
    Fraction(16, 1)
    """
    if not matrix:
        return Fraction(1)
    first, *others = matrix
    return total(
        (-1) ** j * exact(a) * determinant([[*row[:j], *row[j + 1 :]] for row in others])
        for j, a in enumerate(first)
    )


def solution(matrix: Matrix, right: Sequence[Number]) -> tuple[Exact, ...]:
    """The vector that a matrix maps to the right-hand side, by Cramer's rule.

    Spec: LIN-EXACT

    >>> solution([[4, 2], [2, 5]], [8, 12])
    (Fraction(1, 1), Fraction(2, 1))
    """
    whole = determinant(matrix)
    return tuple(
        determinant([[*row[:j], b, *row[j + 1 :]] for row, b in zip(matrix, right, strict=True)])
        / whole
        for j in range(len(matrix))
    )


def inverse(matrix: Matrix) -> tuple[tuple[Exact, ...], ...]:
    """The inverse of a matrix, column by column.

    Spec: LIN-EXACT

    >>> inverse([[2, 0], [0, 4]])
    ((Fraction(1, 2), Fraction(0, 1)), (Fraction(0, 1), Fraction(1, 4)))
    """
    size = len(matrix)
    columns = [solution(matrix, [int(i == j) for i in range(size)]) for j in range(size)]
    return tuple(zip(*columns, strict=True))
