"""Normal densities with a variance for each column: scaled lengths, and sums of squares."""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

from numba import types

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import generated
from refclust_numba.lowlevel.elementary import PARTS, STRANDS, Emit
from refclust_numba.mixtures.gaussian.blocks import keep_joint
from refclust_numba.mixtures.responsibilities import TURNS, VECTORS
from refclust_numba.mixtures.sizes import BLOCK

COLUMNS: Final = 4  # at a time
_SIDE: Final = 4  # vectors of rows at a time


def diagonal_vectors(d: int) -> int:
    """How many sums the first and second moments take."""
    return 2 * COLUMNS * -(-d // COLUMNS)


def diagonal_place(d: int, j: Any) -> Any:
    """Where the second moment of a column is among the sums."""
    return diagonal_vectors(d) // 2 + j


@generated
def scaled(
    typingctx: Any, work: Any, block: Any, means: Any, mean: Any, whitening: Any, scales: Any,
    d: Any, offset: Any, joint: Any,
) -> Any:  # fmt: skip
    """Write offset - |s (x - m)|^2 / 2 of a block of rows; -inf if that overflows.

    The block and what is written are in ``work``; m and s begin at places of their arrays.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        work, means, whitening = emit.memories(0, 2, 4)
        block, mean, scales, d, offset, joint = emit.values(1, 3, 5, 6, 7, 8)
        offset = emit.splat(offset)
        with emit.loop(VECTORS // _SIDE) as group:
            row = (group.index, _SIDE * DOUBLES)
            squares = [emit.variable() for _ in range(_SIDE)]
            with emit.loop(d) as column:
                middle = emit.broadcast(means, mean, column.index)
                scale = emit.broadcast(whitening, scales, column.index)
                for v in range(_SIDE):
                    x = emit.load(work, block, (column.index, BLOCK), row, v * DOUBLES)
                    y = emit.times(emit.minus(x, middle), scale)
                    emit.add_product(y, y, squares[v])
            keep_joint(emit, offset, squares, work, emit.index(joint, row))
        return emit.none()

    place = types.intp
    kinds = [work, place, means, place, whitening, place, place, types.float64, place]
    return types.none(*kinds), generate


@generated
def squared(
    typingctx: Any, work: Any, block: Any, points: Any, point: Any, masses: Any, strands: Any,
    groups: Any,
) -> Any:  # fmt: skip
    """Add mass times (x - a) and mass times its square for each column, strand by strand.

    Columns come in ``groups`` of ``COLUMNS``; the second moments stand behind the first ones.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        work, points = emit.memories(0, 2)
        block, point, masses, strands, groups = emit.values(1, 3, 4, 5, 6)
        seconds = emit.index(strands, (groups, COLUMNS * STRANDS))
        with emit.loop(PARTS) as part, emit.loop(groups) as group:
            lanes = (part.index, DOUBLES)
            own = [emit.index((group.index, COLUMNS), j) for j in range(COLUMNS)]
            places = [emit.index(start, (j, STRANDS), lanes)
                      for start in (strands, seconds) for j in own]  # fmt: skip
            sums = [emit.variable(emit.load(work, place)) for place in places]
            middles = [emit.broadcast(points, point, j) for j in own]
            with emit.loop(TURNS) as turn:
                row = emit.index((turn.index, STRANDS), lanes)
                mass = emit.load(work, masses, row)
                for j in range(COLUMNS):
                    x = emit.load(work, block, (own[j], BLOCK), row)
                    gap = emit.minus(x, middles[j])
                    product = emit.times(mass, gap)
                    emit.add(product, sums[j])
                    emit.add_product(product, gap, sums[COLUMNS + j])
            for place, total in zip(places, sums, strict=True):
                emit.store(builder.load(total), work, place)
        return emit.none()

    place = types.intp
    return types.none(work, place, points, *[place] * 4), generate
