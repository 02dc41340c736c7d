"""Vector code for fine sums: squares, roots and totals as two doubles each.

What a sum or a product of doubles loses is a double again (``two_sum``, a fused product), and goes
to a low part: the proof is in ``refclust.kernels.contracts.lengths``. Strands are those of
``refclust_numba.pairs.lanes``, so no bit depends on the lanes.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import generated
from refclust_numba.lowlevel.elementary import PARTS, STRANDS, VECTOR, Emit
from refclust_numba.lowlevel.memory import INT

ORIGINS: Final = 2  # rows that fine sums are made for at a time


class _Twofold:
    """A sum of vectors as two of them, which loops may change."""

    def __init__(self, emit: Emit) -> None:
        self.emit, self._high, self._low = emit, emit.variable(), emit.variable()

    def add(self, x: Any, rest: Any) -> None:
        """Add x and something much smaller."""
        emit = self.emit
        high, lost = emit.two_sum(emit.builder.load(self._high), x)
        emit.builder.store(high, self._high)
        emit.add(emit.plus(lost, rest), self._low)

    def add_square(self, gap: Any, rest: Any) -> None:
        """Add the square of gap + rest; that of the rest is left out."""
        emit = self.emit
        square = emit.times(gap, gap)
        lost = emit.fused(gap, gap, emit.opposite(square))
        self.add(square, emit.fused(emit.plus(gap, gap), rest, lost))

    def parts(self) -> tuple[Any, Any]:
        """The two vectors."""
        return self.emit.builder.load(self._high), self.emit.builder.load(self._low)


def _root(emit: Emit, high: Any, low: Any) -> tuple[Any, Any]:
    """The root of a sum of two vectors, as two of them; of 0 it is 0.

    high - r r is a double, since r is the nearest one to the root.
    """
    high, low = emit.two_sum(high, low)
    root = emit.sqrt(high)
    left = emit.plus(emit.fused(emit.opposite(root), root, high), low)
    rest = emit.builder.fdiv(left, emit.plus(root, root))
    return root, emit.where(">", root, emit.all(0.0), rest, emit.all(0.0))


@generated
def fine_distances(
    typingctx: Any, packed: Any, first: Any, blocks: Any, d: Any, lines: Any, line: Any,
    weights: Any, highs: Any, lows: Any,
) -> Any:  # fmt: skip
    """Write the sums of w |x - y| over some blocks of rows y, strand by strand, for two rows x.

    Blocks are counted from ``first``; the rows x stand in ``lines`` from a place on.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        packed, lines, weights, highs, lows = emit.memories(0, 4, 6, 7, 8)
        first, blocks, d, line = emit.values(1, 2, 3, 5)
        with emit.loop(PARTS) as part:
            own = (part.index, DOUBLES)
            sums = [_Twofold(emit) for _ in range(ORIGINS)]
            with emit.loop(blocks) as loop:
                block = emit.index(first, loop.index)
                begin = emit.index((emit.index((block, d)), STRANDS), own)
                squares = [_Twofold(emit) for _ in range(ORIGINS)]
                with emit.loop(d) as column:
                    x = emit.load(packed, begin, (column.index, STRANDS))
                    for o, square in enumerate(squares):
                        y = emit.spread(lines, line, (d, o), column.index)
                        square.add_square(*emit.two_sum(x, emit.opposite(y)))
                weight = emit.load(weights, (block, STRANDS), own)
                for total, square in zip(sums, squares, strict=True):
                    root, rest = _root(emit, *square.parts())
                    product = emit.times(weight, root)
                    lost = emit.fused(weight, root, emit.opposite(product))
                    total.add(product, emit.fused(weight, rest, lost))
            for o, total in enumerate(sums):
                for value, memory in zip(total.parts(), (highs, lows), strict=True):
                    emit.store(value, memory, o * STRANDS, own)
        return emit.none()

    place = types.intp
    return types.none(packed, place, place, place, lines, place, weights, highs, lows), generate


@generated
def fine_square(
    typingctx: Any, values: Any, first: Any, centres: Any, centre: Any, rests: Any, groups: Any
) -> Any:
    """The sum of (x - c - r)^2 over groups of ``STRANDS`` columns, as two doubles.

    x begins at a place of ``values``, c and r at one place of ``centres`` and ``rests``.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        values, centres, rests = emit.memories(0, 2, 4)
        first, centre, groups = emit.values(1, 3, 5)
        sums = [_Twofold(emit) for _ in range(PARTS)]
        with emit.loop(groups) as group:
            for part, total in enumerate(sums):
                column = emit.index((group.index, STRANDS), part * DOUBLES)
                x = emit.load(values, first, column)
                x = x if x.type == VECTOR else builder.fpext(x, VECTOR)
                gap, rest = emit.two_sum(x, emit.opposite(emit.load(centres, centre, column)))
                gap, lost = emit.two_sum(gap, emit.opposite(emit.load(rests, centre, column)))
                total.add_square(gap, emit.plus(rest, lost))
        both = _folded(emit, [total.parts() for total in sums])
        return context.make_tuple(builder, signature.return_type, both)

    place = types.intp
    kinds: Any = types
    pair = kinds.UniTuple(types.float64, 2)
    return pair(values, place, centres, place, rests, place), generate


def _folded(emit: Emit, sums: list[tuple[Any, Any]]) -> list[Any]:
    """The sum of all strands: the first half and the second are added, until one is left."""
    build, lanes = emit.builder, DOUBLES
    while len(sums) > 1 or lanes > 1:
        if len(sums) > 1:
            half = len(sums) // 2
            pairs = list(zip(sums[:half], sums[half:], strict=True))
        else:
            lanes //= 2
            pairs = [tuple(_half(build, sums[0], lanes, side) for side in range(2))]  # type: ignore[list-item]
        sums = []
        for (high, low), (other, rest) in pairs:
            total, lost = emit.two_sum(high, other)
            sums.append((total, build.fadd(build.fadd(low, rest), lost)))
    return [build.extract_element(part, ir.Constant(INT, 0)) for part in sums[0]]


def _half(build: Any, parts: tuple[Any, Any], lanes: int, side: int) -> tuple[Any, ...]:
    """The first or the second half of the lanes."""
    mask = ir.Constant(ir.VectorType(INT, lanes), [side * lanes + i for i in range(lanes)])
    return tuple(build.shuffle_vector(part, part, mask) for part in parts)
