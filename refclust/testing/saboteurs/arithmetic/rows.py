"""Arithmetic as it is mostly done: what saboteurs compute with, and how their traces are known.

Realises no clause, on purpose: all of this is rounded on the way. Never use it for a result.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from ctypes import c_float
from fractions import Fraction
from operator import mul

from refclust.kernels.points import Points, Vector


def rows_of(points: Points) -> list[Vector]:
    """All rows with their zeros.

    Spec: none (the rows as they are)
    """
    return [points.whole_row(i) for i in range(points.n)]


def masses_of(points: Points) -> list[float]:
    """The weights as doubles.

    Spec: none (the weights as they are)
    """
    weights = points.data.weights
    return [1.0] * points.n if weights is None else list(map(float, weights))


def plain_sum(values: Iterable[float]) -> float:
    """A sum from left to right, rounded at every step.

    Spec: none (rounded)

    >>> plain_sum([1e16, 1.0, -1e16])
    0.0
    """
    total = 0.0
    for value in values:
        total += value
    return total


def single_sum(values: Iterable[float]) -> float:
    """A sum in single precision.

    Spec: none (rounded)
    """
    total = 0.0
    for value in values:
        total = c_float(total + value).value
    return total


def dot(vector: Sequence[float], other: Sequence[float]) -> float:
    """An inner product, rounded at every step.

    Spec: none (rounded)
    """
    return plain_sum(map(mul, vector, other))


def expanded(vector: Sequence[float], other: Sequence[float]) -> float:
    """The squared distance as |a|² + |b|² − 2 a·b, which cancels.

    Spec: none (rounded)

    >>> expanded((1e9,), (1e9 + 1,))
    0.0
    """
    return dot(vector, vector) + dot(other, other) - 2.0 * dot(vector, other)


def differences(vector: Sequence[float], other: Sequence[float]) -> float:
    """The squared distance by differences, squared and added from left to right.

    Spec: none (rounded)
    """
    gaps = [x - y for x, y in zip(vector, other, strict=True)]
    return dot(gaps, gaps)


def apart(vector: Sequence[float], other: Sequence[float]) -> float:
    """The distance by ``math.dist``, infinite where it overflows.

    Spec: none (rounded)
    """
    return math.dist(vector, other)


def argmin(
    rows: Sequence[Vector],
    centres: Sequence[Vector],
    measure: Callable[[Vector, Vector], float] = apart,
) -> array[int]:
    """The nearest centre of every row by a measure in floats.

    Spec: none (rounded)
    """
    ks = range(len(centres))
    return array("i", (min(ks, key=lambda k: measure(row, centres[k])) for row in rows))


def singles(rows: Sequence[Vector]) -> list[Vector]:
    """Rows rounded to single precision.

    Spec: none (rounded)
    """
    return [tuple(c_float(x).value for x in row) for row in rows]


def exactly(x: float) -> Fraction:
    """A double as a fraction, 0 if it is no number.

    Spec: none (for what is rounded already)
    """
    return Fraction(x) if math.isfinite(x) else Fraction(0)


def quotient(top: int, bottom: int) -> float:
    """A quotient, infinite where it overflows.

    Spec: none (rounded)
    """
    try:
        return top / bottom
    except OverflowError:
        return math.inf


def added(add: Callable[[Iterable[float]], float], values: Iterable[float]) -> float:
    """A sum, infinite where adding overflows.

    Spec: none (rounded)
    """
    try:
        return add(values)
    except (OverflowError, ValueError):
        return math.inf
