"""Dense k-means: labels, sums and squares of every step, whatever bounds and threads did."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refclust_numba import kmeans
from refclust_numba.backend import NumbaBackend
from refclust_numba.dense.screening import ROWS
from refclust_numba.exact import limbs, means, sums
from refclust_numba.exact.totals import LimbSums
from refclust_numba.lowlevel.threads import limited, threads
from refclust_numba.prepared import Rows
from refclust_numba.registry import FUNCTIONS

from refclust.data.dataset import Dataset, dense
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import LloydStep, accumulate, assign, squares
from refclust.kernels.points import Points
from refclust.testing.kit import threads_of


def data_of(values: Any, kind: str = "d", weights: Any = None) -> Dataset:
    values = np.asarray(values, float)
    weight_view = None if weights is None else memoryview(array("d", list(weights)))
    return dense(array(kind, values.ravel().tolist()), values.shape[1], weights=weight_view)


def centres_of(values: Any) -> CentreMatrix:
    return CentreMatrix.of([tuple(row) for row in np.asarray(values, float).tolist()])


def blobs(n: int, d: int, k: int, seed: int = 3) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(k, d))[rng.integers(0, k, n)] * 3 + rng.normal(size=(n, d))


def fit(rows: Rows, centres: CentreMatrix, count: int) -> Iterator[tuple[CentreMatrix, LloydStep]]:
    """Some iterations of Lloyd's algorithm; empty clusters stay where they were."""
    step: LloydStep | None = None
    for _ in range(count):
        with np.errstate(all="ignore"):
            step = kmeans.lloyd_step(rows, centres, step)
            table = np.asarray(means.means(rows, step.sums)).reshape(len(centres), rows.d).copy()
        yield centres, step
        for c, weight in enumerate(step.sums.weights):
            table[c] = table[c] if weight else centres[c]
        centres = centres_of(table)


def cases() -> dict[str, tuple[Dataset, int]]:
    rng = np.random.default_rng(11)
    cloud, grid = blobs(300, 9, 8), rng.integers(0, 3, size=(300, 9))
    twice = np.concatenate((cloud[:90], cloud[:90], cloud[:45]))
    wide = cloud * np.where(rng.random((300, 1)) < 0.1, 1e60, 1.0)
    heavy = np.where(rng.random(300) < 0.2, 0.0, rng.random(300) * 5)
    return {
        "blobs": (data_of(cloud), 8),
        "ties": (data_of(grid), 9),
        "twice": (data_of(twice), 9),
        "offset": (data_of(cloud + 1e9), 8),
        "subnormal": (data_of(cloud * 1e-310), 8),
        "small": (data_of(cloud * 1e-200), 8),
        "huge": (data_of(cloud * 1e300), 8),
        "wide": (data_of(wide), 8),
        "single": (data_of(cloud, "f"), 8),
        "single-offset": (data_of(cloud + 1e6, "f"), 8),
        "weights": (data_of(cloud, weights=heavy), 8),
        "integers": (data_of(np.round(cloud * 40)), 8),
        "one-column": (data_of(cloud[:, :1]), 70),
        "two-columns": (data_of(cloud[:, :2]), 5),
        "zeros": (data_of(cloud * 0), 8),
        "few-rows": (data_of(cloud[:5, :3]), 2),
        "one-cluster": (data_of(cloud), 1),
    }


CASES = cases()


@pytest.mark.parametrize("name", CASES)
def test_every_iteration_is_the_references(name: str) -> None:
    data, k = CASES[name]
    points, rows = Points(data), Rows(data)
    start = np.array([points.whole_row(i * 3 % data.n) for i in range(k)])
    before = array("i", [-1]) * data.n
    for centres, step in fit(rows, centres_of(start), 6):
        labels = assign(points, centres)
        assert list(step.labels) == list(labels)
        assert step.changed == sum(a != b for a, b in zip(labels, before, strict=True))
        due, made = accumulate(points, labels, k), step.sums.exact()
        shift = max(due.shift, made.shift)
        assert [[s << (shift - due.shift) for s in row] for row in due.sums] == [
            [s << (shift - made.shift) for s in row] for row in made.sums
        ]
        assert [due.weight(c) for c in range(k)] == [made.weight(c) for c in range(k)]
        before = labels
    assert FUNCTIONS["kmeans.squares"](rows, before, k) == squares(points, before, k)


@pytest.mark.parametrize(("kind", "offset"), [("d", 0.0), ("d", 1e9), ("f", 0.0)])
def test_bounds_change_no_label(kind: str, offset: float) -> None:
    data = data_of(blobs(4000, 16, 40) + offset, kind)
    rows = Rows(data)
    start = rows.table[:32].astype(float)
    proven = 0
    for number, (centres, step) in enumerate(fit(rows, centres_of(start), 40)):
        asked = rows.rungs.copy()
        assert bytes(step.labels) == bytes(kmeans.assign(Rows(data), centres))
        fresh = sums.accumulate(Rows(data), step.labels, 32).exact()
        assert fresh == step.sums.exact()
        proven += int(asked["float32"])
        assert sum(asked.values()) == (number + 1) * data.n


def test_margins_are_lower_bounds() -> None:
    data = data_of(blobs(1000, 12, 9) + 5.0)
    rows = Rows(data)
    table = rows.table.astype(np.longdouble)
    for centres, _ in fit(rows, centres_of(rows.table[:9]), 25):
        # The bounds were made under these centres, or under earlier ones and lowered since.
        margins = rows.memory["bounds"].margins[: rows.n]
        gaps = table[:, None, :] - np.array(centres, np.longdouble)[None, :, :]
        distances = np.sort(np.sqrt((gaps * gaps).sum(axis=2)), axis=1)
        assert rows.packed is not None
        room = (distances[:, 1] - distances[:, 0]) * np.longdouble(rows.packed.factor)
        assert (margins <= room).all()
    assert (margins > 0).mean() > 0.9


def test_bounds_belong_to_one_step_only() -> None:
    data = data_of(blobs(600, 16, 8))
    points, rows = Points(data), Rows(data)
    left, right = (centres_of(rows.table[at : at + 8]) for at in (0, 100))
    first = kmeans.lloyd_step(rows, left, None)
    # A step with equal labels in another object, one of other centres, and one taken twice.
    copy = LloydStep(array("i", list(first.labels)), first.changed, first.sums)
    second = kmeans.lloyd_step(rows, right, copy)
    again = kmeans.lloyd_step(rows, right, first)
    back = kmeans.lloyd_step(rows, left, first)
    assert list(second.labels) == list(again.labels) == list(assign(points, right))
    assert list(back.labels) == list(first.labels) == list(assign(points, left))
    assert second.changed == again.changed
    assert back.changed == 0
    assert again.sums.exact() == second.sums.exact()
    with pytest.raises(TypeError):
        memoryview(first.labels)[0] = 3


def test_labels_that_are_kept_stay() -> None:
    rows = Rows(data_of(blobs(500, 16, 8)))
    kept = [
        (step.labels, bytes(step.labels)) for _, step in fit(rows, centres_of(rows.table[:8]), 9)
    ]
    assert all(bytes(labels) == was for labels, was in kept)
    del kept
    buffers = rows.label_buffers
    for _ in fit(rows, centres_of(rows.table[:8]), 9):
        assert len(buffers._known) <= 3


@pytest.mark.parametrize("weighted", [False, True])
def test_threads_change_nothing(weighted: bool) -> None:
    values = blobs(7000, 10, 12)
    weights = np.random.default_rng(5).random(7000) if weighted else None
    answers = []
    for number in (1, 2, 3):
        with limited(number):
            assert threads() == number
            rows = Rows(data_of(values, weights=weights))
            steps = [step for _, step in fit(rows, centres_of(values[:12]), 8)]
            total = FUNCTIONS["kmeans.squares"](rows, steps[-1].labels, 12)
            answers.append(([(bytes(s.labels), s.changed, s.sums.exact()) for s in steps], total))
    assert answers[0] == answers[1] == answers[2]


def test_the_kit_can_tell_the_number_of_threads() -> None:
    limited = threads_of(NumbaBackend())
    assert limited is not None
    usual = threads()
    with limited(usual + 1):
        assert threads() == usual + 1
        with limited(1):
            assert threads() == 1
        assert threads() == usual + 1
    assert threads() == usual


@given(st.integers(1, 20), st.integers(1, 3 * ROWS), st.integers(-300, 300), st.sampled_from("df"))
@settings(max_examples=25, deadline=None)
def test_packed_rows_are_what_they_say(d: int, n: int, exponent: int, kind: str) -> None:
    rng = np.random.default_rng(d * 1000 + n)
    values = np.ldexp(rng.normal(size=(n, d)), exponent if kind == "d" else exponent // 8)
    values[rng.random((n, d)) < 0.2] = 0.0
    rows = Rows(data_of(values, kind))
    packed, table = rows.packed, rows.table.astype(float)
    assert packed is not None
    y = np.zeros((len(packed.blocks) * ROWS, d))
    y[:n] = (table - packed.offset) * packed.factor
    turned = y.reshape(-1, ROWS, d).transpose(0, 2, 1)
    assert np.array_equal(packed.blocks, turned.astype(np.float32))
    assert np.abs(y).max() <= 1
    lengths = np.sqrt((y * y).sum(axis=1))
    assert (packed.lengths >= lengths * (1 - 1e-15)).all()
    assert (packed.lengths <= lengths * (1 + 2.0**-20 * (1 + 2.0**-4)) + 1e-40).all()
    top, low = limbs.span(table.reshape(-1), 0, n * d)
    assert rows.span == (top, low) == Rows(rows.data).span


def test_sums_go_back_and_forth() -> None:
    data = data_of(blobs(900, 7, 5))
    rows = Rows(data)
    rng = np.random.default_rng(1)
    old, new = (rng.integers(-1, 5, 900).astype(np.int32) for _ in range(2))
    start = sums.Adding(rows, 5, None)
    start.move(np.arange(900), np.full(900, -1, np.int32), old)
    before = start.finished()
    adding = sums.Adding(rows, 5, before)
    adding.move(np.arange(900), old, new)
    after = adding.finished()
    alone = sums.Adding(rows, 5, None)
    alone.move(np.arange(900), np.full(900, -1, np.int32), new)
    assert isinstance(after, LimbSums)
    assert after.exact() == alone.finished().exact()
    assert after.weights == tuple(int((new == c).sum()) for c in range(5))
