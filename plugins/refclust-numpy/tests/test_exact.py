"""Exact sums of mixtures and exact masses: the reference's rationals, whatever the numbers."""

from __future__ import annotations

from array import array
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from refclust_numpy.exact import moments
from refclust_numpy.rows import Rows
from support import NUMPY

from refclust.data.dataset import Dataset, dense, readonly, sparse
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS


def rows_of(n: int, d: int, seed: int, *, scale: float = 1.0, weights: Any = None) -> Dataset:
    rng = np.random.default_rng(seed)
    values = array("d", (scale * rng.normal(size=n * d)).tolist())
    known = {} if weights is None else {"weights": readonly(array("d", weights))}
    return dense(values, d, **known)


def both(kernel: str, data: Dataset, *args: Any) -> tuple[Any, Any]:
    """The reference's answer and ours."""
    return KERNELS[kernel].reference(Points(data), *args), NUMPY[kernel](Rows(data), *args)


def shares_of(n: int, k: int, seed: int, *, deep: bool = False) -> array[float]:
    rng = np.random.default_rng(seed)
    q = rng.dirichlet(np.ones(k), size=n)
    if deep:  # as posteriors far from every other component are, down to the least doubles
        q = q * 2.0 ** -rng.integers(0, 1080, size=(n, k)).astype(float)
    return array("d", q.reshape(-1).tolist())


@pytest.mark.spec("KER-EXACTMOMENTS")
@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300, 2.0**-1074 * 1e5])
@pytest.mark.parametrize("spread", ["full", "diagonal"])
def test_moments_of_all_sizes(spread: str, scale: float, deep: bool) -> None:
    weights = [1e300, 5e-324, 0.0, 0.1, 1.0, 2.5] * 10
    data = rows_of(60, 3, 1, scale=scale, weights=weights)
    around = CentreMatrix.of([(scale, 0.0, -scale), (0.1, 0.2, 1e-5)])
    labels = array("i", (i % 3 - 1 for i in range(60)))
    for q in (shares_of(60, 2, 2, deep=deep), labels):
        due, ours = both("gaussian.exact_moments", data, q, 2, around, spread)
        assert ours == due


@pytest.mark.spec("KER-EXACTMOMENTS")
def test_moments_of_more_rows_than_a_block_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    data = rows_of(700, 2, 3)
    q = shares_of(700, 2, 4)
    around = CentreMatrix.of([(1e9, 0.5), (0.0, -1.0)])
    whole = both("gaussian.exact_moments", data, q, 2, around, "full")[1]
    monkeypatch.setattr(moments, "_ROWS", 64)
    due, ours = both("gaussian.exact_moments", data, q, 2, around, "full")
    assert whole == ours == due


@pytest.mark.spec("KER-EXACTMOMENTS")
def test_numbers_too_far_apart_are_left_to_the_reference() -> None:
    data = dense(array("d", [1e300, 1e-300, -3.0, 5e-324, 0.0, 1.0]), 2)
    around = CentreMatrix.of([(0.0, 0.5)])
    due, ours = both("gaussian.exact_moments", data, array("d", [0.5, 1.0, 1e-310]), 1, around,
                     "full")  # fmt: skip
    assert ours == due
    due, ours = both("multinomial.exact_tallies", data, array("d", [0.5, 1.0, 1e-310]), 1)
    assert ours == due


@pytest.mark.spec("KER-EXACTMOMENTS")
@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-320, 1e300])
def test_tallies_of_dense_and_sparse_rows(scale: float, deep: bool) -> None:
    rng = np.random.default_rng(5)
    weights = readonly(array("d", ([1e300, 5e-324, 0.0, 0.1, 1.0] * 10)))
    starts, columns, values = array("q", [0]), array("q"), array("d")
    for i in range(50):
        for j in sorted(rng.choice(9, size=i % 4, replace=False).tolist()):
            columns.append(j)
            values.append(scale * rng.integers(0, 5) / 3)  # some stored numbers are 0
        starts.append(len(values))
    words = sparse(starts, columns, values, 9, weights=weights)
    for data in (words, rows_of(50, 4, 6, scale=scale)):
        for q in (shares_of(50, 3, 7, deep=deep), array("i", (i % 4 - 1 for i in range(50)))):
            due, ours = both("multinomial.exact_tallies", data, q, 3)
            assert ours == due


@pytest.mark.spec("KER-MASS")
@pytest.mark.parametrize("by", ["squares", "distinct"])
@pytest.mark.parametrize("heaviest", [1.0, 1e308])
def test_masses_and_what_lies_beyond(by: str, heaviest: float) -> None:
    data = rows_of(3000, 2, 8, weights=[heaviest, 0.1, 0.0] * 1000)
    points = Points(data)
    before = KERNELS["seeding.potential"].reference(points, points.rows[5])
    for near in (None, before):
        due, ours = both("seeding.mass", data, near, by)
        assert ours == due
        [total] = due
        for passed in (Fraction(0), total / 3, total * Fraction(2999, 3000), total, total + 1):
            due, ours = both("seeding.beyond", data, near, passed, by)
            assert ours == due
        some = data.select(range(1000))
        cut = None if near is None else KERNELS["seeding.potential"].reference(
            Points(some), points.rows[5]
        )  # fmt: skip
        edge, _ = both("seeding.mass", some, cut, by)  # exactly at the end of a row
        for passed in (edge[0], edge[0] * (1 - Fraction(1, 2**90))):
            due, ours = both("seeding.beyond", data, near, passed, by)
            assert ours == due


def test_a_mass_no_double_holds() -> None:
    data = rows_of(10, 1, 9, scale=1e300)
    points = Points(data)
    near = KERNELS["seeding.potential"].reference(points, (0.0,))
    [total], ours = both("seeding.mass", data, near, "squares")
    assert ours == (total,)
    assert total > 2**1024
    due, row = both("seeding.beyond", data, near, total / 2, "squares")
    assert row == due
