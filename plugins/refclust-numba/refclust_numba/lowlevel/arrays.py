"""Memory for compiled kernels: arrays whose vectors never lie across two lines of the cache."""

from __future__ import annotations

import math
import weakref
from typing import Any, Final

import numpy as np

from refclust_numba.lowlevel.build import CHECKED
from refclust_numba.lowlevel.compiling import POISON

_LINE: Final = 64  # bytes
_KEPT: Final = 3  # buffers


def aligned(shape: tuple[int, ...], kind: Any) -> Any:
    """An array that begins with a line of the cache; what is in it is anything."""
    size = math.prod(shape) * np.dtype(kind).itemsize
    memory = np.empty(size + _LINE, np.uint8)
    start = -memory.ctypes.data % _LINE
    return spoiled(memory[start : start + size].view(kind).reshape(shape))


def spoiled(memory: Any) -> Any:
    """Memory that is used again: in a checked build what is in it is nothing to believe."""
    if CHECKED:
        memory.reshape(-1).view(np.uint8)[:] = POISON
    return memory


def fixed(values: Any) -> Any:
    """The same array, which nobody can change through this one."""
    view = values.view()
    view.flags.writeable = False
    return view


class Reused:
    """Buffers for answers, used again when nobody looks at them any more: fresh memory costs time.

    Whatever looks at an answer keeps the array alive that was handed out for it.
    """

    def __init__(self, size: int, kind: Any) -> None:
        self._size, self._kind = size, kind
        self._known: list[tuple[Any, Any]] = []  # buffers, and whether they are still looked at

    def free(self) -> Any:
        """A buffer that nobody else has."""
        for _ in range(len(self._known)):
            buffer, seen = self._known.pop(0)
            if seen() is None:
                return buffer
            self._known.append((buffer, seen))
        return aligned((self._size,), self._kind)

    def finished(self, buffer: Any) -> Any:
        """What is in a buffer, to be handed out: nobody can change it through this array."""
        answer = np.frombuffer(memoryview(buffer), self._kind)
        answer.flags.writeable = False
        self._known = [*self._known[1 - _KEPT :], (buffer, weakref.ref(answer))]
        return answer


def same_place(left: Any, right: Any) -> bool:
    """Whether two contiguous arrays are the same memory, from the first byte to the last."""
    return bool(left.ctypes.data == right.ctypes.data and left.nbytes == right.nbytes)


def read_only(labels: Any) -> Any:
    """The same labels, which nobody can change through this array."""
    view = array_over(labels, np.int32)
    view.flags.writeable = False
    return view


def array_over(buffer: Any, kind: Any) -> Any:
    """The numbers of a caller's buffer where they lie; a copy if they lie at odd addresses."""
    values = np.frombuffer(memoryview(buffer), kind)
    return values if values.flags.aligned else values.copy()


def doubles(buffer: Any) -> Any:
    """A buffer of doubles as an array of one kind, so that kernels are compiled once."""
    values = array_over(buffer, np.float64)
    values.flags.writeable = False
    return values
