"""Variational Bayes from any data: beliefs about mixtures, a bound on the evidence (chapter 34)."""

from __future__ import annotations

from typing import TypeAlias

from refclust.fitting.options import takes
from refclust.mixture.bayes.counts import CountBeliefs, VariationalMultinomial
from refclust.mixture.bayes.gaussian import VariationalGaussian
from refclust.mixture.bayes.gaussian_beliefs import GaussianBeliefs
from refclust.mixture.families.counts import CountFamily
from refclust.mixture.families.gaussian import GaussianFamily
from refclust.mixture.fit import Beginning, finished
from refclust.mixture.options import VariationalGaussianCall, VariationalMultinomialCall
from refclust.mixture.passes import CountPasses, GaussianPasses
from refclust.mixture.results import MixtureFit

GaussianBeliefsFit: TypeAlias = MixtureFit[GaussianBeliefs]
CountBeliefsFit: TypeAlias = MixtureFit[CountBeliefs]


@takes(VariationalGaussianCall)
def variational_gaussian(call: VariationalGaussianCall) -> GaussianBeliefsFit:
    """Fit beliefs about a Gaussian mixture; ``objective`` is the bound on the log evidence.

    Spec: VB-GAUSS, MS-VIELBO

    >>> fit = variational_gaussian([[0.0], [2.0]], 1)
    >>> fit.parameters.nu, fit.parameters.means, fit.parameters.scales
    ((3.0,), ((1.0,),), ((3.0,),))
    """
    begin = Beginning.of(call)
    normal = GaussianFamily(GaussianPasses(begin.rows, begin.k), "VVV")
    alpha = 1.0 / begin.k if call.alpha is None else call.alpha
    return finished(begin.steps(VariationalGaussian(normal, alpha, call.beta, call.nu)))


@takes(VariationalMultinomialCall)
def variational_multinomial(call: VariationalMultinomialCall) -> CountBeliefsFit:
    """Fit beliefs about a multinomial mixture; ``objective`` is the bound on the log evidence.

    Spec: VB-MULT, MS-VIELBO

    >>> variational_multinomial([[4, 0], [5, 1], [0, 3]], 1).parameters.eta
    ((10.0, 5.0),)
    """
    begin = Beginning.of(call)
    counted = CountFamily(CountPasses(begin.rows, begin.k), "multinomial", counts=call.counts)
    alpha = 1.0 / begin.k if call.alpha is None else call.alpha
    return finished(begin.steps(VariationalMultinomial(counted, alpha, call.concentration)))
