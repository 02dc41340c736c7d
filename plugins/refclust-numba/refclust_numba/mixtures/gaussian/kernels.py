"""The kernels of Gaussian mixtures over prepared rows (chapter 32).

Every number keeps the bounds of KER-POSTERIOR and KER-EMSTEP: differences from the means come
first, each product and sum is rounded once or fused, exp and log err by a few units. What overflows
beyond them is left to the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from refclust.kernels import gaussian as reference
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.gaussian import Gaussians, Moments
from refclust.kernels.mixture import SOFT, EMStep, Posterior, Rule
from refclust_numba.centres import matrix
from refclust_numba.lowlevel.arrays import aligned, doubles
from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.threads import shared, threads
from refclust_numba.mixtures.gaussian import full as gaussian_full
from refclust_numba.mixtures.gaussian import plain as gaussian_plain
from refclust_numba.mixtures.gaussian import rows as gaussian_rows
from refclust_numba.mixtures.gaussian.passes import (
    layout,
    moment_chunks,
    posterior_chunks,
    step_chunks,
)
from refclust_numba.mixtures.responsibilities import BLOCK
from refclust_numba.prepared import Rows

_BATCH_BYTES: Final = 1 << 18  # rows and masses of a batch, so that they stay in the cache
_BATCH: Final = 8  # blocks
_CHUNKS: Final = 128
_SUMS_BYTES: Final = 1 << 22  # of all chunks; more only so that a few threads have work
_MOST_BYTES: Final = 1 << 28
_FEW: Final = 8


def em_step(
    rows: Rows, densities: Gaussians, rule: Rule = SOFT, around: CentreMatrix | None = None
) -> EMStep[Moments]:
    """Keeps the contract of ``gaussian.em_step``."""
    if not _ours(rows):
        return reference.em_step(rows.points, densities, rule, around)
    centres, full = densities.means if around is None else around, densities.spread == "full"
    blocks, made, points = _blocks(rows), _Densities(rows, densities), _padded(centres)
    samples = rule.samples if rule.draws is not None and len(rule.draws) else 0
    top = rule.top if 0 < rule.top < densities.k else 0
    draws = doubles(b"" if rule.draws is None else rule.draws)
    cut = _cut(rows, densities.k, full)
    out = cut.chunk_sums(densities.k)

    def run(turn: int, work: Any) -> None:
        step_chunks(
            blocks.rows, blocks.weights, made.told, full, points.ctypes.data,
            blocks.ones.ctypes.data, (top, samples), draws, cut.told, turn, work, out,
        )  # fmt: skip

    cut.run(rows, densities.k, run)
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
    given, full = memoryview(q), spread == "full"
    labelled = given.format == "i"
    labels = np.frombuffer(given if labelled else b"", np.int32)
    labels.flags.writeable = False
    shares = doubles(b"" if labelled else given)
    blocks, points, cut = _blocks(rows), _padded(around), _cut(rows, k, full)
    out = cut.chunk_sums(k)

    def run(turn: int, work: Any) -> None:
        moment_chunks(
            blocks.rows, blocks.weights, k, labels, shares, full, points.ctypes.data,
            points.shape[1], cut.told, turn, work, out,
        )  # fmt: skip

    cut.run(rows, k, run)
    found = _moments(out.sum(axis=0), k, rows.d, around, spread)
    return reference.moments(rows.points, q, k, around, spread) if found is None else found


def posterior(rows: Rows, densities: Gaussians, full: bool) -> Posterior:
    """Keeps the contract of ``gaussian.posterior``."""
    if not _ours(rows):
        return reference.posterior(rows.points, densities, full)
    blocks, made = _blocks(rows), _Densities(rows, densities)
    cut = _cut(rows, densities.k, densities.spread == "full")
    labels, logs = rows.label_buffers.free(), np.empty(rows.n)
    table = np.empty(rows.n * densities.k if full else 0)

    def run(turn: int, work: Any) -> None:
        posterior_chunks(
            blocks.rows, made.told, densities.spread == "full", blocks.ones.ctypes.data,
            cut.told, turn, work, labels, logs, table,
        )  # fmt: skip

    cut.run(rows, densities.k, run)
    named = rows.label_buffers.finished(labels)
    return Posterior(named, _plain(logs), _plain(table) if full else None)


def _ours(rows: Rows) -> bool:
    return rows.dense and rows.d > 0 and rows.n > 0


def _padded(points: CentreMatrix) -> Any:
    """Points with zeros behind each, so that whole groups of columns fit."""
    given = matrix(points)
    wide = np.zeros((len(given), gaussian_full.width.py_func(given.shape[1])))
    wide[:, : given.shape[1]] = given
    return wide


class _Blocks:
    """The rows as blocks: in place, but for the last ones, which are copied and filled up.

    Whole vectors of columns are read, so up to ``DOUBLES`` numbers behind a block must be there.
    Rows that fill up the last block repeat the last row, with weight 0.
    """

    def __init__(self, rows: Rows) -> None:
        n, d, values = rows.n, rows.d, rows.values
        count = -(-n // BLOCK)
        whole = max(0, n * d - DOUBLES) // (BLOCK * d)
        start, room = whole * BLOCK, (count - whole) * BLOCK
        tail = np.zeros(room * d + DOUBLES, values.dtype)
        table = tail[: room * d].reshape(room, d)
        table[: n - start] = rows.table[start:]
        table[n - start :] = rows.table[-1]
        self.ones = np.ones(BLOCK)
        weights = np.zeros(room)
        weights[: n - start] = rows.weights[start:] if rows.weighted else 1.0
        self._kept = tail, weights, values, rows.weights
        single = values.dtype == np.float32
        self.rows = (values.ctypes.data, tail.ctypes.data, whole, bool(single), n, d)
        source, step = (rows.weights, 8 * BLOCK) if rows.weighted else (self.ones, 0)
        self.weights = (source.ctypes.data, step, weights.ctypes.data)


def _blocks(rows: Rows) -> _Blocks:
    if "gaussian" not in rows.memory:
        rows.memory["gaussian"] = _Blocks(rows)
    blocks: _Blocks = rows.memory["gaussian"]
    return blocks


class _Densities:
    """Densities as compiled code takes them: k, numbers between means, means, and so on."""

    def __init__(self, rows: Rows, densities: Gaussians) -> None:
        k, d, given = densities.k, rows.d, doubles(densities.whitening)
        self.means, self.offsets = _padded(densities.means), doubles(densities.offsets)
        if densities.form == "full":
            size = gaussian_full.packed_size(d)
            self.whitening = np.empty(k * size)
            gaussian_full.pack(given, k, d, self.whitening, size)
        else:
            size = d
            each = given.reshape(k, -1)
            self.whitening = np.ascontiguousarray(np.broadcast_to(each, (k, d)))
        self.told = (
            k, self.means.shape[1], self.means.ctypes.data, size, self.whitening.ctypes.data,
            self.offsets.ctypes.data,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Cut:
    """How rows are cut: blocks in a batch and in a chunk, sums of a component, chunks."""

    size: int
    chunk: int
    slots: int
    chunks: int

    @property
    def told(self) -> tuple[int, int, int]:
        """As compiled code takes it."""
        return self.size, self.chunk, self.slots

    def chunk_sums(self, k: int) -> Any:
        """Room for the sums of all chunks."""
        return np.empty((self.chunks, DOUBLES + k * self.slots))

    def run(self, rows: Rows, k: int, work: Callable[[int, Any], None]) -> None:
        """Let each worker take chunks until none is left."""
        turn = np.zeros(1, np.int64)
        size = int(layout.py_func(self.size, rows.d, k, self.slots)[-1])
        known, free = rows.memory.get("gaussian rooms", (0, []))
        if known != size:
            free = []
            rows.memory["gaussian rooms"] = size, free

        def one(_task: int, _worker: int) -> None:
            # A room that nobody uses, also if kernels run side by side.
            try:
                room = free.pop()
            except IndexError:
                room = aligned((size,), np.float64)
            work(turn.ctypes.data, room)
            free.append(room)

        shared(one, min(self.chunks, threads()))


def _cut(rows: Rows, k: int, full: bool) -> _Cut:
    d, blocks = rows.d, -(-rows.n // BLOCK)
    if full and d >= gaussian_rows.MANY:
        slots = gaussian_rows.row_slots(d)
    else:
        columns = gaussian_plain.COLUMNS * -(-d // gaussian_plain.COLUMNS)
        vectors = 1 + (gaussian_full.moment_vectors(d) if full else 2 * columns)
        slots = -(-vectors // DOUBLES) * DOUBLES
    size = max(1, min(_BATCH, _BATCH_BYTES // (8 * BLOCK * (d + k))))
    room = 8 * k * slots
    most = max(min(_CHUNKS, _SUMS_BYTES // room), min(_FEW, _MOST_BYTES // room), 1)
    batches = -(-blocks // size)
    chunk = size * -(-batches // most)
    return _Cut(size, chunk, slots, -(-blocks // chunk))


@lru_cache(maxsize=4)
def _places(d: int, full: bool) -> tuple[int, Any]:
    """Where the first and the second moments are among the sums of a component."""
    if not full:
        columns = gaussian_plain.COLUMNS * -(-d // gaussian_plain.COLUMNS)
        return 1, np.arange(1 + columns, 1 + columns + d)
    many = d >= gaussian_rows.MANY
    first, place = (DOUBLES, gaussian_rows.row_place) if many else (1, gaussian_full.moment_place)
    i, j = np.divmod(np.arange(d * d), d)
    return first, first + place(d, np.maximum(i, j), np.minimum(i, j))


def _moments(whole: Any, k: int, d: int, around: CentreMatrix, spread: Any) -> Moments | None:
    """The moments from the sums of all chunks, unless something overflowed."""
    sums = whole[DOUBLES:].reshape(k, -1)
    first, places = _places(d, spread == "full")
    counts = sums[:, :first].sum(axis=1)
    firsts = np.ascontiguousarray(sums[:, first : first + d])
    seconds = np.ascontiguousarray(sums[:, places])
    if not all(np.isfinite(part).all() for part in (counts, firsts, seconds)):
        return None
    return Moments(_plain(counts), _plain(firsts), _plain(seconds), around, spread)


def _plain(values: Any) -> memoryview:
    """An array as a flat buffer."""
    return memoryview(values.reshape(-1))
