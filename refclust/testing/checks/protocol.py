"""Whether a backend is what the protocol says (chapter 81)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refclust.backends.protocol import API_VERSION, Backend
from refclust.kernels.registry import KERNELS
from refclust.testing.outcomes import BACKEND, Outcome


def protocol(backend: Backend) -> list[Outcome]:
    """Look at the backend itself, without any data."""
    try:
        fault = _breach(backend)
    except Exception as error:
        fault = f"{type(error).__name__}: {error}"
    return [Outcome(BACKEND, "protocol", 1, fault)]


def _breach(backend: Any) -> str | None:
    """What is wrong with the backend itself."""
    for member in ("name", "api_version", "accuracy", "kernels", "supports", "prepare", "export"):
        if not hasattr(backend, member):
            return f"it has no {member}"
    if not (isinstance(backend.name, str) and backend.name):
        return f"its name is {backend.name!r}, not a word"
    if backend.api_version != API_VERSION:
        return f"it speaks version {backend.api_version!r} of the protocol, not {API_VERSION}"
    if backend.accuracy not in ("exact", "bounded"):
        return f"its accuracy is {backend.accuracy!r}, neither 'exact' nor 'bounded'"
    functions = backend.kernels()
    if not isinstance(functions, Mapping):
        return f"kernels() is a {type(functions).__name__}, not a mapping"
    for name, function in functions.items():
        if not callable(function):
            return f"its kernel {name!r} is a {type(function).__name__} and cannot be called"
    if not set(functions) & set(KERNELS):
        return f"it offers none of the kernels {', '.join(sorted(KERNELS))}"
    if set(backend.kernels()) != set(functions):
        return "kernels() gives other kernels when asked again"
    for size in blocks_of(backend):
        if type(size) is not int or size < 1:
            return f"blocks() tells of a block of {size!r}; plain integers from 1 on are due"
    return None


def blocks_of(backend: Any) -> tuple[int, ...]:
    """The sizes of the blocks that a backend works in, if it tells."""
    tell = getattr(backend, "blocks", None)
    return tuple(sorted(set(tell()))) if callable(tell) else ()
