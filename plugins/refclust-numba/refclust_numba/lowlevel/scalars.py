"""Operations on single doubles that Python has no name for: bits, fused products, exact sums.

None of these may be compiled with ``fastmath``: they live on the rounding of each operation.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from refclust_numba.lowlevel.compiling import generated, inlined
from refclust_numba.lowlevel.memory import Code


@generated
def bits(typingctx: Any, x: Any) -> Any:
    """The 64 bits of a double as an integer."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@generated
def double_of(typingctx: Any, x: Any) -> Any:
    """The double that has these 64 bits."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@generated
def fused(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.fma(*args)

    return types.float64(types.float64, types.float64, types.float64), generate


@inlined
def two_sum(a, b):  # type: ignore[no-untyped-def]
    """a + b as its rounded value and the exact rest."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@inlined
def two_product(a, b):  # type: ignore[no-untyped-def]
    """a * b as its rounded value and the rest, exact above 2**-969."""
    p = a * b
    return p, fused(a, b, -p)


@inlined
def power_of_two(e):  # type: ignore[no-untyped-def]
    """2**e for -1022 <= e <= 1023."""
    return double_of((e + 1023) << 52)


@generated
def taken(typingctx: Any, counter: Any) -> Any:
    """The first number of an array, which goes up by one: no two threads get the same."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature, args)
        return code.next_ticket(code.memory(0), 0)

    return types.int64(counter), generate


@generated
def lowest(typingctx: Any, bits: Any) -> Any:
    """The number of the lowest bit of an integer that is not 0."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@generated
def fetch(typingctx: Any, memory: Any, place: Any) -> Any:
    """Ask for the line of memory around a place of an array that will be read soon."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature, args)
        code.fetch(code.memory(0), args[1])
        return code.none()

    return types.none(memory, types.intp), generate


@generated
def ones(typingctx: Any, word: Any) -> Any:
    """How many bits are set."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate
