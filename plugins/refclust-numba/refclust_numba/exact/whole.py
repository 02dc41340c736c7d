"""All rows of a table added to the sums of their clusters, in one compiled pass; exact squares.

What ``exact.cluster_sums`` does for rows that change clusters, without lists of them.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from refclust_numba.dense.reading import load_doubles
from refclust_numba.exact.cluster_sums import add_ordered, by_clusters, move_one
from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import compiled, generated, room
from refclust_numba.lowlevel.elementary import Emit
from refclust_numba.lowlevel.memory import INT, LONG, tools

SORTED: Final = 1024  # rows whose numbers stay in the cache
_NEAR: Final = 2048  # integers of sums that stay in the nearest cache beside the rows
_WHOLES: Final = ir.VectorType(LONG, DOUBLES)


@compiled
def add_all(table, weights, labels, begin, end, own):  # type: ignore[no-untyped-def]
    """Add some rows, those from ``begin`` on, to the sums of their clusters."""
    n, d = table.shape
    count, width = own.magic.shape
    # The last vector of later rows would pass the end of the table.
    safe = min(end, max(begin, (n * d - width) // d + 1))
    if weights.shape[0] > 0 or count > MOST_LIMBS:
        safe = begin
    elif count == 2 and own.sums.size > _NEAR:
        add_sorted(table, labels, begin, safe, own)
    elif count == 2:
        _rows_2(table, d, labels, begin, safe, own.magic, own.sums, own.net)
    elif count == 3:
        _rows_3(table, d, labels, begin, safe, own.magic, own.sums, own.net)
    elif count == 4:
        _rows_4(table, d, labels, begin, safe, own.magic, own.sums, own.net)
    else:
        safe = begin
    for i in range(safe, end):
        move_one(table, weights, i, np.int32(-1), labels[i], own)


@compiled
def add_sorted(table, labels, begin, end, own):  # type: ignore[no-untyped-def]
    """The same cluster by cluster, a thousand rows at a time, where sums are many."""
    places, ordered = room(SORTED, np.int64), room(SORTED, np.int64)
    ends = room(own.sums.shape[0] + 1, np.int64)
    for first in range(begin, end, SORTED):
        last = min(first + SORTED, end)
        for i in range(first, last):
            places[i - first] = i * table.shape[1]
        by_clusters(places, labels[first:last], last - first, ordered, ends, False)
        add_ordered(table, ordered, ends, own, True)


def _row_adder(limbs: int) -> Any:
    """Cut rows into so many limbs and add these to the sums of their clusters, row after row."""

    @generated
    def add(
        typingctx: Any, table: Any, d: Any, labels: Any, begin: Any, end: Any, magic: Any,
        sums: Any, net: Any,
    ) -> Any:  # fmt: skip
        """Rows are those from ``begin`` to ``end``; the bits of M are left in the sums."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            code = Emit(context, builder, signature, args)
            table, labels, magic, sums, net = code.memories(0, 2, 5, 6, 7)
            d, begin, end = code.values(1, 3, 4)
            width = builder.sdiv(magic.count, code.number(limbs))
            with code.loop(builder.sub(end, begin)) as loop:
                row = code.index(begin, loop.index)
                label = builder.sext(code.scalar(labels, row), LONG)
                place = code.index((row, d))
                target = code.index((label, magic.count))
                one_more = builder.add(code.scalar(net, label), ir.Constant(LONG, 1))
                code.store(one_more, net, label)
                with code.loop(builder.sdiv(width, code.number(DOUBLES))) as vector:
                    column = code.index((vector.index, DOUBLES))
                    value = load_doubles(code, table, place, column)
                    for limb in range(limbs):
                        at = code.index((width, limb), column)
                        cut = code.load(magic, at)
                        t = code.plus(value, cut)
                        value = code.minus(value, code.minus(t, cut))
                        old = code.load(sums, target, at)
                        new = builder.add(old, builder.bitcast(t, _WHOLES))
                        code.store(new, sums, target, at)
            return code.none()

        at = types.intp
        return types.none(table, at, labels, at, at, magic, sums, net), generate

    return add


_rows_2, _rows_3, _rows_4 = map(_row_adder, range(2, 5))


def _square_adder(limbs: int) -> Any:
    """Square doubles exactly and add up so many limbs of the squares, all in registers."""

    @generated
    def add(typingctx: Any, numbers: Any, vectors: Any, magic: Any, totals: Any) -> Any:
        """Write the totals of so many vectors of numbers; the bits of M are left in.

        A square is two doubles, of which the second has nothing in the first limb.
        """

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            code = Emit(context, builder, signature, args)
            numbers, magic, totals = code.memories(0, 2, 3)
            (vectors,) = code.values(1)
            cuts = [code.broadcast(magic, limb) for limb in range(limbs)]
            sums = [tools.alloca_once(builder, _WHOLES) for _ in range(limbs)]
            for total in sums:
                builder.store(ir.Constant(_WHOLES, [0] * DOUBLES), total)
            with code.loop(vectors) as loop:
                x = code.load(numbers, (loop.index, DOUBLES))
                square = code.times(x, x)
                rest = code.fused(x, x, code.opposite(square))
                for first, value in ((0, square), (1, rest)):
                    for limb in range(first, limbs):
                        t = code.plus(value, cuts[limb])
                        value = code.minus(value, code.minus(t, cuts[limb]))
                        change = builder.bitcast(t, _WHOLES)
                        builder.store(builder.add(builder.load(sums[limb]), change), sums[limb])
            for limb, total in enumerate(sums):
                vector = builder.load(total)
                whole = ir.Constant(LONG, 0)
                for lane in range(DOUBLES):
                    part = builder.extract_element(vector, ir.Constant(INT, lane))
                    whole = builder.add(whole, part)
                code.store(whole, totals, limb)
            return code.none()

        return types.none(numbers, types.intp, magic, totals), generate

    return add


_add_1, _add_2, _add_3, _add_4, _add_5, _add_6 = map(_square_adder, range(1, 7))
MOST_LIMBS: Final = 6


@compiled
def square_totals(numbers, vectors, magic, totals):  # type: ignore[no-untyped-def]
    """Write the totals of the limbs of exact squares, of which there are at most ``MOST_LIMBS``."""
    count = magic.shape[0]
    if count == 1:
        _add_1(numbers, vectors, magic, totals)
    elif count == 2:
        _add_2(numbers, vectors, magic, totals)
    elif count == 3:
        _add_3(numbers, vectors, magic, totals)
    elif count == 4:
        _add_4(numbers, vectors, magic, totals)
    elif count == 5:
        _add_5(numbers, vectors, magic, totals)
    else:
        _add_6(numbers, vectors, magic, totals)
