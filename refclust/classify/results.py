"""What training a classifier returns (chapter 33)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from refclust.backends.session import Provenance
from refclust.data.dataset import Features, Fingerprint
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.gaussian.parameters import GaussianParameters

P = TypeVar("P", covariant=True)

ClassifierKind: TypeAlias = Literal[
    "multinomial", "bernoulli", "gaussian", "qda", "lda", "nearest-gaussian"
]


@dataclass(frozen=True, slots=True)
class Classifier(Generic[P]):
    """The density of every class and its prior, with what they were estimated from.

    Component k of the parameters is the class ``classes[k]``; its weight is the prior.

    Spec: QDA-PARAM, NB-THETA
    """

    kind: ClassifierKind
    classes: tuple[Hashable, ...]  # sorted
    parameters: P
    log_likelihood: float  # of rows and labels together
    sizes: tuple[float, ...]  # the weight of the rows of each class
    settings: dict[str, Any]
    n: int
    d: int
    weight: float  # of all rows together
    features: Features | None
    fingerprint: Fingerprint
    provenance: Provenance

    @property
    def family(self) -> str:
        """The family of mixtures that this is the twin of."""
        return self.kind if self.kind in ("multinomial", "bernoulli") else "gaussian"

    @property
    def digest(self) -> str:
        """The digest of the data.

        Spec: DATA-DIGEST
        """
        return self.fingerprint.text


CountClassifier: TypeAlias = Classifier[CountParameters]
GaussianClassifier: TypeAlias = Classifier[GaussianParameters]
AnyClassifier: TypeAlias = CountClassifier | GaussianClassifier
