"""Models of mixtures: from a fit to the records of a model file, and back (chapter 11)."""

from __future__ import annotations

from typing import Any, TypeAlias

from refclust.data.dataset import Dataset
from refclust.data.files.records import taken
from refclust.errors import BadOption
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.results import MixtureFit
from refclust.models.clusters import data_facts, origin_of
from refclust.models.records.clusters import Reading
from refclust.models.records.families import FAMILIES
from refclust.models.records.mixtures import (
    AscentFacts,
    MixtureFitted,
    MixtureModel,
    MixtureParams,
)

AnyFit: TypeAlias = MixtureFit[GaussianParameters] | MixtureFit[CountParameters]


def model_of(
    fit: MixtureFit[Any], *, data: Dataset | None = None, reading: Reading | None = None
) -> MixtureModel:
    """Make a model of a fit; without its data, means are written out with all their zeros.

    Spec: MODEL-DOC

    >>> from refclust.mixture.families.named.gaussian import gaussian_mixture
    >>> model = model_of(gaussian_mixture([[0], [2], [9], [11]], 2, covariance="tied", limit=0))
    >>> model.algorithm, model.params.settings, model.fitted.parameters.covariances
    ('gaussian', GaussianSettings(covariance='EEE', floor=0.0, missing=None), ((1.0,), (1.0,)))
    """
    family = FAMILIES.get(fit.family)
    if family is None:
        raise BadOption(f"there is no model file for a fit that is {fit.family}")
    return MixtureModel(
        algorithm=fit.family,
        params=taken(MixtureParams, fit.options, settings=taken(family.settings, fit.settings)),
        fitted=taken(
            MixtureFitted,
            fit,
            parameters=family.numbers.of(fit.parameters),
            certificate=tuple(taken(AscentFacts, step) for step in fit.monotone.ascents),
        ),
        data=data_facts(fit, data, reading),
        provenance=origin_of(fit.provenance),
    )


def parameters_of(model: MixtureModel) -> Any:
    """The parameters that a model holds, or the beliefs about them.

    Spec: MODEL-DOC
    """
    return model.fitted.parameters.parameters()
