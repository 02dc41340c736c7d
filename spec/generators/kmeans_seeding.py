"""Initial centres from the definitions (KM-INIT), drawn by exact prefix sums of exact masses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from .kmeans_numbers import Refusal, nearest
from .make_sampling import Twister

Row = tuple[Fraction, ...]
Weights = Sequence[Fraction]


def gap(x: Row, c: Row) -> Fraction:
    """The squared distance, component by component."""
    return sum(((a - b) ** 2 for a, b in zip(x, c, strict=True)), Fraction(0))


def draw(masses: Sequence[Fraction], number: Fraction) -> int:
    """The first row at which the running sum of masses exceeds its share (KM-DRAW).

    >>> draw([Fraction(0), Fraction(1), Fraction(1)], Fraction(1, 2))
    2
    """
    wanted = number * sum(masses, Fraction(0))
    running = Fraction(0)
    for i, mass in enumerate(masses):
        running += mass
        if running > wanted:
            return i
    raise AssertionError("no row has a mass")


def need_rows(rows: Sequence[Row], weights: Weights, k: int) -> None:
    """Starts from data rows need k different rows of positive weight."""
    if len({x for x, w in zip(rows, weights, strict=True) if w > 0}) < k:
        raise Refusal("k-out-of-range")


def potentials(rows: Sequence[Row], chosen: Sequence[Row]) -> list[Fraction]:
    """Squared distances to the nearest centre so far."""
    return [min(gap(x, c) for c in chosen) for x in rows]


def random_rows(rows: Sequence[Row], weights: Weights, k: int, stream: Twister) -> list[Row]:
    """Different rows, each drawn by its weight (KM-RANDOM)."""
    chosen: list[Row] = []
    for _ in range(k):
        masses = [Fraction(0) if x in chosen else w for x, w in zip(rows, weights, strict=True)]
        chosen.append(rows[draw(masses, stream.number())])
    return chosen


def plus_plus(rows: Sequence[Row], weights: Weights, k: int, stream: Twister) -> list[Row]:
    """The first row by weight, further ones by weight times squared distance (KM-PP)."""
    chosen = [rows[draw(weights, stream.number())]]
    while len(chosen) < k:
        masses = [w * d for w, d in zip(weights, potentials(rows, chosen), strict=True)]
        chosen.append(rows[draw(masses, stream.number())])
    return chosen


def trials_of(k: int) -> int:
    """The default number of candidates of the greedy start."""
    m = 0
    while math.e ** (m + 1) < k:  # e to a positive power is never an integer
        m += 1
    return 2 + m


def greedy(
    rows: Sequence[Row], weights: Weights, k: int, stream: Twister, trials: int | None
) -> list[Row]:
    """As KM-PP, each further centre the best of several candidates (KM-GREEDY)."""
    count = trials_of(k) if trials is None else trials
    chosen = [rows[draw(weights, stream.number())]]
    while len(chosen) < k:
        masses = [w * d for w, d in zip(weights, potentials(rows, chosen), strict=True)]
        candidates = [draw(masses, stream.number()) for _ in range(count)]
        totals = [
            sum(
                (w * d for w, d in zip(weights, potentials(rows, [*chosen, rows[i]]), strict=True)),
                Fraction(0),
            )
            for i in candidates
        ]
        chosen.append(rows[candidates[totals.index(min(totals))]])
    return chosen


def farthest_first(rows: Sequence[Row], weights: Weights, k: int, stream: Twister) -> list[Row]:
    """One row by weight, then always the row farthest from all so far (KM-FARTHEST)."""
    chosen = [rows[draw(weights, stream.number())]]
    while len(chosen) < k:
        far = [
            d if w > 0 else Fraction(-1)
            for w, d in zip(weights, potentials(rows, chosen), strict=True)
        ]
        chosen.append(rows[far.index(max(far))])
    return chosen


def in_the_box(rows: Sequence[Row], weights: Weights, k: int, stream: Twister) -> list[Row]:
    """Uniform in the box of the data, one number per component, centre by centre (KM-BOX)."""
    counted = [row for row, weight in zip(rows, weights, strict=True) if weight]
    columns = list(zip(*counted, strict=True))
    return [
        tuple(
            Fraction(nearest(min(column) + stream.number() * (max(column) - min(column))))
            for column in columns
        )
        for _ in range(k)
    ]


Starter = Callable[[Sequence[Row], Weights, int, Twister], list[Row]]
STARTERS: dict[str, Starter] = {
    "k-means++": plus_plus,
    "random": random_rows,
    "farthest": farthest_first,
}


def by_name(
    name: str,
    rows: Sequence[Row],
    weights: Weights,
    k: int,
    stream: Twister,
    trials: int | None = None,
) -> list[Row]:
    """The centres of a start that draws."""
    if name == "random-centres":
        return in_the_box(rows, weights, k, stream)
    need_rows(rows, weights, k)
    if name == "greedy":
        return greedy(rows, weights, k, stream, trials)
    return STARTERS[name](rows, weights, k, stream)
