"""Rows made ready: the integers over a power of two are the rows, to the last bit."""

from __future__ import annotations

from array import array
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.data.dataset import Dataset, Dense, dense, readonly
from refclust.kernels.points import Points, binary, grouped
from tests.cluster.strategies import EXTREME, KINDS, WILD_WEIGHTS, Case, cases
from tests.metrics.strategies import some


@pytest.mark.spec("NUM-NEAR")
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=6))
def test_binary_is_exact(values: list[float]) -> None:
    integers, shift = binary(values)
    assert [Fraction(i, 1 << shift) for i in integers] == [Fraction(x) for x in values]
    assert all(type(i) is int for i in integers)
    assert type(shift) is int


@pytest.mark.parametrize(
    "values",
    [
        [],
        [0.0, -0.0],
        [5e-324],
        [5e-324, 1.0],
        [-5e-324, 1.7976931348623157e308],
        [1.7976931348623157e308, 0.5],
        [2.0**970, 2.0**-53],
        [2.2250738585072014e-308, -2.225073858507201e-308],
        [0.1, 1e300, -0.0],
        [2.0**-1022, 2.0**-1074, 0.0],
        [1 - 2.0**-53, 2.0**-969],
        [1 - 2.0**-53, 2.0**-970],
        [1 - 2.0**-53, 2.0**-971],
    ],
)
def test_binary_of_the_extremes(values: list[float]) -> None:
    integers, shift = binary(values)
    assert [Fraction(i, 1 << shift) for i in integers] == [Fraction(x) for x in values]


@pytest.mark.spec("DATA-SET")
@some(25)
@given(cases(EXTREME, WILD_WEIGHTS), KINDS)
def test_floats_and_integers_are_the_rows(case: Case, kind: str) -> None:
    points = Points(case.data(kind))
    n, d = len(case.rows), len(case.rows[0])
    assert (points.n, points.d, points.dense) == (n, d, kind == "dense")
    assert [points.whole_row(i) for i in range(n)] == case.rows
    unit = Fraction(1, 1 << points.shift)
    for i, row in enumerate(case.rows):
        columns = range(d) if points.dense else points.columns[i]
        found = [Fraction()] * d
        for column, value in zip(columns, points.integers[i], strict=True):
            found[column] = value * unit
        assert found == [Fraction(x) for x in row]
        assert points.squares[i] * unit**2 == sum(Fraction(x) ** 2 for x in row)
        ones = points.product(i, [1] * d)
        assert ones * unit == sum(map(Fraction, row))
    weights = [Fraction(w, 1 << points.weight_shift) for w in points.weights]
    assert weights == [Fraction(w) for w in case.masses]
    assert points.weighted == (case.weights is not None)


def test_rows_are_tuples_of_plain_floats() -> None:
    points = Points(dense(array("d", [1, 2, 3, 4]), 2))
    assert points.rows == [(1.0, 2.0), (3.0, 4.0)]
    assert all(type(row) is tuple for row in points.rows)
    assert all(type(x) is float for row in points.rows for x in row)


def test_singles_are_the_doubles_they_stand_for() -> None:
    data = Dataset(Dense(readonly(array("f", [0.1, 0.5])), 2, 1))
    points = Points(data)
    assert points.rows == [(0.10000000149011612,), (0.5,)]
    assert Fraction(points.integers[0][0], 1 << points.shift) == Fraction(0.10000000149011612)


def test_groups_keep_the_order_of_their_items() -> None:
    assert grouped([1, 0, 1, 2], "abcd", 4) == [["b"], ["a", "c"], ["d"], []]
    with pytest.raises(ValueError, match=r"shorter|longer"):
        grouped([0, 1], "abc", 2)
