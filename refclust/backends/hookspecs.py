"""The hooks a plugin may implement; pluggy only collects, ordinary Python does the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pluggy

from refclust.backends.protocol import Backend

PROJECT: Final = "refclust"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def refclust_register_backends() -> Sequence[Backend]:  # type: ignore[empty-body]
    """Return the backends that this plugin provides.

    The call must be cheap: import the heavy library in ``Backend.kernels`` or later.
    """


@hookspec
def refclust_register_commands(app: object) -> None:
    """Add commands to the typer application of the command line."""
