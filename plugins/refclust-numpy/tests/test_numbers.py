"""Exact sums in limbs, and the nearest doubles decided from double-double."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refclust_numpy.exact.floats import lowest_bit, two_product, two_square, two_sum
from refclust_numpy.exact.limbs import Bins, Grid, totals
from refclust_numpy.rows import Rows

from refclust.data.accepting.door import dataset

ordinary = st.floats(-1e280, 1e280)
middling = st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) > 1e-100)


@given(st.lists(st.tuples(st.integers(0, 2), ordinary), max_size=30))
def test_sums_by_group_are_exact(pairs: list[tuple[int, float]]) -> None:
    bins = Bins(Grid.of(931, len(pairs)), 3)
    bins.add(np.array([g for g, _ in pairs], dtype=np.intp), np.array([x for _, x in pairs]))
    due = [sum((Fraction(x) for g, x in pairs if g == group), Fraction(0)) for group in range(3)]
    assert list(bins.fractions()) == due
    assert [Fraction(*bins.cell(k)[:1], 1 << bins.cell(k)[1]) for k in range(3)] == due


@given(st.lists(st.lists(ordinary, min_size=4, max_size=4), min_size=1, max_size=5))
def test_sums_of_rows_are_exact(rows: list[list[float]]) -> None:
    groups = np.repeat(np.arange(len(rows)), 4)
    due = [sum(map(Fraction, row)) for row in rows]
    assert list(totals([np.array(rows).reshape(-1)], groups, len(rows))) == due
    bins = Bins(Grid.of(931, 4), len(rows))
    bins.add_rows(np.arange(len(rows)), np.array(rows))
    assert list(bins.fractions()) == due


@given(st.lists(middling, min_size=1, max_size=20), st.lists(middling, min_size=20, max_size=20))
def test_sums_and_products_lose_nothing(first: list[float], second: list[float]) -> None:
    a, b = np.array(first), np.array(second[: len(first)])
    exact = list(zip(map(Fraction, first), map(Fraction, b.tolist()), strict=True))
    high, low = two_sum(a, b)
    assert [Fraction(h) + Fraction(e) for h, e in zip(high, low, strict=True)] == [
        x + y for x, y in exact
    ]
    high, low = two_product(a, b)
    assert [Fraction(h) + Fraction(e) for h, e in zip(high, low, strict=True)] == [
        x * y for x, y in exact
    ]
    high, low = two_square(a)
    assert [Fraction(h) + Fraction(e) for h, e in zip(high, low, strict=True)] == [
        x * x for x, _ in exact
    ]


def test_the_lowest_bit() -> None:
    assert lowest_bit(np.array([0.0, 1.0, 6.0])) == 0
    assert lowest_bit(np.array([0.75, 1024.0])) == -2
    assert lowest_bit(np.array([5e-324])) == -1074
    assert lowest_bit(np.array([1 + 2.0**-52])) == -52
    assert lowest_bit(np.array([0.0])) is None


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_smallest_number_but_zero(kind: type) -> None:
    tiny = float(np.nextafter(kind(0), kind(1)))
    for row in ([0.0, -3.0, 2.0], [-0.0, 1.5, 1e30], [tiny, -1.0, 0.0], [1.0, -tiny, 2.0]):
        due = min(abs(float(x)) for x in row if x)
        assert Rows(dataset(np.array([row], dtype=kind))).smallest == float(kind(due))
    assert Rows(dataset(np.zeros((2, 2), dtype=kind))).smallest == np.inf
