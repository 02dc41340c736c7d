"""Distances of pairs and trees, bit by bit the reference's."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import LADDER, NUMPY, REFERENCE, both, equal

from refclust.data.accepting.door import dataset
from refclust.errors import NotFinite, ZeroVector
from refclust.kernels.distances import METRICS
from refclust.kernels.linkage import LINKAGES

PAIRWISE, AGGLOMERATE = "distances.pairwise", "linkage.agglomerate"
FINITE = [
    name for name in LADDER if name not in ("huge", "largest", "sizes far apart", "sparse huge")
]


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
@pytest.mark.parametrize("name", FINITE)
def test_distances_are_nearest_doubles(name: str, metric: str) -> None:
    if metric == "sqeuclidean" and name in ("squares overflow", "two places"):
        name = "cloud+0"
    points, rows = both(LADDER[name])
    equal(PAIRWISE, REFERENCE[PAIRWISE](points, metric), NUMPY[PAIRWISE](rows, metric))


@pytest.mark.parametrize(
    "name", ["cloud+0", "cloud+1e+09", "singles", "sparse", "squares underflow", "zeros stored"]
)
def test_cosines_are_nearest_doubles(name: str) -> None:
    points, rows = both(LADDER[name])
    equal(PAIRWISE, REFERENCE[PAIRWISE](points, "cosine"), NUMPY[PAIRWISE](rows, "cosine"))


coordinate = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e3, 1e3), st.floats(-1e-8, 1e-8))


@given(
    st.lists(st.tuples(coordinate, coordinate), min_size=2, max_size=8),
    st.sampled_from(METRICS),
    st.sampled_from([0.0, 1.0, 1e9]),
)
def test_distances_of_any_rows(rows: list[tuple[float, float]], metric: str, offset: float) -> None:
    data = dataset([[x + offset, y if metric != "cosine" else y or 1.0] for x, y in rows])
    points, own = both(data)
    equal(PAIRWISE, REFERENCE[PAIRWISE](points, metric), NUMPY[PAIRWISE](own, metric))


@pytest.mark.parametrize(
    ("rows", "metric", "error"),
    [
        ([[1e200], [0.0]], "sqeuclidean", NotFinite),
        ([[1e308], [-1e308]], "euclidean", NotFinite),
        ([[1.0, 0.0], [0.0, 0.0]], "cosine", ZeroVector),
    ],
)
def test_the_same_errors(rows: list[list[float]], metric: str, error: type[Exception]) -> None:
    points, own = both(dataset(rows))
    with pytest.raises(error) as due:
        REFERENCE[PAIRWISE](points, metric)
    with pytest.raises(error) as got:
        NUMPY[PAIRWISE](own, metric)
    assert str(got.value) == str(due.value)


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("ties", [False, True])
def test_trees_are_the_references(linkage: str, ties: bool) -> None:
    random = np.random.default_rng(4)
    rows = random.integers(0, 5, (70, 2)).astype(float) if ties else random.random((70, 2))
    distances = REFERENCE[PAIRWISE](both(dataset(rows))[0], "sqeuclidean")
    due = REFERENCE[AGGLOMERATE](distances, 70, linkage)
    equal(AGGLOMERATE, due, NUMPY[AGGLOMERATE](distances, 70, linkage))


@given(
    st.integers(1, 9).flatmap(
        lambda n: st.lists(
            st.sampled_from([0.0, 1.0, 2.0, 0.1, 1 / 3]),
            min_size=n * (n - 1) // 2,
            max_size=n * (n - 1) // 2,
        ).map(lambda distances: (n, distances))
    ),
    st.sampled_from([name for name in LINKAGES if name not in ("centroid", "median")]),
)
def test_trees_of_any_distances(given_distances: tuple[int, list[float]], linkage: str) -> None:
    n, distances = given_distances
    due = REFERENCE[AGGLOMERATE](array("d", distances), n, linkage)
    equal(AGGLOMERATE, due, NUMPY[AGGLOMERATE](array("d", distances), n, linkage))


def test_distances_are_not_changed() -> None:
    distances = array("d", [1.0, 2.0, 3.0])
    NUMPY[AGGLOMERATE](distances, 3, "ward")
    assert distances == array("d", [1.0, 2.0, 3.0])
