"""The hooks a plugin may implement; pluggy only collects, ordinary Python does the rest.

Commands need none: they are entry points of a group of their own (``commands``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import pluggy

from refclust.backends.protocol import Backend

if TYPE_CHECKING:  # whoever only scores labels should not wait for the readers
    from refclust.data.readers.formats import QuickReader, Reader

PROJECT: Final = "refclust"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def refclust_register_backends() -> Sequence[Backend]:  # type: ignore[empty-body]
    """Return the backends that this plugin provides.

    The call must be cheap: import the heavy library in ``Backend.kernels`` or later.
    """


@hookspec
def refclust_register_readers() -> Sequence[Reader]:  # type: ignore[empty-body]
    """Return the readers of data formats that this plugin provides.

    Names and endings must be new. The call must be cheap: import a heavy library in ``read``.
    """


@hookspec
def refclust_register_quick_readers() -> Sequence[QuickReader]:  # type: ignore[empty-body]
    """Return faster ways to what readers of refclust give, the same to the last bit.

    They are asked for large files only, and may pass by returning None.
    """
