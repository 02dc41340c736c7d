"""What the one EM loop needs to know of a family of mixtures (chapter 30).

A family turns parameters into densities for a pass over the rows, and the sums of a pass into new
parameters. Everything else, the loop, restarts, stopping, variations and checkpoints, is common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from refclust.fitting.rows import Rows
from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.mixtures.shared import Doubles, EMStep, Posterior, Rule


class Densities(Protocol):
    """K densities, ready for a pass."""

    @property
    def k(self) -> int:
        """The number of components."""


P = TypeVar("P")  # parameters
D = TypeVar("D", bound=Densities)
M = TypeVar("M")  # sums of a pass
Under = TypeVar("Under", bound=Densities, contravariant=True)


class Collapsed(Exception):
    """A component has no maximum likelihood estimate: it is empty, or its spread is gone."""

    def __init__(self, component: int | None, why: str) -> None:
        self.who = "all components together" if component is None else f"component {component}"
        told = why if component is not None else why.replace("has lost its", "have lost their")
        super().__init__(f"{self.who} {told}")
        self.component, self.why = component, why


@dataclass(frozen=True, slots=True)
class Point(Generic[P, D]):
    """Parameters, the densities that belong to them, and the logarithm of their prior."""

    parameters: P
    densities: D
    log_prior: float
    rounding: float = 0.0  # what the logarithm of the prior may err by


@dataclass(frozen=True, slots=True)
class Following(Generic[P, D]):
    """Where an M-step leads, and E_q[log p(X, Z)] there if the step came by it."""

    point: Point[P, D]
    expected: float | None = None


class Passes(Protocol[Under, M]):
    """Passes over the rows of a data set under densities of one kind."""

    @property
    def rows(self) -> Rows:
        """The rows, as a start sees them: cells that are missing filled up (MISS-INIT)."""

    def step(self, densities: Under, rule: Rule) -> EMStep[M]:
        """Share out the rows and add them up."""

    def posterior(self, densities: Under, *, full: bool) -> Posterior:
        """Find labels and log p(x)."""

    def expected(self, moments: M, densities: Under) -> float:
        """E_q[log p(X, Z)] from the sums of a pass."""

    def rounding(self, moments: M, densities: Under, expected: float) -> float:
        """A bound on the rounding error of an objective that has this expected part."""


class Family(Protocol[P, D, M]):
    """One kind of mixture on one data set."""

    @property
    def name(self) -> str:
        """The word for it on the command line and in model files."""

    @property
    def kernel(self) -> str:
        """The kernel that takes the time."""

    @property
    def settings(self) -> dict[str, Any]:
        """The options of the family, as plain values."""

    @property
    def unit(self) -> float:
        """The weight that counts as one in sums and objectives: a power of two."""

    @property
    def constant(self) -> float:
        """What to add to a log-likelihood for each unit of weight."""

    @property
    def passes(self) -> Passes[D, M]:
        """The passes over its rows."""

    def point(self, parameters: P) -> Point[P, D]:
        """Make parameters ready for a pass; raises ``Collapsed``."""

    def moments(self, q: Labels | Doubles, k: int) -> M:
        """Add up the rows for given labels or responsibilities."""

    def following(self, moments: M, before: P | None) -> Following[P, D]:
        """Make the M-step; raises ``Collapsed``."""

    def started(self, moments: M, *, smooth: bool) -> P:
        """Make the M-step of a start; ``smooth`` if responsibilities were chosen, not given."""

    def sizes(self, moments: M) -> tuple[float, ...]:
        """The weight of each component."""

    def around(self, rows: Sequence[Sequence[float]]) -> P:
        """Parameters of K equal components that differ in where they are: at some rows."""

    def blended(self, old: P, new: P, share: float) -> P:
        """Parameters on the way from one to another."""

    def without(self, parameters: P, component: int) -> P:
        """The parameters of the other components."""

    def replaced(self, parameters: P, component: int, row: Sequence[float]) -> P:
        """The parameters with one component as wide as the data, around a row."""

    def content(self, parameters: P) -> dict[str, Any]:
        """Parameters as plain values."""

    def read(self, content: Any) -> P:
        """Parameters from plain values, or from parameters, checked."""

    def free_parameters(self, k: int) -> int:
        """How many numbers a mixture of k components is free to choose."""
