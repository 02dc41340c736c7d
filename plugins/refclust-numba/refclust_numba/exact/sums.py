"""Exact sums of clusters in limbs, brought up to date with the rows that moved.

Keeps the contracts of ``kmeans.accumulate``, ``kmeans.lloyd_step`` and ``kmeans.squares``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import numpy as np

from refclust.kernels.clusters import kmeans as reference
from refclust.kernels.clusters.kmeans import ClusterSums
from refclust_numba.exact import limbs
from refclust_numba.exact.cluster_sums import Sums, move_rows
from refclust_numba.exact.limbs import carry, deposit, deposit_product, dyadic
from refclust_numba.exact.totals import LimbSums, buffer, cells
from refclust_numba.exact.whole import MOST_LIMBS, SORTED, add_all, square_totals
from refclust_numba.lowlevel.arrays import aligned
from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import compiled, inlined, room
from refclust_numba.lowlevel.scalars import bits, two_product
from refclust_numba.lowlevel.threads import even, shared
from refclust_numba.prepared import Rows
from refclust_numba.sparse import sums as sparse_sums

_ROWS: Final = 4096
_BUFFER: Final = 1024  # numbers that are cut into limbs side by side


class Adding:
    """Sums of dense rows in the making: every thread has its own part, the end adds them up."""

    def __init__(self, rows: Rows, k: int, before: LimbSums | None) -> None:
        self._rows, self._k, self._before = rows, k, before
        self._parts: list[tuple[Any, ...]] = []

    def part(self) -> Sums:
        """For one thread: sums, numbers of rows, weights, and what cuts the two into limbs."""
        magic, weight_magic = self._rows.magic
        made = (
            aligned((self._k, *magic.shape), np.int64),
            np.zeros(self._k, np.int64),
            np.zeros((self._k, len(weight_magic) if self._rows.weighted else 1), np.int64),
        )
        made[0].fill(0)
        self._parts.append(made)
        return Sums(*made, magic, weight_magic)

    def move(self, which: Any, was: Any, now: Any) -> None:
        """Move some rows from old clusters to new ones."""
        pieces = even(len(which), _ROWS)
        parts: dict[int, Any] = {}

        def work(piece: int, worker: int) -> None:
            begin, end = pieces[piece]
            own = parts.get(worker) or parts.setdefault(worker, self.part())
            for first in range(begin, end, SORTED):
                some = slice(first, min(first + SORTED, end))
                move_rows(
                    self._rows.table, self._rows.weights, which[some], was[some], now[some],
                    some.stop - some.start, own,
                )  # fmt: skip

        shared(work, len(pieces))

    def add(self, labels: Any) -> None:
        """Add all rows to their clusters."""
        pieces = even(self._rows.n, _ROWS)
        parts: dict[int, Any] = {}

        def work(piece: int, worker: int) -> None:
            own = parts.get(worker) or parts.setdefault(worker, self.part())
            add_all(self._rows.table, self._rows.weights, labels, *pieces[piece], own)

        shared(work, len(pieces))

    def finished(self) -> LimbSums:
        """The sums."""
        rows, before = self._rows, self._before
        (sums, net, counts), *others = self._parts
        for more, more_net, more_counts in others:
            sums += more
            net += more_net
            counts += more_counts
        if not rows.weighted:
            # The bits of the magic numbers come out here, all at once.
            sums -= net[:, None, None] * rows.magic[0].view(np.int64)
            counts[:, 0] = net
        sums = np.ascontiguousarray(sums[:, :, : rows.d])
        if before is not None:
            sums += before.limbs
            counts += before.counts
        return LimbSums(rows, sums, counts)


def nothing(rows: Rows) -> Sums:
    """What stands for ``Adding.part`` where nothing is added up."""
    return Sums(
        np.empty((0, 1, 1), np.int64), np.empty(0, np.int64), np.empty((0, 1), np.int64),
        np.empty((1, rows.d)), np.empty(1),
    )  # fmt: skip


def accumulate(rows: Rows, labels: Any, k: int) -> LimbSums | ClusterSums:
    """The sums of all clusters."""
    if not cells(rows):
        return reference.accumulate(rows.points, labels, k)
    owners = buffer(labels)
    if not rows.dense:
        return sparse_sums.moved(rows, np.full(rows.n, -1, np.int32), owners, k, None)[0]
    adding = Adding(rows, k, None)
    adding.add(owners)
    return adding.finished()


def squares(rows: Rows, labels: Any, k: int) -> tuple[Fraction, ...]:
    """The exact weighted squared lengths of each cluster."""
    (top, low), (weight_top, weight_low) = rows.span, rows.weight_span
    if top == -2000:
        return (Fraction(0),) * k
    # A square is two doubles, each times a weight again two. Without weights limbs are carried
    # after every 1024 numbers, and only the first limb has to hold them all: the top leaves room.
    spare = len(rows.values).bit_length()
    if rows.weighted:
        cut = limbs.scale(
            np.array([2 * top + weight_top]), 2 * low + weight_low, 4 * len(rows.values)
        )
    else:
        cut = limbs.scale(np.array([2 * top + spare]), 2 * low, 1)
    if cut is None:
        return reference.squares(rows.points, labels, k)
    magic = np.ascontiguousarray(cut.magic[:, 0])
    owners = buffer(labels)
    pieces = even(rows.n, _ROWS)
    own: dict[int, Any] = {}
    starts = np.empty(0, np.int64) if rows.dense else rows.starts

    def work(piece: int, worker: int) -> None:
        begin, end = pieces[piece]
        into = own.setdefault(worker, np.zeros((k, cut.count), np.int64))
        if rows.weighted:
            add_weighted_squares(
                rows.values, starts, rows.d, rows.weights, owners, into, magic, begin, end
            )
        else:
            add_squares(rows.values, starts, rows.d, owners, into, magic, cut.width, begin, end)

    shared(work, len(pieces))
    total = sum(own.values())
    return tuple(dyadic(cut.integer(cluster_limbs), -cut.unit(0)) for cluster_limbs in total)


@compiled
def add_squares(  # type: ignore[no-untyped-def]
    values, starts, d, labels, into, magic, width, begin, end
):
    """Add the exact squares of the numbers of some rows to the limbs of their clusters.

    A thousand rows at a time, so that they stay in the cache, and of these cluster by cluster,
    numbers are collected in a buffer and cut into limbs side by side.
    """
    k = into.shape[0]
    ends, order = room(k + 1, np.int64), room(SORTED, np.int64)
    high, low = room(_BUFFER, np.float64), room(MOST_LIMBS, np.int64)
    for base in range(begin, end, SORTED):
        last_row = min(base + SORTED, end)
        sort_rows(labels, base, last_row, ends, order)
        for c in range(k):
            filled = 0
            for at in range(ends[c], ends[c + 1]):
                i = order[at]
                first, last = i * d, (i + 1) * d
                if starts.shape[0]:
                    first, last = starts[i], starts[i + 1]
                while first < last:
                    more = min(last - first, _BUFFER - filled)
                    source, target = np.uint64(first), np.uint64(filled)
                    for p in range(np.uint64(more)):
                        high[target + p] = np.float64(values[source + p])
                    first += more
                    filled += more
                    if filled == _BUFFER:
                        cut_squares(high, low, filled, into[c], magic, width)
                        filled = 0
            if filled:
                cut_squares(high, low, filled, into[c], magic, width)


@inlined
def sort_rows(labels, begin, end, ends, order):  # type: ignore[no-untyped-def]
    """The rows of each cluster, in order (a counting sort): c has those from ends[c] on."""
    ends[:] = 0
    for i in range(begin, end):
        ends[labels[i]] += 1
    for c in range(1, ends.shape[0]):
        ends[c] += ends[c - 1]
    for i in range(end - 1, begin - 1, -1):
        ends[labels[i]] -= 1
        order[ends[labels[i]]] = i


@compiled
def cut_squares(high, low, count, into, magic, width):  # type: ignore[no-untyped-def]
    """Square up to ``_BUFFER`` doubles exactly and add them to limbs.

    A limb of one number is at most 2**50, and 2**12 of them fit; carrying after each call keeps
    the totals below 2**50 again, all but the first, which counts whole units of its own.
    """
    if into.shape[0] > MOST_LIMBS:
        for p in range(count):
            square, rest = two_product(high[p], high[p])
            deposit(into, square, magic, 1)
            deposit(into, rest, magic, 1)
    else:
        vectors = -(-count // DOUBLES)
        high[count : vectors * DOUBLES] = 0.0
        square_totals(high, vectors, magic, low)
        for level in range(into.shape[0]):
            # The rests are 2**-53 of the squares: the first limb, 50 bits, has nothing of them.
            cuts = vectors * DOUBLES * (2 if level else 1)
            into[level] += low[level] - cuts * bits(magic[level])
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
