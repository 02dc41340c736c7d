"""Vector code for rows of counts: products with a line of the table for each word, lanes at a time.

A table has one line of ``width`` doubles for each column of the data, one lane for each component.
Every product is fused with its sum, and sums belong to components: how many lanes there are changes
no bit.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

from numba import types

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import generated, inlined
from refclust_numba.lowlevel.elementary import Emit

WIDEST: Final = 4 * DOUBLES  # lanes whose sums stay in registers


class _Row:
    """The numbers of one row and the lines of their columns, as the generated code reads them."""

    def __init__(self, emit: Emit, vectors: int) -> None:
        self._emit, self._vectors = emit, vectors
        self._columns, self._values, self.table = emit.memories(0, 1, 4)
        self._first, self._lines = emit.values(2, 5)

    def count(self, index: Any) -> Any:
        """One count in all lanes."""
        return self._emit.broadcast(self._values, self._first, index)

    def lines(self, index: Any) -> list[Any]:
        """The places of the vectors that belong to the column of a count."""
        emit = self._emit
        column = emit.scalar(self._columns, self._first, index)
        place = (emit.builder.zext(column, index.type), self._vectors * DOUBLES)
        return [emit.index(self._lines, place, v * DOUBLES) for v in range(self._vectors)]


def _types(columns: Any, values: Any, table: Any, numbers: Any) -> Any:
    place = types.intp
    return types.none(columns, values, place, place, table, place, numbers, place)


def _gather(vectors: int) -> Any:
    """Add to sums the counts of a row times the lines of their columns."""

    @generated
    def kernel(
        typingctx: Any, columns: Any, values: Any, first: Any, count: Any, table: Any, lines: Any,
        sums: Any, into: Any,
    ) -> Any:  # fmt: skip
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            emit = Emit(context, builder, signature, args)
            row, sums, into = _Row(emit, vectors), emit.memory(6), args[7]
            kept = [emit.variable(emit.load(sums, into, v * DOUBLES)) for v in range(vectors)]
            with emit.loop(args[3]) as loop:
                x = row.count(loop.index)
                for line, total in zip(row.lines(loop.index), kept, strict=True):
                    emit.add_product(x, emit.load(row.table, line), total)
            for v, total in enumerate(kept):
                emit.store(builder.load(total), sums, into, v * DOUBLES)
            return emit.none()

        return _types(columns, values, table, sums), generate

    return kernel


def _scatter(vectors: int) -> Any:
    """Add the counts of a row times its shares to the lines of their columns."""

    @generated
    def kernel(
        typingctx: Any, columns: Any, values: Any, first: Any, count: Any, table: Any, lines: Any,
        shares: Any, at: Any,
    ) -> Any:  # fmt: skip
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            emit = Emit(context, builder, signature, args)
            row, memory = _Row(emit, vectors), emit.memory(6)
            shares = [emit.load(memory, args[7], v * DOUBLES) for v in range(vectors)]
            with emit.loop(args[3]) as loop:
                x = row.count(loop.index)
                for line, q in zip(row.lines(loop.index), shares, strict=True):
                    emit.store(emit.fused(x, q, emit.load(row.table, line)), row.table, line)
            return emit.none()

        return _types(columns, values, table, shares), generate

    return kernel


_gather_1, _gather_2, _gather_3, _gather_4 = map(_gather, range(1, 5))
_scatter_1, _scatter_2, _scatter_3, _scatter_4 = map(_scatter, range(1, 5))


@inlined
def gather(  # type: ignore[no-untyped-def]
    vectors, columns, values, first, count, table, lines, sums, into
):
    """Add to ``sums`` at a place the counts of a row times the lines of their columns.

    The ``count`` numbers of the row begin at place ``first``, the lines at place ``lines``.
    """
    if vectors == 1:
        _gather_1(columns, values, first, count, table, lines, sums, into)
    elif vectors == 2:
        _gather_2(columns, values, first, count, table, lines, sums, into)
    elif vectors == 3:
        _gather_3(columns, values, first, count, table, lines, sums, into)
    else:
        _gather_4(columns, values, first, count, table, lines, sums, into)


@inlined
def scatter(  # type: ignore[no-untyped-def]
    vectors, columns, values, first, count, table, lines, shares, at
):
    """Add the counts of a row times its ``shares`` at a place to the lines of their columns."""
    if vectors == 1:
        _scatter_1(columns, values, first, count, table, lines, shares, at)
    elif vectors == 2:
        _scatter_2(columns, values, first, count, table, lines, shares, at)
    elif vectors == 3:
        _scatter_3(columns, values, first, count, table, lines, shares, at)
    else:
        _scatter_4(columns, values, first, count, table, lines, shares, at)
