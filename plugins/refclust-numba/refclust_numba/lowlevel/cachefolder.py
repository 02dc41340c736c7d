"""Where compiled code is kept, asked without importing Numba."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent.parent
# The module whose compiled code a kernel cannot do without.
_MODULES: Final = {
    "kmeans.assign": "dense/stepping",
    "kmeans.lloyd_step": "dense/stepping",
    "kmeans.accumulate": "exact/cluster_sums",
    "kmeans.squares": "exact/sums",
    "kmeans.means": "exact/means",
    "kmeans.directions": "exact/directions",
    "kmeans.residual": "exact/means",
    "kmeans.cosine_terms": "exact/means",
    "distances.pairwise": "dense/pairs",
    "silhouette.distance_sums": "pairs/sums",
    "silhouette.fine_sums": "pairs/fine",
    "scatter.centre_distances": "pairs/fine",
    "pairs.extremes": "pairs/extremes",
    "linkage.agglomerate": "tables/linkage",
    "multinomial.posterior": "mixtures/multinomial/passes",
    "multinomial.moments": "mixtures/multinomial/passes",
    "multinomial.em_step": "mixtures/multinomial/passes",
    "contingency.table": "tables/contingency",
    "information.expected_mi": "tables/information",
    "gaussian.posterior": "mixtures/gaussian/passes",
    "gaussian.moments": "mixtures/gaussian/passes",
    "gaussian.em_step": "mixtures/gaussian/passes",
    "gaussian.whitening": "mixtures/components",
    "gaussian.traces": "mixtures/components",
    "gaussian.scatters": "mixtures/components",
    "multinomial.logs": "mixtures/components",
    "multinomial.m_step": "mixtures/components",
}


def folders(inside: str = "") -> list[Path]:
    """The folders in which Numba may have put compiled code of a folder of this package."""
    own = _PACKAGE / inside
    configured = os.environ.get("NUMBA_CACHE_DIR")
    if configured:
        return sorted(Path(configured).glob(f"{own.name}_*"))
    # Not everybody has a home: then the name stays as it is, and nothing is found there.
    home = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    return [own / "__pycache__", *sorted(Path(home, "numba").glob(f"{own.name}_*"))]


@cache
def _names(inside: str) -> frozenset[str]:
    return frozenset(
        path.name.partition(".")[0] for folder in folders(inside) for path in folder.glob("*.nbc")
    )


def cached(kernel: str) -> bool:
    """Whether there is compiled code of the module of a kernel."""
    inside, _, module = _MODULES.get(kernel, "seeding").rpartition("/")
    return module in _names(inside)
