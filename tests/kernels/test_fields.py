"""Estimates of distances keep their bounds, and doubt is decided exactly (chapter 10)."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.kernels.clusters.nearness import (
    Cosine,
    Euclidean,
    nearest_labels,
    products,
    scaled_vectors,
)
from refclust.kernels.points import Points
from tests.cluster import witness
from tests.cluster.strategies import EXTREME, KINDS, MODERATE, Case, cases, data_of
from tests.metrics.strategies import some


@pytest.mark.spec("KM-ASSIGN")
@some(25)
@given(cases(EXTREME), KINDS)
def test_euclidean_fields_name_the_nearest_centre(case: Case, kind: str) -> None:
    centres = list(dict.fromkeys(case.centres))
    field = Euclidean(Points(case.data(kind)), centres)
    assert list(nearest_labels(field)) == witness.assign(case.rows, centres)


@pytest.mark.spec("KM-COSASSIGN")
@some(25)
@given(cases(EXTREME, directions=True), KINDS)
def test_cosine_fields_name_the_nearest_direction(case: Case, kind: str) -> None:
    rows = [witness.unit(row) for row in case.rows]
    centres = list(dict.fromkeys(case.centres))
    field = Cosine(Points(data_of(rows, kind)), centres)
    assert list(nearest_labels(field)) == witness.assign(rows, centres, "cosine")


@pytest.mark.spec("KM-ASSIGN")
@some(25)
@given(cases(MODERATE), KINDS)
def test_euclidean_estimates_keep_their_bounds(case: Case, kind: str) -> None:
    """Whatever the estimates prove about two centres is true."""
    points = Points(case.data(kind))
    field = Euclidean(points, case.centres)
    columns = field.estimates(0, points.n)
    for i, slack in enumerate(field.slacks(0, points.n)):
        exact = [witness.square(case.rows[i], centre) for centre in case.centres]
        for j, left in enumerate(columns):
            for k, right in enumerate(columns):
                if right[i] > left[i] * field.factor + slack:
                    assert exact[k] > exact[j]
                if exact[j] == exact[k]:
                    assert not right[i] > left[i] * field.factor + slack


@pytest.mark.spec("KM-COSASSIGN")
@some(25)
@given(cases(MODERATE, directions=True), KINDS)
def test_cosine_estimates_keep_their_bounds(case: Case, kind: str) -> None:
    rows = [witness.unit(row) for row in case.rows]
    field = Cosine(Points(data_of(rows, kind)), case.centres)
    columns = field.estimates(0, len(rows))
    for i, slack in enumerate(field.slacks(0, len(rows))):
        exact = [witness.cosine(rows[i], centre) for centre in case.centres]
        for j, left in enumerate(columns):
            for k, right in enumerate(columns):
                if right[i] > left[i] * field.factor + slack:
                    assert exact[k][1] < exact[j][1]


@some(25)
@given(cases(MODERATE))
def test_some_rows_are_estimated_as_in_the_whole(case: Case) -> None:
    for kind in ("dense", "sparse"):
        points = Points(case.data(kind))
        field = Euclidean(points, case.centres)
        whole, half = field.estimates(0, points.n), points.n // 2
        parts = zip(field.estimates(0, half), field.estimates(half, points.n), strict=True)
        assert [[*a, *b] for a, b in parts] == whole
        slacks = [*field.slacks(0, half), *field.slacks(half, points.n)]
        assert slacks == list(field.slacks(0, points.n))


@pytest.mark.spec("KM-ASSIGN", "KM-COSASSIGN")
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_rows_beyond_one_chunk(kind: str) -> None:
    """Ties on both sides of the borders at 4096 and 8192 rows are decided for their own row."""
    n = 8200
    rows = [(float(i % 3), 1.0) for i in range(n)]
    points = Points(data_of(rows, kind))
    pattern = [0, 0, 1]  # 1 is as far from 0 as from 2
    found = list(nearest_labels(Euclidean(points, [(0.0, 1.0), (2.0, 1.0)])))
    assert found == [pattern[i % 3] for i in range(n)]
    # (1, 1) lies halfway between the directions (0, 1) and (1, 0).
    units = [witness.unit(row) for row in rows[:3]]
    points = Points(data_of([units[i % 3] for i in range(n)], kind))
    found = list(nearest_labels(Cosine(points, [(1.0, 0.0), (0.0, 3.0)])))
    assert found == [[1, 0, 0][i % 3] for i in range(n)]


@pytest.mark.spec("VEC-DOT")
@some(25)
@given(cases(MODERATE))
def test_products_of_sparse_rows_keep_their_bound(case: Case) -> None:
    points = Points(case.data("sparse"))
    for centre in case.centres:
        for i, found in enumerate(products(points, centre, 0, points.n)):
            row = case.rows[i]
            exact = witness.inner(row, centre)
            sizes = witness.inner(row, row) * witness.inner(centre, centre)
            bound = (len(points.rows[i]) + 1) * Fraction(2) ** -53
            underflow = len(row) * Fraction(2) ** -1074
            assert (
                max(abs(Fraction(found) - exact) - underflow, Fraction()) ** 2 <= bound**2 * sizes
            )


@given(st.integers(1, 3), st.data())
def test_vectors_over_one_power_of_two(d: int, data: st.DataObject) -> None:
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    vectors = data.draw(st.lists(st.tuples(*[numbers] * d), min_size=1, max_size=4))
    integers, shift = scaled_vectors(vectors)
    found = [tuple(Fraction(i, 1 << shift) for i in vector) for vector in integers]
    assert found == [tuple(map(Fraction, vector)) for vector in vectors]


@pytest.mark.spec("KM-COSASSIGN")
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1.0, 1e300])
def test_the_length_of_a_centre_does_not_matter(scale: float) -> None:
    rows = [witness.unit(row) for row in [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (-1.0, 0.0)]]
    for kind in ("dense", "sparse"):
        field = Cosine(Points(data_of(rows, kind)), [(scale, 0.0), (0.0, 1.0), (-scale, scale)])
        assert list(nearest_labels(field)) == [0, 1, 0, 2]
        assert all(map(math.isfinite, field.estimates(0, 4)[0]))
