"""How a fault is hidden: the reference, but for one kind of call (chapter 81).

A fault that shows on every call is found by the first data set there is. Those that escape show
for one size, one kind of number, one call in a session; so each saboteur made here is right on all
calls but those of one condition.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from refclust.kernels.clusters.kmeans import ClusterSums, LloydStep, accumulate_some
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS
from refclust.testing.saboteurs.saboteur import Saboteur

When: TypeAlias = Callable[..., Any]
Spoil: TypeAlias = Callable[..., Any]


def hidden(name: str, word: str, kernel: str, when: When, spoil: Spoil) -> Saboteur:
    """A backend whose kernel is spoilt on calls of one condition only.

    ``when`` gets the data and the arguments; ``spoil`` gets the right answer before them.
    """
    return Saboteur(name, word, {kernel: partly(kernel, when, spoil)})


def partly(kernel: str, when: When, spoil: Spoil) -> Callable[..., Any]:
    """The reference's function, spoilt on calls of one condition."""
    reference = KERNELS[kernel].reference

    def function(data: Any, *args: Any) -> Any:
        right = reference(data, *args)
        return spoil(right, data, *args) if when(data, *args) else right

    return function


def instead(kernel: str, when: When, other: Callable[..., Any]) -> Callable[..., Any]:
    """The reference's function, but another one on calls of one condition."""
    reference = KERNELS[kernel].reference

    def function(data: Any, *args: Any) -> Any:
        return (other if when(data, *args) else reference)(data, *args)

    return function


# -- facts ----------------------------------------------------------------------------------------


def single(points: Points) -> bool:
    """Whether the numbers are kept as 32-bit floats."""
    return points.data.matrix.values.format == "f"


def whole(points: Points) -> bool:
    """Whether all numbers are integers."""
    return all(x.is_integer() for row in points.rows for x in row)


def stored_zeros(points: Points) -> bool:
    """Whether a sparse row stores a zero."""
    return not points.dense and any(not x for row in points.rows for x in row)


def negative_zero(weights: Any) -> bool:
    """Whether some weight is -0.0."""
    return weights is not None and any(not w and math.copysign(1.0, w) < 0 for w in weights)


# -- faults ---------------------------------------------------------------------------------------


def last_label(right: Any, _: Points, centres: Any, *__: Any) -> Any:
    """The label of the last row is another one."""
    labels = array("i", right)
    labels[-1] = (labels[-1] + 1) % len(centres)
    return labels


def last_row_lost(_: Any, points: Points, labels: Any, k: int) -> ClusterSums:
    """The last row is not in the sums."""
    return accumulate_some(points, range(points.n - 1), labels, k)


def last_sum_lost(right: LloydStep, points: Points, *_: Any) -> LloydStep:
    """The last cluster has no sum."""
    sums = right.sums.exact()
    emptied = replace(sums, sums=(*sums.sums[:-1], (0,) * points.d))
    return replace(right, sums=emptied)


def twice_the_last(right: Any, *_: Any) -> Any:
    """The last of some exact numbers is doubled."""
    return (*right[:-1], 2 * right[-1] + 1)


def nudged(right: Any, *_: Any) -> Any:
    """The last double is one step off."""
    values = array("d", right)
    values[-1] = math.nextafter(values[-1], math.inf)
    return values


def row_before(right: int, *_: Any) -> int:
    """The row before the one that is due."""
    return right - 1


def more_entropy(right: Any, *_: Any) -> Any:
    """An entropy and a bound that are a thousandth off."""
    return replace(right, entropy=right.entropy * 1.001 + 0.001)


def in_single_sums(right: Any, *_: Any) -> Any:
    """The counts of a pass rounded to 32-bit floats."""
    counts = array("d", array("f", memoryview(right.moments.counts).tolist()))
    return replace(right, moments=replace(right.moments, counts=counts))
