"""Variational Bayes from any data: beliefs about mixtures, a bound on the evidence (chapter 34)."""

from __future__ import annotations

from typing import TypeAlias

from refclust.fitting.options import takes
from refclust.kernels.mixtures.words import CountModel
from refclust.mixture.bayes.beliefs import CountBeliefs, GaussianBeliefs
from refclust.mixture.bayes.counts import VariationalCounts
from refclust.mixture.bayes.gaussian import VariationalGaussian
from refclust.mixture.bayes.precisions import precision
from refclust.mixture.covariance.models import covariance_model
from refclust.mixture.families.counts.parameters import Counts
from refclust.mixture.families.counts.words import CountFamily
from refclust.mixture.families.gaussian.steps import GaussianFamily
from refclust.mixture.fit import Beginning, finished
from refclust.mixture.options import (
    VariationalBernoulliCall,
    VariationalGaussianCall,
    VariationalMultinomialCall,
)
from refclust.mixture.passes import CountPasses, GaussianPasses
from refclust.mixture.results import MixtureFit

GaussianBeliefsFit: TypeAlias = MixtureFit[GaussianBeliefs]
CountBeliefsFit: TypeAlias = MixtureFit[CountBeliefs]


@takes(VariationalGaussianCall)
def variational_gaussian(call: VariationalGaussianCall) -> GaussianBeliefsFit:
    """Fit beliefs about a Gaussian mixture; ``objective`` is the bound on the log evidence.

    Spec: VB-GAUSS, VB-DIAG, VB-BALL, VB-COMMON, MS-VIELBO

    >>> fit = variational_gaussian([[0.0], [2.0]], 1)
    >>> fit.parameters.nu, fit.parameters.means, fit.parameters.scales
    ((3.0,), ((1.0,),), ((3.0,),))
    """
    model = covariance_model(call.covariance).name
    precision(model, 1)  # refuses a model without a conjugate prior before rows are read
    begin = Beginning.of(call)
    densities = GaussianFamily(GaussianPasses(begin.rows, begin.k), model)
    alpha = _alpha(call.alpha, begin.k)
    return finished(begin.steps(VariationalGaussian(densities, alpha, call.beta, call.nu)))


@takes(VariationalMultinomialCall)
def variational_multinomial(call: VariationalMultinomialCall) -> CountBeliefsFit:
    """Fit beliefs about a multinomial mixture; ``objective`` is the bound on the log evidence.

    Spec: VB-MULT, MS-VIELBO

    >>> variational_multinomial([[4, 0], [5, 1], [0, 3]], 1).parameters.eta
    ((10.0, 5.0),)
    """
    return _counted(call, "multinomial", call.counts)


@takes(VariationalBernoulliCall)
def variational_bernoulli(call: VariationalBernoulliCall) -> CountBeliefsFit:
    """Fit beliefs about a Bernoulli mixture; ``objective`` is the bound on the log evidence.

    Spec: VB-BERN, MS-VIELBO

    >>> variational_bernoulli([[1, 0], [1, 1], [0, 1], [1, 0]], 1).parameters.eta
    ((4.0, 2.0, 3.0, 3.0),)
    """
    return _counted(call, "bernoulli", "whole")


def _counted(
    call: VariationalMultinomialCall | VariationalBernoulliCall, kind: CountModel, counts: Counts
) -> CountBeliefsFit:
    begin = Beginning.of(call)
    densities = CountFamily(CountPasses(begin.rows, begin.k), kind, counts=counts)
    family = VariationalCounts(densities, _alpha(call.alpha, begin.k), call.concentration)
    return finished(begin.steps(family))


def _alpha(alpha: float | None, k: int) -> float:
    return 1.0 / k if alpha is None else alpha
