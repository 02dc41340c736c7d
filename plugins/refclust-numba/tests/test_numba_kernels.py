"""Every kernel against the reference, by the kernel's own contract, on a ladder of stiff data."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refclust_numba import refclust_register_backends
from refclust_numba.backend import NumbaBackend
from refclust_numba.prepared import Rows
from refclust_numba.registry import FUNCTIONS

from refclust.backends import builtin  # noqa: F401  (registers all kernels)
from refclust.backends.protocol import Estimate, Problem
from refclust.data.dataset import Dataset, dense, sparse
from refclust.errors import RefclustError
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.contingency import LabelPairs
from refclust.kernels.information import Margins, expected_mi
from refclust.kernels.linkage import LINKAGES
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS

DRAWS = (0.0, 0.25, 0.5, 0.7182818, 1 - 2.0**-53)


def both(name: str, points: Any, rows: Any, *args: Any, other: tuple[Any, ...] = ()) -> Any:
    """The answers of the reference and of the backend, which must keep the contract."""
    due = KERNELS[name].reference(points, *args)
    answer = FUNCTIONS[name](rows, *(other or args))
    assert KERNELS[name].contract.fault(due, answer) is None
    return due, answer


def table(values: Any, kind: str = "d", **known: Any) -> Dataset:
    values = np.asarray(values, float)
    return dense(array(kind, values.ravel().tolist()), values.shape[1], **known)


def documents(seed: int, counts: bool) -> Dataset:
    rng = np.random.default_rng(seed)
    values = rng.random((150, 40)) * (rng.random((150, 40)) < 0.12)
    values = np.ceil(3 * values) if counts else values
    place = values != 0
    return sparse(
        array("q", np.concatenate(([0], place.sum(axis=1).cumsum())).tolist()),
        array("q", np.nonzero(place)[1].tolist()),
        array("d", values[place].tolist()),
        40,
    )


def ladder() -> dict[str, Dataset]:
    rng = np.random.default_rng(7)
    cloud = rng.normal(size=(200, 3))
    grid = rng.integers(0, 4, size=(200, 3))
    weights = array("d", (rng.integers(0, 3, 200) * 1.3).tolist())
    return {
        "offset 0": table(cloud),
        "offset 1e3": table(cloud + 1e3),
        "offset 1e6": table(cloud + 1e6),
        "offset 1e9": table(cloud + 1e9),
        "wide columns": table(rng.normal(size=(130, 19)) * np.logspace(-6, 6, 19)),
        "wide rows": table(cloud * np.exp(20 * rng.normal(size=(200, 1)))),
        "ties": table(grid),
        "ties in tenths": table(grid * 0.1),
        "duplicates": table(np.repeat(cloud[:9], 20, axis=0)),
        "one row": table([[1.5, -2.0]]),
        "all zero": table(np.zeros((5, 2))),
        "huge": table(cloud * 1e300),
        "tiny": table(cloud * 1e-310),
        "singles": table(cloud, "f"),
        "weights": table(cloud, weights=memoryview(weights).toreadonly()),
        "documents": documents(1, False),
        "counts": documents(2, True),
    }


LADDER = ladder()
EVERYWHERE = pytest.mark.parametrize("data", LADDER.values(), ids=LADDER)


def lockstep(data: Dataset, metric: str, k: int, passes: int = 3) -> Rows:
    """Both do each step from the reference's centres; returns the rows, for their counts."""
    points, rows = Points(data), Rows(data)
    places = range(0, data.n, max(1, data.n // k))
    centres: Any = tuple(points.whole_row(i) for i in places)
    k = len(centres)
    before: tuple[Any, Any] = (None, None)
    for _ in range(passes):
        both("kmeans.assign", points, rows, centres, metric)
        due, step = before = both(
            "kmeans.lloyd_step", points, rows, centres, before[0], metric,
            other=(centres, before[1], metric),
        )  # fmt: skip
        both("kmeans.accumulate", points, rows, due.labels, k)
        both("kmeans.squares", points, rows, due.labels, k)
        means, _ = both("kmeans.means", points, rows, due.sums, other=(step.sums,))
        for named in (centres, CentreMatrix.flat(means, data.d)):
            if metric == "cosine" and all(any(centre) for centre in named):
                both("kmeans.cosine_terms", points, rows, due.sums, named, other=(step.sums, named))
            both("kmeans.residual", points, rows, due.sums, named, other=(step.sums, named))
        centres = CentreMatrix.flat(means, data.d)
        if metric == "cosine" and not all(any(centre) for centre in centres):
            break
    return rows


@EVERYWHERE
def test_steps_in_lockstep(data: Dataset) -> None:
    lockstep(data, "euclidean", 7)


@pytest.mark.parametrize("name", ["offset 0", "ties", "singles", "documents", "counts"])
def test_steps_by_the_cosine(name: str) -> None:
    data = LADDER[name]
    rows = [i for i in range(data.n) if any(Points(data).whole_row(i))]
    lockstep(data.select(rows), "cosine", 6)


@EVERYWHERE
def test_steps_from_elsewhere(data: Dataset) -> None:
    points, rows = Points(data), Rows(data)
    centres = (points.whole_row(0), points.whole_row(data.n - 1))
    before = KERNELS["kmeans.lloyd_step"].reference(points, centres[::-1], None)
    both("kmeans.lloyd_step", points, rows, centres, before)
    first = FUNCTIONS["kmeans.lloyd_step"](rows, centres, None)
    gone = array("i", [-1 if i % 3 == 0 else label for i, label in enumerate(before.labels)])
    sums = KERNELS["kmeans.accumulate"].reference(
        Points(data), array("i", [max(label, 0) for label in gone]), 2
    )
    both("kmeans.lloyd_step", points, rows, centres, type(before)(gone, 0, sums))
    both("kmeans.means", points, rows, first.sums.exact())


@pytest.mark.parametrize("name", ["documents", "counts", "weights"])
def test_sums_stay_right_after_later_steps_used_them(name: str) -> None:
    data = LADDER[name]
    points, rows = Points(data), Rows(data)
    starts = [tuple(points.whole_row(i + 7 * c) for c in range(4)) for i in range(4)]
    steps: list[Any] = []
    for centres in starts:
        steps.append(FUNCTIONS["kmeans.lloyd_step"](rows, centres, steps[-1] if steps else None))
    contract = KERNELS["kmeans.accumulate"].contract
    for step in steps:
        due = KERNELS["kmeans.accumulate"].reference(points, step.labels, 4)
        assert contract.fault(due, step.sums) is None
        both("kmeans.means", points, rows, due, other=(step.sums,))


@EVERYWHERE
def test_seeding(data: Dataset) -> None:
    points, rows = Points(data), Rows(data)
    labels = array("i", [i % 3 for i in range(data.n)])
    for by in ("squares", "distinct"):
        so_far: tuple[Any, Any] = (None, None)
        for number in range(6):
            for r in DRAWS:
                row, _ = both(
                    "seeding.locate", points, rows, so_far[0], r, by, other=(so_far[1], r, by)
                )
            if row < 0:
                break
            centre = points.whole_row(row)
            so_far = both(
                "seeding.potential", points, rows, centre, so_far[0], other=(centre, so_far[1])
            )
            asked = tuple((number * 31 + 17 * c) % data.n for c in range(5))
            both("seeding.best_candidate", points, rows, so_far[0], asked, other=(so_far[1], asked))
            both("seeding.farthest", points, rows, so_far[0], other=(so_far[1],))
            both(
                "seeding.farthest", points, rows, so_far[0], labels, 1, other=(so_far[1], labels, 1)
            )
            # What the reference made is taken too, its estimates are not believed.
            both("seeding.locate", points, rows, so_far[0], 0.3)
            both("seeding.potential", points, rows, points.whole_row(data.n // 2), so_far[0])


def _refusal(function: Callable[..., Any], *args: Any) -> tuple[str, str] | None:
    """The code and the words of an error, if there is one."""
    try:
        function(*args)
    except RefclustError as error:
        return error.code, str(error)
    return None


@EVERYWHERE
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
def test_distances_and_trees(data: Dataset, metric: str) -> None:
    some = data.select(range(min(data.n, 60)))
    points, rows = Points(some), Rows(some)
    refused = _refusal(KERNELS["distances.pairwise"].reference, points, metric)
    assert _refusal(FUNCTIONS["distances.pairwise"], rows, metric) == refused
    if refused is not None:
        return
    due = KERNELS["distances.pairwise"].reference(points, metric)
    answer = FUNCTIONS["distances.pairwise"](rows, metric)
    assert KERNELS["distances.pairwise"].contract.fault(due, answer) is None
    if max(due, default=0.0) < 2.0**900:
        for linkage in LINKAGES:
            both("linkage.agglomerate", due, answer, some.n, linkage)


def test_every_rung_of_the_ladder_decides_something() -> None:
    counts = dict.fromkeys(Rows(LADDER["ties"]).rungs, 0)
    for name in ("offset 0", "ties", "ties in tenths", "huge", "wide rows"):
        for rung, count in lockstep(LADDER[name], "euclidean", 7, 1).rungs.items():
            counts[rung] += count
    # Two rows a hair from the middle of two centres: only double-double sees on which side.
    hair = table([[0.5 + 2.0**-60, 2.0**30], [0.5, 2.0**30], [2.0**-60, 1.0]])
    rows = Rows(hair)
    centres = ((0.0, 2.0**30 + 0.5), (1.0, 2.0**30 - 0.5), (1.0, 2.0**30 + 0.5))
    both("kmeans.assign", Points(hair), rows, centres)
    counts["double-double"] += rows.rungs["double-double"]
    assert all(counts.values()), counts


LABELS: list[tuple[Any, Any]] = [
    ([1, 2, 2, 5], [0, 0, 1, 1]),
    (list("aab"), list("xyx")),
    ([True, 1, 2.0], [1, 2, 2]),
    ([10**30, 5], [1, -2]),
    ([2**63 - 1, -(2**63), 7], [0, 10**15, 0]),
    (np.array([3, 1, 3]), np.array([1, 1, 1], np.int8)),
    (array("i", [0, 0, 4]), (None, "a", None)),
    ([], []),
]


@pytest.mark.parametrize(("clusters", "classes"), LABELS)
def test_counting(clusters: Any, classes: Any) -> None:
    pairs = LabelPairs(clusters, classes)
    both("contingency.table", pairs, pairs)
    weighted = LabelPairs(clusters, classes, [2] * len(clusters))
    both("contingency.table", weighted, weighted)


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (((2, 2),), ((2, 2),)),
        (((3, 1), (7, 1)), ((5, 2),)),
        (((50, 4), (300, 1)), ((100, 5),)),
        (((1, 10),), ((1, 10),)),
        (((1, 9), (1001, 1)), ((505, 2),)),
        (((1000, 10),), ((500, 19), (499, 1), (1, 1))),
    ],
)
def test_expected_information_is_enclosed(rows: Any, columns: Any) -> None:
    margins = Margins(rows, columns, sum(size * count for size, count in rows))
    narrow = expected_mi(margins, 50)
    for digits in (20, 30, 40):
        answer = FUNCTIONS["information.expected_mi"](margins, digits)
        assert KERNELS["information.expected_mi"].contract.fault(narrow, answer) is None
        # Enough for the nearest double: 22 digits of the terms, of which some cancel.
        assert answer[1] - answer[0] < 1e-22


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=1, max_size=30),
    st.sampled_from([1.0, 0.1, 1e9, 2.0**-30]),
    st.lists(st.lists(st.integers(0, 6), min_size=2, max_size=2), min_size=1, max_size=5),
)
@settings(max_examples=60, deadline=None)
def test_ties_everywhere(values: list[list[int]], unit: float, centres: list[list[int]]) -> None:
    data = table(np.array(values) * unit)
    points, rows = Points(data), Rows(data)
    named = tuple(tuple(unit * c / 2 for c in centre) for centre in centres)
    due, step = both("kmeans.lloyd_step", points, rows, named, None)
    both("kmeans.means", points, rows, due.sums, other=(step.sums,))
    both("kmeans.residual", points, rows, due.sums, named, other=(step.sums, named))
    so_far = both("seeding.potential", points, rows, named[0])
    for centre in named[1:]:
        so_far = both(
            "seeding.potential", points, rows, centre, so_far[0], other=(centre, so_far[1])
        )
    both("seeding.farthest", points, rows, so_far[0], other=(so_far[1],))
    both("seeding.locate", points, rows, so_far[0], 0.5, other=(so_far[1], 0.5))
    asked = tuple(range(min(4, data.n)))
    both("seeding.best_candidate", points, rows, so_far[0], asked, other=(so_far[1], asked))
    due, answer = both("distances.pairwise", points, rows, "sqeuclidean")
    for linkage in ("single", "average", "ward"):
        both("linkage.agglomerate", due, answer, data.n, linkage)


def test_every_kernel_is_offered_but_exact_sums_of_parts() -> None:
    [backend] = refclust_register_backends()
    exact = {"gaussian.exact_moments", "multinomial.exact_tallies"}
    parts = {"seeding.mass", "seeding.beyond", *exact}
    assert set(backend.kernels()) == set(FUNCTIONS) == set(KERNELS) - parts


def test_nobody_waits_on_a_thousand_rows() -> None:
    reference: Callable[..., Any] = (
        __import__("refclust.backends.builtin", fromlist=["Reference"]).Reference().supports
    )
    for kernel in ("kmeans.lloyd_step", "seeding.potential", "contingency.table"):
        small = Problem("dense", 1000, 4000, 3)
        ours, theirs = NumbaBackend().supports(kernel, small), reference(kernel, small)
        assert isinstance(ours, Estimate)
        assert isinstance(theirs, Estimate)
        assert ours.seconds > theirs.seconds
    large = Problem("dense", 200_000, 3_200_000, 32)
    ours, theirs = (
        NumbaBackend().supports("kmeans.lloyd_step", large),
        reference("kmeans.lloyd_step", large),
    )
    assert isinstance(ours, Estimate)
    assert isinstance(theirs, Estimate)
    assert ours.seconds < theirs.seconds
