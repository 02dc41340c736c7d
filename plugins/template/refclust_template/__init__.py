"""The smallest plugin for refclust that works: one backend with two kernels."""

from __future__ import annotations

from collections.abc import Sequence

from refclust.backends.plugins.hookspecs import hookimpl
from refclust.backends.protocol import Backend
from refclust_template.backend import TemplateBackend

__all__ = ["refclust_register_backends"]


@hookimpl
def refclust_register_backends() -> Sequence[Backend]:
    """Offer the backend ``template``; keep this cheap, it runs whenever backends are looked for."""
    return [TemplateBackend()]
