"""Where EM starts: k-means, random responsibilities, random rows, labels (EM-INIT, chapter 30).

The driver draws all random numbers, so the same seed gives the same start on every backend, up to
what exp and log of different libraries leave open.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Hashable, Iterable
from typing import TypeVar

from refclust.cluster.kmeans import LloydSteps
from refclust.cluster.options import KMeansOptions
from refclust.cluster.seeding import random_rows
from refclust.data.accepting.door import labels_of
from refclust.errors import BadOption, DegenerateCovariance, LabelLengthMismatch
from refclust.fitting.draws import Draws
from refclust.fitting.rows import Rows
from refclust.mixture.families.family import Collapsed, Densities, Family, Point

P = TypeVar("P")
D = TypeVar("D", bound=Densities)
M = TypeVar("M")


def from_kmeans(family: Family[P, D, M], rows: Rows, k: int, draws: Draws) -> P:
    """One M-step from the clusters of a k-means run.

    Spec: KM-INITMIX, EM-INIT
    """
    options = KMeansOptions(k=k, start="k-means++", seed=draws.seed, limit=100, trace="none")
    steps = LloydSteps(rows.data, options, None, rows.session, draws=draws)
    for _ in steps:
        pass
    return _first(family, family.moments(steps.result().labels, k), smooth=True)


def from_responsibilities(family: Family[P, D, M], rows: Rows, k: int, draws: Draws) -> P:
    """One M-step from responsibilities drawn uniformly from all distributions over K components.

    Spec: EM-INIT
    """
    q = array("d")
    for _ in range(rows.data.n):
        # Exponential numbers divided by their sum are uniform on the simplex.
        parts = [-math.log1p(-draws.next()) for _ in range(k)]
        whole = math.fsum(parts)
        q.extend(part / whole for part in parts)
    return _first(family, family.moments(q, k), smooth=True)


def from_points(family: Family[P, D, M], rows: Rows, k: int, draws: Draws) -> P:
    """Equal components around K different rows, each drawn by its weight.

    Spec: EM-INIT
    """
    return family.around(random_rows(rows, k, draws))


def from_labels(family: Family[P, D, M], labels: array[int], k: int) -> P:
    """One M-step from given groups: naive Bayes or QDA, if the labels are classes.

    Spec: EM-INIT, MMIX-HARD
    """
    moments = family.moments(labels, k)
    for group, weight in enumerate(family.sizes(moments)):
        if not weight:
            raise BadOption(f"group {group} of the labels to start from has weight 0")
    return _first(family, moments, smooth=False)


def numbered(labels: Iterable[Hashable], n: int) -> tuple[array[int], list[Hashable]]:
    """Labels as numbers in the order of their sorted names, and those names.

    Spec: EM-INIT

    >>> numbered(["b", "a", "b"], 3)
    (array('i', [1, 0, 1]), ['a', 'b'])
    """
    row_labels = labels_of(labels)
    if len(row_labels) != n:
        raise LabelLengthMismatch(f"{len(row_labels)} labels for {n} rows; one for each is due")
    try:
        names = sorted(dict.fromkeys(row_labels))  # type: ignore[type-var]
    except TypeError as error:
        raise BadOption(f"the labels cannot be put in order: {error}") from None
    index = {name: k for k, name in enumerate(names)}
    return array("i", (index[label] for label in row_labels)), names


def ready(family: Family[P, D, M], parameters: P) -> Point[P, D]:
    """Parameters that were given, or come from a checkpoint, made ready for a pass.

    Spec: EM-INIT
    """
    try:
        return family.point(parameters)
    except Collapsed as collapsed:
        raise no_mixture(collapsed) from None


def _first(family: Family[P, D, M], moments: M, *, smooth: bool) -> P:
    try:
        return family.started(moments, smooth=smooth)
    except Collapsed as collapsed:
        raise no_mixture(collapsed) from None


def no_mixture(collapsed: Collapsed) -> DegenerateCovariance:
    """What is wrong with a start that has a collapsed component."""
    return DegenerateCovariance(
        f"the start has no mixture: {collapsed}; choose fewer components, another start, a "
        "simpler covariance, or a floor"
    )
