"""Vector code for rows of counts: products with a line of the table for each word, lanes at a time.

A table has one line of ``width`` doubles for each column of the data, one lane for each component.
Products and sums may be contracted to fused operations: the bounds of the contracts hold either
way, and the same code runs whatever the number of threads.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import generated, inlined
from refclust_numba.lowlevel.elementary import Emit

WIDEST: Final = 4 * DOUBLES  # lanes whose sums stay in registers
_COLUMN: Final = ir.IntType(32)


class _Row:
    """The numbers of one row and the lines of their columns, as the generated code reads them."""

    def __init__(self, emit: Emit, args: Any, vectors: int) -> None:
        self._emit, self._vectors = emit, vectors
        self._columns = emit.builder.inttoptr(args[0], _COLUMN.as_pointer())
        self._values, self._table = emit.pointer(args[1]), emit.pointer(args[3])

    def count(self, index: Any) -> Any:
        """One count in all lanes."""
        return self._emit.spread(self._values, index)

    def lines(self, index: Any) -> list[Any]:
        """The places of the vectors that belong to the column of a count."""
        builder = self._emit.builder
        column = builder.zext(builder.load(builder.gep(self._columns, [index])), index.type)
        place = (column, self._vectors * DOUBLES)
        return [
            builder.gep(self._table, [self._emit.index(place, v * DOUBLES)])
            for v in range(self._vectors)
        ]


def _gather(vectors: int) -> Any:
    """Add to sums the counts of a row times the lines of their columns."""

    @generated
    def kernel(typingctx: Any, columns: Any, values: Any, count: Any, table: Any, sums: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            emit = Emit(context, builder)
            row, into = _Row(emit, args, vectors), emit.pointer(args[4])
            kept = [emit.variable(emit.load(into, v * DOUBLES)) for v in range(vectors)]
            with emit.loop(args[2]) as loop:
                x = row.count(loop.index)
                for line, total in zip(row.lines(loop.index), kept, strict=True):
                    emit.add_product(x, emit.load(line), total)
            for v, total in enumerate(kept):
                emit.store(builder.load(total), into, v * DOUBLES)
            return context.get_dummy_value()

        return types.none(*[types.intp] * 5), generate

    return kernel


def _scatter(vectors: int) -> Any:
    """Add the counts of a row times its shares to the lines of their columns."""

    @generated
    def kernel(
        typingctx: Any, columns: Any, values: Any, count: Any, table: Any, shares: Any
    ) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            emit = Emit(context, builder)
            row, given = _Row(emit, args, vectors), emit.pointer(args[4])
            shares = [emit.load(given, v * DOUBLES) for v in range(vectors)]
            with emit.loop(args[2]) as loop:
                x = row.count(loop.index)
                for line, q in zip(row.lines(loop.index), shares, strict=True):
                    emit.store(emit.fused(x, q, emit.load(line)), line)
            return context.get_dummy_value()

        return types.none(*[types.intp] * 5), generate

    return kernel


_gather_1, _gather_2, _gather_3, _gather_4 = map(_gather, range(1, 5))
_scatter_1, _scatter_2, _scatter_3, _scatter_4 = map(_scatter, range(1, 5))


@inlined
def gather(vectors, columns, values, count, table, sums):  # type: ignore[no-untyped-def]
    """Add to ``sums`` the counts of a row times the lines of their columns."""
    if vectors == 1:
        _gather_1(columns, values, count, table, sums)
    elif vectors == 2:
        _gather_2(columns, values, count, table, sums)
    elif vectors == 3:
        _gather_3(columns, values, count, table, sums)
    else:
        _gather_4(columns, values, count, table, sums)


@inlined
def scatter(vectors, columns, values, count, table, shares):  # type: ignore[no-untyped-def]
    """Add the counts of a row times its ``shares`` to the lines of their columns."""
    if vectors == 1:
        _scatter_1(columns, values, count, table, shares)
    elif vectors == 2:
        _scatter_2(columns, values, count, table, shares)
    elif vectors == 3:
        _scatter_3(columns, values, count, table, shares)
    else:
        _scatter_4(columns, values, count, table, shares)
