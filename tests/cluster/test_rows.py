"""Rows as directions: every component the nearest double of its exact value (KM-COSROWS)."""

from __future__ import annotations

import math
from array import array

import numpy
import pytest
from hypothesis import given

from refclust.cluster.directions import unit_rows
from refclust.data.accepting.door import dataset
from refclust.errors import ZeroVector
from tests.cluster import witness
from tests.cluster.strategies import EXTREME, KINDS, Case, cases
from tests.metrics.strategies import some


@pytest.mark.spec("KM-COSROWS", "KER-DIRECTIONS")
@some(25)
@given(cases(EXTREME, directions=True), KINDS)
def test_every_component_is_the_nearest_double(case: Case, kind: str) -> None:
    scaled = unit_rows(case.data(kind))
    for i, row in enumerate(case.rows):
        found = scaled.row(i)
        if isinstance(found, dict):
            found = tuple(found.get(j, 0.0) for j in range(len(row)))
        assert found == witness.unit(row)
    assert (scaled.n, scaled.d, scaled.kind) == (len(case.rows), len(case.rows[0]), kind)


@pytest.mark.spec("KM-COSROWS")
def test_lengths_beyond_the_doubles() -> None:
    assert unit_rows(dataset([[1.7e308, -1.7e308]])).row(0) == (0.5**0.5, -(0.5**0.5))
    assert unit_rows(dataset([[5e-324, 0.0, -5e-324]])).row(0) == (0.5**0.5, 0.0, -(0.5**0.5))
    assert unit_rows(dataset([[3e-320, 4e-320]])).row(0) == (0.6, 0.8)
    assert unit_rows(dataset([[1e308, 5e-324]])).row(0) == (1.0, 0.0)


@pytest.mark.spec("KM-COSROWS")
def test_a_zero_row_has_no_direction() -> None:
    for zero in ([0.0, -0.0], [0, 0]):
        with pytest.raises(ZeroVector, match="row 1") as caught:
            unit_rows(dataset([[1, 2], zero]))
        assert caught.value.code == "zero-vector"
    with pytest.raises(ZeroVector, match="row b"):
        unit_rows(dataset([{"x": 1}, {}], ids="ab"))


@pytest.mark.spec("KM-COSROWS")
def test_what_is_known_about_the_rows_is_kept() -> None:
    data = dataset([[3, 4], [0, 2]], ids="ab", features="xy", labels=[1, 2], weights=[1, 2])
    scaled = unit_rows(data)
    assert (scaled.ids, scaled.features, scaled.labels) == (data.ids, data.features, data.labels)
    assert scaled.weights == data.weights
    assert data.row(0) == (3.0, 4.0)


@pytest.mark.spec("KM-COSROWS")
def test_singles_become_doubles() -> None:
    scaled = unit_rows(dataset(numpy.array([[0.1, 0.2]], dtype=numpy.float32)))
    assert scaled.matrix.values.format == "d"
    singles = array("f", [0.1, 0.2])
    assert scaled.row(0) == witness.unit((singles[0], singles[1]))
    assert math.hypot(*scaled.row(0)) == 1.0
