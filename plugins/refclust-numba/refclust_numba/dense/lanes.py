"""Vector code for seeding: which rows of a block are near, and squared distances of single rows."""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils

from refclust_numba.dense.screening import VECTORS
from refclust_numba.lowlevel.build import DOUBLES, LANES
from refclust_numba.lowlevel.compiling import generated

_FLOAT, _INT, _LONG = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_DOUBLE = ir.DoubleType()
_tools: Any = cgutils
_VECTOR = ir.VectorType(_FLOAT, LANES)


def _splat(builder: Any, value: Any) -> Any:
    empty = ir.Constant(_VECTOR, ir.Undefined)
    one = builder.insert_element(empty, value, ir.Constant(_INT, 0))
    return builder.shuffle_vector(one, empty, ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES))


@generated
def within(
    typingctx: Any, scores: Any, bases: Any, lengths: Any, length: Any, share: Any, fixed: Any
) -> Any:
    """The rows of a block whose score is not proven to reach base + share (own + length)^2 + fixed.

    Bit r stands for row r. What is no number proves nothing.
    """

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        scores, bases, lengths = (builder.inttoptr(args[i], _VECTOR.as_pointer()) for i in range(3))
        length, share, fixed = (_splat(builder, args[i]) for i in (3, 4, 5))
        found = ir.Constant(_LONG, 0)
        for v in range(VECTORS):
            index = [context.get_constant(types.intp, v)]
            score, base, own = (
                builder.load(builder.gep(place, index), align=4)
                for place in (scores, bases, lengths)
            )
            both = builder.fadd(own, length)
            bound = builder.fadd(builder.fmul(share, builder.fmul(both, both)), fixed)
            less = builder.fcmp_unordered("<", score, builder.fadd(base, bound))
            bits = builder.zext(builder.bitcast(less, ir.IntType(LANES)), _LONG)
            found = builder.or_(found, builder.shl(bits, ir.Constant(_LONG, v * LANES)))
        return found

    numbers = [types.float32] * 3
    return types.uint64(types.intp, types.intp, types.intp, *numbers), generate


@generated
def lowest(typingctx: Any, bits: Any) -> Any:
    """The number of the lowest bit of an integer that is not 0."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


def _squared_gap(kind: Any) -> Any:
    """The sum of the squares of x - c over some whole vectors of doubles; x is of a given kind."""

    @generated
    def kernel(typingctx: Any, x: Any, c: Any, vectors: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            wide = ir.VectorType(_DOUBLE, DOUBLES)
            x = builder.inttoptr(args[0], ir.VectorType(kind, DOUBLES).as_pointer())
            c = builder.inttoptr(args[1], wide.as_pointer())
            total = _tools.alloca_once(builder, wide)
            builder.store(ir.Constant(wide, [0.0] * DOUBLES), total)
            with _tools.for_range(builder, args[2], intp=args[2].type) as loop:
                number = builder.load(builder.gep(x, [loop.index]), align=4)
                if kind is not _DOUBLE:
                    number = builder.fpext(number, wide)
                gap = builder.fsub(number, builder.load(builder.gep(c, [loop.index]), align=8))
                builder.store(builder.fadd(builder.load(total), builder.fmul(gap, gap)), total)
            parts = builder.load(total)
            answer = context.get_constant(types.float64, 0.0)
            for lane in range(DOUBLES):
                part = builder.extract_element(parts, ir.Constant(_INT, lane))
                answer = builder.fadd(answer, part)
            return answer

        return types.float64(types.intp, types.intp, types.intp), generate

    return kernel


gap_doubles, gap_singles = _squared_gap(_DOUBLE), _squared_gap(_FLOAT)
