"""The micro-kernel: scores of a block of rows against all centres in single precision.

Rows stand in the lanes of vector registers: a block holds ``ROWS`` rows, column after column. For
each group of ``GROUP`` centres the sums of products stay in registers. Written as LLVM code
because no compiler finds this arrangement by itself. Products and sums may be contracted to fused
operations: the error bound (see ``refclust_numba.assignment``) holds either way.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

import llvmlite.binding  # type: ignore[import-untyped]
from llvmlite import ir
from numba import types
from numba.core import cgutils

from refclust_numba.compiling import generated

_WIDE: Final = bool(llvmlite.binding.get_host_cpu_features().get("avx512f", False))
LANES: Final = 16 if _WIDE else 8
VECTORS: Final = 4 if _WIDE else 3
GROUP: Final = 4  # centres at a time
ROWS: Final = LANES * VECTORS

_FLOAT, _INT = ir.FloatType(), ir.IntType(32)
_VECTOR, _INDICES = ir.VectorType(_FLOAT, LANES), ir.VectorType(_INT, LANES)
_tools: Any = cgutils
_CONTRACT = ("contract",)


def _splat(builder: Any, value: Any, kind: Any) -> Any:
    empty = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(empty, value, ir.Constant(_INT, 0))
    mask = ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES)
    return builder.shuffle_vector(one, empty, mask)


def _load(builder: Any, base: Any, index: Any, kind: Any) -> Any:
    place = builder.gep(base, [index])
    if kind is _FLOAT:
        return builder.load(place)
    return builder.load(builder.bitcast(place, kind.as_pointer()), align=4)


def _store(builder: Any, value: Any, base: Any, index: Any) -> None:
    place = builder.gep(base, [index])
    builder.store(value, builder.bitcast(place, value.type.as_pointer()), align=4)


def _products(builder: Any, context: Any, x: Any, c: Any, h: Any, d: Any, group: Any) -> Any:
    """h - x.c for one group of centres (c holds the negative centres), in GROUP * VECTORS sums."""
    whole = group.type

    def number(value: int) -> Any:
        return context.get_constant(types.intp, value)

    sums = [[_tools.alloca_once(builder, _VECTOR) for _ in range(VECTORS)] for _ in range(GROUP)]
    for k in range(GROUP):
        start = _splat(
            builder,
            _load(builder, h, builder.add(builder.mul(group, number(GROUP)), number(k)), _FLOAT),
            _VECTOR,
        )
        for v in range(VECTORS):
            builder.store(start, sums[k][v])
    own = builder.gep(c, [builder.mul(group, builder.mul(d, number(GROUP)))])
    with _tools.for_range(builder, d, intp=whole) as loop:
        column = builder.mul(loop.index, number(ROWS))
        rows = [
            _load(builder, x, builder.add(column, number(v * LANES)), _VECTOR)
            for v in range(VECTORS)
        ]
        for k in range(GROUP):
            place = builder.add(builder.mul(loop.index, number(GROUP)), number(k))
            centre = _splat(builder, _load(builder, own, place, _FLOAT), _VECTOR)
            for v in range(VECTORS):
                product = builder.fmul(centre, rows[v], flags=_CONTRACT)
                total = builder.fadd(builder.load(sums[k][v]), product, flags=_CONTRACT)
                builder.store(total, sums[k][v])
    return sums


@generated
def screen(
    typingctx: Any,
    x: Any,
    c: Any,
    h: Any,
    d: Any,
    groups: Any,
    best: Any,
    second: Any,
    index: Any,
    lengths: Any,
    slope: Any,
    start: Any,
) -> Any:
    """For one block of rows the least score, the second least and the index of the least.

    Returns 0 if every row is proven: the two scores differ by more than slope * length + start.
    """

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        floats = [builder.inttoptr(args[i], _FLOAT.as_pointer()) for i in (0, 1, 2, 5, 6, 8)]
        x, c, h, best, second, lengths = floats
        slope, start = _splat(builder, args[9], _VECTOR), _splat(builder, args[10], _VECTOR)
        index = builder.inttoptr(args[7], _INT.as_pointer())
        d, groups = args[3], args[4]

        def number(value: int) -> Any:
            return context.get_constant(types.intp, value)

        far = ir.Constant(_VECTOR, [float("inf")] * LANES)
        none = ir.Constant(_INDICES, [0] * LANES)
        least, next_least, where = (
            [_tools.alloca_once(builder, kind) for _ in range(VECTORS)]
            for kind in (_VECTOR, _VECTOR, _INDICES)
        )
        for v in range(VECTORS):
            builder.store(far, least[v])
            builder.store(far, next_least[v])
            builder.store(none, where[v])
        with _tools.for_range(builder, groups, intp=groups.type) as loop:
            sums = _products(builder, context, x, c, h, d, loop.index)
            for k in range(GROUP):
                name = builder.add(builder.mul(loop.index, number(GROUP)), number(k))
                name = _splat(builder, builder.trunc(name, _INT), _INDICES)
                for v in range(VECTORS):
                    score, old = builder.load(sums[k][v]), builder.load(least[v])
                    runner = builder.load(next_least[v])
                    less = builder.fcmp_ordered("<", score, old)
                    larger = builder.select(less, old, score)
                    closer = builder.fcmp_ordered("<", larger, runner)
                    builder.store(builder.select(closer, larger, runner), next_least[v])
                    builder.store(builder.select(less, score, old), least[v])
                    builder.store(builder.select(less, name, builder.load(where[v])), where[v])
        doubts = ir.Constant(ir.IntType(LANES), 0)
        for v in range(VECTORS):
            place = number(v * LANES)
            one, other = builder.load(least[v]), builder.load(next_least[v])
            _store(builder, one, best, place)
            _store(builder, other, second, place)
            _store(builder, builder.load(where[v]), index, place)
            need = builder.fmul(slope, _load(builder, lengths, place, _VECTOR))
            # «Not greater», so that what is no number proves nothing.
            doubt = builder.fcmp_unordered(
                "<=", builder.fsub(other, one), builder.fadd(need, start)
            )
            doubts = builder.or_(doubts, builder.bitcast(doubt, ir.IntType(LANES)))
        return builder.zext(doubts, ir.IntType(64))

    return types.int64(*[types.intp] * 9, types.float32, types.float32), generate


@generated
def scores(typingctx: Any, x: Any, c: Any, h: Any, d: Any, groups: Any, out: Any) -> Any:
    """All scores of one block of rows: for each centre ``ROWS`` numbers."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        x, c, h, out = (builder.inttoptr(args[i], _FLOAT.as_pointer()) for i in (0, 1, 2, 5))
        d, groups = args[3], args[4]

        def number(value: int) -> Any:
            return context.get_constant(types.intp, value)

        with _tools.for_range(builder, groups, intp=groups.type) as loop:
            sums = _products(builder, context, x, c, h, d, loop.index)
            first = builder.mul(loop.index, number(GROUP * ROWS))
            for k in range(GROUP):
                for v in range(VECTORS):
                    place = builder.add(first, number(k * ROWS + v * LANES))
                    _store(builder, builder.load(sums[k][v]), out, place)
        return context.get_dummy_value()

    return types.none(*[types.intp] * 6), generate


def _sparse(vectors: int) -> Any:
    """Scores of one sparse row against ``vectors * LANES`` centres that stand side by side."""

    @generated
    def kernel(
        typingctx: Any,
        columns: Any,
        values: Any,
        count: Any,
        table: Any,
        stride: Any,
        start: Any,
        out: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            columns = builder.inttoptr(args[0], _INT.as_pointer())
            values, table, start, out = (
                builder.inttoptr(args[i], _FLOAT.as_pointer()) for i in (1, 3, 5, 6)
            )
            count, stride = args[2], args[4]

            def number(value: int) -> Any:
                return context.get_constant(types.intp, value)

            sums = [_tools.alloca_once(builder, _VECTOR) for _ in range(vectors)]
            for v in range(vectors):
                builder.store(_load(builder, start, number(v * LANES), _VECTOR), sums[v])
            with _tools.for_range(builder, count, intp=count.type) as loop:
                column = builder.load(builder.gep(columns, [loop.index]))
                row = builder.mul(builder.sext(column, count.type), stride)
                value = _splat(builder, _load(builder, values, loop.index, _FLOAT), _VECTOR)
                for v in range(vectors):
                    place = builder.add(row, number(v * LANES))
                    product = builder.fmul(
                        value, _load(builder, table, place, _VECTOR), flags=_CONTRACT
                    )
                    total = builder.fadd(builder.load(sums[v]), product, flags=_CONTRACT)
                    builder.store(total, sums[v])
            for v in range(vectors):
                _store(builder, builder.load(sums[v]), out, number(v * LANES))
            return context.get_dummy_value()

        return types.none(*[types.intp] * 7), generate

    return kernel


sparse_one, sparse_two, sparse_four, sparse_eight = map(_sparse, (1, 2, 4, 8))


DOUBLES: Final = LANES // 2
_DOUBLE, _LONG = ir.DoubleType(), ir.IntType(64)


@generated
def move_doubles(
    typingctx: Any, x: Any, first: Any, second: Any, plus: Any, minus: Any, d: Any, vectors: Any
) -> Any:
    """Cut ``vectors * DOUBLES`` numbers of a row in two limbs; add them here, subtract them there.

    The two limbs of a cluster stand d apart. Nothing is contracted: see ``refclust_numba.limbs``.
    A ``minus`` of 0 is no place.
    """

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        wide, whole = ir.VectorType(_DOUBLE, DOUBLES), ir.VectorType(_LONG, DOUBLES)
        x, first, second = (builder.inttoptr(args[i], _DOUBLE.as_pointer()) for i in range(3))
        plus, minus = (builder.inttoptr(args[i], _LONG.as_pointer()) for i in (3, 4))
        d, vectors = args[5], args[6]
        taken = builder.icmp_unsigned("!=", args[4], context.get_constant(types.intp, 0))

        def read(base: Any, index: Any, kind: Any) -> Any:
            place = builder.bitcast(builder.gep(base, [index]), kind.as_pointer())
            return builder.load(place, align=8), place

        with _tools.for_range(builder, vectors, intp=vectors.type) as loop:
            at = builder.mul(loop.index, context.get_constant(types.intp, DOUBLES))
            number, _ = read(x, at, wide)
            one, _ = read(first, at, wide)
            other, _ = read(second, at, wide)
            t = builder.fadd(number, one)
            v = builder.fadd(builder.fsub(number, builder.fsub(t, one)), other)
            limbs = [builder.bitcast(t, whole), builder.bitcast(v, whole)]
            places = [at, builder.add(at, d)]
            for place, limb in zip(places, limbs, strict=True):
                old, target = read(plus, place, whole)
                builder.store(builder.add(old, limb), target, align=8)
            with builder.if_then(taken):
                for place, limb in zip(places, limbs, strict=True):
                    old, target = read(minus, place, whole)
                    builder.store(builder.sub(old, limb), target, align=8)
        return context.get_dummy_value()

    return types.none(*[types.intp] * 7), generate
