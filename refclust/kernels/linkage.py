"""The kernel that merges: from distances to a tree, always the closest pair first (chapter 20).

A cluster is known by its smallest row. The closest pair is merged, among equally close ones the
pair (i, j), i < j, that comes first, and the new cluster is known by i. All linkages but single
keep the distances of clusters up to date (HC-LW) and find the closest pair through the nearest
neighbour of each cluster among those after it: the «generic» algorithm of Müllner (2011), with
bounds below in a heap. Single linkage grows a minimum spanning tree.

Never follow chains of nearest neighbours here. Such chains merge in another order, which gives
another tree where distances are equal, and is wrong for the centroid and the median.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from itertools import groupby
from types import MappingProxyType
from typing import Final, TypeAlias

from refclust.errors import BadOption, NotFinite
from refclust.kernels.contracts.basic import Equal
from refclust.kernels.registry import kernel

MergeRow: TypeAlias = tuple[int, int, float, int]  # two cluster ids, height, size
Pair: TypeAlias = tuple[int, int, float]  # two representatives and their distance
# Of d(a, k), d(b, k) and d(a, b) and of the sizes of a, b and k: d(a + b, k).
Update: TypeAlias = Callable[[float, float, float, int, int, int], float]

SQUARED: Final = frozenset(("centroid", "median", "ward"))  # linkages that work on squares
CHOOSING: Final = frozenset(("single", "complete"))  # linkages that compute nothing
# Ward's values are below 2n times the largest square, and are multiplied by less than n: with
# fewer than 2**31 rows nothing overflows.
LARGEST: Final = 2.0**960


def complete(x: float, y: float, _d: float, _a: int, _b: int, _k: int) -> float:
    """The larger distance.

    Spec: HC-COMPLETE, HC-LW

    >>> complete(2.0, 5.0, 1.0, 1, 1, 1)
    5.0
    """
    return x if x > y else y


def average(x: float, y: float, _d: float, a: int, b: int, _k: int) -> float:
    """The mean distance of all pairs, kept between the two distances it is the mean of.

    Spec: HC-AVERAGE, HC-LW

    >>> average(2.0, 5.0, 1.0, 1, 2, 1), average(0.1, 0.1, 0.1, 1, 2, 1)
    (4.0, 0.1)
    """
    low, high = (x, y) if x < y else (y, x)
    mean = (a * x + b * y) / (a + b)
    # Rounding must not lift equal distances apart: ties would be lost, and heights would fall.
    return low if mean < low else min(mean, high)


def weighted(x: float, y: float, _d: float, _a: int, _b: int, _k: int) -> float:
    """The mean of the two distances, whatever the sizes.

    Spec: HC-WEIGHTED, HC-LW

    >>> weighted(2.0, 5.0, 1.0, 1, 2, 1)
    3.5
    """
    return (x + y) / 2


def centroid(x: float, y: float, d: float, a: int, b: int, _k: int) -> float:
    """The squared distance of the means of the rows.

    Spec: HC-CENTROID, HC-LW

    >>> centroid(4.0, 4.0, 4.0, 1, 1, 1)
    3.0
    """
    return (a * x + b * y) / (a + b) - a * b * d / ((a + b) * (a + b))


def median(x: float, y: float, d: float, _a: int, _b: int, _k: int) -> float:
    """The squared distance of midpoints: a merged cluster sits half-way, whatever the sizes.

    Spec: HC-MEDIAN, HC-LW

    >>> median(4.0, 4.0, 4.0, 1, 2, 1)
    3.0
    """
    return (x + y) / 2 - d / 4


def ward(x: float, y: float, d: float, a: int, b: int, k: int) -> float:
    """Twice the rise of the within-cluster sum of squares, never below what it is made of.

    Spec: HC-WARD, HC-LW

    >>> ward(4.0, 9.0, 1.0, 1, 1, 2)
    9.25
    """
    low = x if x < y else y
    rise = ((a + k) * x + (b + k) * y - k * d) / (a + b + k)
    return low if rise < low else rise


UPDATES: Final[Mapping[str, Update]] = MappingProxyType(
    {
        "complete": complete,
        "average": average,
        "weighted": weighted,
        "centroid": centroid,
        "median": median,
        "ward": ward,
    }
)
LINKAGES: Final = ("single", *UPDATES)


@kernel("linkage.agglomerate", contract=Equal())
def agglomerate(distances: array[float], n: int, linkage: str) -> tuple[MergeRow, ...]:
    """Merge n rows, given all their distances in condensed form, until one cluster is left.

    The centroid, the median and Ward's linkage take squared distances; heights are distances.

    Spec: KER-LINK, HC-AGG, HC-TIE, HC-SINGLE

    >>> agglomerate(array("d", [2.0, 6.0, 5.0]), 3, "complete")
    ((0, 1, 2.0, 2), (2, 3, 6.0, 3))
    """
    if linkage not in LINKAGES:
        raise BadOption(f"linkage={linkage!r}; allowed: {', '.join(LINKAGES)}")
    largest = max(distances, default=0.0)
    if linkage not in CHOOSING and largest > LARGEST:
        what = "squared distances" if linkage in SQUARED else "distances"
        raise NotFinite(
            f"linkage={linkage!r} computes with {what} up to 2**960, and the largest is {largest!r}"
        )
    if linkage == "single":
        pairs = _single(distances, n)
    else:
        pairs = _generic(distances, n, UPDATES[linkage])
    names, size = list(range(n)), [1] * n
    merges: list[MergeRow] = []
    for i, j, value in pairs:
        height = math.sqrt(value) if linkage in SQUARED else value
        size[i] += size[j]
        first, second = sorted((names[i], names[j]))
        names[i] = n + len(merges)
        merges.append((first, second, height, size[i]))
    return tuple(merges)


def offsets(n: int) -> list[int]:
    """Where rows begin in the condensed form: the distance of i < j stands at offsets[i] + j.

    Spec: KER-PAIR

    >>> offsets(4)
    [-1, 1, 2, 2]
    """
    return [i * n - i * (i + 1) // 2 - i - 1 for i in range(n)]


def _generic(distances: array[float], n: int, update: Update) -> Iterator[Pair]:
    """Merge the closest pair again and again; dead clusters are infinitely far away.

    For each cluster i, ``bound[i]`` is at most its distance to any cluster after it, and
    ``near[i]`` is the first cluster that can be as close as that: those between i and near[i] are
    farther than the bound. So if d(i, near[i]) equals the bound, this is the first closest pair
    of i; if not, the row is looked through when its bound comes up.
    """
    # A copy, whatever buffer a backend hands over: a slice of a memoryview would be none.
    work, begin = array("d", distances), offsets(n)
    size, alive = [1] * n, list(range(n))
    near, bound = [0] * n, [math.inf] * n

    def look(i: int) -> None:
        row = work[begin[i] + i + 1 : begin[i] + n]
        bound[i] = min(row, default=math.inf)
        if bound[i] < math.inf:
            near[i] = i + 1 + row.index(bound[i])

    for i in alive:
        look(i)
    heap = [(bound[i], i) for i in alive if bound[i] < math.inf]
    heapify(heap)
    while heap:
        d, i = heappop(heap)
        if d != bound[i] or not size[i]:
            continue  # a newer entry of this cluster is in the heap, or it is dead
        j = near[i]
        if work[begin[i] + j] != d:
            look(i)
            if bound[i] < math.inf:
                heappush(heap, (bound[i], i))
            continue
        yield i, j, d
        a, b = size[i], size[j]
        alive.remove(j)
        for k in alive:
            if k < i:
                place = begin[k] + i
                value = update(work[place], work[begin[k] + j], d, a, b, size[k])
                work[place] = value
                work[begin[k] + j] = math.inf
                if value < bound[k]:
                    bound[k], near[k] = value, i
                    heappush(heap, (value, k))
                elif value == bound[k] and i < near[k]:
                    near[k] = i
            elif i < k < j:
                place = begin[i] + k
                work[place] = update(work[place], work[begin[k] + j], d, a, b, size[k])
                work[begin[k] + j] = math.inf
            elif k > j:
                place = begin[i] + k
                work[place] = update(work[place], work[begin[j] + k], d, a, b, size[k])
        work[begin[i] + j] = math.inf
        size[i], size[j] = a + b, 0
        look(i)
        if bound[i] < math.inf:
            heappush(heap, (bound[i], i))


def _single(distances: array[float], n: int) -> Iterator[Pair]:
    """Merge along a minimum spanning tree, level by level.

    The tree says which clusters become one at a level, not in which order: other pairs of rows
    may be just as close. In a group of clusters that become one, its first cluster r is in the
    pair that comes first as long as the group is not complete, so r absorbs the others, always
    the first that it touches. All pairs of r's group come before those of groups after it. A pair
    of rows is looked at only when it comes together, so all this takes quadratic time.
    """
    begin = offsets(n)
    members = [[i] for i in range(n)]
    owner = list(range(n))  # of each row the representative of its cluster
    edges = sorted(_spanning_tree(distances, n))
    for height, level in groupby(edges, key=lambda edge: edge[0]):
        for group in _groups([(owner[i], owner[j]) for _, i, j in level]):
            first, *others = group
            for taken in _absorbed(distances, begin, height, members, first, others):
                yield first, taken, height
                members[first] += members[taken]
                for row in members[taken]:
                    owner[row] = first


def _spanning_tree(distances: array[float], n: int) -> Iterator[tuple[float, int, int]]:
    """The edges of a minimum spanning tree (Prim), as height and two rows."""
    begin = offsets(n)
    outside = list(range(1, n))
    shortest, source = list(distances[: n - 1]), [0] * (n - 1)
    while outside:
        height = min(shortest)
        place = shortest.index(height)
        i = outside.pop(place)
        yield height, source.pop(place), i
        shortest.pop(place)
        for place, j in enumerate(outside):
            d = distances[begin[i] + j] if i < j else distances[begin[j] + i]
            if d < shortest[place]:
                shortest[place], source[place] = d, i


def _groups(links: list[tuple[int, int]]) -> list[list[int]]:
    """The connected groups of what is linked, each sorted, in order of their first members."""
    group: dict[int, list[int]] = {}
    for member, other in links:
        left, right = group.setdefault(member, [member]), group.setdefault(other, [other])
        if left is not right:
            small, large = sorted((left, right), key=len)
            large += small
            group.update(dict.fromkeys(small, large))
    return sorted(
        sorted(linked) for linked in {id(members): members for members in group.values()}.values()
    )


def _absorbed(
    distances: array[float],
    begin: list[int],
    height: float,
    members: list[list[int]],
    first: int,
    others: list[int],
) -> Iterator[int]:
    """The other clusters of a group in the order in which the first one touches them."""
    if len(others) == 1:
        yield from others
        return
    touched: list[int] = []
    newest, left = first, others
    while left or touched:
        apart = []
        for other in left:
            if _touch(distances, begin, height, members[newest], members[other]):
                heappush(touched, other)
            else:
                apart.append(other)
        left = apart
        # What was absorbed so far has been compared already; only the newest part is new.
        newest = heappop(touched)
        yield newest


def _touch(
    distances: array[float], begin: list[int], height: float, ours: list[int], theirs: list[int]
) -> bool:
    return any(
        distances[begin[i] + j if i < j else begin[j] + i] == height for i in ours for j in theirs
    )
