"""The calls of k-means, of its starts and of distances in a script (chapter 81)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, Final, Protocol

from refclust.data.dataset import Dataset
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import ClusterSums, LloydStep
from refclust.kernels.clusters.seeding import Potential
from refclust.kernels.distances import METRICS
from refclust.kernels.points import Points, Vector
from refclust.kernels.registry import KERNELS
from refclust.numbers.nearest import nearest
from refclust.testing.rungs import Rung
from refclust.testing.scripts.pass_calls import pass_calls

if TYPE_CHECKING:
    from refclust.testing.scripts.lockstep import Made, Script

_ITERATIONS: Final = 3
_LONGER: Final = 6  # of a fit by its own means
_MOST_PAIRS: Final = 90  # rows of which all distances are asked
_FEW_PAIRS: Final = 20  # the same where each kernel is called a few times
_MOST_STARTS: Final = 20  # centres brought in one after another
_ALL_STARTS: Final = 141  # for so many centres all of them are
_MOST_MASSES: Final = 600  # numbers of rows whose shares are worked out from the definition


class _Calling(Protocol):
    def __call__(self, kernel: str, *args: Any, note: str = "") -> Made: ...


def kmeans_calls(made: Script, rung: Rung) -> None:
    """A fit by the reference that keeps empty clusters where they are, and some odd states."""
    metric = "cosine" if rung.kind == "cosine" else "euclidean"
    centres = rung.centres or first_rows(rung.data, rung.k)
    k = len(centres)

    def call(kernel: str, *args: Any, note: str = "") -> Made:
        return made.call(kernel, *args, k=k, note=note)

    before: Made | None = None
    for number in range(_ITERATIONS):
        matrix = CentreMatrix.of(centres)
        call("kmeans.assign", matrix, metric)
        step = call("kmeans.lloyd_step", matrix, before, metric)
        labels, sums = replace(step, part="labels"), replace(step, part="sums")
        call("kmeans.accumulate", labels, k)
        call("kmeans.squares", labels, k)
        means = call("kmeans.means", sums)
        call("kmeans.residual", sums, matrix)
        if metric == "cosine":
            call("kmeans.cosine_terms", sums, matrix)
        moved = _moved(made.due(means), made.due(sums), centres, metric)
        if moved == centres and number:
            break
        before, centres = step, moved
    assert before is not None
    call("kmeans.directions")
    _odd_states(call, made.due(before), rung.data, centres, metric)


def step_calls(made: Script, rung: Rung) -> None:
    """Two steps from given centres, and each kernel of rows and starts a few times."""
    assert rung.centres is not None
    data, centres, k = rung.data, rung.centres, len(rung.centres)
    metric = "cosine" if rung.kind == "cosine-steps" else "euclidean"
    before: Made | None = None
    for _ in range(2):
        matrix = CentreMatrix.of(centres)
        made.call("kmeans.assign", matrix, metric, k=k)
        before = made.call("kmeans.lloyd_step", matrix, before, metric, k=k)
        sums = replace(before, part="sums")
        means = made.call("kmeans.means", sums, k=k)
        made.call("kmeans.residual", sums, matrix, k=k)
        if metric == "cosine":
            made.call("kmeans.cosine_terms", sums, matrix, k=k)
        centres = _moved(made.due(means), made.due(sums), centres, metric)
    scattered = array("i", ((i * i + 1) % k for i in range(data.n)))
    foreign = LloydStep(scattered, 0, _added_up(data, scattered, k))
    matrix = CentreMatrix.of(centres)
    made.call("kmeans.lloyd_step", matrix, foreign, metric, k=k, note="another step before")
    sums = made.call("kmeans.accumulate", scattered, k, k=k)
    made.call("kmeans.means", sums, k=k)
    made.call("kmeans.squares", scattered, k, k=k)
    made.call("kmeans.directions", k=k)
    start_calls(made, rung, rung.centres if k == _ALL_STARTS else rung.centres[:_MOST_STARTS])
    distance_calls(made, rung)


def path_calls(made: Script, path: Sequence[Sequence[Vector]], metric: str) -> None:
    """A step from each of some centres to the next, whatever the means are; the last one alone."""
    before: Made | None = None
    for centres in path:
        matrix = CentreMatrix.of(centres)
        before = made.call("kmeans.lloyd_step", matrix, before, metric, k=len(centres))
    assert before is not None
    sums, matrix, k = replace(before, part="sums"), CentreMatrix.of(path[-1]), len(path[-1])
    made.call("kmeans.means", sums, k=k)
    made.call("kmeans.residual", sums, matrix, k=k)
    made.call("kmeans.assign", matrix, metric, k=k)


def fit_calls(made: Script, rung: Rung) -> None:
    """Steps from the backend's own means, handed back as it made them, as the driver does."""
    assert rung.centres is not None
    before: Made | None = None
    matrix: Any = CentreMatrix.of(rung.centres)
    k = len(rung.centres)
    for _ in range(_LONGER):
        before = made.call("kmeans.lloyd_step", matrix, before, "euclidean", k=k)
        sums = replace(before, part="sums")
        means = made.call("kmeans.means", sums, k=k)
        made.call("kmeans.residual", sums, matrix, k=k)
        if not all(made.due(sums).weights):
            break  # the driver would move an empty cluster
        matrix = replace(means, columns=rung.data.d)
    made.call("kmeans.assign", matrix, "euclidean", k=k)


def candidate_calls(made: Script, centres: Sequence[Vector]) -> None:
    """Which of the first two rows is the better one to bring in, in either order."""
    before: Made | None = None
    for centre in centres:
        before = made.call("seeding.potential", centre, before)
    for rows in ((0, 1), (1, 0), (0, 1, 2)):
        made.call("seeding.best_candidate", before, rows)


def start_calls(made: Script, rung: Rung, centres: Sequence[Vector]) -> None:
    """One centre after another brought in; draws, candidates and the farthest rows at the end."""
    data, points = rung.data, Points(rung.data)
    rows = tuple(sorted({(i * data.n) // 17 for i in range(17)}))
    made.call("seeding.locate", None, 0.5, "squares", note="by weight alone")
    made.call("seeding.locate", None, 0.0, "squares", note="by weight alone")
    before: Made | None = None
    for centre in centres:
        before = made.call("seeding.potential", tuple(centre), before)
    assert before is not None
    potential: Potential = made.due(before)
    masses = _masses(points, potential) if data.n * data.d <= _MOST_MASSES else []
    for r in (0.0, 0.43, 1.0 - 2.0**-53, *islice(_boundaries(masses), 4)):
        made.call("seeding.locate", before, r, "squares", note=f"the draw {r!r}")
    for r in (0.0, 0.77):
        made.call("seeding.locate", before, r, "distinct", note="only rows that are no centre")
    mass = made.due(made.call("seeding.mass", before, "squares"))[0]
    made.call("seeding.beyond", before, mass / 3, "squares", note="a third of the mass")
    made.call("seeding.best_candidate", before, rows)
    made.call("seeding.best_candidate", before, rows[::-1])
    made.call("seeding.farthest", before)
    last = len(potential.centres) - 1
    nearest_now = replace(before, part="nearest")
    made.call("seeding.farthest", before, nearest_now, last, note="within a cluster")


def few_calls(made: Script, rung: Rung) -> None:
    """Two iterations and two centres to start from, each kernel a few times."""
    points, before = Points(rung.data), None
    centres = rung.centres or first_rows(rung.data, rung.k)
    for _ in range(2):
        matrix = CentreMatrix.of(centres)
        made.call("kmeans.assign", matrix, "euclidean", k=rung.k)
        before = made.call("kmeans.lloyd_step", matrix, before, "euclidean", k=rung.k)
        labels, sums = replace(before, part="labels"), replace(before, part="sums")
        made.call("kmeans.accumulate", labels, len(centres), k=rung.k)
        made.call("kmeans.squares", labels, len(centres), k=rung.k)
        means = made.call("kmeans.means", sums, k=rung.k)
        made.call("kmeans.residual", sums, matrix, k=rung.k)
        centres = _moved(made.due(means), made.due(sums), centres, "euclidean")
    so_far: Made | None = None
    for row in (0, rung.data.n // 2):
        so_far = made.call("seeding.potential", points.whole_row(row), so_far)
        made.call("seeding.locate", so_far, 0.25, "squares", note="the draw 0.25")
        mass = made.call("seeding.mass", so_far, "squares")
        made.call("seeding.beyond", so_far, made.due(mass)[0] / 3, "squares", note="a third")
        made.call("seeding.farthest", so_far)
        for edge in _edges(rung.data.n):
            note = f"a draw that falls on row {edge}, as well as rounding allows"
            share = Fraction(2 * edge + 1, 2 * rung.data.n)
            made.call("seeding.locate", None, float(share), "squares", note=note)
    assert so_far is not None
    made.call("seeding.best_candidate", so_far, (0, rung.data.n // 3, rung.data.n - 1))
    made.call("kmeans.directions", k=rung.k)


def _edges(n: int) -> list[int]:
    """Rows at the edges of blocks of powers of two."""
    powers = (1 << p for p in range(6, n.bit_length()))
    return sorted({edge for power in powers for edge in (power - 1, power) if edge < n})


def _odd_states(
    call: _Calling, step: LloydStep, data: Dataset, centres: tuple[Vector, ...], metric: str
) -> None:
    """Labels that no assignment makes, clusters that are empty or gone, centres that are equal."""
    k, n = len(centres), data.n
    scattered = array("i", (i % k for i in range(n)))
    for labels, count in ((scattered, k), (array("i", [k]) * n, k + 2)):
        sums = call("kmeans.accumulate", labels, count, note="some clusters are empty")
        call("kmeans.squares", labels, count)
        call("kmeans.means", sums, note="an empty cluster has zeros for a mean")
    foreign = LloydStep(scattered, 0, _added_up(data, scattered, k))
    call("kmeans.lloyd_step", CentreMatrix.of(centres), foreign, metric, note="another step before")
    equal = CentreMatrix.of((*centres, centres[-1], centres[0]))
    call("kmeans.assign", equal, metric, note="some centres are equal")
    call("kmeans.lloyd_step", equal, None, metric, note="some centres are equal")
    if k > 1:
        whole = step.sums.exact()
        gone = array("i", (label if label < k - 1 else -1 for label in step.labels))
        left = replace(whole, weights=whole.weights[:-1], sums=whole.sums[:-1])
        fewer = CentreMatrix.of(centres[:-1])
        call("kmeans.lloyd_step", fewer, LloydStep(gone, 0, left), metric, note="a cluster is gone")


def seeding_calls(made: Script, rung: Rung) -> None:
    """Draws, candidates and the farthest rows, from a few centres."""
    data, points = rung.data, Points(rung.data)
    n = data.n
    rows = sorted({0, n // 3, n // 2, n - 1})
    middle = tuple(
        a / 2 + b / 2 for a, b in zip(points.whole_row(0), points.whole_row(n - 1), strict=True)
    )
    for r in (0.0, 0.37, 1.0 - 2.0**-53, *_boundaries(list(map(Fraction, points.weights)))):
        made.call("seeding.locate", None, r, "squares", note=f"the draw {r!r} by weight alone")
    _mass_calls(made, None, list(map(Fraction, points.weights)), 1 << points.weight_shift)
    before: Made | None = None
    starts = (points.whole_row(0), middle, points.whole_row(n // 2), points.whole_row(0))
    for number, centre in enumerate(starts):
        before = made.call("seeding.potential", centre, before)
        for r in (0.0, 0.61, 1.0 - 2.0**-53):
            made.call("seeding.locate", before, r, "squares", note=f"the draw {r!r}")
        for r in (0.0, 0.5, 1.0 - 2.0**-53):
            made.call("seeding.locate", before, r, "distinct", note="only rows that are no centre")
        if number % 2:
            made.call("seeding.mass", before, "squares")
        else:
            masses = _masses(points, made.due(before))
            for r in _boundaries(masses):
                note = f"the draw {r!r}: floats cannot tell on which side of a row it falls"
                made.call("seeding.locate", before, r, "squares", note=note)
            _mass_calls(made, before, masses)
        made.call("seeding.best_candidate", before, tuple(rows))
        made.call("seeding.best_candidate", before, (n - 1, 0, n - 1, n // 2))
        made.call("seeding.farthest", before)
        nearest_now = replace(before, part="nearest")
        for cluster in range(number + 1):
            made.call("seeding.farthest", before, nearest_now, cluster, note="within a cluster")


def _mass_calls(
    made: Script, before: Made | None, masses: Sequence[Fraction], unit: int = 1
) -> None:
    """The mass of all rows, and the first row beyond some of it: at the very ends of shares too."""
    made.call("seeding.mass", before, "squares")
    made.call("seeding.mass", before, "distinct")
    reached = list(accumulate(masses))
    for passed in (Fraction(0), reached[-1] / 3, reached[len(masses) // 2], reached[-1]):
        for edge in (passed, passed * (1 - Fraction(1, 2**80))):
            note = "the mass at the end of a row, or just before"
            made.call("seeding.beyond", before, edge / unit, "squares", note=note)
    made.call("seeding.beyond", before, Fraction(1, 3), "distinct")


def distance_calls(made: Script, rung: Rung) -> None:
    """All distances, if there are not too many, and the passes over pairs."""
    if not has_pairs(rung):
        return
    for metric in (*METRICS, "no-such-metric"):
        made.call("distances.pairwise", metric, k=rung.data.n, note=metric)
    pass_calls(made, rung)


def has_pairs(rung: Rung) -> bool:
    """Whether all distances of a rung are asked."""
    if rung.kind == "pairs":
        return True
    most = _FEW_PAIRS if rung.kind in ("steps", "cosine-steps") else _MOST_PAIRS
    return bool(rung.data.n <= most)


def first_rows(data: Dataset, k: int) -> tuple[Vector, ...]:
    """The first K different rows.

    Spec: none (a state to start from)
    """
    points = Points(data)
    different = dict.fromkeys(points.whole_row(i) for i in range(data.n))
    return tuple(different)[:k]


def _moved(
    means: Sequence[float], sums: ClusterSums, centres: tuple[Vector, ...], metric: str
) -> tuple[Vector, ...]:
    """The means; a cluster without weight, or without direction, keeps its centre."""
    d = len(centres[0])
    moved = [tuple(means[k * d : (k + 1) * d]) for k in range(len(centres))]
    return tuple(
        new if sums.weights[k] and (metric == "euclidean" or any(new)) else centres[k]
        for k, new in enumerate(moved)
    )


def _added_up(data: Dataset, labels: array[int], k: int) -> ClusterSums:
    sums: ClusterSums = KERNELS["kmeans.accumulate"].reference(Points(data), labels, k)
    return sums


def _masses(points: Points, potential: Potential) -> list[Fraction]:
    """Weight times squared distance of every row, from the definition."""
    centres = [tuple(map(Fraction, centre)) for centre in potential.centres]
    unit = 1 << points.weight_shift
    return [
        Fraction(weight, unit)
        * sum((Fraction(x) - c) ** 2 for x, c in zip(points.whole_row(i), centres[k], strict=True))
        for i, (weight, k) in enumerate(zip(points.weights, potential.nearest, strict=True))
    ]


def _boundaries(masses: list[Fraction]) -> Iterator[float]:
    """Draws as close as doubles come to the end of some row's share."""
    total = sum(masses)
    if not total or len(masses) > 1000:
        return
    reached, n = Fraction(0), len(masses)
    wanted = {n // 4, n // 2, (3 * n) // 4}
    for i, mass in enumerate(masses):
        reached += mass
        share = reached / total
        if i in wanted and share < 1:
            r = nearest(share.numerator, share.denominator)
            yield from (x for x in (math.nextafter(r, 0.0), r, math.nextafter(r, 1.0)) if x < 1.0)
