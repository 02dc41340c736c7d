"""The kernels of seeding over prepared rows: squared distances with bounds, exact on doubt.

Keeps the contracts of ``seeding.potential``, ``seeding.locate``, ``seeding.best_candidate`` and
``seeding.farthest``. Which dense rows a centre can change at all is known from
``refclust_numba.dense.gains``; what ``best_candidate`` found out serves the ``potential`` after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refclust.kernels.clusters import seeding as reference
from refclust.kernels.clusters.nearness import Euclidean
from refclust.kernels.clusters.seeding import Potential
from refclust.numbers.argmin import ROUND
from refclust_numba.blocks import blocks
from refclust_numba.dense.distances import (
    believed,
    measure,
    measure_some,
    relative,
    slack,
    square_of,
)
from refclust_numba.dense.gains import gains, precise_gains
from refclust_numba.dense.ladder import TINY
from refclust_numba.dense.screening import ROWS
from refclust_numba.exact import draws, limbs
from refclust_numba.exact.limbs import carry, deposit_product
from refclust_numba.lowlevel.arrays import array_over
from refclust_numba.lowlevel.compiling import compiled, room, with_room
from refclust_numba.lowlevel.scalars import lowest
from refclust_numba.lowlevel.threads import even, in_threads
from refclust_numba.prepared import Rows, joined_span


def potential(rows: Rows, centre: tuple[float, ...], before: Potential | None = None) -> Potential:
    """Bring in one more centre."""
    if not rows.d:
        return reference.potential(rows.points, centre, before)
    new = np.array(centre, np.float64)
    if before is None:
        squares = np.empty(rows.n)
        measure(rows, new, squares)
        return Potential((centre,), np.zeros(rows.n, np.int32), squares, rows)  # type: ignore[arg-type]
    squares = believed(rows, before).copy()
    nearest = array_over(before.nearest, np.int32).copy()
    centres, name = (*before.centres, centre), len(before.centres)
    if rows.dense:
        doubtful = _closer_dense(rows, new, before, nearest, squares)
    else:
        made = np.empty(rows.n)
        measure(rows, new, made)
        slacks = slack(rows, centres)
        doubtful = closer_rows(made, slacks, name, relative(rows), nearest, squares)
    won = _prefer(rows, centres, nearest, name, doubtful)
    nearest[won] = name
    squares[won] = measure_some(rows, won, new)
    return Potential(centres, nearest, squares, rows)  # type: ignore[arg-type]


def _closer_dense(rows: Rows, centre: Any, before: Potential, nearest: Any, squares: Any) -> Any:
    """Bring nearest and squares up to date where it is proven; return the rows in doubt."""
    known, names, bits = rows.memory.pop("candidates", (None, {}, None))
    place = names.get(centre.tobytes())
    if known is before and place is not None:
        marked = bits[place]
    else:
        marked = gains(rows, squares, centre[None, :]).bits[0]
    name, share = len(before.centres), relative(rows)
    return np.concatenate(
        in_threads(
            lambda b, e: closer_blocks(
                rows.values, marked, centre, name, share, nearest, squares, b, e
            ),
            even(-(-rows.n // ROWS), blocks.marked),
        )
    )


@compiled
def closer_blocks(  # type: ignore[no-untyped-def]
    numbers, bits, centre, name, share, nearest, squares, begin, end
):
    """Let marked rows go over to a new centre where it is proven nearer; return those in doubt."""
    left = room(64, np.int64)
    waiting = 0
    for b in range(begin, end):
        marks = bits[b]
        while marks != 0:
            i = b * ROWS + np.int64(lowest(marks))
            marks &= marks - np.uint64(1)
            old = squares[i]
            square = square_of(numbers, i, centre)
            doubt = (old + square) * share + TINY
            if square + doubt < old:
                nearest[i] = name
                squares[i] = square
            elif not square > old + doubt:
                left = with_room(left, waiting)
                left[waiting] = i
                waiting += 1
    return left[:waiting].copy()


@compiled
def closer_rows(made, slacks, name, share, nearest, squares):  # type: ignore[no-untyped-def]
    """The same for all rows, given their squared distances to the new centre and their slack."""
    left = room(64, np.int64)
    waiting = 0
    for i in range(made.shape[0]):
        doubt = (squares[i] + made[i]) * share + slacks[i]
        if made[i] + doubt < squares[i]:
            nearest[i] = name
            squares[i] = made[i]
        elif not made[i] > squares[i] + doubt:
            left = with_room(left, waiting)
            left[waiting] = i
            waiting += 1
    return left[:waiting].copy()


def _prefer(rows: Rows, centres: Any, nearest: Any, name: int, doubtful: Any) -> Any:
    """Which of the rows in doubt are strictly nearer to the new centre, in integers."""
    used = sorted({int(nearest[i]) for i in doubtful})
    # Equal centres need no look: the old one keeps the row. Of the others each pair is decided.
    place = {k: index for index, k in enumerate(used)}
    same = {k for k in used if centres[k] == centres[name]}
    asked = np.array([i for i in doubtful.tolist() if int(nearest[i]) not in same], np.int64)
    if not len(asked):
        return asked
    vectors = np.array([centres[k] for k in used] + [centres[name]])
    (top, low), (centre_top, centre_low) = rows.span, joined_span(vectors.reshape(-1))
    cut = limbs.scale(
        np.array([max(top, centre_top) + centre_top + 2]),
        min(low, centre_low) + centre_low,
        8 * rows.d + 8,
    )
    if cut is not None and rows.dense:
        other = np.array([place[int(nearest[i])] for i in asked.tolist()], np.int64)
        magic = np.ascontiguousarray(cut.magic[:, 0])
        return asked[nearer_rows(rows.table, vectors, asked, other, magic, cut.width)]
    field = Euclidean(rows.subset(asked), [tuple(v) for v in vectors.tolist()])
    last = len(used)
    won = [field.exact(at, [place[int(nearest[i])], last]) == last for at, i in enumerate(asked)]
    return asked[np.array(won)]


@compiled
def nearer_rows(table, vectors, asked, other, magic, width):  # type: ignore[no-untyped-def]
    """For each row whether the last centre is strictly nearer than the other one named."""
    d = table.shape[1]
    won = np.zeros(asked.shape[0], np.bool_)
    score = room(magic.shape[0], np.int64)
    last = vectors.shape[0] - 1
    for place in range(asked.shape[0]):
        i, k = asked[place], other[place]
        score[:] = 0
        for j in range(d):
            x = np.float64(table[i, j])
            a, b = vectors[last, j], vectors[k, j]
            if a != b:
                deposit_product(score, a, a, magic, 1)
                deposit_product(score, b, b, magic, -1)
                deposit_product(score, x + x, a, magic, -1)
                deposit_product(score, x + x, b, magic, 1)
        carry(score, width)
        won[place] = score[0] < 0
    return won


def locate(rows: Rows, before: Potential | None, r: float, by: str = "squares") -> int:
    """Say on which row the random number r falls."""
    if before is None:
        return draws.by_weight(rows, np.ones(rows.n, np.bool_), r)
    if by == "distinct":
        return draws.by_weight(rows, draws.different(rows, before), r)
    row = draws.by_squares(rows, before, r)
    return reference.place(rows.points, _for_reference(before), r, by) if row is None else row


def best_candidate(rows: Rows, before: Potential, candidates: tuple[int, ...]) -> int:
    """Say which row, as the next centre, would leave the least potential, the first of equals."""
    if not rows.d:
        return reference.best_candidate(rows.points, _for_reference(before), candidates)
    vectors, first = _whole_rows(rows, candidates)
    if len(first) == 1:
        return candidates[first[0]]
    old, asked = believed(rows, before), np.arange(len(first))
    if rows.dense:
        estimates = gains(rows, old, vectors)
        names = {vector.tobytes(): k for k, vector in enumerate(vectors)}
        rows.memory["candidates"] = (before, names, estimates.bits)
        asked = _greatest(estimates.totals, estimates.errors)
        if len(asked) > 1:
            precise = precise_gains(rows, old, vectors[asked], estimates.bits[asked])
            asked = asked[_greatest(*precise)]
    else:
        asked = _greatest(*_sparse_gains(rows, before, vectors, old))
    if len(asked) > 1:
        some = tuple(candidates[first[k]] for k in asked)
        return reference.best_candidate(rows.points, _for_reference(before), some)
    return candidates[first[int(asked[0])]]


def _greatest(totals: Any, errors: Any) -> Any:
    """The indices of all totals that may be the greatest; what is no number may be."""
    return np.nonzero(~(totals + errors < np.max(totals - errors)))[0]


def _sparse_gains(rows: Rows, before: Potential, vectors: Any, old: Any) -> tuple[Any, Any]:
    """What candidates gain (``refclust_numba.dense.gains``), in doubles, with bounds of the errors.

    Pairwise sums of n terms of one sign err by far less than (n / 64 + 64) roundings. A product
    with a weight next to nothing loses up to 2**-1075 by underflow, and so does its slack.
    """
    made, totals = np.empty(rows.n), np.empty(len(vectors))
    for k, vector in enumerate(vectors):
        measure(rows, vector, made)
        gain = np.maximum(old - made, 0.0)
        totals[k] = float((gain * rows.weights if rows.weighted else gain).sum())
    each = slack(rows, (*before.centres, *vectors)) + 4 * relative(rows) * old
    slacks = 4 * float((each * rows.weights if rows.weighted else each).sum())
    faint = rows.n * 2.0**-1070 if rows.weighted else 0.0
    return totals, totals * ((rows.n / 64 + 64) * ROUND) + (slacks + faint)


def _for_reference(before: Potential) -> Potential:
    """A potential as the reference takes it; it makes its own estimates."""
    return Potential(before.centres, before.nearest, before.squares, None)


def _whole_rows(rows: Rows, candidates: tuple[int, ...]) -> tuple[Any, list[int]]:
    """The rows that differ among some, and the first place of each."""
    if rows.dense:
        whole = np.asarray(rows.table[list(candidates)], np.float64) + 0.0
    else:
        whole = np.zeros((len(candidates), rows.d))
        for place, i in enumerate(candidates):
            own = slice(int(rows.starts[i]), int(rows.starts[i + 1]))
            whole[place, rows.columns[own]] = rows.values[own]
        whole += 0.0
    seen: dict[bytes, int] = {}
    for place in range(len(candidates)):
        seen.setdefault(whole[place].tobytes(), place)
    first = list(seen.values())
    return whole[first], first


def farthest(rows: Rows, before: Potential, labels: Any = None, cluster: int = 0) -> int:
    """Say which row of positive weight is farthest from its centre, the lowest of equals."""
    counted = rows.weights > 0 if rows.weighted else np.ones(rows.n, np.bool_)
    if labels is not None:
        counted = counted & (array_over(labels, np.int32) == cluster)
    asked = np.nonzero(counted)[0]
    if not len(asked) or not rows.d:
        return reference.farthest(rows.points, _for_reference(before), labels, cluster)
    squares = believed(rows, before)[asked]
    doubt = 4 * float(slack(rows, before.centres)[asked].max())
    greatest = squares.max()
    doubtful = asked[~(squares * (1 + 4 * relative(rows)) + doubt < greatest)]
    if len(doubtful) == 1 and greatest > 2 * doubt:
        return int(doubtful[0])
    nearest = array_over(before.nearest, np.int32)
    field = reference._Squares(rows.subset(doubtful), before.centres)
    best, most = -1, 0
    for place, i in enumerate(doubtful.tolist()):
        exact = field.exact_square(place, int(nearest[i]))
        if exact > most:
            best, most = i, exact
    return best
