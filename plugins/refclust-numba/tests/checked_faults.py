"""Faults that a checked build must see; ``test_numba_builds`` runs this in a process of its own."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numba import njit, types
from refclust_numba.lowlevel.compiling import POISON, compiled, generated, room
from refclust_numba.lowlevel.memory import Code


@generated
def pair(typingctx: Any, numbers: Any, place: Any) -> Any:  # noqa: ARG001
    """The sum of the two numbers at a place, read as one vector."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature, args)
        both = code.load(code.memory(0), args[1], lanes=2)
        lanes = [builder.extract_element(both, code.number(lane)) for lane in (0, 1)]
        return builder.fadd(*lanes)

    return types.float64(numbers, types.intp), generate


@compiled
def read(numbers, place):  # type: ignore[no-untyped-def]
    """Two numbers by a vector."""
    return pair(numbers, place)


@compiled
def plain(numbers, place):  # type: ignore[no-untyped-def]
    """One number without a vector."""
    return numbers[place]


@njit
def fresh():  # type: ignore[no-untyped-def]
    """Memory that nobody has written to."""
    return room(5, np.int32)


def seen(name: str, kind: type[Exception], function: Any, *args: Any) -> None:
    """Say the name of a fault if it is seen."""
    try:
        function(*args)
    except kind:
        sys.stdout.write(f"{name}\n")


def main() -> None:
    """Try all faults, and what is none."""
    four = np.arange(4.0)
    seen("outside", IndexError, read, four, 4)
    seen("before", IndexError, read, four, -1)
    seen("wide", IndexError, read, four, 3)
    seen("beyond", IndexError, plain, four, 4)
    odd = np.frombuffer(bytes(41), np.uint8)[1:].view(np.float64)
    seen("unaligned", IndexError, read, odd, 0)
    if fresh().view(np.uint8).tolist() == [POISON] * 20:
        sys.stdout.write("unwritten\n")
    if read(four, 2) == 5.0:
        sys.stdout.write("fine\n")


if __name__ == "__main__":
    main()
