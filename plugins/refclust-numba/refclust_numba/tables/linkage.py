"""Agglomeration, compiled: the float operations of ``refclust.kernels.linkage`` in their order.

Keeps the contract of ``linkage.agglomerate``. No operation is contracted or reordered here. The
closest pair is found by the same bounds, kept in a binary tree over the clusters whose root is the
least bound of the lowest index: the order of a heap of (bound, index), without old entries.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from refclust.kernels import linkage as reference
from refclust.kernels.linkage import CHOOSING, LARGEST, SQUARED, UPDATES, MergeRow, offsets
from refclust_numba.lowlevel.compiling import compiled, inlined

_CODES: Final = {name: code for code, name in enumerate(UPDATES)}


def agglomerate(distances: Any, n: int, linkage: str) -> tuple[MergeRow, ...]:
    """Merge n rows, given all their distances in condensed form, until one cluster is left."""
    given = np.frombuffer(memoryview(distances), np.float64)
    given.flags.writeable = False
    largest = float(given.max(initial=0.0))
    if linkage not in (*UPDATES, "single") or (linkage not in CHOOSING and largest > LARGEST):
        return reference.agglomerate(distances, n, linkage)  # it says what is wrong
    if n < 2:
        return ()
    if linkage == "single":
        begin = np.array(offsets(n), np.int64)
        heights, ones, others = spanning_tree(given, n, begin)
        order = np.argsort(heights, kind="stable")
        firsts, seconds, values = merge_levels(given, n, begin, heights, ones, others, order)
    else:
        firsts, seconds, values = merge_generic(given.copy(), n, _CODES[linkage])
    names, size = list(range(n)), [1] * n
    merges: list[MergeRow] = []
    rooted = linkage in SQUARED
    for i, j, value in zip(firsts.tolist(), seconds.tolist(), values.tolist(), strict=True):
        size[i] += size[j]
        one, other = names[i], names[j]
        names[i] = n + len(merges)
        height = math.sqrt(value) if rooted else value
        merges.append((min(one, other), max(one, other), height, size[i]))
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


@inlined
def raise_to_root(tree, bound, leaves, i):  # type: ignore[no-untyped-def]
    """Bring the winners above cluster i up to date; of equal bounds the lower index wins."""
    node = (leaves + i) >> 1
    while node >= 1:
        left, right = tree[2 * node], tree[2 * node + 1]
        tree[node] = right if bound[right] < bound[left] else left
        node >>= 1


@inlined
def look(work, begin, bound, near, i, n):  # type: ignore[no-untyped-def]
    """Find the nearest cluster after i, the first of equals."""
    bound[i] = np.inf
    for p in range(i + 1, n):
        if work[begin[i] + p] < bound[i]:
            bound[i] = work[begin[i] + p]
            near[i] = p


@compiled
def merge_generic(work, n, code):  # type: ignore[no-untyped-def]
    """Merge the closest pair again and again; dead clusters are infinitely far away."""
    begin = np.empty(n, np.int64)
    for i in range(n):
        begin[i] = i * n - i * (i + 1) // 2 - i - 1
    leaves = 1
    while leaves < n:
        leaves *= 2
    size = np.ones(n)
    bound = np.full(leaves, np.inf)
    near = np.zeros(n, np.int64)
    for i in range(n - 1):
        look(work, begin, bound, near, i, n)
    tree = np.empty(2 * leaves, np.int64)
    for i in range(leaves):
        tree[leaves + i] = i
    for node in range(leaves - 1, 0, -1):
        left, right = tree[2 * node], tree[2 * node + 1]
        tree[node] = right if bound[right] < bound[left] else left
    alive = np.arange(n)
    count = n
    firsts, seconds = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    values = np.empty(n - 1)
    done = 0
    while True:
        i = tree[1]
        d = bound[i]
        if not d < np.inf:
            break
        j = near[i]
        if work[begin[i] + j] != d:
            look(work, begin, bound, near, i, n)
            raise_to_root(tree, bound, leaves, i)
            continue
        firsts[done], seconds[done], values[done] = i, j, d
        done += 1
        a, b = size[i], size[j]
        place = 0
        for p in range(count):
            if alive[p] != j:
                alive[place] = alive[p]
                place += 1
        count -= 1
        for p in range(count):
            k = alive[p]
            if k < i:
                at = begin[k] + i
                value = updated(code, work[at], work[begin[k] + j], d, a, b, size[k])
                work[at] = value
                work[begin[k] + j] = np.inf
                if value < bound[k]:
                    bound[k] = value
                    near[k] = i
                    raise_to_root(tree, bound, leaves, k)
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
        raise_to_root(tree, bound, leaves, j)
        look(work, begin, bound, near, i, n)
        raise_to_root(tree, bound, leaves, i)
    return firsts[:done], seconds[:done], values[:done]


@compiled
def spanning_tree(distances, n, begin):  # type: ignore[no-untyped-def]
    """The edges of a minimum spanning tree (Prim): heights and two rows each."""
    shortest = np.full(n, np.inf)
    source = np.zeros(n, np.int64)
    inside = np.zeros(n, np.bool_)
    heights = np.empty(n - 1)
    ones, others = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    newest = 0
    inside[0] = True
    for step in range(n - 1):
        least, where = np.inf, -1
        for j in range(n):
            if inside[j]:
                continue
            d = distances[begin[newest] + j] if newest < j else distances[begin[j] + newest]
            if d < shortest[j] or step == 0:
                shortest[j] = d
                source[j] = newest
            if where < 0 or shortest[j] < least:
                least, where = shortest[j], j
        heights[step], ones[step], others[step] = least, source[where], where
        inside[where] = True
        newest = where
    return heights, ones, others


@compiled
def merge_levels(distances, n, begin, heights, ones, others, order):  # type: ignore[no-untyped-def]
    """Always merge the first of the closest pairs of clusters, level by level.

    The levels are the edges of a minimum spanning tree. At one level, a cluster r that is linked
    to others absorbs, one after another, the first cluster that it touches: clusters are known by
    their lowest rows, and the lowest cluster with a neighbour at this level comes first.
    """
    # Clusters as linked lists of rows; owner[i] is the lowest row of i's cluster.
    owner, last, group = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    after = np.empty(n, np.int64)
    for i in range(n):
        owner[i], last[i], group[i], after[i] = i, i, i, -1
    firsts, seconds = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    values = np.empty(n - 1)
    done = 0
    mark = np.zeros(n, np.int64)
    level = 0
    at = 0
    while at < n - 1:
        height = heights[order[at]]
        end = at
        while end < n - 1 and heights[order[end]] == height:
            end += 1
        level += 1
        members = np.empty(2 * (end - at), np.int64)
        count = 0
        for e in range(at, end):
            for side in range(2):
                c = owner[ones[order[e]]] if side == 0 else owner[others[order[e]]]
                if mark[c] != level:
                    mark[c] = level
                    group[c] = c
                    members[count] = c
                    count += 1
        for e in range(at, end):
            p, q = owner[ones[order[e]]], owner[others[order[e]]]
            while group[p] != p:
                group[p] = group[group[p]]
                p = group[p]
            while group[q] != q:
                group[q] = group[group[q]]
                q = group[q]
            # The lowest member is the root.
            if p < q:
                group[q] = p
            elif q < p:
                group[p] = q
        found = members[:count]
        for p in range(1, count):
            moving, q = found[p], p
            while q > 0 and found[q - 1] > moving:
                found[q] = found[q - 1]
                q -= 1
            found[q] = moving
        roots = np.empty(count, np.int64)
        for p in range(count):
            r = found[p]
            while group[r] != r:
                r = group[r]
            roots[p] = r
        # Groups in the order of their roots, which are their lowest members.
        for place in range(count):
            first = found[place]
            if roots[place] != first:
                continue
            left = np.empty(count, np.int64)
            size = 0
            for p in range(place + 1, count):
                if roots[p] == first:
                    left[size] = found[p]
                    size += 1
            left = left[:size]
            touched = np.zeros(left.shape[0], np.bool_)
            taken = np.zeros(left.shape[0], np.bool_)
            newest = first
            for _ in range(left.shape[0]):
                if left.shape[0] == 1:
                    touched[0] = True
                else:
                    # What was absorbed before has been compared; only the newest part is new.
                    for p in range(left.shape[0]):
                        if touched[p]:
                            continue
                        i = newest
                        while i >= 0 and not touched[p]:
                            j = left[p]
                            while j >= 0:
                                d = distances[begin[i] + j] if i < j else distances[begin[j] + i]
                                if d == height:
                                    touched[p] = True
                                    break
                                j = after[j]
                            if i == last[newest]:
                                break
                            i = after[i]
                chosen = -1
                for p in range(left.shape[0]):
                    if touched[p] and not taken[p]:
                        chosen = p
                        break
                taken[chosen] = True
                newest = left[chosen]
                firsts[done], seconds[done], values[done] = first, newest, height
                done += 1
            # Join the lists only now: the newest part is scanned by itself above.
            for p in range(left.shape[0]):
                c = left[p]
                i = c
                while i >= 0:
                    owner[i] = first
                    i = after[i]
                after[last[first]] = c
                last[first] = last[c]
        at = end
    return firsts[:done], seconds[:done], values[:done]
