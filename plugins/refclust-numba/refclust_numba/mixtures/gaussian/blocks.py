"""Blocks of rows column by column, and sums of lanes.

A block holds ``BLOCK`` rows: row r of column j is at j * BLOCK + r. Rows stand in the lanes of
vectors, so nothing depends on how many columns there are.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import generated, inlined
from refclust_numba.lowlevel.elementary import INFINITY, VECTOR, Emit
from refclust_numba.mixtures.responsibilities import BLOCK, VECTORS

_INT = ir.IntType(32)


def _turned(kind: Any) -> Any:
    """Turn a square of ``DOUBLES`` rows, so many numbers apart, into columns of a block."""

    @generated
    def turn(typingctx: Any, source: Any, apart: Any, target: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            emit = Emit(context, builder)
            given = ir.VectorType(kind, DOUBLES)
            source = builder.inttoptr(args[0], kind.as_pointer())
            target = emit.pointer(args[2])
            rows = []
            for r in range(DOUBLES):
                place = builder.gep(source, [emit.index((args[1], r))])
                row = builder.load(builder.bitcast(place, given.as_pointer()), align=4)
                rows.append(row if given == VECTOR else builder.fpext(row, VECTOR))
            half = DOUBLES // 2
            zips = [
                ir.Constant(
                    ir.VectorType(_INT, DOUBLES),
                    [i // 2 + start + DOUBLES * (i % 2) for i in range(DOUBLES)],
                )
                for start in (0, half)
            ]
            for _ in range(DOUBLES.bit_length() - 1):
                # Like a riffle of cards: after log2 of them rows have become columns.
                rows = [
                    builder.shuffle_vector(rows[r // 2], rows[r // 2 + half], zips[r % 2])
                    for r in range(DOUBLES)
                ]
            for c, column in enumerate(rows):
                emit.store(column, target, c * BLOCK)
            return context.get_dummy_value()

        return types.none(types.intp, types.intp, types.intp), generate

    return turn


_turn_doubles, _turn_singles = _turned(ir.DoubleType()), _turned(ir.FloatType())


@inlined
def turn_block(source, single, d, target):  # type: ignore[no-untyped-def]
    """Write a block of rows of d numbers column by column, as doubles.

    Columns come in whole vectors: those after the last one hold numbers of other rows, and up to
    ``DOUBLES`` numbers behind the block are read.
    """
    for r in range(0, BLOCK, DOUBLES):
        for j in range(0, d, DOUBLES):
            into = target + 8 * (j * BLOCK + r)
            if single:
                _turn_singles(source + 4 * (r * d + j), d, into)
            else:
                _turn_doubles(source + 8 * (r * d + j), d, into)


@generated
def add_lanes(typingctx: Any, lanes: Any, groups: Any, sums: Any) -> Any:
    """Add the sums of the lanes of vectors, groups of ``DOUBLES`` of them, to numbers."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        emit = Emit(context, builder)
        lanes, sums = emit.pointer(args[0]), emit.pointer(args[2])
        with emit.loop(args[1]) as group:
            vectors = [
                emit.load(lanes, (group.index, DOUBLES * DOUBLES), v * DOUBLES)
                for v in range(DOUBLES)
            ]
            place = (group.index, DOUBLES)
            total = emit.plus(emit.load(sums, place), emit.sums_of_lanes(vectors))
            emit.store(total, sums, place)
        return context.get_dummy_value()

    return types.none(types.intp, types.intp, types.intp), generate


@generated
def add_masses(typingctx: Any, masses: Any, lanes: Any) -> Any:
    """Add the masses of a block to a vector of lanes; say whether any of them is not zero."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        emit = Emit(context, builder)
        masses, lanes = emit.pointer(args[0]), emit.pointer(args[1])
        parts = [emit.load(masses, v * DOUBLES) for v in range(VECTORS)]
        while len(parts) > 1:
            parts = [emit.plus(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        emit.store(emit.plus(emit.load(lanes, 0), parts[0]), lanes, 0)
        # No mass is negative, so their sum is zero only if they are.
        some = builder.fcmp_unordered("!=", parts[0], emit.all(0.0))
        bits = builder.bitcast(some, ir.IntType(DOUBLES))
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(types.intp, types.intp), generate


def keep_joint(emit: Emit, offset: Any, squares: list[Any], joint: Any, row: Any) -> None:
    """Store offset - squares / 2, the log p(x, k) of some vectors of rows; no number is -inf."""
    none = emit.all(-INFINITY)
    for v, square in enumerate(squares):
        half = emit.times(emit.builder.load(square), emit.all(0.5))
        value = emit.minus(offset, half)
        emit.store(emit.where(">", value, none, value, none), joint, row, v * DOUBLES)
