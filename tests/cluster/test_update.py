"""The update and what becomes of empty clusters, one policy at a time (KM-UPDATE, KM-EMPTY)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.backends.session import Session
from refclust.cluster.update import Treated, empty_clusters, treat, update, without
from refclust.errors import EmptyCluster
from refclust.fitting.rows import Rows
from refclust.formulas import kmeans as formulas
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import ClusterSums, LloydStep, lloyd_step
from refclust.kernels.clusters.means import mean
from refclust.kernels.points import Points
from tests.cluster import witness
from tests.cluster.strategies import KINDS, POLICIES, Case, cases, data_of
from tests.metrics.strategies import some

NOTHING = Treated({}, frozenset(), ())


def step_of(case: Case, kind: str) -> tuple[Rows, LloydStep]:
    data = case.data(kind)
    return Rows(data, Session("reference")), lloyd_step(Points(data), tuple(case.centres), None)


def means_of(sums: ClusterSums) -> CentreMatrix:
    return CentreMatrix.of(
        mean(sums, k) if weight else (0.0,) * len(sums.sums[k])
        for k, weight in enumerate(sums.weights)
    )


@pytest.mark.spec("KM-EMPTY")
def test_which_clusters_are_empty() -> None:
    sums = ClusterSums((2, 0, 3, 0), 0, ((0, 0), (0, 0), (1, 0), (0, 0)), 0)
    assert empty_clusters(sums) == [1, 3]
    assert empty_clusters(sums, means_of(sums)) == [0, 1, 3]
    least = ClusterSums((2, 1), 0, ((1, 0), (1, 0)), 1074)  # half of the least double is no double
    assert empty_clusters(least, means_of(least)) == [0]
    assert empty_clusters(least) == []


@pytest.mark.spec("KM-EMPTY", "KM-UPDATE")
@some(60)
@given(cases(), KINDS, st.sampled_from(POLICIES))
def test_policies_and_update(case: Case, kind: str, policy: Any) -> None:
    rows, step = step_of(case, kind)
    labels = witness.assign(case.rows, case.centres)
    k = len(case.centres)
    gone = [j for j in range(k) if not witness.weight_of(labels, case.masses, j)]
    assert empty_clusters(step.sums) == gone
    due = formulas.refilled(case.rows, labels, case.centres, case.masses, gone, policy)
    treated = treat(rows, step, tuple(case.centres), gone, policy, 7) if gone else NOTHING
    assert treated.moved == {j: case.rows[i] for j, i in due.items()}
    assert treated.dropped == (set(gone) if policy == "drop" else set())
    told = [(e.iteration, e.cluster, e.policy, e.row) for e in treated.told]
    assert told == [(7, j, policy, due.get(j)) for j in gone]
    moved = []
    for j in range(k):
        if j not in gone:
            moved.append(witness.mean(case.rows, labels, case.masses, j))
        elif policy != "drop":
            moved.append(case.rows[due[j]] if j in due else case.centres[j])
    means = means_of(step.sums.exact())
    assert list(update(means, tuple(case.centres), gone, treated)) == moved


LINE = Case([(0.0,), (1.0,), (10.0,), (14.0,)], None, [])


def placed(policy: Any, centres: Sequence[witness.Row], case: Case = LINE) -> dict[int, int | None]:
    rows, step = step_of(Case(case.rows, case.weights, centres), "dense")
    gone = empty_clusters(step.sums)
    treated = treat(rows, step, tuple(centres), gone, policy, 1)
    return {e.cluster: e.row for e in treated.told}


@pytest.mark.spec("KM-EMPTY")
def test_farthest_goes_on_from_the_rows_already_taken() -> None:
    # 14 is farthest from 0; then 10 is 4 away from 14, and 1 is 1 away from 0.
    assert placed("farthest", [(0.0,), (99.0,), (99.0,)]) == {1: 3, 2: 2}
    # Every row lies on a centre or is taken: the last one stays.
    full = [(0.0,), (99.0,), (99.0,), (99.0,), (99.0,)]
    assert placed("farthest", full) == {1: 3, 2: 2, 3: 1, 4: None}


@pytest.mark.spec("KM-EMPTY")
def test_farthest_does_not_count_centres_of_empty_clusters() -> None:
    """14 is a centre, but an empty one: a twin of lower index has its row."""
    assert placed("farthest", [(14.0,), (14.0,), (0.0,)]) == {1: 2}
    weightless = Case(LINE.rows, [1.0, 1.0, 1.0, 0.0], [])
    # The row 14 weighs nothing: it empties its cluster, and cannot be taken.
    assert placed("farthest", [(0.0,), (14.0,)], weightless) == {}
    assert placed("farthest", [(0.0,), (15.0,), (9.0,)], weightless) == {1: 1}


@pytest.mark.spec("KM-EMPTY")
def test_farthest_ties_go_to_the_lowest_row() -> None:
    even = Case([(1.0,), (-1.0,), (0.0,)], None, [])
    assert placed("farthest", [(0.0,), (50.0,)], even) == {1: 0}


@pytest.mark.spec("KM-EMPTY")
def test_split_takes_one_row_of_each_cluster() -> None:
    # Cluster 0 holds 0 and 1 (sum 1), cluster 1 holds 10 and 14 (sum 16).
    centres = [(0.0,), (10.0,), (99.0,), (99.0,), (99.0,)]
    assert placed("split", centres) == {2: 3, 3: 1, 4: None}
    # Equal sums: the lower index gives first; equal rows: the lower one is given.
    even = Case([(9.0,), (11.0,), (1.0,), (-1.0,)], None, [])
    assert placed("split", [(10.0,), (0.0,), (99.0,)], even) == {2: 0}


@pytest.mark.spec("KM-EMPTY")
def test_keep_and_drop_take_nothing() -> None:
    centres = [(0.0,), (99.0,), (10.0,)]
    assert placed("keep", centres) == {1: None}
    assert placed("drop", centres) == {1: None}
    with pytest.raises(EmptyCluster, match="iteration 1 nothing was left for cluster 1;"):
        placed("error", centres)


@pytest.mark.spec("KM-EMPTY", "KM-UPDATE")
def test_dropping_moves_higher_indices_down() -> None:
    sums = ClusterSums((1, 0, 2), 0, ((5,), (0,), (8,)), 0)
    step = LloydStep(array("i", [0, 2, 2]), 3, sums)
    centres = ((5.0,), (77.0,), (3.0,))
    dropped = Treated({}, frozenset([1]), ())
    assert update(means_of(sums), centres, [1], dropped) == ((5.0,), (4.0,))
    left = without(step, frozenset([1]))
    assert left == LloydStep(array("i", [0, 1, 1]), 3, ClusterSums((1, 2), 0, ((5,), (8,)), 0))
    assert without(step, frozenset()) == step
    # Rows of a cluster that is gone have no label: weightless ones, or opposite directions.
    gone = without(step, frozenset([0, 1]))
    assert gone == LloydStep(array("i", [-1, 0, 0]), 3, ClusterSums((2,), 0, ((8,),), 0))


@pytest.mark.spec("KM-EMPTY")
def test_not_everything_can_be_dropped() -> None:
    data = data_of([(1.0, 0.0), (-1.0, 0.0)], "dense")
    step = lloyd_step(Points(data), ((0.0, 1.0),), None, "cosine")
    with pytest.raises(EmptyCluster):
        treat(Rows(data, Session("reference")), step, ((0.0, 1.0),), [0], "drop", 1)


@pytest.mark.spec("KM-EMPTY", "KM-COSASSIGN")
@pytest.mark.parametrize("policy", ["farthest", "split", "keep"])
def test_clusters_without_direction_by_the_cosine(policy: Any) -> None:
    """Opposite rows cancel; without any other centre there is nothing to be far from."""
    data = data_of([(1.0, 0.0), (-1.0, 0.0)], "dense")
    step = lloyd_step(Points(data), ((0.0, 1.0),), None, "cosine")
    rows = Rows(data, Session("reference"))
    treated = treat(rows, step, ((0.0, 1.0),), [0], policy, 1)
    assert treated.moved == {}
    means = means_of(step.sums.exact())
    assert update(means, ((0.0, 1.0),), [0], treated) == ((0.0, 1.0),)
