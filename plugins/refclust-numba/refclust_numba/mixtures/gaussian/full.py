"""Normal densities of any covariance: lengths of whitened rows, and sums of outer products.

Both are written as generated code that keeps a small square of sums in registers, as fast matrix
products do: products of a triangle take half the operations of those of a square.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

from numba import types

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import compiled, generated
from refclust_numba.lowlevel.elementary import PARTS, STRANDS, Emit
from refclust_numba.mixtures.gaussian.blocks import keep_joint
from refclust_numba.mixtures.responsibilities import TURNS, VECTORS
from refclust_numba.mixtures.sizes import BLOCK

OUT: Final = 4  # components of W (x - m) at a time
_SIDE: Final = 4 if DOUBLES == 8 else 2  # vectors of rows at a time
SIDE: Final = _SIDE * DOUBLES
TILE: Final = 4 if DOUBLES == 8 else 3  # rows and columns of the second moments at a time
_SQUARE: Final = TILE * TILE * STRANDS  # numbers of a tile of sums


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
    typingctx: Any, work: Any, block: Any, means: Any, mean: Any, whitening: Any, packed: Any,
    d: Any, offset: Any, gaps: Any, joint: Any,
) -> Any:  # fmt: skip
    """Write offset - |W (x - m)|^2 / 2 of a block of rows; -inf if that overflows.

    The block and what is written are in ``work``; m and W begin at places of their arrays.
    ``gaps`` is room for the differences of a few vectors of rows, zero after column d.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        work, means, whitening = emit.memories(0, 2, 4)
        block, mean, packed, d, offset, gaps, joint = emit.values(1, 3, 5, 6, 7, 8, 9)
        offset = emit.splat(offset)
        tiles = builder.udiv(emit.index(d, OUT - 1), emit.number(OUT))

        def add_column(j: Any, start: Any, outs: range, sums: list[list[Any]]) -> None:
            """Add the products of some lines of W with one column of differences."""
            x = [emit.load(work, gaps, (j, SIDE), v * DOUBLES) for v in range(_SIDE)]
            for i in outs:
                factor = emit.broadcast(whitening, start, (j, OUT), i)
                for v in range(_SIDE):
                    emit.add_product(factor, x[v], sums[i][v])

        with emit.loop(VECTORS // _SIDE) as group:
            row = (group.index, SIDE)
            with emit.loop(d) as each:
                m = emit.broadcast(means, mean, each.index)
                for v in range(_SIDE):
                    x = emit.load(work, block, (each.index, BLOCK), row, v * DOUBLES)
                    emit.store(emit.minus(x, m), work, gaps, (each.index, SIDE), v * DOUBLES)
            squares = [emit.variable() for _ in range(_SIDE)]
            with emit.loop(tiles) as tile:
                sums = [[emit.variable() for _ in range(_SIDE)] for _ in range(OUT)]
                before = emit.index((tile.index, OUT))
                # Tiles of 1, 2, 3, ... squares come before this one.
                numbers = builder.mul(tile.index, emit.index(tile.index, 1))
                start = emit.index(packed, (numbers, OUT * OUT // 2))
                with emit.loop(before) as inner:
                    add_column(inner.index, start, range(OUT), sums)
                for j in range(OUT):
                    add_column(emit.index(before, j), start, range(j, OUT), sums)
                for v in range(_SIDE):
                    for i in range(OUT):
                        y = builder.load(sums[i][v])
                        emit.add_product(y, y, squares[v])
            keep_joint(emit, offset, squares, work, emit.index(joint, row))
        return emit.none()

    place = types.intp
    kinds = [work, place, means, place, whitening, place, place, types.float64, place, place]
    return types.none(*kinds), generate


class _Tiles:
    """Tiles of sums of products of columns, for the strands that one vector holds."""

    def __init__(self, emit: Emit, lanes: Any) -> None:
        self._emit, self._lanes = emit, lanes
        self._work, self._points = emit.memories(0, 2)
        self._block, self._point, self._masses = emit.values(1, 3, 4)
        self._gaps, self._weighed, self._firsts = emit.values(5, 6, 7)

    def row(self, turn: Any) -> Any:
        """Where the rows of a turn are in a column."""
        return self._emit.index((turn, STRANDS), self._lanes)

    def load(self, start: Any, pairs: list[tuple[int, int]]) -> dict[tuple[int, int], Any]:
        """Some sums of a tile."""
        emit = self._emit
        return {
            (i, j): emit.variable(
                emit.load(self._work, start, (i * TILE + j) * STRANDS, self._lanes)
            )
            for i, j in pairs
        }

    def keep(self, sums: dict[tuple[int, int], Any], start: Any) -> None:
        """Put sums back to where they were loaded from."""
        for (i, j), total in sums.items():
            place = (start, (i * TILE + j) * STRANDS, self._lanes)
            self._emit.store(self._emit.builder.load(total), self._work, *place)

    def on_diagonal(self, tile: Any, start: Any) -> None:
        """Add half a tile, and the first moments, while the differences are made."""
        emit, work = self._emit, self._work
        own = [emit.index((tile, TILE), i) for i in range(TILE)]
        places = [emit.index(self._firsts, (i, STRANDS), self._lanes) for i in own]
        firsts = [emit.variable(emit.load(work, place)) for place in places]
        middles = [emit.broadcast(self._points, self._point, i) for i in own]
        sums = self.load(start, [(i, j) for i in range(TILE) for j in range(i + 1)])
        with emit.loop(TURNS) as turn:
            row = self.row(turn.index)
            mass, gap = emit.load(work, self._masses, row), []
            for i in range(TILE):
                x = emit.load(work, self._block, (own[i], BLOCK), row)
                gap.append(emit.minus(x, middles[i]))
                product = emit.times(mass, gap[i])
                emit.add(product, firsts[i])
                for j in range(i + 1):
                    emit.add_product(product, gap[j], sums[i, j])
                emit.store(gap[i], work, self._gaps, (own[i], BLOCK), row)
                emit.store(product, work, self._weighed, i * BLOCK, row)
        self.keep(sums, start)
        for place, total in zip(places, firsts, strict=True):
            emit.store(emit.builder.load(total), work, place)

    def beside(self, other: Any, start: Any) -> None:
        """Add the products of the columns weighed last with an earlier tile of columns."""
        emit, work = self._emit, self._work
        sums = self.load(start, [(i, j) for i in range(TILE) for j in range(TILE)])
        theirs = [emit.index((other, TILE), j) for j in range(TILE)]
        with emit.loop(TURNS) as turn:
            row = self.row(turn.index)
            left = [emit.load(work, self._weighed, i * BLOCK, row) for i in range(TILE)]
            right = [emit.load(work, self._gaps, (j, BLOCK), row) for j in theirs]
            for i, j in sums:
                emit.add_product(left[i], right[j], sums[i, j])
        self.keep(sums, start)


@generated
def outer(
    typingctx: Any, work: Any, block: Any, points: Any, point: Any, masses: Any, gaps: Any,
    weighed: Any, strands: Any, tiles: Any,
) -> Any:  # fmt: skip
    """Add mass times (x - a) and mass times (x - a)(x - a)' of a block of rows, strand by strand.

    ``gaps`` is room for all differences, ``weighed`` for one tile of columns times their masses.
    The block and the point have whole tiles of columns; sums of those too many mean nothing.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        strands, tiles = emit.values(7, 8)
        seconds = emit.index(strands, (tiles, TILE * STRANDS))
        with emit.loop(PARTS) as part:
            sums = _Tiles(emit, (part.index, DOUBLES))
            with emit.loop(tiles) as tile:
                # Rows of 1, 2, 3, ... tiles come before this one.
                numbers = builder.mul(tile.index, emit.index(tile.index, 1))
                line = emit.index(seconds, (numbers, _SQUARE // 2))
                sums.on_diagonal(tile.index, emit.index(line, (tile.index, _SQUARE)))
                with emit.loop(tile.index) as other:
                    sums.beside(other.index, emit.index(line, (other.index, _SQUARE)))
        return emit.none()

    place = types.intp
    return types.none(work, place, points, *[place] * 6), generate
