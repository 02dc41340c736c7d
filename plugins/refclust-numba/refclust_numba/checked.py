"""The conformance kit on checked kernels: ``python -m refclust_numba.checked [--quick]``.

A checked build (``refclust_numba.lowlevel.build``) holds every access against its array and fills
fresh memory with what nobody should believe. The C library does the same with memory that NumPy
asks for, and with memory that was given back: both have to be told before a process starts, so the
kit runs in a process of its own. ``ENVIRONMENT`` is what such a process needs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from types import MappingProxyType
from typing import Final

from refclust_numba.lowlevel.build import CHECKED_VARIABLE

# Fresh memory gets all bits of this turned round, 0xFE as in a checked build, freed memory this.
_PERTURB: Final = "1"
ENVIRONMENT: Final = MappingProxyType(
    {
        CHECKED_VARIABLE: "1",
        "MALLOC_PERTURB_": _PERTURB,
        # Small blocks are handed on between calls as they are, unless there is no cache for them.
        "GLIBC_TUNABLES": f"glibc.malloc.perturb={_PERTURB}:glibc.malloc.tcache_count=0",
    }
)
_KIT: Final = "from refclust.cli.app import main; main()"


def main() -> int:
    """Run ``refclust conform numba`` in a checked process; return its exit code."""
    command = [sys.executable, "-c", _KIT, "conform", "numba", *sys.argv[1:]]
    return subprocess.run(command, env={**os.environ, **ENVIRONMENT}, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
