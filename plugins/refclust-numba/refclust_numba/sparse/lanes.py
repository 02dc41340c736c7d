"""Vector code for sparse rows: the scores of one row against ``LANES`` centres side by side."""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from refclust_numba.lowlevel.build import LANES
from refclust_numba.lowlevel.compiling import generated
from refclust_numba.lowlevel.memory import CONTRACT, FLOAT, INT, LONG, Code, splat, tools

_VECTOR = ir.VectorType(FLOAT, LANES)
_SUMS: Final = 4  # independent sums, so that none waits for another


class _Row:
    """One sparse row beside a table of centres: where its numbers, the table and the starts are.

    The row is ``count`` numbers from place ``first`` on. The table holds groups of centres, of
    each group ``d`` columns, of each column a vector.
    """

    def __init__(self, code: Code, args: Any) -> None:
        self._code = code
        self._columns, self._values, self._table, self._starts = code.memories(0, 1, 4, 5)
        self._first, self._count, self._group = code.values(2, 3, 6)
        self._own = code.index((self._group, code.index((args[7], LANES))))

    def scores(self) -> Any:
        """Start + the sum of value * table[column] over the numbers of the row, for all lanes."""
        code, build = self._code, self._code.builder
        sums = [tools.alloca_once(build, _VECTOR) for _ in range(_SUMS)]
        build.store(code.load(self._starts, (self._group, LANES), lanes=LANES), sums[0])
        for s in range(1, _SUMS):
            build.store(ir.Constant(_VECTOR, [0.0] * LANES), sums[s])
        rounds = build.udiv(self._count, code.number(_SUMS))
        with code.loop(rounds) as loop:
            for s in range(_SUMS):
                self._add((loop.index, _SUMS), s, into=sums[s])
        done = code.index((rounds, _SUMS))
        with code.loop(build.sub(self._count, done)) as loop:
            self._add(done, loop.index, into=sums[0])
        first, second, third, fourth = (build.load(s) for s in sums)
        return build.fadd(build.fadd(first, second), build.fadd(third, fourth))

    def _add(self, *place: Any, into: Any) -> None:
        """Add the products of one number of the row."""
        code, build = self._code, self._code.builder
        column = build.zext(code.scalar(self._columns, self._first, *place), LONG)
        value = splat(build, code.scalar(self._values, self._first, *place), LANES)
        line = code.load(self._table, self._own, (column, LANES), lanes=LANES)
        product = build.fmul(value, line, flags=CONTRACT)
        build.store(build.fadd(build.load(into), product, flags=CONTRACT), into)


def _least(builder: Any, vector: Any) -> Any:
    """The least of all lanes, by halves."""
    width = LANES
    while width > 1:
        width //= 2
        lanes = [(lane + width) % LANES for lane in range(LANES)]
        other = builder.shuffle_vector(
            vector, vector, ir.Constant(ir.VectorType(INT, LANES), lanes)
        )
        less = builder.fcmp_ordered("<", vector, other)
        vector = builder.select(less, vector, other)
    return vector


@generated
def sparse_scores(
    typingctx: Any, columns: Any, values: Any, first: Any, count: Any, table: Any, start: Any,
    group: Any, d: Any, out: Any,
) -> Any:  # fmt: skip
    """Write the scores of one group of centres at their places."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature, args)
        code.store(_Row(code, args).scores(), code.memory(8), (args[6], LANES))
        return code.none()

    place = types.intp
    return types.none(columns, values, place, place, table, start, place, place, out), generate


_LANE_AND_SCORES: Final = types.Tuple((types.int64, types.float32, types.float32))


@generated
def sparse_least(
    typingctx: Any, columns: Any, values: Any, first: Any, count: Any, table: Any, start: Any,
    group: Any, d: Any,
) -> Any:  # fmt: skip
    """Of one group of centres the first lane of the least score, that score, and the second least.

    Where a score is no number the lane is 64, and so are the scores no numbers.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        scores = _Row(Code(context, builder, signature, args), args).scores()
        least = _least(builder, scores)
        same = builder.fcmp_ordered("==", scores, least)
        mask = builder.bitcast(same, ir.IntType(LANES))
        lane = builder.cttz(builder.zext(mask, LONG), ir.Constant(ir.IntType(1), 0))
        alone = builder.and_(mask, builder.neg(mask))
        first = builder.bitcast(alone, ir.VectorType(ir.IntType(1), LANES))
        far = ir.Constant(_VECTOR, [float("inf")] * LANES)
        second = _least(builder, builder.select(first, far, scores))
        zero = ir.Constant(INT, 0)
        numbers = (builder.extract_element(vector, zero) for vector in (least, second))
        return context.make_tuple(builder, signature.return_type, (lane, *numbers))

    place = types.intp
    return _LANE_AND_SCORES(columns, values, place, place, table, start, place, place), generate
