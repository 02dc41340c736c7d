"""Blocks of rows column by column, and sums of strands.

A block holds ``BLOCK`` rows: row r of column j is at j * BLOCK + r. Rows stand in the lanes of
vectors, so nothing depends on how many columns there are. Sums over rows are kept in ``STRANDS``
numbers each (see ``refclust_numba.lowlevel.elementary``), so nothing depends on the lanes either.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import generated, inlined
from refclust_numba.lowlevel.elementary import INFINITY, STRANDS, VECTOR, Emit
from refclust_numba.lowlevel.memory import INT, Memory
from refclust_numba.mixtures.responsibilities import TURNS
from refclust_numba.mixtures.sizes import BLOCK


def doubles_at(emit: Emit, memory: Memory, *place: Any) -> Any:
    """The vector of doubles or singles at a place, as doubles."""
    x = emit.load(memory, *place)
    return x if x.type == VECTOR else emit.builder.fpext(x, VECTOR)


@generated
def _turn(typingctx: Any, source: Any, first: Any, apart: Any, target: Any, into: Any) -> Any:
    """Turn a square of ``DOUBLES`` rows, so many numbers apart, into columns of a block."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        source, target = emit.memories(0, 3)
        first, apart, into = emit.values(1, 2, 4)
        rows = [doubles_at(emit, source, first, (apart, r)) for r in range(DOUBLES)]
        half = DOUBLES // 2
        zips = [
            ir.Constant(
                ir.VectorType(INT, DOUBLES),
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
            emit.store(column, target, into, c * BLOCK)
        return emit.none()

    return types.none(source, types.intp, types.intp, target, types.intp), generate


@inlined
def turn_block(source, first, d, target, into):  # type: ignore[no-untyped-def]
    """Write a block of rows of d numbers, from a place on, column by column, as doubles.

    Columns come in whole vectors: those after the last one hold numbers of other rows, and if d is
    no multiple of ``DOUBLES``, the array must have so many numbers behind the block.
    """
    for r in range(0, BLOCK, DOUBLES):
        for j in range(0, d, DOUBLES):
            _turn(source, first + r * d + j, d, target, into + j * BLOCK + r)


@generated
def add_strands(
    typingctx: Any, work: Any, strands: Any, groups: Any, target: Any, into: Any
) -> Any:
    """Add the sums of strands, groups of ``DOUBLES`` of them, to numbers of another array."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        work, target = emit.memories(0, 3)
        strands, groups, into = emit.values(1, 2, 4)
        with emit.loop(groups) as group:
            vectors = [
                emit.load(work, strands, (group.index, DOUBLES * STRANDS), v * DOUBLES)
                for v in range(STRANDS)
            ]
            place = (into, (group.index, DOUBLES))
            total = emit.plus(emit.load(target, *place), emit.sums_of_strands(vectors))
            emit.store(total, target, *place)
        return emit.none()

    return types.none(work, types.intp, types.intp, target, types.intp), generate


@generated
def add_masses(typingctx: Any, work: Any, masses: Any, target: Any, into: Any) -> Any:
    """Add the masses of a block, strand by strand; say whether any of them is not zero."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        work, target = emit.memories(0, 2)
        masses, into = emit.values(1, 3)
        any_bits = ir.Constant(ir.IntType(DOUBLES), 0)
        for part in range(0, STRANDS, DOUBLES):
            sums = [emit.load(work, masses, t * STRANDS + part) for t in range(TURNS)]
            while len(sums) > 1:
                sums = [emit.plus(a, b) for a, b in zip(sums[::2], sums[1::2], strict=True)]
            emit.store(emit.plus(emit.load(target, into, part), sums[0]), target, into, part)
            # No mass is negative, so their sum is zero only if they are.
            some = builder.fcmp_unordered("!=", sums[0], emit.all(0.0))
            any_bits = builder.or_(any_bits, builder.bitcast(some, any_bits.type))
        return builder.icmp_unsigned("!=", any_bits, ir.Constant(any_bits.type, 0))

    return types.boolean(work, types.intp, target, types.intp), generate


def keep_joint(emit: Emit, offset: Any, squares: list[Any], work: Memory, place: Any) -> None:
    """Store offset - squares / 2, the log p(x, k) of some vectors of rows; no number is -inf."""
    none = emit.all(-INFINITY)
    for v, square in enumerate(squares):
        # Half of a square is exact, or far below what counts: fused or not is the same.
        value = emit.fused(emit.builder.load(square), emit.all(-0.5), offset)
        emit.store(emit.where(">", value, none, value, none), work, place, v * DOUBLES)
