"""The update of k-means: every centre to its mean, empty clusters by their policy (chapter 10)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from refclust.cluster.objective import exact_within
from refclust.cluster.results import Centre, Emptied, Policy
from refclust.errors import EmptyCluster
from refclust.fitting.rows import Rows
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import ClusterSums, LloydStep, Sums
from refclust.kernels.clusters.seeding import Potential


@dataclass(frozen=True, slots=True)
class Treated:
    """What the policy decided: new places for empty clusters, and what there is to tell."""

    moved: dict[int, Centre]
    dropped: frozenset[int]
    told: tuple[Emptied, ...]


NOTHING_TO_TREAT: Final = Treated({}, frozenset(), ())


def empty_clusters(sums: Sums, means: CentreMatrix | None = None) -> list[int]:
    """The clusters without weight, or, if their means are given, without direction.

    Spec: KM-EMPTY

    >>> empty_clusters(ClusterSums((2, 0), 0, ((0, 0), (0, 0)), 0))
    [1]
    """
    return [
        k
        for k, weight in enumerate(sums.weights)
        if not weight or (means is not None and not any(means.row(k)))
    ]


def treat(
    rows: Rows,
    step: LloydStep,
    centres: Sequence[Centre],
    empty: list[int],
    policy: Policy,
    iteration: int,
) -> Treated:
    """Decide by the policy what happens to the empty clusters.

    Spec: KM-EMPTY
    """
    taken: dict[int, int] = {}
    if policy == "error" or (policy == "drop" and len(empty) == len(centres)):
        which = ", ".join(map(str, empty))
        raise EmptyCluster(
            f"in iteration {iteration} nothing was left for cluster {which}; another start, "
            "a smaller k, or the policy farthest, split or keep avoids that"
        )
    if policy == "farthest":
        taken = _farthest(rows, centres, empty)
    elif policy == "split":
        taken = _split(rows, step, centres, empty)
    return Treated(
        {k: rows.row(i) for k, i in taken.items()},
        frozenset(empty) if policy == "drop" else frozenset(),
        tuple(Emptied(iteration, k, policy, taken.get(k)) for k in empty),
    )


def update(
    means: CentreMatrix, centres: Sequence[Centre], empty: list[int], treated: Treated
) -> CentreMatrix:
    """Move every centre to the mean of its rows, or to where the policy puts it.

    Spec: KM-UPDATE, KM-EMPTY
    """
    if not empty:
        return means
    return CentreMatrix.of(
        treated.moved.get(k, centres[k]) if k in empty else means[k]
        for k in range(len(means))
        if k not in treated.dropped
    )


def without(step: LloydStep, dropped: frozenset[int]) -> LloydStep:
    """The step with some clusters gone: their rows have no label, higher labels move down.

    Spec: KM-EMPTY

    >>> sums = ClusterSums((0, 1), 0, ((0,), (5,)), 0)
    >>> left = without(LloydStep(array("i", [1, 0]), 2, sums), frozenset([0]))
    >>> left.labels.tolist(), left.sums.sums
    ([0, -1], ((5,),))
    """
    if not dropped:
        return step
    sums = step.sums.exact()
    kept = [k for k in range(len(sums.weights)) if k not in dropped]
    index = {old: new for new, old in enumerate(kept)}
    left = ClusterSums(
        tuple(sums.weights[k] for k in kept),
        sums.weight_shift,
        tuple(sums.sums[k] for k in kept),
        sums.shift,
    )
    labels = array("i", (index.get(label, -1) for label in memoryview(step.labels)))
    return LloydStep(labels, step.changed, left)


def _farthest(rows: Rows, centres: Sequence[Centre], empty: list[int]) -> dict[int, int]:
    """Farthest-first, continued from the centres that have rows."""
    taken: dict[int, int] = {}
    so_far: Potential | None = None
    for k, centre in enumerate(centres):
        if k not in empty:
            so_far = rows.call("seeding.potential", centre, so_far)
    for k in empty:
        row = -1 if so_far is None else rows.call("seeding.farthest", so_far)
        if row < 0:
            break
        taken[k] = row
        so_far = rows.call("seeding.potential", rows.row(row), so_far)
    return taken


def _split(
    rows: Rows, step: LloydStep, centres: Sequence[Centre], empty: list[int]
) -> dict[int, int]:
    """The farthest row of the cluster with the largest sum of squares, one cluster at a time."""
    squares = rows.call("kmeans.squares", step.labels, len(centres))
    within = exact_within(squares, rows.call("kmeans.residual", step.sums, centres))
    filled = [k for k in range(len(centres)) if k not in empty and within[k]]
    donors = sorted(filled, key=lambda k: (-within[k], k))
    taken: dict[int, int] = {}
    for k, donor in zip(empty, donors, strict=False):
        around = rows.call("seeding.potential", centres[donor])
        taken[k] = rows.call("seeding.farthest", around, step.labels, donor)
    return taken
