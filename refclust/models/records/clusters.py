"""What the model files of cluster algorithms hold (chapter 11).

A model is a fit without its labels: what is needed to put new rows into clusters, to see how the
fit went, and to read new data as the old ones were read. The annotations of a record are all that
is declared of it: reading, writing, the schema and the paths of refusals follow from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from refclust.cluster.results import Emptied, Metric, Policy, Reason, Start
from refclust.cluster.tree import Merge
from refclust.data.files.document import Node
from refclust.data.files.parts import (
    Known,
    Part,
    also,
    counted,
    double,
    doubles,
    items,
    on_line,
    only,
    read_by,
    whole,
    words,
)
from refclust.data.files.records import IN_ARRAY, ONE_KEY
from refclust.kernels.distances import METRICS
from refclust.kernels.linkage import LINKAGES
from refclust.models.records.common import Amount, Clusters, Lines, Many, Seed, agrees, numbered
from refclust.models.records.common import DataFacts as DataFacts
from refclust.models.records.common import DataKind as DataKind
from refclust.models.records.common import DataOrigin as DataOrigin
from refclust.models.records.common import KernelFacts as KernelFacts
from refclust.models.records.common import Reading as Reading
from refclust.models.records.common import Weighing as Weighing
from refclust.models.records.mixtures import ClassifierModel as ClassifierModel
from refclust.models.records.mixtures import MixtureModel as MixtureModel
from refclust.models.records.rows import Row, Rows, directed, room

GIVEN: Final = "given"
GOWER: Final = "gower"
TotalCosine: TypeAlias = Annotated[
    float | None,
    double(),
    only(
        "params.metric",
        "cosine",
        "a total cosine is known under the metric cosine only; null is due",
    ),
]
Sizes: TypeAlias = Annotated[tuple[Fraction, ...], items("centres", fewest=1)]
Within: TypeAlias = Annotated[tuple[float, ...], doubles("centres", 0, fewest=1)]


@dataclass(frozen=True, slots=True)
class KMeansParams:
    """What a k-means fit was asked for.

    Spec: MODEL-DOC
    """

    k: Clusters
    metric: Metric
    start: Start
    seed: Seed
    restarts: Many
    trials: Many | None
    empty: Policy
    tolerance: Amount | None
    limit: Many


@dataclass(frozen=True, slots=True)
class RunFacts:
    """How one run of a k-means fit ended.

    Spec: MODEL-DOC
    """

    rss: Amount
    cosine: TotalCosine
    iterations: int
    stopped: Reason
    emptied: tuple[Emptied, ...]


@dataclass(frozen=True, slots=True)
class IterationRecord:
    """The numbers of one iteration.

    Spec: MODEL-DOC
    """

    iteration: Annotated[int, whole(1)]
    changed: Annotated[int, whole(0, "n")]
    rss: Amount
    rss_updated: Amount | None
    cosine: TotalCosine


@dataclass(frozen=True, slots=True)
class KMeansFitted:
    """What a k-means fit found.

    Spec: MODEL-DOC
    """

    rss: Amount
    mean_square: Amount
    cosine: TotalCosine
    iterations: int
    stopped: Reason
    best: Annotated[int, whole(0, "runs", less=1)]
    sizes: Sizes
    within: Within
    centres: Annotated[
        Rows,
        also(directed, "params.metric"),
        counted("centres", "params.k", fewer=("params.empty", "drop")),
    ]
    runs: Annotated[Lines[RunFacts], counted("runs", "params.restarts", fewer=True)]
    trace: Lines[IterationRecord]  # of the best run

    def check(self, node: Node, _known: Known) -> None:
        """Refuse a trace out of order, and another best run than the one described."""
        numbered(self.trace, node, 1)
        agrees(self, node, "rss", "cosine", "iterations", "stopped")


@dataclass(frozen=True, slots=True)
class BisectingParams:
    """What a bisecting fit was asked for.

    Spec: MODEL-DOC
    """

    k: Clusters
    metric: Metric
    by: Literal["rss", "size"]
    start: Start
    seed: Seed
    restarts: Many
    limit: Many


@dataclass(frozen=True, slots=True)
class Child:
    """What lies below one side of a split: a further split, or a cluster, by its number.

    Spec: MODEL-TREE
    """

    split: Annotated[int, whole(1, "params.k", less=2)] | None = None
    cluster: Annotated[int, whole(0, "params.k", less=1)] | None = None

    @property
    def kind(self) -> Literal["split", "cluster"]:
        """Which of the two it is."""
        return "cluster" if self.split is None else "split"

    @property
    def index(self) -> int:
        """Its number.

        Spec: MODEL-TREE
        """
        return (self.cluster if self.split is None else self.split) or 0


@dataclass(frozen=True, slots=True)
class FlatSplit:
    """A split whose children are named by their numbers, so that no tree is too deep to write.

    Spec: MODEL-TREE
    """

    rss: Amount
    rss_after: Amount
    children: Annotated[tuple[Annotated[Child, ONE_KEY], Annotated[Child, ONE_KEY]], on_line]
    centres: Annotated[tuple[Row, Row], also(directed, "params.metric")]


@dataclass(frozen=True, slots=True)
class BisectingFitted:
    """What a bisecting fit found; the first split, if there is one, is the root.

    Spec: MODEL-DOC, MODEL-TREE
    """

    rss: Amount
    mean_square: Amount
    sizes: Sizes
    within: Within
    centres: Annotated[Rows, counted("centres", "params.k", fewer=False)]
    splits: Annotated[tuple[FlatSplit, ...], room(2), items("params.k", less=1)]

    def check(self, node: Node, _known: Known) -> None:
        """Walk the tree, first child first: splits and clusters must come in their order, once.

        Spec: MODEL-TREE
        """
        due = {"split": 1, "cluster": 0}
        todo = [(0, side) for side in (1, 0)] if self.splits else []
        while todo:
            parent, side = todo.pop()
            child = self.splits[parent].children[side]
            if child.index != due[child.kind]:
                place = node.entry("splits").item(parent).entry("children").item(side)
                place.fail(
                    f"the {child.kind} {child.index}; {due[child.kind]} is the next one in a walk "
                    "that goes to the first child first"
                )
            due[child.kind] += 1
            if child.kind == "split":
                todo += [(child.index, 1), (child.index, 0)]
        if self.splits and due["split"] < len(self.splits):
            node.entry("splits").item(due["split"]).fail("no split leads here")


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a tree of merges was cut: into so many clusters, or at a height.

    Spec: MODEL-DOC
    """

    k: Annotated[int, whole(1, "n")] | None = None
    height: float | None = None


@dataclass(frozen=True, slots=True)
class AgglomerativeParams:
    """How a tree of merges was asked for."""

    linkage: Annotated[str, words((*LINKAGES, GIVEN))]
    metric: Annotated[str, words((*METRICS, GOWER, GIVEN))]
    cut: Annotated[Cut, ONE_KEY, on_line] | None

    def check(self, node: Node, known: Known) -> None:
        """Refuse distances that were given and measured; of a mixed table only they are kept."""
        if (self.metric in (GIVEN, GOWER)) != (known["kind"] == "distances"):
            place = node.entry("metric")
            place.fail(f"{self.metric} does not go with data.kind, {known['kind']}")


def _merges(_part: Part, node: Node, known: Known) -> tuple[Merge, ...]:
    """Read a tree of merges: every cluster but the last is merged once, into a larger one.

    Spec: MODEL-LOAD
    """
    n = known["n"]
    merges = node.items(n - 1)
    sizes = dict.fromkeys(range(n), 1)
    tree: list[Merge] = []
    for made, item in enumerate(merges, start=n):
        a, b, height, size = item.items(4)
        first, second = a.whole(0, made - 1), b.whole(0, made - 1)
        if first >= second:
            item.fail(f"clusters {first} and {second}; the smaller of two numbers comes first")
        for cluster in (a, b):
            if cluster.value not in sizes:
                cluster.fail(f"cluster {cluster.value} is part of another merge")
        sizes[made] = sizes.pop(first) + sizes.pop(second)
        if size.whole(2) != sizes[made]:
            size.fail(f"{size.value}; the two clusters hold {sizes[made]} rows")
        tree.append(Merge(first, second, height.double(), sizes[made]))
    return tuple(tree)


@dataclass(frozen=True, slots=True)
class AgglomerativeFitted:
    """All merges, from single rows to one cluster."""

    merges: Annotated[tuple[Annotated[Merge, IN_ARRAY], ...], read_by(_merges, "n")]


@dataclass(frozen=True, slots=True)
class KMeansModel:
    """A k-means fit without its labels.

    Spec: MODEL-DOC
    """

    algorithm: ClassVar = "kmeans"
    params: KMeansParams
    fitted: KMeansFitted
    data: DataFacts
    provenance: DataOrigin


@dataclass(frozen=True, slots=True)
class BisectingModel:
    """A bisecting fit without its labels.

    Spec: MODEL-DOC
    """

    algorithm: ClassVar = "bisecting"
    params: BisectingParams
    fitted: BisectingFitted
    data: DataFacts
    provenance: DataOrigin


@dataclass(frozen=True, slots=True)
class AgglomerativeModel:
    """A tree of merges.

    Spec: MODEL-DOC
    """

    algorithm: ClassVar = "agglomerative"
    params: AgglomerativeParams
    fitted: AgglomerativeFitted
    data: DataFacts
    provenance: DataOrigin


ClusterModel: TypeAlias = KMeansModel | BisectingModel | AgglomerativeModel
Model: TypeAlias = ClusterModel | MixtureModel | ClassifierModel
