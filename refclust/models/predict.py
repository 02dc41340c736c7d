"""New rows under whatever was fitted: clusters, components, classes (chapter 11, MODEL-PREDICT)."""

from __future__ import annotations

from typing import Any, TypeAlias, overload

from refclust.backends.session import Session
from refclust.classify import predict as classes
from refclust.classify.predict import Classified
from refclust.classify.results import Classifier
from refclust.data.dataset import Features
from refclust.errors import BadOption
from refclust.mixture.bayes import predict as beliefs
from refclust.mixture.bayes.beliefs import CountBeliefs, GaussianBeliefs
from refclust.mixture.predict import Assignments, Impossible, assignments
from refclust.mixture.results import MixtureFit
from refclust.models import nearest as clusters
from refclust.models.classifiers import AnyClassifier, classifier_of
from refclust.models.clusters import Fit
from refclust.models.mixtures import parameters_of
from refclust.models.nearest import Prediction
from refclust.models.records.clusters import ClassifierModel, ClusterModel, MixtureModel
from refclust.models.units import as_fitted

Clusters: TypeAlias = ClusterModel | Fit
Mixture: TypeAlias = MixtureModel | MixtureFit[Any]
AnyTrained: TypeAlias = ClassifierModel | AnyClassifier


@overload
def predict(
    model: Clusters, data: Any, *, backend: str | None = None, session: Session | None = None
) -> Prediction: ...


@overload
def predict(
    model: Mixture,
    data: Any,
    *,
    full: bool = False,
    impossible: Impossible = "error",
    backend: str | None = None,
    session: Session | None = None,
) -> Assignments: ...


@overload
def predict(
    model: AnyTrained,
    data: Any,
    *,
    full: bool = False,
    impossible: Impossible = "error",
    backend: str | None = None,
    session: Session | None = None,
) -> Classified: ...


def predict(
    model: Clusters | Mixture | AnyTrained,
    data: Any,
    *,
    full: bool = False,
    impossible: Impossible = "error",
    backend: str | None = None,
    session: Session | None = None,
) -> Prediction | Assignments | Classified:
    """Find the cluster, the most probable component, or the class of every row.

    With ``full`` the densities of all components or classes are kept, for responsibilities. Rows
    are in the units of the user: they are prepared as those of the fit were, if those were.

    Spec: MODEL-PREDICT, EM-PRED, NB-PRED, QDA-MAP

    >>> from refclust.mixture.families.named.gaussian import gaussian_mixture
    >>> fit = gaussian_mixture([[0], [2], [9], [11]], 2, covariance="tied", labels="aabb")
    >>> found = predict(fit, [[3], [12], [5.5]], full=True)
    >>> found.labels.tolist(), found.responsibilities(2)
    ([0, 1, 0], (0.5, 0.5))
    """
    data = as_fitted(model, data)
    if isinstance(model, Classifier | ClassifierModel):
        chosen = classifier_of(model) if isinstance(model, ClassifierModel) else model
        return classes.predict(
            chosen, data, full=full, impossible=impossible, backend=backend, session=session
        )
    if isinstance(model, MixtureFit | MixtureModel):
        parameters, family, features = parts_of(model)
        asked: Any = {"features": features, "full": full, "backend": backend, "session": session}
        if isinstance(parameters, GaussianBeliefs | CountBeliefs):
            return beliefs.assignments(parameters, data, **asked)
        return assignments(parameters, data, family=family, impossible=impossible, **asked)
    if full:
        raise BadOption("clusters have no densities; full belongs to mixtures and classifiers")
    return clusters.predict(model, data, backend=backend, session=session)


def parts_of(model: Mixture) -> tuple[Any, str, Features | None]:
    """The parameters of a mixture or beliefs about them, its family, the features of its rows.

    Spec: none (parts of a record)
    """
    if isinstance(model, MixtureModel):
        return parameters_of(model), model.algorithm, model.data.features
    return model.parameters, model.family, model.features
