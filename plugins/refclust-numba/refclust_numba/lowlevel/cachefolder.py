"""Where compiled code is kept, asked without importing Numba."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Final

# The module whose compiled code a kernel cannot do without.
_MODULES: Final = {
    "kmeans.assign": "stepping",
    "kmeans.lloyd_step": "stepping",
    "kmeans.accumulate": "moving",
    "kmeans.squares": "sums",
    "kmeans.means": "means",
    "kmeans.directions": "directions",
    "kmeans.residual": "means",
    "kmeans.cosine_terms": "means",
    "distances.pairwise": "pairs",
    "linkage.agglomerate": "linkage",
    "multinomial.posterior": "multinomial_pass",
    "multinomial.moments": "multinomial_pass",
    "multinomial.em_step": "multinomial_pass",
    "contingency.table": "contingency",
    "information.expected_mi": "information",
    "gaussian.posterior": "gaussian_pass",
    "gaussian.moments": "gaussian_pass",
    "gaussian.em_step": "gaussian_pass",
    "gaussian.whitening": "components",
    "gaussian.traces": "components",
    "gaussian.scatters": "components",
    "multinomial.logs": "components",
    "multinomial.m_step": "components",
}


def folders() -> list[Path]:
    """The folders in which Numba may have put our compiled code."""
    own = Path(__file__).parent
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return sorted(Path(given).glob(f"{own.name}_*"))
    home = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    return [own / "__pycache__", *sorted(Path(home, "numba").glob(f"{own.name}_*"))]


@cache
def _names() -> frozenset[str]:
    found = set()
    for folder in folders():
        found |= {path.name.partition(".")[0] for path in folder.glob("*.nbi")}
    return frozenset(found)


def cached(kernel: str) -> bool:
    """Whether there is an index of compiled code for the module of a kernel."""
    return _MODULES.get(kernel, "seeding") in _names()
