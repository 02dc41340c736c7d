"""The micro-kernel: scores of a block of rows against all centres in single precision.

Rows stand in the lanes of vector registers: a block holds ``ROWS`` rows, column after column. For
each group of ``GROUP`` centres the sums of products stay in registers. Written as LLVM code
because no compiler finds this arrangement by itself. Products and sums may be contracted to fused
operations: the error bound (see ``refclust_numba.dense.assignment``) holds either way.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

import llvmlite.binding  # type: ignore[import-untyped]
from llvmlite import ir
from numba import types
from numba.core import cgutils

from refclust_numba.lowlevel.compiling import generated

_WIDE: Final = bool(llvmlite.binding.get_host_cpu_features().get("avx512f", False))
LANES: Final = 16 if _WIDE else 8
VECTORS: Final = 4 if _WIDE else 3
GROUP: Final = 4  # centres at a time
ROWS: Final = LANES * VECTORS
DOUBLES: Final = LANES // 2

_FLOAT, _INT = ir.FloatType(), ir.IntType(32)
_VECTOR, _INDICES = ir.VectorType(_FLOAT, LANES), ir.VectorType(_INT, LANES)
_tools: Any = cgutils
_CONTRACT = ("contract",)
_LINE: Final = 16  # singles in a line of memory


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


def _products(
    builder: Any, context: Any, x: Any, c: Any, h: Any, d: Any, group: Any, ahead: Any = None
) -> Any:
    """h - x.c for one group of centres (c holds the negative centres), in GROUP * VECTORS sums.

    ``ahead`` is what is read next: each of the first groups fetches a share of it.
    """
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
    if ahead is not None:
        line = builder.mul(builder.and_(group, number(3)), builder.mul(d, number(_LINE)))
        ahead = builder.gep(ahead, [line])
    with _tools.for_range(builder, d, intp=whole) as loop:
        column = builder.mul(loop.index, number(ROWS))
        if ahead is not None:
            _fetch(builder, builder.gep(ahead, [builder.mul(loop.index, number(_LINE))]))
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


def _fetch(builder: Any, place: Any) -> None:
    """Ask for a line of memory that will be read soon."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, _INT, _INT, _INT])
    function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
    builder.call(
        function, [builder.bitcast(place, byte)] + [ir.Constant(_INT, v) for v in (0, 2, 1)]
    )


@generated
def fetch(typingctx: Any, address: Any) -> Any:
    """Ask for a line of memory that will be read soon."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        _fetch(builder, builder.inttoptr(args[0], _FLOAT.as_pointer()))
        return context.get_dummy_value()

    return types.none(types.intp), generate


@generated
def screen(
    typingctx: Any,
    x: Any,
    c: Any,
    h: Any,
    d: Any,
    groups: Any,
    index: Any,
    margins: Any,
    lengths: Any,
    slope: Any,
    start: Any,
    far: Any,
    ahead: Any,
) -> Any:
    """For one block of rows the index of the least score, and a margin; 0 if all are proven.

    A row is proven if its margin is positive: see ``refclust_numba.dense.assignment``. The margin is
    g, what the second least score is more than slope * length + start above the least one; with
    ``far`` it is the proven difference of two distances.
    """

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        floats = [builder.inttoptr(args[i], _FLOAT.as_pointer()) for i in (0, 1, 2, 6, 7, 11)]
        x, c, h, margins, lengths, ahead = floats
        slope, start = _splat(builder, args[8], _VECTOR), _splat(builder, args[9], _VECTOR)
        index = builder.inttoptr(args[5], _INT.as_pointer())
        d, groups = args[3], args[4]

        def number(value: int) -> Any:
            return context.get_constant(types.intp, value)

        def each(value: float) -> Any:
            return ir.Constant(_VECTOR, [value] * LANES)

        none = ir.Constant(_INDICES, [0] * LANES)
        least, next_least, where = (
            [_tools.alloca_once(builder, kind) for _ in range(VECTORS)]
            for kind in (_VECTOR, _VECTOR, _INDICES)
        )
        for v in range(VECTORS):
            builder.store(each(float("inf")), least[v])
            builder.store(each(float("inf")), next_least[v])
            builder.store(none, where[v])
        with _tools.for_range(builder, groups, intp=groups.type) as loop:
            sums = _products(builder, context, x, c, h, d, loop.index, ahead)
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
            _store(builder, builder.load(where[v]), index, place)
            length = _load(builder, lengths, place, _VECTOR)
            need = builder.fadd(builder.fmul(slope, length), start)
            gap = builder.fsub(builder.fsub(other, one), need)
            _store(builder, gap, margins, place)
            # «Not greater», so that what is no number proves nothing.
            doubt = builder.fcmp_unordered("<=", gap, each(0.0))
            doubts = builder.or_(doubts, builder.bitcast(doubt, ir.IntType(LANES)))
            with builder.if_then(args[10]):
                # g / sqrt(U + g), and a little less.
                square = builder.fmul(builder.fmul(length, length), each(1.0 + 2.0**-18))
                square = builder.fadd(square, builder.fadd(one, one))
                square = builder.fadd(square, builder.fmul(need, each(4.0)))
                root = _root(builder, builder.fadd(square, gap))
                most = builder.fdiv(builder.fmul(gap, each(1.0 - 2.0**-18)), root)
                _store(builder, most, margins, place)
        return builder.zext(doubts, ir.IntType(64))

    kinds = [*[types.intp] * 8, types.float32, types.float32, types.boolean, types.intp]
    return types.int64(*kinds), generate


def _root(builder: Any, vector: Any) -> Any:
    kind = ir.FunctionType(_VECTOR, [_VECTOR])
    function = _tools.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{LANES}f32")
    return builder.call(function, [vector])


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


@generated
def unproven(typingctx: Any, margins: Any) -> Any:
    """Which of the margins of a block are not positive: one bit for each."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        margins = builder.inttoptr(args[0], _FLOAT.as_pointer())
        whole, lanes = ir.IntType(64), ir.IntType(LANES)
        found = ir.Constant(whole, 0)
        for v in range(VECTORS):
            place = context.get_constant(types.intp, v * LANES)
            margin = _load(builder, margins, place, _VECTOR)
            below = builder.fcmp_unordered("<=", margin, ir.Constant(_VECTOR, [0.0] * LANES))
            some = builder.zext(builder.bitcast(below, lanes), whole)
            found = builder.or_(found, builder.shl(some, ir.Constant(whole, v * LANES)))
        return found

    return types.uint64(types.intp), generate
