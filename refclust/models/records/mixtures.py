"""What the model files of mixtures and classifiers hold, as plain records (chapter 11).

The numbers stand as they are written, without the code that makes densities of them: that is above
this layer. Minus infinity, which the logarithm of a prior or a likelihood may be, is null in a
file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from refclust.cluster.results import Centres
from refclust.models.records.common import DataFacts, Origin

Family: TypeAlias = Literal["gaussian", "multinomial", "bernoulli"]
Trained: TypeAlias = Literal["naive-bayes", "qda", "lda", "nearest-gaussian"]
Form: TypeAlias = Literal["full", "diagonal", "spherical"]
Covariance: TypeAlias = Literal[
    "EII",
    "VII",
    "EEI",
    "VEI",
    "EVI",
    "VVI",
    "EEE",
    "VEE",
    "EVE",
    "VVE",
    "EEV",
    "VEV",
    "EVV",
    "VVV",
]
MixtureStart: TypeAlias = Literal["kmeans", "random", "points", "varied", "labels", "given"]
Variation: TypeAlias = Literal["em", "hard", "top", "generalized", "stochastic", "monte-carlo"]
Collapse: TypeAlias = Literal["end", "drop", "reset"]
End: TypeAlias = Literal["tolerance", "limit", "collapsed", "caller"]
Done: TypeAlias = Literal["ended", "dropped", "reset"]
Verdict: TypeAlias = Literal["rises", "within rounding", "falls"]
CountsName: TypeAlias = Literal["whole", "fractional"]
Smoothing: TypeAlias = Literal["mle", "m-estimate", "laplace", "half"]
PriorName: TypeAlias = Literal["documents", "tokens", "equal"]
Classes: TypeAlias = tuple[str, ...] | tuple[int, ...]


def form_of(covariance: Covariance) -> Form:
    """How the covariances of a model are written: as matrices, as variances, as one variance.

    >>> form_of("VVV"), form_of("EVI"), form_of("EII")
    ('full', 'diagonal', 'spherical')
    """
    if covariance[1] == "I":
        return "spherical"
    return "diagonal" if covariance[2] == "I" else "full"


@dataclass(frozen=True, slots=True)
class GaussianNumbers:
    """The parameters of K normal densities; of each d*d covariances, d variances, or one.

    Spec: MODEL-DOC
    """

    weights: tuple[float, ...]
    means: Centres
    covariances: tuple[tuple[float, ...], ...]
    form: Form


@dataclass(frozen=True, slots=True)
class CountNumbers:
    """The parameters of K components over words.

    Spec: MODEL-DOC
    """

    weights: tuple[float, ...]
    probabilities: Centres


Numbers: TypeAlias = GaussianNumbers | CountNumbers


@dataclass(frozen=True, slots=True)
class GaussianSettings:
    """Which covariances, and with what floor."""

    covariance: Covariance
    floor: float


@dataclass(frozen=True, slots=True)
class CountSettings:
    """How many imagined observations, of which shares, and what counts as a count."""

    m: float
    p: tuple[float, ...] | None
    counts: CountsName


@dataclass(frozen=True, slots=True)
class MixtureParams:
    """What a fit of a mixture was asked for.

    Spec: MODEL-DOC
    """

    k: int
    settings: GaussianSettings | CountSettings
    start: MixtureStart
    variation: Variation
    top: int
    samples: int
    damping: float
    seed: int
    restarts: int
    tolerance: float | None  # none: it went on to the limit
    limit: int
    collapse: Collapse


@dataclass(frozen=True, slots=True)
class CollapseFacts:
    """What happened to a component that collapsed.

    Spec: MODEL-DOC
    """

    iteration: int
    component: int | None
    why: str
    rows: tuple[int, ...]
    done: Done


@dataclass(frozen=True, slots=True)
class MixtureRun:
    """How one run ended.

    Spec: MODEL-DOC
    """

    log_likelihood: float
    objective: float
    log_prior: float
    entropy: float
    iterations: int
    stopped: End
    events: tuple[CollapseFacts, ...]


@dataclass(frozen=True, slots=True)
class MixtureStep:
    """The numbers of one pass.

    Spec: MODEL-DOC
    """

    iteration: int
    log_likelihood: float
    objective: float


@dataclass(frozen=True, slots=True)
class AscentFacts:
    """What the two halves of an iteration gained, and what rounding may have done to either.

    Spec: MODEL-DOC
    """

    iteration: int
    maximisation: float
    expectation: float
    rounding: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class MixtureFitted:
    """What a fit of a mixture found.

    Spec: MODEL-DOC
    """

    log_likelihood: float
    objective: float
    log_prior: float
    entropy: float
    free_parameters: int
    iterations: int
    stopped: End
    best: int
    weight: float
    sizes: tuple[float, ...]
    parameters: Numbers
    runs: tuple[MixtureRun, ...]
    trace: tuple[MixtureStep, ...]  # of the best run
    certificate: tuple[AscentFacts, ...]  # of the best run


@dataclass(frozen=True, slots=True)
class MixtureModel:
    """A fit of a mixture without its labels.

    Spec: MODEL-DOC
    """

    algorithm: Family
    params: MixtureParams
    fitted: MixtureFitted
    data: DataFacts
    provenance: Origin

    @property
    def family(self) -> Family:
        """The family of densities of its components."""
        return self.algorithm


@dataclass(frozen=True, slots=True)
class NaiveBayesParams:
    """What naive Bayes on words was asked for.

    Spec: MODEL-DOC
    """

    kind: Literal["multinomial", "bernoulli"]
    smoothing: Smoothing
    m: float
    p: float | tuple[float, ...] | None
    counts: CountsName
    prior: PriorName | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class DiscriminantParams:
    """What normal densities of classes were asked for.

    Spec: MODEL-DOC
    """

    kind: Literal["gaussian"]
    covariance: Covariance
    floor: float
    prior: PriorName | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ClassifierFitted:
    """What training found: the classes, and the density of each.

    Spec: MODEL-DOC
    """

    classes: Classes
    log_likelihood: float  # of rows and classes together
    weight: float
    sizes: tuple[float, ...]
    parameters: Numbers


@dataclass(frozen=True, slots=True)
class ClassifierModel:
    """A classifier.

    Spec: MODEL-DOC
    """

    algorithm: Trained
    params: NaiveBayesParams | DiscriminantParams
    fitted: ClassifierFitted
    data: DataFacts
    provenance: Origin

    @property
    def family(self) -> Family:
        """The family of densities of its classes."""
        return self.params.kind
