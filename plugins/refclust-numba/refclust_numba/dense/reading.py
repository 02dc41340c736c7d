"""Generated code for one look at dense rows: sizes of numbers, conversion, transposition."""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils

from refclust_numba.lowlevel.build import DOUBLES, LANES
from refclust_numba.lowlevel.compiling import generated

_FLOAT, _DOUBLE, _LONG, _INT = ir.FloatType(), ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_tools: Any = cgutils


def _spread(builder: Any, value: Any) -> Any:
    """A double in every lane."""
    vector = ir.Constant(ir.VectorType(_DOUBLE, DOUBLES), ir.Undefined)
    for lane in range(DOUBLES):
        vector = builder.insert_element(vector, value, ir.Constant(_INT, lane))
    return vector


@generated
def survey(
    typingctx: Any, like: Any, x: Any, stride: Any, rows: Any, offset: Any, factor: Any, tops: Any,
    lows: Any, largest: Any, out: Any, apart: Any,
) -> Any:  # fmt: skip
    """Read ``DOUBLES`` columns of some rows, ``stride`` numbers apart; write y in singles.

    Keeps the largest |x|, the lowest bit of any x and the largest |y| of each column.
    """

    number = _FLOAT if like.dtype == types.float32 else _DOUBLE

    def generate(context: Any, builder: Any, _signature: Any, all_args: Any) -> Any:
        args = all_args[1:]
        wide, whole = ir.VectorType(_DOUBLE, DOUBLES), ir.VectorType(_LONG, DOUBLES)
        given, short = ir.VectorType(number, DOUBLES), ir.VectorType(_FLOAT, DOUBLES)
        x = builder.inttoptr(args[0], number.as_pointer())
        offset, tops, lows, largest = (
            builder.inttoptr(args[i], wide.as_pointer()) for i in (3, 5, 6, 7)
        )
        out = builder.inttoptr(args[8], _FLOAT.as_pointer())
        middle = builder.load(offset, align=8)
        factor = _spread(builder, args[4])

        def all_of(kind: Any, value: Any) -> Any:
            return ir.Constant(kind, [value] * DOUBLES)

        absolute = all_of(whole, 0x7FFFFFFFFFFFFFFF)
        kept = [_tools.alloca_once(builder, wide) for _ in range(3)]
        for place, own in zip((tops, lows, largest), kept, strict=True):
            builder.store(builder.load(place, align=8), own)
        with _tools.for_range(builder, args[2], intp=args[2].type) as loop:
            place = builder.gep(x, [builder.mul(loop.index, args[1])])
            place = builder.bitcast(place, given.as_pointer())
            value = builder.load(place, align=4 if number is _FLOAT else 8)
            if number is _FLOAT:
                value = builder.fpext(value, wide)
            b = builder.and_(builder.bitcast(value, whole), absolute)
            size = builder.bitcast(b, wide)
            # A number without its lowest bit, taken from the number, leaves that bit; a power
            # of two is its own, zero has none.
            without = builder.and_(b, builder.sub(b, all_of(whole, 1)))
            rest = builder.fsub(size, builder.bitcast(without, wide))
            fraction = builder.and_(b, all_of(whole, 0xFFFFFFFFFFFFF))
            zero = all_of(whole, 0)
            rest = builder.select(builder.icmp_unsigned("==", fraction, zero), size, rest)
            none = builder.icmp_unsigned("==", b, zero)
            rest = builder.select(none, all_of(wide, float("inf")), rest)
            y = builder.fmul(builder.fsub(value, middle), factor)
            gap = builder.bitcast(builder.and_(builder.bitcast(y, whole), absolute), wide)
            for own, candidate, sign in (
                (kept[0], size, ">"), (kept[1], rest, "<"), (kept[2], gap, ">")
            ):  # fmt: skip
                old = builder.load(own)
                better = builder.fcmp_ordered(sign, candidate, old)
                builder.store(builder.select(better, candidate, old), own)
            target = builder.gep(out, [builder.mul(loop.index, args[9])])
            target = builder.bitcast(target, short.as_pointer())
            builder.store(builder.fptrunc(y, short), target, align=4)
        for place, own in zip((tops, lows, largest), kept, strict=True):
            builder.store(builder.load(own), place, align=8)
        return context.get_dummy_value()

    kinds = [like, *[types.intp] * 4, types.float64, *[types.intp] * 5]
    return types.none(*kinds), generate


@generated
def shift(
    typingctx: Any, like: Any, x: Any, columns: Any, offset: Any, factor: Any, out: Any
) -> Any:
    """Write y of one row, ``columns`` numbers, in singles."""
    number = _FLOAT if like.dtype == types.float32 else _DOUBLE

    def generate(context: Any, builder: Any, _signature: Any, all_args: Any) -> Any:
        args = all_args[1:]
        wide = ir.VectorType(_DOUBLE, DOUBLES)
        given, short = ir.VectorType(number, DOUBLES), ir.VectorType(_FLOAT, DOUBLES)
        x = builder.inttoptr(args[0], number.as_pointer())
        offset = builder.inttoptr(args[2], _DOUBLE.as_pointer())
        out = builder.inttoptr(args[4], _FLOAT.as_pointer())
        factor = _spread(builder, args[3])
        vectors = builder.udiv(args[1], context.get_constant(types.intp, DOUBLES))
        with _tools.for_range(builder, vectors, intp=vectors.type) as loop:
            at = builder.mul(loop.index, context.get_constant(types.intp, DOUBLES))
            places = [
                builder.bitcast(builder.gep(base, [at]), kind.as_pointer())
                for base, kind in ((x, given), (offset, wide), (out, short))
            ]
            value = builder.load(places[0], align=4 if number is _FLOAT else 8)
            if number is _FLOAT:
                value = builder.fpext(value, wide)
            middle = builder.load(places[1], align=8)
            y = builder.fmul(builder.fsub(value, middle), factor)
            builder.store(builder.fptrunc(y, short), places[2], align=4)
        return context.get_dummy_value()

    kinds = [like, *[types.intp] * 3, types.float64, types.intp]
    return types.none(*kinds), generate


@generated
def transpose(typingctx: Any, source: Any, stride: Any, target: Any, apart: Any) -> Any:
    """Turn a square of singles, ``LANES`` rows that far apart, into columns that far apart."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        source, target = (builder.inttoptr(args[i], _FLOAT.as_pointer()) for i in (0, 2))

        def times(value: Any, count: int) -> Any:
            return builder.mul(value, context.get_constant(types.intp, count))

        vector, indices = ir.VectorType(_FLOAT, LANES), ir.VectorType(_INT, LANES)

        def load(at: Any) -> Any:
            place = builder.bitcast(builder.gep(source, [at]), vector.as_pointer())
            return builder.load(place, align=4)

        half = LANES // 2
        zips = [
            ir.Constant(indices, [i // 2 + start + LANES * (i % 2) for i in range(LANES)])
            for start in (0, half)
        ]
        rows = [load(times(args[1], r)) for r in range(LANES)]
        for _ in range(LANES.bit_length() - 1):
            # Like a riffle of cards: after log2 of them rows have become columns.
            rows = [
                builder.shuffle_vector(rows[r // 2], rows[r // 2 + half], zips[r % 2])
                for r in range(LANES)
            ]
        for c in range(LANES):
            place = builder.gep(target, [times(args[3], c)])
            builder.store(rows[c], builder.bitcast(place, vector.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.none(*[types.intp] * 4), generate
