"""Agglomeration: the reference's algorithm with one merge's updates done at once (chapter 20).

Every update is the reference's formula, operation by operation, on arrays instead of numbers; NumPy
fuses nothing, so each value has the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from refclust.errors import BadOption, NotFinite
from refclust.kernels.linkage import CHOOSING, LARGEST, LINKAGES, SQUARED, MergeRow
from refclust_numpy.exact.floats import Array

Update: TypeAlias = Callable[[Array, Array, float, float, float, Array], Array]


def _single(x: Array, y: Array, _d: float, _a: float, _b: float, _k: Array) -> Array:
    return np.where(y < x, y, x)


def _complete(x: Array, y: Array, _d: float, _a: float, _b: float, _k: Array) -> Array:
    return np.where(x > y, x, y)


def _average(x: Array, y: Array, _d: float, a: float, b: float, _k: Array) -> Array:
    low, high = np.where(x < y, x, y), np.where(x < y, y, x)
    mean = (a * x + b * y) / (a + b)
    return np.where(mean < low, low, np.where(high < mean, high, mean))


def _weighted(x: Array, y: Array, _d: float, _a: float, _b: float, _k: Array) -> Array:
    return (x + y) / 2


def _centroid(x: Array, y: Array, d: float, a: float, b: float, _k: Array) -> Array:
    return (a * x + b * y) / (a + b) - a * b * d / ((a + b) * (a + b))


def _median(x: Array, y: Array, d: float, _a: float, _b: float, _k: Array) -> Array:
    return (x + y) / 2 - d / 4


def _ward(x: Array, y: Array, d: float, a: float, b: float, k: Array) -> Array:
    low = np.where(x < y, x, y)
    rise = ((a + k) * x + (b + k) * y - k * d) / (a + b + k)
    return np.where(rise < low, low, rise)


_UPDATES: Final[dict[str, Update]] = {
    "single": _single,
    "complete": _complete,
    "average": _average,
    "weighted": _weighted,
    "centroid": _centroid,
    "median": _median,
    "ward": _ward,
}


def agglomerate(distances: Any, n: int, linkage: str) -> tuple[MergeRow, ...]:
    """Keeps the contract of linkage.agglomerate: the closest pair first, then the first pair."""
    if linkage not in LINKAGES:
        raise BadOption(f"linkage={linkage!r}; allowed: {', '.join(LINKAGES)}")
    work = np.array(np.asarray(distances), dtype=np.float64)  # a copy: it is changed
    top = float(work.max(initial=0.0))
    if linkage not in CHOOSING and top > LARGEST:
        what = "squared distances" if linkage in SQUARED else "distances"
        raise NotFinite(
            f"linkage={linkage!r} computes with {what} up to 2**960, and the largest is {top!r}"
        )
    merges: list[MergeRow] = []
    names, sizes = list(range(n)), [1] * n
    for i, j, value in _pairs(work, n, _UPDATES[linkage]):
        height = math.sqrt(value) if linkage in SQUARED else value
        sizes[i] += sizes[j]
        first, second = sorted((names[i], names[j]))
        names[i] = n + len(merges)
        merges.append((first, second, height, sizes[i]))
    return tuple(merges)


def _pairs(work: Array, n: int, update: Update) -> Any:
    """The pairs merged, in order; see the reference for what ``bound`` and ``near`` promise."""
    index = np.arange(n)
    begin = index * n - index * (index + 1) // 2 - index - 1  # d(i, j) stands at begin[i] + j
    starts: list[int] = begin.tolist()
    size = np.ones(n)  # whole numbers, exact as doubles
    near, bound = np.zeros(n, dtype=np.int64), np.full(n, np.inf)
    alive = index

    def look(i: int) -> None:
        row = work[starts[i] + i + 1 : starts[i] + n]
        if not row.size:
            bound[i] = np.inf
            return
        place = int(row.argmin())  # the first of equals
        bound[i] = row[place]
        near[i] = i + 1 + place

    for i in range(n):
        look(i)
    while n > 1:
        i = int(bound.argmin())  # the first of equals
        d = float(bound[i])
        if d == math.inf:
            return
        j = int(near[i])
        if work[starts[i] + j] != d:
            look(i)
            continue
        yield i, j, d
        a, b = float(size[i]), float(size[j])
        alive = alive[alive != j]
        split = int(np.searchsorted(alive, i))
        before, after = alive[:split], alive[split + 1 :]
        cut = int(np.searchsorted(after, j))
        middle, last = after[:cut], after[cut:]
        if before.size:
            to_i, to_j = begin[before] + i, begin[before] + j
            value = update(work[to_i], work[to_j], d, a, b, size[before])
            work[to_i] = value
            work[to_j] = np.inf
            lower = value < bound[before]
            earlier = (value == bound[before]) & (i < near[before])
            bound[before[lower]] = value[lower]
            near[before[lower | earlier]] = i
        if after.size:
            to_i = starts[i] + after
            to_j = np.concatenate([begin[middle] + j, starts[j] + last])
            work[to_i] = update(work[to_i], work[to_j], d, a, b, size[after])
            work[begin[middle] + j] = np.inf
        work[starts[i] + j] = np.inf
        size[i], size[j] = a + b, 0.0
        bound[j] = np.inf
        look(i)
