"""The options of k-means, of bisecting k-means and of trees of merges, each once (chapters 10, 20).

A call is what the caller says; ``KMeansOptions`` are the options in force, as files keep them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from refclust.errors import BadOption
from refclust.fitting.checks import not_negative, runs, whole
from refclust.fitting.options import (
    LEFT_OPEN,
    Backend,
    LongCall,
    Option,
    Options,
    Restarts,
    Rows,
    Running,
    Seed,
    unchecked,
)
from refclust.numbers.reading import shown

Metric: TypeAlias = Literal["euclidean", "cosine"]
Policy: TypeAlias = Literal["farthest", "split", "keep", "drop", "error"]
DrawnStart: TypeAlias = Literal["k-means++", "greedy", "random", "random-centres", "farthest"]
Start: TypeAlias = Literal[DrawnStart, "given", "labels"]
Detail: TypeAlias = Literal["none", "scalars", "centres", "full"]
Size: TypeAlias = Literal["rss", "size"]

# What several fits ask for in the same words.
Clusters: Final = Option("How many clusters.", "-k --clusters K", typed=int | None)
Nearness: TypeAlias = Annotated[
    Metric, Option("Nearest by which measure; cosine suits texts.", "--metric")
]
Iterations: TypeAlias = Annotated[
    int, Option("The largest number of iterations of a run.", "--limit N", partial(whole, least=1))
]
_START: Final = Option("How the first centres are chosen.", "--start")
_LINKAGES: Final = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
_STARTS: Final = get_args(DrawnStart)


@dataclass(frozen=True, kw_only=True)
class Lloyd(Options):
    """What decides the runs of k-means besides the rows and where they start."""

    metric: Nearness = "euclidean"
    seed: Seed = 0
    restarts: Restarts = 1
    trials: Annotated[int | None, Option("Candidates of the greedy start.", "--trials L", runs)] = (
        None
    )
    empty: Annotated[Policy, Option("What becomes of an empty cluster.", "--empty")] = "farthest"
    tolerance: Annotated[
        float | None,
        Option(
            "Stop when the objective gains no more than this share. [only when no label changes]",
            "--tolerance T",
            not_negative,
        ),
    ] = None
    limit: Iterations = 300
    trace: Annotated[Detail, Option("What is kept of every iteration.")] = "centres"


@dataclass(frozen=True, kw_only=True)
class KMeansOptions(Lloyd):
    """Everything that decides a fit besides the rows and given centres."""

    k: Annotated[int, Clusters]
    start: Annotated[Start, _START]

    def check(self) -> None:
        """Refuse options that do not go together."""
        if self.trials is not None and self.start != "greedy":
            raise BadOption(f"trials belong to the start 'greedy', not to {self.start!r}")
        if self.restarts > 1 and self.start in ("given", "labels"):
            raise BadOption(
                f"{self.restarts} restarts from one given start would all be the same; 1 is enough"
            )


@dataclass(frozen=True, kw_only=True)
class KMeansCall(Lloyd, LongCall):
    """What ``kmeans`` takes."""

    k: Annotated[int | None, Clusters] = field(default=None, kw_only=False)
    # Unless centres or labels are given, one of the names: see below.
    start: Annotated[
        str,
        Option(
            "How the first centres are chosen. [greedy, of twice as many candidates]",
            "--start",
            unchecked,
            names=_STARTS,
        ),
    ] = LEFT_OPEN
    centres: Annotated[
        Any, Option("Start from these centres.", "--centres FILE", typed=str | None)
    ] = None
    labels: Annotated[
        Iterable[Hashable] | None,
        Option(
            "Start from the means of these groups, one label per row.",
            "--start-labels FILE[:COLUMN]",
            typed=str | None,
        ),
    ] = None

    def check(self) -> None:
        """Refuse a start that has no meaning, and two of them."""
        if self.centres is not None and self.labels is not None:
            raise BadOption("centres and labels were both given; a fit starts from one of them")
        start: Any = self.start  # whatever a caller without types gave
        drawn = self.centres is None and self.labels is None and start is not LEFT_OPEN
        if drawn and (not isinstance(start, str) or start not in _STARTS):
            raise BadOption(
                f"start is {shown(start)}; allowed are {', '.join(_STARTS)}, or give "
                "centres or labels"
            )


@dataclass(frozen=True, kw_only=True)
class BisectingCall(LongCall):
    """What ``bisecting`` takes."""

    k: Annotated[int, Clusters] = field(kw_only=False)
    by: Annotated[Size, Option("Split the cluster of largest RSS or largest size.", "--by")] = "rss"
    start: Annotated[DrawnStart, _START] = "k-means++"
    metric: Nearness = "euclidean"
    seed: Seed = 0
    restarts: Restarts = 1
    limit: Iterations = 300
    after_split: Annotated[
        Callable[[int], None] | None, Option("Called with the number of leaves after each split.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class AgglomerativeCall(Options):
    """What ``agglomerative`` takes."""

    data: Rows = field(default=None, kw_only=False)
    k: Annotated[int | None, Clusters] = None
    height: Annotated[float | None, Option("Cut the tree at this height.", "--height H")] = None
    linkage: Annotated[
        str, Option("How far apart two clusters are.", "--linkage", names=_LINKAGES)
    ] = "ward"
    metric: Annotated[
        str,
        Option(
            "Nearest by which measure; cosine suits texts, gower mixed columns.",
            "--metric",
            names=("euclidean", "sqeuclidean", "cosine", "gower"),
            typed=Literal["euclidean", "cosine", "gower"],
        ),
    ] = "euclidean"
    distances: Annotated[
        Any, Option("A square matrix, instead of the data.", "--distances FILE", typed=str | None)
    ] = None
    backend: Backend = None
    session: Running = None
