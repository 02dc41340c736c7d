"""What a model file holds, as plain records (chapter 11).

A model is a fit without its labels: what is needed to put new rows into clusters, to see how the
fit went, and to read new data as the old ones were read. Every record mirrors one object of the
document of MODEL-DOC, key by key.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from refclust.cluster.results import Centre, Centres, Emptied, Metric, Policy, Reason, Start
from refclust.cluster.tree import Merge
from refclust.models.records.common import (
    Algorithm,
    DataFacts,
    KernelFacts,
    Kind,
    Origin,
    Reading,
    Weighing,
)
from refclust.models.records.mixtures import ClassifierModel, MixtureModel

__all__ = [
    "AgglomerativeFitted",
    "AgglomerativeModel",
    "AgglomerativeParams",
    "Algorithm",
    "BisectingFitted",
    "BisectingModel",
    "BisectingParams",
    "Child",
    "ClassifierModel",
    "ClusterModel",
    "Cut",
    "DataFacts",
    "FlatSplit",
    "KMeansFitted",
    "KMeansModel",
    "KMeansParams",
    "KernelFacts",
    "Kind",
    "MixtureModel",
    "Model",
    "Origin",
    "Reading",
    "RunFacts",
    "Step",
    "Weighing",
]


@dataclass(frozen=True, slots=True)
class KMeansParams:
    """What a k-means fit was asked for.

    Spec: MODEL-DOC
    """

    k: int
    metric: Metric
    start: Start
    seed: int
    restarts: int
    trials: int | None
    empty: Policy
    tolerance: float | None
    limit: int


@dataclass(frozen=True, slots=True)
class RunFacts:
    """How one run of a k-means fit ended.

    Spec: MODEL-DOC
    """

    rss: float
    cosine: float | None
    iterations: int
    stopped: Reason
    emptied: tuple[Emptied, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """The numbers of one iteration.

    Spec: MODEL-DOC
    """

    iteration: int
    changed: int
    rss: float
    rss_updated: float | None
    cosine: float | None


@dataclass(frozen=True, slots=True)
class KMeansFitted:
    """What a k-means fit found.

    Spec: MODEL-DOC
    """

    rss: float
    mean_square: float
    cosine: float | None
    iterations: int
    stopped: Reason
    best: int
    sizes: tuple[Fraction, ...]
    within: tuple[float, ...]
    centres: Centres
    runs: tuple[RunFacts, ...]
    trace: tuple[Step, ...]  # of the best run


@dataclass(frozen=True, slots=True)
class BisectingParams:
    """What a bisecting fit was asked for.

    Spec: MODEL-DOC
    """

    k: int
    metric: Metric
    by: Literal["rss", "size"]
    start: Start
    seed: int
    restarts: int
    limit: int


@dataclass(frozen=True, slots=True)
class Child:
    """What lies below one side of a split: a further split, or a cluster, by its number.

    Spec: MODEL-TREE
    """

    kind: Literal["split", "cluster"]
    index: int


@dataclass(frozen=True, slots=True)
class FlatSplit:
    """A split whose children are named by their numbers, so that no tree is too deep to write.

    Spec: MODEL-TREE
    """

    rss: float
    rss_after: float
    children: tuple[Child, Child]
    centres: tuple[Centre, Centre]


@dataclass(frozen=True, slots=True)
class BisectingFitted:
    """What a bisecting fit found; the first split, if there is one, is the root.

    Spec: MODEL-DOC, MODEL-TREE
    """

    rss: float
    mean_square: float
    sizes: tuple[Fraction, ...]
    within: tuple[float, ...]
    centres: Centres
    splits: tuple[FlatSplit, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a tree of merges was cut: into so many clusters, or at a height.

    Spec: MODEL-DOC
    """

    k: int | None = None
    height: float | None = None


@dataclass(frozen=True, slots=True)
class AgglomerativeParams:
    """How a tree of merges was asked for."""

    linkage: str
    metric: str
    cut: Cut | None


@dataclass(frozen=True, slots=True)
class AgglomerativeFitted:
    """All merges, from single rows to one cluster."""

    merges: tuple[Merge, ...]


@dataclass(frozen=True, slots=True)
class KMeansModel:
    """A k-means fit without its labels.

    Spec: MODEL-DOC
    """

    params: KMeansParams
    fitted: KMeansFitted
    data: DataFacts
    provenance: Origin

    @property
    def algorithm(self) -> Algorithm:
        """The word that a model file has for it."""
        return "kmeans"


@dataclass(frozen=True, slots=True)
class BisectingModel:
    """A bisecting fit without its labels.

    Spec: MODEL-DOC
    """

    params: BisectingParams
    fitted: BisectingFitted
    data: DataFacts
    provenance: Origin

    @property
    def algorithm(self) -> Algorithm:
        """The word that a model file has for it."""
        return "bisecting"


@dataclass(frozen=True, slots=True)
class AgglomerativeModel:
    """A tree of merges.

    Spec: MODEL-DOC
    """

    params: AgglomerativeParams
    fitted: AgglomerativeFitted
    data: DataFacts
    provenance: Origin

    @property
    def algorithm(self) -> Algorithm:
        """The word that a model file has for it."""
        return "agglomerative"


ClusterModel: TypeAlias = KMeansModel | BisectingModel | AgglomerativeModel
Model: TypeAlias = ClusterModel | MixtureModel | ClassifierModel
