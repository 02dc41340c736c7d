"""What the model files of mixtures and classifiers hold (chapter 11).

The numbers stand as they are written, without the code that makes densities of them: that is above
this layer. Minus infinity, which the logarithm of a prior or a likelihood may be, is null in a
file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from refclust.data.files.document import Node
from refclust.data.files.parts import Known, also, counted, double, doubles, names, whole
from refclust.data.files.records import INLINED, Chosen
from refclust.models.records.applied import Applied
from refclust.models.records.common import (
    Amount,
    Clusters,
    DataFacts,
    DataOrigin,
    Lines,
    Many,
    Seed,
    agrees,
    numbered,
)
from refclust.models.records.families import FAMILIES, numbers_for, settings_of
from refclust.models.records.numbers import Above, DiscriminantParams, NaiveBayesParams, Numbers

Trained: TypeAlias = Literal["naive-bayes", "qda", "lda", "nearest-gaussian"]
MixtureStart: TypeAlias = Literal["kmeans", "random", "points", "varied", "labels", "given"]
Variation: TypeAlias = Literal["em", "hard", "top", "generalized", "stochastic", "monte-carlo"]
Collapse: TypeAlias = Literal["end", "drop", "reset"]
End: TypeAlias = Literal["tolerance", "limit", "collapsed", "caller"]
Done: TypeAlias = Literal["ended", "dropped", "reset"]
Verdict: TypeAlias = Literal["rises", "within rounding", "falls"]
Classes: TypeAlias = tuple[str, ...] | tuple[int, ...]
Logarithm: TypeAlias = Annotated[float, double(null=-math.inf)]


@dataclass(frozen=True, slots=True)
class MixtureParams:
    """What a fit of a mixture was asked for.

    Spec: MODEL-DOC
    """

    k: Clusters
    settings: Annotated[Any, Chosen(settings_of), INLINED]  # of its family
    start: MixtureStart
    variation: Variation
    top: Annotated[int, whole(0, "k")]
    samples: Many
    damping: Annotated[float, double(0, 1, above=True)]
    seed: Seed
    restarts: Many
    tolerance: Amount | None  # none: it went on to the limit
    limit: Seed
    collapse: Collapse

    def check(self, node: Node, _known: Known) -> None:
        """Refuse options of another variation."""
        kept = self.variation
        if (kept == "top") != (self.top > 0):
            place = node.entry("top")
            place.fail(f"{self.top} components for the variation {kept}; only 'top' keeps some")
        if self.samples > 1 and kept != "monte-carlo":
            node.entry("samples").fail(f"{self.samples} samples for the variation {kept}; 1 is due")
        if self.damping < 1 and kept != "generalized":
            place = node.entry("damping")
            place.fail(
                f"{self.damping!r} for the variation {kept}; it is above 0, and 1 but for "
                "generalized"
            )


@dataclass(frozen=True, slots=True)
class CollapseFacts:
    """What happened to a component that collapsed.

    Spec: MODEL-DOC
    """

    iteration: int
    component: Annotated[int, whole(0, "params.k", less=1)] | None
    why: str
    rows: tuple[Annotated[int, whole(0, "n", less=1)], ...]
    done: Done


@dataclass(frozen=True, slots=True)
class MixtureRun:
    """How one run ended.

    Spec: MODEL-DOC
    """

    log_likelihood: Logarithm
    objective: Logarithm
    log_prior: Logarithm
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
    log_likelihood: Logarithm
    objective: Logarithm


@dataclass(frozen=True, slots=True)
class AscentFacts:
    """What the two halves of an iteration gained, and what rounding may have done to either.

    Spec: MODEL-DOC
    """

    iteration: Annotated[int, whole(1)]
    # From an objective of minus infinity every step leads up by infinitely much.
    maximisation: Annotated[float, double(null=math.inf)]
    expectation: float
    rounding: Amount
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class MixtureFitted:
    """What a fit of a mixture found.

    Spec: MODEL-DOC
    """

    log_likelihood: Logarithm
    objective: Logarithm
    log_prior: Logarithm
    entropy: float
    free_parameters: Seed
    iterations: int
    stopped: End
    best: Annotated[int, whole(0, "runs", less=1)]
    weight: Above
    sizes: Annotated[tuple[float, ...], doubles("parameters", 0, fewest=1)]
    parameters: Annotated[
        Numbers,
        Chosen(numbers_for),
        counted("components", "params.k", fewer=("params.collapse", "drop")),
    ]
    runs: Annotated[Lines[MixtureRun], counted("runs", "params.restarts", fewer=True)]
    trace: Lines[MixtureStep]  # of the best run
    certificate: Lines[AscentFacts]  # of the best run

    def check(self, node: Node, _known: Known) -> None:
        """Refuse a trace out of order, and another best run than the one described."""
        numbered(self.trace, node, 0)
        shared = ("log_likelihood", "objective", "log_prior", "entropy", "iterations", "stopped")
        agrees(self, node, *shared)


@dataclass(frozen=True, slots=True, repr=False)
class MixtureModel(Applied):
    """A fit of a mixture, or of beliefs about one, without its labels.

    Spec: MODEL-DOC
    """

    algorithm: str  # the name of its family in FAMILIES
    params: MixtureParams
    fitted: MixtureFitted
    data: DataFacts
    provenance: DataOrigin

    @property
    def family(self) -> str:
        """The family of densities of its components."""
        return FAMILIES[self.algorithm].densities


def _ascending(node: Node, name: Any, before: dict[Any, None]) -> None:
    last = next(reversed(before), None)
    if last is not None and not last < name:
        node.fail(f"the class {name!r} after {last!r}; classes are in order, each once")


def _several(node: Node, classes: Classes, _known: Known) -> None:
    if len(classes) < 2:
        node.fail(f"{len(classes)} classes; two or more are needed")


@dataclass(frozen=True, slots=True)
class ClassifierFitted:
    """What training found: the classes, and the density of each.

    Spec: MODEL-DOC
    """

    classes: Annotated[Classes, names(None, _ascending, fewest=2), also(_several)]
    log_likelihood: Logarithm  # of rows and classes together
    weight: Above
    sizes: Annotated[tuple[float, ...], doubles("classes", 0, fewest=1)]
    parameters: Annotated[Numbers, Chosen(numbers_for)]

    def check(self, node: Node, known: Known) -> None:
        """Refuse densities of other classes, another prior, other covariances than due."""
        densities, place = self.parameters, node.entry("parameters")
        if len(densities) != len(self.classes):
            place.fail(f"{len(densities)} densities for {len(self.classes)} classes")
        prior = known["params.prior"]
        if isinstance(prior, tuple) and prior != densities.weights:
            place.entry("weights").fail("other numbers than params.prior")
        if known["algorithm"] == "lda":
            covariances: Any = getattr(densities, "covariances", ())
            for k, covariance in enumerate(covariances):
                if covariance != covariances[0]:
                    place.entry("covariances").item(k).fail(
                        "another covariance than that of class 0; linear discriminants share one"
                    )


@dataclass(frozen=True, slots=True, repr=False)
class ClassifierModel(Applied):
    """A classifier.

    Spec: MODEL-DOC
    """

    algorithm: Trained
    params: NaiveBayesParams | DiscriminantParams
    fitted: ClassifierFitted
    data: DataFacts
    provenance: DataOrigin

    @property
    def family(self) -> str:
        """The family of densities of its classes."""
        return self.params.kind
