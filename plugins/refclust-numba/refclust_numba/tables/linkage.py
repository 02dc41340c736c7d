"""Agglomeration, compiled: the float operations of ``refclust.kernels.linkage`` in their order.

Keeps the contract of ``linkage.agglomerate``. No operation is contracted or reordered here. The
closest pair is found by the same bounds, kept in a binary tree over the clusters whose root is the
least bound of the lowest index: the order of a heap of (bound, index), without old entries.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from refclust.kernels import linkage as reference
from refclust.kernels.linkage import CHOOSING, LARGEST, SQUARED, UPDATES, MergeRow
from refclust_numba.lowlevel.arrays import array_over
from refclust_numba.lowlevel.compiling import compiled, inlined, room
from refclust_numba.tables.singlelink import single

_CODES: Final = {name: code for code, name in enumerate(UPDATES)}


def agglomerate(distances: Any, n: int, linkage: str) -> tuple[MergeRow, ...]:
    """Merge n rows, given all their distances in condensed form, until one cluster is left."""
    condensed = array_over(distances, np.float64)
    condensed.flags.writeable = False
    largest = float(condensed.max(initial=0.0))
    if linkage not in (*UPDATES, "single") or (linkage not in CHOOSING and largest > LARGEST):
        return reference.agglomerate(distances, n, linkage)  # it says what is wrong
    if n < 2:
        return ()
    if linkage == "single":
        firsts, seconds, values = single(condensed, n)
    else:
        firsts, seconds, values = merge_generic(condensed.copy(), n, _CODES[linkage])
    names, size = list(range(n)), [1] * n
    merges: list[MergeRow] = []
    rooted = linkage in SQUARED
    for i, j, value in zip(firsts.tolist(), seconds.tolist(), values.tolist(), strict=True):
        size[i] += size[j]
        left, right = names[i], names[j]
        names[i] = n + len(merges)
        height = math.sqrt(value) if rooted else value
        merges.append((min(left, right), max(left, right), height, size[i]))
    return tuple(merges)


@inlined
def updated(code, x, y, d, a, b, k):  # type: ignore[no-untyped-def]
    """The distance after a merge; sizes are doubles, which are exact for them."""
    if code == 0:
        return x if x > y else y
    if code == 1:
        low, high = (x, y) if x < y else (y, x)
        mean = (a * x + b * y) / (a + b)
        if mean < low:
            return low
        return high if high < mean else mean
    if code == 2:
        return (x + y) / 2.0
    if code == 3:
        return (a * x + b * y) / (a + b) - a * b * d / ((a + b) * (a + b))
    if code == 4:
        return (x + y) / 2.0 - d / 4.0
    low = x if x < y else y
    rise = ((a + k) * x + (b + k) * y - k * d) / (a + b + k)
    return low if rise < low else rise


class Search(NamedTuple):
    """Distances between clusters, and for each cluster the nearest one after it."""

    work: Any  # condensed distances; dead clusters are infinitely far away
    begin: Any  # begin[i] + j is the place of the pair i < j
    bound: Any  # no cluster after i is closer to it than this
    near: Any  # which one was that close
    tree: Any  # of every two clusters the one with the lesser bound, up to the root at 1
    size: Any


@inlined
def winner(search, node):  # type: ignore[no-untyped-def]
    """The one of the lesser bound of the two below a node; of equals the lower index."""
    left, right = search.tree[2 * node], search.tree[2 * node + 1]
    return right if search.bound[right] < search.bound[left] else left


@inlined
def raise_to_root(search, i):  # type: ignore[no-untyped-def]
    """Bring the winners above cluster i up to date."""
    node = (search.bound.shape[0] + i) >> 1
    while node >= 1:
        search.tree[node] = winner(search, node)
        node >>= 1


@inlined
def look(search, i):  # type: ignore[no-untyped-def]
    """Find the nearest cluster after i, the first of equals."""
    work, start = search.work, search.begin[i]
    least, where = np.inf, search.near[i]
    for p in range(i + 1, search.begin.shape[0]):
        if work[start + p] < least:
            least, where = work[start + p], p
    search.bound[i], search.near[i] = least, where


@inlined
def begun(work, n):  # type: ignore[no-untyped-def]
    """The search before the first merge."""
    leaves = 1
    while leaves < n:
        leaves *= 2
    begin, tree = room(n, np.int64), room(2 * leaves, np.int64)
    for i in range(n):
        begin[i] = i * n - i * (i + 1) // 2 - i - 1
    search = Search(work, begin, np.full(leaves, np.inf), np.zeros(n, np.int64), tree, np.ones(n))
    for i in range(n - 1):
        look(search, i)
    for i in range(leaves):
        tree[leaves + i] = i
    for node in range(leaves - 1, 0, -1):
        tree[node] = winner(search, node)
    return search


@compiled
def merge_generic(work, n, code):  # type: ignore[no-untyped-def]
    """Merge the closest pair again and again; dead clusters are infinitely far away."""
    search = begun(work, n)
    alive = np.arange(n)
    firsts, seconds = room(n - 1, np.int64), room(n - 1, np.int64)
    values = room(n - 1, np.float64)
    done = 0
    while True:
        i = search.tree[1]
        d = search.bound[i]
        if not d < np.inf:
            break
        j = search.near[i]
        if work[search.begin[i] + j] == d:
            firsts[done], seconds[done], values[done] = i, j, d
            alive = without(alive, j)
            join(search, alive, i, j, d, code)
            done += 1
        look(search, i)
        raise_to_root(search, i)
    return firsts[:done], seconds[:done], values[:done]


@inlined
def without(alive, j):  # type: ignore[no-untyped-def]
    """The clusters but one, in their order, in the same memory."""
    place = 0
    for p in range(alive.shape[0]):
        if alive[p] != j:
            alive[place] = alive[p]
            place += 1
    return alive[:place]


@inlined
def join(search, alive, i, j, d, code):  # type: ignore[no-untyped-def]
    """Let cluster i take in cluster j at distance d: new distances of i, and j is dead."""
    work, begin, bound, near, size = (
        search.work, search.begin, search.bound, search.near, search.size,
    )  # fmt: skip
    a, b = size[i], size[j]
    for p in range(alive.shape[0]):
        k = alive[p]
        if k < i:
            at = begin[k] + i
            value = updated(code, work[at], work[begin[k] + j], d, a, b, size[k])
            work[at] = value
            work[begin[k] + j] = np.inf
            if value < bound[k]:
                bound[k] = value
                near[k] = i
                raise_to_root(search, k)
            elif value == bound[k] and i < near[k]:
                near[k] = i
        elif i < k < j:
            at = begin[i] + k
            work[at] = updated(code, work[at], work[begin[k] + j], d, a, b, size[k])
            work[begin[k] + j] = np.inf
        elif k > j:
            at = begin[i] + k
            work[at] = updated(code, work[at], work[begin[j] + k], d, a, b, size[k])
    work[begin[i] + j] = np.inf
    size[i], size[j] = a + b, 0.0
    bound[j] = np.inf
    raise_to_root(search, j)
