"""All distances of pairs: the condensed order, every kind of number, and refusals."""

from __future__ import annotations

from array import array
from typing import Any

import pytest

from refclust.data import vectors
from refclust.data.accepting.door import dataset
from refclust.errors import BadOption, NotFinite, ZeroVector
from refclust.kernels.distances import METRICS, one_minus_cosine, pairwise
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS

AWKWARD: list[list[float]] = [
    [0.1, 0.2, 0.3],
    [0.1 + 1e-17, 0.7, -0.3],
    [1e9 + 0.5, -1e-9, 3.0],
    [1e9, 2.0**-40, 3.0],
    [-7.0, 1 / 3, 1e6],
]


def of(rows: Any, metric: str) -> list[float]:
    return list(pairwise(Points(dataset(rows)), metric))


def sparse(rows: list[list[float]]) -> list[dict[int, float]]:
    return [dict(enumerate(row)) for row in rows]


@pytest.mark.spec("KER-PAIR")
def test_pairs_come_row_by_row() -> None:
    assert of([[0.0], [1.0], [3.0], [7.0]], "euclidean") == [1, 3, 7, 2, 6, 4]
    assert of([[0.0], [1.0], [3.0], [7.0]], "sqeuclidean") == [1, 9, 49, 4, 36, 16]
    assert of([[5.0]], "euclidean") == []


@pytest.mark.spec("KER-PAIR", "DIST-L2", "VEC-SQDIST")
@pytest.mark.parametrize("form", [list, sparse])
def test_entries_are_those_of_the_core(form: Any) -> None:
    rows = form(AWKWARD)
    pairs = [(x, y) for i, x in enumerate(rows) for y in rows[i + 1 :]]
    assert of(rows, "euclidean") == [vectors.distance(x, y) for x, y in pairs]
    assert of(rows, "sqeuclidean") == [vectors.squared_distance(x, y) for x, y in pairs]


@pytest.mark.spec("KER-PAIR")
@pytest.mark.parametrize("scale", [1e300, 1e160, 1e-160, 1e-300, 5e-324])
def test_sizes_beyond_the_fast_road(scale: float) -> None:
    rows = [[scale, 0.0], [0.0, scale * 2], [scale, 1.0]]
    pairs = [(x, y) for i, x in enumerate(rows) for y in rows[i + 1 :]]
    assert of(rows, "euclidean") == [vectors.distance(x, y) for x, y in pairs]
    if scale < 1e150:
        assert of(rows, "sqeuclidean") == [vectors.squared_distance(x, y) for x, y in pairs]
    else:
        with pytest.raises(NotFinite, match="row 0 and a row after it"):
            of(rows, "sqeuclidean")


def test_a_distance_beyond_the_doubles_is_refused() -> None:
    with pytest.raises(NotFinite, match="row 1 and a row after it"):
        of([[0.0, 0.0], [1.7e308, 0.0], [-1.7e308, 0.0]], "euclidean")


def test_singles_are_read_as_the_doubles_they_are() -> None:
    singles = memoryview(array("f", [0.1, 0.7])).cast("B").cast("f", (2, 1))
    a, b = array("f", [0.1, 0.7])
    assert of(singles, "euclidean") == [vectors.distance([a], [b])]


def test_rows_without_anything_in_common() -> None:
    rows = [{"a": 3.0}, {"b": 4.0}, {}]
    assert of(rows, "euclidean") == [5.0, 3.0, 4.0]


@pytest.mark.spec("DIST-COS")
@pytest.mark.parametrize("form", [list, sparse])
def test_cosine_distances(form: Any) -> None:
    rows = form([[3.0, 4.0], [4.0, 3.0], [6.0, 8.0], [-3.0, -4.0], [-4.0, 3.0]])
    assert of(rows, "cosine") == [0.04, 0.0, 2.0, 1.0, 0.04, 1.96, 1.28, 2.0, 1.0, 1.0]


@pytest.mark.spec("DIST-COS")
def test_one_minus_a_rounded_cosine_is_not_good_enough() -> None:
    x, y = [1e8, 2e8], [1e8, 2e8 + 1]
    assert 1 - vectors.cosine(x, y) == 0.0
    (value,) = of([x, y], "cosine")
    # sin^2 / (1 + cos) with sin^2 = (x1 y2 - x2 y1)^2 / (|x|^2 |y|^2): about 1e16 / 5e33 / 5 / 2.
    assert 1.9e-18 < value < 2.1e-18


@pytest.mark.spec("DIST-COS")
def test_a_cosine_that_needs_more_bits_at_once() -> None:
    # 1 - c is so close to the midpoint 1/2 + 2**-54 between doubles that the first try fails:
    # product / sqrt(squares) = 1/2 - 2**-54 - tiny.
    product, root = 2**200 - 2**147, 2**201
    assert one_minus_cosine(product, root * root) == 0.5  # exactly the midpoint: to even
    assert one_minus_cosine(product, root * root + 1) == 0.5 + 2.0**-53
    assert one_minus_cosine(product, root * root - 1) == 0.5


def test_refusals() -> None:
    with pytest.raises(ZeroVector, match="row 1 is the zero vector"):
        of([[1.0], [0.0]], "cosine")
    with pytest.raises(BadOption, match="metric='l1'; allowed: euclidean, sqeuclidean, cosine"):
        of([[1.0], [0.0]], "l1")


def test_registered_with_its_contract() -> None:
    kernel = KERNELS["distances.pairwise"]
    assert kernel.reference is pairwise
    for metric in METRICS:
        answer = pairwise(Points(dataset(AWKWARD)), metric)
        assert kernel.contract.fault(answer, answer) is None
        assert kernel.contract.fault(answer, answer[:-1]) is not None
