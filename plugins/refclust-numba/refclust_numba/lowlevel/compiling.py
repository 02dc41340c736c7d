"""How functions are compiled: kept on disk, without the interpreter's lock, never ``fastmath``.

The error model of NumPy makes a division by zero an infinity instead of a branch; no operation is
reordered or contracted.

How compiled code is kept is said in ``refclust_numba.lowlevel.keeping``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import numpy as np
from numba import njit
from numba.extending import intrinsic

from refclust_numba.lowlevel.build import CHECKED
from refclust_numba.lowlevel.keeping import PACKAGE, Kept

POISON: Final = 0xFE  # of every byte: a large negative number, as a double, a single or an integer

inlined: Final[Any] = njit(forceinline=True, error_model="numpy", boundscheck=CHECKED)
# Functions that make no arrays, and count no references to those they are given: their caller
# keeps these alive. (Each count would be an atomic operation: with records of arrays in a loop over
# blocks they cost more than the work.) The first kind is copied into its callers.
borrowing: Final[Any] = njit(forceinline=True, error_model="numpy", boundscheck=CHECKED, _nrt=False)
borrowing_apart: Final[Any] = njit(error_model="numpy", boundscheck=CHECKED, _nrt=False)


def compiled(function: Callable[..., Any]) -> Any:
    """The function compiled when it is first called, or taken from the disk."""
    # References are counted even if one who borrows is the first to call it.
    made: Any = njit(nogil=True, error_model="numpy", boundscheck=CHECKED, _nrt=True)(function)
    if function.__module__.startswith(f"{PACKAGE}."):
        with suppress(RuntimeError):  # no folder to write to: it is compiled in each process
            made._cache = Kept(function)
    return made


def generated(function: Callable[..., Any]) -> Any:
    """A function of LLVM code: it gets types when it is built, and values when it is called."""
    return intrinsic(function)


@inlined
def room(shape, kind):  # type: ignore[no-untyped-def]
    """Memory in which anything may be; in a checked build what nobody should believe."""
    memory = np.empty(shape, kind)
    if CHECKED:
        memory.reshape(-1).view(np.uint8)[:] = POISON
    return memory


@inlined
def with_room(places, count):  # type: ignore[no-untyped-def]
    """The same array if another entry fits, else one twice as long."""
    return places if count < places.shape[0] else np.concatenate((places, places))
