"""Generated code for one look at dense rows: sizes of numbers, conversion, transposition."""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from refclust_numba.lowlevel.build import DOUBLES, LANES
from refclust_numba.lowlevel.compiling import generated
from refclust_numba.lowlevel.elementary import INFINITY, VECTOR, Emit
from refclust_numba.lowlevel.memory import FLOAT, INT, LONG, Code, Memory

_WHOLES: Final = ir.VectorType(LONG, DOUBLES)
_SHORT: Final = ir.VectorType(FLOAT, DOUBLES)


def load_doubles(code: Emit, memory: Memory, *place: Any) -> Any:
    """``DOUBLES`` numbers of either kind at a place, as doubles."""
    value = code.load(memory, *place)
    return code.builder.fpext(value, VECTOR) if memory.number == FLOAT else value


class _Sizes(Emit):
    """Writes what the bits of doubles tell of their sizes."""

    def _all(self, bits: int) -> Any:
        return ir.Constant(_WHOLES, [bits] * DOUBLES)

    def absolute(self, value: Any) -> Any:
        """|x|."""
        build = self.builder
        bits = build.and_(build.bitcast(value, _WHOLES), self._all(0x7FFFFFFFFFFFFFFF))
        return build.bitcast(bits, VECTOR)

    def lowest_bit(self, size: Any) -> Any:
        """The lowest bit of a number that is not negative, as a power of two; infinity of zero."""
        build, bits = self.builder, self.builder.bitcast(size, _WHOLES)
        # A number without its lowest bit, taken from the number, leaves that bit; a power
        # of two is its own, zero has none.
        without = build.and_(bits, build.sub(bits, self._all(1)))
        rest = self.minus(size, build.bitcast(without, VECTOR))
        fraction = build.and_(bits, self._all(0xFFFFFFFFFFFFF))
        rest = build.select(build.icmp_unsigned("==", fraction, self._all(0)), size, rest)
        none = build.icmp_unsigned("==", bits, self._all(0))
        return build.select(none, self.all(INFINITY), rest)


@generated
def survey(
    typingctx: Any, x: Any, first: Any, stride: Any, rows: Any, middle: Any, factor: Any,
    tops: Any, lows: Any, largest: Any, column: Any, out: Any, apart: Any,
) -> Any:  # fmt: skip
    """Read ``DOUBLES`` columns of some rows, ``stride`` numbers apart; write y in singles.

    ``first`` is the place of the first row in x; y of a row stands ``apart`` numbers after that of
    the row before. Keeps the largest |x|, the lowest bit of any x and the largest |y| of each
    column.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = _Sizes(context, builder, signature, args)
        x, offset, out = code.memories(0, 4, 10)
        first, stride, rows, factor, column, apart = code.values(1, 2, 3, 5, 9, 11)
        extremes = code.memories(6, 7, 8)
        middle, factor = code.load(offset, column), code.splat(factor)
        kept = [code.variable(code.load(memory, column)) for memory in extremes]
        with code.loop(rows) as row:
            value = load_doubles(code, x, first, column, (row.index, stride))
            y = code.times(code.minus(value, middle), factor)
            size = code.absolute(value)
            for own, candidate, sign in zip(
                kept, (size, code.lowest_bit(size), code.absolute(y)), "><>", strict=True
            ):
                old = builder.load(own)
                builder.store(code.where(sign, candidate, old, candidate, old), own)
            code.store(builder.fptrunc(y, _SHORT), out, column, (row.index, apart))
        for memory, own in zip(extremes, kept, strict=True):
            code.store(builder.load(own), memory, column)
        return code.none()

    places = [types.intp] * 3
    kinds = [x, *places, middle, types.float64, tops, lows, largest, types.intp, out, types.intp]
    return types.none(*kinds), generate


@generated
def shift(
    typingctx: Any, x: Any, first: Any, columns: Any, middle: Any, factor: Any, out: Any, at: Any
) -> Any:
    """Write y of the row at a place of x, ``columns`` numbers, in singles at a place of out."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Emit(context, builder, signature, args)
        x, offset, out = code.memories(0, 3, 5)
        first, columns, factor, at = code.values(1, 2, 4, 6)
        factor = code.splat(factor)
        with code.loop(builder.udiv(columns, code.number(DOUBLES))) as vector:
            column = code.index((vector.index, DOUBLES))
            value = load_doubles(code, x, first, column)
            y = code.times(code.minus(value, code.load(offset, column)), factor)
            code.store(builder.fptrunc(y, _SHORT), out, at, column)
        return code.none()

    places = [types.intp] * 2
    return types.none(x, *places, middle, types.float64, out, types.intp), generate


@generated
def transpose(
    typingctx: Any, source: Any, first: Any, stride: Any, target: Any, at: Any, apart: Any
) -> Any:
    """Turn a square of singles, ``LANES`` rows that far apart, into columns that far apart."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature, args)
        source, target = code.memories(0, 3)
        first, stride, at, apart = code.values(1, 2, 4, 5)
        half = LANES // 2
        zips = [
            ir.Constant(
                ir.VectorType(INT, LANES),
                [i // 2 + start + LANES * (i % 2) for i in range(LANES)],
            )
            for start in (0, half)
        ]
        rows = [code.load(source, first, (stride, r), lanes=LANES) for r in range(LANES)]
        for _ in range(LANES.bit_length() - 1):
            # Like a riffle of cards: after log2 of them rows have become columns.
            rows = [
                builder.shuffle_vector(rows[r // 2], rows[r // 2 + half], zips[r % 2])
                for r in range(LANES)
            ]
        for c in range(LANES):
            code.store(rows[c], target, at, (apart, c))
        return code.none()

    places = [types.intp] * 2
    return types.none(source, *places, target, *places), generate
