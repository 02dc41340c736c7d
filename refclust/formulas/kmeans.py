"""Chapter 10: k-means. Rows and centres are rationals, ties go to the lowest index.

Letters: x rows, w weights, c centres, y labels, r random numbers of [0, 1). Nothing is rounded but
by ``lloyd``, once per iteration, as KM-CENTROID asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, TypeAlias

from refclust.errors import EmptyCluster, KOutOfRange, ZeroVector
from refclust.formulas.vectors import (
    Exact,
    Number,
    Vector,
    dot,
    exact,
    norm,
    scaled,
    squared_distance,
    sum_of,
    total,
)
from refclust.numbers.real import Real

Rows: TypeAlias = Sequence[Vector]
Weights: TypeAlias = Sequence[Number]
Split: TypeAlias = Callable[[list[int]], tuple[Sequence[int], Sequence[Vector]]]


def lloyd(
    x: Rows, c: Sequence[Vector], w: Weights, policy: str = "farthest", cosine: bool = False
) -> Iterator[tuple[list[int], list[Any], dict[int, int]]]:
    """Assign and update, and so on: labels, centres, and the rows that empty clusters moved to.

    Each centre is rounded to the nearest double, once an iteration.

    Defines: KM-ALG

    >>> steps = lloyd([[0], [2], [9]], [[0], [1]], [1, 1, 1])
    >>> next(steps), next(steps)
    (([0, 1, 1], [(0.0,), (5.5,)], {}), ([0, 0, 1], [(1.0,), (9.0,)], {}))
    """
    centres: list[Any] = list(c)
    while True:
        y = [(nearest_by_cosine if cosine else nearest)(row, centres) for row in x]
        means = [None if mean is None else rounded(mean) for mean in update(x, y, w, len(centres))]
        empty = [k for k, mean in enumerate(means) if mean is None or (cosine and not norm(mean))]
        moved = refilled(x, y, centres, w, empty, policy)
        centres = [
            x[moved[k]] if k in moved else centres[k] if k in empty else means[k]
            for k in range(len(centres))
            if not (policy == "drop" and k in empty)
        ]
        yield y, centres, moved


def nearest(x: Vector, c: Sequence[Vector]) -> int:
    """The centre that a row belongs to.

    Defines: KM-ASSIGN

    >>> nearest([1], [[0], [2]])
    0
    """
    return min(range(len(c)), key=lambda k: squared_distance(x, c[k]))


def direction(x: Vector) -> Any:
    """A row scaled to length 1.

    Defines: KM-COSROWS

    >>> [part.fraction for part in direction([3, 4])]
    [Fraction(3, 5), Fraction(4, 5)]
    """
    if dot(x, x) == 0:
        raise ZeroVector("the zero vector has no direction")
    return scaled(1 / norm(x), x)


def nearest_by_cosine(x: Vector, c: Sequence[Vector]) -> int:
    """The centre that a row belongs to under the cosine.

    Defines: KM-COSASSIGN

    >>> nearest_by_cosine([1, 1], [[5, 0], [3, 2], [2, 3]])
    1
    """
    return max(range(len(c)), key=lambda k: dot(x, c[k]) / norm(c[k]))


def centre(x: Rows, w: Weights) -> Any:
    """The weighted mean of the rows of a cluster.

    Defines: KM-CENTROID

    >>> centre([[1], [4]], [1, 2])
    (Fraction(3, 1),)
    """
    return scaled(1 / total(w), sum_of(scaled(w_i, x_i) for w_i, x_i in zip(w, x, strict=True)))


def update(x: Rows, y: Sequence[int], w: Weights, k: int) -> list[Any]:
    """The mean of the rows of every cluster; an empty one has none.

    Defines: KM-UPDATE

    >>> update([[1], [4], [7]], [0, 0, 2], [1, 2, 1], 3)
    [(Fraction(3, 1),), None, (Fraction(7, 1),)]
    """
    own = [[i for i, label in enumerate(y) if label == cluster] for cluster in range(k)]
    return [
        centre([x[i] for i in rows], [w[i] for i in rows]) if any(w[i] for i in rows) else None
        for rows in own
    ]


def refilled(
    x: Rows, y: Sequence[int], c: Sequence[Vector], w: Weights, empty: Sequence[int], policy: str
) -> dict[int, int]:
    """The rows that the centres of empty clusters move to; those that stay are left out.

    Defines: KM-EMPTY

    >>> refilled([[0], [1], [6]], [0, 0, 0], [[0], [9]], [1, 1, 1], [1], "farthest")
    {1: 2}
    """
    if empty and (policy == "error" or (policy == "drop" and len(empty) == len(c))):
        raise EmptyCluster(f"the clusters {list(empty)} have no rows")
    filled = [k for k in range(len(c)) if k not in empty]
    if policy == "farthest" and filled:
        return _farthest_rows(x, [c[k] for k in filled], w, empty)
    if policy == "split":
        return dict(zip(empty, _rows_of_the_widest(x, y, c, w, filled), strict=False))
    return {}


def _farthest_rows(x: Rows, c: list[Vector], w: Weights, empty: Sequence[int]) -> dict[int, int]:
    moved: dict[int, int] = {}
    for k in empty:
        i = farthest(x, c, w)
        if gap(x[i], c) > 0:
            moved[k] = i
            c.append(x[i])
    return moved


def _rows_of_the_widest(
    x: Rows, y: Sequence[int], c: Sequence[Vector], w: Weights, filled: Sequence[int]
) -> list[int]:
    """The farthest row of each cluster, the cluster with the largest residual sum first."""
    own = {k: [i for i, label in enumerate(y) if label == k and w[i]] for k in filled}
    spread = {k: rss([x[i] for i in own[k]], [k] * len(own[k]), c, [w[i] for i in own[k]])
              for k in filled}  # fmt: skip
    donors = sorted((k for k in filled if spread[k] > 0), key=lambda k: (-spread[k], k))
    return [max(own[k], key=lambda i: squared_distance(x[i], c[k])) for k in donors]


def rss(x: Rows, y: Sequence[int], c: Sequence[Vector], w: Weights) -> Exact:
    """The residual sum of squares of a clustering.

    Defines: KM-RSS

    >>> rss([[0], [3]], [0, 0], [[1]], [1, 2])
    Fraction(9, 1)
    """
    return total(
        exact(w_i) * squared_distance(x_i, c[y_i]) for x_i, y_i, w_i in zip(x, y, w, strict=True)
    )


def mean_squared_distance(x: Rows, y: Sequence[int], c: Sequence[Vector], w: Weights) -> Exact:
    """The mean squared distance of a row from its centre.

    Defines: KM-AVGSQ

    >>> mean_squared_distance([[0], [3]], [0, 0], [[1]], [1, 2])
    Fraction(3, 1)
    """
    return rss(x, y, c, w) / total(w)


def total_cosine(x: Rows, y: Sequence[int], c: Sequence[Vector], w: Weights) -> Exact:
    """What spherical k-means makes large.

    Defines: KM-COSOBJ

    >>> total_cosine([[1, 0], [0, 1]], [0, 0], [[3, 4]], [1, 2]).fraction
    Fraction(11, 5)
    """
    return total(
        exact(w_i) * dot(x_i, c[y_i]) / norm(c[y_i]) for x_i, y_i, w_i in zip(x, y, w, strict=True)
    )


def stopped(
    changed: bool,
    objectives: Sequence[Number],
    limit: int,
    tolerance: Number | None = None,
    cosine: bool = False,
) -> str | None:
    """Why a run ends after an iteration, if it does.

    ``changed``: a label changed, or an empty cluster is moved now. ``objectives``: RSS after each
    update so far, under the cosine KM-COSOBJ.

    Defines: KM-STOP

    >>> stopped(False, [9, 5], 300), stopped(True, [9, 5], 300), stopped(True, [9, 5], 2)
    ('unchanged', None, 'limit')
    >>> stopped(True, [9, 8], 300, tolerance=0.125), stopped(True, [3, 3], 300, cosine=True)
    ('tolerance', 'objective')
    """
    if not changed:
        return "unchanged"
    if len(objectives) > 1:
        before, after = exact(objectives[-2]), exact(objectives[-1])
        gain = after - before if cosine else before - after
        if tolerance is not None and gain <= exact(tolerance) * before:
            return "tolerance"
        if cosine and gain <= 0:
            return "objective"
    return "limit" if len(objectives) >= limit else None


def initial_centres(start: str, x: Rows, w: Weights, k: int, r: Sequence[Number]) -> list[Any]:
    """The centres that a run begins with, for the random numbers of its stream.

    Defines: KM-INIT

    >>> initial_centres("random-centres", [[0], [8]], [1, 1], 2, [0.25, 0.5])
    [(Fraction(2, 1),), (Fraction(4, 1),)]
    """
    if start == "random-centres":
        d = len(x[0])
        return [in_box(x, w, r[d * i : d * (i + 1)]) for i in range(k)]
    if start == "farthest":
        return [x[i] for i in farthest_first(x, w, k, r[0])]
    if start == "greedy":
        return [x[i] for i in greedy(x, w, k, r)]
    return [x[i] for i in {"random": random_rows, "k-means++": plus_plus}[start](x, w, r[:k])]


def drawn(masses: Sequence[Number], r: Number) -> int:
    """The row on which a random number falls.

    Defines: KM-DRAW

    >>> drawn([1, 0, 3], 0.25), drawn([1, 0, 3], 0.2)
    (2, 0)
    """
    mass = exact(r) * total(masses)
    return next(i for i, below in enumerate(accumulate(map(exact, masses))) if below > mass)


def random_rows(x: Rows, w: Weights, r: Sequence[Number]) -> list[int]:
    """Different rows, each drawn by weight among those that equal none before.

    Defines: KM-RANDOM

    >>> random_rows([[5], [5], [7]], [1, 1, 2], [0, 0])
    [0, 2]
    """
    chosen: list[int] = []
    for r_k in r:
        chosen.append(drawn(_some(fresh(x, w, [x[i] for i in chosen])), r_k))
    return chosen


def plus_plus(x: Rows, w: Weights, r: Sequence[Number]) -> list[int]:
    """The rows that k-means++ begins with.

    Defines: KM-PP

    >>> plus_plus([[0], [1], [3]], [1, 1, 1], [0, 0.25])
    [0, 2]
    """
    chosen = [drawn(_some(w), r[0])]
    for r_k in r[1:]:
        chosen.append(drawn(_some(masses(x, w, [x[i] for i in chosen])), r_k))
    return chosen


def greedy(
    x: Rows, w: Weights, k: int, r: Sequence[Number], trials: int | None = None
) -> list[int]:
    """The rows that k-means++ begins with if each is the best of several candidates.

    Defines: KM-GREEDY

    >>> greedy([[0], [1], [3]], [1, 1, 1], 2, [0, 0, 0.5])
    [0, 2]
    """
    count = trials or 2 + floor_of_log(k)
    chosen = [drawn(_some(w), r[0])]
    for begin in range(1, 1 + (k - 1) * count, count):
        c = [x[i] for i in chosen]
        candidates = [drawn(_some(masses(x, w, c)), r_k) for r_k in r[begin : begin + count]]
        chosen.append(min(candidates, key=lambda i: total(masses(x, w, [*c, x[i]]))))
    return chosen


def farthest_first(x: Rows, w: Weights, k: int, r: Number) -> list[int]:
    """One row drawn, then always the row farthest from all before.

    Defines: KM-FARTHEST

    >>> farthest_first([[0], [1], [5]], [1, 1, 1], 3, 0)
    [0, 2, 1]
    """
    chosen = [drawn(_some(w), r)]
    while len(chosen) < k:
        c = [x[i] for i in chosen]
        _some(masses(x, w, c))
        chosen.append(farthest(x, c, w))
    return chosen


def in_box(x: Rows, w: Weights, r: Sequence[Number]) -> tuple[Exact, ...]:
    """A centre drawn from the smallest box around the rows.

    Defines: KM-BOX

    >>> in_box([[0, 1], [8, 1]], [1, 1], [0.25, 0.5])
    (Fraction(2, 1), Fraction(1, 1))
    """
    rows = [[x_i[place] for place in range(len(r))] for x_i, w_i in _pairs(x, w) if w_i]
    sides = [(exact(min(column)), exact(max(column))) for column in zip(*rows, strict=True)]
    return tuple(a + exact(r_l) * (b - a) for (a, b), r_l in zip(sides, r, strict=True))


def best_run(objectives: Sequence[Number]) -> int:
    """The best of several runs by their residual sums.

    Defines: KM-RESTART

    >>> best_run([3, 1, 1])
    1
    """
    return min(range(len(objectives)), key=lambda run: exact(objectives[run]))


def bisecting(x: Rows, w: Weights, k: int, halves: Split, by: str = "rss") -> list[list[int]]:
    """The rows of each cluster after splitting the widest leaf in two, again and again.

    ``halves`` is k-means with K = 2 on some rows: a label for each, and the two centres.

    Defines: HC-BISECT

    >>> def halves(rows):
    ...     return [int(i >= 2) for i in rows], [[0], [9]]
    >>> bisecting([[0], [1], [8], [9]], [1] * 4, 2, halves)
    [[0, 1], [2, 3]]
    """
    everything = list(range(len(x)))
    leaves = [(everything, centre(x, w))]
    whole: set[int] = set()  # the first rows of leaves that cannot be split
    while len(leaves) < k:
        size = {
            rows[0]: total(
                exact(w[i]) * (squared_distance(x[i], c) if by == "rss" else 1) for i in rows
            )
            for rows, c in leaves
            if rows[0] not in whole and any(gap(x[i], [x[j]]) for i in rows for j in rows
                                            if w[i] and w[j])
        }  # fmt: skip
        if not size:
            raise KOutOfRange(f"there are fewer than {k} different rows")
        first = min(size, key=lambda row: (-size[row], row))
        place = next(at for at, (rows, _) in enumerate(leaves) if rows[0] == first)
        rows = leaves[place][0]
        y, c = halves(rows)
        parts = [[i for i, label in zip(rows, y, strict=True) if label == side] for side in (0, 1)]
        if all(parts):
            leaves[place : place + 1] = list(zip(parts, c, strict=True))
        else:
            whole.add(first)
    return [rows for rows, _ in leaves]


# What several clauses share.


def gap(x: Vector, c: Sequence[Vector]) -> Exact:
    """The squared distance of a row from the nearest of some centres.

    Spec: KM-PP

    >>> gap([1], [[5], [3]])
    Fraction(4, 1)
    """
    return min(squared_distance(x, c_k) for c_k in c)


def masses(x: Rows, w: Weights, c: Sequence[Vector]) -> list[Exact]:
    """The masses by which a further centre is drawn.

    Spec: KM-PP

    >>> masses([[0], [3]], [1, 2], [[1]])
    [Fraction(1, 1), Fraction(8, 1)]
    """
    return [exact(w_i) * gap(x_i, c) for x_i, w_i in _pairs(x, w)]


def fresh(x: Rows, w: Weights, c: Sequence[Vector]) -> list[Exact]:
    """The weights of the rows that equal no centre so far, 0 for the others.

    Spec: KM-RANDOM

    >>> fresh([[0], [3]], [1, 2], [[0]])
    [Fraction(0, 1), Fraction(2, 1)]
    """
    return [exact(w_i) if not c or gap(x_i, c) else Fraction(0) for x_i, w_i in _pairs(x, w)]


def farthest(x: Rows, c: Sequence[Vector], w: Weights) -> int:
    """The row of positive weight that is farthest from all centres, the first of equals.

    Spec: KM-FARTHEST

    >>> farthest([[0], [9], [5]], [[1]], [1, 0, 1])
    2
    """
    return max((i for i in range(len(x)) if w[i]), key=lambda i: gap(x[i], c))


def floor_of_log(k: int) -> int:
    """The whole part of ln K.

    Spec: KM-GREEDY

    >>> floor_of_log(2), floor_of_log(20)
    (0, 2)
    """
    from refclust.numbers.real import log

    count = 0
    while log(k) >= count + 1:
        count += 1
    return count


def rounded(place: Any) -> Any:
    """A centre as doubles, each the nearest.

    Spec: KM-CENTROID

    >>> rounded(centre([[0], [1]], [2, 1]))
    (0.3333333333333333,)
    """
    if isinstance(place, Mapping):
        return {column: float(Real(exact(number))) for column, number in place.items()}
    return tuple(float(Real(exact(number))) for number in place)


def _pairs(x: Rows, w: Weights) -> Iterator[tuple[Vector, Number]]:
    return zip(x, w, strict=True)


def _some(masses: Sequence[Number]) -> Sequence[Number]:
    if not any(masses):
        raise KOutOfRange("there are not that many different rows of positive weight")
    return masses
