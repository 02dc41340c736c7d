"""The parts of a model file that belong to classifiers (chapter 11, MODEL-LOAD)."""

from __future__ import annotations

from typing import Final, get_args

from refclust.data.files.document import Node
from refclust.models.reader.mixtures import COUNTS, COVARIANCES
from refclust.models.reader.numbers import (
    log_double,
    positive,
    read_numbers,
    read_probabilities,
    read_weights,
)
from refclust.models.records.common import DataFacts
from refclust.models.records.mixtures import (
    Classes,
    ClassifierFitted,
    DiscriminantParams,
    Form,
    GaussianNumbers,
    NaiveBayesParams,
    PriorName,
    Smoothing,
    Trained,
    form_of,
)

_SMOOTHINGS: Final[tuple[Smoothing, ...]] = get_args(Smoothing)
_PRIORS: Final[tuple[PriorName, ...]] = get_args(PriorName)


def read_classifier_params(
    node: Node, algorithm: Trained, data: DataFacts
) -> NaiveBayesParams | DiscriminantParams:
    """Read what training was asked for.

    Spec: MODEL-LOAD
    """
    kind = node.mapping().get("kind")
    if algorithm == "naive-bayes" and kind != "gaussian":
        which, smoothing, m, p, counts, prior = node.members(
            "kind", "smoothing", "m", "p", "counts", "prior"
        )
        return NaiveBayesParams(
            which.one_of(("multinomial", "bernoulli", "gaussian")),  # type: ignore[arg-type]
            smoothing.one_of(_SMOOTHINGS),
            m.double(0),
            p.maybe(lambda given: _share(given, data.d)),
            counts.one_of(COUNTS),
            _prior(prior, _PRIORS),
        )
    which, covariance, floor, prior = node.members("kind", "covariance", "floor", "prior")
    asked = DiscriminantParams(
        which.one_of(("gaussian",)),
        covariance.one_of(COVARIANCES),
        floor.double(0),
        _prior(prior, ("documents", "equal")),
    )
    if algorithm == "naive-bayes" and asked.covariance != "VVI":
        covariance.fail(f"{asked.covariance}; columns are independent in naive Bayes: VVI is due")
    if algorithm == "lda" and "V" in asked.covariance:
        covariance.fail(f"{asked.covariance}; linear discriminants share one: EII, EEI, EEE")
    if algorithm == "nearest-gaussian" and asked.prior != "equal":
        prior.fail(f"{prior.value!r}; the nearest Gaussian has the prior equal")
    return asked


def _share(node: Node, d: int) -> float | tuple[float, ...]:
    if type(node.value) is list:
        return read_probabilities(node, d)
    share = node.double(0)
    if share > 1:
        node.wrong("a number from 0 to 1")
    return share


def _prior(node: Node, names: tuple[PriorName, ...]) -> PriorName | tuple[float, ...]:
    return node.one_of(names) if type(node.value) is str else read_weights(node)


def read_classifier(
    node: Node, params: NaiveBayesParams | DiscriminantParams, algorithm: Trained, data: DataFacts
) -> ClassifierFitted:
    """Read what training found.

    Spec: MODEL-LOAD
    """
    classes, likelihood, weight, sizes, parameters = node.members(
        "classes", "log_likelihood", "weight", "sizes", "parameters"
    )
    names = _classes(classes)
    form: Form | None = None
    if isinstance(params, DiscriminantParams):
        form = form_of(params.covariance)
    found = read_numbers(parameters, data, form=form, sums=False)
    if len(found.weights) != len(names):
        parameters.fail(f"{len(found.weights)} densities for {len(names)} classes")
    if isinstance(params.prior, tuple) and params.prior != found.weights:
        parameters.entry("weights").fail("other numbers than params.prior")
    if algorithm == "lda" and isinstance(found, GaussianNumbers):
        for place, one in enumerate(found.covariances):
            if one != found.covariances[0]:
                parameters.entry("covariances").item(place).fail(
                    "another covariance than that of class 0; linear discriminants share one"
                )
    return ClassifierFitted(
        names, log_double(likelihood), positive(weight), sizes.doubles(len(names), 0), found
    )


def _classes(node: Node) -> Classes:
    items = node.items()
    if len(items) < 2:
        node.fail(f"{len(items)} classes; two or more are needed")
    found: list[str | int] = []
    for item in items:
        # All are of the kind of the first: numbers and strings that look like them never meet.
        name: str | int = (
            item.whole(-(2**63), 2**63 - 1) if type(items[0].value) is int else item.text()
        )
        if found and not found[-1] < name:  # type: ignore[operator]
            item.fail(f"the class {name!r} after {found[-1]!r}; classes are in order, each once")
        found.append(name)
    return tuple(found)  # type: ignore[return-value]
