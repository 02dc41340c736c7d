"""The kernels of k-means against the reference, step by step and as whole fits."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refclust_numpy.nearest import screening
from refclust_numpy.nearest.ladder import SparseField
from refclust_numpy.rows import Rows
from support import LADDER, NUMPY, REFERENCE, both, equal, sparse_data

from refclust.cluster.fit import kmeans
from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset, sparse
from refclust.kernels.centres import CentreMatrix

METRICS = ("euclidean", "cosine")


def lockstep(data: Dataset, k: int, metric: str, steps: int = 4) -> Rows:
    """Run both sides from the reference's centres and compare everything after each step."""
    points, rows = both(data)
    pick = np.random.default_rng(3).permutation(data.n)
    centres: Any = [c for c in map(points.whole_row, pick.tolist()) if any(c)][:k]
    due = got = None
    for _ in range(steps):
        equal(
            "kmeans.assign",
            REFERENCE["kmeans.assign"](points, centres, metric),
            NUMPY["kmeans.assign"](rows, CentreMatrix.of(centres), metric),
        )
        due = REFERENCE["kmeans.lloyd_step"](points, centres, due, metric)
        got = NUMPY["kmeans.lloyd_step"](rows, CentreMatrix.of(centres), got, metric)
        equal("kmeans.lloyd_step", due, got)
        means = REFERENCE["kmeans.means"](points, due.sums)
        equal("kmeans.means", means, NUMPY["kmeans.means"](rows, got.sums))
        equal("kmeans.means", means, NUMPY["kmeans.means"](rows, due.sums))
        for kernel in ("kmeans.residual", "kmeans.cosine_terms"):
            right = REFERENCE[kernel](points, due.sums, centres)
            equal(kernel, right, NUMPY[kernel](rows, got.sums, centres))
            equal(kernel, right, NUMPY[kernel](rows, due.sums, CentreMatrix.of(centres)))
        equal(
            "kmeans.squares",
            REFERENCE["kmeans.squares"](points, due.labels, len(centres)),
            NUMPY["kmeans.squares"](rows, got.labels, len(centres)),
        )
        flat, d = means.tolist(), data.d
        moved = [tuple(flat[j * d : (j + 1) * d]) for j in range(len(centres))]
        centres = [new if any(new) else old for new, old in zip(moved, centres, strict=True)]
    return rows


@pytest.mark.parametrize("name", LADDER)
def test_steps_are_the_references_on_the_ladder(name: str) -> None:
    lockstep(LADDER[name], 6, "euclidean")


@pytest.mark.parametrize(
    "name",
    [
        *("cloud+0", "thirds+0", "whole+0", "singles", "sparse", "sparse whole"),
        *("zeros stored", "negative zeros stored", "zeros of both signs"),
    ],
)
def test_cosine_steps_are_the_references(name: str) -> None:
    lockstep(LADDER[name], 5, "cosine")


small = st.integers(-2, 2).map(float)


@given(
    st.integers(1, 3).flatmap(
        lambda d: st.tuples(
            st.lists(st.lists(small, min_size=d, max_size=d), min_size=1, max_size=12),
            st.lists(st.lists(small, min_size=d, max_size=d), min_size=1, max_size=5),
        )
    ),
    st.sampled_from([1.0, 1 / 3, 1e-160, 3e200]),
    st.sampled_from([0.0, 1e9]),
    st.sampled_from(METRICS),
)
def test_ties_go_to_the_lowest_index(
    both_parts: tuple[list[list[float]], list[list[float]]],
    scale: float,
    offset: float,
    metric: str,
) -> None:
    rows = [[x * scale + offset * scale for x in row] for row in both_parts[0]]
    centres = [tuple(x * scale + offset * scale for x in row) for row in both_parts[1]]
    if metric == "cosine":
        rows = [row if any(row) else [1.0] * len(row) for row in rows]
        centres = [c if any(c) else (1.0,) * len(c) for c in centres]
    points, own = both(dataset(rows))
    due = REFERENCE["kmeans.assign"](points, centres, metric)
    equal("kmeans.assign", due, NUMPY["kmeans.assign"](own, centres, metric))
    due = REFERENCE["kmeans.accumulate"](points, due, len(centres))
    given_labels = NUMPY["kmeans.assign"](own, centres, metric)
    equal("kmeans.accumulate", due, NUMPY["kmeans.accumulate"](own, given_labels, len(centres)))


def test_an_offset_of_a_billion_leaves_few_rows_to_the_upper_rungs() -> None:
    random = np.random.default_rng(5)
    cloud = random.standard_normal((4000, 4)) + 1e9
    rows = Rows(dataset(cloud))
    NUMPY["kmeans.assign"](rows, cloud[:8].tolist())
    assert sum(rows.rungs.values()) == 4000
    assert rows.rungs["float32"] > 3900
    assert rows.rungs["integers"] == 0


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("unit", [0.0, 1.0, 1 / 3])
def test_rows_that_cannot_change_are_not_looked_at(unit: float, offset: float) -> None:
    random = np.random.default_rng(9)
    cloud = random.standard_normal((1200, 2)) + 4 * random.integers(0, 3, (1200, 1)) + offset
    cloud = np.round(cloud) * unit if unit else cloud
    rows = lockstep(dataset(cloud), 7, "euclidean", steps=9)
    assert rows.rungs["kept"] > 1200


def test_only_the_last_step_is_believed() -> None:
    cloud = np.random.default_rng(9).standard_normal((300, 2))
    points, rows = both(dataset(cloud))
    near = list(map(tuple, cloud[:4].tolist()))
    far = [(x + 1.0, y) for x, y in near]
    first = NUMPY["kmeans.lloyd_step"](rows, near, None)
    due = REFERENCE["kmeans.lloyd_step"](points, near, None)
    for centres in (far, near, far, near[::-1]):
        # The first step is old by now, and a copy of its labels is not the labels it gave.
        for before in (first, due):
            equal(
                "kmeans.lloyd_step",
                REFERENCE["kmeans.lloyd_step"](points, centres, due),
                NUMPY["kmeans.lloyd_step"](rows, centres, before),
            )


def test_two_places_far_apart_are_left_to_differences() -> None:
    random = np.random.default_rng(5)
    cloud = np.concatenate(
        [random.standard_normal((3000, 2)), random.standard_normal((3000, 2)) + 1e9]
    )
    points, rows = both(dataset(cloud))
    centres = cloud[::600].tolist()
    equal(
        "kmeans.assign",
        REFERENCE["kmeans.assign"](points, list(map(tuple, centres))),
        NUMPY["kmeans.assign"](rows, centres),
    )
    assert rows.rungs["float64"] > 5000


def test_without_scipy_sparse_rows_go_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    data = sparse_data(8, n=300, d=40)
    points, rows = both(data)
    centres = [points.whole_row(i) for i in range(7)]
    due = REFERENCE["kmeans.assign"](points, centres)
    from scipy.sparse import csr_array

    for multiplier in (None, csr_array):
        monkeypatch.setattr(screening, "csr_kind", lambda *_, m=multiplier: m)
        equal("kmeans.assign", due, NUMPY["kmeans.assign"](rows, centres))


def test_the_chunks_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    data = LADDER["thirds+0"]
    points, rows = both(data)
    centres = [points.whole_row(i) for i in range(9)]
    monkeypatch.setattr(screening, "_SCORES", 64)
    due = REFERENCE["kmeans.assign"](points, centres)
    equal("kmeans.assign", due, NUMPY["kmeans.assign"](rows, centres))


def test_doubles_take_over_where_singles_doubt_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    cloud = random.standard_normal((2000, 2)) + random.integers(0, 2, (2000, 1)) * 1e5
    points, rows = both(dataset(cloud))
    centres = list(map(tuple, cloud[:8].tolist()))
    monkeypatch.setattr(screening, "_SCORES", 1 << 11)
    due = REFERENCE["kmeans.assign"](points, centres)
    equal("kmeans.assign", due, NUMPY["kmeans.assign"](rows, centres))
    assert rows.rungs["float64"] > 1000
    assert sum(rows.rungs.values()) == 2000


@pytest.mark.parametrize("start", ["k-means++", "greedy", "random", "farthest"])
@pytest.mark.parametrize("name", ["thirds+0", "cloud+1e+09", "weights", "sparse weights"])
def test_whole_fits_are_the_references(name: str, start: str) -> None:
    options: Any = {"start": start, "seed": 3, "restarts": 2, "trace": "full"}
    due = kmeans(LADDER[name], 5, backend="reference", **options)
    got = kmeans(LADDER[name], 5, backend="numpy", **options)
    assert got.labels == due.labels
    assert got.centres == due.centres
    assert got.exact_within == due.exact_within
    assert got.runs == due.runs  # every iteration: labels, centres, RSS
    assert {run.backend for run in got.provenance.kernels} == {"numpy"}


@pytest.mark.parametrize("empty", ["farthest", "split", "keep", "drop"])
def test_empty_clusters_are_treated_the_same_way(empty: Any) -> None:
    data = LADDER["few rows again and again"]
    centres = [[1.0, 2.0], [50.0, 50.0], [3.0, 4.0], [60.0, 60.0], [2.0, 3.5]]
    due = kmeans(data, centres=centres, empty=empty, trace="full", backend="reference")
    got = kmeans(data, centres=centres, empty=empty, trace="full", backend="numpy")
    assert got.runs == due.runs
    assert got.labels == due.labels


def test_cosine_fits_are_the_references() -> None:
    due = kmeans(LADDER["sparse"], 4, metric="cosine", trace="full", backend="reference")
    got = kmeans(LADDER["sparse"], 4, metric="cosine", trace="full", backend="numpy")
    assert got.runs == due.runs
    assert got.labels == due.labels


@pytest.mark.parametrize("start", ["k-means++", "greedy", "random", "farthest"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_cosine_fits_on_rows_whose_directions_underflow(start: Any, sign: float) -> None:
    rows = [{0: 1e300, 1: sign * 1e-300}, {0: 1e300}, {1: 1.0}, {0: 1.0, 1: 1.0}, {0: 2.0, 1: 1.0}]
    for seed in range(20):
        options: Any = {"metric": "cosine", "start": start, "seed": seed, "trace": "full"}
        due = kmeans(rows, 3, backend="reference", **options)
        got = kmeans(rows, 3, backend="numpy", **options)
        assert got.runs == due.runs
        assert got.labels == due.labels


def test_equal_sparse_rows_are_decided_once_however_their_zeros_are_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starts = array("q", [0, 1, 3, 5])
    data = sparse(starts, array("q", [0, 0, 1, 0, 1]), array("d", [1, 1, 0.0, 1, -0.0]), 3)
    decided: list[int] = []
    exact = SparseField.exact

    def counted(self: SparseField, i: int, centres: list[int]) -> int:
        decided.append(i)
        return exact(self, i, centres)

    monkeypatch.setattr(SparseField, "exact", counted)
    centres = [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]  # as far from every row as each other
    assert NUMPY["kmeans.assign"](Rows(data), centres).tolist() == [0, 0, 0]
    assert decided == [0]


def test_nothing_is_copied_and_singles_stay_singles() -> None:
    cloud = np.random.default_rng(1).standard_normal((50, 4))
    assert np.shares_memory(Rows(dataset(cloud)).values, cloud)
    singles = cloud.astype(np.float32)
    assert np.shares_memory(Rows(dataset(singles)).values, singles)
    assert Rows(dataset(singles)).values.dtype == np.float32


@pytest.mark.parametrize("k", [2, 3, 5, 8, 300])
def test_the_two_least_scores_of_any_number_of_centres(k: int) -> None:
    random = np.random.default_rng(k)
    scores = random.integers(0, 2 * k, (k, 50)).astype(np.float32)  # many ties
    scores[random.integers(0, k), :5] = np.nan
    work = np.empty((2, (k + 1) // 2, 50), dtype=np.float32)
    least, second = screening._two_least(scores.copy(), work)
    due = np.sort(scores, axis=0)
    assert least[5:].tolist() == due[0, 5:].tolist()
    assert second[5:].tolist() == due[1, 5:].tolist()
    assert np.isnan(least[:5]).all()


def test_more_centres_than_a_byte_counts() -> None:
    random = np.random.default_rng(12)
    cloud = random.integers(0, 30, (900, 2)).astype(float)
    points, rows = both(dataset(cloud))
    centres = list(map(tuple, random.permutation(np.unique(cloud + 0.5, axis=0))[:300].tolist()))
    due = REFERENCE["kmeans.assign"](points, centres)
    equal("kmeans.assign", due, NUMPY["kmeans.assign"](rows, centres))


@pytest.mark.parametrize("far", [1e12, 1e60, 1e200, 1e308])
def test_a_centre_far_beyond_all_rows(far: float) -> None:
    cloud = np.random.default_rng(13).standard_normal((300, 2))
    points, rows = both(dataset(cloud))
    near = list(map(tuple, cloud[:3].tolist()))
    due = got = None
    for centres in ([*near, (far, 0.0)], [*near, (far, 1.0)], [*near[::-1], (0.0, -far)]):
        due = REFERENCE["kmeans.lloyd_step"](points, centres, due)
        got = NUMPY["kmeans.lloyd_step"](rows, centres, got)
        equal("kmeans.lloyd_step", due, got)


@pytest.mark.parametrize("name", ["sparse", "sparse whole", "sparse weights", "sparse tiny"])
def test_sparse_rows_that_cannot_change_are_not_looked_at(name: str) -> None:
    rows = lockstep(LADDER[name], 6, "euclidean", steps=9)
    assert rows.rungs["kept"] > rows.n


@pytest.mark.parametrize("power", [62, 63, 64, 65, 128, 500, 700])
@pytest.mark.parametrize("stored", [True, False])
def test_a_centre_that_was_beyond_singles_may_come_back(power: int, stored: bool) -> None:
    """Scores that overflow say which centre is nearest, but not by how much."""
    table = [[1.0, 0.5, 0.0], [0.25, -1.0, 0.0], [3.0, 2.0, 1.0], [0.0, 0.0, 0.0], [-1.5, 0.0, 2.0]]
    maps = [{j: x for j, x in enumerate(row) if x} for row in table]
    data = dataset(maps, features=(0, 1, 2)) if stored else dataset(table)
    points, rows = both(data)
    far = [(-1.0 * 2.0**power, -3.0 * 2.0**power, 0.25), (0.5, 0.5 * 2.0**power, -4.0 * 2.0**power)]
    near = [tuple(row) for row in table[:3]]
    due = got = None
    for centres in ([near[2], *far], [near[0], near[1], far[1]], [near[1], near[0], near[2]]):
        due = REFERENCE["kmeans.lloyd_step"](points, centres, due, "euclidean")
        got = NUMPY["kmeans.lloyd_step"](rows, CentreMatrix.of(centres), got, "euclidean")
        equal("kmeans.lloyd_step", due, got)


def test_a_fit_begun_again_uses_sums_of_the_step_before() -> None:
    cloud = np.random.default_rng(4).standard_normal((400, 3))
    points, rows = both(dataset(cloud))
    centres = list(map(tuple, cloud[:5].tolist()))
    moved = [tuple(x + 2.0**-9 for x in c) for c in centres]
    for some in (centres, moved, centres[:4], moved, moved[::-1]):
        due = REFERENCE["kmeans.lloyd_step"](points, some, None)
        equal("kmeans.lloyd_step", due, NUMPY["kmeans.lloyd_step"](rows, some, None))


@pytest.mark.parametrize("n", [2, 4, 6, 64])
def test_means_halfway_between_doubles(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two doubles that are neighbours have a mean halfway; arrays must say which one it is."""
    random = np.random.default_rng(n)
    lower = random.random((n // 2, 5000)) + 1.0
    lower[:] = lower[0]
    cloud = np.concatenate([lower, np.nextafter(lower, 2.0)])
    points, rows = both(dataset(cloud))
    labels = np.zeros(n, dtype=np.int32)
    due = REFERENCE["kmeans.means"](points, REFERENCE["kmeans.accumulate"](points, labels.data, 1))
    got = NUMPY["kmeans.accumulate"](rows, labels, 1)
    if n & (n - 1) == 0:  # a weight that divides without a rest
        monkeypatch.setattr("refclust_numpy.exact.sums.nearest", None)  # no need to ask integers
    equal("kmeans.means", due, NUMPY["kmeans.means"](rows, got))


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
def test_the_box_of_short_rows(n: int) -> None:
    cloud = np.random.default_rng(n).standard_normal((n, 3)) + 5
    low, high = Rows(dataset(cloud)).box
    assert low.tolist() == cloud.min(axis=0).tolist()
    assert high.tolist() == cloud.max(axis=0).tolist()


def test_sparse_rows_of_small_numbers_have_a_length() -> None:
    rows = Rows(LADDER["sparse tiny"])
    due = np.sqrt(np.add.reduceat((rows.values * 1e200) ** 2, rows.starts[:-1])) * 1e-200
    assert np.allclose(rows.lengths, due, rtol=1e-12, atol=0.0)
