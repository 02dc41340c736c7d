"""Where k-means starts: every way of choosing initial centres (KM-INIT of chapter 10).

The driver draws the random numbers and the kernels say where they fall, so the same seed gives the
same centres on every backend.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction

from refclust.cluster.objective import rounded
from refclust.cluster.options import KMeansOptions
from refclust.cluster.results import Centre, Centres
from refclust.errors import BadOption, KOutOfRange
from refclust.fitting.draws import Draws
from refclust.fitting.rows import Rows
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.seeding import Potential


def random_rows(rows: Rows, k: int, draws: Draws) -> Centres:
    """K different rows, each drawn by its weight.

    Spec: KM-RANDOM
    """
    return _grown(
        rows, k, draws, lambda so_far: rows.call(LOCATE, so_far, draws.next(), "distinct")
    )


def plus_plus(rows: Rows, k: int, draws: Draws) -> Centres:
    """Rows drawn by weight times squared distance to the nearest centre so far.

    Spec: KM-PP
    """
    return _grown(rows, k, draws, lambda so_far: rows.call(LOCATE, so_far, draws.next(), "squares"))


def greedy(rows: Rows, k: int, draws: Draws, trials: int | None = None) -> Centres:
    """As k-means++, each time the best of several candidates.

    Spec: KM-GREEDY
    """
    count = usual_trials(k) if trials is None else trials

    def choose(so_far: Potential) -> int:
        candidates = [rows.call(LOCATE, so_far, draws.next(), "squares") for _ in range(count)]
        if candidates[0] < 0:
            return -1
        best: int = rows.call("seeding.best_candidate", so_far, tuple(candidates))
        return best

    return _grown(rows, k, draws, choose)


def usual_trials(k: int) -> int:
    """How many candidates each centre of the start greedy has, unless it is told.

    Spec: KM-GREEDY

    >>> usual_trials(2), usual_trials(20), usual_trials(21)
    (2, 4, 5)
    """
    return 2 + math.floor(math.log(k))


def farthest_first(rows: Rows, k: int, draws: Draws) -> Centres:
    """One random row, then always the row farthest from all centres so far.

    Spec: KM-FARTHEST
    """
    return _grown(rows, k, draws, lambda so_far: rows.call("seeding.farthest", so_far))


def random_centres(rows: Rows, k: int, draws: Draws) -> Centres:
    """Points drawn uniformly from the smallest box around the rows.

    Spec: KM-BOX
    """
    low, high = _box(rows)
    return tuple(
        tuple(
            rounded(Fraction(a) + Fraction(draws.next()) * (Fraction(b) - Fraction(a)))
            for a, b in zip(low, high, strict=True)
        )
        for _ in range(k)
    )


def group_means(rows: Rows, labels: Sequence[Hashable]) -> CentreMatrix:
    """The means of given groups, in the order of their sorted labels.

    Spec: KM-INIT, KM-CENTROID
    """
    try:
        groups = sorted(dict.fromkeys(labels))  # type: ignore[type-var]
    except TypeError as error:
        raise BadOption(f"the labels to start from cannot be put in order: {error}") from None
    index = {label: k for k, label in enumerate(groups)}
    numbers = array("i", (index[label] for label in labels))
    sums = rows.call("kmeans.accumulate", numbers, len(groups), k=len(groups))
    for k, label in enumerate(groups):
        if not sums.weights[k]:
            raise BadOption(f"the group {label!r} to start from has weight 0, so it has no mean")
    return CentreMatrix.flat(rows.call("kmeans.means", sums), rows.data.d)


def most_draws(options: KMeansOptions, d: int) -> int:
    """How many random numbers a start can use, whichever it is.

    Spec: KM-INIT

    >>> of_three = KMeansOptions(k=3, start="greedy")
    >>> most_draws(of_three, 2), most_draws(of_three, 10)
    (13, 31)
    >>> most_draws(KMeansOptions(k=3, start="greedy", trials=7), 2)
    22
    """
    k, trials = options.k, options.trials
    return 1 + k * max(d, 2 + k.bit_length() if trials is None else trials)


LOCATE = "seeding.locate"
STARTS: Mapping[str, Callable[..., Centres]] = {
    "k-means++": plus_plus,
    "greedy": greedy,
    "random": random_rows,
    "random-centres": random_centres,
    "farthest": farthest_first,
}


def _grown(rows: Rows, k: int, draws: Draws, choose: Callable[[Potential], int]) -> Centres:
    """One row drawn by weight, then k - 1 rows chosen one after another."""
    centre = rows.row(rows.call(LOCATE, None, draws.next()))
    centres = [centre]
    so_far: Potential | None = None
    while len(centres) < k:
        so_far = rows.call("seeding.potential", centre, so_far)
        assert so_far is not None
        row = choose(so_far)
        if row < 0:
            raise KOutOfRange(
                f"{k} clusters were asked for, but there "
                f"{'is' if len(centres) == 1 else 'are'} only {len(centres)} different "
                f"row{'' if len(centres) == 1 else 's'}"
            )
        centre = rows.row(row)
        centres.append(centre)
    return tuple(centres)


def _box(rows: Rows) -> tuple[Centre, Centre]:
    """The least and the greatest value of each column, rows of weight 0 left aside."""
    data = rows.data
    weights = data.weights
    counted = [i for i in range(data.n) if weights is None or weights[i]]
    if data.kind == "dense":
        columns = list(zip(*map(rows.row, counted), strict=True))
        return tuple(map(min, columns)), tuple(map(max, columns))
    low, high, filled = [0.0] * data.d, [0.0] * data.d, [0] * data.d
    for i in counted:
        row = data.row(i)
        assert isinstance(row, dict)
        for j, x in row.items():
            low[j] = min(low[j], x) if filled[j] else x
            high[j] = max(high[j], x) if filled[j] else x
            filled[j] += 1
    # A column that some row leaves out also holds a zero.
    full = [count == len(counted) for count in filled]
    return (
        tuple(x if whole else min(x, 0.0) for x, whole in zip(low, full, strict=True)),
        tuple(x if whole else max(x, 0.0) for x, whole in zip(high, full, strict=True)),
    )
