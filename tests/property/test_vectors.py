"""Vectors on hostile numbers, bit for bit against exact rationals, flint balls and mpmath."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from refclust.data.vectors import (
    cosine,
    distance,
    distance_matrix,
    dot,
    norm,
    similarity_matrix,
    squared_distance,
)
from refclust.errors import NotFinite
from tests.metrics.strategies import some
from tests.numbers.witness import OVERFLOW, flint_root_agrees, is_nearest, is_nearest_root

Number = int | float | Fraction
Dense = list[Number]
Sparse = dict[str, Number]

subnormal = st.floats(-1e-307, 1e-307)
huge = st.floats(1e300, allow_infinity=False) | st.floats(max_value=-1e300, allow_infinity=False)
offset = st.builds(
    lambda base, step: base + step,
    st.sampled_from([1e3, 1e6, 1e8, -1e8, 1e9, 1e15]),
    st.floats(-1, 1),
)
plain = st.floats(-10, 10) | st.integers(-5, 5)
rationals = st.fractions(max_denominator=1000)
numbers: st.SearchStrategy[Number] = (
    plain | offset | subnormal | huge | rationals | st.integers(-(2**80), 2**80)
)

moderate: st.SearchStrategy[Number] = plain | offset | rationals
WORDS = ["a", "b", "c", "d", "e", "f", "é", "Z"]


def pairs(of: st.SearchStrategy[Number] = numbers) -> st.SearchStrategy[tuple[Dense, Dense]]:
    """Two dense vectors of the same length; near-parallel and orthogonal ones come up often."""
    rows = st.lists(st.tuples(of, of), max_size=6).map(
        lambda rows: ([x for x, _ in rows], [y for _, y in rows])
    )
    return rows | rows.map(lambda pair: (pair[0], list(pair[0])))


def sparse_pairs(
    of: st.SearchStrategy[Number] = numbers,
) -> st.SearchStrategy[tuple[Sparse, Sparse]]:
    one = st.dictionaries(st.sampled_from(WORDS), of)
    return st.tuples(one, one)


def exact_dot(x: Dense, y: Dense) -> Fraction:
    total = Fraction(0)
    for a, b in zip(x, y, strict=True):
        total += Fraction(a) * Fraction(b)
    return total


def exact_gap(x: Dense, y: Dense) -> Fraction:
    total = Fraction(0)
    for a, b in zip(x, y, strict=True):
        total += (Fraction(a) - Fraction(b)) ** 2
    return total


def judge(call: Callable[[], float], overflows: bool, right: Callable[[float], bool]) -> None:
    """The result passes the witness, or the exact value is beyond the doubles."""
    if overflows:
        with pytest.raises(NotFinite):
            call()
    else:
        assert right(call())


@pytest.mark.spec("VEC-DOT")
@some(150)
@given(pairs())
def test_dot_is_nearest(pair: tuple[Dense, Dense]) -> None:
    x, y = pair
    value = exact_dot(x, y)
    judge(lambda: dot(x, y), abs(value) >= OVERFLOW, lambda d: is_nearest(d, value))


@pytest.mark.spec("VEC-NORM")
@some(150)
@given(pairs())
def test_norm_is_nearest(pair: tuple[Dense, Dense]) -> None:
    x, _ = pair
    square = exact_dot(x, x)
    judge(lambda: norm(x), square >= OVERFLOW**2, lambda d: is_nearest_root(d, square))


@pytest.mark.spec("VEC-SQDIST", "DIST-L2")
@some(150)
@given(pairs())
def test_distances_are_nearest(pair: tuple[Dense, Dense]) -> None:
    x, y = pair
    gap = exact_gap(x, y)
    judge(lambda: squared_distance(x, y), gap >= OVERFLOW, lambda d: is_nearest(d, gap))
    judge(lambda: distance(x, y), gap >= OVERFLOW**2, lambda d: is_nearest_root(d, gap))


@pytest.mark.spec("SIM-COS")
@some(150)
@given(pairs())
def test_cosine_is_nearest(pair: tuple[Dense, Dense]) -> None:
    x, y = pair
    product, squares = exact_dot(x, y), exact_dot(x, x) * exact_dot(y, y)
    assume(squares)
    value = cosine(x, y)
    assert is_nearest_root(abs(value), product**2 / squares)
    # A cosine too small for a double is zero; every other has the sign of the product.
    assert value == 0 or (value > 0) == (product > 0)


@pytest.mark.spec("VEC-NORM", "DIST-L2", "SIM-COS")
@some(100)
@given(pairs(moderate))
def test_flint_agrees(pair: tuple[Dense, Dense]) -> None:
    x, y = pair
    gap, squares = exact_gap(x, y), exact_dot(x, x) * exact_dot(y, y)
    assert flint_root_agrees(norm(x), exact_dot(x, x))
    assert flint_root_agrees(distance(x, y), gap)
    assume(squares)
    assert flint_root_agrees(abs(cosine(x, y)), exact_dot(x, y) ** 2 / squares)


@pytest.mark.spec("VEC-DOT", "DIST-L2", "SIM-COS")
@some(100)
@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)), min_size=1, max_size=6))
def test_mpmath_agrees(rows: list[tuple[float, float]]) -> None:
    x, y = [a for a, _ in rows], [b for _, b in rows]
    # Sums and products of these doubles are exact in 6000 bits; a root is off by 2**-6000 and
    # could be rounded wrongly only beside a midpoint. mpmath rounds to 53 bits without regard to
    # the subnormal range, where the other witnesses judge.
    assume(all(v == 0 or abs(v) > 1e-60 for v in x + y))
    with mpmath.workprec(6000):
        mx, my = [mpmath.mpf(v) for v in x], [mpmath.mpf(v) for v in y]
        product = mpmath.fdot(mx, my)
        gap = mpmath.sqrt(mpmath.fsum((a - b) ** 2 for a, b in zip(mx, my, strict=True)))
        size = mpmath.sqrt(mpmath.fdot(mx, mx) * mpmath.fdot(my, my))
        angle = product / size if size else None
    assert dot(x, y) == float(product)
    assert distance(x, y) == float(gap)
    if angle is not None:
        assert cosine(x, y) == float(angle)


@pytest.mark.spec("VEC-DOT", "VEC-NORM", "VEC-SQDIST", "DIST-L2", "SIM-COS", "REP-VEC")
@some(80)
@given(sparse_pairs(moderate))
def test_sparse_equals_dense(pair: tuple[Sparse, Sparse]) -> None:
    x, y = pair
    dense_x, dense_y = [x.get(w, 0) for w in WORDS], [y.get(w, 0) for w in WORDS]
    assert dot(x, y) == dot(dense_x, dense_y)
    assert norm(x) == norm(dense_x)
    assert squared_distance(x, y) == squared_distance(dense_x, dense_y)
    assert distance(x, y) == distance(dense_x, dense_y)
    if any(x.values()) and any(y.values()):
        assert cosine(x, y) == cosine(dense_x, dense_y)


def outcome(function: Callable[..., Any], *args: Any) -> object:
    """The result, or that it is beyond the doubles."""
    try:
        return function(*args)
    except NotFinite:
        return NotFinite


@pytest.mark.spec("REP-VEC", "VEC-DOT", "DIST-L2", "SIM-COS")
@some(80)
@given(sparse_pairs(), st.integers(0, 2**32))
def test_the_order_of_keys_does_not_matter(pair: tuple[Sparse, Sparse], seed: int) -> None:
    def reordered(vector: Sparse) -> Sparse:
        items = list(vector.items())
        random.Random(seed).shuffle(items)
        return dict(items)

    x, y = pair
    functions = [dot, squared_distance, distance]
    if any(x.values()) and any(y.values()):
        functions.append(cosine)
    for function in functions:
        assert outcome(function, x, y) == outcome(function, reordered(x), reordered(y))
    assert outcome(norm, x) == outcome(norm, reordered(x))


@pytest.mark.spec("VEC-DOT", "VEC-SQDIST", "DIST-L2", "SIM-COS")
@some(80)
@given(pairs(), st.integers(0, 2**32))
def test_symmetry_and_order_of_components(pair: tuple[Dense, Dense], seed: int) -> None:
    x, y = pair
    places = list(range(len(x)))
    random.Random(seed).shuffle(places)
    moved_x, moved_y = [x[i] for i in places], [y[i] for i in places]
    functions = [dot, squared_distance, distance]
    if any(x) and any(y):
        functions.append(cosine)
    for function in functions:
        result = outcome(function, x, y)
        assert outcome(function, y, x) == result
        assert outcome(function, moved_x, moved_y) == result


@pytest.mark.spec("PROP-COS-1", "SIM-COS")
@some(80)
@given(
    pairs(),
    st.fractions(min_value=0, max_denominator=10**6).filter(bool),
    st.fractions(min_value=0, max_denominator=10**6).filter(bool),
)
def test_cosine_does_not_see_lengths(pair: tuple[Dense, Dense], a: Fraction, b: Fraction) -> None:
    x, y = pair
    assume(any(x) and any(y))
    # Exact multiples: a float times a rational is taken as a rational.
    scaled_x, scaled_y = [a * Fraction(v) for v in x], [b * Fraction(v) for v in y]
    assert cosine(scaled_x, scaled_y) == cosine(x, y)


@pytest.mark.spec("SIM-COS")
@some(80)
@given(pairs())
def test_cauchy_schwarz(pair: tuple[Dense, Dense]) -> None:
    x, y = pair
    assume(any(x) and any(y))
    assert -1.0 <= cosine(x, y) <= 1.0
    assert cosine(x, x) == 1.0
    assert cosine(x, [-Fraction(v) for v in x]) == -1.0
    assert cosine([-Fraction(v) for v in x], y) == -cosine(x, y)


matrices = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.lists(moderate, min_size=d, max_size=d), min_size=1, max_size=5)
)


@pytest.mark.spec("DIST-MAT", "DIST-L2")
@some(80)
@given(matrices, st.integers(0, 2**32))
def test_distance_matrix(rows: list[Dense], seed: int) -> None:
    matrix = distance_matrix(rows)
    indices = range(len(rows))
    assert matrix == tuple(tuple(distance(rows[i], rows[j]) for j in indices) for i in indices)
    assert all(matrix[i][i] == 0.0 for i in indices)
    assert all(matrix[i][j] == matrix[j][i] >= 0 for i in indices for j in indices)
    places = list(indices)
    random.Random(seed).shuffle(places)
    assert distance_matrix([rows[i] for i in places]) == tuple(
        tuple(matrix[i][j] for j in places) for i in places
    )


@pytest.mark.spec("SIM-MAT", "SIM-COS")
@some(80)
@given(matrices, st.integers(0, 2**32))
def test_similarity_matrix(rows: list[Dense], seed: int) -> None:
    assume(all(any(row) for row in rows))
    matrix = similarity_matrix(rows)
    indices = range(len(rows))
    assert matrix == tuple(tuple(cosine(rows[i], rows[j]) for j in indices) for i in indices)
    assert all(matrix[i][i] == 1.0 for i in indices)
    assert all(matrix[i][j] == matrix[j][i] for i in indices for j in indices)
    places = list(indices)
    random.Random(seed).shuffle(places)
    assert similarity_matrix([rows[i] for i in places]) == tuple(
        tuple(matrix[i][j] for j in places) for i in places
    )


@pytest.mark.spec("DIST-MAT", "SIM-MAT")
@some(80)
@given(st.lists(st.dictionaries(st.sampled_from(WORDS), moderate), min_size=1, max_size=4))
def test_sparse_matrices_equal_dense_ones(rows: list[Sparse]) -> None:
    dense = [[row.get(w, 0) for w in WORDS] for row in rows]
    assert distance_matrix(rows) == distance_matrix(dense)
    if all(any(row.values()) for row in rows):
        assert similarity_matrix(rows) == similarity_matrix(dense)


@pytest.mark.spec("DIST-L2")
@some(80)
@given(pairs(st.integers(-(10**6), 10**6)), st.sampled_from([10**3, 10**6, 10**8, 2**52]))
def test_a_common_offset_changes_nothing(pair: tuple[Dense, Dense], shift: int) -> None:
    x, y = pair
    # 2**52 + 10**6 is below 2**53: integers of that size are doubles.
    moved_x, moved_y = [float(v + shift) for v in x], [float(v + shift) for v in y]
    assert distance(moved_x, moved_y) == distance(x, y)
    assert squared_distance(moved_x, moved_y) == squared_distance(x, y)
