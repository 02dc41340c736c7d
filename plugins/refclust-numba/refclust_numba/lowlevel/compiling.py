"""How functions are compiled: kept on disk, without the interpreter's lock, never ``fastmath``.

The error model of NumPy makes a division by zero an infinity instead of a branch; no operation is
reordered or contracted.

Numba takes compiled code from the disk as long as the file of the function is unchanged; it does
not look at the files of functions that were compiled into it. So what is kept carries a digest of
all modules that the function's module imports from this package, directly or not, and the name of
the build (see ``refclust_numba.lowlevel.build``). What cannot be read back is compiled anew.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.extending import intrinsic

from refclust_numba.lowlevel.build import CHECKED, TAG

_PACKAGE: Final = "refclust_numba"
_FOLDER: Final = Path(__file__).parent.parent
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
    if function.__module__.startswith(f"{_PACKAGE}."):
        with suppress(RuntimeError):  # no folder to write to: it is compiled in each process
            made._cache = _Kept(function)  # type: ignore[no-untyped-call]
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


class _Files(CompileResultCacheImpl):
    """Files named for the function, the build, and the sources."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """The beginning of the names of the files of a function."""
        base = super().get_filename_base(fullname, abiflags)  # type: ignore[no-untyped-call]
        return f"{base}.{TAG}"


class _Kept(FunctionCache):
    """Compiled code on the disk, good for the sources it was made of."""

    _impl_class = _Files

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        module = self._py_func.__module__
        return (*super()._index_key(sig, codegen), digest(module))  # type: ignore[no-untyped-call]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What is kept for some types of arguments; nothing if the files are damaged."""
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # whatever half a file makes of itself
            with suppress(OSError):
                self.flush()  # type: ignore[no-untyped-call]
            return None


@cache
def digest(module: str) -> str:
    """The digest of a module of this package and of all it imports from it."""
    content = hashlib.sha256()
    for name in sorted(reached(module)):
        content.update(f"{name}\n{source(name)}".encode())
    return content.hexdigest()


def reached(module: str) -> set[str]:
    """The module and all it imports from this package, directly or not."""
    modules, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        if name not in modules:
            modules.add(name)
            waiting += imported(name)
    return modules


@cache
def imported(module: str) -> tuple[str, ...]:
    """The modules of this package that a module imports at its top level."""
    names: list[str] = []
    for node in ast.parse(source(module)).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == _PACKAGE:
            parent = node.module or ""
            inner = [f"{parent}.{alias.name}" for alias in node.names]
            names += [name for name in (parent, *inner) if _path(name).is_file()]
    return tuple(names)


def _path(module: str) -> Path:
    return _FOLDER.joinpath(*module.split(".")[1:]).with_suffix(".py")


@cache
def source(module: str) -> str:
    """The text of a module of this package."""
    return _path(module).read_text(encoding="utf-8")
