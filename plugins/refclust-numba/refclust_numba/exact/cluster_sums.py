"""Rows cut into limbs and moved between clusters, a whole vector register of numbers at a time.

Sums stand in ``sums[cluster, limb, column]`` with so many columns that whole vectors fit; what is
added to the last ones, beyond the columns of the data, is never looked at. The bits of M (see
``refclust_numba.exact.limbs``) are left in and taken out later, once for each row that came or
went: integers wrap around without harm.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from refclust_numba.dense.reading import load_doubles
from refclust_numba.exact.limbs import deposit
from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import borrowing, compiled, generated, room
from refclust_numba.lowlevel.elementary import Emit
from refclust_numba.lowlevel.memory import LONG, Memory, tools
from refclust_numba.lowlevel.scalars import bits, two_product

_TILE: Final = 4  # vectors whose limbs stay in registers while rows go by
_WHOLES: Final = ir.VectorType(LONG, DOUBLES)


class Sums(NamedTuple):
    """The sums that one thread makes, and the magic numbers that cut rows and weights into limbs.

    ``net`` tells how many more rows each cluster has (without weights), ``counts`` how much more
    weight (with them).
    """

    sums: Any  # int64, clusters x limbs x columns
    net: Any  # int64
    counts: Any  # int64, clusters x limbs of weights
    magic: Any  # limbs x columns
    weight_magic: Any


def padded(d: int) -> int:
    """The number of columns in whole vectors."""
    return -(-d // DOUBLES) * DOUBLES


class _Limbs:
    """The two limbs of the totals of some vectors of columns, in registers."""

    def __init__(self, code: Emit, tile: int) -> None:
        self._code = code
        self._totals = [
            [tools.alloca_once(code.builder, _WHOLES) for _ in range(2)] for _ in range(tile)
        ]
        for total in (limb for limbs in self._totals for limb in limbs):
            code.builder.store(ir.Constant(_WHOLES, [0] * DOUBLES), total)

    def cut(self, v: int, value: Any, magic: list[Any]) -> None:
        """Cut a vector of doubles in two, and add the limbs up; nothing is contracted."""
        code, build = self._code, self._code.builder
        t = code.plus(value, magic[0])
        rest = code.minus(value, code.minus(t, magic[0]))
        for total, limb in zip(self._totals[v], (t, code.plus(rest, magic[1])), strict=True):
            build.store(build.add(build.load(total), build.bitcast(limb, _WHOLES)), total)

    def bring(self, v: int, limb: int, into: tuple[Memory, Any], plus: Any) -> None:
        """Add a total to the sums at a place of them, or subtract it."""
        build, (sums, place) = self._code.builder, into
        old = self._code.load(sums, place)
        change = build.load(self._totals[v][limb])
        new = build.select(plus, build.add(old, change), build.sub(old, change))
        self._code.store(new, sums, place)


def _adder(tile: int) -> Any:
    """Cut ``tile`` vectors of some rows in two limbs, add these up, add or subtract the totals."""

    @generated
    def add(
        typingctx: Any, table: Any, rows: Any, first: Any, count: Any, column: Any, magic: Any,
        sums: Any, target: Any, plus: Any,
    ) -> Any:  # fmt: skip
        """Rows are places in the table, so many from ``first`` on; sums begin at ``target``."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            code = Emit(context, builder, signature, args)
            table, rows, magic, sums = code.memories(0, 1, 5, 6)
            first, count, column, target, plus = code.values(2, 3, 4, 7, 8)
            width = builder.sdiv(magic.count, code.number(2))
            # Of each vector the place of either limb.
            places = [
                [code.index(column, v * DOUBLES), code.index(column, v * DOUBLES, width)]
                for v in range(tile)
            ]
            cuts = [[code.load(magic, place) for place in own] for own in places]
            limbs = _Limbs(code, tile)
            with code.loop(count) as loop:
                row = code.scalar(rows, first, loop.index)
                for v in range(tile):
                    limbs.cut(v, load_doubles(code, table, row, places[v][0]), cuts[v])
            for v in range(tile):
                for limb in range(2):
                    limbs.bring(v, limb, (sums, code.index(target, places[v][limb])), plus)
            return code.none()

        places = [types.intp] * 3
        return types.none(table, rows, *places, magic, sums, types.intp, types.boolean), generate

    return add


_add_one, _add_tile = _adder(1), _adder(_TILE)


@compiled
def move_rows(table, weights, rows, was, now, moving, own):  # type: ignore[no-untyped-def]
    """Take some rows from their old clusters and add them to the new ones; -1 is no cluster."""
    if weights.shape[0] or own.magic.shape[0] > 2:
        for p in range(moving):
            move_one(table, weights, rows[p], was[p], now[p], own)
        return
    # Cluster by cluster, so that sums stay in registers.
    n, d = table.shape
    width = own.magic.shape[1]
    places, ordered = room(moving, np.int64), room(moving, np.int64)
    ends = room(own.sums.shape[0] + 1, np.int64)
    gaps = False
    for p in range(moving):
        places[p] = rows[p] * d
        if places[p] + width > n * d:
            # The last vector of these rows would pass the end of the table.
            move_one(table, weights, rows[p], was[p], now[p], own)
            places[p], gaps = -1, True
    for plus in (False, True):
        clusters = now if plus else was
        if gaps:
            some = by_clusters(places, clusters, moving, ordered, ends, True)
        else:
            some = by_clusters(places, clusters, moving, ordered, ends, False)
        if some:
            add_ordered(table, ordered, ends, own, plus)


@borrowing
def move_one(table, weights, i, was, now, own):  # type: ignore[no-untyped-def]
    """Move one row, a number at a time."""
    for c, sign in ((was, -1), (now, 1)):
        if c < 0:
            continue
        if weights.shape[0]:
            deposit(own.counts[c], weights[i], own.weight_magic, sign)
            add_weighted(table, i, weights[i], own.sums[c], own.magic, sign)
        else:
            own.net[c] += sign
            add_limbs(table, i, own.sums[c], own.magic, sign)


@borrowing
def by_clusters(places, clusters, moving, ordered, ends, gaps):  # type: ignore[no-untyped-def]
    """Put places in the order of their clusters; say whether there are any.

    Those of cluster c stand from ``ends[c]`` to ``ends[c + 1]``; before all of them, passed over,
    what belongs to no cluster or has no place (which is asked only if there are such gaps).
    """
    ends[:] = 0
    for p in range(np.uint64(moving)):
        ends[np.uint32(0 if gaps and places[p] < 0 else clusters[p] + 1)] += 1
    if ends[0] == moving:
        return False
    total = np.int64(0)
    for c in range(ends.shape[0]):
        ends[c], total = total, total + ends[c]
    for p in range(np.uint64(moving)):
        own = np.uint32(0 if gaps and places[p] < 0 else clusters[p] + 1)
        ordered[np.uint64(ends[own])] = places[p]
        ends[own] += 1
    return True


@borrowing
def add_ordered(table, ordered, ends, own, plus):  # type: ignore[no-untyped-def]
    """Add rows, which stand in the order of their clusters, to the sums, or subtract them."""
    width = own.magic.shape[1]
    for c in range(own.sums.shape[0]):
        first, count = ends[c], ends[c + 1] - ends[c]
        if count == 0:
            continue
        own.net[c] += count if plus else -count
        target, column = 2 * width * c, 0
        while column < width:
            if width - column >= _TILE * DOUBLES:
                _add_tile(table, ordered, first, count, column, own.magic, own.sums, target, plus)
                column += _TILE * DOUBLES
            else:
                _add_one(table, ordered, first, count, column, own.magic, own.sums, target, plus)
                column += DOUBLES


@compiled
def add_limbs(table, i, sums, magic, sign):  # type: ignore[no-untyped-def]
    """Add or subtract one row cut in any number of limbs."""
    for j in range(table.shape[1]):
        v = np.float64(table[i, j])
        for level in range(magic.shape[0]):
            t = v + magic[level, j]
            sums[level, j] += sign * bits(t)
            v -= t - magic[level, j]


@compiled
def add_weighted(table, i, weight, sums, magic, sign):  # type: ignore[no-untyped-def]
    """Add or subtract one row times its weight: a product is the exact sum of two doubles."""
    for j in range(table.shape[1]):
        p, e = two_product(np.float64(table[i, j]), weight)
        for part in (p, e):
            v = part
            for level in range(magic.shape[0]):
                t = v + magic[level, j]
                sums[level, j] += sign * (bits(t) - bits(magic[level, j]))
                v -= t - magic[level, j]
