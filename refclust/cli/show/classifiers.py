"""What training a classifier tells: a summary for people, one object for programs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from refclust.cli.output import counted
from refclust.cli.show.clusters import (
    backend_facts,
    data_text,
    fact_lines,
    number,
    provenance_told,
)
from refclust.cli.show.mixture_json import components_json, finite
from refclust.cli.show.mixtures import component_lines, prior_text

if TYPE_CHECKING:
    from refclust.data.dataset import Dataset
    from refclust.models.classifiers import AnyClassifier

_NAMES: Final = {
    "multinomial": "multinomial naive Bayes",
    "bernoulli": "Bernoulli naive Bayes",
    "gaussian": "Gaussian naive Bayes",
    "qda": "quadratic discriminants",
    "lda": "linear discriminants",
    "nearest-gaussian": "nearest Gaussians",
}
_PRIORS: Final = {
    "documents": "the share of each class of the rows",
    "tokens": "the share of each class of the words",
    "equal": "all classes alike",
}


def right(fit: AnyClassifier, data: Dataset, known: Sequence[Hashable], backend: str | None) -> int:
    """How many rows of the training get back their class."""
    from refclust.classify.predict import predict

    predicted = predict(fit, data, impossible="prior", backend=backend).labels
    return sum(label == known_label for label, known_label in zip(predicted, known, strict=True))


def classifier_lines(fit: AnyClassifier, data: Dataset, correct: int) -> Iterator[str]:
    """Tell about a classifier."""
    model = f" ({fit.settings['covariance']})" if "covariance" in fit.settings else ""
    classes = counted(len(fit.classes), "class")
    yield f"{data_text(data)}; {classes} by {_NAMES[fit.kind]}{model}"
    yield ""
    facts = [
        ("log-likelihood", f"{number(fit.log_likelihood)} (of rows and classes together)"),
        ("right", f"{correct:,} of {data.n:,} rows of the training ({correct / data.n:.1%})"),
        ("classes by", _PRIORS.get(str(fit.settings["prior"]), "given probabilities")),
        ("smoothing", _smoothing(fit.settings)),
        *backend_facts(fit.provenance),
    ]
    yield from fact_lines(facts)
    yield ""
    yield from component_lines(
        fit.parameters, fit.sizes, data.features, names=fit.classes, plan=data.preparation
    )


def _smoothing(settings: dict[str, Any]) -> str:
    if "smoothing" not in settings:
        return prior_text(settings) or "none"
    return f"{settings['smoothing']} (m = {settings['m']:g})"


def classifier_json(fit: AnyClassifier, correct: int) -> dict[str, Any]:
    """Everything a program may want to know about a classifier."""
    components = components_json(fit.parameters, fit.sizes)
    return {
        "algorithm": fit.kind if fit.kind in ("qda", "lda", "nearest-gaussian") else "naive-bayes",
        "kind": fit.kind,
        "rows": fit.n,
        "features": fit.d,
        "weight": fit.weight,
        **fit.settings,
        "log_likelihood": finite(fit.log_likelihood),
        "right": correct,
        "classes": [
            {"class": str(name), **component}
            for name, component in zip(fit.classes, components, strict=True)
        ],
        "data": fit.digest,
        "provenance": provenance_told(fit.provenance),
    }
