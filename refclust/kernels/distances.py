"""The kernel that measures: all distances between the rows of a data set (chapters 08 and 20).

Each entry is the nearest double of an exact real number. The rows become integers over one power
of two, so the squared distance of a pair is an integer; one big integer holds those of a row to
all the others, which is what makes exactness cheap here.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from refclust.errors import BadOption, NotFinite, ZeroVector
from refclust.kernels.contracts.basic import Equal
from refclust.kernels.points import Points
from refclust.kernels.registry import kernel
from refclust.numbers.nearest import nearest, nearest_sqrt

METRICS: Final = ("euclidean", "sqeuclidean", "cosine")

Gaps: TypeAlias = Iterator[Sequence[int]]  # for each row its squared distances to those after it
Measure: TypeAlias = Callable[[int, Sequence[int]], Sequence[float]]

# Up to here an integer is a double; math.sqrt of one is then right to the last bit.
_EXACT: Final = 1 << 53
# Scaled by 2**56, the root of any greater integer is above 2**54: see refclust.numbers.nearest.
_EXTRA: Final = 56
# Within these bits a float times a power of two neither overflows nor meets a subnormal number.
_ORDINARY: Final = 400
_GUARD: Final = 70


@kernel("distances.pairwise", contract=Equal())
def pairwise(points: Points, metric: str) -> array[float]:
    """The distances of all pairs of rows, (0, 1), (0, 2), ..., (1, 2), ... in one array.

    Spec: KER-PAIR, DIST-L2, VEC-SQDIST, DIST-COS

    >>> from refclust.data.dataset import dense
    >>> pairwise(Points(dense(array("d", [0, 0, 3, 4, 0, 8]), 2)), "euclidean")
    array('d', [5.0, 8.0, 5.0])
    """
    if metric not in METRICS:
        raise BadOption(f"metric={metric!r}; allowed: {', '.join(METRICS)}")
    measure = _measure(metric, points)
    distances = array("d")
    for i, gaps in enumerate(squared_gaps(points)):
        try:
            distances.extend(measure(i, gaps))
        except NotFinite as error:
            raise NotFinite(f"row {i} and a row after it: {error}") from None
    return distances


def squared_gaps(points: Points) -> Gaps:
    """For each row its exact squared distances to the rows after it, times 4**shift.

    Spec: VEC-SQDIST

    >>> from refclust.data.dataset import dense
    >>> list(squared_gaps(Points(dense(array("d", [0, 0, 3, 4, 0, 8]), 2))))
    [[25, 64], [25], []]
    """
    return _dense_gaps(points) if points.dense else _sparse_gaps(points)


def _dense_gaps(points: Points) -> Gaps:
    """The squared distances of row after row, by one product of long integers per component.

    A column is written as one integer whose digits, to a base above any squared distance, are its
    components. Then x.x + y.y - 2 x.y for one x and all y at once is a sum of such integers times
    plain ones, and its digits are the squared distances: they are neither negative nor as large
    as the base, so nothing carries over. In floats this expansion would be the wrong way.
    """
    rows = points.integers
    lowest = list(map(min, zip(*rows, strict=True)))
    # Distances do not change when a column is moved, and small numbers are faster.
    moved = [[a - b for a, b in zip(row, lowest, strict=True)] for row in rows]
    largest = sum(max(column) ** 2 for column in zip(*moved, strict=True))
    width = max(8, (largest.bit_length() + 7) // 8)
    squares = [sum(a * a for a in row) for row in moved]
    columns = [_packed(column, width) for column in zip(*moved, strict=True)]
    all_squares, ones = _packed(squares, width), _packed([1] * len(rows), width)
    for i, row in enumerate(moved):
        packed = all_squares + squares[i] * ones
        for component, column in zip(row, columns, strict=True):
            packed -= 2 * component * column
        digits = packed.to_bytes(len(rows) * width, "little")
        yield [
            int.from_bytes(digits[begin : begin + width], "little")
            for begin in range((i + 1) * width, len(digits), width)
        ]


def _packed(numbers: Sequence[int], width: int) -> int:
    return int.from_bytes(b"".join(x.to_bytes(width, "little") for x in numbers), "little")


def _sparse_gaps(points: Points) -> Gaps:
    """The same for sparse rows: only rows that share a column have a product to add."""
    n, squares = points.n, points.squares
    entries = [
        list(zip(columns, row, strict=True))
        for columns, row in zip(points.columns, points.integers, strict=True)
    ]
    # Who has a column, the first row last, so that a row that is done is popped off.
    holders: dict[int, list[tuple[int, int]]] = {}
    for j in reversed(range(n)):
        for column, value in entries[j]:
            holders.setdefault(column, []).append((j, value))
    for i in range(n):
        products = [0] * n
        for column, value in entries[i]:
            holders[column].pop()
            for j, other in holders[column]:
                products[j] += value * other
        yield [squares[i] + squares[j] - 2 * products[j] for j in range(i + 1, n)]


def _measure(metric: str, points: Points) -> Measure:
    """How squared distances, in integers, become distances."""
    if metric == "cosine":
        return _cosines(points.squares)
    bits, shift = max(points.squares).bit_length(), points.shift
    if bits <= _ORDINARY and shift <= _ORDINARY:
        unit = 2.0**-shift
        if metric == "sqeuclidean":
            return lambda _, gaps: [gap * unit * unit for gap in gaps]
        return lambda _, gaps: _roots(gaps, unit)
    divisor = 1 << 2 * shift
    rounded = nearest if metric == "sqeuclidean" else nearest_sqrt
    return lambda _, gaps: [rounded(gap, divisor) for gap in gaps]


def _roots(gaps: Sequence[int], unit: float) -> list[float]:
    """Roots of integers times a power of two: nearest_sqrt, without the unusual cases."""
    roots, small = [], unit * 2.0 ** -(_EXTRA // 2)
    for gap in gaps:
        if gap < _EXACT:
            roots.append(math.sqrt(gap) * unit)
            continue
        scaled = gap << _EXTRA
        root = math.isqrt(scaled)
        roots.append((root if root * root == scaled else root | 1) * small)
    return roots


def _cosines(squares: list[int]) -> Measure:
    for i, square in enumerate(squares):
        if not square:
            raise ZeroVector(f"row {i} is the zero vector, which has no direction and no cosine")

    def measure(i: int, gaps: Sequence[int]) -> list[float]:
        x = squares[i]
        # |x - y|**2 = x.x + y.y - 2 x.y, so the product of two rows comes from their gap.
        return [
            one_minus_cosine((x + y - gap) // 2, x * y)
            for y, gap in zip(squares[i + 1 :], gaps, strict=True)
        ]

    return measure


def one_minus_cosine(product: int, squares: int) -> float:
    """The nearest double of 1 - product / sqrt(squares), without cancellation.

    Spec: DIST-COS

    >>> one_minus_cosine(24, 625), one_minus_cosine(-5, 25), one_minus_cosine(3, 9)
    (0.04, 2.0, 0.0)
    """
    if not product:
        return 1.0
    # What is left of the leading digits after the subtraction decides how many the root needs.
    lost = squares.bit_length() - (squares - product * product).bit_length()
    bits = max(0, _GUARD + lost - squares.bit_length() // 2)
    while True:
        scaled = squares << 2 * bits
        root, numerator = math.isqrt(scaled), product << bits
        low = nearest(root - numerator, root)
        if root * root == scaled:
            return low
        # The root is irrational and lies between two integers, and so does the distance; it is
        # no midpoint of doubles, so some number of bits settles it.
        if low == nearest(root + 1 - numerator, root + 1):
            return low
        bits += _GUARD
