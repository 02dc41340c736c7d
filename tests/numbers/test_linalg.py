"""Triangular factors against exact rationals, each within the bound derived in ``linalg.py``.

SLACK covers the terms of order u**2 that the derivations leave out.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq, fmpq_mat
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from refclust.numbers.linalg import (
    ExactMatrix,
    Matrix,
    NotPositive,
    cholesky,
    exact_determinant,
    exact_inverse,
    inverse_lower,
    log_determinant,
)

U = Fraction(1, 2**53)
SLACK = 1 + Fraction(1, 2**20)

entries = st.integers(-1000, 1000)


@st.composite
def tables(draw: st.DrawFn, most: int = 5) -> list[list[int]]:
    """Columns of integers, whose scatter matrix has no rounding."""
    columns = draw(st.integers(1, most))
    line = st.lists(entries, min_size=columns, max_size=columns)
    return draw(st.lists(line, min_size=columns, max_size=columns + 4))


def scatter(rows: list[list[int]]) -> Matrix:
    """The sums of products of the columns."""
    columns = list(zip(*rows, strict=True))
    return tuple(
        tuple(float(sum(x * y for x, y in zip(a, b, strict=True))) for b in columns)
        for a in columns
    )


def exact(matrix: Matrix) -> ExactMatrix:
    """The same numbers as fractions."""
    return tuple(tuple(map(Fraction, row)) for row in matrix)


def product(left: Any, right: Any) -> list[list[Fraction]]:
    """The product of two matrices of fractions."""
    columns = list(zip(*right, strict=True))
    return [
        [sum((x * y for x, y in zip(row, column, strict=True)), Fraction()) for column in columns]
        for row in left
    ]


def absolute(matrix: ExactMatrix) -> ExactMatrix:
    """The absolute values."""
    return tuple(tuple(map(abs, row)) for row in matrix)


def factor_or_none(matrix: Matrix) -> Matrix | None:
    """The Cholesky factor, if there is one."""
    try:
        return cholesky(matrix)
    except NotPositive:
        return None


@pytest.mark.spec("LIN-CHOL")
@settings(max_examples=60)
@given(tables())
def test_cholesky_multiplies_back(rows: list[list[int]]) -> None:
    matrix = scatter(rows)
    lower = factor_or_none(matrix)
    assume(lower is not None)
    assert lower is not None
    back = product(exact(lower), zip(*exact(lower), strict=True))
    for i, row in enumerate(matrix):
        assert lower[i][i] > 0
        assert not any(lower[i][i + 1 :])
        for j, entry in enumerate(row):
            size = Fraction(math.sqrt(matrix[i][i] * matrix[j][j]))
            assert abs(back[i][j] - Fraction(entry)) <= 3 * U * SLACK * size


@pytest.mark.spec("LIN-CHOL")
@settings(max_examples=60)
@given(tables(), st.integers(-100, 100), st.data())
def test_cholesky_scales_exactly(rows: list[list[int]], e: int, data: st.DataObject) -> None:
    matrix = scatter(rows)
    lower = factor_or_none(matrix)
    exponents = [e + data.draw(st.integers(-30, 30)) for _ in matrix]
    scaled = tuple(
        tuple(math.ldexp(x, a + b) for x, b in zip(row, exponents, strict=True))
        for row, a in zip(matrix, exponents, strict=True)
    )
    expected = None
    if lower is not None:
        expected = tuple(
            tuple(math.ldexp(x, a) for x in row) for row, a in zip(lower, exponents, strict=True)
        )
    assert factor_or_none(scaled) == expected


@pytest.mark.spec("LIN-CHOL")
@settings(max_examples=60)
@given(tables(4), st.data())
def test_a_dependent_column_is_refused(rows: list[list[int]], data: st.DataObject) -> None:
    size = len(rows[0])
    signs = data.draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=size, max_size=size))
    longer = [[*row, sum(s * x for s, x in zip(signs, row, strict=True))] for row in rows]
    matrix = scatter(longer)
    # Coefficients for columns of length 1: the derivation wants them to be at most 1.
    assume(all(s == 0 or matrix[j][j] <= matrix[size][size] for j, s in enumerate(signs)))
    with pytest.raises(NotPositive) as caught:
        cholesky(matrix)
    assert caught.value.column <= size
    assert caught.value.entry == matrix[caught.value.column][caught.value.column]


@pytest.mark.spec("LIN-CHOL")
@pytest.mark.parametrize(
    ("matrix", "column", "pivot"),
    [
        (((0.0,),), 0, 0.0),
        (((-1.0,),), 0, -1.0),
        (((1.0, 0.0), (0.0, 0.0)), 1, 0.0),
        (((1.0, 2.0), (2.0, 1.0)), 1, -3.0),
        (((1.0, 1.0), (1.0, 1.0 + 2.0**-48)), 1, 2.0**-48),  # 32 units in the last place
    ],
)
def test_the_first_bad_pivot_is_named(matrix: Matrix, column: int, pivot: float) -> None:
    with pytest.raises(NotPositive, match=f"column {column}") as caught:
        cholesky(matrix)
    assert (caught.value.column, caught.value.pivot) == (column, pivot)


@pytest.mark.spec("LIN-CHOL")
def test_just_above_the_threshold() -> None:
    matrix = ((1.0, 1.0), (1.0, 1.0 + 2.0**-47))
    assert cholesky(matrix)[1][1] == math.sqrt(2.0**-47)


@pytest.mark.spec("LIN-INV")
@settings(max_examples=60)
@given(tables())
def test_inverse_of_the_factor(rows: list[list[int]]) -> None:
    lower = factor_or_none(scatter(rows))
    assume(lower is not None)
    assert lower is not None
    inverse = inverse_lower(lower)
    back = product(exact(lower), exact(inverse))
    most = product(absolute(exact(lower)), absolute(exact(inverse)))
    for i, row in enumerate(back):
        assert not any(inverse[i][i + 1 :])
        for j, entry in enumerate(row):
            assert abs(entry - (i == j)) <= 3 * U * SLACK * most[i][j]


@pytest.mark.spec("LIN-CHOL")
@settings(max_examples=60)
@given(tables())
def test_log_determinant(rows: list[list[int]]) -> None:
    lower = factor_or_none(scatter(rows))
    assume(lower is not None)
    assert lower is not None
    # Each logarithm errs by 2u of itself, their sum by u; the last product is exact.
    bound = 3 * 2.0**-53 * sum(2 * abs(math.log(row[j])) for j, row in enumerate(lower))
    with mp.workdps(60):
        value = mp.log(mp.fprod(mpf(row[j]) ** 2 for j, row in enumerate(lower)))
        assert abs(mpf(log_determinant(lower)) - value) <= bound * (1 + 2.0**-20)


fractions = st.fractions(-50, 50, max_denominator=20)


@pytest.mark.spec("LIN-EXACT")
@settings(max_examples=60)
@given(st.data(), st.integers(1, 4))
def test_exact_inverse_and_determinant(data: st.DataObject, size: int) -> None:
    line = st.lists(fractions, min_size=size, max_size=size)
    rows = data.draw(st.lists(line, min_size=size, max_size=size + 2))
    matrix = tuple(
        tuple(sum((r[i] * r[j] for r in rows), Fraction()) for j in range(size))
        for i in range(size)
    )
    peer = fmpq_mat(
        size, size, [fmpq(x.numerator, x.denominator) for row in matrix for x in row]
    ).det()
    determinant = Fraction(int(peer.p), int(peer.q))
    if determinant == 0:
        with pytest.raises(NotPositive) as caught:
            exact_inverse(matrix)
        assert caught.value.pivot == 0
        return
    assert exact_determinant(matrix) == determinant
    unit = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    assert product(matrix, exact_inverse(matrix)) == unit


@pytest.mark.spec("LIN-EXACT")
def test_exact_pivots_are_those_of_the_matrix_given() -> None:
    half = Fraction(1, 2)
    with pytest.raises(NotPositive) as caught:
        exact_determinant(((half, half), (half, Fraction(1, 3))))
    assert (caught.value.column, caught.value.pivot) == (1, Fraction(-1, 6))
