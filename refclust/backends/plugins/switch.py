"""Whether plugins are looked at; apart from the rest, since every help asks (chapter 80)."""

from __future__ import annotations

import os
from typing import Final

from refclust.errors import BadOption

DISABLE_VARIABLE: Final = "REFCLUST_DISABLE_PLUGINS"
_TRUE, _FALSE = {"1", "true", "yes"}, {"0", "false", "no", ""}


def disabled() -> bool:
    """Whether plugins are switched off by the environment; anything but yes and no is refused."""
    value = os.environ.get(DISABLE_VARIABLE, "")
    if value.lower() in _TRUE:
        return True
    if value.lower() not in _FALSE:
        raise BadOption(f"{DISABLE_VARIABLE}={value!r}: use 1 or 0, true or false, yes or no")
    return False
