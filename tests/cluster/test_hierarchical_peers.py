"""Agglomerative clustering beside SciPy's, on data without ties.

With ties the trees may differ, and rightly so: SciPy follows chains of nearest neighbours for
complete, average, weighted and Ward's linkage, sorts the edges of a spanning tree for single, and
numbers clusters in another way for the rest. It states no rule for equal distances; HC-TIE does.
"""

from __future__ import annotations

import importlib
import random
from typing import Any

import pytest

from refclust.cluster.hierarchical import agglomerative, pairwise_distances
from refclust.cluster.tree import Tree
from refclust.kernels.linkage import LINKAGES

# By name: SciPy ships no types.
scipy: Any = importlib.import_module("scipy.cluster.hierarchy")
numpy: Any = importlib.import_module("numpy")

UNIT = 2.0**-53


def random_rows(seed: int, n: int, d: int = 3) -> list[list[float]]:
    rng = random.Random(seed)
    return [[rng.random() for _ in range(d)] for _ in range(n)]


def theirs(rows: list[list[float]], linkage: str) -> Any:
    return scipy.linkage(numpy.array(pairwise_distances(rows)), linkage)


def structure(tree: Tree) -> list[tuple[int, int, int]]:
    return [(merge.a, merge.b, merge.size) for merge in tree.merges]


@pytest.mark.spec("HC-AGG")
@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("seed", range(3))
def test_the_same_clusters_are_joined(linkage: str, seed: int) -> None:
    rows = random_rows(seed, 120)
    table = theirs(rows, linkage)
    assert structure(agglomerative(rows, linkage=linkage)) == [
        (int(a), int(b), int(size)) for a, b, _, size in table
    ]


@pytest.mark.spec("HC-SINGLE", "HC-COMPLETE")
@pytest.mark.parametrize("linkage", ["single", "complete"])
def test_heights_that_are_distances_are_equal(linkage: str) -> None:
    rows = random_rows(7, 120)
    table = theirs(rows, linkage)
    tree = agglomerative(rows, linkage=linkage)
    assert [merge.height for merge in tree.merges] == table[:, 2].tolist()
    assert tree.cophenetic().tolist() == scipy.cophenet(table).tolist()


@pytest.mark.spec("HC-AVERAGE", "HC-WEIGHTED")
@pytest.mark.parametrize("linkage", ["average", "weighted"])
def test_heights_that_are_means_differ_by_rounding(linkage: str) -> None:
    # Each side makes a height by fewer than n updates of at most 4 roundings of positive numbers,
    # each relative: both are within 4nu of the exact mean, hence within 9nu of each other.
    n = 120
    rows = random_rows(8, n)
    table = theirs(rows, linkage)
    for merge, height in zip(
        agglomerative(rows, linkage=linkage).merges, table[:, 2].tolist(), strict=True
    ):
        assert abs(merge.height - height) <= 9 * n * UNIT * height


@pytest.mark.spec("HC-CENTROID", "HC-MEDIAN", "HC-WARD")
@pytest.mark.parametrize("linkage", ["centroid", "median", "ward"])
@pytest.mark.parametrize("seed", range(5))
def test_heights_from_squares_differ_by_rounding(linkage: str, seed: int) -> None:
    # On either side an update takes squares by factors whose sizes add up to less than 3 and adds
    # at most 16 roundings (SciPy squares and takes a root each time) of numbers below
    # n * 2n * 3: e' <= 3e + r. After at most n - 2 = 10 updates e <= 3**10 r, on both sides.
    n = 12
    rows = random_rows(seed, n)
    bound = 2 * 3**10 * 16 * (n * 2 * n * 3) * UNIT
    assert bound < 2e-7
    table = theirs(rows, linkage)
    tree = agglomerative(rows, linkage=linkage)
    for merge, height in zip(tree.merges, table[:, 2].tolist(), strict=True):
        assert abs(merge.height**2 - height**2) <= bound


@pytest.mark.spec("HC-CUT", "HC-CUTH")
@pytest.mark.parametrize("linkage", LINKAGES)
def test_cuts_are_the_same_partitions(linkage: str) -> None:
    rows = random_rows(9, 60)
    table, tree = theirs(rows, linkage), agglomerative(rows, linkage=linkage)
    for step in (10, 30, 50):
        # Between two heights, so that rounding does not matter.
        heights = sorted(merge.height for merge in tree.merges)
        height = (heights[step] + heights[step + 1]) / 2
        assert same(tree.cut_height(height), scipy.fcluster(table, height, "distance").tolist())
        # cut_tree sorts merges by height, which with inversions is not the order of merging.
        if linkage not in ("centroid", "median"):
            assert same(tree.cut(step), scipy.cut_tree(table, step)[:, 0].tolist())


def same(ours: tuple[int, ...], other: list[int]) -> bool:
    return len(set(zip(ours, other, strict=True))) == len(set(ours)) == len(set(other))


@pytest.mark.spec("HC-TIE")
def test_ties_are_where_the_trees_part() -> None:
    # Twelve pairs of a grid are equally close. Both trees are complete linkage's; HC-TIE names one.
    grid = [[x, y] for y in range(3) for x in range(3)]
    ours = agglomerative(grid, linkage="complete")
    table = theirs([[float(x), float(y)] for x, y in grid], "complete")
    assert structure(ours) != [(int(a), int(b), int(size)) for a, b, _, size in table]
    assert ours.merges[0].height == table[0, 2] == 1.0
