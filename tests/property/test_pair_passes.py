"""What must hold of passes over pairs, whatever the rows and their clusters."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.data.dataset import dense, readonly
from refclust.kernels.clusters.kmeans import accumulate
from refclust.kernels.contracts.lengths import relative_bound
from refclust.kernels.pairs.extremes import extremes, squared_gap
from refclust.kernels.pairs.fine import centre_distances, fine_sums, split_means
from refclust.kernels.pairs.lengths import distance_sums
from refclust.kernels.points import Points
from refclust.metrics.passes.kernels import KernelPasses

K = 3
WHOLE = st.integers(-(1 << 20), 1 << 20)
PAIR = st.tuples(WHOLE, WHOLE, st.integers(0, K - 1), st.integers(1, 4))
ROWS = st.lists(PAIR, min_size=1, max_size=9)
Row = tuple[int, int, int, int]


def points_of(rows: Sequence[Row], *, offset: int = 0, scale: float = 1.0) -> Points:
    flat = array("d", (scale * (x + offset) for row in rows for x in row[:2]))
    weights = readonly(array("d", [float(row[3]) for row in rows]))
    return Points(dense(flat, 2, weights=weights))


def labels_of(rows: Sequence[Row]) -> array[int]:
    return array("i", [row[2] for row in rows])


def near(left: float, right: float) -> bool:
    return abs(left - right) <= 2 * relative_bound(2) * max(left, right)


@pytest.mark.spec("KER-DISTSUM")
@given(ROWS, st.sampled_from([0, 10**9, 2**50]))
def test_sums_know_no_origin_and_no_unit(rows: list[Row], offset: int) -> None:
    labels, right = labels_of(rows), distance_sums(points_of(rows), labels_of(rows), K)
    assert distance_sums(points_of(rows, offset=offset), labels, K) == right
    halves = distance_sums(points_of(rows, scale=0.5), labels, K)
    assert [2 * x for x in halves] == list(right)


@pytest.mark.spec("KER-DISTSUM")
@given(ROWS)
def test_sums_of_clusters_are_symmetric_and_add_up(rows: list[Row]) -> None:
    points, labels, n = points_of(rows), labels_of(rows), len(rows)
    sums = distance_sums(points, labels, K)
    whole = distance_sums(points, array("i", [0] * n), 1)
    for i in range(n):
        assert near(sum(sums[K * i : K * (i + 1)]), whole[i])

    def between(a: int, b: int) -> float:
        return sum(rows[i][3] * sums[K * i + b] for i in range(n) if labels[i] == a)

    assert near(between(0, 1), between(1, 0))


@pytest.mark.spec("KER-DISTSUM")
@given(ROWS, st.randoms(use_true_random=False))
def test_sums_belong_to_rows_whatever_their_order(rows: list[Row], draw: object) -> None:
    order = list(range(len(rows)))
    draw.shuffle(order)  # type: ignore[attr-defined]
    turned = [rows[i] for i in order]
    right = distance_sums(points_of(rows), labels_of(rows), K)
    sums = distance_sums(points_of(turned), labels_of(turned), K)
    for place, i in enumerate(order):
        assert sums[K * place : K * (place + 1)] == right[K * i : K * (i + 1)]


@pytest.mark.spec("KER-DISTSUM")
@given(ROWS)
def test_a_weight_is_so_many_rows(rows: list[Row]) -> None:
    copies: list[Row] = [(x, y, label, 1) for x, y, label, w in rows for _ in range(w)]
    sums = distance_sums(points_of(rows), labels_of(rows), K)
    many = distance_sums(points_of(copies), labels_of(copies), K)
    first = 0
    for i, row in enumerate(rows):
        pairs = zip(sums[K * i : K * i + K], many[K * first : K * first + K], strict=True)
        assert all(near(*pair) for pair in pairs)
        first += row[3]


@pytest.mark.spec("KER-FINESUM")
@given(ROWS, st.sampled_from([0, 10**9, 2**50]))
def test_fine_sums_round_to_sums_and_know_no_origin(rows: list[Row], offset: int) -> None:
    labels, n = labels_of(rows), K * len(rows)
    right = fine_sums(points_of(rows), labels, K)
    assert fine_sums(points_of(rows, offset=offset), labels, K) == right
    halves = fine_sums(points_of(rows, scale=0.5), labels, K)
    assert [2 * x for x in halves] == list(right)
    for high, low, rough in zip(
        right[:n], right[n:], distance_sums(points_of(rows), labels, K), strict=True
    ):
        assert high == high + low
        assert near(high, rough)
        assert abs(low) <= high * 2.0**-53


@pytest.mark.spec("KER-CENTREDIST")
@given(ROWS, st.sampled_from([0, 10**9, 2**50]))
def test_squares_about_the_mean_are_those_of_pairs(rows: list[Row], offset: int) -> None:
    """W times the sum of squares about the mean is that of all pairs: for any origin."""
    points, labels = points_of(rows, offset=offset), labels_of(rows)
    lengths = centre_distances(points, labels, *split_means(accumulate(points, labels, K)))
    sums = distance_sums(points, labels, K)
    for k in range(K):
        own = [i for i in range(len(rows)) if labels[i] == k]
        weight = sum(rows[i][3] for i in own)
        pairs = sum(
            (
                rows[i][3] * rows[j][3] * squared_gap(points.whole_row(i), points.whole_row(j))
                for i in own
                for j in own
                if i < j
            ),
            Fraction(),
        )
        gap = abs(weight * Fraction(lengths[K + k]) - pairs)
        assert gap <= Fraction(relative_bound(2)) * pairs
        # The mean is no farther from a row than the other rows are from it on average.
        inside = sum(rows[i][3] * sums[K * i + k] for i in own)
        assert weight * lengths[k] <= inside * (1 + 4 * relative_bound(2))


@pytest.mark.spec("KER-EXTREMES")
@given(ROWS, st.sampled_from([0, 2**50]), st.sampled_from([1.0, 2.0**40]))
def test_extremes_are_exact_and_the_first(rows: list[Row], offset: int, scale: float) -> None:
    points, labels = points_of(rows, offset=offset, scale=scale), labels_of(rows)
    told = iter(extremes(points, labels, K))
    for a in range(K):
        for b in range(a, K):
            pairs = [
                (squared_gap(points.whole_row(i), points.whole_row(j)), i, j)
                for i in range(len(rows))
                for j in range(len(rows))
                if (labels[i], labels[j]) == (a, b) and (a != b or i < j)
            ]
            nearest, farthest = ((next(told), next(told)) for _ in range(2))
            if not pairs:
                assert nearest == farthest == (-1, -1)
                continue
            assert nearest == min(pairs)[1:]
            largest = max(pairs)[0]
            assert farthest == min((i, j) for gap, i, j in pairs if gap == largest)


@pytest.mark.spec("KER-DISTSUM", "KER-CENTREDIST")
@given(ROWS)
def test_passes_hold_what_kernels_say(rows: list[Row]) -> None:
    points, labels = points_of(rows), labels_of(rows)
    passes = KernelPasses(points.data, labels, K, [Fraction(row[3]) for row in rows])
    sums = distance_sums(points, labels, K)
    lengths = centre_distances(points, labels, *split_means(accumulate(points, labels, K)))
    for i in range(len(rows)):
        for k in range(K):
            assert near(float(passes.distance_sum(i, k)), sums[K * i + k])
    for k in set(labels):
        assert near(float(passes.centre_distances(k)), lengths[k])
        assert near(float(passes.centre_distances(k, squared=True)), lengths[K + k])
