"""Refclust's own answers to the golden vectors of runs of EM and of samples (chapter 30)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from refclust.backends.session import Session
from refclust.errors import BadVectorFile
from refclust.mixture.covariance.models import covariance_model
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.families.named.bernoulli import bernoulli_mixture
from refclust.mixture.families.named.gaussian import gaussian_mixture
from refclust.mixture.families.named.multinomial import multinomial_mixture
from refclust.mixture.results import MixtureFit
from refclust.mixture.sample import sample as draw_rows
from refclust.vectors.answers import Answer, Input
from refclust.vectors.runners.mixtures.families import number, numbers

# The page of the format gives reasons by number, since a value is a number.
STOPPED: Final = ("tolerance", "limit")


def run(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case of ``mixture.run``."""
    if key not in _OF_A_RUN:
        raise BadVectorFile(f"no reading of a run is called {key!r}")
    return _OF_A_RUN[key](_fit(json.dumps(inputs), session.requested))


def sample(inputs: Input, key: str, session: Session) -> Answer:  # noqa: ARG001
    """Answer one key of a case of ``mixture.sample``."""
    if key not in ("rows", "labels"):
        raise BadVectorFile(f"no reading of a sample is called {key!r}")
    state, n, seed = numbers(inputs["state"]), int(inputs["n"]), int(inputs["seed"])
    weights = tuple(state["weights"])
    parameters: GaussianParameters | CountParameters
    if "model" in inputs:
        form = covariance_model(inputs["model"]).form
        means, spreads = (tuple(map(tuple, state[name])) for name in ("means", "spreads"))
        parameters = GaussianParameters(weights, means, spreads, form)
        drawn = draw_rows(parameters, n, family="gaussian", seed=seed)
    else:
        parameters = CountParameters(weights, tuple(map(tuple, state["probabilities"])))
        length = number(inputs["length"]) if "length" in inputs else None
        drawn = draw_rows(parameters, n, family=inputs["kind"], seed=seed, length=length)
    return drawn.rows if key == "rows" else [Fraction(k) for k in drawn.labels]


# A case asks for several keys of one fit; the last one is kept.
@lru_cache(maxsize=1)
def _fit(text: str, backend: str) -> MixtureFit[Any]:
    inputs = json.loads(text)
    options: dict[str, Any] = {
        "tolerance": number(inputs.get("tolerance", "0")),
        "trace": "parameters",
        "backend": backend,
        **{name: int(inputs[name]) for name in _WHOLE if name in inputs},
        **{name: number(inputs[name]) for name in ("damping", "m") if name in inputs},
        **{name: inputs[name] for name in ("variation",) if name in inputs},
    }
    if "weights" in inputs:
        options["weights"] = numbers(inputs["weights"])
    start = inputs["start"]
    if isinstance(start, str):
        options["start"] = start
    else:
        options |= {"labels": start} if isinstance(start, list) else {"parameters": numbers(start)}
    rows, k = numbers(inputs["rows"]), int(inputs["k"])
    if "model" in inputs:
        return gaussian_mixture(rows, k, covariance=inputs["model"], **options)
    make = multinomial_mixture if inputs["kind"] == "multinomial" else bernoulli_mixture
    return make(rows, k, **options)


_WHOLE: Final = ("limit", "top", "samples", "seed", "restarts")
_OF_A_RUN: Final[Mapping[str, Callable[[MixtureFit[Any]], Answer]]] = {
    "trace.log_likelihood": lambda fit: [state.log_likelihood for state in fit.trace],
    "trace.objective": lambda fit: [state.objective for state in fit.trace],
    "iterations": lambda fit: Fraction(fit.iterations),
    "stopped": lambda fit: Fraction(STOPPED.index(fit.stopped)),
    "labels": lambda fit: [Fraction(x) for x in fit.labels],
    "weights": lambda fit: fit.parameters.weights,
    "means": lambda fit: fit.parameters.means,
    "spreads": lambda fit: fit.parameters.spreads,
    "probabilities": lambda fit: [tuple(row) for row in fit.parameters.probabilities],
    "best": lambda fit: Fraction(fit.best),
    "runs.log_likelihood": lambda fit: [run.log_likelihood for run in fit.runs],
}
