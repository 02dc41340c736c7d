"""Logarithms of many numbers, a vector at a time, by our own polynomials.

Those of NumPy and of the C library have other last bits on other machines.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import generated
from refclust_numba.lowlevel.elementary import Emit


def _of_all(function: Callable[[Emit, Any], Any]) -> Any:
    """Write a function of so many numbers, from a place of one array to a place of another."""

    @generated
    def kernel(typingctx: Any, source: Any, first: Any, target: Any, into: Any, count: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            emit = Emit(context, builder, signature, args)
            source, target = emit.memories(0, 2)
            first, into, count = emit.values(1, 3, 4)
            vectors = builder.udiv(count, emit.number(DOUBLES))
            with emit.loop(vectors) as vector:
                place = (vector.index, DOUBLES)
                value = function(emit, emit.load(source, first, place))
                emit.store(value, target, into, place)
            done = emit.index((vectors, DOUBLES))
            with emit.loop(builder.sub(count, done)) as rest:
                value = function(emit, emit.broadcast(source, first, done, rest.index))
                emit.store(emit.lane(value), target, into, done, rest.index)
            return emit.none()

        return types.none(source, types.intp, target, types.intp, types.intp), generate

    return kernel


take_logs = _of_all(Emit.log_of_any)
take_logs_of_rest = _of_all(Emit.log_of_rest)


@generated
def log_of(typingctx: Any, x: Any) -> Any:
    """The logarithm of one number; of zero it is -inf."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        return emit.lane(emit.log_of_any(emit.splat(args[0])))

    return types.float64(types.float64), generate
