"""Rows made ready for the reference kernels: tuples of floats for speed, integers for exactness.

Every double is an integer over a power of two, so a whole data set is a matrix of integers over one
power of two. Floats with error bounds decide almost everything; the integers decide the rest and
carry all sums. Both are made when first needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise, repeat
from operator import mul
from typing import TypeAlias, TypeVar

from refclust.data.dataset import Dataset, Dense

Vector: TypeAlias = tuple[float, ...]
Integers: TypeAlias = tuple[int, ...]
T = TypeVar("T")


def binary(values: Sequence[float]) -> tuple[list[int], int]:
    """Numbers as integers over one power of two: x = integer / 2**shift.

    Spec: NUM-NEAR

    >>> binary([2.0, -3.0]), binary([0.5]) == ([2**52], 53)
    (([2, -3], 0), True)
    """
    if all(map(float.is_integer, values)):
        return list(map(int, values)), 0
    # A double has 53 bits: the smallest one says how many places behind the point are enough.
    shift = 53 - math.frexp(min(map(abs, filter(None, values))))[1]
    if shift < 1023 and max(map(abs, values)) < 2.0 ** (1023 - shift):
        # Products with a power of two are exact as long as they do not overflow.
        return list(map(int, map(mul, values, repeat(2.0**shift)))), shift
    ratios = map(float.as_integer_ratio, values)
    return [(p << shift) // q for p, q in ratios], shift


class Points:
    """The rows of a data set, dense or sparse, as floats and as integers.

    >>> from array import array
    >>> from refclust.data.dataset import dense
    >>> Points(dense(array("d", [0, 1, 2, 4]), 2)).integers
    [(0, 1), (2, 4)]
    """

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.n, self.d = data.n, data.d
        self.dense = isinstance(data.matrix, Dense)

    @cached_property
    def rows(self) -> list[Vector]:
        """The numbers of each row; of a sparse row those that are not zero."""
        matrix = self.data.matrix
        # Tuples, not lists: math.dist would copy a list into a tuple at every call.
        values = matrix.values.tolist()
        if isinstance(matrix, Dense):
            if not matrix.d:
                return [()] * matrix.n
            return list(zip(*[iter(values)] * matrix.d, strict=True))
        return [tuple(values[begin:end]) for begin, end in self._spans]

    @cached_property
    def filled(self) -> list[Vector]:
        """The rows with their zeros."""
        return self.rows if self.dense else [self.whole_row(i) for i in range(self.n)]

    @cached_property
    def columns(self) -> list[Integers]:
        """The columns of each sparse row's numbers."""
        matrix = self.data.matrix
        assert not isinstance(matrix, Dense)
        columns = matrix.columns.tolist()
        return [tuple(columns[begin:end]) for begin, end in self._spans]

    @cached_property
    def nonzero(self) -> list[tuple[Integers, Vector]]:
        """Of each row the columns that are not zero, and their numbers."""
        if self.dense:
            rows = [list(enumerate(row)) for row in self.rows]
        else:
            rows = [
                list(zip(*pair, strict=True)) for pair in zip(self.columns, self.rows, strict=True)
            ]
        return [(tuple(j for j, x in row if x), tuple(x for _, x in row if x)) for row in rows]

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        matrix = self.data.matrix
        assert not isinstance(matrix, Dense)
        starts = matrix.starts.tolist()
        return list(pairwise(starts))

    @cached_property
    def _scaled(self) -> tuple[list[Integers], int]:
        flat, shift = binary(self.data.matrix.values.tolist())
        if not self.dense:
            return [tuple(flat[begin:end]) for begin, end in self._spans], shift
        rows = zip(*[iter(flat)] * self.d, strict=True) if self.d else [()] * self.n
        return list(rows), shift

    @cached_property
    def integers(self) -> list[Integers]:
        """The numbers of each row times 2**shift."""
        return self._scaled[0]

    @cached_property
    def shift(self) -> int:
        """The power of two that makes all numbers integers."""
        return self._scaled[1]

    @cached_property
    def squares(self) -> list[int]:
        """The squared length of each row times 4**shift."""
        return [sum(map(mul, row, row)) for row in self.integers]

    @cached_property
    def _weights(self) -> tuple[list[int], int]:
        weights = self.data.weights
        return ([1] * self.n, 0) if weights is None else binary(weights.tolist())

    @cached_property
    def weights(self) -> list[int]:
        """The weight of each row times 2**weight_shift."""
        return self._weights[0]

    @cached_property
    def weight_shift(self) -> int:
        """The power of two that makes all weights integers."""
        return self._weights[1]

    @cached_property
    def weighted(self) -> bool:
        """Whether rows have weights of their own."""
        return self.data.weights is not None

    def product(self, i: int, vector: Sequence[int]) -> int:
        """The inner product of the integers of row i with integers in all columns."""
        if self.dense:
            return sum(map(mul, self.integers[i], vector))
        return sum(map(mul, self.integers[i], map(vector.__getitem__, self.columns[i])))

    def whole_row(self, i: int) -> Vector:
        """Row i with its zeros.

        Spec: DATA-SET
        """
        if self.dense:
            return self.rows[i]
        row = dict(zip(self.columns[i], self.rows[i], strict=True))
        return tuple(row.get(j, 0.0) for j in range(self.d))


def grouped(labels: Iterable[int], items: Iterable[T], k: int) -> list[list[T]]:
    """The items of each of k groups."""
    groups: list[list[T]] = [[] for _ in range(k)]
    add = [group.append for group in groups]
    for label, item in zip(labels, items, strict=True):
        add[label](item)
    return groups
