"""What a k-means fit returns, and what it yields on the way (chapters 10 and 20).

Centres, sums of squares and reasons are plain values; labels are a compact buffer of integers.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from refclust.backends.session import Provenance
from refclust.cluster.options import Metric as Metric
from refclust.cluster.options import Policy as Policy
from refclust.cluster.options import Size as Size
from refclust.cluster.options import Start as Start
from refclust.data.dataset import Features, Fingerprint
from refclust.data.files import parts
from refclust.data.files.records import Key
from refclust.data.preparing.record import Preparation
from refclust.fitting.fitted import Fitted
from refclust.fitting.labels import Labels as RowLabels
from refclust.kernels.centres import CentreMatrix
from refclust.shown.page import Shown, Summary, counted, number

if TYPE_CHECKING:
    Labels: TypeAlias = array[int]
else:
    Labels = array  # which takes no types at run time
Centre: TypeAlias = tuple[float, ...]
Centres: TypeAlias = tuple[Centre, ...]
Reason: TypeAlias = Literal["unchanged", "tolerance", "objective", "limit", "caller"]
Amount: TypeAlias = Annotated[float, parts.double(0)]
_due = parts.counted("centres", "k", fewer=("empty", "drop"))
_labels = parts.wholes("n", 0, "k", less=1, made=lambda labels: array("i", labels))
Matrix: TypeAlias = Annotated[
    CentreMatrix, parts.array(parts.doubles("d"), made=CentreMatrix.of), _due
]
TotalCosine: TypeAlias = Annotated[
    float | None,
    parts.double(),
    parts.only(
        "metric", "cosine", "a total cosine is known under the metric cosine only; null is due"
    ),
]


@dataclass(frozen=True, slots=True)
class Emptied:
    """A cluster that was empty, and what its policy did: the row it took, if it took one.

    Spec: KM-EMPTY
    """

    iteration: Annotated[int, parts.whole(1, "limit")]
    cluster: Annotated[int, parts.whole(0, "k", less=1)]
    policy: Policy
    row: Annotated[int, parts.whole(0, "n", less=1)] | None = None


@dataclass(frozen=True, slots=True)
class Iteration:
    """One assignment and, unless it was the last, one update.

    Spec: KM-ALG
    """

    iteration: int  # from 1
    # Rows whose label differs from the one before; all of them at first.
    changed: Annotated[int, parts.whole(0, "n")]
    rss: Amount | None  # of the new labels under the centres they were assigned to, if watched
    rss_updated: Amount | None  # of the same labels under the updated centres
    cosine: TotalCosine  # KM-COSOBJ of the new labels, under the cosine only
    # After the update; not with trace="scalars".
    centres: Annotated[Centres, parts.array(parts.doubles("d")), _due] | None = None
    labels: Annotated[Labels, _labels] | None = None  # with trace="full" only


@dataclass(frozen=True, slots=True, repr=False)
class Run(Shown):
    """One run from one start, as it ended.

    Spec: KM-RESTART
    """

    rss: Amount
    exact_rss: Fraction
    cosine: TotalCosine
    # What KM-COSOBJ adds up, squared, with the sign kept.
    cosine_terms: tuple[Annotated[Fraction, parts.rational(signed=True)], ...]
    iterations: Annotated[int, parts.whole(0, "limit")]
    stopped: Reason
    matrix: Annotated[Matrix, Key("centres")]  # the centres in one buffer
    first: Annotated[Matrix, Key("start")]  # where they started
    emptied: tuple[Emptied, ...]
    trace: tuple[Iteration, ...]

    @property
    def centres(self) -> Centres:
        """The centres, made into tuples when asked for.

        Spec: KM-ALG
        """
        return self.matrix.rows()

    @property
    def start(self) -> Centres:
        """The centres it started from.

        Spec: KM-INIT
        """
        return self.first.rows()

    def _summary(self) -> Summary:
        ended = f"{counted(self.iterations, 'iteration')}, {self.stopped}"
        return Summary("Run", f"RSS {number(self.rss)} after {ended}")


@dataclass(frozen=True, slots=True, repr=False)
class KMeansFit(Fitted):
    """The best of all runs, with the labels that belong to its centres.

    Spec: KM-ALG, KM-RESTART
    """

    labels: array[int]
    matrix: CentreMatrix  # the centres in one buffer
    sizes: tuple[Fraction, ...]  # weight of each cluster: a number of rows if there are no weights
    within: tuple[float, ...]  # residual sum of squares of each cluster
    exact_within: tuple[Fraction, ...]
    rss: float
    mean_square: float
    cosine: float | None
    iterations: int
    stopped: Reason
    best: int  # which of the runs
    runs: tuple[Run, ...]
    k: int  # as asked for; the policy drop may leave fewer centres
    metric: Metric
    start: Start
    seed: int
    restarts: int
    empty: Policy
    tolerance: float | None
    limit: int
    trials: int | None
    n: int
    d: int
    features: Features | None
    fingerprint: Fingerprint
    provenance: Provenance

    def __post_init__(self) -> None:
        """Hand the labels out in the form that data frames take."""
        object.__setattr__(self, "labels", RowLabels(self.labels))

    def _summary(self) -> Summary:
        from refclust.cluster.summary import of_kmeans

        return of_kmeans(self)

    @property
    def centres(self) -> Centres:
        """The centres, made into tuples when asked for.

        Spec: KM-ALG
        """
        return self.matrix.rows()

    @property
    def digest(self) -> str:
        """The digest of the data; after a fit with ``trace="none"`` worked out when asked for.

        Spec: DATA-DIGEST
        """
        return self.fingerprint.text

    @property
    def converged(self) -> bool:
        """Whether the best run ended because nothing changed any more."""
        return self.stopped in ("unchanged", "objective")

    @property
    def emptied(self) -> tuple[Emptied, ...]:
        """What happened to empty clusters in the best run."""
        return self.runs[self.best].emptied

    @property
    def trace(self) -> tuple[Iteration, ...]:
        """The iterations of the best run."""
        return self.runs[self.best].trace

    @property
    def spread(self) -> tuple[float, float]:
        """The smallest and the largest RSS of all runs.

        Spec: KM-RESTART
        """
        sums = [run.rss for run in self.runs]
        return min(sums), max(sums)


@dataclass(frozen=True, slots=True)
class Split:
    """An inner node of a bisecting fit: two centres, and below each a further split or a cluster.

    Spec: HC-BISECT
    """

    centres: tuple[Centre, Centre]
    children: tuple[Split | int, Split | int]
    rss: float  # of the node's rows before the split, around their mean
    rss_after: float


@dataclass(frozen=True, slots=True, repr=False)
class BisectingFit(Fitted):
    """A tree of splits whose leaves are the clusters.

    Spec: HC-BISECT
    """

    labels: array[int]
    root: Split | int
    centres: Centres
    sizes: tuple[Fraction, ...]
    within: tuple[float, ...]
    rss: float
    mean_square: float
    k: int
    metric: Metric
    by: Size
    start: Start
    seed: int
    restarts: int
    limit: int
    unconverged: int  # splits of which the best run stopped at the limit
    n: int
    d: int
    features: Features | None
    digest: str
    provenance: Provenance
    preparation: Preparation | None = None

    def __post_init__(self) -> None:
        """Hand the labels out in the form that data frames take."""
        object.__setattr__(self, "labels", RowLabels(self.labels))

    def _summary(self) -> Summary:
        from refclust.cluster.summary import of_bisecting

        return of_bisecting(self)

    @property
    def converged(self) -> bool:
        """Whether every split ended because nothing changed any more."""
        return not self.unconverged
