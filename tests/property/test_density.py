"""Density-based validation: parts against brute force, and what must not matter (chapter 48)."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array as sparse_array

from refclust import metrics
from refclust.errors import BadOption
from refclust.formulas import density as room
from refclust.formulas.clustered import Clustered
from refclust.formulas.undefined import Undefined
from refclust.formulas.vectors import Exact
from refclust.numbers.real import log, real

F = Fraction
coordinate = st.integers(0, 6)
plane = st.tuples(coordinate, coordinate)
space = st.tuples(coordinate, coordinate, coordinate)


@pytest.mark.spec("INT-CORE")
@given(st.lists(plane, min_size=2, max_size=6))
def test_core_is_a_harmonic_mean(points: list[tuple[int, int]]) -> None:
    clustered = Clustered.of(points, [0] * len(points))
    objects = list(range(len(points)))
    for o, (x, y) in enumerate(points):
        squares = [(x - a) ** 2 + (y - b) ** 2 for i, (a, b) in enumerate(points) if i != o]
        due = F(0) if 0 in squares else len(squares) / sum(F(1, s) for s in squares)
        assert room.core_power(clustered, objects, o, 2) == due
        assert min(squares) <= due * 1 <= max(squares) or due == 0


@pytest.mark.spec("INT-MREACH")
@given(*[st.fractions(0, 9)] * 3)
def test_reach_is_the_largest(a: Fraction, b: Fraction, length: Fraction) -> None:
    assert room.reach_power(a, b, length) == sorted([a, b, length])[2]


def joined(n: int, edges: tuple[tuple[int, int], ...]) -> bool:
    reached = {0}
    for _ in range(n):
        reached |= {j for edge in edges for j in edge if reached & set(edge)}
    return len(reached) == n


@pytest.mark.spec("INT-TREE")
@given(st.integers(1, 5), st.lists(st.integers(0, 4), min_size=10, max_size=10))
def test_no_tree_is_shorter(n: int, lengths: list[int]) -> None:
    pairs = list(itertools.combinations(range(n), 2))
    length = dict(zip(pairs, map(F, lengths), strict=False))
    tree = room.spanning_tree(n, lambda i, j: length[i, j])
    sums = [
        sum(length[edge] for edge in edges)
        for edges in itertools.combinations(pairs, n - 1)
        if joined(n, edges)
    ]
    assert joined(n, tuple(tree))
    assert len(tree) == n - 1
    assert sum(length[edge] for edge in tree) == min(sums)
    # Of equal edges the first: no edge before a kept one, as long, could have joined the same.
    assert tree == sorted(tree, key=lambda edge: (length[edge], edge))


@pytest.mark.spec("INT-DSC", "INT-DSPC", "INT-DBCV")
@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 20))
def test_two_pairs_on_a_line(a: int, gap: int, b: int) -> None:
    # A cluster of two has one edge, as long as both cores; all of its objects are inner.
    rows = [[0], [a], [a + gap], [a + gap + b]]
    clustered = Clustered.of(rows, "aabb")
    parts = [room.density(clustered, k, 1) for k in (0, 1)]
    assert [part.sparseness for part in parts] == [a, b]
    assert [part.inner for part in parts] == [(0, 1), (0, 1)]
    apart = max(a, b, gap)
    assert room.density_separation(clustered, parts[0], parts[1], 1) == apart
    due = (F(apart - a, apart) + F(apart - b, apart)) / 2
    assert room.dbcv(clustered) == due


@pytest.mark.spec("INT-DSC")
@given(st.lists(plane, min_size=3, max_size=6, unique=True))
def test_sparseness_is_some_reachability(points: list[tuple[int, int]]) -> None:
    clustered = Clustered.of(points, [0] * len(points))
    part = room.density(clustered, 0, 2)
    reach: list[Exact] = [
        max(
            part.cores[i],
            part.cores[j],
            F((points[i][0] - points[j][0]) ** 2 + (points[i][1] - points[j][1]) ** 2),
        )
        for i, j in itertools.combinations(range(len(points)), 2)
    ]
    assert part.sparseness in reach
    assert 1 <= len(part.inner) <= len(points) - 2 or len(points) < 3
    # Around a place with all objects, no cut of the tree is longer than the longest least edge.
    assert part.sparseness <= max(reach)


@pytest.mark.spec("INT-DBCV", "INT-CORE", "INT-DSPC")
@given(st.lists(space, min_size=4, max_size=6, unique=True), st.integers(2, 5))
def test_scale_does_not_matter(points: list[tuple[int, int, int]], factor: int) -> None:
    labels = [i % 2 for i in range(len(points))]
    larger = [tuple(factor * x for x in point) for point in points]
    small, large = (room.dbcv(Clustered.of(rows, labels)) for rows in (points, larger))
    assert float(small) == float(large)
    assert -1 <= float(small) <= 1
    # In another dimension the same distances weigh otherwise; the default is that of the rows.
    assert float(room.dbcv(Clustered.of(points, labels), dimension=3)) == float(small)


@pytest.mark.spec("INT-DBCV")
def test_where_there_is_no_density() -> None:
    for rows, labels in (([[0], [1], [2]], "aab"), ([[0], [1]], "aa"), ([[1]] * 4, "aabb")):
        with pytest.raises(Undefined):
            room.dbcv(Clustered.of(rows, labels))
    assert room.dbcv(Clustered.of([[0], [0], [3], [3]], "aabb")) == real(1)


# -- tendency -------------------------------------------------------------------------------


@pytest.mark.spec("TEND-HOPKINS")
@given(
    st.lists(st.integers(0, 20), min_size=2, max_size=6), st.lists(st.integers(0, 20), min_size=1)
)
def test_hopkins_by_loops(points: list[int], places: list[int]) -> None:
    sample = list(range(len(points)))[: len(places)]
    for exponent in (1, 2, 3):
        far = sum(min(abs(u - x) for x in points) ** exponent for u in places)
        near = sum(
            min(abs(points[i] - x) for j, x in enumerate(points) if j != i) ** exponent
            for i in sample
        )
        rows = [[x] for x in points]
        if far + near:
            value = room.hopkins_ratio(rows, [[u] for u in places], sample, exponent)
            assert value == F(far, far + near)
        else:
            with pytest.raises(Undefined):
                room.hopkins_ratio(rows, [[u] for u in places], sample, exponent)


@pytest.mark.spec("TEND-HOPKINS")
@given(st.lists(plane, min_size=2, max_size=6), st.integers(0, 5))
def test_hopkins_of_rows(points: list[tuple[int, int]], seed: int) -> None:
    rows = [list(point) for point in points]
    score = metrics.hopkins(rows, objects=2, seed=seed)
    assert score.undefined or 0 <= score <= 1
    moved = [[x + 2**40, y - 2**40] for x, y in points]
    assert str(metrics.hopkins(moved, objects=2, seed=seed)) == str(score)
    twice = metrics.hopkins(rows, weights=[2] * len(rows), objects=2, seed=seed)
    copies = [row for row in rows for _ in range(2)]
    assert str(metrics.hopkins(copies, objects=2, seed=seed)) == str(twice)


def test_what_hopkins_refuses() -> None:
    refused: list[dict[str, Any]] = [{"objects": 3}, {"objects": 0}, {"exponent": 0}, {"seed": -1}]
    for wrong in refused:
        with pytest.raises(BadOption):
            metrics.hopkins([[0], [1]], **wrong)
    assert metrics.hopkins([[0]]).undefined
    sparse = [{"a": 1}, {"b": 2}, {"a": 3, "b": 1}]
    dense = [[1, 0], [0, 2], [3, 1]]
    assert metrics.hopkins(sparse) == metrics.hopkins(dense)


@pytest.mark.spec("TEND-SPATIAL", "TEND-KL")
@given(st.lists(plane, min_size=2, max_size=6), st.integers(1, 4))
def test_cells_of_a_grid(points: list[tuple[int, int]], bins: int) -> None:
    low, high = ([F(end(column)) for column in zip(*points, strict=True)] for end in (min, max))
    for point in points:
        cell = room.grid_cell([F(x) for x in point], low, high, bins)
        for part, x, a, b in zip(cell, point, low, high, strict=True):
            width = (b - a) / bins
            assert 0 <= part < bins
            assert a + part * width <= x
            assert x < a + (part + 1) * width or x == b
    counts: Counter[Hashable] = Counter(
        room.grid_cell([F(x) for x in p], low, high, bins) for p in points
    )
    cells = bins ** sum(a != b for a, b in zip(low, high, strict=True))
    assert room.divergence(counts, [counts], cells, 0) == 0
    assert room.divergence(counts, [counts, counts], cells, 2).sign() >= 0


@pytest.mark.spec("TEND-DISTANCES")
@given(st.integers(0, 60), st.integers(1, 60), st.integers(1, 9))
def test_bins_of_lengths(square: int, diagonal: int, bins: int) -> None:
    square = min(square, diagonal)
    part = room.length_bin(F(square), F(diagonal), bins)
    assert part**2 * diagonal <= bins**2 * square
    assert (part + 1) ** 2 * diagonal > bins**2 * square or part == bins - 1
    assert room.length_bin(F(0), F(0), bins) == 0


@pytest.mark.spec("TEND-KL")
def test_a_divergence_by_hand() -> None:
    # Shares 3/4 and 1/4 against (1 + 1)/6 and (3 + 1)/6, and against (4 + 1)/6 and (0 + 1)/6.
    value = room.divergence({"a": 3, "b": 1}, [{"a": 1, "b": 3}, {"a": 4}], 2, 1)
    first = F(3, 4) * log(F(9, 4)) + F(1, 4) * log(F(3, 8))
    second = F(3, 4) * log(F(9, 10)) + F(1, 4) * log(F(3, 2))
    assert value == (first + second) / 2
    with pytest.raises(Undefined) as missing:
        room.divergence({"a": 3, "b": 1}, [{"a": 4}], 2, 0)
    assert missing.value.value == math.inf


@settings(deadline=None, max_examples=30)
@pytest.mark.spec("TEND-SPATIAL", "TEND-DISTANCES", "TEND-KL")
@given(st.lists(plane, min_size=2, max_size=6), st.integers(0, 5))
def test_histograms_of_rows(points: list[tuple[int, int]], seed: int) -> None:
    rows = [list(point) for point in points]
    moved = [[4 * x + 2**40, 4 * y - 2**40] for x, y in points]
    for metric in (metrics.spatial_histogram, metrics.distance_distribution):
        score = metric(rows, bins=3, samples=3, seed=seed)
        assert score >= 0
        assert score.certified
        assert metric(moved, bins=3, samples=3, seed=seed) == score
        assert metric([[1, 1]] * 3) == 0.0
        twice = metric(rows, weights=[2] * len(rows), bins=3, samples=2, seed=seed)
        copies = [row for row in rows for _ in range(2)]
        assert metric(copies, bins=3, samples=2, seed=seed) == twice
        assert metric(rows, bins=1, samples=2) == 0.0


@pytest.mark.spec("TEND-SPATIAL", "TEND-DISTANCES")
def test_clusters_are_farther_from_even_than_even_rows() -> None:
    clusters = [[x + a, y + a] for a in (0, 50) for x in range(5) for y in range(5)]
    even = [[x, y] for x in range(0, 50, 7) for y in range(0, 50, 8)]
    for metric in (metrics.spatial_histogram, metrics.distance_distribution):
        assert metric(clusters, samples=5) > 4 * metric(even, samples=5)


def test_what_histograms_refuse() -> None:
    refused: list[dict[str, Any]] = [{"bins": 0}, {"samples": 0}, {"added": -1}, {"seed": -1}]
    for metric in (metrics.spatial_histogram, metrics.distance_distribution):
        for wrong in refused:
            with pytest.raises(BadOption):
                metric([[0], [1]], **wrong)
    assert metrics.distance_distribution([[0]]).undefined
    assert metrics.spatial_histogram([[0]]) == 0.0
    named = [{"a": 1}, {"b": 2}, {"a": 3, "b": 1}]
    dense = [[1, 0], [0, 2], [3, 1]]
    assert metrics.spatial_histogram(named) == metrics.spatial_histogram(dense)


@pytest.mark.spec("INT-CORE", "INT-DBCV")
def test_columns_of_zeros_are_columns() -> None:
    labels = "aaabbb"
    dense = [[0, x, 0] for x in (0, 1, 3, 10, 11, 14)]
    matrix = sparse_array(dense)
    due = metrics.dbcv(dense, labels)
    assert metrics.dbcv(matrix, labels) == due
    assert metrics.hopkins(matrix) == metrics.hopkins(dense)
    assert due != metrics.dbcv([[row[1]] for row in dense], labels)
