"""Exact sums of clusters in limbs, brought up to date with the rows that moved.

Keeps the contracts of ``kmeans.accumulate``, ``kmeans.lloyd_step`` and ``kmeans.squares``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np

from refclust.kernels import kmeans as reference
from refclust.kernels.kmeans import ClusterSums
from refclust_numba import limbs
from refclust_numba.compiling import compiled
from refclust_numba.limbs import Scale, carry, deposit, deposit_product, dyadic
from refclust_numba.prepared import Rows
from refclust_numba.scalars import bits, two_product
from refclust_numba.screening import DOUBLES, move_doubles
from refclust_numba.threads import even, shared, threads

_ROWS: Final = 4096


@dataclass(eq=False)
class LimbSums:
    """The sums of clusters as limbs; only the rows that made them open them."""

    rows: Rows = field(repr=False)
    own: Any = field(repr=False)  # clusters x limbs x columns, or nothing if handed on
    counts: Any = field(repr=False)  # clusters x limbs of the weights
    handed: Any = field(default=None, repr=False)  # the sums that took the limbs, and the labels

    @property
    def limbs(self) -> Any:
        """The limbs; if later sums took them over, made anew by taking their changes back."""
        if self.own is None:
            later, old, new = self.handed
            self.own, counts = later.limbs.copy(), later.counts.copy()
            self.handed = None
            _add_sparse(self.rows, new, old, self.own, counts)
        return self.own

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The exact weight of each cluster times 2**weight_shift."""
        if not self.rows.weighted:
            return tuple(self.counts[:, 0].tolist())
        cut = _present(self.rows.weight_scale)
        up = max(cut.unit(0), 0)
        return tuple(cut.integer(one) << up for one in self.counts)

    @property
    def weight_shift(self) -> int:
        """The power of two that makes all weights integers."""
        return max(-_present(self.rows.weight_scale).unit(0), 0) if self.rows.weighted else 0

    def exact(self) -> ClusterSums:
        """The same as plain integers."""
        cut, k, d = _present(self.rows.scale), len(self.limbs), self.rows.d
        units = [cut.unit(j) for j in range(d)]
        shift = max(0, -min(units, default=0))
        sums = tuple(
            tuple(cut.integer(self.limbs[c, :, j]) << (shift + units[j]) for j in range(d))
            for c in range(k)
        )
        return ClusterSums(self.weights, self.weight_shift, sums, shift)


def _present(cut: Scale | None) -> Scale:
    assert cut is not None
    return cut


def cells(rows: Rows) -> bool:
    """Whether sums of these rows are made in limbs; if not, the reference makes them."""
    return rows.scale is not None and rows.weight_scale is not None and rows.d > 0


def accumulate(rows: Rows, labels: Any, k: int) -> LimbSums | ClusterSums:
    """The sums of all clusters."""
    if not cells(rows):
        return reference.accumulate(rows.points, labels, k)
    return moved(rows, np.full(rows.n, -1, np.int32), buffer(labels), k, None)[0]


def buffer(labels: Any) -> Any:
    """Labels of any backend as an array."""
    return np.frombuffer(memoryview(labels), np.int32)


def moved(rows: Rows, old: Any, new: Any, k: int, before: LimbSums | None) -> tuple[LimbSums, int]:
    """The sums after rows went from old to new labels, and how many did."""
    cut, weight_cut = _present(rows.scale), _present(rows.weight_scale)
    if not rows.dense:
        return _moved_sparse(rows, old, new, k, before)
    shape = (k, cut.count, rows.d)
    weight_shape = (k, weight_cut.count if rows.weighted else 1)
    magic, weight_magic = cut.magic, np.ascontiguousarray(weight_cut.magic[:, 0])
    pieces = even(rows.n, _ROWS)
    own: dict[int, tuple[Any, Any]] = {}
    changed = [0] * len(pieces)

    def work(piece: int, worker: int) -> None:
        begin, end = pieces[piece]
        if worker not in own:
            if worker == 0 and before is not None:
                own[0] = before.limbs.copy(), before.counts.copy()
            else:
                own[worker] = np.zeros(shape, np.int64), np.zeros(weight_shape, np.int64)
        into, counts = own[worker]
        changed[piece] = add_dense(
            rows.table, rows.weights, old, new, into, counts, magic, weight_magic, begin, end
        )

    if before is not None and 0 not in own:
        own[0] = before.limbs.copy(), before.counts.copy()
    shared(work, len(pieces))
    (total, counts), *others = [own[worker] for worker in sorted(own)]
    for more, more_counts in others:
        total += more
        counts += more_counts
    return LimbSums(rows, total, counts), sum(changed)


def _moved_sparse(
    rows: Rows, old: Any, new: Any, k: int, before: LimbSums | None
) -> tuple[LimbSums, int]:
    """The same for sparse rows, whose sums are large: later sums take over the limbs before."""
    cut, weight_cut = _present(rows.scale), _present(rows.weight_scale)
    if before is None:
        into = np.zeros((k, cut.count, rows.d), np.int64)
        counts = np.zeros((k, weight_cut.count if rows.weighted else 1), np.int64)
    else:
        into, counts = before.limbs, before.counts.copy()
    changed = _add_sparse(rows, old, new, into, counts)
    made = LimbSums(rows, into, counts)
    if before is not None:
        before.own, before.handed = None, (made, old, new)
    return made, changed


def _add_sparse(rows: Rows, old: Any, new: Any, into: Any, counts: Any) -> int:
    """Move rows between clusters; each thread has clusters of its own."""
    cut, weight_cut = _present(rows.scale), _present(rows.weight_scale)
    magic = np.ascontiguousarray(cut.magic[:, 0])
    weight_magic = np.ascontiguousarray(weight_cut.magic[:, 0])
    parts = min(threads(), len(into))
    changed = [0] * parts

    def work(part: int, _worker: int) -> None:
        changed[part] = add_sparse(
            rows.starts, rows.columns, rows.values, rows.weights, old, new, into, counts, magic,
            weight_magic, part, parts,
        )  # fmt: skip

    shared(work, parts)
    return changed[0]


@compiled
def add_dense(  # type: ignore[no-untyped-def]
    table, weights, old, new, into, counts, magic, weight_magic, begin, end
):
    """Add the rows whose label changed to the new cluster and take them from the old one."""
    d, count = np.uint64(table.shape[1]), magic.shape[0]
    changed = 0
    bias = np.empty((count, table.shape[1]), np.int64)
    for level in range(count):
        for j in range(table.shape[1]):
            bias[level, j] = bits(magic[level, j])
    # Without weights the bits of M are left in and taken out at the end, once for each row that
    # came or went: integers wrap around without harm. Flat views, because slices cost time.
    net = np.zeros(into.shape[0], np.int64)
    flat, numbers, magics = into.reshape(-1), table.reshape(-1), magic.reshape(-1)
    stride = np.uint64(count) * d
    quick = count == 2 and numbers.itemsize == 8 and d >= np.uint64(DOUBLES)
    for start in range(begin, end, 64):
        stop = min(start + 64, end)
        differ = np.int32(0)
        base = np.uint64(start)
        for r in range(np.uint64(stop - start)):
            differ |= old[base + r] ^ new[base + r]
        if differ == 0:
            continue
        for i in range(start, stop):
            was, now = old[i], new[i]
            if was == now:
                continue
            changed += 1
            if weights.shape[0]:
                add_weighted(
                    table, i, weights[i], was, now, into, counts, magic, bias, weight_magic
                )
                continue
            row = np.uint64(i) * d
            if quick and now >= 0:
                # Two limbs of doubles: whole vectors first, the last few numbers below.
                net[np.uint64(now)] += 1
                home, away = np.int64(now) * np.int64(stride), np.int64(0)
                minus = np.int64(0)
                if was >= 0:
                    net[np.uint64(was)] -= 1
                    away = np.int64(was) * np.int64(stride)
                    minus = flat.ctypes.data + 8 * away
                move_doubles(
                    numbers.ctypes.data + 8 * np.int64(row), magics.ctypes.data,
                    magics.ctypes.data + 8 * np.int64(d), flat.ctypes.data + 8 * home, minus,
                    np.int64(d), np.int64(d) // DOUBLES,
                )  # fmt: skip
                for j in range(d - d % np.uint64(DOUBLES), d):
                    x = np.float64(numbers[row + j])
                    t = x + magics[j]
                    v = (x - (t - magics[j])) + magics[d + j]
                    flat[np.uint64(home) + j] += bits(t)
                    flat[np.uint64(home) + d + j] += bits(v)
                    if was >= 0:
                        flat[np.uint64(away) + j] -= bits(t)
                        flat[np.uint64(away) + d + j] -= bits(v)
                continue
            if now >= 0:
                net[np.uint64(now)] += 1
                base = np.uint64(now) * stride
                if count == 2:
                    for j in range(d):
                        x = np.float64(numbers[row + j])
                        t = x + magics[j]
                        v = (x - (t - magics[j])) + magics[d + j]
                        flat[base + j] += bits(t)
                        flat[base + d + j] += bits(v)
                else:
                    for j in range(d):
                        v = np.float64(numbers[row + j])
                        for level in range(np.uint64(count)):
                            t = v + magics[level * d + j]
                            flat[base + level * d + j] += bits(t)
                            v -= t - magics[level * d + j]
            if was >= 0:
                net[np.uint64(was)] -= 1
                base = np.uint64(was) * stride
                for j in range(d):
                    v = np.float64(numbers[row + j])
                    for level in range(np.uint64(count)):
                        t = v + magics[level * d + j]
                        flat[base + level * d + j] -= bits(t)
                        v -= t - magics[level * d + j]
    if not weights.shape[0]:
        for c in range(into.shape[0]):
            counts[c, 0] += net[c]
            if net[c] != 0:
                for level in range(count):
                    for j in range(table.shape[1]):
                        into[c, level, j] -= net[c] * bias[level, j]
    return changed


@compiled
def add_weighted(  # type: ignore[no-untyped-def]
    table, i, weight, was, now, into, counts, magic, bias, weight_magic
):
    """Move one row times its weight: a product is the exact sum of two doubles."""
    for sign in (1, -1):
        c = now if sign == 1 else was
        if c < 0:
            continue
        deposit(counts[c], weight, weight_magic, sign)
        for j in range(table.shape[1]):
            p, e = two_product(np.float64(table[i, j]), weight)
            for part in (p, e):
                v = part
                for level in range(magic.shape[0]):
                    t = v + magic[level, j]
                    into[c, level, j] += sign * (bits(t) - bias[level, j])
                    v -= t - magic[level, j]


@compiled
def add_sparse(  # type: ignore[no-untyped-def]
    starts, columns, values, weights, old, new, into, counts, magic, weight_magic, part, parts
):
    """Add rows whose label changed to the new cluster, take them from the old; some clusters."""
    count, d = np.uint64(magic.shape[0]), np.uint64(into.shape[2])
    flat = into.reshape(-1)
    weighted = weights.shape[0] > 0
    changed = 0
    for i in range(new.shape[0]):
        was, now = old[i], new[i]
        if was == now:
            continue
        changed += 1
        weight = weights[i] if weighted else 1.0
        for sign in (1, -1):
            c = now if sign == 1 else was
            if c < 0 or c % parts != part:
                continue
            if weighted:
                deposit(counts[c], weight, weight_magic, sign)
            else:
                counts[c, 0] += sign
            base = np.uint64(c) * count * d
            for place in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
                at = base + np.uint64(columns[place])
                p, e = np.float64(values[place]), 0.0
                if weighted:
                    p, e = two_product(p, weight)
                for limb in range(count):
                    t = p + magic[limb]
                    flat[at + limb * d] += sign * (bits(t) - bits(magic[limb]))
                    p -= t - magic[limb]
                if e != 0.0:
                    for limb in range(count):
                        t = e + magic[limb]
                        flat[at + limb * d] += sign * (bits(t) - bits(magic[limb]))
                        e -= t - magic[limb]
    return changed


def squares(rows: Rows, labels: Any, k: int) -> tuple[Fraction, ...]:
    """The exact weighted squared lengths of each cluster."""
    (top, low), (weight_top, weight_low) = rows.span, rows.weight_span
    if top == -2000:
        return (Fraction(0),) * k
    # A square is two doubles, each times a weight again two. Without weights limbs are carried
    # after every 512 numbers, and only the first limb has to hold them all: the top leaves room.
    room = len(rows.values).bit_length()
    if rows.weighted:
        cut = limbs.scale(
            np.array([2 * top + weight_top]), 2 * low + weight_low, 4 * len(rows.values)
        )
    else:
        cut = limbs.scale(np.array([2 * top + room]), 2 * low, 1)
    if cut is None:
        return reference.squares(rows.points, labels, k)
    magic = np.ascontiguousarray(cut.magic[:, 0])
    given = buffer(labels)
    pieces = even(rows.n, _ROWS)
    own: dict[int, Any] = {}
    starts = np.empty(0, np.int64) if rows.dense else rows.starts

    def work(piece: int, worker: int) -> None:
        begin, end = pieces[piece]
        into = own.setdefault(worker, np.zeros((k, cut.count), np.int64))
        if rows.weighted:
            add_weighted_squares(
                rows.values, starts, rows.d, rows.weights, given, into, magic, begin, end
            )
        else:
            add_squares(rows.values, starts, rows.d, given, into, magic, cut.width, begin, end)

    shared(work, len(pieces))
    total = sum(own.values())
    return tuple(dyadic(cut.integer(one), -cut.unit(0)) for one in total)


@compiled
def add_squares(  # type: ignore[no-untyped-def]
    values, starts, d, labels, into, magic, width, begin, end
):
    """Add the exact squares of the numbers of some rows to the limbs of their clusters.

    Cluster by cluster, numbers are collected in a buffer and cut into limbs side by side.
    """
    k = into.shape[0]
    # The rows of each cluster, in order (a counting sort).
    ends = np.zeros(k + 1, np.int64)
    for i in range(begin, end):
        ends[labels[i] + 1] += 1
    for c in range(k):
        ends[c + 1] += ends[c]
    order = np.empty(end - begin, np.int64)
    place = ends[:k].copy()
    for i in range(begin, end):
        order[place[labels[i]]] = i
        place[labels[i]] += 1
    size = 512
    high, low = np.empty(size), np.empty(size)
    for c in range(k):
        filled = 0
        for at in range(ends[c], ends[c + 1]):
            i = order[at]
            first, last = i * d, (i + 1) * d
            if starts.shape[0]:
                first, last = starts[i], starts[i + 1]
            while first < last:
                more = min(last - first, size - filled)
                source, target = np.uint64(first), np.uint64(filled)
                for p in range(np.uint64(more)):
                    high[target + p] = np.float64(values[source + p])
                first += more
                filled += more
                if filled == size:
                    cut_squares(high, low, filled, into[c], magic, width)
                    filled = 0
        cut_squares(high, low, filled, into[c], magic, width)


@compiled
def cut_squares(high, low, count, into, magic, width):  # type: ignore[no-untyped-def]
    """Square up to 512 doubles exactly and add them to limbs.

    A limb of one number is at most 2**50, so 1024 of them fit; carrying after each call keeps
    the totals below 2**50 again, all but the first, which counts whole units of its own.
    """
    for p in range(np.uint64(count)):
        square, rest = two_product(high[p], high[p])
        high[p], low[p] = square, rest
    for level in range(into.shape[0]):
        m = magic[level]
        bias = bits(m)
        total = np.int64(0)
        for p in range(np.uint64(count)):
            t = high[p] + m
            high[p] -= t - m
            total += bits(t)
        total -= count * bias
        # The rests are 2**-53 of the squares: the first limb, 50 bits, has nothing of them.
        if level > 0:
            for p in range(np.uint64(count)):
                t = low[p] + m
                low[p] -= t - m
                total += bits(t)
            total -= count * bias
        into[level] += total
    carry(into, width)


@compiled
def add_weighted_squares(  # type: ignore[no-untyped-def]
    values, starts, d, weights, labels, into, magic, begin, end
):
    """The same for rows with weights."""
    for i in range(begin, end):
        first, last = i * d, (i + 1) * d
        if starts.shape[0]:
            first, last = starts[i], starts[i + 1]
        c = labels[i]
        for place in range(first, last):
            x = np.float64(values[place])
            p, e = two_product(x, x)
            deposit_product(into[c], p, weights[i], magic, 1)
            deposit_product(into[c], e, weights[i], magic, 1)
