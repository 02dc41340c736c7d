"""Normal densities of any covariance: lengths of whitened rows, and sums of outer products.

Both are written as generated code that keeps a small square of sums in registers, as fast matrix
products do: products of a triangle take half the operations of those of a square.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

from numba import types

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import compiled, generated, inlined
from refclust_numba.lowlevel.elementary import Emit
from refclust_numba.mixtures.gaussian.blocks import keep_joint
from refclust_numba.mixtures.responsibilities import BLOCK, VECTORS

OUT: Final = 4  # components of W (x - m) at a time
_SIDE: Final = 4 if DOUBLES == 8 else 2  # vectors of rows at a time
SIDE: Final = _SIDE * DOUBLES
TILE: Final = 4 if DOUBLES == 8 else 3  # rows and columns of the second moments at a time


@inlined
def width(d):  # type: ignore[no-untyped-def]
    """So many columns that whole vectors and whole tiles fit."""
    return max(-(-d // DOUBLES) * DOUBLES, -(-d // TILE) * TILE)


def packed_size(d: int) -> int:
    """How many numbers a packed triangle takes."""
    tiles = -(-d // OUT)
    return OUT * OUT * tiles * (tiles + 1) // 2


def moment_vectors(d: int) -> int:
    """How many sums the first and second moments take, tile by tile."""
    tiles = -(-d // TILE)
    return tiles * TILE + TILE * TILE * tiles * (tiles + 1) // 2


def moment_place(d: int, i: Any, j: Any) -> Any:
    """Where the second moments of columns i >= j are among the sums."""
    tiles, row = -(-d // TILE), i // TILE
    before = TILE * TILE * (row * (row + 1) // 2 + j // TILE)
    return tiles * TILE + before + (i % TILE) * TILE + j % TILE


@compiled
def pack(whitening, k, d, packed, size):  # type: ignore[no-untyped-def]
    """Write the lower triangles in the order in which ``whitened`` reads them."""
    for c in range(k):
        at = c * size
        for first in range(0, d, OUT):
            for j in range(first + OUT):
                for i in range(first, first + OUT):
                    inside = i < d and j <= i
                    packed[at] = whitening[(c * d + i) * d + j] if inside else 0.0
                    at += 1


@generated
def whitened(
    typingctx: Any, block: Any, mean: Any, packed: Any, d: Any, offset: Any, gaps: Any, joint: Any
) -> Any:
    """Write offset - |W (x - m)|^2 / 2 of a block of rows; -inf if that overflows.

    ``gaps`` is room for the differences of a few vectors of rows, zero after column d.
    """

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        emit = Emit(context, builder)
        block, mean, packed, gaps, joint = (emit.pointer(args[i]) for i in (0, 1, 2, 5, 6))
        d, offset = args[3], emit.splat(args[4])
        tiles = builder.udiv(emit.index(d, OUT - 1), emit.number(OUT))

        def column(j: Any) -> list[Any]:
            return [emit.load(gaps, (j, SIDE), v * DOUBLES) for v in range(_SIDE)]

        with emit.loop(VECTORS // _SIDE) as group:
            row = (group.index, SIDE)
            with emit.loop(d) as each:
                m = emit.spread(mean, each.index)
                for v in range(_SIDE):
                    x = emit.load(block, (each.index, BLOCK), row, v * DOUBLES)
                    emit.store(emit.minus(x, m), gaps, (each.index, SIDE), v * DOUBLES)
            squares = [emit.variable() for _ in range(_SIDE)]
            with emit.loop(tiles) as tile:
                sums = [[emit.variable() for _ in range(_SIDE)] for _ in range(OUT)]
                before = emit.index((tile.index, OUT))
                # Tiles of 1, 2, 3, ... squares come before this one.
                numbers = builder.mul(tile.index, emit.index(tile.index, 1))
                start = builder.gep(packed, [emit.index((numbers, OUT * OUT // 2))])
                with emit.loop(before) as inner:
                    x = column(inner.index)
                    for i in range(OUT):
                        factor = emit.spread(start, (inner.index, OUT), i)
                        for v in range(_SIDE):
                            emit.add_product(factor, x[v], sums[i][v])
                for j in range(OUT):
                    x = column(emit.index(before, j))
                    for i in range(j, OUT):
                        factor = emit.spread(start, (before, OUT), j * OUT + i)
                        for v in range(_SIDE):
                            emit.add_product(factor, x[v], sums[i][v])
                for v in range(_SIDE):
                    for i in range(OUT):
                        y = builder.load(sums[i][v])
                        emit.add_product(y, y, squares[v])
            keep_joint(emit, offset, squares, joint, row)
        return context.get_dummy_value()

    kinds = [*[types.intp] * 4, types.float64, types.intp, types.intp]
    return types.none(*kinds), generate


@generated
def outer(
    typingctx: Any, block: Any, point: Any, masses: Any, gaps: Any, weighed: Any, lanes: Any,
    tiles: Any, vectors: Any,
) -> Any:  # fmt: skip
    """Add mass times (x - a) and mass times (x - a)(x - a)' of a block of rows, lane by lane.

    ``gaps`` is room for all differences, ``weighed`` for one tile of columns times their masses.
    The block and the point have whole tiles of columns; sums of those too many mean nothing.
    """

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        emit = Emit(context, builder)
        block, point, masses, gaps, weighed, lanes = (emit.pointer(args[i]) for i in range(6))
        tiles, vectors = args[6], args[7]
        seconds = builder.gep(lanes, [emit.index((tiles, TILE * DOUBLES))])

        square = TILE * TILE * DOUBLES

        def sums_at(start: Any, pairs: list[tuple[int, int]]) -> dict[tuple[int, int], Any]:
            return {
                (i, j): emit.variable(emit.load(start, (i * TILE + j) * DOUBLES)) for i, j in pairs
            }

        def keep(sums: dict[tuple[int, int], Any], start: Any) -> None:
            for (i, j), total in sums.items():
                emit.store(builder.load(total), start, (i * TILE + j) * DOUBLES)

        with emit.loop(tiles) as tile:
            # Rows of 1, 2, 3, ... tiles come before this one.
            numbers = builder.mul(tile.index, emit.index(tile.index, 1))
            row_of_tiles = builder.gep(seconds, [emit.index((numbers, square // 2))])
            own = [emit.index((tile.index, TILE), i) for i in range(TILE)]
            firsts = [emit.variable(emit.load(lanes, (i, DOUBLES))) for i in own]
            middles = [emit.spread(point, i) for i in own]
            # The tile on the diagonal, half of it, while the differences are made.
            start = builder.gep(row_of_tiles, [emit.index((tile.index, square))])
            sums = sums_at(start, [(i, j) for i in range(TILE) for j in range(i + 1)])
            with emit.loop(vectors) as vector:
                row = (vector.index, DOUBLES)
                mass, gap = emit.load(masses, row), []
                for i in range(TILE):
                    place = ((own[i], BLOCK), row)
                    gap.append(emit.minus(emit.load(block, *place), middles[i]))
                    product = emit.times(mass, gap[i])
                    emit.add(product, firsts[i])
                    for j in range(i + 1):
                        emit.add_product(product, gap[j], sums[i, j])
                    emit.store(gap[i], gaps, *place)
                    emit.store(product, weighed, i * BLOCK, row)
            keep(sums, start)
            for i, total in zip(own, firsts, strict=True):
                emit.store(builder.load(total), lanes, (i, DOUBLES))
            with emit.loop(tile.index) as other:
                start = builder.gep(row_of_tiles, [emit.index((other.index, square))])
                sums = sums_at(start, [(i, j) for i in range(TILE) for j in range(TILE)])
                theirs = [emit.index((other.index, TILE), j) for j in range(TILE)]
                with emit.loop(vectors) as vector:
                    row = (vector.index, DOUBLES)
                    left = [emit.load(weighed, i * BLOCK, row) for i in range(TILE)]
                    right = [emit.load(gaps, (j, BLOCK), row) for j in theirs]
                    for i, j in sums:
                        emit.add_product(left[i], right[j], sums[i, j])
                keep(sums, start)
        return context.get_dummy_value()

    return types.none(*[types.intp] * 8), generate
