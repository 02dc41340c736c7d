"""Whitening matrices and traces of a Gaussian mixture (chapters 32 and 80)."""

from __future__ import annotations

import math
import random
from array import array
from fractions import Fraction
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refclust.kernels.mixtures.whitening import Traces, Whitens, traces, whitening
from refclust.kernels.registry import KERNELS
from refclust.numbers.argmin import ROUND
from refclust.testing.saboteurs.arithmetic.mixtures import in_singles
from tests.kernels import mixture_witness as witness
from tests.kernels.mixture_witness import judged

LINE, PLANE = witness.points_of([(0.0,)]), witness.points_of([(0.0, 0.0)])


def covariance(seed: int, d: int) -> list[list[float]]:
    """A symmetric matrix that is surely positive definite."""
    rng = random.Random(seed)
    root = [[rng.gauss(0, 1) for _ in range(d)] for _ in range(d)]
    return [
        [math.fsum(a * b for a, b in zip(one, two, strict=True)) + (i == j) / 8
         for j, two in enumerate(root)]
        for i, one in enumerate(root)
    ]  # fmt: skip


@pytest.mark.spec("GAU-PDF", "KER-WHITEN")
def test_exact_values() -> None:
    # L = (2 0; 1 3), so W = (1/2 0; -1/6 1/3).
    found = whitening(PLANE, array("d", [4, 2, 2, 10]), "full")
    assert found.tolist() == [0.5, 0.0, -1 / 6, 1 / 3]
    assert whitening(PLANE, array("d", [4, 0.25]), "diagonal").tolist() == [0.5, 2.0]
    assert whitening(PLANE, array("d", [4, 0.25, 0]), "spherical").tolist() == [0.5, 2.0, 0.0]
    assert traces(PLANE, array("d", [1, 2, 2, 5]), array("d", [1, 0, 3, 2]), "full")[0] == 54.0
    assert traces(PLANE, array("d", [1, 5]), array("d", [3, 2]), "diagonal")[0] == 29.0
    assert traces(PLANE, array("d", [1, 5]), array("d", [3]), "spherical")[0] == 54.0


@pytest.mark.spec("KER-WHITEN")
@pytest.mark.parametrize("bad", [[0, 0, 0, 0], [1, 2, 2, 1], [-1, 0, 0, 1], [1, 1, 1, 1]])
def test_what_is_not_positive_definite_gives_zeros(bad: list[float]) -> None:
    found = whitening(PLANE, array("d", [1, 0, 0, 1, *bad]), "full")
    assert found.tolist() == [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.spec("KER-WHITEN", "KER-MOMENTS")
@pytest.mark.parametrize("d", [1, 2, 3, 6])
@given(st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_a_trace_is_the_sum_of_squares_over_rows(d: int, seed: int) -> None:
    """tr W M W' with M the sum of y y' is the sum of |W y|^2; (d + 8) u of the absolute terms."""
    rng = random.Random(seed)
    rows = [[rng.gauss(0, 1) for _ in range(d)] for _ in range(4)]
    white = [[rng.gauss(0, 1) if j <= i else 0.0 for j in range(d)] for i in range(d)]
    exact = [list(map(Fraction, row)) for row in rows]
    seconds = [[sum(y[i] * y[j] for y in exact) for j in range(d)] for i in range(d)]
    given = array("d", (float(x) for line in seconds for x in line))
    flat = array("d", (x for line in white for x in line))
    found = traces(witness.points_of([(0.0,) * d]), given, flat, "full")[0]
    due = sum(
        sum(Fraction(w) * y for w, y in zip(line, row, strict=True)) ** 2
        for row in exact
        for line in white
    )
    size = sum(
        abs(Fraction(line[a]) * Fraction(given[a * d + b]) * Fraction(line[b]))
        for line in white
        for a in range(d)
        for b in range(d)
    )
    assert abs(Fraction(found) - due) <= (d + 8) * Fraction(ROUND) * size


@pytest.mark.spec("KER-WHITEN")
@given(st.integers(0, 2**32), st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_other_ways_to_the_same_matrix_pass(seed: int, d: int) -> None:
    matrix = numpy.array(covariance(seed, d))
    points = witness.points_of([(0.0,) * d])
    args = (array("d", matrix.ravel()), "full")
    inverse = numpy.tril(numpy.linalg.inv(numpy.linalg.cholesky(matrix)))
    assert judged("gaussian.whitening", points, args, array("d", inverse.ravel())) is None
    sums = numpy.einsum("ia,ab,ib->", inverse, matrix, inverse)
    pair = (args[0], array("d", inverse.ravel()), "full")
    assert judged("gaussian.traces", points, pair, array("d", [sums])) is None


@pytest.mark.spec("KER-WHITEN")
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (in_singles(array("d", [0.5, 0.0, -1 / 6, 1 / 3])), "W C W'"),
        (array("d", [0.5, -1 / 6, 0.0, 1 / 3]), "above the diagonal"),
        (array("d", [-0.5, 0.0, -1 / 6, 1 / 3]), "not positive"),
        (array("d", [0.0] * 4), "no answer, though"),
        (array("d", [0.5, 0.0, 1.0, 0.0]), "not positive"),
        (array("d", [0.5, 0.0, 1 / 6, 1 / 3]), "W C W'"),
        (array("d", [0.5]), "1 numbers instead of 4"),
        (array("d", [math.nan] * 4), "not finite"),
        (array("f", [0.5] * 4), "format 'f'"),
        (None, "a NoneType instead of a buffer"),
    ],
)
def test_matrices_that_do_not_pass(answer: Any, told: str) -> None:
    args = (array("d", [4, 2, 2, 10]), "full")
    assert told in str(judged("gaussian.whitening", PLANE, args, answer))


@pytest.mark.spec("KER-WHITEN")
@pytest.mark.parametrize(
    ("second", "third", "told"),
    [
        # L = (1 0 0; 1 e 0; 1 1 p): what the third column leaves is p^2, and rounding changes it by
        # u / e^2, so that for e = 1e-4 another order of operations may find nothing left.
        (1e-4, 1e-5, None),
        (1.0, 1e-5, "no answer, though the covariance is positive definite"),
        (1e-4, 1.0, "no answer, though the covariance is positive definite"),
    ],
)
def test_no_answer_is_right_only_where_rounding_decides(
    second: float, third: float, told: str | None
) -> None:
    lower = numpy.array([[1, 0, 0], [1, second, 0], [1, 1, third]])
    matrix = array("d", (lower @ lower.T).ravel())
    points = witness.points_of([(0.0,) * 3])
    found = judged("gaussian.whitening", points, (matrix, "full"), array("d", [0.0] * 9))
    assert found == (None if told is None else f"component 0: {told}")


@pytest.mark.spec("KER-WHITEN", "LIN-CHOL")
@pytest.mark.parametrize("roundings", [1, 8, 15, 16, 17, 40])
def test_an_answer_has_pivots_above_the_threshold(roundings: int) -> None:
    # Every operation is exact: the second column leaves so many times 2^-52, and must leave more
    # than 8 · 2² · 2^-53 of itself, which is a little more than 16.
    left = roundings * 2.0**-52
    covariance = (array("d", [1.0, 1.0, 1.0, 1.0 + left]), "full")
    root = math.sqrt(left)
    answer = array("d", [1.0, 0.0, -1.0 / root, 1.0 / root])
    due = whitening(PLANE, covariance[0], "full")
    assert any(due) == (roundings > 16)
    found = judged("gaussian.whitening", PLANE, covariance, answer)
    # At 16 it is less by four roundings of itself: whoever rounds otherwise may see more.
    assert (found is None) == (roundings >= 16)
    assert roundings >= 16 or "column 1 leaves" in str(found)


@pytest.mark.spec("KER-WHITEN")
@pytest.mark.parametrize(
    ("huge", "told"),
    [
        (1e-320, None),  # the square of its inverse is no number to compare with
        (1e-200, "no answer, though the covariance is positive definite"),
        (1e200, "column 0 leaves 0, not more than 8.88e-16: zeros are due"),
        (1e308, "column 0 leaves 0, not more than 8.88e-16: zeros are due"),
    ],
)
def test_answers_out_of_range_are_judged(huge: float, told: str | None) -> None:
    singular = (array("d", [1, 1, 1, 1]), "full")
    answer = array("d", [huge, 0.0, -huge, huge])
    found = judged("gaussian.whitening", PLANE, singular, answer)
    assert found == (None if told is None else f"component 0: {told}")


@pytest.mark.spec("KER-WHITEN")
def test_numbers_that_do_not_pass() -> None:
    args = (array("d", [4.0]), "spherical")
    assert "instead of 0.5" in str(
        judged("gaussian.whitening", LINE, args, array("d", [0.5 + 1e-14]))
    )
    pair = (array("d", [3.0]), array("d", [2.0]), "full")
    assert "instead of 12.0" in str(
        judged("gaussian.traces", LINE, pair, array("d", [12.0 + 1e-13]))
    )
    zero = (array("d", [0.0]), "full")
    assert judged("gaussian.whitening", LINE, zero, array("d", [0.0])) is None
    assert judged("gaussian.whitening", LINE, zero, array("d", [-1.0])) is not None


@pytest.mark.spec("KER-WHITEN", "BK-KERNEL")
@pytest.mark.parametrize(
    "answer", [None, 3, "x", (), {}, array("i"), numpy.zeros((2, 2)), object()]
)
def test_contracts_never_raise(answer: Any) -> None:
    for contract in (Whitens(), Traces()):
        assert isinstance(contract.malformed(answer), str)
        assert isinstance(contract.fault(array("d", [1.0]), answer), str)
    assert KERNELS["gaussian.traces"].reference is traces
