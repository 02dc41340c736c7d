"""The kernels of k-means agree with the definitions in fractions (chapter 10)."""

from __future__ import annotations

import math
from array import array
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.data.accepting.door import dataset
from refclust.kernels.clusters.kmeans import ClusterSums, accumulate, assign, lloyd_step, squares
from refclust.kernels.contracts.basic import Argmin
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS
from tests.cluster import witness
from tests.cluster.strategies import (
    EXTREME,
    KINDS,
    MODERATE,
    WILD_WEIGHTS,
    Case,
    cases,
    data_of,
)
from tests.metrics.strategies import some


def as_fractions(sums: ClusterSums) -> tuple[list[Fraction], list[list[Fraction]]]:
    """W and S."""
    weights = [sums.weight(k) for k in range(len(sums.weights))]
    return weights, [[Fraction(s, 1 << sums.shift) for s in row] for row in sums.sums]


def due_sums(case: Case, labels: list[int], k: int) -> tuple[list[Fraction], list[list[Fraction]]]:
    """W and S from their definitions."""
    return (
        [witness.weight_of(labels, case.masses, j) for j in range(k)],
        [witness.sum_of(case.rows, labels, case.masses, j) for j in range(k)],
    )


@pytest.mark.spec("KM-ASSIGN", "KER-ASSIGN")
@some(25)
@given(cases(EXTREME), KINDS)
def test_assign(case: Case, kind: str) -> None:
    labels = assign(Points(case.data(kind)), tuple(case.centres))
    assert labels.tolist() == witness.assign(case.rows, case.centres)
    assert Argmin().malformed(labels) is None


@pytest.mark.spec("KM-COSASSIGN", "KER-ASSIGN")
@some(25)
@given(cases(EXTREME, directions=True), KINDS)
def test_assign_by_the_cosine(case: Case, kind: str) -> None:
    rows = [witness.unit(row) for row in case.rows]
    labels = assign(Points(data_of(rows, kind)), tuple(case.centres), "cosine")
    assert labels.tolist() == witness.assign(rows, case.centres, "cosine")


@pytest.mark.spec("KM-ASSIGN", "KER-ASSIGN")
def test_huge_sparse_rows_go_to_their_own_centre() -> None:
    """The squares overflow; infinity less infinity must not decide anything."""
    rows = [(1e200, 1e200), (1e200, -1e200), (1.0, 0.0)]
    points = Points(data_of(rows, "sparse"))
    assert assign(points, tuple(rows)).tolist() == [0, 1, 2]
    assert assign(points, tuple(rows[::-1])).tolist() == [2, 1, 0]


@pytest.mark.spec("KM-ASSIGN")
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_huge_row_does_not_blur_the_others(kind: str) -> None:
    """A row whose estimates overflow, beside rows that lie on a border."""
    rows = [(1e200, 1e200), (1.0, 0.0), (1.0, 0.0), (1.0, 0.0)]
    centres = ((2.0, 0.0), (0.0, 0.0), (1e200, 1e200))
    assert assign(Points(data_of(rows, kind)), centres).tolist() == [2, 0, 0, 0]
    doubt = ((2.0, 0.0), (3e-17, 0.0), (1e200, 1e200))  # nearer by less than doubles can tell
    assert assign(Points(data_of(rows, kind)), doubt).tolist() == [2, 1, 1, 1]


@pytest.mark.spec("KM-ASSIGN")
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_equal_centres_leave_everything_to_the_first(kind: str) -> None:
    points = Points(data_of([(0.0,), (5.0,), (-0.0,)], kind))
    centres = ((5.0,), (0.0,), (5.0,), (-0.0,))
    assert assign(points, centres).tolist() == [1, 0, 1]


@pytest.mark.spec("KM-CENTROID", "KER-SUMS")
@some(25)
@given(cases(EXTREME, WILD_WEIGHTS), KINDS, st.data())
def test_sums(case: Case, kind: str, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, 4))
    n = len(case.rows)
    labels = data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    found = accumulate(Points(case.data(kind)), array("i", labels), k)
    assert as_fractions(found) == due_sums(case, labels, k)
    assert KERNELS["kmeans.accumulate"].contract.malformed(found) is None


@pytest.mark.spec("KM-RSS", "KER-SQUARES")
@some(25)
@given(cases(EXTREME, WILD_WEIGHTS), KINDS, st.data())
def test_squares(case: Case, kind: str, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, 4))
    n, d = len(case.rows), len(case.rows[0])
    labels = data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    found = squares(Points(case.data(kind)), array("i", labels), k)
    origin = [(0.0,) * d] * k
    assert list(found) == witness.within(case.rows, labels, case.masses, origin)
    assert all(type(value) is Fraction for value in found)


@pytest.mark.spec("KM-ALG", "KER-STEP")
@some(25)
@given(cases(MODERATE), KINDS, st.data())
def test_a_step_is_the_composition_of_its_parts(case: Case, kind: str, data: st.DataObject) -> None:
    """Whatever the step before was, labels and sums are those of the centres."""
    points = Points(case.data(kind))
    k = len(case.centres)
    step = lloyd_step(points, tuple(case.centres), None)
    assert step.labels == assign(points, tuple(case.centres))
    assert as_fractions(step.sums.exact()) == due_sums(case, step.labels.tolist(), k)
    assert step.changed == len(case.rows)
    moved = tuple(data.draw(st.permutations(case.centres)))
    again = lloyd_step(points, moved, step)
    labels = witness.assign(case.rows, moved)
    assert again.labels.tolist() == labels
    assert as_fractions(again.sums.exact()) == due_sums(case, labels, k)
    assert again.changed == sum(a != b for a, b in zip(labels, step.labels, strict=True))
    still = lloyd_step(points, moved, again)
    assert (still.changed, still.labels) == (0, again.labels)
    assert as_fractions(still.sums.exact()) == due_sums(case, labels, k)


@pytest.mark.spec("KER-STEP", "KER-SUMS")
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("border", [12.5, 11.5, 9.5, 7.5, 8.5, 19.5, -0.5])
def test_few_and_many_moves_give_the_same_sums(kind: str, weighted: bool, border: float) -> None:
    """From a quarter of the rows on sums are made anew; below that they follow what moved."""
    rows = [(i + 0.1, -i / 3) for i in range(20)]
    weights = [0.1 * i for i in range(20)] if weighted else None
    points = Points(data_of(rows, kind, weights))
    before = lloyd_step(points, ((0.0, -3.0), (24.0, -3.0)), None)
    centres = ((border - 40, -3.0), (border + 40, -3.0))
    step = lloyd_step(points, centres, before)
    assert step.sums == accumulate(points, step.labels, 2)
    assert step.labels == assign(points, centres)
    assert step.changed == sum(a != b for a, b in zip(step.labels, before.labels, strict=True))


@pytest.mark.spec("KM-ALG")
def test_single_precision_rows_are_taken_as_the_doubles_they_are() -> None:
    singles = memoryview(array("f", [0.1, 0.2, 0.3, 0.4]).tobytes()).cast("f", [4, 1])
    points = Points(dataset(singles))
    # The first row lies above the double 0.1, by 1490116 units of 1e-15; a centre that is above it
    # by one unit less is nearer, although both are 0.1 in single precision.
    above = 2 * Fraction(points.rows[0][0]) - Fraction(0.1)
    centres = ((0.1,), (math.nextafter(float(above), 0.0),), (0.4,))
    assert assign(points, centres).tolist() == [1, 1, 2, 2]
    assert assign(points, ((0.1,), (math.nextafter(float(above), 1.0),))).tolist()[0] == 0


@pytest.mark.spec("KM-ASSIGN")
def test_plain_floats_decide_wrongly_with_an_offset() -> None:
    """Three numbers far from zero: the expanded square has no digits left for their distances."""
    x, near, far = 100000000.3, 100000000.0, 100000001.0

    def expanded(c: float) -> float:
        return x * x - 2 * x * c + c * c

    assert expanded(far) <= expanded(near)  # as fast libraries compute it: the far one wins
    assert (x - near) ** 2 < (x - far) ** 2  # 0.09 against 0.49
    for kind in ("dense", "sparse"):
        points = Points(data_of([(x,)], kind))
        assert assign(points, ((near,), (far,))).tolist() == [0]
        assert assign(points, ((far,), (near,))).tolist() == [1]


@pytest.mark.spec("KM-ASSIGN")
def test_even_differences_in_doubles_decide_wrongly() -> None:
    """Two centres so alike that their distances are the same double, or even in wrong order."""
    x = 0.1
    above, below = (
        0.3,
        math.nextafter(-0.1, -1.0),
    )  # |x - c| is 0.2 less a little, 0.2 plus a little
    assert witness.square((x,), (above,)) < witness.square((x,), (below,))
    for kind in ("dense", "sparse"):
        points = Points(data_of([(x,)], kind))
        assert assign(points, ((below,), (above,))).tolist() == [1]
