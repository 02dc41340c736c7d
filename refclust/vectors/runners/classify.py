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
from refclust.vectors.answers import Answer
from refclust.vectors.runners.mixtures import number, numbers


def counts(given: dict[str, Any], key: str, session: Session) -> Answer:
    """Answer one key of a case of ``classify.counts``."""
    return _answer(_trained_on_counts(json.dumps(given), session.requested), key)


def gaussian(given: dict[str, Any], key: str, session: Session) -> Answer:
    """Answer one key of a case of ``classify.gaussian``."""
    return _answer(_trained_on_numbers(json.dumps(given), session.requested), key)


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
    def found(self) -> Classified:
        # Rows that no class can have made have scores too.
        return predict(
            self.classifier, self.queries, full=True, impossible="prior", backend=self.backend
        )

    @property
    def parameters(self) -> Any:
        return self.classifier.parameters

    def discriminants(self, x: list[float]) -> list[float]:
        one = self.parameters
        return [
            discriminant(x, *parts)
            for parts in zip(one.weights, one.means, one.covariances, strict=True)
        ]


# A case asks for several keys of one classifier; the last one is kept.
@lru_cache(maxsize=1)
def _trained_on_counts(text: str, backend: str) -> _Trained:
    given = json.loads(text)
    classifier = naive_bayes(
        numbers(given["rows"]),
        given["labels"],
        kind=given["kind"],
        prior=given.get("prior", "documents"),
        m=number(given.get("m", "0")),
        p=numbers(given["p"]) if "p" in given else None,
        weights=numbers(given["weights"]) if "weights" in given else None,
        backend=backend,
    )
    return _Trained(classifier, numbers(given["queries"]), backend)


@lru_cache(maxsize=1)
def _trained_on_numbers(text: str, backend: str) -> _Trained:
    given = json.loads(text)
    weights = numbers(given["weights"]) if "weights" in given else None
    classifier = qda(
        numbers(given["rows"]),
        given["labels"],
        covariance=given["model"],
        prior=given.get("prior", "documents"),
        weights=weights,
        backend=backend,
    )
    return _Trained(classifier, numbers(given["queries"]), backend)


_OF_CLASSES: Final[Mapping[str, Callable[[_Trained], Answer]]] = {
    "log_likelihood": lambda one: float(one.classifier.log_likelihood),
    "weights": lambda one: one.parameters.weights,
    "probabilities": lambda one: [tuple(row) for row in one.parameters.probabilities],
    "totals": lambda one: [math.fsum(row) for row in one.parameters.probabilities],
    "means": lambda one: one.parameters.means,
    "spreads": lambda one: one.parameters.spreads,
    "discriminants": lambda one: [one.discriminants(x) for x in one.queries],
    "scores": lambda one: [one.found.scores(i) for i in range(len(one.queries))],
    "posteriors": lambda one: [one.found.responsibilities(i) for i in range(len(one.queries))],
    "labels": lambda one: [Fraction(str(label)) for label in one.found.labels],
    "linear.slopes": lambda one: linear_form(one.parameters).weights,
    "linear.offsets": lambda one: linear_form(one.parameters).intercepts,
}
