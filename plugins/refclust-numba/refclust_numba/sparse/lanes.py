"""Vector code for sparse rows: the scores of one row against ``LANES`` centres side by side."""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils

from refclust_numba.lowlevel.build import LANES
from refclust_numba.lowlevel.compiling import generated

_FLOAT, _INT = ir.FloatType(), ir.IntType(32)
_VECTOR = ir.VectorType(_FLOAT, LANES)
_CONTRACT = ("contract",)
_SUMS: Final = 4  # independent sums, so that none waits for another
_tools: Any = cgutils


def _splat(builder: Any, value: Any) -> Any:
    empty = ir.Constant(_VECTOR, ir.Undefined)
    one = builder.insert_element(empty, value, ir.Constant(_INT, 0))
    return builder.shuffle_vector(one, empty, ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES))


def _scores(context: Any, builder: Any, args: Any) -> Any:
    """start + the sum of value * table[place] over the numbers of a row, for all lanes."""
    places = builder.inttoptr(args[0], _INT.as_pointer())
    values = builder.inttoptr(args[1], _FLOAT.as_pointer())
    count = args[2]
    table, start = (builder.inttoptr(args[i], _VECTOR.as_pointer()) for i in (3, 4))

    def number(value: int) -> Any:
        return context.get_constant(types.intp, value)

    sums = [_tools.alloca_once(builder, _VECTOR) for _ in range(_SUMS)]
    builder.store(builder.load(start, align=4), sums[0])
    for s in range(1, _SUMS):
        builder.store(ir.Constant(_VECTOR, [0.0] * LANES), sums[s])

    def add(index: Any, into: Any) -> None:
        place = builder.zext(builder.load(builder.gep(places, [index])), count.type)
        value = _splat(builder, builder.load(builder.gep(values, [index])))
        line = builder.load(builder.gep(table, [place]), align=4)
        product = builder.fmul(value, line, flags=_CONTRACT)
        builder.store(builder.fadd(builder.load(into), product, flags=_CONTRACT), into)

    rounds = builder.udiv(count, number(_SUMS))
    with _tools.for_range(builder, rounds, intp=count.type) as loop:
        first = builder.mul(loop.index, number(_SUMS))
        for s in range(_SUMS):
            add(builder.add(first, number(s)), sums[s])
    done = builder.mul(rounds, number(_SUMS))
    with _tools.for_range(builder, builder.sub(count, done), intp=count.type) as loop:
        add(builder.add(done, loop.index), sums[0])
    one, two, three, four = (builder.load(s) for s in sums)
    return builder.fadd(builder.fadd(one, two), builder.fadd(three, four))


def _least(builder: Any, vector: Any) -> Any:
    """The least of all lanes, by halves."""
    width = LANES
    while width > 1:
        width //= 2
        lanes = [(lane + width) % LANES for lane in range(LANES)]
        other = builder.shuffle_vector(
            vector, vector, ir.Constant(ir.VectorType(_INT, LANES), lanes)
        )
        less = builder.fcmp_ordered("<", vector, other)
        vector = builder.select(less, vector, other)
    return vector


_PLACE: Final = [types.intp] * 6


@generated
def sparse_scores(
    typingctx: Any, places: Any, values: Any, count: Any, table: Any, start: Any, out: Any
) -> Any:
    """Write the scores of all lanes."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        into = builder.inttoptr(args[5], _VECTOR.as_pointer())
        builder.store(_scores(context, builder, args), into, align=4)
        return context.get_dummy_value()

    return types.none(*_PLACE), generate


@generated
def sparse_least(
    typingctx: Any, places: Any, values: Any, count: Any, table: Any, start: Any, out: Any
) -> Any:
    """Write the least score and the second least; return the first lane of the least."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        scores = _scores(context, builder, args)
        into = builder.inttoptr(args[5], _FLOAT.as_pointer())
        least = _least(builder, scores)
        same = builder.fcmp_ordered("==", scores, least)
        found = builder.bitcast(same, ir.IntType(LANES))
        lane = builder.cttz(builder.zext(found, ir.IntType(64)), ir.Constant(ir.IntType(1), 0))
        alone = builder.and_(found, builder.neg(found))
        first = builder.bitcast(alone, ir.VectorType(ir.IntType(1), LANES))
        far = ir.Constant(_VECTOR, [float("inf")] * LANES)
        second = _least(builder, builder.select(first, far, scores))
        zero = ir.Constant(_INT, 0)
        builder.store(builder.extract_element(least, zero), into)
        place = builder.gep(into, [context.get_constant(types.intp, 1)])
        builder.store(builder.extract_element(second, zero), place)
        return lane

    return types.int64(*_PLACE), generate
