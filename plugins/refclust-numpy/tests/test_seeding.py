"""The kernels of seeding against the reference, with potentials of either side."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import LADDER, NUMPY, REFERENCE, both, equal

from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset


def walk(data: Dataset, steps: int = 4) -> None:
    """Grow centres as the driver does and compare every decision on the way."""
    points, rows = both(data)
    random = np.random.default_rng(2)
    for r in [0.0, *random.random(3).tolist(), 1 - 2.0**-53]:
        first = REFERENCE["seeding.locate"](points, None, r)
        assert NUMPY["seeding.locate"](rows, None, r) == first
    due = got = None
    centre = points.whole_row(first)
    for _ in range(steps):
        due = REFERENCE["seeding.potential"](points, centre, due)
        # From an own potential and from a strange one, whose estimates are not to be believed.
        equal("seeding.potential", due, NUMPY["seeding.potential"](rows, centre, got))
        got = NUMPY["seeding.potential"](rows, centre, got)
        for r in [0.0, *random.random(2).tolist(), 1 - 2.0**-53]:
            for by in ("squares", "distinct"):
                place = REFERENCE["seeding.locate"](points, due, r, by)
                assert NUMPY["seeding.locate"](rows, got, r, by) == place
                assert NUMPY["seeding.locate"](rows, due, r, by) == place
        far = REFERENCE["seeding.farthest"](points, due)
        assert NUMPY["seeding.farthest"](rows, got) == far
        assert NUMPY["seeding.farthest"](rows, due) == far
        near = REFERENCE["seeding.farthest"](points, due, due.nearest, 0)
        assert NUMPY["seeding.farthest"](rows, got, got.nearest, 0) == near
        chosen = tuple(random.integers(0, data.n, 4).tolist())
        best = REFERENCE["seeding.best_candidate"](points, due, chosen)
        assert NUMPY["seeding.best_candidate"](rows, got, chosen) == best
        assert NUMPY["seeding.best_candidate"](rows, due, chosen) == best
        place = NUMPY["seeding.locate"](rows, got, random.random())
        if place < 0:
            return
        centre = points.whole_row(place)


@pytest.mark.parametrize("name", LADDER)
def test_decisions_are_the_references_on_the_ladder(name: str) -> None:
    walk(LADDER[name], 3)


@given(
    st.lists(st.tuples(*[st.integers(-2, 2).map(float)] * 2), min_size=1, max_size=10),
    st.sampled_from([1.0, 1 / 3, 1e-162]),
    st.sampled_from([0.0, 1e9]),
)
def test_ties_and_duplicates(rows: list[tuple[float, float]], scale: float, offset: float) -> None:
    walk(dataset([[x * scale + offset, y * scale] for x, y in rows]))


def test_draws_between_rows_of_no_mass() -> None:
    points, rows = both(dataset([[0.0], [0.0], [1.0], [1.0], [3.0], [0.0]]))
    due = REFERENCE["seeding.potential"](points, (0.0,))
    got = NUMPY["seeding.potential"](rows, (0.0,))
    for r in [k / 11 for k in range(11)]:
        place = REFERENCE["seeding.locate"](points, due, r)
        assert NUMPY["seeding.locate"](rows, got, r) == place


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_candidates_that_singles_cannot_tell_apart(
    offset: float, kind: type, weighted: bool
) -> None:
    random = np.random.default_rng(6)
    half = np.round(random.standard_normal((60, 2)) * 64) / 64
    cloud = (np.concatenate([half, -half]) + offset).astype(kind)  # every row has a mirror image
    weights = np.tile(random.integers(0, 3, 60), 2).astype(float) + 1 if weighted else None
    points, rows = both(dataset(cloud, weights=weights))
    centre = (float(kind(offset)), float(kind(offset)))
    due = REFERENCE["seeding.potential"](points, centre)
    got = NUMPY["seeding.potential"](rows, centre)
    for pair in ((3, 63), (63, 3), (5, 7, 65), (9, 69, 11, 71)):
        best = REFERENCE["seeding.best_candidate"](points, due, pair)
        assert NUMPY["seeding.best_candidate"](rows, got, pair) == best
        # What was learned about candidates is used for the one that is taken, or not.
        for taken in (best, 20):
            vector = points.whole_row(taken)
            equal(
                "seeding.potential",
                REFERENCE["seeding.potential"](points, vector, due),
                NUMPY["seeding.potential"](rows, vector, got),
            )


def test_singles_decide_nearly_all_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    cloud = np.random.default_rng(8).standard_normal((3000, 6)) + 1e6
    points, rows = both(dataset(cloud))
    due = REFERENCE["seeding.potential"](points, points.whole_row(0))
    got = NUMPY["seeding.potential"](rows, points.whole_row(0))
    best = REFERENCE["seeding.best_candidate"](points, due, (5, 900, 2500, 17))
    monkeypatch.setattr("refclust_numpy.seeding.total", None)
    assert NUMPY["seeding.best_candidate"](rows, got, (5, 900, 2500, 17)) == best


def test_weights_next_to_nothing() -> None:
    cloud = np.random.default_rng(8).standard_normal((40, 2))
    walk(dataset(cloud, weights=[5e-324, 1e-310] * 20))
