"""The parts of a model file that belong to mixtures and classifiers (chapter 11, MODEL-DOC)."""

from __future__ import annotations

import math
from typing import Any

from refclust.data.files.document import Line
from refclust.models.records.common import Kind
from refclust.models.records.mixtures import (
    AscentFacts,
    ClassifierFitted,
    CollapseFacts,
    DiscriminantParams,
    GaussianNumbers,
    MixtureFitted,
    MixtureParams,
    MixtureRun,
    NaiveBayesParams,
    Numbers,
)
from refclust.models.writer.parts import centre_line, plain


def mixture_params(params: MixtureParams) -> dict[str, Any]:
    """What a fit was asked for, with the settings of its family among the rest."""
    told = plain(params)
    settings = plain(told.pop("settings"))
    if "p" in settings:
        settings["p"] = Line(settings["p"])
    return {"k": told.pop("k"), **settings, **told}


def mixture_fitted(fitted: MixtureFitted, kind: Kind) -> dict[str, Any]:
    """What a fit found, one component, run and iteration per line."""
    return {
        **_finite(plain(fitted)),
        "sizes": Line(fitted.sizes),
        "parameters": _numbers(fitted.parameters, kind),
        "runs": [Line(_run(run)) for run in fitted.runs],
        "trace": [Line(_finite(plain(step))) for step in fitted.trace],
        "certificate": [Line(_ascent(one)) for one in fitted.certificate],
    }


def classifier_params(params: NaiveBayesParams | DiscriminantParams) -> dict[str, Any]:
    """What training was asked for."""
    told = plain(params)
    if "p" in told:
        told["p"] = Line(told["p"])
    return {**told, "prior": Line(params.prior)}


def classifier_fitted(fitted: ClassifierFitted, kind: Kind) -> dict[str, Any]:
    """What training found, one class per line."""
    return {
        **_finite(plain(fitted)),
        "classes": Line(fitted.classes),
        "sizes": Line(fitted.sizes),
        "parameters": _numbers(fitted.parameters, kind),
    }


def _numbers(numbers: Numbers, kind: Kind) -> dict[str, Any]:
    if isinstance(numbers, GaussianNumbers):
        return {
            "form": numbers.form,
            "weights": Line(numbers.weights),
            "means": [centre_line(mean, kind) for mean in numbers.means],
            "covariances": [Line(covariance) for covariance in numbers.covariances],
        }
    return {
        "weights": Line(numbers.weights),
        "probabilities": [centre_line(row, kind) for row in numbers.probabilities],
    }


def _run(run: MixtureRun) -> dict[str, Any]:
    return {**_finite(plain(run)), "events": [_event(event) for event in run.events]}


def _event(event: CollapseFacts) -> dict[str, Any]:
    return {**plain(event), "rows": list(event.rows)}


def _ascent(one: AscentFacts) -> dict[str, Any]:
    told = plain(one)
    # From an objective of minus infinity every step leads up by infinitely much.
    return {**told, "maximisation": None if one.maximisation == math.inf else one.maximisation}


def _finite(told: dict[str, Any]) -> dict[str, Any]:
    """Minus infinity, which JSON has not, is null."""
    return {
        name: None if isinstance(x, float) and x == -math.inf else x for name, x in told.items()
    }
