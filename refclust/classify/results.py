"""What training a classifier returns (chapter 33)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from refclust.backends.session import Provenance
from refclust.data.dataset import Features, Fingerprint
from refclust.fitting.fitted import above
from refclust.kernels.points import Vector
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.summary import component_table
from refclust.shown.page import Fact, Shown, Summary, counted, sized

if TYPE_CHECKING:
    import os

    from refclust.classify.predict import Classified

P = TypeVar("P", covariant=True)

ClassifierKind: TypeAlias = Literal[
    "multinomial", "bernoulli", "gaussian", "qda", "lda", "nearest-gaussian"
]


@dataclass(frozen=True, slots=True, repr=False)
class Classifier(Shown, Generic[P]):
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

    def _summary(self) -> Summary:
        classes = counted(len(self.classes), "class").replace("classs", "classes")
        facts: tuple[Fact, ...] = (
            ("data", sized(self.n, self.d)),
            ("classes", classes),
            ("log-likelihood", repr(self.log_likelihood)),
        )
        lines = component_table(self.parameters, self.sizes, self.features, self.classes)
        line = f"{self.kind}, {classes} of {sized(self.n, self.d)}"
        return Summary("Classifier", line, facts, (lines,))

    def predict(self, data: Any, **options: Any) -> Classified:
        """The class of every row: ``refclust.predict``.

        Spec: NB-PRED, QDA-MAP
        """
        from refclust.classify.predict import predict

        classifier: Any = self
        return predict(classifier, data, **options)

    def responsibilities(self, data: Any, **options: Any) -> tuple[Vector, ...]:
        """The probability of every class for every row, one tuple a row.

        Spec: EM-PRED, NB-SCORE
        """
        return self.predict(data, full=True, **options).responsibilities()

    def describe(self, data: Any = None, **options: Any) -> Any:
        """Say what is in each class: ``refclust.describe``.

        Spec: DESC-SHARE
        """
        return above("models.describe", "describe")(self, data, **options)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the classifier as a model file: ``refclust.save_model``.

        Spec: MODEL-DOC
        """
        above("models.classifiers", "save_model")(path, self, force=force)

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
