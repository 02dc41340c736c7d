"""How functions are compiled: kept on disk, without the interpreter's lock, never ``fastmath``.

The error model of NumPy makes a division by zero an infinity instead of a branch; no operation is
reordered or contracted. Change any module here and remove the compiled code: Numba looks at the
file of a function only, not at those of the functions it calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from numba import njit
from numba.extending import intrinsic

compiled: Final[Any] = njit(cache=True, nogil=True, error_model="numpy")
inlined: Final[Any] = njit(forceinline=True, error_model="numpy")


def generated(function: Callable[..., Any]) -> Any:
    """A function of LLVM code: it gets types when it is built, and values when it is called."""
    return intrinsic(function)
