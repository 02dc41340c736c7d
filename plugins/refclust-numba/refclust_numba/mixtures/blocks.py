"""What is done with log p(x, k) of a block of rows, whatever the densities are.

A block holds ``BLOCK`` rows, component after component (see ``refclust_numba.mixtures.responsibilities``),
in a worker's room; places in it are counted in doubles from its base.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import inlined
from refclust_numba.mixtures.responsibilities import BLOCK, draw, keep_top, most_probable, share

TOTALS: Final = 5 * DOUBLES  # numbers of a chunk in the making, lane by lane


@inlined
def share_out(  # type: ignore[no-untyped-def]
    work, base, places, k, weights, ones, rule, draws, first, real
):
    """Turn a block into weighted shares by a rule; tell where they are.

    The places are those of the block, of another one, of log p(x) and of the totals; ``weights``
    and ``ones`` are addresses. The rows of the block begin with ``first``, ``real`` of them count.
    """
    own, chosen, found, totals = places
    top, samples = rule
    at, other, logs, sums = (
        base + 8 * own, base + 8 * chosen, base + 8 * found, base + 8 * totals,
    )  # fmt: skip
    if samples:
        share(at, other, k, weights, ones, logs, sums)
        drawn = draws[first * samples :]
        draw(work, own, chosen, k, weights, drawn, samples, real, totals + 4 * DOUBLES)
        return chosen
    if top:
        keep_top(work, own, chosen, k, top)
        share(at, at, k, weights, weights, logs, sums)
        share(other, other, k, weights, weights, logs, sums + 8 * 2 * DOUBLES)
        return chosen
    share(at, at, k, weights, weights, logs, sums)
    return own


@inlined
def tell(work, totals, rule, told):  # type: ignore[no-untyped-def]
    """Add J, the bound and the entropy of a chunk to three numbers."""
    top, samples = rule
    kept = totals + (2 * DOUBLES if top else 0)
    for lane in range(DOUBLES):
        told[0] += work[totals + lane]
        if not samples:
            told[1] += work[kept + lane]
            told[2] += work[kept + DOUBLES + lane]
    if samples:
        told[1] += work[totals + 4 * DOUBLES]
        told[2] += work[totals + 4 * DOUBLES + 1]


@inlined
def look(  # type: ignore[no-untyped-def]
    work, base, places, k, ones, first, real, labels, logs, whole
):
    """Write labels, log p(x) and, if there is room for it, log p(x, k) of the rows of a block.

    The places are those of the block, of log p(x) and of the totals; ``ones`` is an address.
    """
    joint, found, totals = places
    at = base + 8 * joint
    most_probable(at, k, base + 8 * found)
    for r in range(real):
        labels[first + r] = np.int32(work[found + r])
    if whole.shape[0]:
        for r in range(real):
            for c in range(k):
                whole[(first + r) * k + c] = work[joint + c * BLOCK + r]
    share(at, at, k, ones, ones, base + 8 * found, base + 8 * totals)
    for r in range(real):
        logs[first + r] = work[found + r]
