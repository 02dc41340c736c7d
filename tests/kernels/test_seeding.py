"""The kernels of seeding agree with the definitions in fractions (chapter 10)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from refclust.data.dataset import dense
from refclust.formulas.kmeans import best_run
from refclust.kernels.clusters.seeding import Potential, best_candidate, farthest, place, potential
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS
from tests.cluster import witness
from tests.cluster.strategies import (
    EXTREME,
    KINDS,
    MODERATE,
    WEIGHTS,
    WILD_WEIGHTS,
    Case,
    cases,
    data_of,
)
from tests.metrics.strategies import some

RANDOM_NUMBERS = st.floats(0, 1, exclude_max=True) | st.sampled_from(
    [0.0, 0.25, 0.5, 0.75, 1 / 3, math.nextafter(0.5, 0), math.nextafter(1, 0)]
)
WORLDS = st.sampled_from([(MODERATE, WEIGHTS), (EXTREME, WEIGHTS), (MODERATE, WILD_WEIGHTS)])
ANY_CASE = WORLDS.flatmap(lambda world: cases(*world))


def around(points: Points, centres: Sequence[witness.Row]) -> Potential:
    """The potential of some centres, one after another."""
    so_far = potential(points, centres[0])
    for centre in centres[1:]:
        so_far = potential(points, centre, so_far)
    return so_far


def masses(case: Case) -> list[Fraction]:
    """The masses of KM-PP."""
    squares = [witness.nearest_square(row, case.centres) for row in case.rows]
    return [Fraction(w) * s for w, s in zip(case.masses, squares, strict=True)]


@pytest.mark.spec("KM-PP", "KER-POTENTIAL")
@some(25)
@given(ANY_CASE, KINDS)
def test_the_nearest_centre_so_far(case: Case, kind: str) -> None:
    points = Points(case.data(kind))
    found = around(points, case.centres)
    assert found.nearest.tolist() == witness.assign(case.rows, case.centres)
    assert found.centres == tuple(case.centres)
    assert KERNELS["seeding.potential"].contract.malformed(found) is None


def test_what_was_before_is_not_changed() -> None:
    points = Points(data_of([(0.0,), (1.0,), (9.0,)], "dense"))
    before = potential(points, (0.0,))
    after = potential(points, (9.0,), before)
    assert before == potential(points, (0.0,))
    assert after.nearest.tolist() == [0, 0, 1]


@pytest.mark.spec("KM-DRAW", "KM-PP", "KER-POTENTIAL")
@some(25)
@given(ANY_CASE, KINDS, RANDOM_NUMBERS)
def test_draws_by_squares(case: Case, kind: str, r: float) -> None:
    points = Points(case.data(kind))
    so_far = around(points, case.centres)
    assert place(points, so_far, r) == witness.draw(masses(case), r)


@pytest.mark.spec("KM-DRAW", "KM-PP")
@some(25)
@given(ANY_CASE, KINDS, st.data())
def test_draws_on_the_borders_between_rows(case: Case, kind: str, data: st.DataObject) -> None:
    """Random numbers next to a border, where estimates cannot know."""
    points = Points(case.data(kind))
    due = masses(case)
    whole = sum(due)
    assume(whole)
    upto = data.draw(st.integers(0, len(due) - 1))
    share = sum(due[:upto], Fraction()) / whole
    r = share.numerator / share.denominator
    for near in (math.nextafter(r, 0.0), r, math.nextafter(r, 1.0)):
        if 0 <= near < 1:
            found = place(points, around(points, case.centres), near)
            assert found == witness.draw(due, near)


@pytest.mark.spec("KM-DRAW", "KM-RANDOM", "KER-POTENTIAL")
@some(25)
@given(ANY_CASE, KINDS, RANDOM_NUMBERS)
def test_draws_of_different_rows(case: Case, kind: str, r: float) -> None:
    points = Points(case.data(kind))
    weights = [Fraction(w) for w in case.masses]
    assert place(points, None, r) == witness.draw(weights, r)
    other = [
        w * all(witness.square(row, c) for c in case.centres)
        for w, row in zip(weights, case.rows, strict=True)
    ]
    found = place(points, around(points, case.centres), r, "distinct")
    assert found == witness.draw(other, r)


@pytest.mark.spec("KM-GREEDY", "KER-POTENTIAL")
@some(25)
@given(ANY_CASE, KINDS, st.data())
def test_the_best_candidate(case: Case, kind: str, data: st.DataObject) -> None:
    points = Points(case.data(kind))
    index = st.integers(0, len(case.rows) - 1)
    candidates = data.draw(st.lists(index, min_size=1, max_size=4))
    totals = [
        witness.potential(case.rows, case.masses, case.centres, case.rows[i]) for i in candidates
    ]
    due = candidates[best_run(totals)]
    assert best_candidate(points, around(points, case.centres), tuple(candidates)) == due


@pytest.mark.spec("KM-FARTHEST", "KM-EMPTY", "KER-POTENTIAL")
@some(25)
@given(ANY_CASE, KINDS)
def test_the_farthest_row(case: Case, kind: str) -> None:
    points = Points(case.data(kind))
    so_far = around(points, case.centres)
    assert farthest(points, so_far) == witness.farthest(case.rows, case.masses, case.centres)
    labels = witness.assign(case.rows, case.centres)
    for k in range(len(case.centres)):
        own = [w if y == k else 0.0 for w, y in zip(case.masses, labels, strict=True)]
        found = farthest(points, so_far, array("i", labels), k)
        assert found == witness.farthest(case.rows, own, case.centres)


@pytest.mark.spec("KM-PP", "KM-GREEDY", "KM-FARTHEST")
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("size", [9e153, 1.3e154, 1e200, 1.7e308])
def test_squares_beyond_the_doubles_are_decided_all_the_same(kind: str, size: float) -> None:
    rows = [(size, size), (size, size), (size, -size), (1.0, 0.0)]
    points = Points(data_of(rows, kind))
    so_far = potential(points, (1.0, 0.0))
    assert [place(points, so_far, r) for r in (0.0, 0.5, 0.9)] == [0, 1, 2]
    assert best_candidate(points, so_far, (2, 0, 1)) == 0
    assert farthest(points, so_far) == 0
    assert potential(points, (size, -size), so_far).nearest.tolist() == [0, 0, 1, 0]


@pytest.mark.spec("KM-DRAW")
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_masses_below_the_doubles_are_decided_all_the_same(kind: str) -> None:
    """Weights so small that weight times square is rounded to a multiple of the least double.

    Squares of 0.38 and 0.62, times four: both are rounded to 2, but the shares are 38 and 62.
    """
    tiny = 4 * 5e-324
    rows = [*[(0.617,)] * 10, *[(0.787,)] * 10]
    points = Points(data_of(rows, kind, [tiny] * 20))
    so_far = potential(points, (0.0,))
    due = [Fraction(tiny) * Fraction(x) ** 2 for (x,) in rows]
    for r in (0.125, 0.225, 0.325, 0.425, 0.475, 0.525, 0.725):
        assert place(points, so_far, r) == witness.draw(due, r)


@pytest.mark.spec("KM-GREEDY")
def test_candidates_under_weights_below_the_doubles() -> None:
    """In doubles all totals are rounded up to equal multiples of the least one."""
    rows = [(0.0,), (0.6,), (0.65,), (0.7,)]
    points = Points(data_of(rows, "dense", [5e-324] * 4))
    so_far = potential(points, (0.0,))
    totals = [witness.potential(rows, [1.0] * 4, [(0.0,)], row) for row in rows]
    assert best_run(totals) == 2
    for candidates in ((1, 2), (2, 1), (3, 2, 1), (0, 2)):
        assert best_candidate(points, so_far, candidates) == 2


@pytest.mark.spec("KM-GREEDY")
def test_equal_candidates_leave_it_to_the_first_drawn() -> None:
    points = Points(data_of([(0.0,), (-3.0,), (3.0,), (-3.0,)], "dense"))
    so_far = potential(points, (0.0,))
    assert best_candidate(points, so_far, (2, 3, 1)) == 3  # two rows lie on it
    line = Points(data_of([(0.0,), (-3.0,), (3.0,)], "dense"))
    so_far = potential(line, (0.0,))
    assert best_candidate(line, so_far, (2, 1)) == 2
    assert best_candidate(line, so_far, (1, 2)) == 1


@pytest.mark.spec("KM-FARTHEST")
def test_where_no_row_is_left() -> None:
    points = Points(data_of([(1.0,), (1.0,), (7.0,)], "dense", [1.0, 2.0, 0.0]))
    so_far = potential(points, (1.0,))
    assert farthest(points, so_far) == -1
    assert place(points, so_far, 0.5) == -1
    assert place(points, so_far, 0.5, "distinct") == -1
    assert farthest(points, so_far, array("i", [0, 0, 1]), 1) == -1


@pytest.mark.spec("KM-GREEDY", "KER-POTENTIAL")
@pytest.mark.parametrize("weight", [1.0, 5e-324, 2.0**-1070])
def test_candidates_do_not_depend_on_the_unit_of_weights(weight: float) -> None:
    # The first candidate takes 0.4898 from each of three rows, the second 0.6006 from one; in
    # units of the least double products round to 0 and to 1.
    values = array("d", [1.7143, -1.632, 1.0, 1.0, 1.0, -1.0])
    weights = memoryview(array("d", [0.0, 0.0, *[weight] * 4])).toreadonly()
    points = Points(dense(values, 1, weights=weights))
    assert best_candidate(points, potential(points, (0.0,)), (0, 1)) == 0
