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

from refclust_numba.dense.reading import load_doubles
from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import generated
from refclust_numba.lowlevel.elementary import PARTS, STRANDS, Emit
from refclust_numba.lowlevel.memory import DOUBLE, INT, LONG, splat, tools

_LONGS: Final = ir.VectorType(LONG, DOUBLES)
_PAIR: Final = ir.VectorType(DOUBLE, 2)
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
                        y = emit.broadcast(lines, line, (d, o), column.index)
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
def fine_strands(
    typingctx: Any, values: Any, first: Any, stride: Any, d: Any, labels: Any, row: Any,
    centres: Any, rests: Any, strands: Any, begin: Any, end: Any,
) -> Any:  # fmt: skip
    """Write |x - c - r|^2 of some rows as two vectors each, whose lanes are to be added up.

    x of the first row begins at a place of ``values``, that of the next ``stride`` numbers later;
    their clusters are those of the rows from ``row`` on. Lines of ``centres`` and ``rests`` have
    so many columns that whole strands fit. Results stand at the places ``begin`` to ``end``.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        labels, strands = emit.memories(4, 8)
        first, stride, d, row, begin, end = emit.values(1, 2, 3, 5, 9, 10)
        gaps = _Gaps(emit)
        with emit.loop(builder.sub(end, begin)) as loop:
            label = builder.sext(emit.scalar(labels, row, loop.index), LONG)
            both = gaps.squared(emit.index(first, (loop.index, stride)), label, d)
            place = emit.index((emit.index(begin, loop.index), 2 * DOUBLES))
            for part, vector in enumerate(both):
                emit.store(vector, strands, place, part * DOUBLES)
        return emit.none()

    at = types.intp
    arguments = values, at, at, at, labels, at, centres, rests, strands, at, at
    return types.none(*arguments), generate


@generated
def fine_roots(typingctx: Any, strands: Any, groups: Any, lengths: Any) -> Any:
    """Add the lanes up and write of each row the root and the square, then what these leave.

    A group is ``DOUBLES`` rows; ``lengths`` has four numbers for each.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        strands, lengths = emit.memories(0, 2)
        (groups,) = emit.values(1)
        with emit.loop(groups) as group:
            place = emit.index((group.index, 2 * DOUBLES * DOUBLES))
            vectors = [emit.load(strands, place, i * DOUBLES) for i in range(2 * DOUBLES)]
            sums = list(zip(vectors[::2], vectors[1::2], strict=True))
            high, low = emit.two_sum(*_turned(emit, sums))
            root, rest = _root(emit, high, low)
            pairs = _alternating(builder, root, high), _alternating(builder, rest, low)
            mask = ir.Constant(
                ir.VectorType(INT, 4 * DOUBLES),
                [
                    2 * i + part
                    for i in range(DOUBLES)
                    for part in (0, 1, 2 * DOUBLES, 2 * DOUBLES + 1)
                ],
            )
            whole = builder.shuffle_vector(*pairs, mask)
            emit.store(whole, lengths, (group.index, 4 * DOUBLES))
        return emit.none()

    return types.none(strands, types.intp, lengths), generate


def _alternating(build: Any, a: Any, b: Any) -> Any:
    """The lanes of two vectors, one of each in turn."""
    places = [side * DOUBLES + i for i in range(DOUBLES) for side in range(2)]
    return build.shuffle_vector(a, b, ir.Constant(ir.VectorType(INT, 2 * DOUBLES), places))


@generated
def add_rows(
    typingctx: Any, lengths: Any, count: Any, labels: Any, row: Any, weights: Any, weighted: Any,
    totals: Any,
) -> Any:  # fmt: skip
    """Add roots and squares of some rows to those of their clusters, two high and two low parts.

    Clusters and weights are those of the rows from ``row`` on.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        lengths, labels, weights, totals = emit.memories(0, 2, 4, 6)
        count, row, weighted = emit.values(1, 3, 5)
        parts = [tools.alloca_once(builder, _PAIR) for _ in range(2)]
        with emit.loop(count) as loop:
            for part, place in enumerate(parts):
                pair = emit.load(lengths, (loop.index, 4), 2 * part, lanes=2)
                builder.store(pair, place)
            with builder.if_then(weighted):
                both = _weighed(emit, parts, emit.scalar(weights, row, loop.index))
                for value, place in zip(both, parts, strict=True):
                    builder.store(value, place)
            value, rest = (builder.load(place) for place in parts)
            label = builder.sext(emit.scalar(labels, row, loop.index), LONG)
            total, lost = emit.two_sum(emit.load(totals, (label, 4), lanes=2), value)
            emit.store(total, totals, (label, 4))
            low = emit.load(totals, (label, 4), 2, lanes=2)
            emit.store(emit.plus(low, emit.plus(lost, rest)), totals, (label, 4), 2)
        return emit.none()

    at = types.intp
    arguments = lengths, at, labels, at, weights, types.boolean, totals
    return types.none(*arguments), generate


def _weighed(emit: Emit, parts: list[Any], weight: Any) -> tuple[Any, Any]:
    """A pair of numbers of two parts each, times a weight."""
    build = emit.builder
    value, rest, factor = *(build.load(place) for place in parts), splat(build, weight, 2)
    kind = ir.FunctionType(_PAIR, [_PAIR] * 3)
    fused = tools.get_or_insert_function(build.module, kind, "llvm.fma.v2f64")
    product = build.fmul(factor, value)
    lost = build.call(fused, (factor, value, build.fneg(product)))
    return product, build.call(fused, (factor, rest, lost))


class _Gaps:
    """Squares of differences of a row from a centre and its rest, strand by strand."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._values, self._centres, self._rests = emit.memories(0, 6, 7)

    def squared(self, place: Any, label: Any, d: Any) -> tuple[Any, Any]:
        """The sum over columns, as two vectors of ``DOUBLES`` strands: those after are added."""
        emit, build = self._emit, self._emit.builder
        groups = build.sdiv(d, emit.number(STRANDS))
        left = build.srem(d, emit.number(STRANDS))
        some = build.icmp_signed("!=", left, emit.number(0))
        width = emit.index(groups, build.zext(some, LONG))
        centre = emit.index((label, emit.index((width, STRANDS))))
        sums = [_Twofold(emit) for _ in range(PARTS)]
        with emit.loop(groups) as group:
            self._add(sums, place, centre, emit.index((group.index, STRANDS)), None)
        with build.if_then(some):
            self._add(sums, place, centre, emit.index((groups, STRANDS)), left)
        parts = [total.parts() for total in sums]
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [_plus(emit, *pair) for pair in zip(parts[:half], parts[half:], strict=True)]
        return parts[0]

    def _add(self, sums: list[_Twofold], place: Any, centre: Any, column: Any, left: Any) -> None:
        """Add a group of columns, of which only so many may be left."""
        emit, build = self._emit, self._emit.builder
        for part, total in enumerate(sums):
            at = emit.index(column, part * DOUBLES)
            x = load_doubles(emit, self._values, place, at)
            gap, rest = emit.two_sum(x, emit.opposite(emit.load(self._centres, centre, at)))
            # The rest of a centre is never above the difference, unless that is 0.
            gap, lost = _quick_two_sum(emit, gap, emit.opposite(emit.load(self._rests, centre, at)))
            rest = emit.plus(rest, lost)
            if left is not None:
                lanes = ir.Constant(_LONGS, [part * DOUBLES + i for i in range(DOUBLES)])
                inside = build.icmp_signed("<", lanes, splat(build, left, DOUBLES))
                gap, rest = (build.select(inside, x, emit.all(0.0)) for x in (gap, rest))
            total.add_square(gap, rest)


def _quick_two_sum(emit: Emit, a: Any, b: Any) -> tuple[Any, Any]:
    """a + b and the exact rest, where a is not below b or is 0."""
    total = emit.plus(a, b)
    return total, emit.minus(b, emit.minus(total, a))


def _plus(emit: Emit, one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    """The sum of two sums of two vectors."""
    total, lost = emit.two_sum(one[0], other[0])
    return total, emit.plus(emit.plus(one[1], other[1]), lost)


def _turned(emit: Emit, sums: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """The sums over the lanes of as many vectors as there are lanes: that of vector i in lane i.

    Of two vectors, each made of blocks of lanes, the first halves of all blocks are added to the
    second halves; so there are half as many vectors of twice as many blocks, until one is left.
    """
    size = DOUBLES
    while size > 1:
        half = size // 2
        lanes = [
            [start + i for start in range(side * half, 2 * DOUBLES, size) for i in range(half)]
            for side in range(2)
        ]
        masks = [ir.Constant(ir.VectorType(INT, DOUBLES), places) for places in lanes]
        shuffle = emit.builder.shuffle_vector
        sums = [
            _plus(emit, *[(shuffle(a, b, mask), shuffle(u, v, mask)) for mask in masks])
            for (a, u), (b, v) in zip(sums[::2], sums[1::2], strict=True)
        ]
        size = half
    return sums[0]
