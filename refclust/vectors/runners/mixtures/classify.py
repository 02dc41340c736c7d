"""Refclust's own answers to the golden vectors of classifiers (chapters 31 and 33)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Final

from refclust.backends.session import Session
from refclust.classify.discriminants import discriminant, linear_form, qda
from refclust.classify.naive_bayes import naive_bayes
from refclust.classify.predict import Classified, predict
from refclust.errors import BadVectorFile
from refclust.vectors.answers import Answer, Input
from refclust.vectors.runners.mixtures.families import number, numbers


def counts(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case of ``classify.counts``."""
    return _answer(_trained_on_counts(json.dumps(inputs), session.requested), key)


def gaussian(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case of ``classify.gaussian``."""
    return _answer(_trained_on_numbers(json.dumps(inputs), session.requested), key)


def _answer(trained: _Trained, key: str) -> Answer:
    if key not in _OF_CLASSES:
        raise BadVectorFile(f"no reading of a classifier is called {key!r}")
    return _OF_CLASSES[key](trained)


@dataclass(frozen=True)
class _Trained:
    """A classifier and the rows that it is asked about."""

    classifier: Any
    queries: list[list[float]]
    backend: str

    @cached_property
    def classified(self) -> Classified:
        # Rows that no class can have made have scores too.
        return predict(
            self.classifier, self.queries, full=True, impossible="prior", backend=self.backend
        )

    @property
    def places(self) -> range:
        return range(len(self.queries))

    @property
    def parameters(self) -> Any:
        return self.classifier.parameters

    def discriminants(self, x: list[float]) -> list[float]:
        classes = self.parameters
        return [
            discriminant(x, *parts)
            for parts in zip(classes.weights, classes.means, classes.covariances, strict=True)
        ]


# A case asks for several keys of one classifier; the last one is kept.
@lru_cache(maxsize=1)
def _trained_on_counts(text: str, backend: str) -> _Trained:
    inputs = json.loads(text)
    classifier = naive_bayes(
        numbers(inputs["rows"]),
        inputs["labels"],
        kind=inputs["kind"],
        prior=inputs.get("prior", "documents"),
        m=number(inputs.get("m", "0")),
        p=numbers(inputs["p"]) if "p" in inputs else None,
        weights=numbers(inputs["weights"]) if "weights" in inputs else None,
        backend=backend,
    )
    return _Trained(classifier, numbers(inputs["queries"]), backend)


@lru_cache(maxsize=1)
def _trained_on_numbers(text: str, backend: str) -> _Trained:
    inputs = json.loads(text)
    weights = numbers(inputs["weights"]) if "weights" in inputs else None
    classifier = qda(
        numbers(inputs["rows"]),
        inputs["labels"],
        covariance=inputs["model"],
        prior=inputs.get("prior", "documents"),
        weights=weights,
        backend=backend,
    )
    return _Trained(classifier, numbers(inputs["queries"]), backend)


_OF_CLASSES: Final[Mapping[str, Callable[[_Trained], Answer]]] = {
    "log_likelihood": lambda trained: float(trained.classifier.log_likelihood),
    "weights": lambda trained: trained.parameters.weights,
    "probabilities": lambda trained: [tuple(row) for row in trained.parameters.probabilities],
    "totals": lambda trained: [math.fsum(row) for row in trained.parameters.probabilities],
    "means": lambda trained: trained.parameters.means,
    "spreads": lambda trained: trained.parameters.spreads,
    "discriminants": lambda trained: [trained.discriminants(x) for x in trained.queries],
    "scores": lambda trained: list(map(trained.classified.scores, trained.places)),
    "posteriors": lambda trained: list(map(trained.classified.responsibilities, trained.places)),
    "labels": lambda trained: [Fraction(str(label)) for label in trained.classified.labels],
    "linear.slopes": lambda trained: linear_form(trained.parameters).weights,
    "linear.offsets": lambda trained: linear_form(trained.parameters).intercepts,
}
