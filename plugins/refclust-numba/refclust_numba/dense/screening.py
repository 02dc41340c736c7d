"""The micro-kernel: scores of a block of rows against all centres in single precision.

Rows stand in the lanes of vector registers: a block holds ``ROWS`` rows, column after column. For
each group of ``GROUP`` centres the sums of products stay in registers. Written as LLVM code
because no compiler finds this arrangement by itself. Products and sums may be contracted to fused
operations: the error bound (see ``refclust_numba.dense.assignment``) holds either way.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from refclust_numba.lowlevel.build import LANES
from refclust_numba.lowlevel.compiling import generated
from refclust_numba.lowlevel.memory import CONTRACT, FLOAT, INT, LONG, Code, Memory, splat, tools

VECTORS: Final = 4 if LANES == 16 else 3  # as many as registers are left for
GROUP: Final = 4  # centres at a time
ROWS: Final = LANES * VECTORS
_VECTOR, _INDICES = ir.VectorType(FLOAT, LANES), ir.VectorType(INT, LANES)
_LINE: Final = 16  # singles in a line of memory


def _each(value: float) -> Any:
    return ir.Constant(_VECTOR, [value] * LANES)


class _Block:
    """One block of rows beside all centres: where its rows, the centres and their starts are."""

    def __init__(self, code: Code, x: tuple[Memory, Any], c: Memory, h: Memory, d: Any) -> None:
        self._code, (self._x, self._first) = code, x
        self._c, self._h, self._d = c, h, d

    def scores(self, group: Any, ahead: Any = None) -> list[list[Any]]:
        """h - x.c for one group of centres (c holds the negative centres), in GROUP * VECTORS sums.

        ``ahead`` is the place of what is read next: each of the first groups fetches a share of it.
        """
        code, build = self._code, self._code.builder
        sums = [[tools.alloca_once(build, _VECTOR) for _ in range(VECTORS)] for _ in range(GROUP)]
        for k in range(GROUP):
            start = splat(build, code.scalar(self._h, (group, GROUP), k), LANES)
            for v in range(VECTORS):
                build.store(start, sums[k][v])
        own = code.index((group, code.index((self._d, GROUP))))
        if ahead is not None:
            share = build.and_(group, code.number(3))
            ahead = code.index(ahead, (share, code.index((self._d, _LINE))))
        with code.loop(self._d) as column:
            if ahead is not None:
                code.fetch(self._x, ahead, (column.index, _LINE))
            place = (self._first, (column.index, ROWS))
            rows = [code.load(self._x, *place, v * LANES, lanes=LANES) for v in range(VECTORS)]
            for k in range(GROUP):
                centre = splat(build, code.scalar(self._c, own, (column.index, GROUP), k), LANES)
                for v in range(VECTORS):
                    product = build.fmul(centre, rows[v], flags=CONTRACT)
                    total = build.fadd(build.load(sums[k][v]), product, flags=CONTRACT)
                    build.store(total, sums[k][v])
        return sums


class _Least:
    """For each row of a block the least score so far, the next one, and whose the least is."""

    def __init__(self, build: Any) -> None:
        self._build = build
        self.least, self.runner, self.where = (
            [tools.alloca_once(build, kind) for _ in range(VECTORS)]
            for kind in (_VECTOR, _VECTOR, _INDICES)
        )
        for v in range(VECTORS):
            build.store(_each(float("inf")), self.least[v])
            build.store(_each(float("inf")), self.runner[v])
            build.store(ir.Constant(_INDICES, [0] * LANES), self.where[v])

    def see(self, v: int, score: Any, name: Any) -> None:
        """Take a vector of scores of one centre into account."""
        build = self._build
        old, runner = build.load(self.least[v]), build.load(self.runner[v])
        less = build.fcmp_ordered("<", score, old)
        larger = build.select(less, old, score)
        closer = build.fcmp_ordered("<", larger, runner)
        build.store(build.select(closer, larger, runner), self.runner[v])
        build.store(build.select(less, score, old), self.least[v])
        build.store(build.select(less, name, build.load(self.where[v])), self.where[v])


def _farther(build: Any, length: Any, least: Any, need: Any, gap: Any) -> Any:
    """g / sqrt(U + g), and a little less: the proven difference of two distances."""
    square = build.fmul(build.fmul(length, length), _each(1.0 + 2.0**-18))
    square = build.fadd(square, build.fadd(least, least))
    square = build.fadd(square, build.fmul(need, _each(4.0)))
    kind = ir.FunctionType(_VECTOR, [_VECTOR])
    root = tools.get_or_insert_function(build.module, kind, f"llvm.sqrt.v{LANES}f32")
    return build.fdiv(
        build.fmul(gap, _each(1.0 - 2.0**-18)), build.call(root, [build.fadd(square, gap)])
    )


@generated
def screen(
    typingctx: Any, x: Any, first: Any, c: Any, h: Any, d: Any, groups: Any, index: Any,
    margins: Any, lengths: Any, row: Any, slope: Any, start: Any, far: Any, ahead: Any,
) -> Any:  # fmt: skip
    """For one block of rows the index of the least score, and a margin; 0 if all are proven.

    The block begins at place ``first`` of x, its lengths at place ``row`` of lengths; ``ahead`` is
    where the next block begins. A row is proven if its margin is positive: see
    ``refclust_numba.dense.assignment``. The margin is g, what the second least score is more than
    slope * length + start above the least one; with ``far`` it is the proven difference of two
    distances.
    """

    def generate(context: Any, build: Any, signature: Any, args: Any) -> Any:
        code = Code(context, build, signature, args)
        x, c, h, index, margins, lengths = code.memories(0, 2, 3, 6, 7, 8)
        first, d, groups, row, slope, start, far, ahead = code.values(1, 4, 5, 9, 10, 11, 12, 13)
        block, least = _Block(code, (x, first), c, h, d), _Least(build)
        with code.loop(groups) as loop:
            sums = block.scores(loop.index, ahead)
            for k in range(GROUP):
                name = build.trunc(code.index((loop.index, GROUP), k), INT)
                for v in range(VECTORS):
                    least.see(v, build.load(sums[k][v]), splat(build, name, LANES))
        slope, start = splat(build, slope, LANES), splat(build, start, LANES)
        doubts = ir.Constant(ir.IntType(LANES), 0)
        for v in range(VECTORS):
            best, other = build.load(least.least[v]), build.load(least.runner[v])
            code.store(build.load(least.where[v]), index, v * LANES)
            length = code.load(lengths, row, v * LANES, lanes=LANES)
            need = build.fadd(build.fmul(slope, length), start)
            gap = build.fsub(build.fsub(other, best), need)
            code.store(gap, margins, v * LANES)
            # «Not greater», so that what is no number proves nothing.
            doubt = build.fcmp_unordered("<=", gap, _each(0.0))
            doubts = build.or_(doubts, build.bitcast(doubt, ir.IntType(LANES)))
            with build.if_then(far):
                code.store(_farther(build, length, best, need, gap), margins, v * LANES)
        return build.zext(doubts, LONG)

    places = [types.intp] * 2
    numbers = [types.intp, types.float32, types.float32, types.boolean, types.intp]
    return types.int64(x, types.intp, c, h, *places, index, margins, lengths, *numbers), generate


@generated
def scores(
    typingctx: Any, x: Any, first: Any, c: Any, h: Any, d: Any, groups: Any, out: Any
) -> Any:
    """All scores of the block of rows at a place of x: for each centre ``ROWS`` numbers."""

    def generate(context: Any, build: Any, signature: Any, args: Any) -> Any:
        code = Code(context, build, signature, args)
        x, c, h, out = code.memories(0, 2, 3, 6)
        block = _Block(code, (x, args[1]), c, h, args[4])
        with code.loop(args[5]) as loop:
            sums = block.scores(loop.index)
            for k in range(GROUP):
                for v in range(VECTORS):
                    place = ((loop.index, GROUP * ROWS), k * ROWS + v * LANES)
                    code.store(build.load(sums[k][v]), out, *place)
        return code.none()

    return types.none(x, types.intp, c, h, types.intp, types.intp, out), generate


@generated
def unproven(typingctx: Any, margins: Any, first: Any) -> Any:
    """Which of the margins of a block, at a place of them all, are not positive: a bit for each."""

    def generate(context: Any, build: Any, signature: Any, args: Any) -> Any:
        code = Code(context, build, signature, args)
        margins, failing = code.memory(0), ir.Constant(LONG, 0)
        for v in range(VECTORS):
            margin = code.load(margins, args[1], v * LANES, lanes=LANES)
            below = build.fcmp_unordered("<=", margin, _each(0.0))
            some = build.zext(build.bitcast(below, ir.IntType(LANES)), LONG)
            failing = build.or_(failing, build.shl(some, ir.Constant(LONG, v * LANES)))
        return failing

    return types.uint64(margins, types.intp), generate
