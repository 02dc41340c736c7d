"""How functions are compiled: kept on disk, without the interpreter's lock, never ``fastmath``.

The error model of NumPy makes a division by zero an infinity instead of a branch; no operation is
reordered or contracted.

Numba takes compiled code from the disk as long as the file of the function is unchanged; it does
not look at the files of functions that were compiled into it. So what is kept carries a digest of
all modules that the function's module imports from this package, directly or not.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

from numba import njit
from numba.core.caching import FunctionCache
from numba.extending import intrinsic

_FOLDER: Final = Path(__file__).parent
_IMPORTS: Final = re.compile(
    r"^from refclust_numba(?:\.(\w+)| import \(([^)]+)\)| import (.+))", re.M
)

inlined: Final[Any] = njit(forceinline=True, error_model="numpy")


def compiled(function: Callable[..., Any]) -> Any:
    """The function compiled when it is first called, or taken from the disk."""
    made: Any = njit(nogil=True, error_model="numpy")(function)
    with suppress(RuntimeError):  # no folder to write to: it is compiled in each process
        made._cache = _Kept(function)  # type: ignore[no-untyped-call]
    return made


def generated(function: Callable[..., Any]) -> Any:
    """A function of LLVM code: it gets types when it is built, and values when it is called."""
    return intrinsic(function)


class _Kept(FunctionCache):
    """Compiled code on the disk, good for the sources it was made of."""

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        module = Path(self._py_func.__code__.co_filename).stem
        return (*super()._index_key(sig, codegen), digest(module))  # type: ignore[no-untyped-call]


@cache
def digest(module: str) -> str:
    """The digest of a module of this package and of all it imports from it."""
    told = hashlib.sha256()
    for name in sorted(_reached(module)):
        told.update(f"{name}\n{_source(name)}".encode())
    return told.hexdigest()


def _reached(module: str) -> set[str]:
    """The module and all it imports from this package, directly or not."""
    found, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for names in _IMPORTS.findall(_source(name)):
            # «limbs as cutting» is limbs.
            waiting += [part.split()[0] for part in "".join(names).split(",") if part.strip()]
    return found


@cache
def _source(module: str) -> str:
    return (_FOLDER / f"{module}.py").read_text(encoding="utf-8")
