"""Rows cut into limbs and moved between clusters, a whole vector register of numbers at a time.

Sums stand in ``sums[cluster, limb, column]`` with so many columns that whole vectors fit; what is
added to the last ones, beyond the columns of the data, is never looked at. The bits of M (see
``refclust_numba.exact.limbs``) are left in and taken out later, once for each row that came or went:
integers wrap around without harm.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils

from refclust_numba.exact.limbs import deposit
from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import compiled, generated
from refclust_numba.lowlevel.scalars import bits, two_product

_TILE: Final = 4  # vectors whose limbs stay in registers while rows go by
_FLOAT, _DOUBLE, _LONG = ir.FloatType(), ir.DoubleType(), ir.IntType(64)
_tools: Any = cgutils


def padded(d: int) -> int:
    """The number of columns in whole vectors."""
    return -(-d // DOUBLES) * DOUBLES


def _adder(tile: int) -> Any:
    """Cut ``tile`` vectors of some rows in two limbs, add these up, add or subtract the totals.

    ``rows`` holds addresses of numbers ``like`` those of some array. Nothing is contracted: see
    ``refclust_numba.exact.limbs``.
    """

    @generated
    def add(
        typingctx: Any, like: Any, rows: Any, count: Any, at: Any, magic: Any, sums: Any,
        width: Any, plus: Any,
    ) -> Any:  # fmt: skip
        number = _FLOAT if like.dtype == types.float32 else _DOUBLE

        def generate(context: Any, builder: Any, _signature: Any, given_args: Any) -> Any:
            args = given_args[1:]
            wide, whole = ir.VectorType(_DOUBLE, DOUBLES), ir.VectorType(_LONG, DOUBLES)
            given = ir.VectorType(number, DOUBLES)
            rows, sums = (builder.inttoptr(args[i], _LONG.as_pointer()) for i in (0, 4))
            magic = builder.inttoptr(args[3], _DOUBLE.as_pointer())
            count, at, width = args[1], args[2], args[5]

            def place(base: Any, vector: int, limb: int, kind: Any) -> Any:
                index = builder.add(at, context.get_constant(types.intp, vector * DOUBLES))
                index = builder.add(index, width) if limb else index
                return builder.bitcast(builder.gep(base, [index]), kind.as_pointer())

            cuts = [
                [builder.load(place(magic, v, limb, wide), align=8) for limb in range(2)]
                for v in range(tile)
            ]
            zero = ir.Constant(whole, [0] * DOUBLES)
            totals = [[_tools.alloca_once(builder, whole) for _ in range(2)] for _ in range(tile)]
            for own in totals:
                builder.store(zero, own[0])
                builder.store(zero, own[1])
            with _tools.for_range(builder, count, intp=count.type) as loop:
                address = builder.load(builder.gep(rows, [loop.index]))
                x = builder.inttoptr(address, number.as_pointer())
                for v in range(tile):
                    value = builder.load(place(x, v, 0, given), align=4 if number is _FLOAT else 8)
                    if number is _FLOAT:
                        value = builder.fpext(value, wide)
                    t = builder.fadd(value, cuts[v][0])
                    rest = builder.fsub(value, builder.fsub(t, cuts[v][0]))
                    for own, limb in zip(
                        totals[v], (t, builder.fadd(rest, cuts[v][1])), strict=True
                    ):
                        whole_limb = builder.bitcast(limb, whole)
                        builder.store(builder.add(builder.load(own), whole_limb), own)
            for v in range(tile):
                for limb in range(2):
                    target = place(sums, v, limb, whole)
                    old, change = builder.load(target, align=8), builder.load(totals[v][limb])
                    new = builder.select(
                        args[6], builder.add(old, change), builder.sub(old, change)
                    )
                    builder.store(new, target, align=8)
            return context.get_dummy_value()

        return types.none(like, *[types.intp] * 6, types.boolean), generate

    return add


_add_one, _add_tile = _adder(1), _adder(_TILE)


@compiled
def move_rows(  # type: ignore[no-untyped-def]
    table, weights, rows, was, now, moving, sums, net, counts, magic, weight_magic
):
    """Take some rows from their old clusters and add them to the new ones; -1 is no cluster.

    ``net`` tells how many more rows each cluster has (without weights), ``counts`` how much more
    weight (with them).
    """
    n, d = table.shape
    count, width = magic.shape
    if weights.shape[0] or count > 2:
        for p in range(moving):
            i = rows[p]
            for c, sign in ((was[p], -1), (now[p], 1)):
                if c < 0:
                    continue
                if weights.shape[0]:
                    deposit(counts[c], weights[i], weight_magic, sign)
                    add_weighted(table, i, weights[i], sums[c], magic, sign)
                else:
                    net[c] += sign
                    add_limbs(table, i, sums[c], magic, sign)
        return
    # Cluster by cluster, so that sums stay in registers. Addresses are asked for once.
    k, size = sums.shape[0], np.int64(table.itemsize)
    places, sorted_places = np.empty(moving, np.int64), np.empty(moving, np.int64)
    spare = np.zeros((DOUBLES, width), table.dtype)
    begin, last, cut, into = (
        table.ctypes.data,
        spare.ctypes.data,
        magic.ctypes.data,
        sums.ctypes.data,
    )
    for p in range(moving):
        i = rows[p]
        places[p] = begin + size * i * d
        if i * d + width > n * d:
            # The last vector of these rows would pass the end of the table.
            for j in range(d):
                spare[n - 1 - i, j] = table[i, j]
            places[p] = last + size * (n - 1 - i) * width
    ends = np.empty(k + 1, np.int64)
    for plus in (False, True):
        clusters = now if plus else was
        ends[:] = 0
        for p in range(moving):
            ends[clusters[p] + 1] += 1
        # Rows of no cluster stand first: they are counted at 0 and passed over.
        passed = ends[0]
        total = np.int64(0)
        for c in range(k + 1):
            ends[c], total = total, total + ends[c]
        if passed == moving:
            continue
        for p in range(moving):
            c = clusters[p] + 1
            sorted_places[ends[c]] = places[p]
            ends[c] += 1
        address = sorted_places.ctypes.data
        for c in range(k):
            found = ends[c + 1] - ends[c]
            if found == 0:
                continue
            net[c] += found if plus else -found
            first, target = address + 8 * ends[c], into + 8 * 2 * width * c
            at = 0
            while at < width:
                whole = width - at >= _TILE * DOUBLES
                if whole:
                    _add_tile(table, first, found, at, cut, target, width, plus)
                else:
                    _add_one(table, first, found, at, cut, target, width, plus)
                at += _TILE * DOUBLES if whole else DOUBLES


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
