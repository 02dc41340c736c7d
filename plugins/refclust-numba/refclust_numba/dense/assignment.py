"""Nearest centres of dense rows: a ladder on which every rung decides what it can prove.

Keeps the contract of ``kmeans.assign``: the lowest index of the exact minimum.

1. *Single precision*, all rows. With y = (x - o) s and e_k = (c_k - o) s the score is
   |e_k|**2 / 2 - y.e_k, which orders centres as distances do. Let u = 2**-24. y and e_k become
   singles with relative error u(1 + 2**-20) each (the subtractions in doubles included), the start
   |e|**2 / 2 with u(1 + 2**-20), and the d steps of the sum round at most d + 1 times in a row,
   fused or not. So a score errs by at most (d + 4) u 1.02 (|y| |e_k| + |e_k|**2 / 2), by
   Cauchy-Schwarz, as long as (d + 4) u < 0.01, and by (d + 4) 2**-140 max(1, |e_k|) where singles
   underflow (2**-150 is the largest such loss of a component or of a product, and all components
   are below 2**60). Two scores farther apart than twice that are in proven order; the factor 1.1
   below covers the roundings of the test itself.
2. *Doubles*, rows in doubt. Differences first: the sum of d rounded squares errs by less than
   (d + 4) 2**-53 of itself (and 2**-1000 for underflow).
3. *Double-double*, centres still in doubt. A difference is exact as s + e; its square p + f + 2 s e
   misses e**2 and two roundings, less than 2**-103 of itself. The low parts of d terms add up to
   at most 4 d 2**-53 of the sum, so d more roundings of theirs cost 4 d**2 2**-106. A sum errs by
   less than (d + 8)**2 2**-103 of itself.
4. *Integers*, in limbs: |c|**2 - 2 x.c exactly. Only numbers whose products leave the range of
   doubles go on to the reference's integers.

A margin is kept with every row that the first rung decides, so that the next assignment can leave
it alone. If g is the proven difference of two scores, less the error, every other centre k has
d_k**2 >= d_a**2 + 2 g, a being the nearest, so d_k - d_a >= 2 g / (sqrt(d_a**2 + 2 g) + d_a)
>= g / sqrt(U + g) for any U >= d_a**2. U = |y|**2 + 2 s_a, and the error of the score s_a and the
roundings on the way are below the bound of the error of scores, taken four times, and 2**-18 of
|y|**2. When centres move by at most m_k each (in doubles, rounded up), d_k - d_a falls by at most
m_a + max m_k: what is left of the margin, shrunk by 2**-20 for roundings, proves the label as long
as it is positive. Distances count in the scaled space of the first rung, all of them.

Under the cosine the score is -x.c/|c|, that is -s o.e_k - y.e_k with e_k = c_k/|c_k|; the doubles
follow with an absolute bound, and what they leave goes to the reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from refclust_numba.blocks import blocks
from refclust_numba.centres import distinct, grouped, place, units
from refclust_numba.dense.ladder import exactly
from refclust_numba.dense.packing import NOT_PACKED, Packed
from refclust_numba.dense.records import Centres, Labels, Share
from refclust_numba.dense.screening import GROUP, ROWS
from refclust_numba.dense.stepping import step_blocks
from refclust_numba.exact.sums import Adding, nothing
from refclust_numba.lowlevel.arrays import aligned, read_only
from refclust_numba.lowlevel.build import LANES
from refclust_numba.lowlevel.threads import shared, threads
from refclust_numba.prepared import Rows

_HUGE: Final = 2.0**60
_WORTH: Final = 64  # K * d from which on bounds are worth their memory
_BOUNDS: Final = "bounds"
_NO_LABELS: Final = read_only(np.empty(0, np.int32))
_NO_SINGLES: Final = np.empty(0, np.float32)
_NO_GROUPS: Final = np.empty((0, 1, 1), np.float32)


@dataclass(slots=True)
class Bounds:
    """What the last step proved: the margin of each row under its labels and centres."""

    labels: Any
    centres: Any
    margins: Any

    def belong(self, labels: Any, centres: Any) -> bool:
        """Whether they are those of these labels, and of as many centres."""
        return self.labels is labels and self.centres.shape == centres.shape


def nearest(rows: Rows, table: Any, metric: str) -> Any:
    """The labels of all dense rows."""
    return passed(rows, table, metric, None, None)[0]


def passed(rows: Rows, table: Any, metric: str, old: Any, adding: Adding | None) -> tuple[Any, int]:
    """Label all dense rows and say how many labels are not the old ones.

    With ``adding`` those rows are moved there.
    """
    bounds = rows.memory.pop(_BOUNDS, None)  # taken away: whatever interrupts us, it is not stale
    labels = rows.label_buffers.free()
    before = _NO_LABELS if old is None else read_only(old)
    vectors, index = distinct(table)
    if len(vectors) == 1:
        labels[:] = index[0]
        rows.rungs["float32"] += rows.n
        changed = _relabelled(before, labels, slice(None), adding)
        return rows.label_buffers.finished(labels), changed
    plain = len(index) == len(table)
    worth = adding is not None and plain and metric != "cosine" and table.size >= _WORTH
    if bounds is not None and not (worth and bounds.belong(old, table)):
        bounds = None
    packed, centres = _centres(rows.packed, vectors, metric, bounds)
    if not plain:
        centres = centres._replace(names=read_only(index))
    margins = _NO_SINGLES
    if worth and len(packed.blocks):
        margins = aligned((len(packed.lengths),), np.float32) if bounds is None else bounds.margins
    limit = _limit(*vectors.shape) if len(centres.drift) else -1
    left, changed = _step(rows, packed, centres, Labels(before, labels, margins, limit), adding)
    if left:
        doubtful = np.flatnonzero(labels < 0)
        exactly(rows, vectors, metric, labels, doubtful)
        labels[doubtful] = index[labels[doubtful]]
        changed += _relabelled(before, labels, doubtful, adding)
    finished = rows.label_buffers.finished(labels)
    if len(margins):
        rows.memory[_BOUNDS] = Bounds(finished, table.copy(), margins)
    return finished, changed


def _step(
    rows: Rows, packed: Packed, centres: Centres, labels: Labels, adding: Adding | None
) -> tuple[int, int]:
    """One pass by some threads; says how many rows are left in doubt, and how many changed."""
    d, k = centres.by_columns.shape
    cycles = rows.n * k * (d + 5) // (2 * LANES)
    workers = max(1, min(threads(), -(-rows.n // ROWS) // blocks.chunk, cycles // blocks.cycles))
    # A line of the cache for each: threads that write to one line wait for each other.
    turn, tallies = aligned((8,), np.int64), aligned((workers, 8), np.int64)
    turn[:] = 0
    tallies[:] = 0
    own = [nothing(rows) if adding is None else adding.part() for _ in range(workers)]
    share = Share(turn, blocks.chunk, blocks.listed)

    def work(task: int, _worker: int) -> None:
        step_blocks(
            rows.table, rows.weights, packed, centres, labels, own[task], share, tallies[task]
        )

    shared(work, workers)
    *decided, left, changed = tallies.sum(axis=0)[:5].tolist()
    for name, number in zip(("float32", "float64", "double-double"), decided, strict=True):
        rows.rungs[name] += number
    return left, changed


def _limit(k: int, d: int) -> int:
    """How many rows of a block may be collected in a block of their own, if they are not proven.

    Reading such a row from anywhere costs about 100 + 3 d / 4 cycles, its scores K d / 32; the
    scores of the whole block cost the latter for every row.
    """
    scores = k * (d + 5) / (2 * LANES)
    return int(ROWS * scores / (scores + 100 + 0.75 * d))


def _relabelled(before: Any, labels: Any, which: Any, adding: Adding | None) -> int:
    """Move some rows whose labels were found apart from the others; say how many changed."""
    chosen = np.arange(len(labels))[which]
    was = before[chosen] if len(before) else np.full(len(chosen), -1, np.int32)
    now = labels[chosen]
    if adding is not None:
        adding.move(chosen, was, now)
    return int(np.count_nonzero(was != now))


def _centres(
    packed: Packed | None, vectors: Any, metric: str, bounds: Bounds | None
) -> tuple[Packed, Centres]:
    """Rows and centres for the pass; without the first rung if they are too large for it."""
    cosine = metric == "cosine"
    vectors = units(vectors) if cosine else vectors
    nothing = Centres(
        _NO_GROUPS, _NO_SINGLES, np.float32(np.inf), np.float32(np.inf), _NO_SINGLES,
        np.ascontiguousarray(vectors.T), cosine, _NO_LABELS,
    )  # fmt: skip
    if packed is None:
        return NOT_PACKED, nothing
    k, d = vectors.shape
    drift = np.empty(0 if bounds is None else k, np.float32)
    if cosine:
        group, first = grouped(vectors, -(vectors @ packed.offset) * packed.factor)
        longest = 1.0 + 2.0**-20
        half = float(np.sqrt((packed.offset**2).sum())) * packed.factor * (1 + 2.0**-20)
    else:
        groups = -(-k // GROUP)
        group = np.zeros((groups, d, GROUP), np.float32)
        first = np.full(groups * GROUP, np.inf, np.float32)
        known = vectors if bounds is None else bounds.centres
        half = place(vectors, packed.offset, packed.factor, known, group, first, drift)
        half *= 1 + 2.0**-20
        longest = float(np.sqrt(2 * half))
    if not max(longest, half) < _HUGE:
        return NOT_PACKED, nothing
    share = 2 * 1.1 * (d + 4) * 2.0**-24
    slope = np.float32(share * longest)
    start = np.float32(share * half + (d + 4) * 2.0**-138 * max(1.0, longest))
    return packed, nothing._replace(group=group, first=first, slope=slope, start=start, drift=drift)
