"""Training from labelled rows: an M-step with labels for responsibilities (chapter 33).

Nothing is estimated here: the sums, the estimates and the densities are those of the mixtures.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from refclust.backends.session import Session
from refclust.classify.options import Prior, TrainingCall
from refclust.classify.results import Classifier, ClassifierKind, GaussianClassifier
from refclust.data.accepting.door import dataset, doubles
from refclust.data.accepting.trust import items
from refclust.data.dataset import Features, Fingerprint
from refclust.errors import (
    BadOption,
    DegenerateCovariance,
    DimensionMismatch,
    EmptyInput,
    EmptyLabel,
    KOutOfRange,
)
from refclust.fitting.checks import named
from refclust.fitting.rows import Rows
from refclust.kernels.mixtures.shared import Doubles
from refclust.mixture.covariance.models import covariance_model
from refclust.mixture.families.estimates import component_weights
from refclust.mixture.families.family import Collapsed
from refclust.mixture.families.gaussian.parameters import check_weights
from refclust.mixture.families.gaussian.recentre import beyond_range
from refclust.mixture.families.gaussian.steps import GaussianFamily
from refclust.mixture.passes import GaussianPasses
from refclust.mixture.starts import numbered
from refclust.numbers.reading import shown


class Facts(TypedDict):
    """What every classifier tells of its training."""

    classes: tuple[Hashable, ...]
    sizes: tuple[float, ...]
    n: int
    d: int
    weight: float
    features: Features | None
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True)
class Labelled:
    """Rows, the number of the class of each, and the names of the classes."""

    rows: Rows
    labels: array[int]
    classes: tuple[Hashable, ...]

    @property
    def k(self) -> int:
        """The number of classes."""
        return len(self.classes)

    def check_sizes(self, sizes: Doubles) -> None:
        """Refuse a class that has nothing to be estimated from."""
        for name, size in zip(self.classes, sizes, strict=True):
            if not size > 0:
                raise BadOption(
                    f"all rows of class {name!r} have weight 0; give some of them a weight, or "
                    "leave the class out"
                )

    def facts(self, sizes: Doubles) -> Facts:
        """What the result tells of the training."""
        data = self.rows.data
        return Facts(
            classes=self.classes,
            sizes=tuple(sizes),
            n=data.n,
            d=data.d,
            weight=math.fsum(sizes),
            features=data.features,
            fingerprint=Fingerprint(data),
        )


def labelled(call: TrainingCall) -> Labelled:
    """The rows with their classes, from labels given or from those that came with the data.

    Spec: QDA-PARAM
    """
    rows = dataset(call.data, labels=call.labels, weights=call.weights)
    if rows.labels is None:
        raise BadOption("the rows have no labels; give the class of each row: labels=...")
    lost = next((i for i, label in enumerate(rows.labels) if label is None), None)
    if lost is not None:
        raise EmptyLabel(f"row {rows.row_name(lost)} has no label; leave the row out or label it")
    numbers, names = numbered(rows.labels, rows.n)
    if len(names) < 2:
        raise KOutOfRange(f"all rows are of class {names[0]!r}; two or more classes are needed")
    session = call.session or Session(call.backend)
    return Labelled(Rows(rows, session), numbers, tuple(names))


def class_prior(
    prior: Prior,
    classes: Sequence[Hashable],
    sizes: Sequence[float],
    tokens: Sequence[float] | None = None,
) -> tuple[float, ...]:
    """The probability of every class: its share of documents or of words, 1/K, or as given.

    Spec: NB-PI, QDA-PARAM

    >>> class_prior("documents", "AB", [1, 9], [9, 9]), class_prior("tokens", "AB", [1, 9], [9, 9])
    ((0.1, 0.9), (0.5, 0.5))
    """
    if isinstance(prior, str):
        names = ("documents", "equal") if tokens is None else ("documents", "tokens", "equal")
        named("prior", prior, names)
        if prior == "equal":
            return (1.0 / len(classes),) * len(classes)
        counted = sizes if prior == "documents" or tokens is None else tokens
        if not any(counted):
            raise EmptyInput("no document has a word, so no class has a share of the words")
        return component_weights(counted)
    if isinstance(prior, Mapping):
        if set(prior) != set(classes):
            raise BadOption(
                f"the prior has probabilities for {list(prior)!r}; due are {list(classes)!r}"
            )
        prior = [prior[name] for name in classes]

    def refusal() -> BadOption:
        return BadOption(f"the prior is {shown(prior)}; a name or a share of each class is needed")

    shares = tuple(doubles(items(prior, refusal), "prior {}".format))
    if len(shares) != len(classes):
        raise DimensionMismatch(f"the prior has {len(shares)} numbers for {len(classes)} classes")
    check_weights(shares)
    return shares


def plain_prior(prior: Prior, shares: Sequence[float]) -> str | list[float]:
    """The prior as a plain value: its name, or the probabilities given.

    Spec: NB-PI
    """
    return prior if isinstance(prior, str) else list(shares)


def gaussian_classifier(
    known: Labelled, kind: ClassifierKind, *, covariance: str, floor: float, prior: Prior
) -> GaussianClassifier:
    """Normal densities of the classes by one M-step, under any model of covariances.

    Spec: QDA-PARAM, LDA-POOL, GNB, NB-CDLL
    """
    model = covariance_model(covariance).name
    family = GaussianFamily(GaussianPasses(known.rows, known.k), model, float(floor))
    moments = family.moments(known.labels, known.k)
    known.check_sizes(moments.counts)
    weights = class_prior(prior, known.classes, moments.counts)
    try:
        parameters = replace(family.maximised(moments, None), weights=weights)
        point = family.point(parameters)
    except Collapsed as collapsed:
        raise _degenerate(known, collapsed, model) from None
    shift = math.fsum(moments.counts) * family.constant
    log_likelihood = (family.passes.expected(moments, point.densities) + shift) * family.unit
    if math.isinf(log_likelihood):
        raise beyond_range()
    return Classifier(
        kind=kind,
        parameters=parameters,
        log_likelihood=log_likelihood,
        settings={**family.settings, "prior": plain_prior(prior, weights)},
        provenance=known.rows.session.provenance(),
        **known.facts(array("d", family.sizes(moments))),
    )


def is_pooled(model: str) -> bool:
    """Whether all classes have the same covariance under a model: EII, EEI, EEE."""
    return "V" not in model


def _degenerate(known: Labelled, collapsed: Collapsed, model: str) -> DegenerateCovariance:
    if collapsed.component is None or is_pooled(model):
        who, advice = "the covariance that all classes share", "leave columns out"
    else:
        weights = known.rows.data.weights
        members = sum(
            label == collapsed.component and (weights is None or weights[i] > 0)
            for i, label in enumerate(known.labels)
        )
        rows = "1 row" if members == 1 else f"{members} rows"
        who = f"class {known.classes[collapsed.component]!r} ({rows})"
        advice = "pool the covariances (lda, or covariance='EEE')"
    return DegenerateCovariance(
        f"{who} {collapsed.why}; {advice}, choose a simpler covariance, or a floor (floor=1e-6)"
    )
