"""All pairs of rows in the order of their exact distances, for data of bounded size."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Final

from refclust.errors import TooLarge
from refclust.kernels.pairs.integers import Lines, bits_for, more_bits
from refclust.metrics.passes.decimals import between
from refclust.metrics.passes.source import FEW_TERMS
from refclust.numbers.real import Interval, Real, enclosed, sqrt, total

MOST_PAIRS: Final = 1 << 21  # 2,048 rows


class Orders:
    """The pairs of rows within and between clusters, with how often each counts.

    >>> from array import array
    >>> from refclust.data.dataset import dense
    >>> orders = Orders(Lines(dense(array("d", [0, 1, 5]), 1), [0, 1, 0], 2), [1, 1, 1])
    >>> orders.compared(), float(orders.extreme_sum(2, largest=False))
    ((0, 2), 5.0)
    """

    def __init__(self, lines: Lines, counts: Sequence[int]) -> None:
        pairs = len(lines.order) * (len(lines.order) - 1) // 2
        if pairs > MOST_PAIRS:
            raise TooLarge(
                f"{pairs:,} pairs of rows would have to be put in order; at most {MOST_PAIRS:,} are"
            )
        self._lines = lines
        self._counts = [counts[i] for i in lines.order]

    @cached_property
    def _pairs(self) -> tuple[Counter[int], Counter[int]]:
        """How often each squared distance occurs within clusters, and between them."""
        within: Counter[int] = Counter()
        between_clusters: Counter[int] = Counter()
        plain = all(count == 1 for count in self._counts)
        for i, gaps in enumerate(self._lines.gaps()):
            own = self._counts[i]
            end = self._lines.starts[self._lines.owners[i] + 1] - i - 1
            within[0] += own * (own - 1) // 2
            if plain:
                within.update(gaps[:end])
                between_clusters.update(gaps[end:])
                continue
            for place, gap in enumerate(gaps):
                part = within if place < end else between_clusters
                part[gap] += own * self._counts[i + 1 + place]
        return +within, between_clusters

    def compared(self) -> tuple[int, int]:
        """How often a pair within a cluster is closer, and farther, than a pair between clusters.

        Spec: CONV-PAIRS
        """
        return self._compared

    @cached_property
    def _compared(self) -> tuple[int, int]:
        within, others = self._pairs
        gaps = sorted(others)
        below = [*accumulate((others[gap] for gap in gaps), initial=0)]
        closer = farther = 0
        for gap, times in within.items():
            closer += times * (below[-1] - below[bisect_right(gaps, gap)])
            farther += times * below[bisect_left(gaps, gap)]
        return closer, farther

    @cached_property
    def _sorted(self) -> tuple[Counter[int], list[int]]:
        """How often each squared distance occurs, and all of them in order."""
        within, others = self._pairs
        every = within.copy()
        every.update(others)
        return every, sorted(every)

    def extreme_sum(self, count: int, *, largest: bool) -> Real:
        """The sum of so many least, or largest, distances among all pairs.

        Spec: CONV-PAIRS
        """
        (every, gaps), left = self._sorted, count
        chosen: dict[int, int] = {}
        for gap in reversed(gaps) if largest else gaps:
            chosen[gap] = min(every[gap], left)
            left -= chosen[gap]
            if not left:
                break
        return root_sum(chosen, self._lines.points.shift)


def root_sum(terms: dict[int, int], shift: int) -> Real:
    """The sum of so many roots of integers, over 2**shift.

    Spec: NUM-REAL

    >>> float(root_sum({4: 3, 2: 1}, 1))
    3.7071067811865475
    """
    largest = max(terms, default=0)

    def interval(digits: int) -> Interval:
        extra = more_bits(largest, bits_for(digits))
        low = slack = 0
        for gap, times in terms.items():
            square = gap << 2 * extra
            root = math.isqrt(square)
            low += times * root
            slack += times * (root * root != square)
        return between(low, slack, 1 << shift + extra, digits)

    def written() -> Real:
        unit = Fraction(1, 1 << shift)
        return total(times * unit * sqrt(gap) for gap, times in sorted(terms.items()))

    return enclosed(interval, written if len(terms) <= FEW_TERMS else None)


def least_gaps(lines: Lines) -> list[list[int]]:
    """The least squared distance of every row, in order, to the other rows of each cluster.

    In units of 4**-shift, -1 where there is none.

    Spec: VEC-SQDIST

    >>> from array import array
    >>> from refclust.data.dataset import dense
    >>> least_gaps(Lines(dense(array("d", [0, 1, 5]), 1), [0, 0, 1], 2))
    [[1, 25], [1, 16], [16, -1]]
    """
    n, k, starts = len(lines.order), len(lines.groups), lines.starts
    beyond = lines.largest + 1
    least = [[beyond] * k for _ in range(n)]
    column = [beyond] * n  # from the cluster at hand to every row after it
    for i, gaps in enumerate(lines.gaps()):
        own = lines.owners[i]
        for c in range(own, k):
            begin, end = max(starts[c], i + 1) - i - 1, starts[c + 1] - i - 1
            if begin < end:
                least[i][c] = min(gaps[begin:end])
        least[i][own] = min(least[i][own], column[i])
        column[i + 1 :] = map(min, column[i + 1 :], gaps)
        if i + 1 == starts[own + 1]:
            for j in range(i + 1, n):
                least[j][own] = column[j]
            column = [beyond] * n
    return [[-1 if gap == beyond else gap for gap in row] for row in least]
