"""Sums of outer products of many columns: rows one after another, columns in the lanes.

With few columns rows stand in the lanes (``full.outer``), where no lane is wasted on the other half
of a symmetric matrix. With many columns the sums would not stay near; here they take an eighth of
the room, and rows of no mass cost nothing. Every sum is taken in the order of rows.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import compiled, generated
from refclust_numba.lowlevel.elementary import STRANDS, Emit
from refclust_numba.lowlevel.memory import Memory
from refclust_numba.mixtures.gaussian.blocks import doubles_at
from refclust_numba.mixtures.sizes import BLOCK

MANY: Final = 24  # columns
_UNROLLED: Final = 4  # rows


def row_slots(d: int) -> int:
    """How many numbers the mass takes, strand by strand, and all moments."""
    vectors = -(-d // DOUBLES)
    return STRANDS + DOUBLES * vectors + DOUBLES * DOUBLES * vectors * (vectors + 1) // 2


def row_place(d: int, i: Any, j: Any) -> Any:
    """Where the second moments of columns i >= j are behind the mass."""
    vectors, row = -(-d // DOUBLES), i // DOUBLES
    before = DOUBLES * DOUBLES * row * (row + 1) // 2 + (i % DOUBLES) * DOUBLES * (row + 1)
    return DOUBLES * vectors + before + j


@generated
def _weigh(
    typingctx: Any, values: Any, first: Any, picked: Any, picks: Any, work: Any, roots: Any,
    groups: Any, points: Any, point: Any, vectors: Any, weighed: Any, sums: Any, firsts: Any,
) -> Any:  # fmt: skip
    """Write sqrt(mass) times (x - a) of some rows, and add up their first moments.

    ``picked`` tells from place ``picks`` on where rows begin behind ``first``. Rows are read in
    whole vectors.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        values, picked, work, points, target = emit.memories(0, 2, 4, 7, 11)
        first, picks, roots, groups = emit.values(1, 3, 5, 6)
        point, vectors, weighed, firsts = emit.values(8, 9, 10, 12)
        with emit.loop(vectors) as vector:
            own = (vector.index, DOUBLES)
            middle = emit.load(points, point, own)
            sums = [emit.variable() for _ in range(_UNROLLED)]
            with emit.loop(groups) as group:
                for u in range(_UNROLLED):
                    r = emit.index((group.index, _UNROLLED), u)
                    start = emit.scalar(picked, picks, r)
                    x = doubles_at(emit, values, first, start, own)
                    root = emit.broadcast(work, roots, r)
                    value = emit.times(emit.minus(x, middle), root)
                    emit.add_product(value, root, sums[u])
                    line = (builder.mul(r, vectors), DOUBLES)
                    emit.store(value, work, weighed, line, own)
            total = emit.load(target, firsts, own)
            for part in sums:
                total = emit.plus(total, builder.load(part))
            emit.store(total, target, firsts, own)
        return emit.none()

    place = types.intp
    kinds = [values, place, picked, place, work, place, place, points, place, place, place]
    return types.none(*kinds, sums, place), generate


class _Products:
    """The products of ``DOUBLES`` columns of some rows with the columns up to them."""

    def __init__(self, emit: Emit, work: Memory, target: Memory) -> None:
        self._emit, self._work, self._target = emit, work, target
        self._weighed, self._count, vectors = emit.values(1, 2, 3)
        self._stride = emit.index((vectors, DOUBLES))

    def add(self, own: Any, start: Any, apart: Any, first: Any, width: int) -> None:
        """Add the products with some vectors of columns to sums so many numbers apart."""
        emit, work = self._emit, self._work
        places = [
            emit.index(start, (apart, i), (first, DOUBLES), v * DOUBLES)
            for i in range(DOUBLES)
            for v in range(width)
        ]
        sums = [emit.variable(emit.load(self._target, place)) for place in places]
        with emit.loop(self._count) as row:
            at = emit.index(self._weighed, (row.index, self._stride))
            right = [emit.load(work, at, (first, DOUBLES), v * DOUBLES) for v in range(width)]
            for i in range(DOUBLES):
                left = emit.broadcast(work, at, (own, DOUBLES), i)
                for v in range(width):
                    emit.add_product(left, right[v], sums[i * width + v])
        for place, total in zip(places, sums, strict=True):
            emit.store(emit.builder.load(total), self._target, place)


@generated
def _outer_rows(
    typingctx: Any, work: Any, weighed: Any, count: Any, vectors: Any, sums: Any, seconds: Any
) -> Any:
    """Add the outer products of some rows with themselves, the lower half of them."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        products = _Products(emit, *emit.memories(0, 4))
        vectors, seconds = emit.values(3, 5)
        with emit.loop(vectors) as tile:
            # Rows of 1, 2, 3, ... squares come before this one.
            numbers = builder.mul(tile.index, emit.index(tile.index, 1))
            start = emit.index(seconds, (numbers, DOUBLES * DOUBLES // 2))
            many = emit.index(tile.index, 1)
            apart = emit.index((many, DOUBLES))
            with emit.loop(builder.udiv(many, emit.number(2))) as pair:
                products.add(tile.index, start, apart, emit.index((pair.index, 2)), 2)
            odd = builder.and_(many, emit.number(1))
            with builder.if_then(builder.icmp_unsigned("!=", odd, emit.number(0))):
                products.add(tile.index, start, apart, tile.index, 1)
        return emit.none()

    return types.none(work, types.intp, types.intp, types.intp, sums, types.intp), generate


@compiled
def add_rows(  # type: ignore[no-untyped-def]
    values, first, d, near, work, places, masses, points, point, sums, into
):
    """Add the moments of the rows of a block that have a mass; the block begins at ``first``.

    ``near`` rows are weighed at a time; ``into`` is a place of ``sums``. Products are
    (sqrt(m) (x - a)) (sqrt(m) (x - a))': six roundings instead of three.
    """
    roots, picks, picked = places.per_row, places.chosen, work.view(np.int64)
    vectors, count = -(-d // DOUBLES), 0
    for r in range(BLOCK):
        work[roots + r] = np.sqrt(work[masses + r])
    for r in range(BLOCK):
        # Written always, counted only if there is a mass: no branch to guess.
        root = work[roots + r]
        work[roots + count], picked[picks + count] = root, r * d
        count += 1 if root != 0.0 else 0
    for r in range(count, min(-(-count // _UNROLLED) * _UNROLLED, BLOCK)):
        work[roots + r], picked[picks + r] = 0.0, 0
    for r in range(0, count, near):
        some = min(near, count - r)
        _weigh(
            values, first, picked, picks + r, work, roots + r, -(-some // _UNROLLED), points, point,
            vectors, places.gaps, sums, into,
        )  # fmt: skip
        _outer_rows(work, places.gaps, some, vectors, sums, into + DOUBLES * vectors)
