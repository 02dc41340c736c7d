"""The options of choosing among models (chapter 34): its own, and those of the fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final, Literal, TypeAlias, cast

from refclust.cluster.options import AgglomerativeCall
from refclust.errors import BadOption
from refclust.fitting.checks import not_negative, runs, whole
from refclust.fitting.options import LEFT_OPEN, Call, Option, members
from refclust.mixture.families.named import names
from refclust.mixture.options import (
    Climb,
    Counting,
    Floored,
    Gapped,
    Imagining,
    NormalBelief,
    WordBelief,
)

Model: TypeAlias = str  # a family of mixtures, or a way to make clusters
Criterion: TypeAlias = str
Rule: TypeAlias = Literal["globalSEmax", "firstSEmax", "Tibs2001SEmax", "globalmax", "firstmax"]
Watcher: TypeAlias = Callable[
    [int, int, str], None
]  # pieces of work done, all of them, the last one

CLUSTERS: Final = ("kmeans", "bisecting", "agglomerative")
MODELS: Final = (*names(), *CLUSTERS)
RESTARTS: Final = 5
RUNS: Final = 2  # of each of the many clusterings that gap and stability take
Linkage: TypeAlias = Literal[
    "single", "complete", "average", "weighted", "centroid", "median", "ward"
]
TOLERANCE: Final = 1e-6  # criteria are compared in units, not in the last digits of a maximum


@dataclass(frozen=True, kw_only=True)
class SelectCall(Floored, Gapped, Imagining, Counting, NormalBelief, WordBelief, Climb, Call):
    """What ``select`` takes; options of the fits go with the models that have them."""

    k: Annotated[int | Iterable[int], Option("Numbers of components to try.", "-k --k K")] = range(
        1, 10
    )
    model: Annotated[
        Model,
        Option(
            "Which kind of mixture, or of clusters.",
            "--model",
            names=MODELS,
            typed=cast(Any, Literal)[MODELS],
        ),
    ] = "gaussian"
    covariance: Annotated[
        str | Iterable[str],
        Option("Covariance models to try: one, several, or all.", "--covariance C"),
    ] = "full"
    criterion: Annotated[
        Criterion | Iterable[Criterion] | None,
        Option(
            "What decides: bic, aic, icl, icl-soft, cv, evidence or importance; of clusters one or "
            "several of silhouette, calinski_harabasz, davies_bouldin, gap, stability, elbow, with "
            "commas between. [bic; of clusters all but elbow]",
            "--criterion C",
            typed=str | None,
        ),
    ] = None
    folds: Annotated[int | None, Option("Folds of the criterion cv. [10]", "--folds F")] = None
    references: Annotated[
        int, Option("Random sets of the criterion gap.", "--references B", runs)
    ] = 20
    gap_rule: Annotated[Rule, Option("How the gap chooses.", "--gap-rule")] = "globalSEmax"
    pairs: Annotated[
        int, Option("Pairs of samples of the criterion stability.", "--pairs B", runs)
    ] = 10
    linkage: Annotated[
        Linkage, Option("How far apart two clusters of a tree are. [ward]", "--linkage")
    ] = LEFT_OPEN
    start: Annotated[str, Option("Where fits begin: kmeans, points, random, …", "--start S")] = (
        LEFT_OPEN
    )
    restarts: Annotated[
        int, Option(f"Runs of each fit. [{RESTARTS}; of clusters {RUNS}]", "--restarts R", runs)
    ] = LEFT_OPEN
    tolerance: Annotated[
        float | None,
        Option(
            f"Stop when a row gains no more than this. [{TOLERANCE}; for k-means not]",
            "--tolerance T",
            not_negative,
        ),
    ] = LEFT_OPEN
    limit: Annotated[
        int | None,
        Option(
            "The largest number of iterations of a run. [that of the fit]",
            "--limit N",
            partial(whole, least=0),
        ),
    ] = None
    after_candidate: Annotated[
        Watcher | None,
        Option("Called after each fit: how many are done, of how many, the last one."),
    ] = None

    def of_fits(self, kind: type) -> dict[str, Any]:
        """The options given for the fits, each of which their call must have."""
        known = members(SelectCall)
        shared = sorted(members(kind).keys() & known.keys() - _OWN)
        chosen = {
            name: getattr(self, name)
            for name, member in known.items()
            if name not in _OWN and not member.is_default(getattr(self, name))
        }
        if kind is AgglomerativeCall:
            chosen.pop("seed", None)  # of samples and reference sets; a tree has nothing random
        for name in chosen:
            if name not in shared:
                raise BadOption(
                    f"choosing among {self.model} models has no option {name}; allowed are "
                    f"{', '.join(shared)}"
                )
        if self.model in CLUSTERS:
            return ({"restarts": RUNS} if "restarts" in shared else {}) | chosen
        # One unlucky start would decide between models: each gets several.
        start = "varied" if self.model == "gaussian" else "points"
        return {"start": start, "restarts": RESTARTS, "tolerance": TOLERANCE, **chosen}


_OWN: Final = {
    *("data", "weights", "backend", "session", "after_candidate"),
    *("k", "model", "covariance", "criterion", "folds", "references", "gap_rule", "pairs"),
}
