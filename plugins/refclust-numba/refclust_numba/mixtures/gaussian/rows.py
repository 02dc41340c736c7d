"""Sums of outer products of many columns: rows one after another, columns in the lanes.

With few columns rows stand in the lanes (``gaussian_full.outer``), where no lane is wasted on the
other half of a symmetric matrix. With many columns the sums would not stay near; here they take an
eighth of the room, and rows of no mass cost nothing.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import compiled, generated
from refclust_numba.lowlevel.elementary import VECTOR, Emit
from refclust_numba.mixtures.responsibilities import BLOCK

MANY: Final = 24  # columns
AT_ONCE: Final = 64  # rows whose differences stay in the nearest cache
_UNROLLED: Final = 4  # rows


def row_slots(d: int) -> int:
    """How many numbers the mass takes, lane by lane, and all moments."""
    vectors = -(-d // DOUBLES)
    return DOUBLES * (1 + vectors) + DOUBLES * DOUBLES * vectors * (vectors + 1) // 2


def row_place(d: int, i: Any, j: Any) -> Any:
    """Where the second moments of columns i >= j are behind the mass."""
    vectors, row = -(-d // DOUBLES), i // DOUBLES
    before = DOUBLES * DOUBLES * row * (row + 1) // 2 + (i % DOUBLES) * DOUBLES * (row + 1)
    return DOUBLES * vectors + before + j


def _weighed(kind: Any) -> Any:
    """Write sqrt(mass) times (x - a) of some rows, and add up their first moments."""

    @generated
    def weigh(
        typingctx: Any, source: Any, places: Any, roots: Any, groups: Any, point: Any, vectors: Any,
        target: Any, firsts: Any,
    ) -> Any:  # fmt: skip
        def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            emit = Emit(context, builder)
            given = ir.VectorType(kind, DOUBLES)
            places = builder.inttoptr(args[1], ir.IntType(64).as_pointer())
            roots, point, target, firsts = (emit.pointer(args[i]) for i in (2, 4, 6, 7))
            size = 4 if kind == ir.FloatType() else 8
            with emit.loop(args[5]) as vector:
                own = (vector.index, DOUBLES)
                middle = emit.load(point, own)
                sums = [emit.variable() for _ in range(_UNROLLED)]
                with emit.loop(args[3]) as group:
                    for u in range(_UNROLLED):
                        r = emit.index((group.index, _UNROLLED), u)
                        start = builder.load(builder.gep(places, [r]))
                        start = emit.index(args[0], start, (vector.index, DOUBLES * size))
                        x = builder.load(builder.inttoptr(start, given.as_pointer()), align=size)
                        x = x if given == VECTOR else builder.fpext(x, VECTOR)
                        root = emit.spread(roots, r)
                        value = emit.times(emit.minus(x, middle), root)
                        emit.add_product(value, root, sums[u])
                        emit.store(value, target, (builder.mul(r, args[5]), DOUBLES), own)
                total = emit.load(firsts, own)
                for one in sums:
                    total = emit.plus(total, builder.load(one))
                emit.store(total, firsts, own)
            return context.get_dummy_value()

        return types.none(*[types.intp] * 8), generate

    return weigh


_weigh_doubles, _weigh_singles = _weighed(ir.DoubleType()), _weighed(ir.FloatType())


@generated
def _outer_rows(typingctx: Any, weighed: Any, count: Any, vectors: Any, seconds: Any) -> Any:
    """Add the outer products of some rows with themselves, the lower half of them."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        emit = Emit(context, builder)
        weighed, seconds = emit.pointer(args[0]), emit.pointer(args[3])
        count, vectors = args[1], args[2]
        stride = emit.index((vectors, DOUBLES))

        def add_tile(own: Any, start: Any, apart: Any, first: Any, width: int) -> None:
            """Add products of ``DOUBLES`` columns with some vectors of columns."""
            places = [
                (emit.index((apart, i)), emit.index((first, DOUBLES), v * DOUBLES))
                for i in range(DOUBLES)
                for v in range(width)
            ]
            sums = [emit.variable(emit.load(start, *place)) for place in places]
            with emit.loop(count) as row:
                at = emit.index((row.index, stride))
                right = [
                    emit.load(weighed, at, (first, DOUBLES), v * DOUBLES) for v in range(width)
                ]
                for i in range(DOUBLES):
                    left = emit.spread(weighed, at, (own, DOUBLES), i)
                    for v in range(width):
                        emit.add_product(left, right[v], sums[i * width + v])
            for place, total in zip(places, sums, strict=True):
                emit.store(builder.load(total), start, *place)

        with emit.loop(vectors) as tile:
            # Rows of 1, 2, 3, ... squares come before this one.
            numbers = builder.mul(tile.index, emit.index(tile.index, 1))
            start = builder.gep(seconds, [emit.index((numbers, DOUBLES * DOUBLES // 2))])
            many = emit.index(tile.index, 1)
            apart = emit.index((many, DOUBLES))
            with emit.loop(builder.udiv(many, emit.number(2))) as pair:
                add_tile(tile.index, start, apart, emit.index((pair.index, 2)), 2)
            odd = builder.and_(many, emit.number(1))
            with builder.if_then(builder.icmp_unsigned("!=", odd, emit.number(0))):
                add_tile(tile.index, start, apart, tile.index, 1)
        return context.get_dummy_value()

    return types.none(*[types.intp] * 4), generate


@compiled
def add_rows(  # type: ignore[no-untyped-def]
    work, base, source, single, d, masses, roots, places, weighed, point, sums
):
    """Add the moments of the rows of a block that have a mass; ``sums`` is an address.

    Products are (sqrt(m) (x - a)) (sqrt(m) (x - a))': six roundings instead of three.
    """
    offsets, size = work.view(np.int64), d * (4 if single else 8)
    vectors, count = -(-d // DOUBLES), 0
    for r in range(BLOCK):
        work[roots + r] = np.sqrt(work[masses + r])
    for r in range(BLOCK):
        # Written always, counted only if there is a mass: no branch to guess.
        root = work[roots + r]
        work[roots + count], offsets[places + count] = root, r * size
        count += 1 if root != 0.0 else 0
    for r in range(count, min(-(-count // _UNROLLED) * _UNROLLED, BLOCK)):
        work[roots + r], offsets[places + r] = 0.0, 0
    for r in range(0, count, AT_ONCE):
        some = min(AT_ONCE, count - r)
        place, root, into = base + 8 * (places + r), base + 8 * (roots + r), base + 8 * weighed
        groups = -(-some // _UNROLLED)
        if single:
            _weigh_singles(source, place, root, groups, point, vectors, into, sums)
        else:
            _weigh_doubles(source, place, root, groups, point, vectors, into, sums)
        _outer_rows(into, some, vectors, sums + 8 * DOUBLES * vectors)
