"""The Numba backend of refclust: compiled kernels, bit for bit the reference's (chapter 80)."""

from __future__ import annotations

from refclust.backends.plugins.hookspecs import hookimpl
from refclust_numba.backend import NumbaBackend


@hookimpl
def refclust_register_backends() -> list[NumbaBackend]:
    """Offer the backend; nothing heavy is imported until a kernel is asked for."""
    return [NumbaBackend()]
