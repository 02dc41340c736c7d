"""Gaussian mixture: soft clusters of any shape (chapter 32)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from refclust.data.dataset import Dataset
from refclust.errors import BadOption, DegenerateCovariance
from refclust.fitting.draws import Draws, normal
from refclust.fitting.options import takes
from refclust.fitting.rows import Rows
from refclust.kernels.mixtures.gaussian import Gaussians, Moments
from refclust.kernels.mixtures.shared import Posterior
from refclust.kernels.points import Vector
from refclust.mixture.covariance.models import covariance_model
from refclust.mixture.em import EMSteps
from refclust.mixture.families.exact import GaussianJoint
from refclust.mixture.families.family import Collapsed
from refclust.mixture.families.gaussian.parameters import (
    GaussianParameters,
    check_parameters,
    constant_of,
    densities,
    whitening_diagonal,
)
from refclust.mixture.families.gaussian.steps import GaussianFamily
from refclust.mixture.families.record import FamilyRecord, LeftOut, RowDraw
from refclust.mixture.fit import begun_by, finished
from refclust.mixture.gaps.family import GappedFamily, left_out
from refclust.mixture.gaps.passes import GappedPasses
from refclust.mixture.gaps.patterns import filled
from refclust.mixture.options import GaussianCall
from refclust.mixture.passes import GaussianPasses
from refclust.mixture.results import MixtureFit
from refclust.numbers.linalg import NotPositive, cholesky

GaussianFit: TypeAlias = MixtureFit[GaussianParameters]
GaussianSteps: TypeAlias = EMSteps[GaussianParameters, Gaussians, Moments]

_CONVEX: Final = ("EII", "VII", "EEI", "VVI", "EEE", "VVV")


def _on(rows: Rows, k: int, settings: Mapping[str, Any]) -> GaussianFamily:
    model = covariance_model(settings["covariance"]).name
    if settings.get("variation") == "generalized" and model not in _CONVEX:
        raise BadOption(
            f"the covariances of {model} have no way between them that stays in the model; "
            f"generalized EM goes with {', '.join(_CONVEX)}"
        )
    floor, missing = float(settings["floor"]), settings.get("missing", "refuse")
    if not rows.data.gaps:
        return GaussianFamily(GaussianPasses(rows, k), model, floor, missing)
    return GappedFamily(GappedPasses.on(rows, k), model, floor)


def _posterior(parameters: GaussianParameters, rows: Rows, full: bool) -> Posterior:
    k, d = len(parameters.weights), rows.data.d
    passes = GaussianPasses(rows, k)
    if rows.data.gaps:
        passes = GappedPasses(replace(rows, data=filled(rows.data, [0.0] * d)), k, rows.data)
    white = passes.whitening(parameters.spreads, parameters.form)
    for k in range(len(parameters.weights)):
        if not all(whitening_diagonal(parameters, white, k)):
            raise DegenerateCovariance(f"the covariance of component {k} is singular")
    whole = densities(parameters, white, [0] * d)
    if not isinstance(passes, GappedPasses):
        return passes.posterior(whole, full=full)
    try:
        return passes.posterior(passes.conditioned(parameters, whole, [0] * d), full=full)
    except Collapsed as collapsed:
        raise DegenerateCovariance(f"of the covariances given {collapsed}") from None


def _left_out(_: GaussianParameters, rows: Dataset) -> LeftOut:
    exponents = [0] * rows.d
    return left_out(rows, exponents) if rows.gaps else constant_of(exponents)


def _rows(parameters: GaussianParameters, draws: Draws, _length: float | None) -> RowDraw:
    """Rows of normal numbers.

    Spec: GMM-GEN, EM-SAMPLE
    """
    lowers = []
    for k, covariance in enumerate(parameters.covariances):
        try:
            lowers.append(cholesky(covariance))
        except NotPositive as wrong:
            raise DegenerateCovariance(
                f"the covariance of component {k} is singular in column {wrong.column}"
            ) from None

    def draw(k: int) -> Vector:
        z = [normal(draws) for _ in parameters.means[k]]
        return tuple(
            m + math.fsum(a * b for a, b in zip(line, z, strict=True))
            for m, line in zip(parameters.means[k], lowers[k], strict=True)
        )

    return draw


RECORD: Final = FamilyRecord(
    name="gaussian",
    title="a Gaussian mixture",
    call=GaussianCall,
    parameters=GaussianParameters,
    on=_on,
    columns=lambda parameters: len(parameters.means[0]),
    check=check_parameters,
    posterior=_posterior,
    left_out=_left_out,
    exact=GaussianJoint,
    rows=_rows,
    example="iris.csv -k 3 --label-column label --covariance EEE --restarts 20",
)


@takes(GaussianCall)
def gaussian_steps(call: GaussianCall) -> GaussianSteps:
    """Begin a fit of a Gaussian mixture and return its passes.

    Spec: GMM-ALG, EM-ALG

    >>> steps = gaussian_steps([[0], [1], [9], [10]], 2, seed=1)
    >>> next(steps).iteration.iteration
    0
    """
    return begun_by(RECORD, call)


@takes(GaussianCall)
def gaussian_mixture(call: GaussianCall) -> GaussianFit:
    """Fit a mixture of K normal densities and return the best of all runs.

    Spec: GMM-ALG, GMM-LL, CEM-ALG, EM-RESTART

    >>> fit = gaussian_mixture([[0], [1], [9], [10]], 2, covariance="tied", seed=1)
    >>> fit.labels.tolist(), fit.parameters.weights
    ([0, 0, 1, 1], (0.5, 0.5))
    """
    return finished(gaussian_steps(**vars(call)))
