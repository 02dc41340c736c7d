"""What the compiled code is built for: how many numbers a vector holds, and whether it is checked.

The number of lanes is that of the machine (512, 256 or 128 bits), or what ``REFCLUST_NUMBA_LANES``
says: any of them runs everywhere, since a compiler cuts vectors that are too long for the machine.
No answer depends on it. ``REFCLUST_NUMBA_CHECKED=1`` builds code that checks every access to
memory; it is kept apart from the code that is not checked.
"""

from __future__ import annotations

import os
from typing import Final

import llvmlite.binding  # type: ignore[import-untyped]
from numba.core import config

from refclust.errors import BadOption

LANES_VARIABLE: Final = "REFCLUST_NUMBA_LANES"
CHECKED_VARIABLE: Final = "REFCLUST_NUMBA_CHECKED"
_WIDTHS: Final = ("4", "8", "16")


def _features() -> set[str]:
    """The extensions code is compiled for: those of the machine, unless Numba is told others."""
    configured: str | None = config.CPU_FEATURES  # type: ignore[attr-defined]
    if configured is not None:
        return {name[1:] for name in configured.split(",") if name.startswith("+")}
    return {name for name, there in llvmlite.binding.get_host_cpu_features().items() if there}


def _lanes() -> int:
    asked = os.environ.get(LANES_VARIABLE, "")
    if asked and asked not in _WIDTHS:
        raise BadOption(f"{LANES_VARIABLE}={asked!r}: use one of {', '.join(_WIDTHS)}")
    features = _features()
    return int(asked) if asked else 16 if "avx512f" in features else 8 if "avx" in features else 4


def _checked() -> bool:
    asked = os.environ.get(CHECKED_VARIABLE, "")
    if asked not in ("", "0", "1"):
        raise BadOption(f"{CHECKED_VARIABLE}={asked!r}: use 1 or 0")
    return asked == "1"


LANES: Final = _lanes()  # singles in a vector
DOUBLES: Final = LANES // 2  # doubles in a vector
CHECKED: Final = _checked()
TAG: Final = f"{LANES}{'-checked' if CHECKED else ''}"
