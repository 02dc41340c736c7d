"""Compiled code on the disk: which files it was made of, and how it is found again.

Numba takes compiled code from the disk as long as the file of the function is unchanged; it does
not look at the files of functions that were compiled into it. And its index is written before the
code that it names: whoever is stopped between the two, or reads between them, takes old code for
new. So there is no index here. Each file of compiled code is named for all it depends on: the
function, the build (``refclust_numba.lowlevel.build``), the sources of all modules that the
function's module imports from this package, directly or not, and what Numba knows of arguments,
machine and versions. It begins with a digest of the rest, and appears all at once. What cannot be
read back is compiled anew.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import llvmlite  # type: ignore[import-untyped]
import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.serialize import dumps

from refclust_numba.lowlevel.build import TAG

PACKAGE: Final = "refclust_numba"
_FOLDER: Final = Path(__file__).parent.parent
# A parser would take longer than all the rest of the import; a test compares the two.
_IMPORT: Final = re.compile(rf"^from ({PACKAGE}[\w.]*) import (\([^)]*\)|.*)$", re.MULTILINE)
_SEAL: Final = hashlib.sha256().digest_size
_VERSIONS: Final = (numba.__version__, llvmlite.__version__)


class Kept(FunctionCache):
    """Compiled code of a function, good for the sources it was made of."""

    _impl_class = CompileResultCacheImpl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        stem = self._impl.filename_base.rpartition("-")
        # Read now: later the files may be others than those that were imported.
        self._cache_file: Any = Shelf(
            Path(self._cache_path),
            stem[0],
            f"{stem[2].partition('.')[2]}.{TAG}",
            digest(function.__module__),
        )

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        key = super()._index_key(sig, codegen)  # type: ignore[no-untyped-call]
        return (*key, _VERSIONS)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What is kept for some types of arguments, if it can be read and is what it should be."""
        try:
            made = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # whatever a file that somebody else wrote makes of itself
            return None
        asked = sig if isinstance(sig, tuple) else sig.args
        return made if made is not None and tuple(made.signature.args) == tuple(asked) else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if there is a place for it."""
        with suppress(OSError):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]


class Shelf:
    """The files of one function: a name for each key; those of other sources are thrown away."""

    def __init__(self, folder: Path, function: str, build: str, sources: str) -> None:
        self._folder, self._function, self._build = folder, function, build
        self._sources = sources[:16]
        self._tidy = False

    def path(self, key: Any) -> Path:
        """The file for a key."""
        name = hashlib.sha256(repr(key).encode()).hexdigest()[:24]
        return self._folder / f"{self._function}.{self._build}.{self._sources}.{name}.nbc"

    def load(self, key: Any) -> Any:
        """What was saved under a key; nothing if there is no file or not all of it is there."""
        try:
            content = self.path(key).read_bytes()
        except OSError:
            return None
        seal, data = content[:_SEAL], content[_SEAL:]
        return pickle.loads(data) if hashlib.sha256(data).digest() == seal else None

    def save(self, key: Any, value: Any) -> None:
        """Write a file; nobody ever sees a part of it."""
        self.tidy()
        data: bytes = dumps(value)  # type: ignore[no-untyped-call]
        path = self.path(key)
        waiting = path.with_suffix(f".{uuid4().hex[:16]}.tmp")
        try:
            waiting.write_bytes(hashlib.sha256(data).digest() + data)
            os.replace(waiting, path)
        except BaseException:
            waiting.unlink(missing_ok=True)
            raise

    def tidy(self) -> None:
        """Throw away, once, what older sources of the same function and build left behind."""
        if self._tidy:
            return
        self._tidy = True
        for path in self._folder.glob(f"{self._function}.{self._build}.*.nbc"):
            if path.name.split(".")[-3] != self._sources:
                path.unlink(missing_ok=True)

    def flush(self) -> None:
        """Throw away all files of the function and build."""
        for path in self._folder.glob(f"{self._function}.{self._build}.*.nbc"):
            path.unlink(missing_ok=True)


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
    for parent, inner in _IMPORT.findall(source(module)):
        inside = [f"{parent}.{name}" for name in re.findall(r"\w+", inner)]
        names += [name for name in (parent, *inside) if _path(name).is_file()]
    return tuple(names)


def _path(module: str) -> Path:
    return _FOLDER.joinpath(*module.split(".")[1:]).with_suffix(".py")


@cache
def source(module: str) -> str:
    """The text of a module of this package."""
    return _path(module).read_text(encoding="utf-8")
