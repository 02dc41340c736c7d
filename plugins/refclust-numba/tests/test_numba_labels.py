"""Labels in buffers: counted where they lie, by any number of threads, and whole calls on them."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from refclust_numba.registry import FUNCTIONS
from refclust_numba.tables import contingency

from refclust import score
from refclust.kernels.contingency import CellTable, LabelPairs
from refclust.kernels.information import Margins, expected_mi
from refclust.kernels.registry import KERNELS

TABLE = KERNELS["contingency.table"]
random = np.random.default_rng(11)


def counted(clusters: Any, classes: Any) -> Any:
    """What the backend counts, after comparing it with the reference."""
    pairs = LabelPairs(memoryview(clusters), memoryview(classes))  # type: ignore[arg-type]
    before = bytes(memoryview(clusters)), bytes(memoryview(classes))
    answer = FUNCTIONS["contingency.table"](pairs)
    assert TABLE.contract.fault(TABLE.reference(pairs), answer) is None
    assert (bytes(memoryview(clusters)), bytes(memoryview(classes))) == before
    return answer


@pytest.mark.parametrize("left", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("right", ["i1", "i4", "u8"])
def test_integers_of_any_width(left: str, right: str) -> None:
    for n in (1, 2, 3, 5, 300):
        a = random.integers(0 if left[0] == "u" else -9, 9, n).astype(left)
        b = random.integers(0, 5, n).astype(right)
        assert isinstance(counted(a, b), CellTable)


LONG = 300_000


@pytest.mark.parametrize("threads", ["1", "2", "3"])
@pytest.mark.parametrize(
    ("rows", "columns"),
    [(20, 20), (1, 7), (3, 5000), (128, 128), (129, 128), (1000, 1000), (200_000, 2)],
)
def test_any_shape_by_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, threads: str, rows: int, columns: int
) -> None:
    monkeypatch.setenv("REFCLUST_THREADS", threads)
    made = np.random.default_rng(rows * columns)
    n = LONG if rows * columns < 20_000 else 20_000
    a = made.integers(-5, rows - 5, n).astype(np.int32)
    b = made.integers(7, columns + 7, n).astype(np.int32)
    a[: n // 2] = a[0]  # long runs of one pair
    b[: n // 2] = b[0]
    counted(a, b)
    counted(a.astype(np.int64), b)


def test_labels_at_the_ends_of_their_range_and_far_apart() -> None:
    ends = np.array([2**63 - 1, -(2**63), 7, 7, -(2**63)])
    counted(ends, ends)
    counted(ends[:1], ends[:1])
    counted(ends[3:4], ends[1:2])
    near = 2**63 - 1 - random.integers(0, 4, 100_000)
    counted(near, -near - 1)
    apart = random.integers(-(2**62), 2**62, 500)
    counted(random.choice(apart, 9000), random.integers(0, 3, 9000))
    top = np.array([2**63, 2**64 - 1, 0], np.uint64)
    assert type(counted(top, np.array([1, 2, 3]))) is dict
    thirty_two = np.array([2**31 - 1, -(2**31), 0], np.int32)
    counted(thirty_two, thirty_two)
    counted(np.array([0, 2**32 - 1], np.uint32), np.array([0, 1], np.uint32))


def test_labels_that_nobody_carries_are_not_there() -> None:
    table = counted(array("i", [0, 9, 9, 4]), array("i", [100, 90, 90, 100]))
    assert (list(table.clusters), list(table.classes)) == ([0, 4, 9], [90, 100])
    assert list(table.row_sums) == [1, 1, 2]
    assert table.sizes == {1: 2, 2: 1}
    assert {type(x) for cell in table for x in cell} == {int}


def test_more_labels_than_numbers_have_bits_are_left_to_the_reference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(contingency, "_MOST", 10)
    assert type(counted(array("i", range(10)), array("i", range(10)))) is dict


def margins(rows: dict[int, int], columns: dict[int, int]) -> Margins:
    n = sum(size * count for size, count in rows.items())
    assert n == sum(size * count for size, count in columns.items())
    return Margins(tuple(sorted(rows.items())), tuple(sorted(columns.items())), n)


@pytest.mark.parametrize(
    "problem",
    [
        margins({1: 1}, {1: 1}),
        margins({7: 1}, {7: 1}),
        margins({7: 1}, {1: 7}),
        margins({5: 1, 6: 1, 1: 1}, {11: 1, 1: 1}),  # a + b > n
        margins({900: 1, 100: 1}, {950: 1, 50: 1}),
        margins(
            dict.fromkeys(range(1, 41), 1), dict.fromkeys(range(1, 41), 1)
        ),  # three groups of lanes
        margins({1: 900, 2100: 1}, {3: 500, 1500: 1}),
        margins({60_000: 1, 40_000: 1}, {50_000: 2}),  # many steps
    ],
)
def test_expected_information_of_any_shape(
    monkeypatch: pytest.MonkeyPatch, problem: Margins
) -> None:
    narrow = expected_mi(problem, 45)
    answers = set()
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("REFCLUST_THREADS", threads)
        answers.add(FUNCTIONS["information.expected_mi"](problem, 30))
    [answer] = answers
    assert KERNELS["information.expected_mi"].contract.fault(narrow, answer) is None
    assert answer[1] - answer[0] < 1e-22


@pytest.mark.parametrize("key", ["nmi[average=arithmetic]", "ari", "ami", "v_measure", "rand"])
def test_whole_calls_are_the_references(key: str) -> None:
    made = np.random.default_rng(5)
    true = made.integers(0, 12, 4000).astype(np.int32)
    pred = np.where(made.random(4000) < 0.3, true, made.integers(0, 9, 4000)).astype(np.int32)
    ours = score(key, true, pred, backend="numba")
    theirs = score(key, true.tolist(), pred.tolist(), backend="reference")
    assert (float(ours), ours.certified) == (float(theirs), True)
    assert ours.fraction == theirs.fraction
    assert {run.backend for run in ours.provenance.kernels} == {"numba"}
    assert ours.table.rows() == theirs.table.rows()
