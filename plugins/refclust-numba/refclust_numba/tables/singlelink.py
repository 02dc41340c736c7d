"""Single linkage, compiled: a minimum spanning tree, and the merges of its levels in order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from refclust.kernels.linkage import offsets
from refclust_numba.lowlevel.compiling import compiled, inlined, room


class Pairs(NamedTuple):
    """Condensed distances; begin[i] + j is the place of the pair i < j."""

    distances: Any
    begin: Any


class Edges(NamedTuple):
    """The edges of a minimum spanning tree: heights, and two rows each."""

    heights: Any
    ones: Any
    others: Any


class Clusters(NamedTuple):
    """Clusters as linked lists of rows, known by their lowest rows."""

    owner: Any  # the lowest row of each row's cluster
    last: Any  # the last row in the list of each cluster
    after: Any  # the next row in the list; -1 for none
    group: Any  # which cluster of the same level each is linked to; the lowest is the root
    mark: Any  # the last level at which each cluster was met


class Merges(NamedTuple):
    """What was merged: the lower cluster, the other one, and the height."""

    firsts: Any
    seconds: Any
    values: Any


def single(distances: Any, n: int) -> Merges:
    """All merges of single linkage."""
    pairs = Pairs(distances, np.array(offsets(n), np.int64))
    edges = Edges(*spanning_tree(pairs, n))
    return Merges(*merge_levels(pairs, n, edges, np.argsort(edges.heights, kind="stable")))


@inlined
def apart(pairs, i, j):  # type: ignore[no-untyped-def]
    """The distance of two different rows."""
    return pairs.distances[pairs.begin[i] + j if i < j else pairs.begin[j] + i]


@compiled
def spanning_tree(pairs, n):  # type: ignore[no-untyped-def]
    """The edges of a minimum spanning tree (Prim): heights and two rows each."""
    shortest = np.full(n, np.inf)
    source = np.zeros(n, np.int64)
    inside = np.zeros(n, np.bool_)
    heights = room(n - 1, np.float64)
    ones, others = room(n - 1, np.int64), room(n - 1, np.int64)
    newest = 0
    inside[0] = True
    for step in range(n - 1):
        least, where = np.inf, -1
        for j in range(n):
            if inside[j]:
                continue
            d = apart(pairs, newest, j)
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
def merge_levels(pairs, n, edges, order):  # type: ignore[no-untyped-def]
    """Always merge the first of the closest pairs of clusters, level by level.

    The levels are the edges of a minimum spanning tree. At one level, a cluster r that is linked
    to others absorbs, one after another, the first cluster that it touches: clusters are known by
    their lowest rows, and the lowest cluster with a neighbour at this level comes first.
    """
    clusters = Clusters(
        np.arange(n), np.arange(n), np.full(n, -1), np.arange(n), np.zeros(n, np.int64)
    )
    merges = Merges(room(n - 1, np.int64), room(n - 1, np.int64), room(n - 1, np.float64))
    members, left = room(n, np.int64), room(n, np.int64)
    done, level, at = 0, 0, 0
    while at < n - 1:
        height = edges.heights[order[at]]
        end = at
        while end < n - 1 and edges.heights[order[end]] == height:
            end += 1
        level += 1
        count = met(edges, order, at, end, clusters, level, members)
        # Groups in the order of their roots, which are their lowest members.
        for place in range(count):
            first = members[place]
            if clusters.group[first] != first:
                continue
            size = 0
            for p in range(place + 1, count):
                if root_of(clusters.group, members[p]) == first:
                    left[size] = members[p]
                    size += 1
            done = absorb(pairs, clusters, first, left[:size], height, merges, done)
        at = end
    return merges.firsts[:done], merges.seconds[:done], merges.values[:done]


@inlined
def root_of(group, c):  # type: ignore[no-untyped-def]
    """The lowest cluster that c is linked to."""
    while group[c] != c:
        group[c] = group[group[c]]
        c = group[c]
    return c


@inlined
def met(edges, order, begin, end, clusters, level, members):  # type: ignore[no-untyped-def]
    """Link the clusters that the edges of a level join; write them down in order, say how many."""
    owner, group, mark = clusters.owner, clusters.group, clusters.mark
    count = 0
    for e in range(begin, end):
        for row in (edges.ones[order[e]], edges.others[order[e]]):
            c = owner[row]
            if mark[c] != level:
                mark[c] = level
                group[c] = c
                members[count] = c
                count += 1
    for e in range(begin, end):
        p = root_of(group, owner[edges.ones[order[e]]])
        q = root_of(group, owner[edges.others[order[e]]])
        # The lowest member is the root.
        group[max(p, q)] = min(p, q)
    members[:count].sort()
    return count


@inlined
def absorb(pairs, clusters, first, left, height, merges, done):  # type: ignore[no-untyped-def]
    """Merge a cluster with those linked to it, one after another; say how many merges there are."""
    touched = np.zeros(left.shape[0], np.bool_)
    taken = np.zeros(left.shape[0], np.bool_)
    newest = first
    for _ in range(left.shape[0]):
        chosen = -1
        for p in range(left.shape[0]):
            # What was absorbed before has been compared; only the newest part is new.
            if not touched[p]:
                touched[p] = left.shape[0] == 1 or meet(pairs, clusters, newest, left[p], height)
            if chosen < 0 and touched[p] and not taken[p]:
                chosen = p
        taken[chosen] = True
        newest = left[chosen]
        merges.firsts[done], merges.seconds[done] = first, newest
        merges.values[done] = height
        done += 1
    # The lists are joined only now: the newest part is looked at by itself above.
    for p in range(left.shape[0]):
        append(clusters, first, left[p])
    return done


@inlined
def meet(pairs, clusters, first, second, height):  # type: ignore[no-untyped-def]
    """Whether a row of one cluster and a row of another are as far apart as the level is high."""
    i = first
    while i >= 0:
        j = second
        while j >= 0:
            if apart(pairs, i, j) == height:
                return True
            j = clusters.after[j]
        i = clusters.after[i]
    return False


@inlined
def append(clusters, first, c):  # type: ignore[no-untyped-def]
    """Hang the rows of cluster c behind those of another."""
    i = c
    while i >= 0:
        clusters.owner[i] = first
        i = clusters.after[i]
    clusters.after[clusters.last[first]] = c
    clusters.last[first] = clusters.last[c]
