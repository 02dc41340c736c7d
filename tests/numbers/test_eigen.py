"""Axes of symmetric matrices, within the bound of LIN-EIG: 20u |A| for each of R rotations.

Small matrices take at most 10 sweeps of d (d - 1) / 2 rotations, so 100 d^2 u |A| holds, with the
Frobenius norm; what is compared is computed in exact rationals.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import eigsy, matrix, mp

from refclust.numbers.eigen import composed, congruent, joint_axes, rotate, symmetric_eigen, turn
from refclust.numbers.linalg import Matrix
from tests.numbers.test_linalg import exact, product, scatter, tables


def most(given_matrix: Matrix) -> float:
    """The bound, also for values of which one norm is enough."""
    norm = math.hypot(*(x for row in given_matrix for x in row))
    return float(100 * len(given_matrix) ** 2 * 2.0**-53 * norm)


@st.composite
def symmetric(draw: st.DrawFn) -> Matrix:
    """Any symmetric matrix of doubles of ordinary size."""
    size = draw(st.integers(1, 5))
    numbers = st.floats(-100, 100, allow_subnormal=False) | st.integers(-3, 3).map(float)
    lower = [draw(st.lists(numbers, min_size=i + 1, max_size=i + 1)) for i in range(size)]
    return tuple(tuple(lower[max(i, j)][min(i, j)] for j in range(size)) for i in range(size))


@pytest.mark.spec("LIN-EIG")
@settings(max_examples=80)
@given(symmetric())
def test_eigenvectors(given_matrix: Matrix) -> None:
    found = symmetric_eigen(given_matrix)
    size = len(given_matrix)
    assert list(found.values) == sorted(found.values, reverse=True)
    vectors = exact(found.vectors)
    columns = list(zip(*vectors, strict=True))
    for column in columns:
        assert max(column, key=abs) > 0
    gram = product(columns, vectors)
    image = product(exact(given_matrix), vectors)
    bound = Fraction(most(given_matrix))
    for i in range(size):
        for j in range(size):
            assert abs(gram[i][j] - (i == j)) <= 100 * size**2 * Fraction(1, 2**53)
            assert abs(image[i][j] - vectors[i][j] * Fraction(found.values[j])) <= bound


@pytest.mark.spec("LIN-EIG")
@given(symmetric(), st.floats(-1, 1), st.data())
def test_a_rotation_turns_rows_and_mirrors_them(
    given_matrix: Matrix, tangent: float, data: st.DataObject
) -> None:
    """To the last bit: the columns of all other rows are turned, both rows are their mirror."""
    size = len(given_matrix)
    assume(size > 1)
    p, q = sorted(data.draw(st.permutations(range(size)))[:2])
    work = [list(row) for row in given_matrix]
    rotate(work, p, q, tangent)
    due = [list(row) for row in given_matrix]
    others = [i for i in range(size) if i not in (p, q)]
    turn([due[i] for i in others], p, q, tangent)
    for i in others:
        assert work[i] == due[i]
        assert (work[p][i], work[q][i]) == (due[i][p], due[i][q])
    a, b, off = given_matrix[p][p], given_matrix[q][q], given_matrix[p][q]
    cosine = 1 / math.hypot(1, tangent)
    sine = tangent * cosine
    change = sine * (sine * (b - a) - 2 * cosine * off)
    assert (work[p][p], work[q][q]) == (a + change, b - change)
    assert work[p][q] == work[q][p]


@pytest.mark.spec("LIN-EIG")
@settings(max_examples=30)
@given(symmetric())
def test_eigenvalues_of_a_peer(given_matrix: Matrix) -> None:
    with mp.workdps(40):
        values = sorted(eigsy(matrix(list(map(list, given_matrix))), eigvals_only=True))
        for ours, theirs in zip(symmetric_eigen(given_matrix).values, values[::-1], strict=True):
            assert abs(ours - theirs) <= most(given_matrix)


@pytest.mark.spec("LIN-EIG")
@settings(max_examples=40)
@given(symmetric(), st.integers(-60, 60))
def test_eigen_scales_exactly(given_matrix: Matrix, e: int) -> None:
    scaled = tuple(tuple(math.ldexp(x, e) for x in row) for row in given_matrix)
    one, other = symmetric_eigen(given_matrix), symmetric_eigen(scaled)
    # An entry of 1e-300 would leave the normal range; the strategy has zeros, but none of those.
    if all(x == 0 or abs(x) > 1e-100 for row in given_matrix for x in row):
        assert other.vectors == one.vectors
        assert other.values == tuple(math.ldexp(x, e) for x in one.values)


@pytest.mark.spec("LIN-EIG")
def test_equal_diagonal_entries() -> None:
    found = symmetric_eigen(((2.0, 1.0), (1.0, 2.0)))
    half = math.sqrt(0.5)
    assert found.values == pytest.approx((3.0, 1.0), rel=2**-50)
    assert [abs(x) for row in found.vectors for x in row] == pytest.approx([half] * 4, rel=2**-50)


@pytest.mark.spec("LIN-EIG")
@settings(max_examples=40)
@given(symmetric())
def test_taken_apart_and_put_together(given_matrix: Matrix) -> None:
    found = symmetric_eigen(given_matrix)
    back = composed(found.vectors, found.values)
    along = congruent(given_matrix, found.vectors)
    bound = 2 * most(given_matrix)
    for i, row in enumerate(given_matrix):
        for j, entry in enumerate(row):
            assert abs(back[i][j] - entry) <= bound
            assert abs(along[i][j] - (found.values[i] if i == j else 0.0)) <= bound
            assert (back[i][j], along[i][j]) == (back[j][i], along[j][i])


@pytest.mark.spec("LIN-JOINT")
@settings(max_examples=30)
@given(tables(4), st.data())
def test_common_axes_are_found(rows: list[list[int]], data: st.DataObject) -> None:
    axes = symmetric_eigen(scatter(rows)).vectors
    size = len(axes)
    powers = st.lists(st.integers(-4, 4), min_size=size, max_size=size)
    family = [
        composed(axes, [2.0**e for e in exponents])
        for exponents in data.draw(st.lists(powers, min_size=1, max_size=4))
    ]
    found = joint_axes(family)
    for member in family:
        along = congruent(member, found)
        for i in range(size):
            for j in range(i):
                # An entry is left alone 2**-48 below the diagonal entries beside it; rounding of
                # the rotations comes to the same order, for a family as well-conditioned as this.
                assert abs(along[i][j]) <= 2.0**-40 * math.sqrt(along[i][i] * along[j][j])


@pytest.mark.spec("LIN-JOINT")
def test_joint_axes_do_not_depend_on_order_or_units() -> None:
    family = [
        ((4.0, 1.0, 0.5), (1.0, 3.0, 0.25), (0.5, 0.25, 1.0)),
        ((2.0, -0.5, 0.0), (-0.5, 5.0, 1.0), (0.0, 1.0, 1.5)),
    ]
    found = joint_axes(family)
    assert joint_axes(family[::-1]) == found
    larger = tuple(tuple(1024 * x for x in row) for row in family[0])
    assert joint_axes([larger, family[1]]) == found
