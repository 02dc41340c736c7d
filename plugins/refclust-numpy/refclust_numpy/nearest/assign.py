"""Assignment: screens decide nearly all rows, and a pass looks only at rows that may have changed.

Decisions are exact on every rung, so neither the order in which a BLAS adds, nor its threads, nor
the kind of floats can change a label.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refclust_numpy.exact.floats import ROUND, Array, additions, square_sums
from refclust_numpy.nearest.ladder import Ladder
from refclust_numpy.nearest.screening import screen
from refclust_numpy.rows import Memory, Rows, distinct, matrix


def assign(rows: Rows, centres: Any, metric: str = "euclidean") -> Array:
    """Keeps the contract of kmeans.assign."""
    table = matrix(centres)
    first = distinct(table)  # of equal centres the lowest index gets everything
    labels = np.zeros(rows.n, dtype=np.int32)
    if first.size > 1:
        ladder = Ladder(rows, table[first] if first.size < len(table) else table, metric)
        screen(ladder).run(labels)
        labels = labels if first.size == len(table) else first[labels].astype(np.int32)
    return labels


def assign_again(rows: Rows, centres: Any, metric: str) -> Array:
    """Labels as ``assign`` gives them, looking only at rows that may have changed theirs.

    After a pass every row has a margin: so much farther than its own centre are all others,
    at the least. When centres move, distances change by no more than the moves, so a row whose
    margin exceeds the move of its own centre plus the largest move of another keeps its label; it
    is not even a tie. (Hamerly 2010, with the margin kept instead of two bounds.)
    """
    table, memory, rows.memory = matrix(centres), rows.memory, None
    if metric == "cosine" or not 1 < distinct(table).size == len(table):
        return assign(rows, centres, metric)
    chosen = None
    if memory is not None and memory.centres.shape == table.shape:
        labels, margins = memory.labels.copy(), memory.margins
        with np.errstate(all="ignore"):
            margins -= _shifts(rows, table, memory.centres)[memory.labels]
            margins *= np.float32(1 - 2.0**-20)  # more than the roundings of what was taken away
            chosen = np.flatnonzero(~(margins > 0.0))
        if 4 * chosen.size > 3 * rows.n:
            chosen = None
        else:
            rows.rungs["kept"] += rows.n - chosen.size
    else:
        labels, margins = np.zeros(rows.n, np.int32), np.zeros(rows.n, np.float32)
    screen(Ladder(rows, table, metric)).run(labels, chosen, margins)
    labels.flags.writeable = False  # they stand for the margins
    rows.memory = Memory(labels, table, margins)
    return labels


def _shifts(rows: Rows, centres: Array, before: Array) -> Array:
    """How much a row of each cluster may lose of its margin at most, in singles."""
    step = np.sqrt(square_sums((centres - before) * rows.scale))
    step *= 1 + 4 * (additions(rows.d) + 8) * ROUND
    others = np.full(step.size, step.max())
    widest = int(step.argmax())
    others[widest] = np.delete(step, widest).max()
    # Singles round by 2**-24. Squares that underflow hide moves below 2**-500, singles 2**-150.
    shifts = (step + others) * (1 + 2.0**-20) + 2.0**-100
    singles: Array = shifts.astype(np.float32)
    return singles
