"""Means and objectives from the sums of the clusters (KM-CENTROID, KM-RSS, KM-COSOBJ)."""

from __future__ import annotations

from array import array
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.cluster.objective import exact_rss, exact_within, rounded, total_cosine
from refclust.errors import NotFinite
from refclust.kernels.clusters.kmeans import ClusterSums, accumulate, squares
from refclust.kernels.clusters.means import cosine_terms, mean, means, residual
from refclust.kernels.points import Points
from refclust.numbers.real import Real, sqrt
from tests.cluster import witness
from tests.cluster.strategies import EXTREME, KINDS, WILD_WEIGHTS, Case, cases, data_of
from tests.metrics.strategies import some


@pytest.mark.spec("KM-CENTROID", "KM-RSS", "KER-MEANS", "KER-RESIDUAL")
@some(25)
@given(cases(EXTREME, WILD_WEIGHTS), KINDS, st.data())
def test_means_and_sums_of_squares(case: Case, kind: str, data: st.DataObject) -> None:
    points = Points(case.data(kind))
    k, n = len(case.centres), len(case.rows)
    labels = data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    sums = accumulate(points, array("i", labels), k)
    d = len(case.rows[0])
    flat = means(points, sums)
    for j in range(k):
        if witness.weight_of(labels, case.masses, j):
            assert mean(sums, j) == witness.mean(case.rows, labels, case.masses, j)
            assert tuple(flat[j * d : (j + 1) * d]) == mean(sums, j)
        else:
            assert not any(flat[j * d : (j + 1) * d])
    parts = squares(points, array("i", labels), k)
    whole = squares(points, array("i", [0] * n), 1)[0]
    centres = tuple(case.centres)
    due = witness.within(case.rows, labels, case.masses, centres)
    residuals = residual(points, sums, centres)
    assert list(exact_within(parts, residuals)) == due
    assert exact_rss(whole, residuals) == sum(due)


@pytest.mark.spec("KM-COSOBJ")
@some(25)
@given(cases(directions=True), KINDS, st.data())
def test_total_cosine(case: Case, kind: str, data: st.DataObject) -> None:
    rows = [witness.unit(row) for row in case.rows]
    points = Points(data_of(rows, kind, case.weights))
    k, n = len(case.centres), len(rows)
    labels = data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    sums = accumulate(points, array("i", labels), k)
    terms = cosine_terms(points, sums, tuple(case.centres))
    due = witness.cosine_terms(rows, labels, case.masses, case.centres)
    assert [abs(term) for term in terms] == [square for _, square in due]
    assert [(term > 0) - (term < 0) for term in terms] == [sign for sign, _ in due]
    whole = witness.total_cosine(rows, labels, case.masses, case.centres)
    assert total_cosine(terms) == whole
    assert float(total_cosine(terms)) == float(whole)


@pytest.mark.spec("KM-COSOBJ")
def test_sums_of_roots_are_exact() -> None:
    assert total_cosine([]) == 0
    assert total_cosine([Fraction(2), Fraction(-2)]) == 0
    assert total_cosine([Fraction(2), Fraction(8)]) == sqrt(18)
    assert total_cosine([Fraction(1, 4), Fraction(-9, 4)]) == -1
    assert isinstance(total_cosine([Fraction(3)]), Real)


@pytest.mark.spec("KM-COSOBJ")
def test_clusters_without_rows_add_nothing() -> None:
    sums = ClusterSums((2, 0), 0, ((2, 0), (0, 0)), 0)
    points = Points(data_of([(1.0, 0.0)], "dense"))
    terms = cosine_terms(points, sums, ((3.0, 4.0), (1.0, 1.0)))
    assert terms == (Fraction(36, 25), Fraction(0))


@pytest.mark.spec("KM-RSS")
def test_a_cluster_without_weight_adds_nothing_wherever_its_centre_is() -> None:
    sums = ClusterSums((2, 0), 0, ((3,), (0,)), 0)
    points = Points(data_of([(1.0,)], "dense"))
    assert exact_rss(Fraction(5), residual(points, sums, ((1.5,), (1e300,)))) == Fraction(1, 2)


@pytest.mark.spec("KM-RSS")
def test_far_from_zero_nothing_cancels() -> None:
    """The textbook form in doubles says 0 or worse; the exact one has all digits."""
    rows = [(1e9 + i * 2.0**-20,) for i in range(4)]
    points = Points(data_of(rows, "dense"))
    labels = array("i", [0] * 4)
    sums = accumulate(points, labels, 1)
    centre = mean(sums, 0)
    found = exact_rss(squares(points, labels, 1)[0], residual(points, sums, (centre,)))
    assert found == sum(witness.square(row, centre) for row in rows)
    assert found > 0
    floats = [x for (x,) in rows]
    expanded = sum(x * x for x in floats) - sum(floats) ** 2 / 4
    assert expanded != float(found)


@pytest.mark.spec("NUM-NEAR")
def test_rounding() -> None:
    assert rounded(Fraction(1, 3)) == 1 / 3
    assert str(rounded(Fraction(-1, 10**400))) == "0.0"
    with pytest.raises(NotFinite):
        rounded(Fraction(10**400))
