"""Model files of everything that can be fitted: clusters, mixtures, classifiers (chapter 11)."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import fields
from typing import Any, TypeAlias, cast

from refclust.backends.session import Provenance
from refclust.classify.results import (
    Classifier,
    ClassifierKind,
    CountClassifier,
    GaussianClassifier,
)
from refclust.cluster.results import BisectingFit, KMeansFit
from refclust.cluster.tree import Tree
from refclust.data.dataset import Dataset, Fingerprint
from refclust.data.files.records import taken
from refclust.errors import BadOption
from refclust.mixture.results import MixtureFit
from refclust.models import clusters as clusters
from refclust.models import mixtures as mixtures
from refclust.models.clusters import Cut, Fit, data_facts, load_model, origin_of
from refclust.models.records.clusters import ClassifierModel, Model, Reading
from refclust.models.records.families import FAMILIES
from refclust.models.records.mixtures import Classes, ClassifierFitted, Trained
from refclust.numbers.reading import shown

__all__ = ["classifier_of", "load_model", "model_of", "save_model"]

AnyClassifier: TypeAlias = CountClassifier | GaussianClassifier
Fitted: TypeAlias = Fit | MixtureFit[Any] | AnyClassifier


def model_of(
    fit: Fitted,
    *,
    data: Dataset | None = None,
    reading: Reading | None = None,
    cut: Cut | None = None,
) -> Model:
    """Make a model of any fit or classifier.

    Spec: MODEL-DOC

    >>> from refclust.classify.naive_bayes import naive_bayes
    >>> model = model_of(naive_bayes([[3, 1], [0, 4]], ["ham", "spam"]))
    >>> model.algorithm, model.fitted.classes, model.params.kind
    ('naive-bayes', ('ham', 'spam'), 'multinomial')
    """
    known: Any = fit  # whatever a caller without types gave
    if not isinstance(known, MixtureFit | Classifier | KMeansFit | BisectingFit | Tree):
        raise BadOption(f"the fit is {shown(known)}; a fit or a classifier is needed")
    if not isinstance(fit, MixtureFit | Classifier):
        return clusters.model_of(fit, data=data, reading=reading, cut=cut)
    if cut is not None:
        raise BadOption("a cut belongs to a tree of merges")
    if isinstance(fit, MixtureFit):
        return mixtures.model_of(fit, data=data, reading=reading)
    family = FAMILIES[fit.family]
    numbers = family.numbers.of(fit.parameters)
    trained: Any = family.trained
    return ClassifierModel(
        algorithm=_algorithm(fit.kind),
        params=taken(trained, fit.settings, kind=fit.family),
        fitted=taken(ClassifierFitted, fit, classes=_classes(fit.classes), parameters=numbers),
        data=data_facts(fit, data, reading),
        provenance=origin_of(fit.provenance),
    )


def save_model(path: str | os.PathLike[str], model: Model | Fitted, *, force: bool = False) -> None:
    """Write the model file of any fit, classifier or model, as a whole or not at all.

    An old file is replaced with ``force`` only; a name that ends in ``.gz`` gets a packed one.

    Spec: MODEL-DOC
    """
    whole = model if isinstance(model, Model) else model_of(model)
    clusters.save_model(path, whole, force=force)


def classifier_of(model: ClassifierModel) -> AnyClassifier:
    """The classifier that a model holds.

    Spec: MODEL-DOC
    """
    params, fitted = model.params, model.fitted
    kind: ClassifierKind = params.kind if model.algorithm == "naive-bayes" else model.algorithm
    names = (field.name for field in fields(params) if field.name != "kind")
    classifier: Classifier[Any] = Classifier(
        kind=kind,
        classes=fitted.classes,
        parameters=fitted.parameters.parameters(),
        log_likelihood=fitted.log_likelihood,
        sizes=fitted.sizes,
        settings={name: _told(getattr(params, name)) for name in names},
        n=model.data.n,
        d=model.data.d,
        weight=fitted.weight,
        features=model.data.features,
        fingerprint=Fingerprint(text=model.data.digest or ""),
        provenance=Provenance(model.provenance.refclust, model.provenance.requested, ()),
    )
    return cast(AnyClassifier, classifier)


def _algorithm(kind: ClassifierKind) -> Trained:
    match kind:
        case "multinomial" | "bernoulli" | "gaussian":
            return "naive-bayes"
        case _:
            return kind


def _told(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _classes(names: Sequence[Hashable]) -> Classes:
    """The names of classes as a file holds them: texts, or whole numbers."""
    plain = [_native(name) for name in names]
    for kind in (str, int):
        if all(type(name) is kind for name in plain):
            return tuple(plain)
    raise BadOption(
        f"a model file holds classes that are all texts or all whole numbers; these begin with "
        f"{names[0]!r}"
    )


def _native(name: Hashable) -> Any:
    """A number of an array library as an integer of Python."""
    to_list = getattr(name, "tolist", None)
    return to_list() if callable(to_list) else name
