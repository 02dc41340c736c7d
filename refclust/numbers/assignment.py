"""The assignment problem in exact integers: the best one-to-one matching (chapter 41, MATCH-HUNG).

Shortest augmenting paths with potentials, over the non-zero weights only, so that a large table
with few cells costs little.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping


def best_matching(weights: Mapping[tuple[int, int], int]) -> tuple[tuple[int, int], ...]:
    """Return pairs (row, column), no row or column twice, whose total weight is the greatest.

    Only pairs with a positive weight are matched. Rows enter one by one; each takes the cheapest
    path of exchanges to a free column, or leaves one row unmatched.

    Spec: MATCH-HUNG

    >>> best_matching({(0, 0): 50, (0, 1): 100, (1, 1): 1000, (1, 2): 50, (2, 0): 100, (2, 2): 150})
    ((0, 0), (1, 1), (2, 2))
    """
    rows: dict[int, list[tuple[int, int]]] = {}
    for (i, j), weight in sorted(weights.items()):
        if weight > 0:
            rows.setdefault(i, []).append((j, weight))
    # u and v are prices with weight ≤ u_i + v_j everywhere and equality on matched pairs; they
    # prove the matching to be the best. Free columns and unmatched rows have the price 0.
    u = {i: max(weight for _, weight in cells) for i, cells in rows.items()}
    v: dict[int, int] = {}
    row_of: dict[int, int] = {}
    for start in rows:
        _augment(start, rows, u, v, row_of)
    return tuple(sorted((i, j) for j, i in row_of.items()))


def _augment(
    start: int,
    rows: dict[int, list[tuple[int, int]]],
    u: dict[int, int],
    v: dict[int, int],
    row_of: dict[int, int],
) -> None:
    """Bring one more row into the matching along the shortest path of price slack."""
    distance: dict[int, int] = {}
    came_from: dict[int, int] = {}
    row_distance = {start: 0}
    best_exit, exit_row = u[start], start  # a row at distance d may leave at d + its price
    settled: set[int] = set()
    queue: list[tuple[int, int]] = []
    row: int | None = start
    free_column: int | None = None
    while row is not None:
        base = row_distance[row]
        for j, weight in rows[row]:
            slack = base + u[row] + v.get(j, 0) - weight
            if j not in settled and slack < distance.get(j, slack + 1):
                distance[j] = slack
                came_from[j] = row
                heapq.heappush(queue, (slack, j))
        row = None
        while queue:
            slack, j = heapq.heappop(queue)
            if j in settled or slack > distance[j]:
                continue
            if slack >= best_exit:
                break
            settled.add(j)
            if j not in row_of:
                free_column = j
                best_exit = slack
                break
            row = row_of[j]
            row_distance[row] = slack
            if slack + u[row] < best_exit:
                best_exit, exit_row = slack + u[row], row
            break
    _reprice(best_exit, row_distance, distance, settled, u, v)
    _exchange(free_column, exit_row, start, came_from, row_of)


def _reprice(
    reach: int,
    row_distance: dict[int, int],
    distance: dict[int, int],
    settled: set[int],
    u: dict[int, int],
    v: dict[int, int],
) -> None:
    """Shift the prices so that the path has no slack left."""
    for row, at in row_distance.items():
        if at < reach:
            u[row] -= reach - at
    for j in settled:
        if distance[j] < reach:
            v[j] = v.get(j, 0) + reach - distance[j]


def _exchange(
    free_column: int | None,
    exit_row: int,
    start: int,
    came_from: dict[int, int],
    row_of: dict[int, int],
) -> None:
    """Match along the path that ends in a free column or at the row that leaves."""
    if free_column is None:
        if exit_row == start:
            return
        column = next(j for j, row in row_of.items() if row == exit_row)
    else:
        column = free_column
    while True:
        row = came_from[column]
        previous = next((j for j, i in row_of.items() if i == row), None)
        row_of[column] = row
        if row == start or previous is None:
            return
        column = previous
