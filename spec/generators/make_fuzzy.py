"""Golden vectors of fuzzy clusterings: all pairs of copies, all permutations of objects."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from fractions import Fraction

from .values import Json, Undefined, Value, encode
from .writer import VectorFile

F = Fraction
Shares = Sequence[Sequence[Fraction]]


def files() -> list[VectorFile]:
    """The file of fuzzy clusterings."""
    file = VectorFile(
        "41-metrics/fuzzy.json",
        "metrics.evidence",
        "Soft Rand indices: pairs of objects one by one, the mean by every permutation",
    )
    draw = random.Random(4200)
    for i in range(20):
        n, sizes = 2 + i % 5, (1 + int(draw.random() * 3), 1 + int(draw.random() * 3))
        first, second = (_drawn(draw, n, k, hard=i % 4 == 0) for k in sizes)
        weights = None if i % 3 else [1 + int(draw.random() * 2) for _ in range(n)]
        _add(file, f"fuzzy-random-{i:02d}", first, second, weights)
    half = [[F(1, 2), F(1, 2)]] * 3
    _add(file, "fuzzy-all-alike", half, [[F(1)]] * 3, None)
    _add(file, "fuzzy-one-object", half[:1], half[:1], None)
    _add(file, "fuzzy-no-share", [[F(0), F(0)], [F(1), F(0)]], half[:2], None)
    same = [[F(1), F(0)], [F(1, 3), F(2, 3)], [F(0), F(5)]]
    _add(file, "fuzzy-itself", same, same, None)
    return [file]


def _drawn(draw: random.Random, n: int, k: int, *, hard: bool) -> list[list[Fraction]]:
    if hard:
        chosen = [int(draw.random() * k) for _ in range(n)]
        return [[F(int(j == c)) for j in range(k)] for c in chosen]
    rows = [[F(int(draw.random() * 5), 4) for _ in range(k)] for _ in range(n)]
    return [row if any(row) else [F(1)] * k for row in rows]


def _add(
    file: VectorFile, slug: str, first: Shares, second: Shares, weights: list[int] | None
) -> None:
    given: dict[str, Json] = {
        "shares": [[str(u) for u in row] for row in first],
        "second_shares": [[str(u) for u in row] for row in second],
    }
    if weights is not None:
        given["weights"] = list(weights)
    copies = [i for i, w in enumerate(weights or [1] * len(first)) for _ in range(w)]
    sides = [[shares[i] for i in copies] for shares in (first, second)]
    expect: dict[str, Json] = {
        "soft_rand": encode(_rand(*sides)),
        "soft_adjusted_rand": encode(_adjusted(*sides)),
    }
    file.add(slug, given, expect, formulas=["PC-SAME", "RAND-SOFT", "ARI-SOFT"])


def _together(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    # What both objects have in common: of equal sums, one less half of the differences.
    pairs = zip(x, y, strict=True)
    return sum((min(a / sum(x), b / sum(y)) for a, b in pairs), F(0))


def _rand(first: Shares, second: Shares) -> Value:
    if len(first) < 2 or not all(any(row) for row in (*first, *second)):
        return Undefined()
    gaps = [
        abs(_together(first[i], first[j]) - _together(second[i], second[j]))
        for i, j in itertools.combinations(range(len(first)), 2)
    ]
    return 1 - sum(gaps, F(0)) / len(gaps)


def _adjusted(first: Shares, second: Shares) -> Value:
    observed = _rand(first, second)
    if not isinstance(observed, Fraction):
        return observed
    n = len(first)
    every = list(itertools.combinations(range(n), 2))
    left = {pair: _together(*(first[i] for i in pair)) for pair in every}
    right = {pair: _together(*(second[i] for i in pair)) for pair in every}
    if n <= 6:
        total, orders = F(0), 0
        for order in itertools.permutations(range(n)):
            orders += 1
            for i, j in every:
                moved = order[i], order[j]
                total += abs(left[i, j] - right[min(moved), max(moved)])
        mean = 1 - total / (orders * len(every))
    else:
        gaps = [abs(left[p] - right[q]) for p in every for q in every]
        mean = 1 - sum(gaps, F(0)) / len(gaps)
    return Undefined() if mean == 1 else (observed - mean) / (1 - mean)
