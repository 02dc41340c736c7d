"""Trees of merges as a caller sees them: options, given distances, cuts, refusals."""

from __future__ import annotations

import math
from array import array
from fractions import Fraction
from typing import Any

import numpy
import pytest

from refclust.backends.session import Session
from refclust.cluster.hierarchical import agglomerative, given_distances, pairwise_distances
from refclust.cluster.tree import Merge, Tree
from refclust.data.accepting.door import dataset
from refclust.errors import (
    BadNumber,
    BadOption,
    EmptyInput,
    KOutOfRange,
    NotFinite,
    NotSymmetric,
    RefclustError,
    ZeroVector,
)
from refclust.kernels.linkage import LINKAGES, SQUARED

LINE = [[0], [1], [3], [8]]
SQUARE = [[0, 1, 3, 8], [1, 0, 2, 7], [3, 2, 0, 5], [8, 7, 5, 0]]
CONDENSED = [1, 3, 8, 2, 7, 5]
# An inversion: the second merge is lower than the first.
INVERTED = agglomerative([[0, 0], [8, 0], [4, 7], [100, 0]], linkage="centroid")


@pytest.mark.spec("HC-AGG")
def test_the_default_is_ward_on_euclidean_distances() -> None:
    tree = agglomerative(LINE)
    assert (tree.linkage, tree.metric, tree.n, tree.labels) == ("ward", "euclidean", 4, None)
    assert tree.merges[0] == Merge(0, 1, 1.0, 2)
    assert [(m.a, m.b, m.size) for m in tree.merges] == [(0, 1, 2), (2, 4, 3), (3, 5, 4)]
    assert tree.merges[1].height == math.sqrt((2 * 9.0 + 2 * 4.0 - 1.0) / 3)


@pytest.mark.spec("HC-GIVEN")
@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize(
    "distances",
    [
        SQUARE,
        CONDENSED,
        tuple(map(Fraction, CONDENSED)),
        iter(CONDENSED),
        array("d", CONDENSED),
        numpy.array(CONDENSED),
        numpy.array(SQUARE),
        numpy.array(SQUARE, dtype="float32"),
        dataset(SQUARE),
    ],
    ids=["square", "flat", "fractions", "iterator", "array", "vector", "matrix", "single", "data"],
)
def test_distances_may_be_given_in_any_form(linkage: str, distances: Any) -> None:
    if not hasattr(distances, "__len__"):
        distances = iter(CONDENSED)  # used up by the linkage before
    tree = agglomerative(distances=distances, linkage=linkage)
    # The distances on this line are integers, so their squares are exact too.
    assert tree.merges == agglomerative(LINE, linkage=linkage).merges
    assert tree.metric == "given"


@pytest.mark.spec("HC-GIVEN")
@pytest.mark.parametrize(
    ("distances", "kind", "message"),
    [
        ([[0, 1], [1, 0], [2, 2]], NotSymmetric, "3 rows and 2 columns"),
        ([{"a": 1}, {"b": 1}], NotSymmetric, "dense square matrix"),
        ([[0, 1], [2, 0]], NotSymmetric, r"objects 0 and 1 differ: 1\.0 in row 0, 2\.0 in row 1"),
        ([[0, 1], [1, 3]], NotSymmetric, r"object 1 to itself is 3\.0, not 0"),
        ([[0, -1], [-1, 0]], NotSymmetric, r"objects 0 and 1 is -1\.0, below 0"),
        ([1, 2], NotSymmetric, "2 distances in a row"),
        ([1, 2, -3], NotSymmetric, r"objects 1 and 2 is -3\.0"),
        ([1, math.nan, 3], NotFinite, "objects 0 and 2 is nan"),
        ([math.inf], NotFinite, "objects 0 and 1 is inf"),
        ([[0, math.inf], [math.inf, 0]], NotFinite, "row 0, column 1"),
        ([], EmptyInput, r"for one object give \[\[0\]\]"),
        ([True], BadNumber, "distance 0 is True"),
        (["a"], BadNumber, "distance 0 is 'a'"),
        ("matrix.csv", BadOption, "distances are a square matrix"),
        (7, BadOption, "distances are a square matrix"),
    ],
)
def test_bad_distances(distances: Any, kind: type[RefclustError], message: str) -> None:
    with pytest.raises(kind, match=message):
        agglomerative(distances=distances, linkage="single")


@pytest.mark.spec("HC-GIVEN")
def test_one_object() -> None:
    assert given_distances([[0]]) == (array("d"), 1)
    assert agglomerative(distances=[[0]]).merges == ()
    assert agglomerative([[5, 5]], k=1).labels == (0,)
    assert agglomerative([[5, 5]]).leaf_order() == (0,)
    assert agglomerative([[5, 5]]).cophenetic() == array("d")


def test_squares_of_given_distances_may_be_too_large() -> None:
    with pytest.raises(NotFinite, match="works on squares, and that of 1e\\+200 is too large"):
        agglomerative(distances=[1e200], linkage="ward")
    assert agglomerative(distances=[1e200], linkage="complete").merges[0].height == 1e200


@pytest.mark.parametrize("linkage", sorted(SQUARED))
@pytest.mark.parametrize("metric", ["cosine", "sqeuclidean"])
def test_means_need_euclidean_distances(linkage: str, metric: str) -> None:
    with pytest.raises(BadOption, match="needs metric='euclidean'"):
        agglomerative(LINE, linkage=linkage, metric=metric)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"data": LINE, "linkage": "wards"}, BadOption, "linkage is 'wards'; allowed are single"),
        ({"data": LINE, "metric": "l1"}, BadOption, "metric is 'l1'; allowed are euclidean"),
        ({"data": LINE, "k": 2, "height": 1.0}, BadOption, "two ways to cut"),
        ({"data": LINE, "distances": SQUARE}, BadOption, "either data or distances"),
        ({}, BadOption, "either data or distances"),
        (
            {"distances": SQUARE, "metric": "cosine", "linkage": "single"},
            BadOption,
            "says nothing when distances are given",
        ),
        ({"data": LINE, "k": 0}, KOutOfRange, "k=0 for 4 rows; from 1 to 4"),
        ({"data": LINE, "k": 5}, KOutOfRange, "k=5 for 4 rows"),
        ({"data": LINE, "k": 2.0}, BadOption, r"k=2\.0; a number of clusters from 1 to 4"),
        ({"data": LINE, "k": True}, BadOption, "k=True"),
        ({"data": LINE, "height": math.nan}, BadOption, "height=nan"),
        ({"data": LINE, "height": "3"}, BadOption, "height='3'"),
        ({"data": LINE, "height": True}, BadOption, "height=True"),
        ({"data": []}, EmptyInput, "no rows"),
        (
            {"data": [[0], [1]], "metric": "cosine", "linkage": "single"},
            ZeroVector,
            "row 0 is the zero vector",
        ),
        (
            {"data": dataset(LINE, weights=[1, 2, 3, 4])},
            BadOption,
            "agglomerative clustering counts rows only",
        ),
    ],
)
def test_refused_options(options: dict[str, Any], kind: type[RefclustError], message: str) -> None:
    with pytest.raises(kind, match=message):
        agglomerative(**options)


@pytest.mark.spec("HC-CUT", "HC-CUTH")
def test_labels_of_the_cut_asked_for() -> None:
    assert agglomerative(LINE, k=2).labels == (0, 0, 0, 1)
    assert agglomerative(LINE, linkage="single", height=1.5).labels == (0, 0, 1, 2)
    assert agglomerative(LINE, linkage="single", height=2).labels == (0, 0, 0, 1)
    assert agglomerative(LINE, linkage="single", height=-1).labels == (0, 1, 2, 3)
    assert agglomerative(LINE, height=math.inf).labels == (0, 0, 0, 0)
    # Numbers of other libraries are numbers.
    k: Any = numpy.int64(2)
    height: Any = numpy.float32(1.5)
    assert agglomerative(LINE, k=k).labels == (0, 0, 0, 1)
    assert agglomerative(LINE, linkage="single", height=height).labels == (0, 0, 1, 2)


@pytest.mark.spec("HC-CUT")
def test_labels_are_numbered_by_smallest_row() -> None:
    tree = agglomerative([[9], [0], [1], [10]], k=2)
    assert tree.labels == (0, 1, 1, 0)


@pytest.mark.spec("HC-INV", "HC-CUTH", "HC-COPH")
def test_inversions() -> None:
    assert [merge.height for merge in INVERTED.merges[:2]] == [8.0, 7.0]
    assert INVERTED.inversions == 1
    # At height 7.5 the second merge is low enough, but not the one inside it.
    assert INVERTED.cut_height(7.5) == (0, 1, 2, 3)
    assert INVERTED.cut_height(8.0) == (0, 0, 0, 1)
    assert list(INVERTED.cophenetic()[:4]) == [8.0, 7.0, INVERTED.merges[2].height, 7.0]
    assert INVERTED.cut(3) == (0, 0, 1, 2)
    assert agglomerative(LINE).inversions == 0


@pytest.mark.spec("HC-LEAF")
def test_the_leaf_order_follows_smallest_rows_not_cluster_numbers() -> None:
    # 1-2 is cluster 4, 0-3 is cluster 5; the dendrogram starts with row 0 all the same.
    tree = agglomerative([[10], [0], [1], [12]], linkage="single")
    assert [(m.a, m.b) for m in tree.merges] == [(1, 2), (0, 3), (4, 5)]
    assert tree.leaf_order() == (0, 3, 1, 2)


def test_a_tree_of_many_rows_needs_no_recursion() -> None:
    n = 1200
    merges = [Merge(0, 1, 1.0, 2)]
    merges += [Merge(i, n + i - 2, float(i), i + 1) for i in range(2, n)]
    tree = Tree(n, tuple(merges))
    assert tree.leaf_order() == tuple(range(n))
    assert tree.cut_height(5.0) == (0,) * 6 + tuple(range(1, n - 5))


@pytest.mark.spec("KER-PAIR", "KER-LINK")
@pytest.mark.parametrize("backend", ["reference", "loopback"])
def test_the_provenance_says_what_ran(backend: str) -> None:
    tree = agglomerative(LINE, backend=backend)
    assert tree.provenance is not None
    assert [(run.kernel, run.backend, run.calls) for run in tree.provenance.kernels] == [
        ("distances.pairwise", backend, 1),
        ("linkage.agglomerate", backend, 1),
    ]
    assert tree.merges == agglomerative(LINE).merges
    given = agglomerative(distances=SQUARE, session=Session(backend))
    assert given.provenance is not None
    assert [run.kernel for run in given.provenance.kernels] == ["linkage.agglomerate"]


@pytest.mark.spec("KER-PAIR")
def test_pairwise_distances() -> None:
    assert pairwise_distances(LINE) == array("d", CONDENSED)
    assert pairwise_distances(LINE, metric="sqeuclidean") == array("d", [1, 9, 64, 4, 49, 25])
    assert pairwise_distances([[3, 4], [4, 3]], metric="cosine", backend="loopback") == array(
        "d", [0.04]
    )
    told = "metric is 'l1'; allowed are euclidean, sqeuclidean, cosine"
    with pytest.raises(BadOption, match=told):
        pairwise_distances(LINE, metric="l1")
