"""The table of candidates, and how a criterion chooses among them (chapter 34)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from refclust.data.frames import frame
from refclust.errors import DataError
from refclust.mixture.choosing.criteria import AnyFit
from refclust.mixture.choosing.options import Criterion, Model
from refclust.mixture.choosing.partitions import ClusterFit
from refclust.shown.page import Shown, Summary

METRICS: Final = ("silhouette", "calinski_harabasz", "davies_bouldin")  # of the catalogue
OF_CLUSTERS: Final = (*METRICS, "gap", "stability", "elbow")
OF_BELIEFS: Final = ("evidence", "importance")
TITLES: Final[Mapping[str, str]] = {
    "bic": "BIC",
    "aic": "AIC",
    "icl": "ICL",
    "icl-soft": "soft ICL",
    "cv": "log-likelihood of a row not seen",
    "evidence": "bound on the log evidence",
    "importance": "log evidence by importance sampling",
}
_LARGEST: Final = ("cv", *OF_BELIEFS)
_SMALL: Final = (
    "cv",
    "silhouette",
    "davies_bouldin",
    "gap",
    "gap-error",
    "stability",
    "elbow",
    "importance-error",
    "pareto-k",
)  # numbers that begin after the point


@dataclass(frozen=True, slots=True)
class Candidate:
    """One model of the table, with all that was found out about it.

    Spec: MS-SPEC
    """

    k: int
    covariance: str | None = None
    log_likelihood: float | None = None
    free_parameters: int | None = None
    iterations: int | None = None
    used: int | None = None  # components with a weight of at least 1, by variational Bayes
    values: Mapping[str, float] = field(default_factory=dict)  # by the names of criteria
    limit: int | None = None  # of iterations, if its fit came to it before it converged
    error: str | None = None  # its code
    message: str | None = None
    doubts: tuple[str, ...] = ()  # why its evidence should not be trusted

    @property
    def name(self) -> str:
        """What to call it."""
        of = "" if self.covariance is None else f"{self.covariance} with "
        return f"{of}K = {self.k}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which candidate a criterion chooses, by its place, and why; none if it finds none.

    Spec: KM-KSEL
    """

    criterion: str
    chosen: int | None
    why: str


@dataclass(frozen=True, slots=True, repr=False)
class Selection(Shown):
    """All candidates in order, the one chosen, and why.

    Spec: MS-BIC, MS-AIC, MS-ICL, MS-CVLL, MS-VISEL, MS-BEST, MS-GAP, MS-STAB, MS-ELBOW
    """

    model: Model
    criterion: Criterion  # the one that decides
    candidates: tuple[Candidate, ...]
    chosen: int | None  # an index; none if a rule for clusters finds no K
    why: str
    fit: AnyFit | ClusterFit | None  # of the candidate chosen
    left_out: tuple[str, ...] = ()  # covariance models of ``all`` that have no evidence
    verdicts: tuple[Verdict, ...] = ()  # of all criteria for clusters, the one that decides first
    notes: tuple[str, ...] = ()  # what else there is to know, in sentences

    def _summary(self) -> Summary:
        from refclust.mixture.summary import of_selection

        return of_selection(self)

    def to_frame(self) -> Any:
        """A ``pandas.DataFrame`` of all candidates.

        Spec: MS-SPEC
        """
        columns: dict[str, list[Any]] = {
            name: [getattr(each, name) for each in self.candidates]
            for name in ("k", "covariance", "log_likelihood", "free_parameters", "iterations")
        }
        for name in dict.fromkeys(name for each in self.candidates for name in each.values):
            columns[name] = [each.values.get(name) for each in self.candidates]
        columns["error"] = [each.error for each in self.candidates]
        return frame(columns)

    @property
    def best(self) -> Candidate | None:
        """The candidate chosen."""
        return None if self.chosen is None else self.candidates[self.chosen]


def failed(k: int, covariance: str | None, error: DataError) -> Candidate:
    """A candidate that could not be fitted."""
    return Candidate(k, covariance, error=error.code, message=str(error))


def rank(candidate: Candidate, criterion: str) -> tuple[float, int]:
    """What candidates are sorted by, the best first: the criterion, then the free parameters.

    Spec: MS-BIC, MS-AIC, MS-ICL, MS-CVLL, MS-VISEL

    >>> rank(Candidate(2, free_parameters=5, values={"cv": -1.5}), "cv")
    (1.5, 5)
    """
    value = candidate.values[criterion]
    return -value if criterion in _LARGEST else value, candidate.free_parameters or 0


def ranking(candidates: Sequence[Candidate], criterion: str) -> list[int]:
    """The places of all candidates that have a value, the best first, in order among equals.

    Spec: MS-BIC, MS-AIC, MS-ICL, MS-CVLL, MS-VISEL

    >>> one, two = Candidate(1, values={"bic": 7.0}), Candidate(2, values={"bic": 5.0})
    >>> ranking([one, Candidate(3, error="k-out-of-range"), two], "bic")
    [2, 0]
    """
    valued = [i for i, candidate in enumerate(candidates) if criterion in candidate.values]
    return sorted(valued, key=lambda i: rank(candidates[i], criterion))


def why(candidates: Sequence[Candidate], criterion: str) -> str:
    """One sentence on what made the best candidate the best.

    Spec: MS-BIC, MS-AIC, MS-ICL, MS-CVLL, MS-VISEL
    """
    places = ranking(candidates, criterion)
    best = candidates[places[0]]
    superlative = "largest" if criterion in _LARGEST else "smallest"
    sentence = f"{superlative} {TITLES[criterion]} {shown(criterion, best.values[criterion])}"
    if len(places) == 1:
        others = len(candidates) - 1
        alone = "none of the others could be fitted" if others else "no other was asked"
        return f"{sentence}; {alone}"
    following = candidates[places[1]]
    value = following.values[criterion]
    if value != best.values[criterion]:
        return f"{sentence}; next {following.name} at {shown(criterion, value)}"
    more = rank(following, criterion) > rank(best, criterion)
    reason = "has more parameters" if more else "was named later"
    return f"{sentence}; so has {following.name}, which {reason}"


def shown(criterion: str, value: float) -> str:
    """A value of a criterion as people want to read it.

    Spec: none (a way of writing)

    >>> shown("bic", 561.7284), shown("cv", -1.23456), shown("cv", float("-inf"))
    ('561.73', '-1.2346', '-inf')
    """
    return f"{value:.4f}" if criterion in _SMALL else f"{value:.2f}"
