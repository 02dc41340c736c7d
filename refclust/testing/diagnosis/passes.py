"""What wrong sums of distances and wrong extremes look like (chapter 81). Realises no clause."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

from refclust.data.dataset import Dataset
from refclust.kernels.pairs.extremes import squared_gap
from refclust.kernels.pairs.fine import centre_distances
from refclust.kernels.pairs.lengths import distance_sums
from refclust.kernels.points import Points
from refclust.testing.saboteurs.arithmetic.rows import expanded, masses_of, rows_of, singles

_ALIKE: Final = 2.0**-38
_DOUBLES: Final = 2.0**-44  # what some hundred roundings cost
_EXACTLY: Final = 2.0**-80
_ROUGH: Final = "only right to double precision: what the high parts leave is wrong or missing"
_NEAR: Final = Fraction(1, 2**40)
_MOST_ROWS: Final = 600


def sum_guesses(data: Any, args: Sequence[Any], due: Any, answer: Any) -> Iterator[str]:
    """Guesses at sums of distances from rows to clusters."""
    points, (labels, k) = Points(data), args
    numbers, right = memoryview(answer).tolist(), memoryview(due).tolist()
    if len(numbers) != len(right) or points.n > _MOST_ROWS:
        return
    if points.weighted and _alike(numbers, distance_sums(Points(Dataset(data.matrix)), labels, k)):
        yield "as if every weight were 1: the weights are ignored"
    yield _left_out(points, labels, k, numbers, right)
    rows, weights = rows_of(points), masses_of(points)
    by_products = array("d", bytes(8 * points.n * k))
    for i, x in enumerate(rows):
        for y, label, weight in zip(rows, labels, weights, strict=True):
            by_products[i * k + label] += weight * math.sqrt(max(expanded(x, y), 0.0))
    if _alike(numbers, by_products):
        yield "so are sums of expanded squares, |x|² + |y|² − 2 x·y, whose digits cancel"
    if _alike(numbers, right, 2.0**-18):
        yield "only right to single precision"


def fine_guesses(data: Any, args: Sequence[Any], due: Any, answer: Any) -> Iterator[str]:
    """Guesses at fine sums of distances from rows to clusters."""
    numbers, right = _high_parts(answer), _high_parts(due)
    if len(numbers) == len(right) and _alike(numbers, right, _DOUBLES):
        yield _ROUGH
    else:
        yield from sum_guesses(data, args, right, numbers)


def centre_guesses(data: Any, args: Sequence[Any], due: Any, answer: Any) -> Iterator[str]:
    """Guesses at sums of distances from rows to centres."""
    points, (labels, centres, rests) = Points(data), args
    numbers, right = _high_parts(answer), _high_parts(due)
    if len(numbers) != len(right):
        return
    zeros = [(0.0,) * points.d] * len(centres)
    if any(map(any, rests)) and _same(answer, centre_distances(points, labels, centres, zeros)):
        yield "as if the rests were 0: centres are rounded to doubles"
    if _alike(numbers, right, _DOUBLES):
        yield _ROUGH
        return
    if points.weighted:
        unweighted = Points(Dataset(data.matrix))
        if _same(answer, centre_distances(unweighted, labels, centres, rests)):
            yield "as if every weight were 1: the weights are ignored"
    rounded = [tuple(row) for row in singles(rows_of(points))]
    by_singles = Points(_dense(rounded, data))
    if _same(answer, centre_distances(by_singles, labels, centres, rests)):
        yield "so are distances of rows in single precision"
    if _alike(numbers, right, 2.0**-18):
        yield "only right to single precision"


def extreme_guesses(data: Any, _: Sequence[Any], due: Any, answer: Any) -> Iterator[str]:
    """Guesses at the nearest and farthest pairs."""
    numbers, right = memoryview(answer).tolist(), memoryview(due).tolist()
    points = Points(data)
    for place in range(0, len(right), 2):
        pair, right_pair = numbers[place : place + 2], right[place : place + 2]
        if pair == right_pair:
            continue
        if not all(0 <= i < points.n for i in pair):
            yield "there is no such row"
        elif pair[0] == pair[1]:
            yield "a row is no pair with itself"
        gap, right_gap = (squared_gap(*map(points.whole_row, rows)) for rows in (pair, right_pair))
        if gap == right_gap:
            yield "an exact tie: the first pair is due"
        elif abs(gap - right_gap) < _NEAR * right_gap:
            yield "nearly a tie that doubles alone cannot decide"
        return


def _left_out(
    points: Points, labels: Sequence[int], k: int, numbers: Sequence[float], right: Sequence[float]
) -> str:
    """Whether one row is missing in all sums of its cluster."""
    sums = [array("d", column[c::k]) for column in (numbers, right) for c in range(k)]
    for j in reversed(range(points.n)):
        c = labels[j]
        gaps = [
            w * math.dist(points.whole_row(i), points.whole_row(j))
            for i, w in zip(range(points.n), [masses_of(points)[j]] * points.n, strict=True)
        ]
        lost = [a - b for a, b in zip(sums[k + c], sums[c], strict=True)]
        if any(gaps) and _alike(lost, gaps, 2.0**-20):
            return f"row {j} is left out"
    return ""


def _high_parts(sums: Any) -> array[float]:
    """Of fine sums, two doubles each, the first ones."""
    numbers = memoryview(sums).tolist()
    return array("d", numbers[: len(numbers) // 2])


def _same(answer: Any, sums: Any) -> bool:
    """Whether two lists of fine sums are the same to more digits than a double has."""
    numbers, others = memoryview(answer).tolist(), memoryview(sums).tolist()
    half = len(others) // 2
    return all(
        abs((numbers[i] - others[i]) + (numbers[half + i] - others[half + i]))
        <= _EXACTLY * others[i]
        for i in range(half)
    )


def _dense(rows: Sequence[Sequence[float]], data: Dataset) -> Dataset:
    from refclust.data.dataset import dense

    known = {} if data.weights is None else {"weights": data.weights}
    return dense(array("d", (x for row in rows for x in row)), len(rows[0]), **known)


def _alike(numbers: Sequence[float], others: Sequence[float], share: float = _ALIKE) -> bool:
    return all(
        abs(x - y) <= share * max(abs(x), abs(y)) for x, y in zip(numbers, others, strict=True)
    )
