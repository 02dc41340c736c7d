"""The peers of the benchmark do the work of the reference, whatever else is installed.

The tests require scikit-learn and SciPy, so these two are asked themselves. Every other peer is
represented by a stand-in with its interface: what is tested is how it is called, not what some
version of it that happens to be here computes. A peer that computes wrongly is a finding of the
benchmark's report.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sklearn.cluster
import sklearn.metrics

from refclust_bench import own, peers
from refclust_bench.judge import Result, difference
from refclust_bench.outcome import Work
from refclust_bench.workloads import WORKLOADS, BenchCase

REQUIRED = ("scikit-learn", "scipy")
CASES = [
    case
    for one in WORKLOADS.values()
    for case in one.cases(quick=True)
    if one.task not in ("start", "core nmi")
]
ENTRIES = [(case, entry) for case in CASES for entry in peers.TASKS[case.workload.task]]


def named(case: BenchCase, entry: peers.Entry) -> str:
    return f"{case.workload.id}-{case.sort}-{entry.peer}-{entry.variant}"


def result_of(work: Work, who: str, *, ours: bool) -> Result:
    outcome = work.told(work.run())
    assert outcome.digest() == work.told(work.run()).digest()
    return Result(who, ours, outcome.labels, outcome.iterations, outcome.value)


def both(case: BenchCase, entry: peers.Entry) -> tuple[Result, Result]:
    """The results of a peer and of the reference."""
    tiny, workload = case.tiny(), case.workload
    options = {**workload.options, "backend": "reference", "threads": 1}
    mine = result_of(getattr(own, own.TASKS[workload.task])(tiny, options), "reference", ours=True)
    maker = getattr(peers, entry.place)
    return result_of(maker(tiny, {**options, **entry.options}), entry.peer, ours=False), mine


# -- stand-ins ------------------------------------------------------------------------------------


def lloyd(rows: Any, centres: Any, limit: int | None) -> tuple[Any, Any, int]:
    """Centres, labels under them, and iterations; ties go to the lowest index."""
    labels, done = None, 0
    while limit is None or done < limit:
        nearest = ((rows[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        done += 1
        if labels is not None and (nearest == labels).all():
            break
        labels = nearest
        groups = [rows[labels == k] for k in range(len(centres))]
        means = [
            some.mean(axis=0) if len(some) else c for some, c in zip(groups, centres, strict=True)
        ]
        centres = np.stack(means)
    return centres, ((rows[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1), done


class NltkClusterer:
    """As nltk's: it asks ``_sum_distances`` once an iteration whether the means still move."""

    def __init__(self, k: int, distance: Any, *, initial_means: list[Any]) -> None:
        assert len(initial_means) == k
        assert distance is EUCLIDEAN
        self._means = np.array(initial_means)

    def cluster(self, rows: list[Any]) -> None:
        moving = True
        while moving:
            labels = np.array([self.classify(row) for row in rows])
            means = np.stack([np.array(rows)[labels == k].mean(axis=0) for k in self._names])
            moving = self._sum_distances(self._means, means) > 0
            self._means = means

    @property
    def _names(self) -> range:
        return range(len(self._means))

    def classify(self, row: Any) -> int:
        return int(((self._means - row) ** 2).sum(axis=1).argmin())

    def _sum_distances(self, left: Any, right: Any) -> float:
        return float(np.abs(left - right).sum())


EUCLIDEAN = object()


class FaissKmeans:
    """As faiss's: singles, a list of iterations, an index that searches."""

    def __init__(self, d: int, k: int, *, niter: int, max_points_per_centroid: int) -> None:
        self.d, self.k, self.niter, self.most = d, k, niter, max_points_per_centroid

    def train(self, rows: Any, *, init_centroids: Any) -> None:
        assert rows.dtype == init_centroids.dtype == np.float32
        assert rows.shape == (self.most, self.d)
        assert init_centroids.shape == (self.k, self.d)
        self.centres, self.labels, done = lloyd(rows, init_centroids, self.niter)
        self.iteration_stats: list[dict[str, float]] = [{}] * done
        self.index = SimpleNamespace(search=lambda _, k: (None, self.labels[:, None] * k))


def stood_in(monkeypatch: pytest.MonkeyPatch, **modules: Any) -> None:
    """Put stand-ins in the place of modules, installed or not; ``__`` is a dot."""
    for name, content in modules.items():
        module = ModuleType(name.replace("__", "."))
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.fixture
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """All peers that the tests do not require; the threads that daal4py was told are returned."""
    threads: list[int] = []
    stood_in(
        monkeypatch,
        daal4py={"daalinit": threads.append},
        sklearnex={},
        sklearnex__cluster={"KMeans": sklearn.cluster.KMeans},
        genieclust={},
        genieclust__compare_partitions={
            "normalized_mi_score": sklearn.metrics.normalized_mutual_info_score,
            "adjusted_rand_score": sklearn.metrics.adjusted_rand_score,
            "adjusted_mi_score": sklearn.metrics.adjusted_mutual_info_score,
        },
        nltk={},
        nltk__cluster={"KMeansClusterer": NltkClusterer, "euclidean_distance": EUCLIDEAN},
        faiss={"Kmeans": FaissKmeans},
    )
    return threads


# -- the same work --------------------------------------------------------------------------------


def test_every_peer_is_asked_or_stood_in_for() -> None:
    assert {entry.peer for _, entry in ENTRIES} == set(peers.PEERS)
    assert all(peers.PEERS[name].version for name in REQUIRED)


@pytest.mark.parametrize(("case", "entry"), ENTRIES, ids=[named(*pair) for pair in ENTRIES])
def test_peers_do_the_work_of_the_reference(
    case: BenchCase, entry: peers.Entry, stand_ins: list[int]
) -> None:
    theirs, mine = both(case, entry)
    if entry.peer == "scikit-learn-intelex":
        assert set(stand_ins) == {1}
    if entry.variant == "float32":
        # Singles are not comparable everywhere, and least of all far from the origin.
        assert theirs.labels is not None
        assert len(theirs.labels) == case.tiny().facts["n"]
        assert theirs.iterations in range(1, case.workload.options["limit"] + 1)
        return
    assert difference(case.workload, theirs, mine) is None


@pytest.mark.usefixtures("stand_ins")
def test_a_peer_whose_labels_are_wrong_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is installed: one that squares before it subtracts, far from the origin."""

    class Careless(sklearn.cluster.KMeans):  # type: ignore[misc]
        def fit(self, x: Any, *_: Any) -> Any:
            super().fit(x)
            squares = (self.cluster_centers_**2).sum(axis=1) - 2.0 * x @ self.cluster_centers_.T
            self.labels_ = squares.argmin(axis=1)
            return self

    stood_in(monkeypatch, sklearnex__cluster={"KMeans": Careless})
    case = WORKLOADS["KM-D"].case("offset 1e9", quick=True)
    theirs, mine = both(case, peers.Entry("scikit-learn-intelex", "sklearnex_kmeans"))
    fault = difference(case.workload, theirs, mine)
    assert fault is not None
    assert fault.endswith("labels are not those of reference")
