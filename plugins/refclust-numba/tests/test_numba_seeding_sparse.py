"""Seeding and sparse steps against the reference on stiff data, many calls on the same rows."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from refclust_numba.lowlevel.threads import VARIABLE
from refclust_numba.prepared import Rows
from refclust_numba.registry import FUNCTIONS
from refclust_numba.sparse import sums as sparse_sums
from refclust_numba.sparse.versions import Versions

from refclust.data.dataset import Dataset, dense, sparse
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import LloydStep
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS

RANDOM = np.random.default_rng(20)


def table(values: Any, kind: str = "d", weights: Any = None) -> Dataset:
    values = np.asarray(values, float)
    known = {} if weights is None else {"weights": memoryview(array("d", weights)).toreadonly()}
    return dense(array(kind, values.ravel().tolist()), values.shape[1], **known)


def documents(values: Any, kind: str = "d", weights: Any = None) -> Dataset:
    values = np.asarray(values, float)
    place = values != 0
    known = {} if weights is None else {"weights": memoryview(array("d", weights)).toreadonly()}
    return sparse(
        array("q", np.concatenate(([0], place.sum(axis=1).cumsum())).tolist()),
        array("q", np.nonzero(place)[1].tolist()),
        array(kind, values[place].tolist()),
        values.shape[1],
        **known,
    )


def with_zeros(values: Any, shown: Any, kind: str = "d") -> Dataset:
    """Sparse rows that store some of their zeros, every other one with a minus sign."""
    values = np.asarray(values, float)
    stored = (values != 0) | shown
    numbers = values[stored]
    zeros = np.nonzero(numbers == 0)[0]
    numbers[zeros[::2]] = -0.0
    return sparse(
        array("q", np.concatenate(([0], stored.sum(axis=1).cumsum())).tolist()),
        array("q", np.nonzero(stored)[1].tolist()),
        array(kind, numbers.tolist()),
        values.shape[1],
    )


CLOUD = RANDOM.normal(size=(150, 5))
GRID = RANDOM.integers(0, 3, size=(150, 4))
WORDS = np.ceil(4 * RANDOM.random((150, 30))) * (RANDOM.random((150, 30)) < 0.2)
WORDS[:, 0] += 1  # no row without a number
SCALED = WORDS / np.sqrt((WORDS * WORDS).sum(axis=1, keepdims=True))
SOME = (RANDOM.integers(0, 3, 150) * 0.7).tolist()

DENSE = {
    "cloud": table(CLOUD),
    "offset": table(CLOUD + 1e9),
    "ties": table(GRID),
    "duplicates": table(np.repeat(CLOUD[:10], 15, axis=0)),
    "subnormal": table(CLOUD * 1e-310),
    "tiny": table(CLOUD * 1e-160),
    "huge": table(CLOUD * 1e307),
    "heavy tails": table(CLOUD * np.exp(9 * RANDOM.normal(size=(150, 1)))),
    "singles": table(CLOUD, "f"),
    "weights": table(GRID, weights=SOME),
    "many columns": table(RANDOM.normal(size=(70, 37))),
}
SPARSE = {
    "counts": documents(WORDS),
    "scaled": documents(SCALED),
    "offset": documents(WORDS + np.where(WORDS > 0, 1e9, 0.0)),
    "subnormal": documents(WORDS * 1e-310),
    "huge": documents(SCALED * 1e200),
    "larger than any": documents(SCALED * 1e307),
    "heavy tails": documents(SCALED * np.exp(6 * RANDOM.normal(size=(150, 1)))),
    "duplicates": documents(np.repeat(SCALED[:10], 15, axis=0)),
    "singles": documents(SCALED, "f"),
    "weights": documents(WORDS, weights=SOME),
    "stored zeros": with_zeros(WORDS, RANDOM.random(WORDS.shape) < 0.2),
    # Copies of ten rows that store more or fewer of their zeros.
    "stored zeros in copies": with_zeros(
        np.repeat(SCALED[:10], 15, axis=0), RANDOM.random(WORDS.shape) < 0.1, "f"
    ),
}
EVERYWHERE = pytest.mark.parametrize(
    "data",
    [*DENSE.values(), *SPARSE.values()],
    ids=[*DENSE, *(f"sparse {name}" for name in SPARSE)],
)
SPARSELY = pytest.mark.parametrize("data", SPARSE.values(), ids=SPARSE)


def both(name: str, points: Any, rows: Any, due_args: Any, args: Any) -> Any:
    due = KERNELS[name].reference(points, *due_args)
    answer = FUNCTIONS[name](rows, *args)
    assert KERNELS[name].contract.fault(due, answer) is None
    return due, answer


@EVERYWHERE
def test_greedy_seeding_in_lockstep(data: Dataset) -> None:
    points, rows = Points(data), Rows(data)
    draws = np.random.default_rng(1)
    before: tuple[Any, Any] = (None, None)
    row = 3
    for _ in range(8):
        centre = points.whole_row(row)
        before = both("seeding.potential", points, rows, (centre, before[0]), (centre, before[1]))
        candidates = []
        for r in [*draws.random(3).tolist(), 0.0, 1 - 2.0**-53]:
            due, answer = both("seeding.locate", points, rows, (before[0], r), (before[1], r))
            assert due == answer
            both(
                "seeding.locate", points, rows, (before[0], r, "distinct"),
                (before[1], r, "distinct"),
            )  # fmt: skip
            candidates.append(due)
        both("seeding.farthest", points, rows, (before[0],), (before[1],))
        if min(candidates) < 0:
            break
        asked = (*candidates, candidates[0], row)
        row, _ = both(
            "seeding.best_candidate", points, rows, (before[0], asked), (before[1], asked)
        )


@EVERYWHERE
def test_what_a_call_remembers_is_used_for_its_own_potential_only(data: Dataset) -> None:
    points, rows = Points(data), Rows(data)
    first, second, third = (points.whole_row(i) for i in (0, 40, 60))
    due = KERNELS["seeding.potential"].reference(points, first)
    potential = FUNCTIONS["seeding.potential"](rows, first)
    other = FUNCTIONS["seeding.potential"](rows, second)
    FUNCTIONS["seeding.best_candidate"](rows, potential, (40, 60))
    elsewhere = KERNELS["seeding.potential"].reference(points, second)
    both("seeding.potential", points, rows, (third, elsewhere), (third, other))
    FUNCTIONS["seeding.best_candidate"](rows, potential, (40, 60))
    both("seeding.potential", points, rows, (second, due), (second, potential))
    both("seeding.potential", points, rows, (second, due), (second, due))


def steps(data: Dataset, centres: Any, metric: str, passes: int = 6) -> list[bytes]:
    """Labels and means of some steps in lockstep with the reference."""
    points, rows = Points(data), Rows(data)
    before: tuple[Any, Any] = (None, None)
    answers = []
    for _ in range(passes):
        due, step = before = both(
            "kmeans.lloyd_step", points, rows, (centres, before[0], metric),
            (centres, before[1], metric),
        )  # fmt: skip
        _, means = both("kmeans.means", points, rows, (due.sums,), (step.sums,))
        answers += [bytes(memoryview(step.labels)), bytes(means)]
        centres = CentreMatrix.flat(means, data.d)
        if metric == "cosine" and not all(any(centre) for centre in centres.rows()):
            break
    return answers


@pytest.mark.parametrize("k", [2, 37])
@SPARSELY
def test_sparse_steps_in_lockstep(data: Dataset, k: int) -> None:
    points = Points(data)
    steps(data, CentreMatrix.of([points.whole_row(i) for i in range(k)]), "euclidean")


def test_sparse_centres_that_change_stand_together() -> None:
    """A few clusters of many change: labels stay right while centres change their places."""
    data = SPARSE["scaled"]
    points, rows = Points(data), Rows(data)
    labels = np.arange(data.n, dtype=np.int32) % 50
    sums = FUNCTIONS["kmeans.accumulate"](rows, labels, 50)
    before: Any = LloydStep(array("i", labels.tolist()), 0, sums)
    many = tuple(range(0, 48, 6))  # in most groups, however many lanes there are
    for moves in (many, (1, 33), (2, 20, 35, 49), (5,), (0, 17, 40), many):
        centres = CentreMatrix.flat(FUNCTIONS["kmeans.means"](rows, before.sums), data.d)
        both("kmeans.assign", points, rows, (centres,), (centres,))
        labels = labels.copy()
        labels[list(moves)] = (labels[list(moves)] + 1) % 50
        old_labels = np.array(before.labels, np.int32)
        sums, _ = sparse_sums.moved(rows, old_labels, labels, 50, before.sums)
        before = LloydStep(array("i", labels.tolist()), len(moves), sums)
    assert (np.diff(rows.memory["grouped"].places) != 1).any()


@pytest.mark.parametrize(
    "name", ["counts", "scaled", "heavy tails", "duplicates", "singles", "stored zeros"]
)
def test_sparse_steps_by_the_cosine(name: str) -> None:
    points = Points(SPARSE[name])
    steps(SPARSE[name], CentreMatrix.of([points.whole_row(i) for i in range(20)]), "cosine", 4)


@SPARSELY
def test_sparse_labels_of_centres_that_drift(data: Dataset) -> None:
    """What an earlier call proved is used for centres near those it knew, and never wrongly."""
    points, rows = Points(data), Rows(data)
    draws = np.random.default_rng(3)
    base = np.array([points.whole_row(i) for i in range(0, 144, 6)])
    size = np.abs(base).max()
    for share in (0.0, 1e-12, 1e-7, 1e-3, 1e-2, 0.1, 0.0, 1.0, 1e-9):
        moved = draws.random(base.shape) < 0.3
        base = base + np.where(moved, draws.normal(size=base.shape), 0.0) * (share * size)
        if share == 1e-3:
            base[5] = base[3]  # one centre twice
        if not np.isfinite(base).all():
            break
        centres = CentreMatrix.of([tuple(row) for row in base.tolist()])
        both("kmeans.assign", points, rows, (centres,), (centres,))


@pytest.mark.parametrize("name", ["counts", "scaled", "weights"])
def test_threads_change_no_sparse_step_and_no_seed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = SPARSE[name]
    centres = CentreMatrix.of([Points(data).whole_row(i) for i in range(20)])

    def all_answers() -> Any:
        return steps(data, centres, "euclidean", 3), chosen(DENSE["offset"]), chosen(data)

    def chosen(some: Dataset) -> list[int]:
        rows, centres_so_far = Rows(some), [0]
        before = None
        for _ in range(6):
            centre = Points(some).whole_row(centres_so_far[-1])
            before = FUNCTIONS["seeding.potential"](rows, centre, before)
            asked = tuple(FUNCTIONS["seeding.locate"](rows, before, r / 7) for r in range(1, 6))
            centres_so_far.append(FUNCTIONS["seeding.best_candidate"](rows, before, asked))
        return centres_so_far

    answers = []
    for threads in (1, 2, 3):
        monkeypatch.setenv(VARIABLE, str(threads))
        answers.append(all_answers())
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("columns", [1, 2])
def test_a_sparse_row_whose_centre_leaves_while_the_others_stay(columns: int) -> None:
    """What moves away raises no bound of those that stay: the row is now one of theirs."""
    rows = [2.5 + sign * 2.0**-e for e in range(1, 20) for sign in (1.0, -1.0)]
    values = [[side * x] + [0.0] * (columns - 1) for x in rows for side in (1.0, -1.0)]
    data = documents(values)
    points, ours = Points(data), Rows(data)
    due = made = None
    for last in (5.5, 3.5, 4.0, 3.5, 9.0, 3.5, 3.25):
        places = (1.5, -1.5, -3.5, last)
        centres = CentreMatrix.of([(x, *(0.0,) * (columns - 1)) for x in places])
        due = KERNELS["kmeans.lloyd_step"].reference(points, centres, due, "euclidean")
        made = FUNCTIONS["kmeans.lloyd_step"](ours, centres, made, "euclidean")
        assert list(made.labels) == list(due.labels), last


def test_a_centre_that_stays_is_not_taken_to_move_with_its_group(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """More centres than a group holds: one of the second group leaves, and one of it stays."""
    known: dict[float, int] = {}

    def numbered(_: Versions, centres: Any) -> Any:
        return np.array([known.setdefault(float(x), len(known) + 1) for x in centres[:, 0]])

    monkeypatch.setattr(Versions, "known", numbered)
    data = documents([[side * (2.5 + 2.0**-e)] for e in range(2, 20) for side in (1.0, -1.0)])
    points, ours = Points(data), Rows(data)
    due = made = None
    for near, far in ((3.5, 20.0), (3.5, 20.0), (9.0, 30.0), (3.5, 40.0), (9.0, 41.0)):
        first = [near, *(-50.0 * (k + 1) - far for k in range(15))]  # they move, all of them
        centres = CentreMatrix.of([(x,) for x in (*first, 1.5, -1.5, far, -far)])
        due = KERNELS["kmeans.lloyd_step"].reference(points, centres, due, "euclidean")
        made = FUNCTIONS["kmeans.lloyd_step"](ours, centres, made, "euclidean")
        assert list(made.labels) == list(due.labels), (near, far)


def test_means_that_somebody_holds_stay_what_they_were() -> None:
    data = SPARSE["scaled"]
    rows = Rows(data)
    centres: Any = CentreMatrix.of([Points(data).whole_row(i) for i in range(12)])
    step, held = None, []
    for _ in range(7):
        step = FUNCTIONS["kmeans.lloyd_step"](rows, centres, step)
        means = FUNCTIONS["kmeans.means"](rows, step.sums)
        held.append((means, bytes(means), step))
        centres = CentreMatrix.flat(means, data.d)
    assert all(bytes(means) == then for means, then, _ in held)
    # Sums handed on are made again: they have means of their own.
    for _, then, step in held:
        assert bytes(FUNCTIONS["kmeans.means"](rows, step.sums)) == then


def test_means_nobody_holds_give_their_memory_back() -> None:
    versions = Versions()
    states = versions.new(3)
    buffer = versions.buffer(3, 4)
    held = buffer.finished(states)
    other = versions.buffer(3, 4)
    more = np.frombuffer(other.finished(states))[2:]
    assert other is not buffer
    del held
    assert versions.buffer(3, 4) is buffer
    del more
    assert versions.buffer(2, 6) not in (buffer, other)


@pytest.mark.parametrize("make", [table, documents], ids=["dense", "sparse"])
@pytest.mark.parametrize("scale", [1.0, 2.0**-40, 1e-300, 1e-310, 1e250])
def test_means_on_and_beside_ties(make: Callable[..., Dataset], scale: float) -> None:
    """Halves of sums with one bit more than a double: ties to even, and their neighbours."""
    bit = 2.0**-52
    values = np.array(
        [
            [1.0, 1.0 + bit, 1.0, 3.0, -1.0, 1.0],
            [1.0 + bit, 1.0 + 2 * bit, 1.0 + 3 * bit, 1e-12, -1.0 - bit, 2.0**-60],
            [1.0, 1.0 + bit, 1.0, 3.0, 1.0, 5.0],
            [1.0 + bit, 2.0 + 2 * bit, 1.0 + 3 * bit, 1e-12, -1.0 - bit, 2.0**-60],
            [1.0 + bit, 1.0, bit, 7.0, -1.0, 3.0],
        ]
    )
    data = make(values * scale)
    points, rows = Points(data), Rows(data)
    for labels in ([0, 0, 1, 1, 1], [0, 0, 0, 0, 1], [0, 1, 2, 1, 2], [2, 2, 2, 2, 2]):
        owners = array("i", labels)
        due = KERNELS["kmeans.accumulate"].reference(points, owners, 3)
        sums = FUNCTIONS["kmeans.accumulate"](rows, owners, 3)
        _, means = both("kmeans.means", points, rows, (due,), (sums,))
        named = CentreMatrix.flat(means, data.d)
        both("kmeans.residual", points, rows, (due, named), (sums, named))


def test_most_rows_are_decided_by_singles() -> None:
    data = SPARSE["scaled"]
    rows = Rows(data)
    centres = CentreMatrix.of([Points(data).whole_row(i) for i in range(12)])
    FUNCTIONS["kmeans.assign"](rows, centres)
    assert rows.rungs["float32"] > 0.8 * data.n
    assert rows.rungs["reference"] == 0


@pytest.mark.parametrize("power", [-400, -540, -780, -960])
def test_ties_of_sparse_rows_whose_squares_underflow(power: int) -> None:
    values = 2.0**power * np.array([[1.0, 0.5], [-1.25, 0.75], [0.0, 1.75], [1.5, -0.25]])
    data = documents(values)
    centres = CentreMatrix.of([tuple(row) for row in values[:2].tolist()])
    labels = FUNCTIONS["kmeans.assign"](Rows(data), centres, "euclidean")
    assert list(labels) == [0, 1, 0, 0]  # the third row is as far from one as from the other


def test_candidates_of_sparse_rows_under_the_least_weights() -> None:
    # The first candidate takes 0.4898 from each of three rows, the second 0.6006 from one; in
    # units of the least double, which is every weight, products round to 0 and to 1.
    rows = [[1.7143], [-1.632], [1.0], [1.0], [1.0], [-1.0]]
    data = documents(rows, weights=[0.0, 0.0, *[5e-324] * 4])
    points = Points(data)
    before = KERNELS["seeding.potential"].reference(points, (0.0,), None)
    due = KERNELS["seeding.best_candidate"].reference(points, before, (0, 1))
    assert FUNCTIONS["seeding.best_candidate"](Rows(data), before, (0, 1)) == due == 0
