"""Agglomerative clustering against its definition, on data full of ties.

The definition is that of the formula room: a search through all pairs for every merge, and the
update rule of HC-LW. It shares no code with the kernels.
"""

from __future__ import annotations

import math
import random
from array import array
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refclust.cluster.hierarchical import agglomerative
from refclust.cluster.tree import Merge, Tree
from refclust.data import vectors
from refclust.data.accepting.door import dataset
from refclust.formulas import hierarchical as formulas
from refclust.formulas.vectors import Exact
from refclust.kernels.distances import one_minus_cosine, pairwise
from refclust.kernels.linkage import LINKAGES, SQUARED, agglomerate
from refclust.kernels.points import Points
from tests.numbers.witness import is_nearest, is_nearest_root

Merges = tuple[tuple[int, int, float, int], ...]
Rows = list[tuple[float, ...]]

REDUCIBLE = [linkage for linkage in LINKAGES if linkage not in ("centroid", "median")]


def defined(condensed: array[float], n: int, linkage: str) -> Merges:
    """The merges by definition, in cubic time."""
    values = iter(condensed)
    matrix = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1, n):
            matrix[i][j] = matrix[j][i] = next(values)
    table = formulas.merges(matrix, partial(formulas.in_floats, linkage))
    root = math.sqrt if linkage in SQUARED else float
    return tuple((a, b, root(height), size) for a, b, height, size in table)


PALETTES = (
    (0.0, 1.0, 2.0, 3.0),
    (1.0, 2.0),
    (0.1, 0.2, 0.3, 0.1 + 0.2, 0.7),
    (0.1,),
    (5e-324, 1e-323, 1e-300, 1.0),
)


def condensed(n: int, palette: tuple[float, ...], seed: int) -> array[float]:
    """A matrix of few values, all chosen by one seed: drawing each of them would be slow."""
    rng = random.Random(seed)
    return array("d", [rng.choice(palette) for _ in range(n * (n - 1) // 2)])


def some_matrices(
    largest: int, palettes: tuple[tuple[float, ...], ...]
) -> st.SearchStrategy[tuple[array[float], int]]:
    seeds = st.integers(0, 2**32)
    return st.builds(
        lambda n, palette, seed: (condensed(n, palette, seed), n),
        st.integers(1, largest),
        st.sampled_from(palettes) | st.lists(st.floats(0, 1e6), min_size=1).map(tuple),
        seeds,
    )


matrices = some_matrices(14, PALETTES)
grids = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=16)
tenths = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.3])), min_size=1, max_size=12)
rows: st.SearchStrategy[Rows] = (grids | tenths).map(lambda list_: [*map(tuple, list_)])


@pytest.mark.spec("HC-AGG", "HC-TIE", "HC-LW", "KER-LINK")
@pytest.mark.parametrize("linkage", LINKAGES)
@given(matrices)
def test_kernel_is_the_definition_on_matrices(linkage: str, case: tuple[array[float], int]) -> None:
    distances, n = case
    before = distances[:]
    assert agglomerate(distances, n, linkage) == defined(distances, n, linkage)
    assert distances == before


@pytest.mark.spec("HC-AGG", "HC-TIE", "HC-LW", "KER-LINK")
@pytest.mark.parametrize("linkage", LINKAGES)
@settings(max_examples=50)
@given(rows)
def test_kernel_is_the_definition_on_points_with_ties(linkage: str, data: Rows) -> None:
    metric = "sqeuclidean" if linkage in SQUARED else "euclidean"
    distances = pairwise(Points(dataset(data)), metric)
    expected = defined(distances, len(data), linkage)
    assert agglomerate(distances, len(data), linkage) == expected
    tree = agglomerative(data, linkage=linkage)
    assert tuple((m.a, m.b, m.height, m.size) for m in tree.merges) == expected


def pairs_of(tree: Tree) -> list[tuple[list[int], list[int], float]]:
    """The members of the two clusters of each merge, and its height."""
    members = {i: [i] for i in range(tree.n)}
    found = []
    for step, merge in enumerate(tree.merges):
        found.append((members[merge.a], members[merge.b], merge.height))
        members[tree.n + step] = members[merge.a] + members[merge.b]
    return found


def table_of(tree: Tree) -> list[formulas.Merge]:
    return [(merge.a, merge.b, merge.height, merge.size) for merge in tree.merges]


@pytest.mark.spec("HC-SINGLE", "HC-COMPLETE")
@settings(max_examples=50)
@given(rows)
def test_single_and_complete_are_the_nearest_and_farthest_pair(data: Rows) -> None:
    matrix = vectors.distance_matrix(data)
    for linkage, choose in (("single", formulas.single), ("complete", formulas.complete)):
        for one, other, height in pairs_of(agglomerative(data, linkage=linkage)):
            assert height == choose(matrix, tuple(one), tuple(other))


@pytest.mark.spec("HC-AVERAGE")
@given(st.lists(st.tuples(st.integers(0, 40)), min_size=2, max_size=12))
def test_average_is_the_mean_of_all_pairs(data: list[tuple[int]]) -> None:
    # A height comes from at most m = 10 updates. Each rounds two products, a sum and a quotient,
    # all of positive numbers, so it errs by 4u of itself at most (clamping only helps), and
    # (1 + u)**40 - 1 < 41u. Coordinates on a line are integers, so the start is exact.
    matrix = [[abs(x[0] - y[0]) for y in data] for x in data]
    for one, other, height in pairs_of(agglomerative(data, linkage="average")):
        mean = formulas.average(matrix, tuple(one), tuple(other))
        assert isinstance(mean, Fraction)
        assert abs(Fraction(height) - mean) <= 41 * mean / 2**53


@pytest.mark.spec("HC-CENTROID", "HC-WARD")
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=10))
def test_centroid_and_ward_are_distances_of_means(data: list[tuple[int, int]]) -> None:
    # An update takes what it is given by factors whose sizes add up to less than 3 (Ward's:
    # (a+b+3k)/(a+b+k)) and rounds at most 8 numbers below 2**16, so e' <= 3e + 2**-34. A height
    # comes from at most 8 updates, which is less than 2**-22; its square adds next to nothing.
    for linkage in ("centroid", "ward"):
        for one, other, height in pairs_of(agglomerative(data, linkage=linkage)):
            exact = formulas.ward if linkage == "ward" else formulas.centroid
            square = (exact(data, tuple(one), tuple(other)) ** 2).fraction
            assert square is not None
            assert abs(Fraction(height) ** 2 - square) <= Fraction(1, 2**20)


@pytest.mark.spec("HC-WEIGHTED", "HC-MEDIAN")
@given(st.integers(1, 9), st.integers(0, 2**32))
def test_weighted_and_median_halve(n: int, seed: int) -> None:
    # With integers below 2**3 and at most 8 merges every value is a dyadic rational of at most 22
    # bits, so the floats are exact and the definition can be followed in fractions.
    distances = condensed(n, (0.0, 1.0, 2.0, 3.0), seed)
    for linkage in ("weighted", "median"):
        values = iter(map(Fraction, distances))
        matrix: dict[frozenset[int], Exact] = {
            frozenset((i, j)): next(values) for i in range(n) for j in range(i + 1, n)
        }
        members = {i: i for i in range(n)}
        for step, (one, other, height, _) in enumerate(agglomerate(distances, n, linkage)):
            d, new = matrix[frozenset((one, other))], n + step
            assert height == (math.sqrt(float(d)) if linkage == "median" else d)
            del members[one], members[other]
            for k in members:
                x, y = matrix[frozenset((one, k))], matrix[frozenset((other, k))]
                matrix[frozenset((new, k))] = (
                    formulas.lance_williams("median", 1, 1, 1, x, y, d)
                    if linkage == "median"
                    else formulas.weighted(x, y)
                )
            members[new] = new


@pytest.mark.spec("HC-MONO")
@given(matrices)
def test_heights_never_fall(case: tuple[array[float], int]) -> None:
    for linkage in REDUCIBLE:
        heights = [height for _, _, height, _ in agglomerate(*case, linkage)]
        assert heights == sorted(heights)


@pytest.mark.spec("HC-POS")
@given(matrices)
def test_squares_never_turn_negative(case: tuple[array[float], int]) -> None:
    # math.sqrt would raise; a negative zero would show here.
    for linkage in ("centroid", "median"):
        heights = [height for _, _, height, _ in agglomerate(*case, linkage)]
        assert all(math.copysign(1.0, height) == 1.0 for height in heights)


@pytest.mark.spec("HC-INV")
@settings(max_examples=50)
@given(matrices)
def test_inversions_are_counted_cluster_by_cluster(case: tuple[array[float], int]) -> None:
    distances, n = case
    for linkage in LINKAGES:
        tree = Tree(n, tuple(Merge(*merge) for merge in agglomerate(distances, n, linkage)))
        lower = formulas.inversions(table_of(tree), n)
        assert tree.inversions == lower
        assert linkage in ("centroid", "median") or not lower


@pytest.mark.spec("HC-GIVEN")
@settings(max_examples=50)
@given(rows, st.sampled_from(LINKAGES))
def test_given_distances_are_as_good_as_rows(data: Rows, linkage: str) -> None:
    n, matrix = len(data), vectors.distance_matrix(data)
    square = agglomerative(distances=matrix, linkage=linkage)
    if n > 1:
        flat = [matrix[i][j] for i in range(n) for j in range(i + 1, n)]
        assert agglomerative(distances=flat, linkage=linkage).merges == square.merges
    start = array("d", [matrix[i][j] for i in range(n) for j in range(i + 1, n)])
    if linkage in SQUARED:
        start = array("d", [d * d for d in start])
    else:
        assert square.merges == agglomerative(data, linkage=linkage).merges
    assert tuple((m.a, m.b, m.height, m.size) for m in square.merges) == defined(start, n, linkage)


@pytest.mark.spec("HC-CUT")
@settings(max_examples=50)
@given(rows, st.sampled_from(LINKAGES))
def test_cuts_are_nested_and_numbered_by_smallest_member(data: Rows, linkage: str) -> None:
    tree = agglomerative(data, linkage=linkage)
    finer = None
    for k in range(tree.n, 0, -1):
        labels = tree.cut(k)
        assert list(labels) == formulas.cut(table_of(tree), tree.n, k)
        assert list(dict.fromkeys(labels)) == list(range(k))
        if finer is not None:
            assert len(set(zip(finer, labels, strict=True))) == k + 1
        finer = labels


@pytest.mark.spec("HC-CUTH", "HC-COPH")
@settings(max_examples=50)
@given(rows, st.sampled_from(LINKAGES), st.integers(0, 15))
def test_cut_at_a_height_is_where_the_tree_stays_below_it(
    data: Rows, linkage: str, step: int
) -> None:
    tree = agglomerative(data, linkage=linkage)
    heights = [0.0, *(merge.height for merge in tree.merges)]
    height = heights[step % len(heights)]
    labels = tree.cut_height(height)
    assert list(labels) == formulas.cut_at(table_of(tree), tree.n, height)
    assert list(dict.fromkeys(labels)) == list(range(max(labels) + 1))
    cophenetic = iter(tree.cophenetic())
    for i in range(tree.n):
        for j in range(i + 1, tree.n):
            lowest = next(cophenetic)
            if linkage in REDUCIBLE:
                assert (labels[i] == labels[j]) == (lowest <= height)
            elif labels[i] == labels[j]:
                assert lowest <= height


@pytest.mark.spec("HC-COPH")
@settings(max_examples=50)
@given(rows, st.sampled_from(LINKAGES))
def test_cophenetic_distance_is_the_height_of_the_joining_merge(data: Rows, linkage: str) -> None:
    tree = agglomerative(data, linkage=linkage)
    assert list(tree.cophenetic()) == formulas.cophenetic(table_of(tree), tree.n)


@pytest.mark.spec("HC-COPH")
@settings(max_examples=50)
@given(rows)
def test_single_linkage_is_the_largest_ultrametric_below(data: Rows) -> None:
    # The smallest over all paths of the largest step (Floyd and Warshall in the min-max algebra).
    n = len(data)
    path = [[vectors.distance(x, y) for y in data] for x in data]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                path[i][j] = min(path[i][j], max(path[i][k], path[k][j]))
    cophenetic = agglomerative(data, linkage="single").cophenetic()
    assert list(cophenetic) == [path[i][j] for i in range(n) for j in range(i + 1, n)]


@pytest.mark.spec("HC-LEAF")
@settings(max_examples=50)
@given(rows, st.sampled_from(LINKAGES))
def test_every_cluster_is_a_run_of_the_leaf_order(data: Rows, linkage: str) -> None:
    tree = agglomerative(data, linkage=linkage)
    order = tree.leaf_order()
    assert list(order) == formulas.leaf_order(table_of(tree), tree.n)
    assert sorted(order) == list(range(tree.n))
    place = {row: position for position, row in enumerate(order)}
    for one, other, _ in pairs_of(tree):
        for part in (one, other, one + other):
            places = sorted(place[i] for i in part)
            assert places == list(range(places[0], places[0] + len(part)))
        left, right = sorted((one, other), key=min)
        assert max(place[i] for i in left) < min(place[i] for i in right)


plain = st.floats(-10, 10) | st.integers(-3, 3).map(float)
hostile = st.floats(-1e150, 1e150) | st.sampled_from([5e-324, 1e-310, 1e9 + 0.5, 1e15])
tables = st.integers(1, 4).flatmap(
    lambda d: st.lists(
        st.lists(plain, min_size=d, max_size=d) | st.lists(hostile, min_size=d, max_size=d),
        min_size=1,
        max_size=7,
    )
)


def exact_product(x: list[float], y: list[float]) -> Fraction:
    total = Fraction(0)
    for a, b in zip(x, y, strict=True):
        total += Fraction(a) * Fraction(b)
    return total


@pytest.mark.spec("KER-PAIR", "DIST-L2", "VEC-SQDIST")
@given(tables, st.booleans())
def test_pairwise_distances_are_nearest(table: list[list[float]], sparse: bool) -> None:
    given_rows = [dict(enumerate(row)) for row in table] if sparse else table
    points = Points(dataset(given_rows))
    assert points.dense is not sparse
    squares = iter(pairwise(points, "sqeuclidean"))
    distances = iter(pairwise(points, "euclidean"))
    for i, x in enumerate(table):
        for y in table[i + 1 :]:
            gap = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, y, strict=True))
            assert is_nearest(next(squares), Fraction(gap))
            assert is_nearest_root(next(distances), Fraction(gap))
    assert list(squares) == list(distances) == []


@pytest.mark.spec("DIST-COS")
@given(tables, st.booleans())
def test_pairwise_cosine_distances_are_nearest(table: list[list[float]], sparse: bool) -> None:
    table = [row for row in table if any(row)]
    if not table:
        return
    given_rows = [dict(enumerate(row)) for row in table] if sparse else table
    distances = iter(pairwise(Points(dataset(given_rows)), "cosine"))
    for i, x in enumerate(table):
        for y in table[i + 1 :]:
            product, squares = exact_product(x, y), exact_product(x, x) * exact_product(y, y)
            assert is_nearest_complement(next(distances), product, squares)
    assert list(distances) == []


def is_nearest_complement(double: float, product: Fraction, squares: Fraction) -> bool:
    """Whether a double is nearest to 1 - product / sqrt(squares), by signs and squares alone."""
    low = (Fraction(double) + Fraction(math.nextafter(double, -math.inf))) / 2
    high = (Fraction(double) + Fraction(math.nextafter(double, math.inf))) / 2
    # low <= 1 - product / root  <=>  product <= (1 - low) root, and the other way for high.
    return _at_most(product, 1 - low, squares) and not _at_most(product, 1 - high, squares, -1)


def _at_most(product: Fraction, factor: Fraction, squares: Fraction, strict: int = 1) -> bool:
    """Whether product <= factor * sqrt(squares); < if strict is negative."""
    left, right = product * abs(product), factor * abs(factor) * squares
    return left <= right if strict > 0 else left < right


@pytest.mark.spec("DIST-COS")
@given(st.integers(-(2**70), 2**70), st.integers(1, 2**70), st.integers(0, 3))
def test_nearly_parallel_directions_keep_their_digits(a: int, b: int, away: int) -> None:
    x, y = (a, b), (a, b + away)
    product = x[0] * y[0] + x[1] * y[1]
    squares = (x[0] ** 2 + x[1] ** 2) * (y[0] ** 2 + y[1] ** 2)
    value = one_minus_cosine(product, squares)
    assert is_nearest_complement(value, Fraction(product), Fraction(squares))
    assert value >= 0.0
    assert (value == 0.0) == (a == 0 or away == 0)


@pytest.mark.spec("HC-LW", "HC-SINGLE", "HC-COMPLETE", "HC-AVERAGE", "HC-CENTROID", "HC-WARD")
@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=4, max_size=8))
def test_the_update_is_the_linkage_of_the_joined_cluster(data: list[tuple[int, int]]) -> None:
    a, b, k = (0,), tuple(range(1, len(data) - 2)), (len(data) - 2, len(data) - 1)
    matrix = [[(x[0] - y[0]) ** 2 + (x[1] - y[1]) ** 2 for y in data] for x in data]
    sizes = len(a), len(b), len(k)
    for linkage, over_pairs in (
        ("single", formulas.single),
        ("complete", formulas.complete),
        ("average", formulas.average),
    ):
        before = [over_pairs(matrix, *two) for two in ((a, k), (b, k), (a, b))]
        joined = over_pairs(matrix, a + b, k)
        assert formulas.lance_williams(linkage, *sizes, *before) == joined
    for linkage, of_means in (("centroid", formulas.centroid), ("ward", formulas.ward)):
        squares = [of_means(data, *two) ** 2 for two in ((a, k), (b, k), (a, b))]
        joined = of_means(data, a + b, k) ** 2
        assert formulas.lance_williams(linkage, *sizes, *squares) == joined


@pytest.mark.spec("HC-MEDIAN", "HC-LW")
@given(st.lists(st.integers(0, 9), min_size=3, max_size=3))
def test_the_median_is_half_way(line: list[int]) -> None:
    a, b, k = ([x] for x in line)
    square = [Fraction((x[0] - y[0]) ** 2) for x, y in ((a, k), (b, k), (a, b))]
    joined = formulas.lance_williams("median", 1, 1, 1, *square)
    assert formulas.median((a, b), (k, k)) ** 2 == joined
