"""What the plugin registers: names and estimates; NumPy is not imported before a kernel runs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from refclust.backends.protocol import API_VERSION, Accuracy, Estimate, Problem, Refusal
from refclust.data.dataset import Dataset

_WHERE: Final = MappingProxyType(
    {
        "kmeans.assign": ("nearest.assign", "assign"),
        "kmeans.accumulate": ("exact.sums", "accumulate"),
        "kmeans.lloyd_step": ("exact.sums", "lloyd_step"),
        "kmeans.means": ("exact.sums", "means"),
        "kmeans.directions": ("exact.directions", "directions"),
        "kmeans.residual": ("exact.sums", "residual"),
        "kmeans.cosine_terms": ("exact.sums", "cosine_terms"),
        "kmeans.squares": ("exact.sums", "squares"),
        "seeding.potential": ("seeding", "potential"),
        "seeding.locate": ("seeding", "locate"),
        "seeding.mass": ("seeding", "mass"),
        "seeding.beyond": ("seeding", "beyond"),
        "seeding.best_candidate": ("seeding", "best_candidate"),
        "seeding.farthest": ("seeding", "farthest"),
        "distances.pairwise": ("pairs.distances", "pairwise"),
        "silhouette.distance_sums": ("pairs.passes", "distance_sums"),
        "silhouette.fine_sums": ("pairs.fine", "fine_sums"),
        "scatter.centre_distances": ("pairs.fine", "centre_distances"),
        "pairs.extremes": ("pairs.passes", "extremes"),
        "linkage.agglomerate": ("pairs.linkage", "agglomerate"),
        "gaussian.posterior": ("mixtures.gaussian", "posterior"),
        "gaussian.moments": ("mixtures.gaussian", "moments"),
        "gaussian.exact_moments": ("exact.moments", "exact_moments"),
        "gaussian.em_step": ("mixtures.gaussian", "em_step"),
        "multinomial.posterior": ("mixtures.multinomial", "posterior"),
        "multinomial.moments": ("mixtures.multinomial", "moments"),
        "multinomial.exact_tallies": ("exact.moments", "exact_tallies"),
        "multinomial.em_step": ("mixtures.multinomial", "em_step"),
        "gaussian.whitening": ("mixtures.components", "whitening"),
        "gaussian.traces": ("mixtures.components", "traces"),
        "gaussian.scatters": ("mixtures.components", "scatters"),
        "multinomial.logs": ("mixtures.components", "logs"),
        "multinomial.m_step": ("mixtures.components", "m_step"),
        "contingency.table": ("counting", "table"),
        "information.expected_mi": ("counting", "expected_mi"),
    }
)

# Seconds per number and centre (or per label, per distance), on a machine of 2026.
_UNIT: Final = MappingProxyType(
    {
        "kmeans.assign": 6e-10,
        "kmeans.accumulate": 6e-9,
        "kmeans.lloyd_step": 6e-10,
        "kmeans.means": 1e-8,
        "kmeans.directions": 1e-7,
        "kmeans.residual": 1e-8,
        "kmeans.cosine_terms": 1e-8,
        "kmeans.squares": 2e-8,
        "seeding.potential": 3e-9,
        "seeding.locate": 2e-9,
        "seeding.mass": 3e-8,
        "seeding.beyond": 3e-9,
        "seeding.best_candidate": 1e-8,
        "seeding.farthest": 3e-9,
        "distances.pairwise": 2e-8,
        "silhouette.distance_sums": 2e-9,
        "silhouette.fine_sums": 2e-8,
        "scatter.centre_distances": 2e-8,
        "pairs.extremes": 2e-9,
        "linkage.agglomerate": 5e-8,
        "gaussian.posterior": 3e-9,
        "gaussian.moments": 3e-9,
        "gaussian.exact_moments": 3e-7,
        "gaussian.em_step": 6e-9,
        "multinomial.posterior": 2e-9,
        "multinomial.moments": 2e-9,
        "multinomial.exact_tallies": 1e-7,
        "multinomial.em_step": 4e-9,
        "gaussian.whitening": 1e-10,
        "gaussian.traces": 1e-10,
        "gaussian.scatters": 1e-10,
        "multinomial.logs": 1e-9,
        "multinomial.m_step": 1e-9,
        "contingency.table": 2e-8,
        "information.expected_mi": 5.1e-5,  # the reference's own code
    }
)
_PASSES: Final = frozenset((
    *("silhouette.distance_sums", "silhouette.fine_sums"),
    *("scatter.centre_distances", "pairs.extremes"),
))  # fmt: skip
_START: Final = 5e-3  # getting ready, and the price of a fit's many small calls
_IMPORT: Final = 0.12
_CALL: Final = 4e-4  # what one pass of a mixture costs beside its work


@dataclass(frozen=True, slots=True)
class NumpyBackend:
    """Every kernel on NumPy, with the reference's answers."""

    name: str = "numpy"
    api_version: int = API_VERSION
    accuracy: Accuracy = "exact"

    def kernels(self) -> Mapping[str, Callable[..., Any]]:
        """Return the kernels; each imports what it needs when it first runs."""
        return _kernels()

    def supports(self, kernel: str, problem: Problem) -> Estimate | Refusal:
        """Support all but normal densities of sparse rows; small problems do not pay the import."""
        if kernel.startswith("gaussian.") and problem.kind == "sparse":
            return Refusal("normal densities need dense rows")
        if kernel in _PASSES and problem.kind == "sparse":
            return Refusal("passes over pairs need dense rows")
        units = max(problem.n if problem.kind == "labels" else problem.size, 1) * max(problem.k, 1)
        # Where bits may differ between backends, the choice must not know what was imported before.
        ready = "numpy" in sys.modules and not problem.steady
        start = _START if ready else _START + _IMPORT
        call = _CALL if kernel.startswith(("gaussian.", "multinomial.")) else 0.0
        return Estimate(start + (call + _UNIT.get(kernel, 1e-6) * units) * problem.calls)

    def prepare(self, data: Any) -> Any:
        """Wrap the buffers of a data set in arrays, without a copy; take the rest as it is."""
        if not isinstance(data, Dataset):
            return data
        from refclust_numpy.rows import Rows

        return Rows(data)

    def export(self, value: Any) -> Any:
        """Results are buffers or plain already."""
        return value

    def blocks(self) -> tuple[int, ...]:
        """The sizes of the blocks in which rows and numbers are worked on."""
        from refclust_numpy.tiny import sizes

        return sizes()

    def tiny(self) -> AbstractContextManager[None]:
        """Work in blocks of a few rows for a while, so that small data need several of them."""
        from refclust_numpy.tiny import tiny

        return tiny()

    def decided(self, prepared: Any) -> Mapping[str, int]:
        """How many rows each rung of the ladder decided so far."""
        return dict(getattr(prepared, "rungs", {}))


@cache
def _kernels() -> Mapping[str, Callable[..., Any]]:
    return MappingProxyType({name: _late(*where) for name, where in _WHERE.items()})


def _late(module: str, name: str) -> Callable[..., Any]:
    """The kernel, imported when it is first called."""

    @cache
    def function() -> Callable[..., Any]:
        import numpy

        kernel: Callable[..., Any] = getattr(
            importlib.import_module(f"refclust_numpy.{module}"), name
        )
        # Estimates may overflow or be no numbers: then they prove nothing, and nobody is warned.
        return numpy.errstate(all="ignore")(kernel)

    def run(*args: Any) -> Any:
        return function()(*args)

    return run
