"""The kernels of refclust on NumPy, bitwise equal to the reference."""

from __future__ import annotations

from collections.abc import Sequence

from refclust.backends.plugins.hookspecs import hookimpl
from refclust.backends.protocol import Backend
from refclust_numpy.backend import NumpyBackend

__all__ = ["refclust_register_backends"]


@hookimpl
def refclust_register_backends() -> Sequence[Backend]:
    """Offer the backend ``numpy``."""
    return [NumpyBackend()]
