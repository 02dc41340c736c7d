"""The kernels of Gaussian mixtures over prepared rows (chapter 32).

Every number keeps the bounds of KER-POSTERIOR and KER-EMSTEP: differences from the means come
first, each product and sum is rounded once or fused, exp and log err by a few units. What overflows
beyond them is left to the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures import gaussian as reference
from refclust.kernels.mixtures.gaussian import Gaussians, Moments
from refclust.kernels.mixtures.shared import SOFT, EMStep, Posterior, Rule
from refclust_numba.centres import matrix
from refclust_numba.lowlevel.arrays import aligned, array_over, doubles, fixed, spoiled
from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.elementary import STRANDS
from refclust_numba.lowlevel.threads import shared, threads
from refclust_numba.mixtures.blocks import Choice
from refclust_numba.mixtures.gaussian import diagonal as gaussian_diagonal
from refclust_numba.mixtures.gaussian import full as gaussian_full
from refclust_numba.mixtures.gaussian import rows as gaussian_rows
from refclust_numba.mixtures.gaussian.passes import moment_chunks, posterior_chunks, step_chunks
from refclust_numba.mixtures.gaussian.records import Around, Blocks, Cut, Densities, layout, width
from refclust_numba.mixtures.sizes import BLOCK, sizes
from refclust_numba.prepared import Rows


def em_step(
    rows: Rows, densities: Gaussians, rule: Rule = SOFT, around: CentreMatrix | None = None
) -> EMStep[Moments]:
    """Keeps the contract of ``gaussian.em_step``."""
    if not _ours(rows):
        return reference.em_step(rows.points, densities, rule, around)
    centres, full = densities.means if around is None else around, densities.spread == "full"
    blocks, made, points = _blocks(rows), _densities(rows, densities), _around(centres, full)
    samples = rule.samples if rule.draws is not None and len(rule.draws) else 0
    top = rule.top if 0 < rule.top < densities.k else 0
    choice = Choice(top, samples, doubles(b"" if rule.draws is None else rule.draws))
    chunks = _chunks(rows, densities.k, full)
    out = chunks.sums()

    def run(turn: Any, work: Any) -> None:
        step_chunks(blocks, made, points, choice, chunks.cut, turn, work, out)

    chunks.run(rows, run)
    whole = out.sum(axis=0)
    log_likelihood, bound, entropy = whole[:3].tolist()
    moments = _moments(whole, densities.k, rows.d, centres, densities.spread)
    if moments is None or np.isnan(whole[:3]).any():
        return reference.em_step(rows.points, densities, rule, around)
    return EMStep(log_likelihood, bound, entropy, moments)


def moments(rows: Rows, q: Any, k: int, around: CentreMatrix, spread: Any) -> Moments:
    """Keeps the contract of ``gaussian.moments``."""
    if not _ours(rows):
        return reference.moments(rows.points, q, k, around, spread)
    assigned, full = memoryview(q), spread == "full"
    labelled = assigned.format == "i"
    labels = fixed(array_over(assigned if labelled else b"", np.int32))
    shares = doubles(b"" if labelled else assigned)
    blocks, points, chunks = _blocks(rows), _around(around, full), _chunks(rows, k, full)
    out = chunks.sums()

    def run(turn: Any, work: Any) -> None:
        moment_chunks(blocks, points, labels, shares, chunks.cut, turn, work, out)

    chunks.run(rows, run)
    summed = _moments(out.sum(axis=0), k, rows.d, around, spread)
    return reference.moments(rows.points, q, k, around, spread) if summed is None else summed


def posterior(rows: Rows, densities: Gaussians, full: bool) -> Posterior:
    """Keeps the contract of ``gaussian.posterior``."""
    if not _ours(rows):
        return reference.posterior(rows.points, densities, full)
    blocks, made = _blocks(rows), _densities(rows, densities)
    chunks = _chunks(rows, densities.k, densities.spread == "full")
    labels, logs = rows.label_buffers.free(), np.empty(rows.n)
    table = np.empty(rows.n * densities.k if full else 0)

    def run(turn: Any, work: Any) -> None:
        posterior_chunks(blocks, made, chunks.cut, turn, work, labels, logs, table)

    chunks.run(rows, run)
    named = rows.label_buffers.finished(labels)
    return Posterior(named, _flat(logs), _flat(table) if full else None)


def _ours(rows: Rows) -> bool:
    return rows.dense and rows.d > 0 and rows.n > 0


def _padded(points: CentreMatrix) -> Any:
    """Points with zeros behind each, so that whole groups of columns fit."""
    table = matrix(points)
    wide = np.zeros((len(table), width.py_func(table.shape[1])))
    wide[:, : table.shape[1]] = table
    return wide


def _around(points: CentreMatrix, full: bool) -> Around:
    wide = _padded(points)
    return Around(len(wide), full, wide.shape[1], wide.reshape(-1))


def _blocks(rows: Rows) -> Blocks:
    if "gaussian" not in rows.memory:
        rows.memory["gaussian"] = _in_blocks(rows)
    blocks: Blocks = rows.memory["gaussian"]
    return blocks


def _in_blocks(rows: Rows) -> Blocks:
    """The rows as blocks: in place, but for the last ones, which are copied and filled up.

    Whole vectors of columns are read, so up to ``DOUBLES`` numbers behind a block must be there.
    Rows that fill up the last block repeat the last row, with weight 0.
    """
    n, d, values = rows.n, rows.d, rows.values
    count = -(-n // BLOCK)
    whole = max(0, n * d - DOUBLES) // (BLOCK * d)
    start, lines = whole * BLOCK, (count - whole) * BLOCK
    last = np.zeros(lines * d + DOUBLES, values.dtype)
    table = last[: lines * d].reshape(lines, d)
    table[: n - start] = rows.table[start:]
    table[n - start :] = rows.table[-1]
    own, weights = fixed(values), fixed(rows.weights)
    if values.dtype == np.float32:
        none = fixed(np.empty(0))
        return Blocks(n, d, whole, True, none, none, own, fixed(last), weights)
    none = fixed(np.empty(0, np.float32))
    return Blocks(n, d, whole, False, own, fixed(last), none, none, weights)


def _densities(rows: Rows, densities: Gaussians) -> Densities:
    """Densities as compiled code takes them."""
    k, d, factors = densities.k, rows.d, doubles(densities.whitening)
    means, full = _padded(densities.means), densities.form == "full"
    if full:
        size = gaussian_full.packed_size(d)
        whitening = np.empty(k * size)
        gaussian_full.pack(factors, k, d, whitening, size)
    else:
        size = d
        wide = np.broadcast_to(factors.reshape(k, -1), (k, d))
        whitening = np.ascontiguousarray(wide).reshape(-1)
    return Densities(
        k, full, means.shape[1], size, means.reshape(-1), whitening, doubles(densities.offsets)
    )


@dataclass(frozen=True, slots=True)
class _Chunks:
    """Stretches of rows with sums of their own, for k components."""

    cut: Cut
    count: int
    k: int

    def sums(self) -> Any:
        """Room for the sums of all chunks."""
        return np.empty((self.count, STRANDS + self.k * self.cut.slots))

    def run(self, rows: Rows, work: Callable[[Any, Any], None]) -> None:
        """Let each worker take chunks until none is left."""
        turn = np.zeros(1, np.int64)
        size = int(layout.py_func(self.cut, rows.d, self.k).end)
        known, free = rows.memory.get("gaussian rooms", (0, []))
        if known != size:
            free = []
            rows.memory["gaussian rooms"] = size, free

        def take_chunks(_task: int, _worker: int) -> None:
            # A room that nobody uses, also if kernels run side by side.
            try:
                room = free.pop()
            except IndexError:
                room = aligned((size,), np.float64)
            work(turn, spoiled(room))
            free.append(room)

        shared(take_chunks, min(self.count, threads()))


def _chunks(rows: Rows, k: int, full: bool) -> _Chunks:
    """How rows are cut: by the sizes of the problem, never by those of the machine."""
    d, blocks, limits = rows.d, -(-rows.n // BLOCK), sizes()
    if full and d >= gaussian_rows.MANY:
        slots = gaussian_rows.row_slots(d)
    else:
        sums = gaussian_full.moment_vectors(d) if full else gaussian_diagonal.diagonal_vectors(d)
        slots = -(-(1 + sums) // STRANDS) * STRANDS
    size = max(1, min(limits.batch, limits.batch_bytes // (8 * BLOCK * (d + k))))
    # What a chunk has to tell; how much is laid out for it depends on the lanes.
    room = 8 * k * (1 + d + (d * (d + 1) // 2 if full else d))
    most = max(
        min(limits.chunks, limits.sums_bytes // room),
        min(limits.few_chunks, limits.most_bytes // room),
        1,
    )
    batches = -(-blocks // size)
    chunk = size * -(-batches // most)
    return _Chunks(Cut(size, chunk, slots, limits.near_rows), -(-blocks // chunk), k)


@lru_cache(maxsize=4)
def _places(d: int, full: bool) -> tuple[int, Any]:
    """Where the first and the second moments are among the sums of a component."""
    if not full:
        return 1, 1 + gaussian_diagonal.diagonal_place(d, np.arange(d))
    many = d >= gaussian_rows.MANY
    first, place = (STRANDS, gaussian_rows.row_place) if many else (1, gaussian_full.moment_place)
    i, j = np.divmod(np.arange(d * d), d)
    return first, first + place(d, np.maximum(i, j), np.minimum(i, j))


def _moments(whole: Any, k: int, d: int, around: CentreMatrix, spread: Any) -> Moments | None:
    """The moments from the sums of all chunks, unless something overflowed."""
    sums = whole[STRANDS:].reshape(k, -1)
    first, places = _places(d, spread == "full")
    counts = sums[:, :first].sum(axis=1)
    firsts = np.ascontiguousarray(sums[:, first : first + d])
    seconds = np.ascontiguousarray(sums[:, places])
    if not all(np.isfinite(part).all() for part in (counts, firsts, seconds)):
        return None
    return Moments(_flat(counts), _flat(firsts), _flat(seconds), around, spread)


def _flat(values: Any) -> memoryview:
    """An array as a flat buffer."""
    return memoryview(values.reshape(-1))
