"""Vector code for pairs: one row, or four at once, against rows that stand in the lanes.

Strand s of a sum takes the rows whose place leaves the rest s, in order, whatever vectors hold: so
the bits do not depend on the lanes. Squares are of differences, added column by column.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import generated
from refclust_numba.lowlevel.elementary import INFINITY, PARTS, STRANDS, Emit
from refclust_numba.lowlevel.memory import INT

ORIGINS: Final = 4  # rows that are measured from at a time
PANEL: Final = 16  # blocks that are measured from others together
TEAM: Final = 4  # panels that one thread measures from others
LENGTHS: Final = 4096  # rows whose distances to centres are added up by one thread
CHAIN: Final = 1024  # terms that a fine sum takes before it is brought into order


class _Squares:
    """The squared distances from ``ORIGINS`` lines to the rows of block after block."""

    def __init__(self, emit: Emit) -> None:
        self.emit = emit
        self._packed, self._lines = emit.memories(0, 4)
        self.first, self._blocks, self._d, self._line = emit.values(1, 2, 3, 5)

    @contextmanager
    def each(self, part: Any) -> Iterator[tuple[Any, list[Any]]]:
        """Write a loop over blocks; gives the block and the squares of its part of the strands."""
        emit = self.emit
        strand = emit.index((part, DOUBLES))
        with emit.loop(self._blocks) as loop:
            block = emit.index(self.first, loop.index)
            begin = emit.index((emit.index((block, self._d)), STRANDS), strand)
            squares = [emit.variable() for _ in range(ORIGINS)]
            with emit.loop(self._d) as column:
                x = emit.load(self._packed, begin, (column.index, STRANDS))
                for o, square in enumerate(squares):
                    line = emit.index(self._line, (self._d, o), column.index)
                    gap = emit.minus(x, emit.broadcast(self._lines, line))
                    emit.add_product(gap, gap, square)
            yield block, [emit.builder.load(square) for square in squares]


@generated
def add_distances(
    typingctx: Any, packed: Any, first: Any, blocks: Any, d: Any, lines: Any, line: Any,
    weights: Any, strands: Any,
) -> Any:  # fmt: skip
    """Write the sums of w |x - y| over some blocks of rows y, strand by strand, for four rows x.

    Blocks are counted from ``first``; the four rows stand in ``lines`` from a place on.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        squares = _Squares(emit)
        weights, strands = emit.memories(6, 7)
        with emit.loop(PARTS) as part:
            own = (part.index, DOUBLES)
            sums = [emit.variable() for _ in range(ORIGINS)]
            with squares.each(part.index) as (block, origin_squares):
                weight = emit.load(weights, (block, STRANDS), own)
                for total, square in zip(sums, origin_squares, strict=True):
                    emit.add_product(weight, emit.sqrt(square), total)
            for o, total in enumerate(sums):
                emit.store(builder.load(total), strands, o * STRANDS, own)
        return emit.none()

    place = types.intp
    return types.none(packed, place, place, place, lines, place, weights, strands), generate


@generated
def add_both(
    typingctx: Any, packed: Any, first: Any, blocks: Any, d: Any, lines: Any, line: Any,
    weights: Any, strands: Any, origin: Any, sums: Any, place: Any,
) -> Any:  # fmt: skip
    """The same, and add w |x - y| over the four rows x to a sum for each row y.

    ``origin`` is the place of the weights of the four rows; sums of the first block begin at a
    place of ``sums``.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        squares = _Squares(emit)
        weights, strands, sums = emit.memories(6, 7, 9)
        origin, place = emit.values(8, 10)
        own_weights = [emit.broadcast(weights, origin, o) for o in range(ORIGINS)]
        with emit.loop(PARTS) as part:
            own = (part.index, DOUBLES)
            totals = [emit.variable() for _ in range(ORIGINS)]
            with squares.each(part.index) as (block, origin_squares):
                weight = emit.load(weights, (block, STRANDS), own)
                roots = [emit.sqrt(square) for square in origin_squares]
                for total, root in zip(totals, roots, strict=True):
                    emit.add_product(weight, root, total)
                halves = [
                    emit.fused(
                        own_weights[o], roots[o], emit.times(own_weights[o + 1], roots[o + 1])
                    )
                    for o in range(0, ORIGINS, 2)
                ]
                at = (place, (builder.sub(block, squares.first), STRANDS), own)
                sum_of_all = _in_pairs(emit.plus, halves)
                emit.store(emit.plus(emit.load(sums, *at), sum_of_all), sums, *at)
            for o, total in enumerate(totals):
                emit.store(builder.load(total), strands, o * STRANDS, own)
        return emit.none()

    at = types.intp
    return types.none(packed, at, at, at, lines, at, weights, strands, at, sums, at), generate


@generated
def spans(
    typingctx: Any, packed: Any, first: Any, blocks: Any, d: Any, lines: Any, line: Any,
    lows: Any, highs: Any, place: Any,
) -> Any:  # fmt: skip
    """Lower and raise bounds of squared distances from four lines to the rows of some blocks.

    The bounds of a line stand at ``place`` and the three places after it.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        squares = _Squares(emit)
        lows, highs = emit.memories(6, 7)
        (place,) = emit.values(8)
        least = [emit.variable(emit.all(INFINITY)) for _ in range(ORIGINS)]
        most = [emit.variable(emit.all(-INFINITY)) for _ in range(ORIGINS)]
        with emit.loop(PARTS) as part, squares.each(part.index) as (_, origin_squares):
            for o, square in enumerate(origin_squares):
                low, high = builder.load(least[o]), builder.load(most[o])
                builder.store(emit.where("<", square, low, square, low), least[o])
                builder.store(emit.where(">", square, high, square, high), most[o])
        for o in range(ORIGINS):
            for memory, sign, ends in ((lows, "<", least[o]), (highs, ">", most[o])):
                extreme = emit.scalar(memory, place, o)
                vector = builder.load(ends)
                for lane in range(DOUBLES):
                    end = builder.extract_element(vector, ir.Constant(INT, lane))
                    beyond = builder.fcmp_ordered(sign, end, extreme)
                    extreme = builder.select(beyond, end, extreme)
                emit.store(extreme, memory, place, o)
        return emit.none()

    at = types.intp
    return types.none(packed, at, at, at, lines, at, lows, highs, at), generate


def _in_pairs(join: Callable[[Any, Any], Any], numbers: list[Any]) -> Any:
    """Neighbours joined, then those that this gives, and so on."""
    while len(numbers) > 1:
        numbers = [join(a, b) for a, b in zip(numbers[::2], numbers[1::2], strict=True)]
    return numbers[0]
