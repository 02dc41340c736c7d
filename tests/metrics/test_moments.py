"""Sums by kernels are those of the definitions, and metrics share them (chapter 45)."""

from __future__ import annotations

import random
from array import array
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust import metrics
from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.formulas import scatter
from refclust.formulas.clustered import Clustered
from refclust.metrics import catalogue
from refclust.metrics.calls.clusterings import clustered, score_clustering
from refclust.metrics.moments import LEAST, Moments
from refclust.numbers.real import Real, real

OF_ROWS = [
    entry.name
    for entry in catalogue.ENTRIES.values()
    if entry.family == "scatter" and entry.evidence != "memberships"
]
finite = st.floats(-1e6, 1e6, allow_subnormal=True)


def tables() -> st.SearchStrategy[tuple[list[Any], list[int], list[float] | None]]:
    def rows(shape: tuple[int, int, bool]) -> st.SearchStrategy[Any]:
        n, d, sparse = shape
        dense = st.lists(finite, min_size=d, max_size=d)
        row: Any = st.dictionaries(st.integers(0, d - 1), finite) if sparse else dense
        weights = st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n, max_size=n)
        labels = st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2).map([0, 1].__add__)
        return st.tuples(st.lists(row, min_size=n, max_size=n), labels, st.none() | weights)

    return st.tuples(st.integers(2, 7), st.integers(1, 3), st.booleans()).flatmap(rows)


@pytest.mark.spec("INT-SIZE", "INT-MEAN", "INT-TMEAN", "INT-SI", "INT-ST", "INT-SSE", "INT-TSS")
@given(tables())
def test_moments_are_the_definitions(
    table: tuple[list[Any], list[int], list[float] | None],
) -> None:
    rows, labels, weights = table
    data = dataset(rows, weights=weights)
    exact = None if weights is None else list(map(Fraction, weights))
    moments = Moments(data, array("i", labels), 2, Session("reference"))
    plain = Clustered(
        labels,
        (0, 1),
        list(data.rows()),
        weights=None if exact is None else tuple(exact),
        columns=range(data.d),
    )
    assert moments.sizes() == plain.sizes
    assert _filled(moments.overall_mean()) == _filled(scatter.overall_mean(plain))
    assert moments.tss() == scatter.tss(plain)
    assert moments.total_scatter() == scatter.total_scatter(plain)
    assert moments.variances(None) == scatter.variances(plain, None)
    for k in (0, 1):
        assert moments.size(k) == scatter.size(plain, k)
        assert _filled(moments.cluster_mean(k)) == _filled(scatter.cluster_mean(plain, k))
        assert moments.cluster_sse(k) == scatter.cluster_sse(plain, k)
        assert moments.cluster_scatter(k) == scatter.cluster_scatter(plain, k)
        assert moments.variances(k) == scatter.variances(plain, k)
    middle = scatter.overall_mean(plain)
    for bound in (1, 10**6, 10**12):
        near = scatter.at_most(real(bound))
        assert moments.density(0, 1, middle, near) == scatter.density(plain, 0, 1, middle, near)
    for i in range(len(rows)):
        assert moments.squared_to_means(i) == scatter.squared_to_means(plain, i)


def _filled(vector: Any) -> Any:
    return {j: x for j, x in vector.items() if x} if isinstance(vector, dict) else vector


def large(kind: str) -> tuple[list[Any], list[int], list[Any] | None]:
    draw = random.Random(kind)
    labels = [i % 3 for i in range(LEAST)]
    rows: list[Any] = [[draw.gauss(4 * y, 1), draw.gauss(-y, 2)] for y in labels]
    if kind == "sparse":
        rows = [{j: x for j, x in enumerate(row) if draw.random() < 0.7} for row in rows]
    weights = [1 + i % 2 for i in range(LEAST)] if kind == "weighted" else None
    return rows, labels, weights


@pytest.mark.parametrize("kind", ["dense", "sparse", "weighted"])
@pytest.mark.parametrize("backend", ["reference", "loopback"])
def test_many_rows_have_the_values_of_the_definitions(kind: str, backend: str) -> None:
    rows, labels, weights = large(kind)
    evidence = clustered(rows, labels, weights=weights, session=Session(backend))
    assert isinstance(evidence.moments, Moments)
    vectors = list(dataset(rows).rows())
    plain = Clustered.of(vectors, labels, weights)
    for name in ("sse", "bss", "calinski_harabasz", "det_ratio", "ratkowsky_lance", "ray_turi"):
        formula = getattr(scatter, name)
        assert formula(evidence) == formula(plain)
    for name in ("davies_bouldin", "wemmert_gancarski", "s_dbw", "sd"):
        formula = getattr(scatter, name)
        assert float(formula(evidence)) == float(formula(plain))


def test_weights_that_are_no_doubles_go_by_the_definitions() -> None:
    rows, labels, _ = large("dense")
    thirds = clustered(rows, labels, weights=[Fraction(1, 3)] * LEAST)
    assert thirds.moments is None
    assert scatter.sse(thirds) * 3 == metrics.sse(rows, labels).exact
    assert clustered(rows, labels, weights=[10**400] * LEAST).moments is None


def test_numbers_as_labels_stay_where_they_are() -> None:
    rows, labels, _ = large("dense")
    known = array("i", labels)
    assert isinstance(clustered(rows, known).labels, memoryview)
    wide = clustered(rows, array("q", labels)).labels
    assert isinstance(wide, array)
    assert wide == known
    gaps = clustered(rows, array("i", [3 * y - 1 for y in labels]))
    assert gaps.clusters == (-1, 2, 5)
    assert list(gaps.labels) == labels
    assert metrics.sse(rows, known) == metrics.sse(rows, labels)


def test_metrics_share_their_passes() -> None:
    rows, labels, _ = large("dense")
    scores = score_clustering(rows, labels)
    assert set(OF_ROWS) <= set(scores)
    runs = {run.kernel: run.calls for run in scores["size_entropy"].provenance.kernels}
    assert runs == {"kmeans.accumulate": 1, "kmeans.squares": 1, "pairs.extremes": 1}


class Stub:
    """Passes that say what nothing else would."""

    def centre_distances(self, k: int, squared: bool = False) -> Real:
        assert not squared
        return real(10 * (k + 1))

    def nearest_squared(self, k: int, m: int) -> Fraction:
        return Fraction(k + m)


@pytest.mark.spec("INT-DB", "INT-PBM", "INT-XB")
def test_passes_are_asked_for_sums_of_distances() -> None:
    passes: Any = Stub()
    evidence = Clustered((0, 0, 1, 1), (0, 1), [[0], [2], [7], [9]], passes=passes)
    assert scatter.davies_bouldin(evidence).fraction == Fraction(10 + 20, 2 * 7)
    assert scatter.xie_beni(evidence, separation="points").fraction == 1
    assert scatter.pbm(evidence).fraction == Fraction(14 * 7, 2 * 30) ** 2


def test_shifted_far_away() -> None:
    """Coordinates near 1e15 are exact doubles here, and so is every score."""
    rows = [[float(i % 5), float(i % 3)] for i in range(LEAST)]
    labels = [int(i % 5 > 2) for i in range(LEAST)]
    far = [[x + 1e15 for x in row] for row in rows]
    near, away = score_clustering(rows, labels), score_clustering(far, labels)
    assert [repr(float(near[name])) for name in OF_ROWS] == [
        repr(float(away[name])) for name in OF_ROWS
    ]
