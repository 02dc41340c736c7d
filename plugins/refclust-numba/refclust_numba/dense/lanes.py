"""Vector code for seeding: which rows of a block are near, and squared distances of single rows."""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from refclust_numba.dense.reading import load_doubles
from refclust_numba.dense.screening import VECTORS
from refclust_numba.lowlevel.build import DOUBLES, LANES
from refclust_numba.lowlevel.compiling import generated
from refclust_numba.lowlevel.elementary import Emit
from refclust_numba.lowlevel.memory import INT, LONG, Code, splat


@generated
def within(
    typingctx: Any, scores: Any, first: Any, bases: Any, lengths: Any, row: Any, length: Any,
    share: Any, fixed: Any,
) -> Any:  # fmt: skip
    """The rows of a block whose score is not proven to reach base + share (own + length)^2 + fixed.

    Their scores begin at a place of all scores, their own lengths at ``row`` of all lengths. Bit r
    stands for row r. What is no number proves nothing.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature, args)
        places = zip(code.memories(0, 2, 3), (args[1], 0, args[4]), strict=True)
        vectors = [
            [code.load(memory, place, v * LANES, lanes=LANES) for v in range(VECTORS)]
            for memory, place in places
        ]
        length, share, fixed = (splat(builder, args[i], LANES) for i in (5, 6, 7))
        mask = ir.Constant(LONG, 0)
        for v, (score, base, own) in enumerate(zip(*vectors, strict=True)):
            both = builder.fadd(own, length)
            bound = builder.fadd(builder.fmul(share, builder.fmul(both, both)), fixed)
            less = builder.fcmp_unordered("<", score, builder.fadd(base, bound))
            bits = builder.zext(builder.bitcast(less, ir.IntType(LANES)), LONG)
            mask = builder.or_(mask, builder.shl(bits, ir.Constant(LONG, v * LANES)))
        return mask

    numbers = [types.float32] * 3
    return types.uint64(scores, types.intp, bases, lengths, types.intp, *numbers), generate


@generated
def squared_gap(typingctx: Any, x: Any, first: Any, centre: Any, vectors: Any) -> Any:
    """The sum of the squares of x - c over some whole vectors of doubles, from a place of x on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Emit(context, builder, signature, args)
        x, centre = code.memories(0, 2)
        total = code.variable()
        with code.loop(args[3]) as loop:
            column = code.index((loop.index, DOUBLES))
            gap = code.minus(load_doubles(code, x, args[1], column), code.load(centre, column))
            code.add(code.times(gap, gap), total)
        parts = builder.load(total)
        answer = context.get_constant(types.float64, 0.0)
        for lane in range(DOUBLES):
            part = builder.extract_element(parts, ir.Constant(INT, lane))
            answer = builder.fadd(answer, part)
        return answer

    return types.float64(x, types.intp, centre, types.intp), generate
