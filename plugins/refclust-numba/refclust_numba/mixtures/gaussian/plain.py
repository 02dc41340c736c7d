"""Normal densities with a variance for each column: scaled lengths, and sums of squares."""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

from numba import types

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import generated
from refclust_numba.lowlevel.elementary import Emit
from refclust_numba.mixtures.gaussian.blocks import keep_joint
from refclust_numba.mixtures.responsibilities import BLOCK, VECTORS

COLUMNS: Final = 4  # at a time; divides ``DOUBLES``
_SIDE: Final = 4  # vectors of rows at a time


@generated
def scaled(
    typingctx: Any, block: Any, mean: Any, scales: Any, d: Any, offset: Any, joint: Any
) -> Any:
    """Write offset - |s (x - m)|^2 / 2 of a block of rows; -inf if that overflows."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        emit = Emit(context, builder)
        block, mean, scales, joint = (emit.pointer(args[i]) for i in (0, 1, 2, 5))
        offset = emit.splat(args[4])
        with emit.loop(VECTORS // _SIDE) as group:
            row = (group.index, _SIDE * DOUBLES)
            squares = [emit.variable() for _ in range(_SIDE)]
            with emit.loop(args[3]) as column:
                middle, scale = emit.spread(mean, column.index), emit.spread(scales, column.index)
                for v in range(_SIDE):
                    x = emit.load(block, (column.index, BLOCK), row, v * DOUBLES)
                    y = emit.times(emit.minus(x, middle), scale)
                    emit.add_product(y, y, squares[v])
            keep_joint(emit, offset, squares, joint, row)
        return context.get_dummy_value()

    kinds = [*[types.intp] * 4, types.float64, types.intp]
    return types.none(*kinds), generate


@generated
def squared(
    typingctx: Any, block: Any, point: Any, masses: Any, lanes: Any, groups: Any, vectors: Any
) -> Any:
    """Add mass times (x - a) and mass times its square for each column, lane by lane.

    Columns come in ``groups`` of ``COLUMNS``; the second moments stand behind the first ones.
    """

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        emit = Emit(context, builder)
        block, point, masses, lanes = (emit.pointer(args[i]) for i in range(4))
        groups, vectors = args[4], args[5]
        seconds = builder.gep(lanes, [emit.index((groups, COLUMNS * DOUBLES))])
        with emit.loop(groups) as group:
            own = [emit.index((group.index, COLUMNS), j) for j in range(COLUMNS)]
            places = [(base, j) for base in (lanes, seconds) for j in own]
            sums = [emit.variable(emit.load(base, (j, DOUBLES))) for base, j in places]
            middles = [emit.spread(point, j) for j in own]
            with emit.loop(vectors) as vector:
                row = (vector.index, DOUBLES)
                mass = emit.load(masses, row)
                for j in range(COLUMNS):
                    x = emit.minus(emit.load(block, (own[j], BLOCK), row), middles[j])
                    product = emit.times(mass, x)
                    emit.add(product, sums[j])
                    emit.add_product(product, x, sums[COLUMNS + j])
            for (base, j), total in zip(places, sums, strict=True):
                emit.store(builder.load(total), base, (j, DOUBLES))
        return context.get_dummy_value()

    return types.none(*[types.intp] * 6), generate
