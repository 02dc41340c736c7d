"""A slow second opinion on k-means: the clauses of chapter 10 word for word, in fractions.

Rows and centres are tuples of floats, each taken as the rational it is. Nothing is estimated and
nothing is shared with the package but the rule that a number is rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from random import Random
from typing import Any

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
    terms: Terms
    stopped: str
    iterations: int
    emptied: list[tuple[int, int, int | None]] = field(default_factory=list)
    partitions: list[list[int]] = field(default_factory=list)
    sums: list[Fraction] = field(default_factory=list)  # RSS before and after each update


def double(value: Fraction) -> float:
    """The nearest double, never the negative zero."""
    try:
        return value.numerator / value.denominator + 0.0
    except OverflowError:
        raise Refused("not-finite") from None


def square(x: Iterable[float], y: Iterable[float]) -> Fraction:
    """The squared distance."""
    differences = (Fraction(a) - Fraction(b) for a, b in zip(x, y, strict=True))
    return sum((e * e for e in differences), Fraction())


def inner(x: Iterable[float], y: Iterable[float]) -> Fraction:
    """The inner product."""
    return sum((Fraction(a) * Fraction(b) for a, b in zip(x, y, strict=True)), Fraction())


def first_least(values: Sequence[Fraction]) -> int:
    """The lowest index of the least value."""
    return min(range(len(values)), key=lambda k: (values[k], k))


def root(value: Fraction) -> float:
    """The nearest double of a square root: the one between whose midpoints it lies."""
    with localcontext() as context:
        context.prec = 400
        found = float((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())
    while True:
        below, above = math.nextafter(found, -math.inf), math.nextafter(found, math.inf)
        low, high = ((Fraction(found) + Fraction(next_one)) / 2 for next_one in (below, above))
        if found > 0 and low**2 > value:
            found = below
        elif high**2 < value:
            found = above
        else:
            assert value not in (low**2, high**2), "halfway between two doubles"
            return found


def unit(row: Row) -> Row:
    """KM-COSROWS."""
    length = inner(row, row)
    if not length:
        raise Refused("zero-vector")
    return tuple(math.copysign(root(Fraction(x) ** 2 / length), x) if x else 0.0 for x in row)


def cosine(x: Row, c: Row) -> tuple[int, Fraction]:
    """The sign and the signed square of x.c / |c|: they order like the quotient."""
    product = inner(x, c)
    return (product > 0) - (product < 0), abs(product) * product / inner(c, c)


def assign(rows: Rows, centres: Sequence[Row], metric: str = "euclidean") -> list[int]:
    """KM-ASSIGN and KM-COSASSIGN."""
    if metric == "euclidean":
        return [first_least([square(x, c) for c in centres]) for x in rows]
    return [first_least([-cosine(x, c)[1] for c in centres]) for x in rows]


def weight_of(labels: Sequence[int], weights: Weights, k: int) -> Fraction:
    """W_k."""
    return sum((Fraction(w) for y, w in zip(labels, weights, strict=True) if y == k), Fraction())


def sum_of(rows: Rows, labels: Sequence[int], weights: Weights, k: int) -> list[Fraction]:
    """S_k."""
    found = [Fraction()] * len(rows[0])
    for x, y, w in zip(rows, labels, weights, strict=True):
        if y == k:
            found = [s + Fraction(w) * Fraction(a) for s, a in zip(found, x, strict=True)]
    return found


def mean(rows: Rows, labels: Sequence[int], weights: Weights, k: int) -> Row:
    """KM-CENTROID."""
    whole = weight_of(labels, weights, k)
    return tuple(double(s / whole) for s in sum_of(rows, labels, weights, k))


def rss(rows: Rows, labels: Sequence[int], weights: Weights, centres: Sequence[Row]) -> Fraction:
    """KM-RSS, row by row; rows labelled -1 belong to no cluster."""
    pairs = zip(rows, labels, weights, strict=True)
    return sum((Fraction(w) * square(x, centres[y]) for x, y, w in pairs if y >= 0), Fraction())


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
    """KM-COSOBJ: what is added up, each as its sign and its square."""
    terms = []
    for k, c in enumerate(centres):
        s = sum_of(rows, labels, weights, k)
        product = sum((a * Fraction(b) for a, b in zip(s, c, strict=True)), Fraction())
        terms.append(((product > 0) - (product < 0), product**2 / inner(c, c)))
    return terms


def compare_roots(left: Terms, right: Terms) -> int:
    """The sign of a difference of two sums of square roots.

    Sums that agree in 200 places are taken as equal: for a few roots of short numbers no other
    reason is plausible, and a wrong guess could only make a test fail.
    """
    difference = _total(left, 300) - _total(right, 300)
    if abs(difference) < Decimal("1e-200"):
        return 0
    return 1 if difference > 0 else -1


def total_cosine(terms: Terms) -> float:
    """KM-COSOBJ rounded, from 300 digits."""
    return float(_total(terms, 300)) + 0.0


def _total(terms: Terms, digits: int) -> Decimal:
    with localcontext() as context:
        context.prec = digits
        roots = ((Decimal(t.numerator) / Decimal(t.denominator)).sqrt() * s for s, t in terms)
        return sum(roots, Decimal())


def draw(masses: Sequence[Fraction], r: float) -> int:
    """KM-DRAW; -1 where there is no mass."""
    whole, reached = sum(masses, Fraction()), Fraction()
    for i, mass in enumerate(masses):
        reached += mass
        if reached > Fraction(r) * whole:
            return i
    return -1


def nearest_square(x: Row, centres: Sequence[Row]) -> Fraction:
    """D_i squared."""
    return min(square(x, c) for c in centres)


def farthest(rows: Rows, weights: Weights, centres: Sequence[Row]) -> int:
    """KM-FARTHEST; -1 where every row of positive weight lies on a centre."""
    distances = [
        nearest_square(x, centres) if w else Fraction() for x, w in zip(rows, weights, strict=True)
    ]
    best = max(distances)
    return distances.index(best) if best else -1


def potential(rows: Rows, weights: Weights, centres: Sequence[Row], candidate: Row) -> Fraction:
    """What KM-GREEDY makes small."""
    pairs = zip(rows, weights, strict=True)
    return sum(
        (Fraction(w) * nearest_square(x, [*centres, candidate]) for x, w in pairs), Fraction()
    )


def seeds(
    rows: Rows, weights: Weights, k: int, start: str, rng: Random, trials: int | None = None
) -> list[Row]:
    """KM-INIT: the starts that draw."""
    if start == "random-centres":
        columns = list(zip(*(x for x, w in zip(rows, weights, strict=True) if w), strict=True))
        low, high = list(map(min, columns)), list(map(max, columns))
        return [
            tuple(
                double(Fraction(a) + Fraction(rng.random()) * (Fraction(b) - Fraction(a)))
                for a, b in zip(low, high, strict=True)
            )
            for _ in range(k)
        ]
    mass = [Fraction(w) for w in weights]
    centres = [rows[draw(mass, rng.random())]]
    while len(centres) < k:
        row = _next_seed(rows, weights, centres, start, rng, trials or 2 + math.floor(math.log(k)))
        if row < 0:
            raise Refused("k-out-of-range")
        centres.append(rows[row])
    return centres


def _next_seed(
    rows: Rows, weights: Weights, centres: list[Row], start: str, rng: Random, trials: int
) -> int:
    if start == "farthest":
        return farthest(rows, weights, centres)
    apart = [nearest_square(x, centres) for x in rows]
    if start == "random":
        apart = [Fraction(bool(s)) for s in apart]
    masses = [Fraction(w) * s for w, s in zip(weights, apart, strict=True)]
    if start != "greedy":
        return draw(masses, rng.random())
    candidates = [draw(masses, rng.random()) for _ in range(trials)]
    if candidates[0] < 0:
        return -1
    totals = [potential(rows, weights, centres, rows[i]) for i in candidates]
    return candidates[first_least(totals)]


def is_empty(rows: Rows, labels: Sequence[int], weights: Weights, k: int, metric: str) -> bool:
    """KM-EMPTY."""
    if not weight_of(labels, weights, k):
        return True
    return metric == "cosine" and not any(mean(rows, labels, weights, k))


def places(
    rows: Rows,
    labels: Sequence[int],
    weights: Weights,
    centres: Sequence[Row],
    empty: list[int],
    policy: str,
) -> dict[int, int]:
    """KM-EMPTY: the rows that empty clusters move to."""
    filled = [k for k in range(len(centres)) if k not in empty]
    taken: dict[int, int] = {}
    if policy == "farthest" and filled:
        around = [centres[k] for k in filled]
        for k in empty:
            row = farthest(rows, weights, around)
            if row < 0:
                break
            taken[k] = row
            around.append(rows[row])
    if policy == "split":
        sums = within(rows, labels, weights, centres)
        donors = sorted((k for k in filled if sums[k]), key=lambda k: (-sums[k], k))
        for k, donor in zip(empty, donors, strict=False):
            members = [i for i, y in enumerate(labels) if y == donor and weights[i]]
            taken[k] = min(members, key=lambda i: (-square(rows[i], centres[donor]), i))
    return taken


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
    centres: Sequence[Row] = start
    previous = [-1] * len(rows)
    before: Fraction | Terms | None = None
    told: list[tuple[int, int, int | None]] = []
    partitions: list[list[int]] = []
    sums: list[Fraction] = []
    stopped, number = "", 0
    while not stopped:
        number += 1
        labels = assign(rows, centres, metric)
        partitions.append(labels)
        sums.append(rss(rows, labels, weights, centres))
        double(sums[-1])
        gone = [k for k in range(len(centres)) if is_empty(rows, labels, weights, k, metric)]
        if (gone and empty == "error") or (len(gone) == len(centres) and empty == "drop"):
            raise Refused("empty-cluster")
        taken = places(rows, labels, weights, centres, gone, empty)
        if labels == previous and not taken:
            stopped = "unchanged"
            break
        told += [(number, k, taken.get(k)) for k in gone]
        left = [k for k in range(len(centres)) if not (empty == "drop" and k in gone)]
        index = {k: j for j, k in enumerate(left)}
        new = []
        for k in left:
            if k in taken:
                new.append(rows[taken[k]])
            else:
                new.append(centres[k] if k in gone else mean(rows, labels, weights, k))
        labels = [index.get(y, -1) for y in labels]  # a row of a dropped cluster has no label
        sums.append(rss(rows, labels, weights, new))
        double(sums[-1])
        after = cosine_terms(rows, labels, weights, new) if metric == "cosine" else sums[-1]
        stopped = _reason(before, after, tolerance, number, limit)
        previous, centres, before = labels, new, after
    labels = assign(rows, centres, metric)
    terms = cosine_terms(rows, labels, weights, centres) if metric == "cosine" else []
    squares = rss(rows, labels, weights, centres)
    double(squares)
    return Outcome(
        labels, list(centres), list(start), squares, terms, stopped, number, told, partitions, sums
    )


def _reason(
    before: Fraction | Terms | None,
    after: Fraction | Terms,
    tolerance: float | None,
    number: int,
    limit: int,
) -> str:
    """KM-STOP, all reasons but the first and the last."""
    if isinstance(before, list) and isinstance(after, list):
        if tolerance is not None:
            grown = [(s, t * (1 + Fraction(tolerance)) ** 2) for s, t in before]
            if compare_roots(after, grown) <= 0:
                return "tolerance"
        if compare_roots(after, before) <= 0:
            return "objective"
    if (
        isinstance(before, Fraction)
        and isinstance(after, Fraction)
        and tolerance is not None
        and before - after <= Fraction(tolerance) * before
    ):
        return "tolerance"
    return "limit" if number >= limit else ""


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
    best = runs[0]
    for other in runs[1:]:
        better = (
            compare_roots(other.terms, best.terms) > 0
            if metric == "cosine"
            else other.rss < best.rss
        )
        best = other if better else best
    return best, runs


def optimum(rows: Rows, k: int) -> Fraction:
    """The least sum of squares of all partitions into at most k clusters, around exact means."""
    best: Fraction | None = None
    for labels in _labelings(len(rows), k):
        found = Fraction()
        for j in range(k):
            members = [x for x, y in zip(rows, labels, strict=True) if y == j]
            if members:
                means = [sum(map(Fraction, c), Fraction()) / len(members) for c in zip(*members)]  # noqa: B905
                found += sum((_exact_square(x, means) for x in members), Fraction())
        best = found if best is None or found < best else best
    assert best is not None
    return best


def _exact_square(x: Row, y: Sequence[Fraction]) -> Fraction:
    return sum(((Fraction(a) - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction())


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
