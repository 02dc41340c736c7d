"""Exact decisions from estimates: doubt goes to the exact values, certainty does not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.numbers.argmin import ROUND, first_maximum, first_minima, locate, locate_exact


def never(*_: object) -> int:
    raise AssertionError("nothing was in doubt")


def nothing() -> Sequence[int]:
    raise AssertionError("nothing was in doubt")


def test_half_a_unit_in_the_last_place() -> None:
    assert 1.0 + ROUND == 1.0
    assert math.nextafter(1.0, 2.0) == 1.0 + 2 * ROUND


@pytest.mark.spec("NUM-DECIDE")
def test_clear_minima_ask_nobody() -> None:
    columns = [[1.0, 9.0, 3.0], [2.0, 8.0, 2.0], [3.0, 7.0, 1.0]]
    assert first_minima(columns, 1.0, [0.5] * 3, never) == [0, 2, 2]


@pytest.mark.spec("NUM-DECIDE")
def test_one_column_has_no_doubt() -> None:
    assert first_minima([[math.inf, 1.0]], 1.0, [0.0, 0.0], never) == [0, 0]


@pytest.mark.spec("NUM-DECIDE")
def test_doubt_hands_over_exactly_the_indices_in_reach() -> None:
    asked: list[tuple[int, list[int]]] = []

    def exact(i: int, indices: list[int]) -> int:
        asked.append((i, indices))
        return indices[-1]

    columns = [[1.0, 5.0], [1.5, 1.0], [1.25, 9.0]]
    # A second value exactly at the border is in doubt, one beyond it is not.
    assert first_minima(columns, 1.25, [0.0, 0.0], exact) == [2, 1]
    assert asked == [(0, [0, 2])]
    asked.clear()
    assert first_minima(columns, 1.25, [0.25, 3.75], exact) == [2, 1]
    assert asked == [(0, [0, 1, 2]), (1, [0, 1])]


@pytest.mark.spec("NUM-DECIDE")
@given(st.data())
def test_minima_of_estimates_within_their_bounds(data: st.DataObject) -> None:
    """Exact integers, estimates off by up to the bound: the answers are those of the integers."""
    n, k = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    exact = [[data.draw(st.integers(0, 6)) for _ in range(n)] for _ in range(k)]
    error = data.draw(st.sampled_from([0.0, 0.5, 1.0, 3.0]))
    wrong = st.sampled_from([-error, 0.0, error])
    columns = [[value + data.draw(wrong) for value in column] for column in exact]

    def decide(i: int, indices: list[int]) -> int:
        return min(indices, key=lambda j: (exact[j][i], j))

    due = [min(range(k), key=lambda j: (exact[j][i], j)) for i in range(n)]
    assert first_minima(columns, 1.0, [2 * error] * n, decide) == due


@pytest.mark.spec("NUM-DECIDE")
@pytest.mark.parametrize("wild", [math.nan, math.inf])
def test_estimates_that_overflowed_settle_nothing(wild: float) -> None:
    """A sum that overflowed or became no number must not hide the true minimum."""
    for columns in ([[wild], [wild]], [[wild], [wild], [wild]]):
        assert first_minima(columns, 1.0, [math.inf], lambda _, indices: indices[-1]) == [
            len(columns) - 1
        ]
    for columns in ([[wild], [1.0]], [[1.0], [wild]]):
        asked: list[list[int]] = []

        def exact(_: int, indices: list[int], asked: list[list[int]] = asked) -> int:
            asked.append(indices)
            return 0

        first_minima(columns, 1.0, [math.inf], exact)
        assert asked == [[0, 1]]


@pytest.mark.spec("NUM-DECIDE")
def test_maximum() -> None:
    assert first_maximum([1.0, 4.0, 2.0], 1.5, 0.5, never) == 1
    assert first_maximum([7.0], 1.0, 0.0, never) == 0
    # 4 * 1 + 1 reaches 5: in doubt, and in truth the first is greater.
    assert first_maximum([4.0, 5.0, 1.0], 1.0, 1.0, [6, 5, 9].__getitem__) == 0
    assert first_maximum([4.0, 5.0, 1.0], 1.25, 0.0, [5, 5, 9].__getitem__) == 0
    assert first_maximum([5.0, 5.0, 5.0], 1.0, 0.0, [1, 2, 2].__getitem__) == 1


@pytest.mark.spec("NUM-DECIDE")
@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.data())
def test_maxima_of_estimates_within_their_bounds(exact: list[int], data: st.DataObject) -> None:
    error = data.draw(st.sampled_from([0.0, 0.5, 1.0, 3.0]))
    wrong = st.sampled_from([-error, 0.0, error])
    estimates = [value + data.draw(wrong) for value in exact]
    assert first_maximum(estimates, 1.0, 2 * error, exact.__getitem__) == exact.index(max(exact))


@pytest.mark.spec("NUM-DECIDE")
@pytest.mark.parametrize("estimates", [[math.nan, 1.0], [1.0, math.nan], [math.inf, math.inf]])
def test_a_maximum_among_estimates_that_overflowed(estimates: list[float]) -> None:
    assert first_maximum(estimates, 1.0, math.inf, [3, 4].__getitem__) == 1


def row(masses: Sequence[int], r: float) -> int:
    """KM-DRAW from its formula."""
    whole, reached = sum(masses), 0
    for i, mass in enumerate(masses):
        reached += mass
        if reached > Fraction(r) * whole:
            return i
    return len(masses)


RANDOM_NUMBERS = st.floats(0, 1, exclude_max=True) | st.sampled_from(
    [0.0, 0.25, 0.5, 0.75, math.nextafter(0.5, 0), math.nextafter(0.5, 1), math.nextafter(1, 0)]
)


@pytest.mark.spec("KM-DRAW")
@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), RANDOM_NUMBERS)
def test_draws_in_integers(masses: list[int], r: float) -> None:
    assert locate_exact(masses, r) == row(masses, r)


@pytest.mark.spec("KM-DRAW", "NUM-DECIDE")
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=8).filter(any),
    RANDOM_NUMBERS,
    st.sampled_from([0.0, 1e-9, 1.0]),
)
def test_draws_from_estimates(masses: list[int], r: float, error: float) -> None:
    """The estimates are the masses in another unit, one of them off by the error allowed."""
    found = locate([float(m) for m in masses], error, r, lambda: masses)
    assert found == row(masses, r)
    off = [masses[0] + error, *masses[1:]]
    assert locate(off, error, r, lambda: masses) == row(masses, r)


@pytest.mark.spec("KM-DRAW")
def test_a_clear_draw_asks_nobody() -> None:
    assert locate([1.0, 0.0, 2.0, 1.0], 0.0, 0.5, nothing) == 2
    assert locate([1.0, 3.0], 0.1, 0.1, nothing) == 0


@pytest.mark.spec("KM-DRAW")
def test_a_draw_on_a_border_goes_to_the_row_behind_it() -> None:
    assert [locate_exact([1, 1, 2], r) for r in (0.0, 0.25, 0.5, 0.75)] == [0, 1, 2, 2]
    assert locate([1.0, 1.0, 2.0], 0.0, 0.25, lambda: [1, 1, 2]) == 1
    assert locate([1.0, 1.0, 2.0], 0.0, math.nextafter(0.25, 0), lambda: [1, 1, 2]) == 0


@pytest.mark.spec("KM-DRAW")
@pytest.mark.parametrize("masses", [[0.0, 0.0], [math.inf, 1.0], [math.nan, 1.0], [1e308, 1e308]])
def test_masses_without_a_finite_sum_are_decided_exactly(masses: list[float]) -> None:
    assert locate(masses, 0.0, 0.5, lambda: [1, 3]) == 1
