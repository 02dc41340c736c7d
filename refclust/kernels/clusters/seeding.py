"""The kernels of seeding: how far rows are from the centres so far, and decisions by that.

Realises KM-DRAW, KM-GREEDY and KM-FARTHEST of chapter 10. The squared distance of a row to its
nearest centre is exact when it matters: estimates with bounds decide first, integers on doubt.
The random number is the driver's; a kernel only says where it falls. Row -1 means: no row.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property
from itertools import repeat
from operator import mul
from typing import Any, Final

from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.clusters.nearness import TINY, Euclidean, products, scaled_vectors, squared
from refclust.kernels.contracts.basic import Argmin, Equal
from refclust.kernels.contracts.merging import concatenated
from refclust.kernels.points import Points, Vector
from refclust.kernels.registry import Merge, kernel
from refclust.numbers.argmin import ROUND, first_maximum, first_minima, locate, locate_exact

LEAST: Final = 2.0**-1074  # more than a product with a weight next to nothing loses by underflow


@dataclass(frozen=True, slots=True)
class Potential:
    """For every row its nearest centre so far and an estimate of the squared distance to it.

    The estimates are believed only by the points that made them: another backend's may err more.

    Spec: KER-POTENTIAL
    """

    centres: tuple[Vector, ...]
    nearest: Labels
    squares: array[float]
    made_by: object = dataclass_field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class PotentialContract:
    """The nearest centres are exact; the estimates are the backend's own business."""

    name: str = "Argmin"

    def malformed(self, answer: Any) -> str | None:
        """Ask for a ``Potential`` with well-formed labels."""
        if not isinstance(answer, Potential):
            return f"a {type(answer).__name__} instead of a Potential"
        return Argmin().malformed(answer.nearest)

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare the nearest centres row by row."""
        return self.malformed(answer) or Argmin().fault(reference.nearest, answer.nearest)


def merged_potentials(parts: Sequence[Potential]) -> Potential:
    """The nearest centres of all rows, in their order; the estimates are nobody's any more.

    Spec: KER-POTENTIAL, BK-MERGE
    """
    nearest = concatenated([part.nearest for part in parts])
    return Potential(parts[0].centres, nearest, array("d", bytes(8 * len(nearest))))


@kernel(
    "seeding.potential",
    contract=PotentialContract(),
    merge=Merge(merged_potentials, ordered=True),
)
def potential(points: Points, centre: Vector, before: Potential | None = None) -> Potential:
    """Bring in one more centre: a row goes over to it where it is strictly nearer.

    Spec: KM-PP, KM-FARTHEST, KER-POTENTIAL

    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [0, 1, 2, 3]), 1))
    >>> potential(line, (3.0,), potential(line, (0.0,))).nearest.tolist()
    [0, 0, 1, 1]
    """
    field = _Squares(points, (centre,) if before is None else (*before.centres, centre))
    squares = field.estimates(centre)
    if before is None:
        return Potential((centre,), array("i", bytes(4 * points.n)), squares, points)
    new = len(before.centres)
    nearest, kept = array("i", before.nearest), array("d", field.believed(before))
    for i, (old, square, slack) in enumerate(zip(kept, squares, field.slacks, strict=True)):
        doubt = (old + square) * field.relative + slack
        if square + doubt < old or (
            not square > old + doubt and field.exact(i, [nearest[i], new]) == new
        ):
            nearest[i], kept[i] = new, square
    return Potential(field.centres, nearest, kept, points)


@kernel("seeding.locate", contract=Equal())
def place(points: Points, before: Potential | None, r: float, by: str = "squares") -> int:
    """Say on which row the random number r falls.

    The mass of a row is its weight; with centres before, times the squared distance to the nearest
    (``by="squares"``), or only for rows that equal none of them (``by="distinct"``).

    Spec: KM-DRAW, KM-PP, KM-RANDOM, KER-POTENTIAL

    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [0, 1, 2, 3]), 1))
    >>> place(line, None, 0.5), place(line, potential(line, (0.0,)), 0.5)
    (2, 3)
    """
    if before is None or by == "distinct":
        row = locate_exact(exact_masses(points, before, by)[0], r)
    else:
        field = _Squares(points, before.centres)
        weights = _float_weights(points)
        masses = list(map(mul, weights, field.believed(before)))
        # The product with the weight is rounded once more.
        error = 2 * (field.relative + ROUND) * _total(masses)
        error += 2 * _total(map(mul, weights, field.slacks))
        row = locate(masses, error, r, lambda: exact_masses(points, before, by)[0])
    return row if row < points.n else -1


@kernel("seeding.best_candidate", contract=Equal())
def best_candidate(points: Points, before: Potential, candidates: tuple[int, ...]) -> int:
    """Say which row, as the next centre, would leave the least potential, the first of equals.

    Spec: KM-GREEDY, KER-POTENTIAL

    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [0, 1, 2, 3]), 1))
    >>> best_candidate(line, potential(line, (0.0,)), (1, 2, 3))
    2
    """
    rows = dict.fromkeys(points.whole_row(i) for i in candidates)  # equal rows count once
    centres = tuple(rows)
    field = _Squares(points, (*before.centres, *centres))
    weights = _float_weights(points)
    squares = field.believed(before)
    totals = [
        _total(map(mul, weights, map(min, squares, field.estimates(centre)))) for centre in centres
    ]
    slack = 4 * (_total(map(mul, weights, field.slacks)) + points.n * LEAST)
    first = len(before.centres)

    def exact(_: int, indices: list[int]) -> int:
        old = field.exact_squares(before.nearest)
        return min(indices, key=lambda k: (_exact_total(points, field, old, first + k), k))

    [best] = first_minima([[t] for t in totals], 1 + 8 * field.relative, [slack], exact)
    return next(i for i in candidates if points.whole_row(i) == centres[best])


@kernel("seeding.farthest", contract=Equal())
def farthest(
    points: Points, before: Potential, labels: Labels | None = None, cluster: int = 0
) -> int:
    """Say which row of positive weight is farthest from its nearest centre, the lowest of equals.

    With labels only the rows of one cluster are asked. If all are at distance 0, there is no such
    row.

    Spec: KM-FARTHEST, KM-EMPTY, KER-POTENTIAL

    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [0, 1, 2, 3]), 1))
    >>> farthest(line, potential(line, (1.0,)))
    3
    """
    rows = [
        i for i, w in enumerate(points.weights) if w and (labels is None or labels[i] == cluster)
    ]
    if not rows:
        return -1
    field = _Squares(points, before.centres)
    slacks, squares = list(field.slacks), field.believed(before)
    place = first_maximum(
        [squares[i] for i in rows],
        1 + 4 * field.relative,
        4 * max(slacks[i] for i in rows),
        lambda i: field.exact_square(rows[i], before.nearest[rows[i]]),
    )
    row = rows[place]
    return row if field.exact_square(row, before.nearest[row]) else -1


class _Squares:
    """Squared distances to some centres: estimates, their errors, and the exact integers."""

    def __init__(self, points: Points, centres: tuple[Vector, ...]) -> None:
        self.points, self.centres = points, centres

    def estimates(self, centre: Vector) -> array[float]:
        """Estimated squared distances of all rows to one of the centres."""
        points = self.points
        if points.dense:
            distances = list(map(math.dist, points.rows, repeat(centre)))
            return array("d", map(mul, distances, distances))
        square = squared(math.hypot(*centre))
        both = zip(self._lengths, products(points, centre, 0, points.n), strict=True)
        return array("d", (max(x * x + (square - 2.0 * xc), 0.0) for x, xc in both))

    def believed(self, before: Potential) -> Sequence[float]:
        """The estimates of a potential, made anew if another backend made it."""
        if before.made_by is self.points:
            return before.squares
        columns = [self.estimates(centre) for centre in before.centres]
        return [columns[k][i] for i, k in enumerate(before.nearest)]

    @property
    def relative(self) -> float:
        """The relative error of a dense square: twice that of ``math.dist``, and its rounding."""
        return 4 * (self.points.d + 10) * ROUND if self.points.dense else 4 * ROUND

    @property
    def slacks(self) -> Iterable[float]:
        """The absolute error of each square: of a sparse row (m + 8) u (|x| + |c|)^2."""
        if self.points.dense:
            return repeat(TINY, self.points.n)
        longest = max(math.hypot(*centre) for centre in self.centres)
        return [
            4 * (len(row) + 8) * ROUND * squared(x + longest) + TINY
            for row, x in zip(self.points.rows, self._lengths, strict=True)
        ]

    @cached_property
    def _lengths(self) -> list[float]:
        return [math.hypot(*row) for row in self.points.rows]

    def exact(self, i: int, centres: list[int]) -> int:
        """The nearest of some centres to row i, the lowest index of equals."""
        return self._field.exact(i, centres)

    @cached_property
    def _field(self) -> Euclidean:
        return Euclidean(self.points, self.centres)

    @cached_property
    def _integers(self) -> tuple[list[list[int]], list[int], int]:
        vectors, t = scaled_vectors(self.centres)
        return vectors, [sum(map(mul, c, c)) << (2 * self.points.shift) for c in vectors], t

    @property
    def exact_shift(self) -> int:
        """The unit of exact squares is 2**-exact_shift."""
        return 2 * (self.points.shift + self._integers[2])

    def exact_square(self, i: int, k: int) -> int:
        """The squared distance of row i to centre k, in a unit common to all rows and centres."""
        vectors, squares, t = self._integers
        product = self.points.product(i, vectors[k]) << (self.points.shift + t + 1)
        return (self.points.squares[i] << (2 * t)) - product + squares[k]

    def exact_squares(self, nearest: Labels) -> list[int]:
        """The squared distance of every row to the centre named for it."""
        return [self.exact_square(i, k) for i, k in enumerate(nearest)]


def exact_masses(points: Points, before: Potential | None, by: str) -> tuple[list[int], int]:
    """The masses that a draw is made from, as integers over 2**shift, and the shift.

    Spec: KM-DRAW, KER-MASS

    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [0, 1, 2, 3]), 1))
    >>> exact_masses(line, potential(line, (0.0,)), "squares")
    ([0, 1, 4, 9], 0)
    """
    if before is None:
        return points.weights, points.weight_shift
    field = _Squares(points, before.centres)
    both = zip(points.weights, field.exact_squares(before.nearest), strict=True)
    if by == "distinct":
        return [w * bool(square) for w, square in both], points.weight_shift
    return [w * square for w, square in both], points.weight_shift + field.exact_shift


def _exact_total(points: Points, field: _Squares, old: Sequence[int], k: int) -> int:
    new = (field.exact_square(i, k) for i in range(points.n))
    return sum(map(mul, points.weights, map(min, old, new)))


def _total(values: Iterable[float]) -> float:
    try:
        return math.fsum(values)
    except OverflowError:
        return math.inf  # no estimate: the integers will decide


def _float_weights(points: Points) -> Sequence[float]:
    weights = points.data.weights
    return [1.0] * points.n if weights is None else weights.tolist()
