"""The two backends that are always there: the reference, and the loopback that proves the seam."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from refclust.backends.protocol import API_VERSION, Accuracy, Estimate, Problem, Refusal
from refclust.data.dataset import Dataset
from refclust.kernels import contingency, distances, information, linkage  # noqa: F401
from refclust.kernels.clusters import directions, kmeans, masses, means, seeding  # noqa: F401
from refclust.kernels.mixtures import (  # noqa: F401  (all of them register their kernels)
    exact_moments,
    gaussian,
    multinomial,
    scatters,
    whitening,
    words,
)
from refclust.kernels.pairs import extremes, fine, lengths  # noqa: F401
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS

_SECONDS_PER_UNIT = {
    "contingency.table": 2e-7,
    "information.expected_mi": 5e-5,
    "kmeans.directions": 2e-6,
    "kmeans.squares": 1e-7,
    "seeding.potential": 2e-7,
    "seeding.locate": 1e-7,
    "seeding.mass": 2e-7,
    "seeding.beyond": 2e-7,
    "seeding.best_candidate": 1e-6,
    "seeding.farthest": 1e-7,
    "distances.pairwise": 2e-7,
    "silhouette.distance_sums": 3e-8,
    "silhouette.fine_sums": 1.2e-7,
    "scatter.centre_distances": 4e-7,
    "pairs.extremes": 4e-8,
    "linkage.agglomerate": 7e-7,
    "gaussian.posterior": 1e-6,
    "gaussian.moments": 1e-6,
    "gaussian.exact_moments": 1e-6,
    "gaussian.em_step": 2e-6,
    "multinomial.posterior": 2e-7,
    "multinomial.moments": 2e-7,
    "multinomial.exact_tallies": 2e-7,
    "multinomial.em_step": 4e-7,
    "kmeans.assign": 1e-7,
    "kmeans.accumulate": 1e-7,
    "kmeans.lloyd_step": 2e-7,
}
_PER_CENTRE = frozenset(
    (
        "kmeans.assign",
        "kmeans.lloyd_step",
        "distances.pairwise",
        "silhouette.distance_sums",
        "silhouette.fine_sums",
        "pairs.extremes",
        *(name for name in KERNELS if name.startswith(("gaussian.", "multinomial."))),
    )
)


@dataclass(frozen=True, slots=True)
class Reference:
    """The pure core: every kernel is the function one can read."""

    name: str = "reference"
    api_version: int = API_VERSION
    accuracy: Accuracy = "exact"

    def kernels(self) -> Mapping[str, Callable[..., Any]]:
        """Return the reference functions themselves."""
        return {name: kernel.reference for name, kernel in KERNELS.items()}

    def supports(self, kernel: str, problem: Problem) -> Estimate | Refusal:
        """Support everything; the estimate is for a machine of 2026."""
        units = max(problem.n if problem.kind == "labels" else problem.size, 1)
        if kernel in _PER_CENTRE:
            units *= max(problem.k, 1)
        return Estimate(_SECONDS_PER_UNIT.get(kernel, 1e-6) * units * problem.calls)

    def prepare(self, data: Any) -> Any:
        """Take labels and margins as they are, rows as tuples and integers."""
        return Points(data) if isinstance(data, Dataset) else data

    def export(self, value: Any) -> Any:
        """Results are plain already."""
        return value


class Opaque:
    """Data that only the loopback backend may open; anything else that tries will fail."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def open(self) -> Any:
        """Return what is inside."""
        return self._value


@dataclass(frozen=True, slots=True)
class Loopback:
    """The reference behind opaque data: a driver that looks inside prepared data breaks here."""

    name: str = "loopback"
    api_version: int = API_VERSION
    accuracy: Accuracy = "exact"

    def kernels(self) -> Mapping[str, Callable[..., Any]]:
        """Return the reference functions, each opening its data and sealing its result."""
        return {name: _sealed(kernel.reference) for name, kernel in KERNELS.items()}

    def supports(self, kernel: str, problem: Problem) -> Estimate | Refusal:  # noqa: ARG002
        """Support everything when asked by name, but never be the fastest."""
        return Estimate(float("inf"))

    def prepare(self, data: Any) -> Any:
        """Seal what the reference would use."""
        return Opaque(Reference().prepare(data))

    def export(self, value: Any) -> Any:
        """Open the result."""
        return value.open()


def _sealed(reference: Callable[..., Any]) -> Callable[..., Opaque]:
    def run(data: Opaque, *args: Any) -> Opaque:
        return Opaque(reference(data.open(), *args))

    return run
