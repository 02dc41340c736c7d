"""Models of mixtures: from a fit to the records of a model file, and back (chapter 11)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias, cast, get_args

from refclust.data.dataset import Dataset
from refclust.errors import BadOption
from refclust.mixture.families.count_parameters import CountParameters
from refclust.mixture.families.gaussian_parameters import GaussianParameters
from refclust.mixture.predict import Parameters
from refclust.mixture.results import MixtureFit, Run
from refclust.models.clusters import data_facts, origin_of
from refclust.models.records.clusters import Reading
from refclust.models.records.mixtures import (
    AscentFacts,
    CollapseFacts,
    CountNumbers,
    CountSettings,
    Family,
    GaussianNumbers,
    GaussianSettings,
    MixtureFitted,
    MixtureModel,
    MixtureParams,
    MixtureRun,
    MixtureStep,
    Numbers,
)

AnyFit: TypeAlias = MixtureFit[GaussianParameters] | MixtureFit[CountParameters]


def model_of(
    fit: AnyFit, *, data: Dataset | None = None, reading: Reading | None = None
) -> MixtureModel:
    """Make a model of a fit; without its data, means are written out with all their zeros.

    Spec: MODEL-DOC

    >>> from refclust.mixture.fit import gaussian_mixture
    >>> model = model_of(gaussian_mixture([[0], [2], [9], [11]], 2, covariance="tied", limit=0))
    >>> model.algorithm, model.params.settings, model.fitted.parameters.covariances
    ('gaussian', GaussianSettings(covariance='EEE', floor=0.0), ((1.0,), (1.0,)))
    """
    if fit.family not in get_args(Family):
        raise BadOption(f"there is no model file for a fit that is {fit.family}")
    return MixtureModel(
        algorithm=cast(Family, fit.family),
        params=_params(fit),
        fitted=_fitted(fit),
        data=data_facts(fit, data, reading),
        provenance=origin_of(fit.provenance),
    )


def parameters_of(model: MixtureModel) -> Parameters:
    """The parameters that a model holds.

    Spec: MODEL-DOC
    """
    return parameters_from(model.fitted.parameters)


def parameters_from(numbers: Numbers) -> Parameters:
    """Parameters from the numbers of a model file.

    Spec: MODEL-DOC

    >>> parameters_from(CountNumbers((1.0,), ((0.25, 0.75),)))
    CountParameters(weights=(1.0,), probabilities=((0.25, 0.75),))
    """
    if isinstance(numbers, CountNumbers):
        return CountParameters(numbers.weights, numbers.probabilities)
    return GaussianParameters(numbers.weights, numbers.means, numbers.covariances, numbers.form)


def numbers_of(parameters: Parameters) -> Numbers:
    """Parameters as a model file has them.

    Spec: MODEL-DOC

    >>> numbers_of(CountParameters((1.0,), ((0.25, 0.75),)))
    CountNumbers(weights=(1.0,), probabilities=((0.25, 0.75),))
    """
    shares = _doubles(parameters.weights)
    if isinstance(parameters, CountParameters):
        return CountNumbers(shares, tuple(map(_doubles, parameters.probabilities)))
    means, spreads = (tuple(map(_doubles, part)) for part in (parameters.means, parameters.spreads))
    return GaussianNumbers(shares, means, spreads, parameters.form)


def _doubles(numbers: Iterable[float]) -> tuple[float, ...]:
    """The numbers as doubles: parameters that were given may be integers."""
    return tuple(map(float, numbers))


def _params(fit: AnyFit) -> MixtureParams:
    asked: dict[str, Any] = {name: value for name, value in fit.options.items() if name != "trace"}
    asked["damping"] = float(asked["damping"])
    if asked["tolerance"] is not None:
        asked["tolerance"] = float(asked["tolerance"])
    return MixtureParams(settings=_settings(fit.settings), **asked)


def _settings(told: dict[str, Any]) -> GaussianSettings | CountSettings:
    if "covariance" in told:
        return GaussianSettings(told["covariance"], float(told["floor"]))
    shares = told["p"]
    return CountSettings(
        float(told["m"]), None if shares is None else tuple(map(float, shares)), told["counts"]
    )


def _fitted(fit: AnyFit) -> MixtureFitted:
    return MixtureFitted(
        log_likelihood=fit.log_likelihood,
        objective=fit.objective,
        log_prior=fit.log_prior,
        entropy=fit.entropy,
        free_parameters=fit.free_parameters,
        iterations=fit.iterations,
        stopped=fit.stopped,
        best=fit.best,
        weight=fit.weight,
        sizes=fit.sizes,
        parameters=numbers_of(fit.parameters),
        runs=tuple(_run(run) for run in fit.runs),
        trace=tuple(
            MixtureStep(one.iteration, one.log_likelihood, one.objective) for one in fit.trace
        ),
        certificate=tuple(
            AscentFacts(
                one.iteration,
                one.maximisation,
                one.expectation,
                one.rounding,
                one.verdict,
            )
            for one in fit.monotone.ascents
        ),
    )


def _run(run: Run[Any]) -> MixtureRun:
    events = (
        CollapseFacts(one.iteration, one.component, one.why, one.rows, one.done)
        for one in run.events
    )
    return MixtureRun(
        run.log_likelihood,
        run.objective,
        run.log_prior,
        run.entropy,
        run.iterations,
        run.stopped,
        tuple(events),
    )
