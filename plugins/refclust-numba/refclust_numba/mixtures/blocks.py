"""What is done with log p(x, k) of a block of rows, whatever the densities are.

A block holds ``BLOCK`` rows, component after component (see
``refclust_numba.mixtures.responsibilities``), in a worker's room.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from refclust_numba.lowlevel.compiling import inlined
from refclust_numba.lowlevel.elementary import STRANDS
from refclust_numba.mixtures.responsibilities import draw, keep_top, most_probable, share
from refclust_numba.mixtures.sizes import BLOCK

TOTALS: Final = 5 * STRANDS  # numbers of a chunk in the making, strand by strand


class Places(NamedTuple):
    """Where things are in a worker's room: a block, another one, and numbers for each row."""

    block: int
    chosen: int
    weights: int
    ones: int
    per_row: int  # log p(x), names of components, or roots of masses
    totals: int


class Choice(NamedTuple):
    """How shares are chosen: the m most probable, or so many draws; zeros for neither."""

    top: int
    samples: int
    draws: Any  # random numbers of all rows


@inlined
def fill_ones(work, places):  # type: ignore[no-untyped-def]
    """Begin to work in a room."""
    for r in range(BLOCK):
        work[places.ones + r] = 1.0


@inlined
def fill_weights(work, places, weights, first, real):  # type: ignore[no-untyped-def]
    """Write the weights of a block whose rows begin with ``first``; ``real`` of them count."""
    if weights.shape[0]:
        for r in range(real):
            work[places.weights + r] = weights[first + r]
    else:
        for r in range(real):
            work[places.weights + r] = 1.0
    for r in range(real, BLOCK):
        work[places.weights + r] = 0.0


@inlined
def share_out(work, places, k, choice, first, real):  # type: ignore[no-untyped-def]
    """Turn a block into weighted shares as chosen; tell where they are.

    The rows of the block begin with ``first``, ``real`` of them count.
    """
    own, chosen, weights, ones, per_row, totals = places
    if choice.samples:
        share(work, own, chosen, k, weights, ones, per_row, totals)
        draw(
            work, own, chosen, k, weights, choice.draws, first * choice.samples, choice.samples,
            real, totals + 4 * STRANDS,
        )  # fmt: skip
        return chosen
    if choice.top:
        keep_top(work, own, chosen, k, choice.top)
        share(work, own, own, k, weights, weights, per_row, totals)
        share(work, chosen, chosen, k, weights, weights, per_row, totals + 2 * STRANDS)
        return chosen
    share(work, own, own, k, weights, weights, per_row, totals)
    return own


@inlined
def clear_totals(work, totals):  # type: ignore[no-untyped-def]
    """Begin a chunk."""
    for i in range(totals, totals + TOTALS):
        work[i] = 0.0


@inlined
def tell(work, totals, choice, chunk_sums, line):  # type: ignore[no-untyped-def]
    """Add J, the bound and the entropy of a chunk to the first three numbers of a line."""
    kept = totals + (2 * STRANDS if choice.top else 0)
    for strand in range(STRANDS):
        chunk_sums[line, 0] += work[totals + strand]
        if not choice.samples:
            chunk_sums[line, 1] += work[kept + strand]
            chunk_sums[line, 2] += work[kept + STRANDS + strand]
    if choice.samples:
        chunk_sums[line, 1] += work[totals + 4 * STRANDS]
        chunk_sums[line, 2] += work[totals + 4 * STRANDS + 1]


@inlined
def look(  # type: ignore[no-untyped-def]
    work, places, k, first, real, labels, logs, whole
):
    """Write labels, log p(x) and, if there is room for it, log p(x, k) of the rows of a block."""
    block, _, _, ones, per_row, totals = places
    most_probable(work, block, k, per_row)
    for r in range(real):
        labels[first + r] = np.int32(work[per_row + r])
    if whole.shape[0]:
        for r in range(real):
            for c in range(k):
                whole[(first + r) * k + c] = work[block + c * BLOCK + r]
    share(work, block, block, k, ones, ones, per_row, totals)
    for r in range(real):
        logs[first + r] = work[per_row + r]
