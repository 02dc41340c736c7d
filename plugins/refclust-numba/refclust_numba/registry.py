"""Which function is which kernel; importing this imports NumPy and Numba."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from refclust_numba import kmeans, seeding
from refclust_numba.dense import pairs
from refclust_numba.exact import directions, means, sums
from refclust_numba.mixtures import components
from refclust_numba.mixtures.gaussian import kernels as gaussian
from refclust_numba.mixtures.multinomial import kernels as multinomial
from refclust_numba.pairs import extremes, fine
from refclust_numba.pairs import sums as pair_sums
from refclust_numba.tables import contingency, information, linkage

_PLAIN: Final[dict[str, Any]] = {
    "kmeans.assign": kmeans.assign,
    "kmeans.accumulate": kmeans.accumulate,
    "kmeans.lloyd_step": kmeans.lloyd_step,
    "kmeans.means": means.means,
    "kmeans.directions": directions.directions,
    "kmeans.residual": means.residual,
    "kmeans.cosine_terms": means.cosine_terms,
    "kmeans.squares": sums.squares,
    "seeding.potential": seeding.potential,
    "seeding.locate": seeding.locate,
    "seeding.best_candidate": seeding.best_candidate,
    "seeding.farthest": seeding.farthest,
    "distances.pairwise": pairs.pairwise,
    "silhouette.distance_sums": pair_sums.distance_sums,
    "silhouette.fine_sums": fine.fine_sums,
    "scatter.centre_distances": fine.centre_distances,
    "pairs.extremes": extremes.extremes,
    "linkage.agglomerate": linkage.agglomerate,
    "multinomial.posterior": multinomial.posterior,
    "multinomial.moments": multinomial.moments,
    "multinomial.em_step": multinomial.em_step,
    "contingency.table": contingency.table,
    "information.expected_mi": information.expected_mi,
    "gaussian.posterior": gaussian.posterior,
    "gaussian.moments": gaussian.moments,
    "gaussian.em_step": gaussian.em_step,
    "gaussian.whitening": components.whitening,
    "gaussian.traces": components.traces,
    "gaussian.scatters": components.scatters,
    "multinomial.logs": components.logs,
    "multinomial.m_step": components.m_step,
}


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Infinities and what is no number are no news here: they prove nothing, integers decide."""

    @wraps(function)
    def run(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)

    return run


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {name: _quiet(function) for name, function in _PLAIN.items()}
)
