"""What chapter 10 proves about k-means holds on arbitrary data, exactly."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from refclust.cluster.fit import kmeans, kmeans_steps
from refclust.cluster.results import KMeansFit
from refclust.fitting.checkpoint import Checkpoint
from tests.cluster import witness
from tests.cluster.strategies import (
    DECIMALS,
    KINDS,
    LARGE,
    OFFSET,
    POLICIES,
    SINGLES,
    STARTS,
    TIES,
    Case,
    cases,
    data_of,
    sparse_rows,
)
from tests.metrics.strategies import some

ORDINARY = st.sampled_from([TIES, TIES, DECIMALS, SINGLES, OFFSET])
SQUARE = [(0.0, 0.0), (0.0, 1.0), (4.0, 0.0), (4.0, 1.0)]


def fitted(case: Case, kind: str = "dense", **options: Any) -> KMeansFit:
    centres: Any = case.centres if kind == "dense" else sparse_rows(case.centres)
    return kmeans(case.data(kind), centres=centres, trace="full", **options)


@pytest.mark.spec("PROP-KM-1", "KM-RSS")
@some(25)
@given(cases(ORDINARY, most=10), st.sampled_from(["farthest", "split", "keep", "drop"]))
def test_the_sum_of_squares_never_rises(case: Case, empty: Any) -> None:
    """Exactly, in assignments and in updates, although centres are rounded."""
    run = witness.run(case.rows, case.centres, case.masses, empty=empty)
    fit = fitted(case, empty=empty)
    sums = [part for one in fit.trace for part in (one.rss, one.rss_updated) if part is not None]
    assert sums == [witness.double(part) for part in run.sums]
    assert all(before >= after for before, after in pairwise(run.sums))
    assert fit.runs[0].exact_rss == run.sums[-1]


@pytest.mark.spec("PROP-KM-2", "KM-STOP")
@some(25)
@given(cases(ORDINARY, most=10), KINDS)
def test_no_partition_occurs_twice(case: Case, kind: str) -> None:
    fit = fitted(case, kind, empty="keep", limit=10**6)
    assert fit.stopped == "unchanged"
    partitions = [tuple(one.labels or ()) for one in fit.trace]
    # Only the last two are the same: that is why it stopped.
    assert len(set(partitions)) == len(partitions) - 1
    assert partitions[-1] == partitions[-2]


@pytest.mark.spec("PROP-KM-2")
@some(25)
@given(cases(ORDINARY, most=10), st.sampled_from(POLICIES), st.booleans())
def test_it_ends(case: Case, empty: Any, cosine: bool) -> None:
    if cosine:
        rows = [tuple(abs(x) for x in row) for row in case.rows]
        centres = [tuple(abs(x) for x in row) for row in case.centres]
        assume(all(map(any, rows)) and all(map(any, centres)))
        case = Case(rows, case.weights, centres)
    metric: Any = "cosine" if cosine else "euclidean"
    fit = fitted(case, empty=empty, metric=metric, limit=10**6)
    assert fit.converged


@pytest.mark.spec("PROP-KM-3", "PROP-KM-8")
def test_where_it_stops_depends_on_the_start_and_on_k() -> None:
    wide = kmeans(SQUARE, centres=[[0, 0], [4, 0]])
    narrow = kmeans(SQUARE, centres=[[0, 0], [0, 1]])
    assert (wide.rss, wide.labels.tolist()) == (1.0, [0, 0, 1, 1])
    assert (narrow.rss, narrow.labels.tolist()) == (16.0, [0, 1, 0, 1])
    assert wide.stopped == narrow.stopped == "unchanged"
    assert [kmeans(SQUARE, k, restarts=20).rss for k in (1, 2, 3, 4)] == [17.0, 1.0, 0.5, 0.0]
    assert {kmeans(SQUARE, 2, seed=seed, start="random").rss for seed in range(20)} == {1.0, 16.0}


@pytest.mark.spec("PROP-KM-4")
@some(20)
@given(st.lists(st.tuples(TIES, TIES), min_size=1, max_size=5))
def test_the_optimum_does_not_rise_with_k(rows: list[tuple[float, float]]) -> None:
    n = len(rows)
    best = [witness.optimum(rows, k) for k in range(1, n + 1)]
    assert all(more >= fewer for more, fewer in pairwise(best))
    assert best[-1] == 0
    distinct = sorted(set(rows))
    for k in range(1, len(distinct) + 1):
        # A run cannot beat the optimum, and ends at 0 where every row has a centre.
        found = kmeans(rows, centres=distinct[:k], empty="keep").runs[0].exact_rss
        assert found >= best[k - 1]
        assert k < len(distinct) or found == 0


@pytest.mark.spec("KM-VORONOI", "PROP-KM-5", "KM-ASSIGN")
@some(25)
@given(cases(ORDINARY, most=10), KINDS, st.sampled_from(POLICIES), st.sampled_from([1, 2, 300]))
def test_rows_lie_in_the_cells_of_their_centres(
    case: Case, kind: str, empty: Any, limit: int
) -> None:
    """Also where the run did not come to its end: the labels belong to the centres returned."""
    fit = fitted(case, kind, empty=empty, limit=limit)
    for row, label in zip(case.rows, fit.labels, strict=True):
        own = witness.square(row, fit.centres[label])
        for k, centre in enumerate(fit.centres):
            other = witness.square(row, centre)
            assert own < other if k < label else own <= other


@pytest.mark.spec("KM-UPDATE", "KM-CENTROID", "KM-STOP")
@some(25)
@given(cases(ORDINARY, most=10), KINDS, st.sampled_from(POLICIES))
def test_at_the_end_every_centre_is_the_mean_of_its_rows(case: Case, kind: str, empty: Any) -> None:
    fit = fitted(case, kind, empty=empty)
    labels = fit.labels.tolist()
    for k, centre in enumerate(fit.centres):
        if fit.sizes[k]:
            assert centre == witness.mean(case.rows, labels, case.masses, k)


# -- weights are copies ---------------------------------------------------------------------------


def copies(case: Case, weights: list[int]) -> tuple[list[tuple[float, ...]], list[int]]:
    """Each row as often as its weight says, and where the first copy of each row is."""
    rows: list[tuple[float, ...]] = []
    first = []
    for row, weight in zip(case.rows, weights, strict=True):
        first.append(len(rows))
        rows += [row] * weight
    return rows, first


def check_copies(weighted: KMeansFit, copied: KMeansFit, first: list[int]) -> None:
    assert weighted.centres == copied.centres
    assert weighted.sizes == copied.sizes
    assert weighted.within == copied.within
    assert (weighted.rss, weighted.mean_square) == (copied.rss, copied.mean_square)
    assert weighted.cosine == copied.cosine
    assert (weighted.best, weighted.stopped) == (copied.best, copied.stopped)
    assert weighted.labels.tolist() == [copied.labels[i] for i in first]
    for one, other in zip(weighted.runs, copied.runs, strict=True):
        assert (one.start, one.exact_rss, one.iterations) == (
            other.start,
            other.exact_rss,
            other.iterations,
        )
        assert [(e.cluster, e.row is None) for e in one.emptied] == [
            (e.cluster, e.row is None) for e in other.emptied
        ]


@pytest.mark.spec("PROP-KM-W")
@pytest.mark.parametrize("start", [*STARTS, "given"])
@some(18)
@given(case=cases(ORDINARY), kind=KINDS, empty=st.sampled_from(POLICIES), data=st.data())
def test_weights_are_adjacent_copies(
    start: str, case: Case, kind: str, empty: Any, data: st.DataObject
) -> None:
    n = len(case.rows)
    weights = data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    rows, first = copies(case, weights)
    options: dict[str, Any] = {"empty": empty, "seed": data.draw(st.integers(0, 99))}
    if start == "given":
        options["centres"] = case.centres if kind == "dense" else sparse_rows(case.centres)
    else:
        most = len(set(case.rows))
        k = data.draw(st.integers(1, min(most, 4)))
        options |= {"k": k, "start": start, "restarts": 2}
    weighted = kmeans(data_of(case.rows, kind, [float(w) for w in weights]), **options)
    check_copies(weighted, kmeans(data_of(rows, kind), **options), first)


@pytest.mark.spec("PROP-KM-W")
@some(18)
@given(cases(ORDINARY, directions=True), st.sampled_from(["farthest", "keep"]), st.data())
def test_weights_are_adjacent_copies_by_the_cosine(
    case: Case, empty: Any, data: st.DataObject
) -> None:
    n = len(case.rows)
    weights = data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    rows, first = copies(case, weights)
    options: dict[str, Any] = {"empty": empty, "metric": "cosine", "centres": case.centres}
    weighted = kmeans(data_of(case.rows, "dense", [float(w) for w in weights]), **options)
    check_copies(weighted, kmeans(data_of(rows, "dense"), **options), first)


@pytest.mark.spec("PROP-KM-W")
@pytest.mark.parametrize("start", STARTS)
@some(20)
@given(case=cases(st.just(TIES)), empty=st.sampled_from(POLICIES), data=st.data())
def test_a_row_of_weight_zero_is_no_row(
    start: str, case: Case, empty: Any, data: st.DataObject
) -> None:
    """Centres and sums are those without the row; its label is that of the nearest centre."""
    n = len(case.rows)
    weights = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n).filter(any))
    rows, _ = copies(case, weights)
    k = data.draw(st.integers(1, min(len(set(rows)), 3)))
    options: dict[str, Any] = {"empty": empty, "start": start, "seed": 5}
    weighted = kmeans(data_of(case.rows, "dense", [float(w) for w in weights]), k, **options)
    copied = kmeans(data_of(rows, "dense"), k, **options)
    assert weighted.centres == copied.centres
    assert weighted.runs[0].exact_rss == copied.runs[0].exact_rss
    assert weighted.labels.tolist() == witness.assign(case.rows, weighted.centres)


# -- what must not matter -------------------------------------------------------------------------


@pytest.mark.spec("KM-ASSIGN", "KM-UPDATE", "KM-RSS")
@some(25)
@given(cases(ORDINARY, most=10), KINDS, st.sampled_from(["keep", "drop"]), st.data())
def test_the_order_of_rows_does_not_matter(
    case: Case, kind: str, empty: Any, data: st.DataObject
) -> None:
    """From given centres; a policy that takes the lowest of equal rows does depend on the order."""
    order = data.draw(st.permutations(range(len(case.rows))))
    weights = None if case.weights is None else [case.weights[i] for i in order]
    shuffled = fitted(Case([case.rows[i] for i in order], weights, case.centres), kind, empty=empty)
    fit = fitted(case, kind, empty=empty)
    assert shuffled.labels.tolist() == [fit.labels[i] for i in order]
    assert shuffled.centres == fit.centres
    assert (shuffled.rss, shuffled.within, shuffled.sizes) == (fit.rss, fit.within, fit.sizes)
    assert (shuffled.iterations, shuffled.stopped) == (fit.iterations, fit.stopped)


@pytest.mark.spec("KM-ASSIGN", "KM-INIT")
@some(25)
@given(
    cases(st.sampled_from([TIES, DECIMALS, OFFSET]), most=10),
    KINDS,
    st.sampled_from(STARTS),
    st.integers(-300, 300),
    st.data(),
)
def test_a_power_of_two_changes_nothing_but_the_scale(
    case: Case, kind: str, start: str, exponent: int, data: st.DataObject
) -> None:
    scale = 2.0**exponent
    k = data.draw(st.integers(1, min(3, len(set(case.rows)))))
    assume(case.weights is None or len({r for r, w in zip(case.rows, case.weights) if w}) >= k)  # noqa: B905
    scaled = [tuple(x * scale for x in row) for row in case.rows]
    options: dict[str, Any] = {"start": start, "seed": 7, "restarts": 2}
    fit = kmeans(case.data(kind), k, **options)
    other = kmeans(data_of(scaled, kind, case.weights), k, **options)
    assert other.labels == fit.labels
    assert other.centres == tuple(tuple(x * scale for x in centre) for centre in fit.centres)
    squares = Fraction(2) ** (2 * exponent)
    assert [run.exact_rss for run in other.runs] == [run.exact_rss * squares for run in fit.runs]
    assert (other.best, other.iterations, other.stopped) == (fit.best, fit.iterations, fit.stopped)


@pytest.mark.spec("KM-COSROWS", "KM-COSASSIGN")
@some(25)
@given(cases(ORDINARY, directions=True), KINDS, st.data())
def test_the_length_of_rows_does_not_matter_by_the_cosine(
    case: Case, kind: str, data: st.DataObject
) -> None:
    exponents = data.draw(
        st.lists(st.integers(-200, 200), min_size=len(case.rows), max_size=len(case.rows))
    )
    rows = [tuple(x * 2.0**e for x in row) for row, e in zip(case.rows, exponents, strict=True)]
    fit = fitted(case, kind, metric="cosine", empty="keep")
    other = fitted(Case(rows, case.weights, case.centres), kind, metric="cosine", empty="keep")
    assert (other.labels, other.centres, other.runs) == (fit.labels, fit.centres, fit.runs)


@pytest.mark.spec("KM-ALG")
@some(25)
@given(cases(st.sampled_from([TIES, DECIMALS, LARGE]), most=10), st.sampled_from(POLICIES))
def test_dense_and_sparse_rows_are_the_same_rows(case: Case, empty: Any) -> None:
    fit, other = fitted(case, "dense", empty=empty), fitted(case, "sparse", empty=empty)
    assert (fit.labels, fit.centres, fit.runs) == (other.labels, other.centres, other.runs)
    assert (fit.within, fit.sizes) == (other.within, other.sizes)


@pytest.mark.spec("KM-STOP", "KM-ALG")
@some(25)
@given(cases(ORDINARY, most=10), st.integers(1, 4))
def test_stopping_early_and_going_on_is_the_same_as_going_on(case: Case, taken: int) -> None:
    """The centres of a run that was stopped are a start from which the rest of it follows."""
    whole = fitted(case, empty="keep")
    steps = kmeans_steps(case.data("dense"), centres=case.centres, empty="keep", limit=taken)
    for _ in steps:
        pass
    part = steps.result()
    rest = kmeans(case.data("dense"), centres=part.centres, empty="keep")
    assert (rest.labels, rest.centres, rest.rss) == (whole.labels, whole.centres, whole.rss)


@pytest.mark.spec("KM-CKPT")
@some(18)
@given(
    cases(ORDINARY),
    KINDS,
    st.sampled_from(POLICIES),
    st.sampled_from(["given", *STARTS]),
    st.sampled_from([None, 0.01]),
    st.integers(0, 8),
)
def test_a_checkpoint_anywhere_changes_nothing(
    case: Case, kind: str, empty: Any, start: str, tolerance: float | None, taken: int
) -> None:
    options: dict[str, Any] = {"empty": empty, "tolerance": tolerance, "trace": "full"}
    if start == "given":
        options["centres"] = case.centres if kind == "dense" else sparse_rows(case.centres)
    else:
        options |= {"k": 1 + (len(case.rows) > 3), "start": start, "restarts": 3}
    data = case.data(kind)
    assume(len({row for row, w in zip(case.rows, case.masses, strict=True) if w}) > 1)
    whole = kmeans(data, **options)
    with TemporaryDirectory() as folder:
        path = f"{folder}/fit.json"
        steps = kmeans_steps(data, checkpoint=Checkpoint(path), **options)
        for _ in range(taken):
            next(steps, None)
        steps.save()
        resumed = kmeans(data, checkpoint=Checkpoint(path, resume=True), **options)
    assert replace(resumed, provenance=whole.provenance) == whole
