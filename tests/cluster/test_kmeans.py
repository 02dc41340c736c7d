"""Whole fits of k-means against the slow witness, and the driver step by step (chapter 10)."""

from __future__ import annotations

import math
from array import array
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.cluster.fit import kmeans, kmeans_steps
from refclust.cluster.results import KMeansFit
from refclust.data.accepting.door import dataset
from refclust.errors import (
    BadOption,
    DimensionMismatch,
    EmptyCluster,
    KOutOfRange,
    LabelLengthMismatch,
    NotFinite,
    RefclustError,
    ZeroVector,
)
from refclust.fitting.checkpoint import Checkpoint
from tests.cluster import witness
from tests.cluster.strategies import KINDS, POLICIES, STARTS, Case, cases, sparse_rows
from tests.metrics.strategies import some

LINE = [[x] for x in (*range(12), 20, 30)]  # seven iterations from 0 and 1
SQUARE = [(0.0, 0.0), (0.0, 1.0), (4.0, 0.0), (4.0, 1.0)]


def agree(case: Case, kind: str, k: int, **options: Any) -> None:
    """The fit and the witness come to the same end, in every number."""
    due = witness.code_of(lambda: witness.fit(case.rows, k, weights=case.weights, **options))
    centres = options.pop("centres", None)
    if centres is not None:
        options["centres"] = centres if kind == "dense" else sparse_rows(centres)
    found = witness.code_of(lambda: kmeans(case.data(kind), k, trace="full", **options))
    if isinstance(due, str) or isinstance(found, str):
        assert found == due
        return
    best, runs = due
    fit: KMeansFit = found
    assert fit.labels.tolist() == best.labels
    assert list(fit.centres) == best.centres
    assert fit.runs[fit.best].exact_rss == best.rss
    assert fit.rss == witness.double(best.rss)
    masses = [Fraction(w) for w in case.masses]
    assert fit.mean_square == witness.double(best.rss / sum(masses))
    assert list(fit.sizes) == [
        witness.weight_of(best.labels, case.masses, j) for j in range(len(best.centres))
    ]
    rows = [witness.unit(row) for row in case.rows] if fit.metric == "cosine" else case.rows
    within = witness.within(rows, best.labels, case.masses, best.centres)
    assert list(fit.within) == [witness.double(part) for part in within]
    assert (fit.stopped, fit.iterations, fit.k) == (best.stopped, best.iterations, k)
    assert len(fit.runs) == len(runs)
    for mine, theirs in zip(fit.runs, runs, strict=True):
        assert list(mine.start) == theirs.start
        assert (mine.stopped, mine.iterations) == (theirs.stopped, theirs.iterations)
        assert [(e.iteration, e.cluster, e.row) for e in mine.emptied] == theirs.emptied
        labels = [list(one.labels) for one in mine.trace if one.labels is not None]
        assert labels == theirs.partitions
        sums = [part for one in mine.trace for part in (one.rss, one.rss_updated)]
        due_sums = [witness.double(part) for part in theirs.sums]
        if fit.metric == "euclidean":
            assert [part for part in sums if part is not None] == due_sums
        else:
            assert sums[::2] == due_sums[::2]
            assert mine.cosine == float(theirs.cosine)


OPTIONS = st.fixed_dictionaries(
    {
        "empty": st.sampled_from(POLICIES),
        "tolerance": st.sampled_from([None, None, 0.0, 0.05, 0.5]),
        "limit": st.sampled_from([300, 300, 1, 2, 3]),
    }
)


@pytest.mark.spec("KM-ALG", "KM-ASSIGN", "KM-UPDATE", "KM-EMPTY", "KM-RSS", "KM-AVGSQ", "KM-STOP")
@some(60)
@given(cases(), KINDS, OPTIONS)
def test_from_given_centres(case: Case, kind: str, options: dict[str, Any]) -> None:
    agree(case, kind, len(case.centres), centres=case.centres, **options)


@pytest.mark.spec("KM-INIT", "KM-PP", "KM-GREEDY", "KM-RANDOM", "KM-FARTHEST", "KM-BOX")
@pytest.mark.spec("KM-RESTART", "KM-ALG")
@pytest.mark.parametrize("start", STARTS)
@some(25)
@given(case=cases(), kind=KINDS, options=OPTIONS, data=st.data())
def test_from_every_start(
    start: str, case: Case, kind: str, options: dict[str, Any], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, min(4, len(case.rows))))
    options |= {"seed": data.draw(st.integers(0, 99)), "restarts": data.draw(st.integers(1, 3))}
    if start == "greedy":
        options["trials"] = data.draw(st.sampled_from([None, 1, 3]))
    agree(case, kind, k, start=start, **options)


@pytest.mark.spec("KM-COSROWS", "KM-COSASSIGN", "KM-COSOBJ", "KM-STOP", "KM-RESTART", "KM-EMPTY")
@some(60)
@given(cases(directions=True, most=7), KINDS, OPTIONS, st.data())
def test_by_the_cosine(case: Case, kind: str, options: dict[str, Any], data: st.DataObject) -> None:
    if data.draw(st.booleans()):
        agree(case, kind, len(case.centres), centres=case.centres, metric="cosine", **options)
        return
    k = data.draw(st.integers(1, min(3, len(case.rows))))
    options |= {"seed": data.draw(st.integers(0, 99)), "restarts": data.draw(st.integers(1, 2))}
    start = data.draw(st.sampled_from(STARTS))
    agree(case, kind, k, start=start, metric="cosine", **options)


@pytest.mark.spec("KM-EMPTY")
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_empty_clusters_may_be_an_error(metric: Any) -> None:
    with pytest.raises(EmptyCluster) as caught:
        kmeans([[1], [2], [3]], centres=[[2], [2], [1000]], empty="error", metric=metric)
    assert caught.value.code == "empty-cluster"
    assert "iteration 1" in str(caught.value)
    assert kmeans([[1], [9]], centres=[[1], [9]], empty="error").rss == 0.0


@pytest.mark.spec("KM-EMPTY")
@pytest.mark.parametrize(
    ("policy", "centres", "row"),
    [
        ("farthest", ((0.5,), (20.0,), (30.0,)), 3),
        ("split", ((0.5,), (20.0,), (30.0,)), 3),
        ("keep", ((0.5,), (20.0,), (1000.0,)), None),
        ("drop", ((0.5,), (20.0,)), None),
    ],
)
def test_policies_on_a_line(
    policy: Any, centres: tuple[tuple[float, ...], ...], row: int | None
) -> None:
    """The first update from (0), (12), (1000), whose last has no row."""
    steps = kmeans_steps([[0], [1], [10], [30]], centres=[[0], [12], [1000]], empty=policy)
    first = next(steps)
    # The row stays in the mean of its old cluster until the next assignment.
    assert first.centres == centres
    fit = steps.result()
    assert [(e.iteration, e.cluster, e.policy, e.row) for e in fit.emptied] == [(1, 2, policy, row)]


@pytest.mark.spec("KM-EMPTY", "KM-COSASSIGN")
def test_split_takes_a_row_of_the_cluster_also_by_the_cosine() -> None:
    """By angle all rows but the last belong to the long centre, by distance to the short one."""
    rows = [(1.0, 0.0), (0.8, 0.6), (0.6, 0.8), (0.0, 1.0), (-1.0, 0.0)]
    centres = [(100.0, 60.0), (-0.1, 0.0), (0.0, -1.0)]
    agree(Case(rows, None, centres), "dense", 3, centres=centres, metric="cosine", empty="split")


@pytest.mark.spec("KM-EMPTY", "KM-COSASSIGN")
def test_a_mean_that_is_rounded_to_zero_is_an_empty_cluster() -> None:
    """Two directions that nearly cancel: their sum is the least double, half of it no double."""
    policies: tuple[Any, ...] = ("farthest", "split", "keep")
    for policy in policies:
        fit = kmeans([[1, 5e-324], [-1, 0]], centres=[[0, 1]], metric="cosine", empty=policy)
        assert fit.centres == ((0.0, 1.0),)
        assert fit.labels.tolist() == [0, 0]


@pytest.mark.spec("KM-EMPTY")
def test_the_last_cluster_cannot_be_dropped() -> None:
    """Two opposite directions have no mean; a fit without any centre is none."""
    with pytest.raises(EmptyCluster):
        kmeans([[1, 0], [-1, 0]], centres=[[0, 1]], metric="cosine", empty="drop")


@pytest.mark.spec("KM-STOP", "KM-UPDATE", "KM-EMPTY")
def test_unchanged_means_that_an_update_would_change_nothing() -> None:
    """Two opposite rows on the border sit in a cluster without direction, which is dropped."""
    rows = [[1, 1], [-1, -1], [0, 1]]
    fit = kmeans(rows, centres=[[1, 0], [0, 1]], metric="cosine", empty="drop")
    units = [witness.unit(tuple(map(float, row))) for row in rows]
    assert fit.labels.tolist() == [0, 0, 0]
    assert fit.stopped in ("unchanged", "objective")
    if fit.stopped == "unchanged":
        assert fit.centres == (witness.mean(units, [0, 0, 0], [1.0] * 3, 0),)


@pytest.mark.spec("KM-COSASSIGN", "KM-INIT")
def test_starts_without_direction() -> None:
    rows = [[1, 0], [-1, 0], [0, 1]]
    with pytest.raises(ZeroVector, match="centre 1"):
        kmeans(rows, centres=[[1, 1], [0, 0]], metric="cosine")
    with pytest.raises(ZeroVector):
        kmeans(rows, labels=[0, 0, 1], metric="cosine")  # the mean of the first group is zero
    with pytest.raises(ZeroVector, match="row 1"):
        kmeans([[1, 0], [0, 0]], 1, metric="cosine")


# -- stopping -------------------------------------------------------------------------------------


@pytest.mark.spec("KM-STOP")
def test_reasons() -> None:
    line, start = LINE, [[0], [1]]
    whole = kmeans(line, centres=start)
    assert (whole.stopped, whole.converged) == ("unchanged", True)
    assert whole.iterations > 3
    limited = kmeans(line, centres=start, limit=2)
    assert (limited.stopped, limited.iterations, limited.converged) == ("limit", 2, False)
    assert limited.centres == whole.trace[1].centres
    assert (
        limited.labels
        == kmeans(line, centres=limited.centres, limit=1, trace="full").trace[0].labels
    )
    coarse = kmeans(line, centres=start, tolerance=0.9)
    assert (coarse.stopped, coarse.iterations, coarse.converged) == ("tolerance", 2, False)


@pytest.mark.spec("KM-STOP", "KM-EMPTY")
def test_a_cluster_moved_before_does_not_keep_a_run_going() -> None:
    """Cluster 2 moves to row 2, where centre 1 comes too and is the lower index: nothing is left.

    No label changes in iteration 2, and no row is away from all centres.
    """
    fit = kmeans([[0], [0], [10]], centres=[[0], [7], [100]], trace="full")
    assert [(one.iteration, one.cluster, one.row) for one in fit.emptied] == [(1, 2, 2)]
    assert [one.changed for one in fit.trace] == [3, 0]
    assert (fit.stopped, fit.iterations) == ("unchanged", 2)
    assert fit.centres == ((0.0,), (10.0,), (10.0,))


@pytest.mark.spec("KM-STOP", "KM-EMPTY")
def test_a_cluster_moved_now_keeps_a_run_going() -> None:
    """As above, but row 0 is away from its centre: in iteration 2 no label changes, a centre does.

    Then row 0 goes over to cluster 2, and row 1 is alone.
    """
    fit = kmeans([[0], [1], [10]], centres=[[0.5], [7], [100]], trace="full")
    moves = [(one.iteration, one.cluster, one.row) for one in fit.emptied]
    assert moves == [(1, 2, 2), (2, 2, 0)]
    assert [one.changed for one in fit.trace] == [3, 0, 1, 0]
    assert (fit.stopped, fit.iterations, fit.rss) == ("unchanged", 4, 0.0)
    assert fit.labels.tolist() == [2, 0, 1]


@pytest.mark.spec("KM-STOP")
def test_the_tolerance_is_compared_exactly() -> None:
    """Of two neighbouring doubles the one stops the run, the other does not."""
    rows, start = [(float(x),) for [x] in LINE], [(0.0,), (1.0,)]
    run = witness.run(rows, start, [1.0] * len(rows))
    share = (run.sums[1] - run.sums[3]) / run.sums[1]
    above = float(share)
    if Fraction(above) < share:
        above = math.nextafter(above, 1.0)
    below = math.nextafter(above, 0.0)
    assert Fraction(below) < share <= Fraction(above)
    stopped = kmeans(LINE, centres=start, tolerance=above)
    assert (stopped.stopped, stopped.iterations) == ("tolerance", 2)
    assert kmeans(LINE, centres=start, tolerance=below).iterations > 2
    # A share that is a double: at equality the run stops.
    half = kmeans([[0], [2], [2], [4]], centres=[[-5], [2]], tolerance=0.0, empty="keep")
    assert (half.stopped, half.iterations) == ("unchanged", 2)


@pytest.mark.spec("KM-STOP")
def test_a_tolerance_of_zero_stops_where_nothing_is_gained() -> None:
    """Row 2 lies halfway, and goes to the lower index without any gain."""
    fit = kmeans([[0], [4], [2], [2]], centres=[[1], [3]], tolerance=0.0)
    assert fit.stopped in ("unchanged", "tolerance")
    due = witness.fit([(0.0,), (4.0,), (2.0,), (2.0,)], 2, centres=[(1.0,), (3.0,)], tolerance=0.0)
    assert (fit.stopped, fit.iterations) == (due[0].stopped, due[0].iterations)


@pytest.mark.spec("KM-STOP", "KM-COSOBJ")
def test_the_objective_ends_a_run_by_the_cosine() -> None:
    """A row of weight 0 changes sides and nothing is gained: the labels go on, the sum does not."""
    rows, weights = [[1, 0], [0, 1], [10, 9]], [1, 1, 0]
    fit = kmeans(rows, centres=[[1, 0], [1, 5]], weights=weights, metric="cosine", trace="full")
    # The row of weight 0 is nearer to (1, 5) than to (1, 0) no longer when (1, 5) became (0, 1).
    assert [list(one.labels or ()) for one in fit.trace] == [[0, 1, 1], [0, 1, 0]]
    assert (fit.stopped, fit.converged, fit.cosine) == ("objective", True, 2.0)
    assert fit.labels.tolist() == [0, 1, 0]


@pytest.mark.spec("KM-RSS", "KM-AVGSQ")
def test_beyond_the_largest_double() -> None:
    with pytest.raises(NotFinite):
        kmeans([[1e200], [-1e200]], 1)
    far = kmeans([[1e200], [1e200], [-1e200]], centres=[[1e200], [-1e200]])
    assert (far.rss, far.centres) == (0.0, ((1e200,), (-1e200,)))


@pytest.mark.spec("KM-INIT")
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("size", [9e153, 1.2e154, 1e200, 1.7e308])
def test_two_heaps_far_apart(kind: str, start: str, size: float) -> None:
    """Each row lies on a centre at the end; on the way squares are beyond the doubles."""
    rows = [(size, size)] * 3 + [(1.0, 2.0)] * 2
    case = Case(rows, None, [])
    agree(case, kind, 2, start=start)


# -- one row, one column, signed zeros, singles ---------------------------------------------------


@pytest.mark.spec("KM-ALG")
@pytest.mark.parametrize("start", STARTS)
def test_one_row(start: str) -> None:
    fit = kmeans([[7.5]], 1, start=start)
    assert fit.labels == array("i", [0])
    assert (fit.centres, fit.rss, fit.mean_square) == (((7.5,),), 0.0, 0.0)
    assert (fit.n, fit.d, fit.k, fit.sizes) == (1, 1, 1, (Fraction(1),))
    assert kmeans([{"a": 2}], 1, start=start, metric="cosine").centres == ((1.0,),)


@pytest.mark.spec("KM-CENTROID")
def test_signs_of_zero_make_no_difference() -> None:
    plus = kmeans([[0.0, 1.0], [0.0, 2.0], [5.0, 0.0]], centres=[[0.0, 0.0], [5.0, 0.0]])
    minus = kmeans([[-0.0, 1.0], [-0.0, 2.0], [5.0, -0.0]], centres=[[-0.0, -0.0], [5.0, -0.0]])
    assert plus.labels == minus.labels
    assert plus.centres == minus.centres
    assert [math.copysign(1, x) for c in minus.centres for x in c] == [1.0] * 4


@pytest.mark.spec("KM-CENTROID")
def test_means_are_rounded_once() -> None:
    """A float sum divided by n is another number: 0.1 + 0.2 + 0.3 over 3 is 0.2 exactly rounded."""
    rows = [[0.1], [0.2], [0.3]]
    exact = sum(map(Fraction, (0.1, 0.2, 0.3))) / 3
    assert kmeans(rows, 1).centres == ((float(exact),),)
    assert float(exact) != (0.1 + 0.2 + 0.3) / 3


def test_single_precision_data_are_the_doubles_they_are() -> None:
    singles = numpy.array([[0.1], [0.2], [0.7], [0.8]], dtype=numpy.float32)
    here = kmeans(singles, 2, seed=3)
    there = kmeans([[float(x)] for [x] in singles], 2, seed=3)
    assert here.labels == there.labels
    assert here.centres == there.centres
    assert here.digest == there.digest
    unit = kmeans(singles, 1, metric="cosine")
    assert unit.centres == ((1.0,),)


# -- the start ------------------------------------------------------------------------------------


@pytest.mark.spec("KM-INIT", "KM-CENTROID")
def test_labels_as_a_start() -> None:
    rows = [[0], [2], [7], [9], [9]]
    fit = kmeans(rows, labels="abbaa", limit=1)
    assert fit.start == "labels"
    assert fit.runs[0].start == ((6.0,), (4.5,))
    weighted = kmeans(rows, labels=[1, 0, 0, 1, 1], weights=[2, 1, 1, 1, 0])
    assert weighted.runs[0].start == ((4.5,), (3.0,))
    numbers = kmeans(rows, labels=[10, 9, 9, 10, 10], limit=1)
    assert numbers.runs[0].start == ((4.5,), (6.0,))  # sorted as numbers, not as text
    with pytest.raises(LabelLengthMismatch):
        kmeans(rows, labels=[0, 1])
    with pytest.raises(BadOption, match="put in order"):
        kmeans(rows, labels=[0, 1, "a", 0, 0])
    with pytest.raises(BadOption, match="weight 0"):
        kmeans(rows, labels=[0, 0, 0, 0, 1], weights=[1, 1, 1, 1, 0])


@pytest.mark.spec("KM-INIT")
def test_given_centres() -> None:
    words = [{"cat": 1, "dog": 2}, {"dog": 5}, {"eel": 3}]
    fit = kmeans(words, centres=[{"dog": 3}, {"eel": Fraction(1, 3)}])
    assert fit.runs[0].start == ((0.0, 3.0, 0.0), (0.0, 0.0, 1 / 3))
    assert fit.start == "given"
    dense_centres = kmeans(words, centres=[[0, 3, 0], [0, 0, 1]])
    assert dense_centres.labels.tolist() == [0, 0, 1]
    with pytest.raises(DimensionMismatch):
        kmeans([[0, 1], [2, 3]], centres=[[0]])
    with pytest.raises(BadOption, match="k is 3"):
        kmeans([[0], [1], [2]], 3, centres=[[0], [1]])
    with pytest.raises(BadOption, match="both given"):
        kmeans([[0], [1]], centres=[[0]], labels=[0, 0])
    with pytest.raises(KOutOfRange):
        kmeans([[0]], centres=[[0], [1]])


def test_centres_in_another_space_are_refused() -> None:
    """Mappings name their columns; rows without names have no columns 5 and 9."""
    with pytest.raises(RefclustError):
        kmeans([[0, 1], [2, 3]], centres=[{5: 1.0, 9: 2.0}])


@pytest.mark.spec("KM-INIT")
@pytest.mark.parametrize("start", [s for s in STARTS if s != "random-centres"])
def test_too_few_different_rows(start: str) -> None:
    with pytest.raises(KOutOfRange):
        kmeans([[1], [1], [2], [2]], 3, start=start)
    with pytest.raises(KOutOfRange):
        kmeans([[1], [2], [3]], 3, start=start, weights=[1, 0, 1])
    assert kmeans([[1], [1], [2], [2]], 2, start=start).rss == 0.0


@pytest.mark.spec("KM-RESTART")
def test_the_best_of_all_runs_is_kept_and_all_are_told() -> None:
    fit = kmeans(SQUARE, 2, start="random", restarts=12, seed=1)
    sums = [run.exact_rss for run in fit.runs]
    assert set(sums) == {1, 16}
    assert fit.best == sums.index(Fraction(1))
    assert fit.rss == 1.0
    assert fit.spread == (1.0, 16.0)
    assert (fit.iterations, fit.stopped) == (fit.runs[fit.best].iterations, "unchanged")
    singles = [kmeans(SQUARE, 2, start="random", seed=1, restarts=r).best for r in (1, 2, 12)]
    assert singles[-1] == fit.best
    # The stream runs on: the first run does not depend on how many follow.
    assert kmeans(SQUARE, 2, start="random", seed=1).runs[0] == fit.runs[0]


# -- the driver as an iterator --------------------------------------------------------------------


@pytest.mark.spec("KM-ALG")
def test_states() -> None:
    steps = kmeans_steps(LINE, centres=[[0], [1]], trace="full")
    assert iter(steps) is steps
    states = list(steps)
    fit = steps.result()
    assert [state.run for state in states] == [0] * len(states)
    assert [state.iteration for state in states] == list(fit.trace)
    assert [state.iteration.iteration for state in states] == list(range(1, len(states) + 1))
    assert [state.stopped for state in states] == [None] * (len(states) - 1) + ["unchanged"]
    assert [state.labels for state in states] == [one.labels for one in fit.trace]
    assert [state.centres for state in states] == [one.centres for one in fit.trace]
    assert states[0].iteration.changed == len(LINE)
    assert states[-1].iteration.changed == 0
    assert states[-1].iteration.rss_updated is None
    assert states[-1].labels == fit.labels
    labels = states[0].labels
    labels[0] = 9
    assert states[0].labels[0] != 9
    with pytest.raises(StopIteration):
        next(steps)
    assert steps.result().labels == fit.labels


@pytest.mark.spec("KM-RESTART")
def test_states_of_several_runs() -> None:
    steps = kmeans_steps(SQUARE, 2, restarts=3, start="random")
    states = list(steps)
    fit = steps.result()
    assert [s.run for s in states] == [r for r, run in enumerate(fit.runs) for _ in run.trace]
    assert [s.stopped for s in states if s.stopped] == ["unchanged"] * 3


@pytest.mark.spec("KM-STOP")
@pytest.mark.parametrize("taken", [1, 2, 3])
def test_a_caller_may_stop(taken: int) -> None:
    steps = kmeans_steps(LINE, centres=[[0], [1]])
    for _ in range(taken):
        state = next(steps)
    fit = steps.result()
    limited = kmeans(LINE, centres=[[0], [1]], limit=taken)
    assert (fit.stopped, fit.converged) == ("caller", False)
    assert fit.centres == state.centres == limited.centres
    assert fit.labels == limited.labels  # one more assignment, to the centres returned
    assert (fit.rss, fit.iterations) == (limited.rss, taken)
    assert steps.result().labels == fit.labels


@pytest.mark.spec("KM-STOP")
def test_a_result_before_any_step_does_one() -> None:
    fit = kmeans_steps(LINE, centres=[[0], [1]]).result()
    assert (fit.stopped, fit.iterations) == ("caller", 1)
    assert fit.labels == kmeans(LINE, centres=[[0], [1]], limit=1).labels
    done = kmeans_steps(LINE, centres=[[0], [1]], limit=1).result()
    assert done.stopped == "limit"


@pytest.mark.spec("KM-STOP", "KM-RESTART")
def test_a_caller_may_stop_in_a_later_run() -> None:
    steps = kmeans_steps(LINE, 2, restarts=5, start="random", seed=2)
    for state in steps:
        if state.run == 1:
            break
    fit = steps.result()
    assert len(fit.runs) == 2
    assert [run.stopped for run in fit.runs] == ["unchanged", "caller"]


def test_traces() -> None:
    scalars = kmeans(LINE, centres=[[0], [1]], trace="scalars")
    centres = kmeans(LINE, centres=[[0], [1]], trace="centres")
    assert all(one.centres is None and one.labels is None for one in scalars.trace)
    assert all(one.centres is not None and one.labels is None for one in centres.trace)
    assert [one.rss for one in scalars.trace] == [one.rss for one in centres.trace]
    assert scalars.labels == centres.labels


def test_weights_of_the_call_win_over_those_of_the_data() -> None:
    data = dataset([[0], [1], [9]], weights=[5, 5, 5])
    assert kmeans(data, 1).centres == ((10 / 3,),)
    assert kmeans(data, 1, weights=[1, 0, 1]).centres == ((4.5,),)


@pytest.mark.spec("KM-AVGSQ")
def test_the_mean_square_divides_by_the_weight() -> None:
    fit = kmeans([[0], [4]], 1, weights=[3, 1])
    assert (fit.rss, fit.mean_square, fit.sizes) == (12.0, 3.0, (Fraction(4),))


@pytest.mark.spec("KM-ALG")
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_watching_changes_nothing(metric: Any, tmp_path: Path) -> None:
    rows = [[(7 * i * i) % 31 + 1, (5 * i) % 17] for i in range(40)]
    watched = kmeans(rows, 5, metric=metric, seed=3, restarts=3)
    unwatched = kmeans(rows, 5, metric=metric, seed=3, restarts=3, trace="none")
    assert [run.trace for run in unwatched.runs] == [(), (), ()]
    plain = tuple(replace(run, trace=()) for run in watched.runs)
    assert replace(unwatched, provenance=watched.provenance) == replace(watched, runs=plain)
    steps = kmeans_steps(rows, 5, metric=metric, seed=3, trace="none")
    first = next(steps)
    assert (first.iteration.rss, first.iteration.rss_updated) == (None, None)
    assert (first.iteration.iteration, first.iteration.changed) == (1, 40)
    # Stopped and resumed: the number of iterations is not forgotten with the trace.
    path = str(tmp_path / "c")
    steps = kmeans_steps(
        rows, 5, metric=metric, seed=3, trace="none", restarts=3, checkpoint=Checkpoint(path)
    )
    next(steps)
    next(steps)
    steps.save()
    resumed = kmeans(
        rows,
        5,
        metric=metric,
        seed=3,
        trace="none",
        restarts=3,
        checkpoint=Checkpoint(path, resume=True),
    )
    assert replace(resumed, provenance=unwatched.provenance) == unwatched


@pytest.mark.spec("KM-INIT", "KM-GREEDY")
@pytest.mark.parametrize(("k", "trials"), [(1, 4), (2, 4), (3, 6), (7, 6), (8, 8)])
def test_the_default_start(k: int, trials: int) -> None:
    """Greedy, with twice the candidates that the start of this name has by itself."""
    fit = kmeans(LINE, k, seed=5, restarts=2)
    assert (fit.start, fit.trials) == ("greedy", trials)
    same = kmeans(LINE, k, seed=5, restarts=2, start="greedy", trials=trials)
    assert replace(fit, provenance=same.provenance) == same
    named = kmeans(LINE, k, seed=5, start="greedy")
    assert (named.start, named.trials) == ("greedy", None)
    told = kmeans(LINE, k, seed=5, trials=3)
    assert (told.start, told.trials) == ("greedy", 3)
    given = kmeans(LINE, centres=LINE[:k])
    assert (given.start, given.trials) == ("given", None)
