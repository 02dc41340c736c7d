"""What a fit of a mixture tells programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from refclust.cli.show.clusters import provenance_told

if TYPE_CHECKING:
    from refclust.cli.show.mixtures import Facts
    from refclust.mixture.predict import Parameters
    from refclust.models.mixtures import AnyFit


def mixture_json(fit: AnyFit, facts: Facts) -> dict[str, Any]:
    """Everything a program may want to know about a fit of a mixture, but the labels."""
    certificate = fit.monotone
    certified = facts.certified
    return {
        "algorithm": fit.family,
        "rows": fit.n,
        "features": fit.d,
        "weight": fit.weight,
        **{name: value for name, value in fit.options.items() if name != "trace"},
        **fit.settings,
        "log_likelihood": finite(fit.log_likelihood),
        "log_likelihood_of_counts": None
        if facts.coefficient is None
        else finite(fit.log_likelihood + facts.coefficient),
        "certified": None
        if certified is None
        else {"low": str(certified.low), "high": str(certified.high)},
        "objective": finite(fit.objective),
        "log_prior": finite(fit.log_prior),
        "entropy": fit.entropy,
        "free_parameters": fit.free_parameters,
        "aic": finite(facts.aic),
        "bic": finite(facts.bic),
        "iterations": fit.iterations,
        "stopped": fit.stopped,
        "converged": fit.converged,
        "best": fit.best,
        "runs": [
            {
                "log_likelihood": finite(run.log_likelihood),
                "objective": finite(run.objective),
                "iterations": run.iterations,
                "stopped": run.stopped,
                "events": [asdict(event) for event in run.events],
            }
            for run in fit.runs
        ],
        "monotone": {
            "standing": certificate.standing,
            "guaranteed": certificate.guaranteed,
            "holds": certificate.holds,
            "ascents": [
                {
                    "iteration": ascent.iteration,
                    "maximisation": finite(ascent.maximisation),
                    "expectation": finite(ascent.expectation),
                    "rounding": ascent.rounding,
                    "verdict": ascent.verdict,
                }
                for ascent in certificate.ascents
            ],
        },
        "components": components_json(fit.parameters, fit.sizes),
        "data": fit.digest,
        "provenance": provenance_told(fit.provenance),
    }


def components_json(parameters: Parameters, sizes: Sequence[float]) -> list[dict[str, Any]]:
    """The components, one object each."""
    parts = {"means": "mean", "spreads": "covariance", "probabilities": "probabilities"}
    held = {
        singular: getattr(parameters, plural)
        for plural, singular in parts.items()
        if hasattr(parameters, plural)
    }
    return [
        {
            "component": k,
            "size": size,
            "weight": parameters.weights[k],
            **{name: list(rows[k]) for name, rows in held.items()},
        }
        for k, size in enumerate(sizes)
    ]


def finite(x: float) -> float | None:
    """A number as JSON can hold it: nothing for one that is not finite."""
    return x if math.isfinite(x) else None
