"""The assignment problem in exact integers: the best one-to-one matching (chapter 41, MATCH-HUNG).

Shortest augmenting paths with prices, over the non-zero weights only, so that a large table with
few cells costs little.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping


def best_matching(weights: Mapping[tuple[int, int], int]) -> tuple[tuple[int, int], ...]:
    """Return pairs (row, column), no row or column twice, whose total weight is the greatest.

    Only pairs with a positive weight are matched. Rows enter one by one, each along the cheapest
    path of exchanges to a free column.

    Spec: MATCH-HUNG

    >>> best_matching({(0, 0): 50, (0, 1): 100, (1, 1): 1000, (1, 2): 50, (2, 0): 100, (2, 2): 150})
    ((0, 0), (1, 1), (2, 2))
    """
    rows: dict[int, list[tuple[int, int]]] = {}
    for (i, j), weight in sorted(weights.items()):
        if weight > 0:
            # Each row also has a column of its own, of weight 0: to take it is to stay unmatched.
            rows.setdefault(i, [(-1 - i, 0)]).append((j, weight))
    matching = _Matching(rows)
    for i in rows:
        matching.enter(i)
    return tuple(sorted((i, j) for j, i in matching.row_of.items() if j >= 0))


class _Matching:
    """A best matching of the rows entered so far, with the prices that prove it.

    Everywhere weight ≤ u_i + v_j, with equality on matched pairs and v_j = 0 on free columns.
    """

    def __init__(self, rows: dict[int, list[tuple[int, int]]]) -> None:
        self.rows = rows
        self.row_of: dict[int, int] = {}
        self.column_of: dict[int, int] = {}
        self.u = {i: max(weight for _, weight in cells) for i, cells in rows.items()}
        self.v: defaultdict[int, int] = defaultdict(int)

    def enter(self, start: int) -> None:
        """Match one more row along the path with the least slack u_i + v_j − weight."""
        frontier: list[tuple[int, int, int]] = []
        reached: dict[int, tuple[int, int]] = {}  # column: its distance, the row it came from
        row, distance = start, 0
        nearest: dict[int, int] = {}
        bound = self.u[start] + 1  # the row's own column is at u, so nothing beyond can matter
        while True:
            for j, weight in self.rows[row]:
                far = distance + self.u[row] + self.v[j] - weight
                if far < nearest.get(j, bound):
                    nearest[j] = far
                    heapq.heappush(frontier, (far, j, row))
                    if j not in self.row_of:
                        bound = min(bound, far + 1)
            distance, column, came_from = heapq.heappop(frontier)
            while column in reached:
                distance, column, came_from = heapq.heappop(frontier)
            reached[column] = (distance, came_from)
            if column not in self.row_of:
                break
            row = self.row_of[column]
        self._reprice(start, distance, reached)
        self._exchange(start, column, reached)

    def _reprice(self, start: int, end: int, reached: dict[int, tuple[int, int]]) -> None:
        """Shift the prices so that the path has no slack left."""
        self.u[start] -= end
        for j, (distance, _) in reached.items():
            self.v[j] += end - distance
            if j in self.row_of:
                self.u[self.row_of[j]] -= end - distance

    def _exchange(self, start: int, column: int, reached: dict[int, tuple[int, int]]) -> None:
        """Give each column of the path to the row it was reached from."""
        row = None
        while row != start:
            row = reached[column][1]
            self.row_of[column] = row
            previous = self.column_of.get(row, column)
            self.column_of[row] = column
            column = previous
