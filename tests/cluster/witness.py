"""A slow second opinion on k-means: whole fits, put together from the formulas of chapter 10.

Rows and centres are tuples of floats, each taken as the rational it is. All numbers come from
``refclust.formulas.kmeans``; here is only the book-keeping of runs and restarts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any

from refclust.errors import KOutOfRange
from refclust.formulas import kmeans as formulas
from refclust.formulas.vectors import dot, scaled, squared_distance, total
from refclust.formulas.vectors import sum_of as sum_of_vectors
from refclust.numbers.real import Real

Row = tuple[float, ...]
Rows = Sequence[Row]
Weights = Sequence[float]
Terms = list[tuple[int, Fraction]]  # the sign and the square of each term of KM-COSOBJ


class Refused(Exception):
    """The definition has no answer; the code says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class Outcome:
    """What one run came to."""

    labels: list[int]
    centres: list[Row]
    start: list[Row]
    rss: Fraction
    cosine: Real
    stopped: str
    iterations: int
    emptied: list[tuple[int, int, int | None]] = field(default_factory=list)
    partitions: list[list[int]] = field(default_factory=list)
    sums: list[Fraction] = field(default_factory=list)  # RSS before and after each update
    moves: list[list[Row]] = field(default_factory=list)  # centres after each update
    changed: list[int] = field(default_factory=list)  # labels that differ from those before


def double(value: Fraction) -> float:
    """The nearest double, never the negative zero."""
    try:
        return value.numerator / value.denominator + 0.0
    except OverflowError:
        raise Refused("not-finite") from None


def square(x: Row, y: Row) -> Fraction:
    """The squared distance."""
    return _rational(squared_distance(x, y))


def unit(row: Row) -> Row:
    """KM-COSROWS; each component the nearest double."""
    return tuple(float(part) for part in formulas.direction(row))


def assign(rows: Rows, centres: Sequence[Row], metric: str = "euclidean") -> list[int]:
    """KM-ASSIGN and KM-COSASSIGN."""
    rule = formulas.nearest if metric == "euclidean" else formulas.nearest_by_cosine
    return [rule(x, centres) for x in rows]


def weight_of(labels: Sequence[int], weights: Weights, k: int) -> Fraction:
    """W_k."""
    return _rational(total(w for y, w in zip(labels, weights, strict=True) if y == k))


def sum_of(rows: Rows, labels: Sequence[int], weights: Weights, k: int) -> list[Fraction]:
    """S_k."""
    own = [scaled(w, x) for x, y, w in zip(rows, labels, weights, strict=True) if y == k]
    return list(sum_of_vectors([[0] * len(rows[0]), *own]))


def mean(rows: Rows, labels: Sequence[int], weights: Weights, k: int) -> Row:
    """KM-CENTROID."""
    own = [i for i, y in enumerate(labels) if y == k]
    place = formulas.centre([rows[i] for i in own], [weights[i] for i in own])
    return tuple(double(part) for part in place)


def rss(rows: Rows, labels: Sequence[int], weights: Weights, centres: Sequence[Row]) -> Fraction:
    """KM-RSS; rows labelled -1 belong to no cluster."""
    own = [i for i, y in enumerate(labels) if y >= 0]
    x, y, w = ([side[i] for i in own] for side in (rows, labels, weights))
    return _rational(formulas.rss(x, y, centres, w))  # type: ignore[arg-type]


def within(
    rows: Rows, labels: Sequence[int], weights: Weights, centres: Sequence[Row]
) -> list[Fraction]:
    """The part of each cluster in RSS."""
    return [
        rss(rows, [y if y == k else -1 for y in labels], weights, centres)
        for k in range(len(centres))
    ]


def cosine_terms(
    rows: Rows, labels: Sequence[int], weights: Weights, centres: Sequence[Row]
) -> Terms:
    """KM-COSOBJ cluster by cluster: what is added up, each as its sign and its square."""
    terms = []
    for k, c in enumerate(centres):
        product = _rational(dot(sum_of(rows, labels, weights, k), c))
        terms.append(((product > 0) - (product < 0), product**2 / _rational(dot(c, c))))
    return terms


def total_cosine(
    rows: Rows, labels: Sequence[int], weights: Weights, centres: Sequence[Row]
) -> Real:
    """KM-COSOBJ; rows labelled -1 belong to no cluster."""
    own = [i for i, y in enumerate(labels) if y >= 0]
    x, y, w = ([side[i] for i in own] for side in (rows, labels, weights))
    return Real(0) + formulas.total_cosine(x, y, centres, w)  # type: ignore[arg-type]


def draw(masses: Sequence[Fraction], r: float) -> int:
    """KM-DRAW; -1 where there is no mass."""
    return formulas.drawn(masses, r) if any(masses) else -1


def nearest_square(x: Row, centres: Sequence[Row]) -> Fraction:
    """D_i squared."""
    return _rational(formulas.gap(x, centres))


def potential(rows: Rows, weights: Weights, centres: Sequence[Row], candidate: Row) -> Fraction:
    """What KM-GREEDY makes small."""
    return _rational(total(formulas.masses(rows, weights, [*centres, candidate])))


def inner(x: Row, y: Row) -> Fraction:
    """The inner product."""
    return _rational(dot(x, y))


def cosine(x: Row, c: Row) -> tuple[int, Fraction]:
    """The sign and the signed square of x.c / |c|: they order like the quotient."""
    product = inner(x, c)
    return (product > 0) - (product < 0), abs(product) * product / inner(c, c)


def farthest(rows: Rows, weights: Weights, centres: Sequence[Row]) -> int:
    """KM-FARTHEST; -1 where every row of positive weight lies on a centre."""
    row = formulas.farthest(rows, centres, weights) if any(weights) else -1
    return row if row >= 0 and formulas.gap(rows[row], centres) else -1


def seeds(
    rows: Rows, weights: Weights, k: int, start: str, rng: Random, trials: int | None = None
) -> list[Row]:
    """KM-INIT: the starts that draw."""
    candidates = trials or 2 + formulas.floor_of_log(k)
    numbers = {
        "random-centres": k * len(rows[0]),
        "farthest": 1,
        "greedy": 1 + (k - 1) * candidates,
    }
    r = [rng.random() for _ in range(numbers.get(start, k))]
    try:
        if start == "greedy" and trials:
            return [rows[i] for i in formulas.greedy(rows, weights, k, r, trials)]
        found = formulas.initial_centres(start, rows, weights, k, r)
    except KOutOfRange:
        raise Refused("k-out-of-range") from None
    return [tuple(double(Fraction(part)) for part in centre) for centre in found]


def run(
    rows: Rows,
    start: Sequence[Row],
    weights: Weights,
    *,
    metric: str = "euclidean",
    empty: str = "farthest",
    tolerance: float | None = None,
    limit: int = 300,
) -> Outcome:
    """KM-ALG from given centres, on rows that are directions already if the metric asks for it."""
    cosine = metric == "cosine"
    centres: list[Row] = list(start)
    previous = [-1] * len(rows)
    told: list[tuple[int, int, int | None]] = []
    partitions: list[list[int]] = []
    sums: list[Fraction] = []
    moves: list[list[Row]] = []
    changed: list[int] = []
    objectives: list[Any] = []
    reason, number = None, 0
    steps = formulas.lloyd(rows, start, weights, empty, cosine)
    while not reason:
        number += 1
        labels, new, moved = next(steps)
        partitions.append(labels)
        changed.append(sum(map(int.__ne__, previous, labels)))
        sums.append(rss(rows, labels, weights, centres))
        double(sums[-1])
        gone = [k for k in range(len(centres)) if is_empty(rows, labels, weights, k, metric)]
        if formulas.stopped(labels != previous or bool(moved), (), limit) == "unchanged":
            reason = "unchanged"
            break
        told += [(number, k, moved.get(k)) for k in gone]
        left = [k for k in range(len(centres)) if not (empty == "drop" and k in gone)]
        index = {k: j for j, k in enumerate(left)}
        previous = [index.get(y, -1) for y in labels]  # a row of a dropped cluster has no label
        sums.append(rss(rows, previous, weights, new))
        double(sums[-1])
        objectives.append(total_cosine(rows, previous, weights, new) if cosine else sums[-1])
        reason = formulas.stopped(True, objectives, limit, tolerance, cosine)
        centres = new
        moves.append(list(new))
    labels = assign(rows, centres, metric)
    whole = total_cosine(rows, labels, weights, centres) if cosine else Real(0)
    squares = rss(rows, labels, weights, centres)
    double(squares)
    return Outcome(
        labels,
        list(centres),
        list(start),
        squares,
        whole,
        reason,
        number,
        told,
        partitions,
        sums,
        moves,
        changed,
    )


def is_empty(rows: Rows, labels: Sequence[int], weights: Weights, k: int, metric: str) -> bool:
    """KM-EMPTY."""
    if not weight_of(labels, weights, k):
        return True
    return metric == "cosine" and not any(mean(rows, labels, weights, k))


def fit(
    given: Rows,
    k: int,
    *,
    start: str = "k-means++",
    centres: Sequence[Row] | None = None,
    metric: str = "euclidean",
    weights: Weights | None = None,
    seed: int = 0,
    restarts: int = 1,
    trials: int | None = None,
    **options: object,
) -> tuple[Outcome, list[Outcome]]:
    """The best run and all runs (KM-RESTART)."""
    rows = [unit(row) for row in given] if metric == "cosine" else list(given)
    masses = [1.0] * len(rows) if weights is None else weights
    rng = Random(seed)
    runs = []
    for _ in range(restarts):
        chosen = centres or seeds(rows, masses, k, start, rng, trials)
        runs.append(run(rows, chosen, masses, metric=metric, **options))  # type: ignore[arg-type]
    small = [-one.cosine if metric == "cosine" else one.rss for one in runs]
    return runs[formulas.best_run(small)], runs


def _rational(value: Any) -> Fraction:
    assert isinstance(value, Fraction)
    return value


def optimum(rows: Rows, k: int) -> Fraction:
    """The least sum of squares of all partitions into at most k clusters, around exact means."""
    best: Fraction | None = None
    for labels in _labelings(len(rows), k):
        means = formulas.update(rows, labels, [1] * len(rows), k)
        found = _rational(formulas.rss(rows, labels, means, [1] * len(rows)))
        best = found if best is None or found < best else best
    assert best is not None
    return best


def _labelings(n: int, k: int) -> Iterable[list[int]]:
    if n == 0:
        yield []
        return
    for rest in _labelings(n - 1, k):
        for y in range(min(k, max(rest, default=-1) + 2)):
            yield [*rest, y]


def code_of(call: Callable[[], Any]) -> Any:
    """What a call gives, or the code of its refusal."""
    try:
        return call()
    except Exception as error:
        if not hasattr(error, "code"):
            raise
        return error.code
