"""Buffers of many small blocks, one for each component or centre, taken apart."""

from __future__ import annotations

from array import array
from typing import TypeAlias

Doubles: TypeAlias = "memoryview | array[float]"


def blocks(values: Doubles, size: int) -> list[list[float]]:
    """The numbers of a buffer of any library, ``size`` of them for each block.

    Spec: none (a change of clothes)

    >>> blocks(array("d", [1, 2, 3, 4]), 2)
    [[1.0, 2.0], [3.0, 4.0]]
    """
    flat: list[float] = memoryview(values).tolist()  # type: ignore[assignment]
    return [flat[begin : begin + size] for begin in range(0, len(flat), size)]
