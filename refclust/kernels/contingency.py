"""The kernel that counts: label pairs to the cells of a contingency table (chapter 40)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from refclust.kernels.contracts import Exact
from refclust.kernels.registry import kernel

Count: TypeAlias = int | Fraction
Cell: TypeAlias = tuple[Hashable, Hashable]


@dataclass(frozen=True, slots=True)
class LabelPairs:
    """The data of the kernel: for each object its cluster, its class and maybe its weight."""

    clusters: Sequence[Hashable]
    classes: Sequence[Hashable]
    weights: Sequence[Count] | None = None


@kernel("contingency.table", contract=Exact())
def table(data: LabelPairs) -> dict[Cell, Count]:
    """Count, for each cluster and class that meet, the objects (or the weight) in both.

    Spec: CT-TABLE, CT-WEIGHT, KER-CT

    >>> table(LabelPairs("aab", "xyx"))
    {('a', 'x'): 1, ('a', 'y'): 1, ('b', 'x'): 1}
    """
    if data.weights is None:
        return dict(Counter(zip(data.clusters, data.classes, strict=True)))
    cells: dict[Cell, Count] = {}
    for cluster, label, weight in zip(data.clusters, data.classes, data.weights, strict=True):
        cells[cluster, label] = cells.get((cluster, label), 0) + weight
    return cells
