"""Variational Bayes from any data: beliefs about mixtures, a bound on the evidence (chapter 34)."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar, Unpack

from refclust.kernels.mixtures.words import Kind
from refclust.mixture.bayes.beliefs import CountBeliefs, GaussianBeliefs
from refclust.mixture.bayes.counts import VariationalCounts
from refclust.mixture.bayes.gaussian import VariationalGaussian
from refclust.mixture.bayes.precisions import precision
from refclust.mixture.covariance.models import covariance_model
from refclust.mixture.em import EMSteps
from refclust.mixture.families.count_parameters import Counts
from refclust.mixture.families.counts import CountFamily
from refclust.mixture.families.gaussian import GaussianFamily
from refclust.mixture.fit import EMArguments, begun, steps_of
from refclust.mixture.passes import CountPasses, GaussianPasses
from refclust.mixture.results import MixtureFit

P = TypeVar("P")
GaussianBeliefsFit: TypeAlias = MixtureFit[GaussianBeliefs]
CountBeliefsFit: TypeAlias = MixtureFit[CountBeliefs]


def variational_gaussian(
    data: Any,
    k: int,
    *,
    covariance: str = "full",
    alpha: float | None = None,
    beta: float = 1.0,
    nu: float | None = None,
    **options: Unpack[EMArguments],
) -> GaussianBeliefsFit:
    """Fit beliefs about a Gaussian mixture; ``objective`` is the bound on the log evidence.

    Spec: VB-GAUSS, VB-DIAG, VB-BALL, VB-COMMON, MS-VIELBO

    >>> fit = variational_gaussian([[0.0], [2.0]], 1)
    >>> fit.parameters.nu, fit.parameters.means, fit.parameters.scales
    ((3.0,), ((1.0,),), ((3.0,),))
    """
    model = covariance_model(covariance).name
    precision(model, 1)  # refuses a model without a conjugate prior before rows are read
    rows, count, start = begun(data, k, options)
    densities = GaussianFamily(GaussianPasses(rows, count), model)
    family = VariationalGaussian(densities, _alpha(alpha, count), beta, nu)
    return _fitted(steps_of(family, rows, count, start, options, "kmeans"))


def variational_multinomial(
    data: Any,
    k: int,
    *,
    alpha: float | None = None,
    concentration: float = 1.0,
    counts: Counts = "whole",
    **options: Unpack[EMArguments],
) -> CountBeliefsFit:
    """Fit beliefs about a multinomial mixture; ``objective`` is the bound on the log evidence.

    Spec: VB-MULT, MS-VIELBO

    >>> variational_multinomial([[4, 0], [5, 1], [0, 3]], 1).parameters.eta
    ((10.0, 5.0),)
    """
    return _counted(data, k, "multinomial", counts, alpha, concentration, options)


def variational_bernoulli(
    data: Any,
    k: int,
    *,
    alpha: float | None = None,
    concentration: float = 1.0,
    **options: Unpack[EMArguments],
) -> CountBeliefsFit:
    """Fit beliefs about a Bernoulli mixture; ``objective`` is the bound on the log evidence.

    Spec: VB-BERN, MS-VIELBO

    >>> variational_bernoulli([[1, 0], [1, 1], [0, 1], [1, 0]], 1).parameters.eta
    ((4.0, 2.0, 3.0, 3.0),)
    """
    return _counted(data, k, "bernoulli", "whole", alpha, concentration, options)


def _counted(
    data: Any,
    k: int,
    kind: Kind,
    counts: Counts,
    alpha: float | None,
    concentration: float,
    options: EMArguments,
) -> CountBeliefsFit:
    rows, count, start = begun(data, k, options)
    densities = CountFamily(CountPasses(rows, count), kind, counts=counts)
    family = VariationalCounts(densities, _alpha(alpha, count), concentration)
    return _fitted(steps_of(family, rows, count, start, options, "points"))


def _alpha(alpha: float | None, k: int) -> float:
    return 1.0 / k if alpha is None else alpha


def _fitted(steps: EMSteps[P, Any, Any]) -> MixtureFit[P]:
    for _ in steps:
        pass
    return steps.result()
