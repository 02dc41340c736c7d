"""Sums of distances from every row to every cluster: KER-DISTSUM, never n x n numbers.

Blocks of rows form panels. Two panels are measured once, for the sums of both: rows of one stand in
the lanes, four rows of the other go along them. Teams of panels meet in rounds, as in a tournament,
in which none plays twice: so threads never add to the same sum, and what is added in which order
depends on the number of rows alone.

Keeps the bound of ``refclust.kernels.contracts.lengths``: within a panel a strand adds ``PANEL``
terms in a chain, three more additions join the strands; the other way ``2 PANEL`` groups of four
are added in a chain, with two additions within a group. Sums of panels are added up with what each
addition loses: fewer than 40 roundings touch a term, and 64 are allowed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refclust.kernels.pairs import lengths as reference
from refclust_numba.blocks import blocks
from refclust_numba.lowlevel.compiling import compiled, inlined, room
from refclust_numba.lowlevel.elementary import STRANDS
from refclust_numba.lowlevel.scalars import two_sum
from refclust_numba.lowlevel.threads import even, shared
from refclust_numba.pairs.lanes import ORIGINS, PANEL, TEAM, add_both, add_distances
from refclust_numba.pairs.sorting import by_cluster, ordinary
from refclust_numba.prepared import Rows


def distance_sums(rows: Rows, labels: Any, k: int) -> Any:
    """Keeps the contract of silhouette.distance_sums."""
    if not ordinary(rows):
        return reference.distance_sums(rows.points, labels, k)
    sorted_rows = by_cluster(rows, labels, k)
    high, low = np.zeros((len(sorted_rows.order), k)), np.zeros((len(sorted_rows.order), k))
    teams = -(-sorted_rows.blocks // (TEAM * PANEL))
    for number in range(-1, teams + teams % 2 - 1):
        games = games_of(teams, number)
        pieces = even(len(games), blocks.games)

        def work(
            task: int, _worker: int, games: Any = games, pieces: list[tuple[int, int]] = pieces
        ) -> None:
            begin, end = pieces[task]
            play(
                games, begin, end, sorted_rows.packed, sorted_rows.lines, sorted_rows.weights,
                sorted_rows.starts, sorted_rows.owners, rows.d, high, low,
            )  # fmt: skip

        shared(work, len(pieces))
    sums = np.empty(rows.n * k)
    write_sums(sorted_rows.order, high, low, sums)
    return memoryview(sums)  # type: ignore[arg-type]


@compiled
def games_of(teams, number):  # type: ignore[no-untyped-def]
    """Which teams meet in a round; in round -1 each team meets itself.

    With an even number of teams all but the last stand in a circle, in which i meets number - i,
    and who would meet himself meets the last. An odd one out rests.
    """
    games = room((teams, 2), np.int64)
    count = 0
    if number < 0:
        for i in range(teams):
            games[i, 0], games[i, 1] = i, i
        return games
    circle = teams + teams % 2 - 1
    for i in range(circle):
        j = (number - i) % circle
        j = circle if i == j else j
        if i < j < teams:
            games[count, 0], games[count, 1] = i, j
            count += 1
    return games[:count].copy()


@inlined
def of_strands(strands, first):  # type: ignore[no-untyped-def]
    """The sum of the strands from a place on: neighbours first, then their sums."""
    a = (strands[first] + strands[first + 1]) + (strands[first + 2] + strands[first + 3])
    b = (strands[first + 4] + strands[first + 5]) + (strands[first + 6] + strands[first + 7])
    return a + b


@inlined
def keep(high, low, place, c, value):  # type: ignore[no-untyped-def]
    """Add to one of the sums, with what the addition loses."""
    high[place, c], rest = two_sum(high[place, c], value)
    low[place, c] += rest


@compiled
def play(  # type: ignore[no-untyped-def]
    games, begin, end, packed, lines, weights, starts, owners, d, high, low
):
    """Add the distances of some pairs of teams to the sums of both."""
    count = owners.shape[0]
    strands = room(ORIGINS * STRANDS, np.float64)
    columns = room(PANEL * STRANDS, np.float64)
    for game in range(begin, end):
        team, rival = games[game, 0] * TEAM * PANEL, games[game, 1] * TEAM * PANEL
        for ours in range(team, min(team + TEAM * PANEL, count), PANEL):
            first = ours if team == rival else rival
            for theirs in range(first, min(rival + TEAM * PANEL, count), PANEL):
                meet(
                    ours, theirs, packed, lines, weights, starts, owners, d, high, low, strands,
                    columns,
                )  # fmt: skip


@inlined
def meet(  # type: ignore[no-untyped-def]
    ours, theirs, packed, lines, weights, starts, owners, d, high, low, strands, columns
):
    """Add the distances of two panels, or within one, which begin with some blocks."""
    count = owners.shape[0]
    our_end, their_end = min(ours + PANEL, count), min(theirs + PANEL, count)
    block = ours
    while block < our_end:
        own = owners[block]
        last = min(our_end, starts[own + 1])
        columns[:] = 0.0
        for first in range(block * STRANDS, last * STRANDS, ORIGINS):
            other = theirs
            while other < their_end:
                c = owners[other]
                some = min(their_end, starts[c + 1]) - other
                if ours == theirs:
                    add_distances(packed, other, some, d, lines, first * d, weights, strands)
                else:
                    add_both(
                        packed, other, some, d, lines, first * d, weights, strands, first, columns,
                        (other - theirs) * STRANDS,
                    )  # fmt: skip
                for o in range(ORIGINS):
                    keep(high, low, first + o, c, of_strands(strands, o * STRANDS))
                other += some
        if ours != theirs:
            for place in range(theirs * STRANDS, their_end * STRANDS):
                keep(high, low, place, own, columns[place - theirs * STRANDS])
        block = last


@compiled
def write_sums(order, high, low, sums):  # type: ignore[no-untyped-def]
    """Write the sums in the order of the rows."""
    k = high.shape[1]
    for place in range(order.shape[0]):
        if order[place] >= 0:
            for c in range(k):
                sums[order[place] * k + c] = high[place, c] + low[place, c]
