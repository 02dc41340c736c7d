"""Saboteurs of passes over pairs: one fault each (chapter 81)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from ctypes import c_float
from fractions import Fraction
from typing import Any, Final

from refclust.data.dataset import Dataset, dense
from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.pairs import extremes as pairs
from refclust.kernels.pairs import fine, lengths
from refclust.kernels.points import Points
from refclust.testing.saboteurs.arithmetic.rows import (
    expanded,
    masses_of,
    plain_sum,
    rows_of,
    single_sum,
    singles,
)
from refclust.testing.saboteurs.hidden.hiding import hidden
from refclust.testing.saboteurs.saboteur import Saboteur

_SUMS: Final = "silhouette.distance_sums"
_FINE: Final = "silhouette.fine_sums"
_CENTRES: Final = "scatter.centre_distances"
_PAIRS: Final = "pairs.extremes"
_BLOCK: Final = 16


def of_passes() -> Iterable[Saboteur]:
    """All saboteurs of sums of distances and of extremes."""
    return (*_of_sums(), *_of_fine_sums(), *_of_centres(), *_of_extremes())


def hidden_passes() -> Iterable[Saboteur]:
    """Faults that show for one size or one kind of number."""

    def rounded_up(right: Any, *_: Any) -> Any:
        return array("d", (x * (1.0 + 2.0**-40) for x in right))

    def nudged(right: Any, *_: Any) -> Any:
        half = len(right) // 2
        rests = (
            low + high * 2.0**-80 for high, low in zip(right[:half], right[half:], strict=True)
        )
        return right[:half] + array("d", rests)

    def turned(right: Any, *_: Any) -> Any:
        return array("i", (j for i in range(0, len(right), 2) for j in right[i : i + 2][::-1]))

    yield hidden("distance-sums-beyond-a-chain", "n =", _SUMS,
                 lambda p, _, k: p.n > 256 and k == 1, rounded_up)  # fmt: skip
    yield hidden("fine-sums-beyond-a-block", "n =", _FINE,
                 lambda p, _, k: p.n > 64 and k == 1, nudged)  # fmt: skip
    yield hidden("fine-sums-of-weights-in-doubles", "weights", _FINE,
                 lambda p, *_: p.weighted, without_rests)  # fmt: skip
    yield hidden("centre-distances-of-many-weights", "weights", _CENTRES,
                 lambda p, *_: p.weighted and p.n > 64, rounded_up)  # fmt: skip
    yield hidden("extremes-of-many-clusters", "K", _PAIRS,
                 lambda _, __, k: k > 20, turned)  # fmt: skip


def without_rests(right: Any, *_: Any) -> array[float]:
    """Fine sums whose low parts are lost."""
    half = len(right) // 2
    return array("d", [*right[:half], *[0.0] * half])


def _of_sums() -> Iterable[Saboteur]:
    def multiplied(points: Points, labels: Labels, k: int) -> array[float]:
        return _summed(points, labels, k, lambda x, y: math.sqrt(max(0.0, expanded(x, y))))

    def narrow(points: Points, labels: Labels, k: int) -> array[float]:
        return _summed(points, labels, k, math.dist, single_sum)

    def edge(points: Points, labels: Labels, k: int) -> array[float]:
        right = lengths.distance_sums(points, labels, k)
        last = points.n - 1
        if points.n % _BLOCK == 1 and points.n > _BLOCK:  # alone in the last block
            for i in range(points.n):
                gap = math.dist(points.whole_row(i), points.whole_row(last))
                right[i * k + labels[last]] -= masses_of(points)[last] * gap
        return array("d", map(abs, right))

    def second_block(points: Points, labels: Labels, k: int) -> array[float]:
        weights = masses_of(points)
        shifted = [*weights[:_BLOCK], *[1.0] * (points.n - _BLOCK)][: points.n]
        return lengths.distance_sums(_weighing(points, shifted), labels, k)

    def unweighted(points: Points, labels: Labels, k: int) -> array[float]:
        return lengths.distance_sums(Points(Dataset(points.data.matrix)), labels, k)

    yield Saboteur("distance-sums-expanded", "expanded", {_SUMS: multiplied})
    yield Saboteur("distance-sums-in-singles", "single precision", {_SUMS: narrow})
    yield Saboteur("distance-sums-without-the-edge", "left out", {_SUMS: edge})
    yield Saboteur("weights-of-the-second-block", "of it apart", {_SUMS: second_block})
    yield Saboteur("distance-sums-unweighted", "weights are ignored", {_SUMS: unweighted})


def _of_fine_sums() -> Iterable[Saboteur]:
    def doubles(points: Points, labels: Labels, k: int) -> array[float]:
        sums = lengths.distance_sums(points, labels, k)
        return sums + array("d", [0.0] * len(sums))

    def rounded_gaps(points: Points, labels: Labels, k: int) -> array[float]:
        # Roots and sums are right, but each difference is a double.
        rows, weights = rows_of(points), [Fraction(w) for w in masses_of(points)]
        members = [[j for j in range(points.n) if labels[j] == c] for c in range(k)]
        pairs = []
        for x in rows:
            for cluster in members:
                terms = (weights[j] * _root_of_gaps(x, rows[j]) for j in cluster)
                whole = sum(terms, Fraction())
                shift = whole.denominator.bit_length() - 1
                pairs.append(fine.twofold(whole.numerator, shift))
        return array("d", (pair[part] for part in range(2) for pair in pairs))

    def unweighted(points: Points, labels: Labels, k: int) -> array[float]:
        return fine.fine_sums(Points(Dataset(points.data.matrix)), labels, k)

    def lows_first(points: Points, labels: Labels, k: int) -> array[float]:
        right = fine.fine_sums(points, labels, k)
        return right[len(right) // 2 :] + right[: len(right) // 2]

    yield Saboteur("fine-sums-in-doubles", "double precision", {_FINE: doubles})
    yield Saboteur("fine-sums-of-rounded-gaps", "double precision", {_FINE: rounded_gaps})
    yield Saboteur("fine-sums-unweighted", "weights are ignored", {_FINE: unweighted})
    yield Saboteur("fine-sums-with-the-low-parts-first", "of it apart", {_FINE: lows_first})


def _root_of_gaps(x: Sequence[float], y: Sequence[float]) -> Fraction:
    """A distance to 120 bits, from differences that are rounded to doubles."""
    square = sum((Fraction(a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction())
    up = max(0, 240 - square.numerator.bit_length() + square.denominator.bit_length())
    scaled = (square.numerator << up + up % 2) // square.denominator
    return Fraction(math.isqrt(scaled), 1 << (up + 1) // 2)


def _of_centres() -> Iterable[Saboteur]:
    def rounded(points: Points, labels: Labels, centres: Any, rests: Any) -> array[float]:
        zeros = [(0.0,) * points.d for _ in rests]
        return fine.centre_distances(points, labels, centres, zeros)

    def narrow(points: Points, labels: Labels, centres: Any, rests: Any) -> array[float]:
        rows = singles(rows_of(points))
        flat = array("d", (x for row in rows for x in row))
        known = {} if points.data.weights is None else {"weights": points.data.weights}
        rough = Points(dense(flat, points.d, **known))
        return fine.centre_distances(rough, labels, centres, rests)

    def doubles(points: Points, labels: Labels, centres: Any, rests: Any) -> array[float]:
        return without_rests(fine.centre_distances(points, labels, centres, rests))

    yield Saboteur("centre-distances-in-doubles", "double precision", {_CENTRES: doubles})
    yield Saboteur("centres-rounded", "rests were 0", {_CENTRES: rounded})
    yield Saboteur("centre-distances-in-singles", "single precision", {_CENTRES: narrow})


def _of_extremes() -> Iterable[Saboteur]:
    def last(points: Points, labels: Labels, k: int) -> array[int]:
        return _extremes(points, labels, k, pairs.squared_gap, last=True)

    def doubles(points: Points, labels: Labels, k: int) -> array[int]:
        return _extremes(points, labels, k, math.dist)

    def selfish(points: Points, labels: Labels, k: int) -> array[int]:
        right = pairs.extremes(points, labels, k)
        for place in range(0, len(right), 4):
            i, j = right[place : place + 2]
            if i >= 0 and labels[i] == labels[j]:
                right[place + 1] = i
        return right

    def narrow(points: Points, labels: Labels, k: int) -> array[int]:
        def gap(x: Sequence[float], y: Sequence[float]) -> float:
            return c_float(math.dist(x, y)).value

        return _extremes(points, labels, k, gap)

    yield Saboteur("extremes-to-the-last-pair", "first pair is due", {_PAIRS: last})
    yield Saboteur("extremes-in-doubles", "doubles alone", {_PAIRS: doubles})
    yield Saboteur("extremes-with-oneself", "no pair with itself", {_PAIRS: selfish})
    yield Saboteur("extremes-in-singles", "instead of", {_PAIRS: narrow})


def _weighing(points: Points, weights: Sequence[float]) -> Points:
    return Points(Dataset(points.data.matrix, weights=memoryview(array("d", weights))))


def _summed(
    points: Points, labels: Labels, k: int, gap: Any, added: Any = plain_sum
) -> array[float]:
    rows, weights = rows_of(points), masses_of(points)
    sums = array("d")
    for x in rows:
        for c in range(k):
            members = [j for j in range(points.n) if labels[j] == c and weights[j]]
            sums.append(added(weights[j] * gap(x, rows[j]) for j in members))
    return sums


def _extremes(
    points: Points, labels: Labels, k: int, gap: Any, *, last: bool = False
) -> array[int]:
    rows, order = rows_of(points), -1 if last else 1
    answer = array("i")
    for a in range(k):
        for b in range(a, k):
            every = [
                (i, j)
                for i in range(points.n)
                if labels[i] == a
                for j in range(i + 1 if a == b else 0, points.n)
                if labels[j] == b
            ][::order]
            for pick in (min, max):
                gaps = [gap(rows[i], rows[j]) for i, j in every]
                answer.extend(every[gaps.index(pick(gaps))] if gaps else pairs.NONE)
    return answer
