"""Where k-means starts: every start against the witness, and how many random numbers it uses."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.backends.session import Session
from refclust.cluster.seeding import STARTS, greedy, group_means
from refclust.errors import BadOption, KOutOfRange
from refclust.fitting.draws import Draws
from refclust.fitting.rows import Rows
from tests.cluster import witness
from tests.cluster.strategies import KINDS, Case, cases, data_of
from tests.metrics.strategies import some


def rows_of(case: Case, kind: str, backend: str = "reference") -> Rows:
    return Rows(case.data(kind), Session(backend))


@pytest.mark.spec("KM-PP", "KM-GREEDY", "KM-RANDOM", "KM-FARTHEST", "KM-BOX", "KM-INIT")
@pytest.mark.parametrize("start", STARTS)
@some(25)
@given(case=cases(), kind=KINDS, k=st.integers(1, 5), seed=st.integers(0, 10**6))
def test_starts(start: str, case: Case, kind: str, k: int, seed: int) -> None:
    draws, rng = Draws(seed), Random(seed)
    due = witness.code_of(lambda: witness.seeds(case.rows, case.masses, k, start, rng))
    if isinstance(due, str):
        with pytest.raises(KOutOfRange) as caught:
            STARTS[start](rows_of(case, kind), k, draws)
        assert caught.value.code == due
        return
    assert list(STARTS[start](rows_of(case, kind), k, draws)) == due
    assert draws.next() == rng.random()  # as many random numbers as the definition uses


@pytest.mark.spec("KM-INIT", "NUM-RAND")
@pytest.mark.parametrize(
    ("start", "used"),
    [
        ("k-means++", 5),
        ("greedy", 1 + 4 * 3),
        ("random", 5),
        ("random-centres", 5 * 2),
        ("farthest", 1),
    ],
)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_random_numbers_used(start: str, used: int, kind: str) -> None:
    case = Case([(float(i), float(i * i)) for i in range(9)], None, [])
    draws = Draws(3)
    STARTS[start](rows_of(case, kind), 5, draws)
    assert draws.used == used


@pytest.mark.spec("KM-GREEDY")
@pytest.mark.parametrize(
    ("k", "trials"), [(1, 2), (2, 2), (3, 3), (7, 3), (8, 4), (20, 4), (21, 5)]
)
def test_the_default_number_of_candidates(k: int, trials: int) -> None:
    case = Case([(float(i),) for i in range(25)], None, [])
    draws = Draws(0)
    greedy(rows_of(case, "dense"), k, draws)
    assert draws.used == 1 + (k - 1) * trials
    given_trials = Draws(0)
    greedy(rows_of(case, "dense"), k, given_trials, trials=7)
    assert given_trials.used == 1 + (k - 1) * 7


@pytest.mark.spec("KM-GREEDY", "KM-PP")
def test_one_candidate_is_plain_k_means_plus_plus() -> None:
    case = Case([(math.sin(i), math.cos(7 * i)) for i in range(30)], None, [])
    for seed in range(20):
        rows = rows_of(case, "dense")
        one = greedy(rows, 4, Draws(seed), trials=1)
        assert one == STARTS["k-means++"](rows, 4, Draws(seed))


@pytest.mark.spec("NUM-RAND")
def test_draws_go_on_where_they_were() -> None:
    draws = Draws(5)
    first = [draws.next() for _ in range(6)]
    later = Draws(5, used=4)
    assert [later.next() for _ in range(2)] == first[4:]
    assert (draws.used, later.used) == (6, 6)
    rng = Random(5)
    assert first == [rng.random() for _ in range(6)]
    with pytest.raises(BadOption):
        Draws(-1)


@pytest.mark.spec("KM-BOX")
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_box_of_sparse_columns_holds_their_zeros(kind: str) -> None:
    """Column 0 is never zero, column 1 sometimes, column 2 always, column 3 is below zero."""
    rows = [(2.0, 0.0, 0.0, -1.0), (5.0, 3.0, 0.0, 0.0), (3.0, 4.0, 0.0, -7.0)]
    centres = STARTS["random-centres"](rows_of(Case(rows, None, []), kind), 200, Draws(1))
    columns = list(zip(*centres, strict=True))
    low, high = (2.0, 0.0, 0.0, -7.0), (5.0, 4.0, 0.0, 0.0)
    for column, a, b in zip(columns, low, high, strict=True):
        assert a <= min(column) <= a + (b - a) / 10
        assert b - (b - a) / 10 <= max(column) <= b
    assert list(centres) == witness.seeds(rows, [1.0] * 3, 200, "random-centres", Random(1))


@pytest.mark.spec("KM-BOX")
def test_a_box_wider_than_the_doubles() -> None:
    rows = [(-1.7e308,), (1.7e308,)]
    found = STARTS["random-centres"](rows_of(Case(rows, None, []), "dense"), 3, Draws(2))
    assert list(found) == witness.seeds(rows, [1.0, 1.0], 3, "random-centres", Random(2))


@pytest.mark.spec("KM-DRAW", "KM-PP")
def test_rows_without_weight_or_distance_are_never_drawn() -> None:
    rows = [(0.0,), (0.0,), (5.0,), (9.0,)]
    case = Case(rows, [1.0, 2.0, 0.0, 1.0], [])
    for start in ("k-means++", "greedy", "random", "farthest"):
        for seed in range(25):
            found = STARTS[start](rows_of(case, "dense"), 2, Draws(seed))
            assert set(found) == {(0.0,), (9.0,)}


@pytest.mark.spec("KM-RANDOM")
def test_random_rows_follow_the_weights() -> None:
    """Of 4000 first rows about 3000 are the heavy one: six standard deviations are 165."""
    data = data_of([(0.0,), (1.0,)], "dense", [3.0, 1.0])
    rows = Rows(data, Session("reference"))
    draws = Draws(9)
    heavy = sum(STARTS["random"](rows, 1, draws) == ((0.0,),) for _ in range(4000))
    assert abs(heavy - 3000) < 165


@pytest.mark.spec("KM-INIT", "KM-CENTROID")
@some(40)
@given(cases(), KINDS, st.data())
def test_group_means(case: Case, kind: str, data: st.DataObject) -> None:
    n = len(case.rows)
    labels = data.draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n))
    groups = sorted(set(labels))
    index = [groups.index(label) for label in labels]
    if not all(witness.weight_of(index, case.masses, k) for k in range(len(groups))):
        with pytest.raises(BadOption, match="weight 0"):
            group_means(rows_of(case, kind), labels)
        return
    due = [witness.mean(case.rows, index, case.masses, k) for k in range(len(groups))]
    assert list(group_means(rows_of(case, kind), labels)) == due
