"""The kernels of k-means through a session: loopback and reference give the same answers."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.backends.builtin import Opaque
from refclust.backends.protocol import Problem
from refclust.backends.session import Provenance, Session
from refclust.cluster.fit import kmeans, kmeans_steps
from refclust.data.dataset import Dataset
from refclust.kernels.registry import KERNELS
from tests.cluster.strategies import KINDS, POLICIES, STARTS, Case, cases
from tests.metrics.strategies import some


def run(backend: str, kernel: str, data: Dataset, *args: Any) -> Any:
    problem = Problem(data.kind, data.n, len(data.matrix.values), 3)
    session = Session(backend)
    answer = session.run(kernel, problem, data, *args)
    [ran] = session.provenance().kernels
    assert (ran.kernel, ran.backend, ran.calls) == (kernel, backend, 1)
    return answer


def same(kernel: str, data: Dataset, *args: Any) -> Any:
    """The answer of the reference, after the loopback gave the same one."""
    reference = run("reference", kernel, data, *args)
    answer = run("loopback", kernel, data, *args)
    contract = KERNELS[kernel].contract
    assert contract.malformed(answer) is None
    assert contract.fault(reference, answer) is None
    assert not isinstance(answer, Opaque)
    return reference


@pytest.mark.spec("KER-ASSIGN", "KER-SUMS", "KER-STEP", "KER-SQUARES")
@some(30)
@given(cases(), KINDS)
def test_kernels_of_k_means(case: Case, kind: str) -> None:
    data, centres = case.data(kind), tuple(case.centres)
    labels = same("kmeans.assign", data, centres, "euclidean")
    assert type(labels) is array
    sums = same("kmeans.accumulate", data, labels, len(centres))
    step = same("kmeans.lloyd_step", data, centres, None, "euclidean")
    assert (step.labels, step.sums, step.changed) == (labels, sums, data.n)
    again = same("kmeans.lloyd_step", data, centres[::-1], step, "euclidean")
    assert again.sums == same("kmeans.accumulate", data, again.labels, len(centres))
    same("kmeans.squares", data, labels, len(centres))


@pytest.mark.spec("KER-POTENTIAL")
@some(30)
@given(cases(), KINDS, st.floats(0, 1, exclude_max=True), st.data())
def test_kernels_of_seeding(case: Case, kind: str, r: float, data: st.DataObject) -> None:
    rows = case.data(kind)
    same("seeding.locate", rows, None, r, "squares")
    so_far: Any = None
    for centre in case.centres:
        so_far = same("seeding.potential", rows, centre, so_far)
    for by in ("squares", "distinct"):
        same("seeding.locate", rows, so_far, r, by)
    candidates = data.draw(st.lists(st.integers(0, rows.n - 1), min_size=1, max_size=3))
    same("seeding.best_candidate", rows, so_far, tuple(candidates))
    same("seeding.farthest", rows, so_far)
    for cluster in range(len(case.centres)):
        same("seeding.farthest", rows, so_far, so_far.nearest, cluster)


@pytest.mark.spec("BK-KERNEL", "KM-ALG")
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("start", STARTS)
@some(8)
@given(case=cases(directions=True), kind=KINDS, empty=st.sampled_from(POLICIES[:3]))
def test_whole_fits(metric: Any, start: str, case: Case, kind: str, empty: Any) -> None:
    unweighted = replace(case, weights=None)
    k = min(3, len(set(case.rows))) if metric == "euclidean" else 1
    options: dict[str, Any] = {"start": start, "empty": empty, "metric": metric, "restarts": 2}
    here = kmeans(unweighted.data(kind), k, backend="reference", **options)
    there = kmeans(unweighted.data(kind), k, backend="loopback", **options)
    nowhere = Provenance("", "", ())
    assert replace(here, provenance=nowhere) == replace(there, provenance=nowhere)
    assert {ran.backend for ran in there.provenance.kernels} == {"loopback"}


@pytest.mark.spec("BK-KERNEL")
def test_labels_of_states_are_plain_arrays() -> None:
    for state in kmeans_steps([[0], [1], [5]], 2, backend="loopback"):
        assert type(state.labels) is array
        assert state.labels.typecode == "i"
