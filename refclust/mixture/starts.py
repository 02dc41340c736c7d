"""Where EM starts: k-means, random responsibilities, random rows, labels (EM-INIT, chapter 30).

The driver draws all random numbers, so the same seed gives the same start on every backend, up to
what exp and log of different libraries leave open.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar

from refclust.cluster.kmeans import LloydSteps
from refclust.cluster.options import KMeansOptions
from refclust.cluster.seeding import random_rows
from refclust.data.accepting.door import dataset, labels_of
from refclust.errors import (
    BadDistribution,
    BadOption,
    DegenerateCovariance,
    DimensionMismatch,
    LabelLengthMismatch,
)
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


def from_shares(family: Family[P, D, M], q: array[float], k: int) -> P:
    """One M-step from given responsibilities, K numbers a row.

    Spec: EM-INIT, EM-MSTEP
    """
    moments = family.moments(q, k)
    for component, weight in enumerate(family.sizes(moments)):
        if not weight:
            raise BadOption(f"component {component} of the responsibilities has weight 0")
    return _first(family, moments, smooth=False)


def responsibilities_of(rows: Any, n: int) -> array[float]:
    """Responsibilities to start from, row after row: a distribution over components each.

    Spec: EM-INIT

    >>> responsibilities_of([[0.25, 0.75]], 1)
    array('d', [0.25, 0.75])
    """
    table = dataset(rows)
    if table.n != n:
        raise DimensionMismatch(f"{table.n} rows of responsibilities to start from, for {n} rows")
    flat = array("d")
    for i in range(n):
        row = table.row(i)
        shares = [row.get(j, 0.0) for j in range(table.d)] if isinstance(row, dict) else [*row]
        check_row(shares, f"the responsibilities of row {i}")
        flat.extend(shares)
    return flat


def check_row(row: Sequence[float], name: str) -> None:
    """Refuse what is no distribution, up to rounding."""
    whole = math.fsum(row)
    if not all(share >= 0 for share in row) or abs(whole - 1.0) > 2.0**-40:
        raise BadDistribution(
            f"{name} add up to {whole!r}, or one is negative; a distribution is due"
        )


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
