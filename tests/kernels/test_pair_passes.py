"""Passes over rows and pairs of rows, judged in exact arithmetic: sums of distances, extremes."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import pytest

from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset, dense, readonly
from refclust.kernels.clusters.kmeans import ClusterSums, accumulate
from refclust.kernels.contracts.lengths import FineLengths, Lengths, fine_bound, relative_bound
from refclust.kernels.pairs.extremes import extremes, squared_gap
from refclust.kernels.pairs.fine import centre_distances, fine_sums, split_means
from refclust.kernels.pairs.lengths import distance_sums
from refclust.kernels.points import Points
from refclust.numbers.argmin import ROUND
from refclust.numbers.sampling import stream

EXACT = Context(80)


def cloud(
    n: int, d: int, *, offset: float = 0.0, unit: float = 1.0, weights: Sequence[float] = ()
) -> Points:
    rng = stream(n + d)
    flat = array("d", (offset + unit * rng.random() for _ in range(n * d)))
    known: dict[str, Any] = {"weights": readonly(array("d", weights))} if weights else {}
    return Points(dense(flat, d, **known))


def root(square: Fraction) -> Decimal:
    top, bottom = (Decimal(part) for part in square.as_integer_ratio())
    return EXACT.sqrt(EXACT.divide(top, bottom))


def weight(points: Points, i: int) -> Fraction:
    return Fraction(points.weights[i], 1 << points.weight_shift)


def exact_sum(terms: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    return sum((w * Fraction(root(square)) for w, square in terms), Fraction())


def squared(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    return sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction())


CLOUDS = {
    "plain": cloud(23, 3),
    "offset 1e9": cloud(23, 3, offset=1e9),
    "offset 2^50": cloud(23, 2, offset=2.0**50, unit=16.0),
    "offset 1e15": cloud(23, 2, offset=1e15, unit=100.0),
    "tiny": cloud(17, 2, unit=1e-300),
    "huge": cloud(17, 2, unit=1e300),
    "weights": cloud(16, 2, weights=[0.0, 1.0, 0.1, 2.5] * 4),
}


@pytest.mark.spec("KER-DISTSUM")
@pytest.mark.parametrize("points", CLOUDS.values(), ids=CLOUDS)
def test_sums_of_distances_are_within_the_references_own_bound(points: Points) -> None:
    labels = array("i", (i * i % 3 for i in range(points.n)))
    sums = distance_sums(points, labels, 4)
    assert len(sums) == 4 * points.n
    for i in range(points.n):
        for c in range(4):
            terms = [
                (weight(points, j), squared_gap(points.whole_row(i), points.whole_row(j)))
                for j in range(points.n)
                if labels[j] == c
            ]
            due = exact_sum(terms)
            assert abs(Fraction(sums[4 * i + c]) - due) <= 16 * Fraction(ROUND) * due
    assert list(sums[3::4]) == [0.0] * points.n


@pytest.mark.spec("KER-FINESUM")
@pytest.mark.parametrize("points", CLOUDS.values(), ids=CLOUDS)
def test_fine_sums_are_the_exact_ones_rounded_twice(points: Points) -> None:
    labels = array("i", (i * i % 3 for i in range(points.n)))
    sums = fine_sums(points, labels, 4)
    assert len(sums) == 8 * points.n
    for i in range(points.n):
        for c in range(4):
            terms = [
                (weight(points, j), squared_gap(points.whole_row(i), points.whole_row(j)))
                for j in range(points.n)
                if labels[j] == c
            ]
            due = exact_sum(terms)
            high, low = sums[4 * i + c], sums[4 * (points.n + i) + c]
            assert high == float(due)
            slack = Fraction(2) ** -104 * due + Fraction(2) ** -1070
            assert abs(Fraction(high) + Fraction(low) - due) <= slack


@pytest.mark.spec("KER-CENTREDIST", "KM-CENTROID")
@pytest.mark.parametrize("points", CLOUDS.values(), ids=CLOUDS)
def test_distances_to_exact_means_are_within_the_references_own_bound(points: Points) -> None:
    labels = array("i", (i % 2 for i in range(points.n)))
    totals = accumulate(points, labels, 3)
    lengths = centre_distances(points, labels, *split_means(totals))
    for c in range(2):
        own = [i for i in range(points.n) if labels[i] == c]
        rows = {i: list(map(Fraction, points.whole_row(i))) for i in own}
        whole = sum((weight(points, i) for i in own), Fraction())
        mean = [
            sum((weight(points, i) * rows[i][j] for i in own), Fraction()) / whole
            for j in range(points.d)
        ]
        squares = [(weight(points, i), squared(rows[i], mean)) for i in own]
        due = exact_sum(squares), sum((w * square for w, square in squares), Fraction())
        for actual, right in zip((lengths[c], lengths[3 + c]), due, strict=True):
            if math.isinf(actual):
                assert right > Fraction(2) ** 1023
            else:
                slack = 16 * Fraction(ROUND) * right + Fraction(2) ** -1000
                assert abs(Fraction(actual) - right) <= slack
    assert (lengths[2], lengths[5]) == (0.0, 0.0)


@pytest.mark.spec("KER-CENTREDIST")
def test_a_mean_is_split_into_doubles_and_what_they_leave() -> None:
    points = Points(dataset([[1e15], [1e15 + 1], [1e15 + 1]]))
    (centre,), (rest,) = split_means(accumulate(points, array("i", [0, 0, 0]), 1))
    assert Fraction(centre[0]) + Fraction(rest[0]) - (10**15 + Fraction(2, 3)) < Fraction(2) ** -57
    assert (centre, rest) == ((1000000000000000.6,), (0.041666666666666664,))
    empty = split_means(ClusterSums((0,), 0, ((0, 0),), 0))
    assert [list(part) for part in empty] == [[(0.0, 0.0)], [(0.0, 0.0)]]


@pytest.mark.spec("KER-DISTSUM")
def test_rows_without_weight_count_for_nothing_and_sums_may_be_infinite() -> None:
    far = Dataset(
        dataset([[0.0], [1.0], [1.7e308]]).matrix, weights=readonly(array("d", [1, 1, 0]))
    )
    assert list(distance_sums(Points(far), array("i", [0, 0, 0]), 1)) == [1.0, 1.0, math.inf]
    edge = Points(dataset([[1.7e308], [-1.7e308], [0.0]]))
    assert list(distance_sums(edge, array("i", [0, 0, 0]), 1)) == [math.inf, math.inf, math.inf]


@pytest.mark.spec("KER-DISTSUM", "KER-CENTREDIST", "KER-EXTREMES", "KER-FINESUM")
def test_sparse_rows_have_the_same_sums_and_extremes() -> None:
    rows = [[0.0, 3.0], [4.0, 0.0], [0.0, 0.0], [1.0, 1.0]]
    whole = Points(dataset(rows))
    some = Points(dataset([{j: x for j, x in enumerate(row) if x} for row in rows]))
    labels = array("i", [0, 0, 1, 1])
    assert not some.dense
    assert distance_sums(some, labels, 2) == distance_sums(whole, labels, 2)
    assert fine_sums(some, labels, 2) == fine_sums(whole, labels, 2)
    assert extremes(some, labels, 2) == extremes(whole, labels, 2)
    means = split_means(accumulate(whole, labels, 2))
    assert centre_distances(some, labels, *means) == centre_distances(whole, labels, *means)


def first_by_definition(points: Points, labels: Sequence[int], k: int) -> list[int]:
    found: list[int] = []
    for a in range(k):
        for b in range(a, k):
            pairs = [
                (i, j)
                for i in range(points.n)
                for j in range(points.n)
                if labels[i] == a and labels[j] == b and (a != b or i < j)
            ]
            gaps = [squared_gap(points.whole_row(i), points.whole_row(j)) for i, j in pairs]
            for pick in (min, max):
                found += pairs[gaps.index(pick(gaps))] if gaps else (-1, -1)
    return found


NEAR = Points(
    dataset([row for t in (3, 0, -1, 1) for row in ([0.0, 0.0], [2.0**40 + t, 2.0**40 - t])])
)
GRID = Points(dataset([[float(i % 4), float(i // 4)] for i in range(16)]))
EQUAL = Points(dataset([[0.5, 0.1]] * 7))


@pytest.mark.spec("KER-EXTREMES")
@pytest.mark.parametrize("points", [*CLOUDS.values(), NEAR, GRID, EQUAL])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_extremes_are_the_first_exact_ones(points: Points, k: int) -> None:
    labels = array("i", (i % k for i in range(points.n)))
    assert list(extremes(points, labels, k)) == first_by_definition(points, labels, k)


@pytest.mark.spec("KER-EXTREMES")
def test_clusters_without_a_pair() -> None:
    points = Points(dataset([[1.0], [2.0]]))
    assert list(extremes(points, array("i", [2, 1]), 4)) == [
        *[-1] * 16, *[-1] * 4, 1, 0, 1, 0, *[-1] * 4, *[-1] * 4, *[-1] * 4, *[-1] * 4
    ]  # fmt: skip


@pytest.mark.spec("KER-DISTSUM")
def test_what_the_contract_rejects() -> None:
    points = cloud(5, 2)
    due = distance_sums(points, array("i", [0] * 5), 1)
    contract = Lengths()
    allowed = relative_bound(2) + 16 * ROUND
    for share, right in ((0.9, True), (1.1, False)):
        moved = array("d", (x * (1.0 + share * allowed) for x in due))
        assert (contract.judged(points, (), due, moved) is None) is right
    assert contract.judged(points, (), due, due[:-1]) == "4 sums instead of 5"
    assert contract.malformed([1.0]) == "sums: a list instead of a buffer"
    assert contract.malformed(array("d", [math.nan])) == "sums: a NaN"
    zeros, ones = array("d", [0.0]), array("d", [1.0])
    assert contract.judged(points, (), array("d", [math.inf]), ones) is not None
    assert contract.judged(points, (), ones, array("d", [math.inf])) is not None
    assert contract.judged(points, (), zeros, ones) == (
        "sum 0: 1.0 instead of 0.0, inf of it apart, 1.1e-14 allowed"
    )


@pytest.mark.spec("KER-FINESUM", "KER-CENTREDIST")
def test_what_the_fine_contract_rejects() -> None:
    points = cloud(5, 2)
    due = fine_sums(points, array("i", [0] * 5), 1)
    contract, allowed = FineLengths(), fine_bound(5, 2)
    for share, right in ((0.9, True), (1.1, False)):
        rests = array("d", (due[5 + i] + share * allowed * due[i] for i in range(5)))
        assert (contract.judged(points, (), due, due[:5] + rests) is None) is right
    assert contract.judged(points, (), due, due[:-2]) == "8 doubles instead of 10"
    assert contract.malformed(due[:-1]) == "9 doubles, and every sum is two"
    assert contract.malformed(array("d", [math.nan, 0.0])) == "sums: a NaN"
    zeros, ones = array("d", [0.0, 0.0]), array("d", [1.0, 0.0])
    told = contract.judged(points, (), zeros, ones)
    assert told is not None
    assert told.startswith("sum 0: 1.0 + 0.0 instead of 0.0 + 0.0, inf of it apart")
    infinite = array("d", [math.inf, 0.0])
    assert contract.judged(points, (), infinite, infinite) is None
    assert contract.judged(points, (), ones, infinite) is not None
    assert contract.judged(points, (), infinite, ones) is not None
