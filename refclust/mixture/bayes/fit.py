"""Variational Bayes from any data: beliefs about mixtures, a bound on the evidence (chapter 34)."""

from __future__ import annotations

from typing import Any, TypeAlias, Unpack

from refclust.mixture.bayes.counts import CountBeliefs, VariationalMultinomial
from refclust.mixture.bayes.gaussian import VariationalGaussian
from refclust.mixture.bayes.gaussian_beliefs import GaussianBeliefs
from refclust.mixture.families.count_parameters import Counts
from refclust.mixture.families.counts import CountFamily
from refclust.mixture.families.gaussian import GaussianFamily
from refclust.mixture.fit import EMArguments, begun, steps_of
from refclust.mixture.passes import CountPasses, GaussianPasses
from refclust.mixture.results import MixtureFit

GaussianBeliefsFit: TypeAlias = MixtureFit[GaussianBeliefs]
CountBeliefsFit: TypeAlias = MixtureFit[CountBeliefs]


def variational_gaussian(
    data: Any,
    k: int,
    *,
    alpha: float | None = None,
    beta: float = 1.0,
    nu: float | None = None,
    **options: Unpack[EMArguments],
) -> GaussianBeliefsFit:
    """Fit beliefs about a Gaussian mixture; ``objective`` is the bound on the log evidence.

    Spec: VB-GAUSS, MS-VIELBO

    >>> fit = variational_gaussian([[0.0], [2.0]], 1)
    >>> fit.parameters.nu, fit.parameters.means, fit.parameters.scales
    ((3.0,), ((1.0,),), ((3.0,),))
    """
    rows, count, given = begun(data, k, options)
    plain = GaussianFamily(GaussianPasses(rows, count), "VVV")
    family = VariationalGaussian(plain, 1.0 / count if alpha is None else alpha, beta, nu)
    steps = steps_of(family, rows, count, given, options, "kmeans")
    for _ in steps:
        pass
    return steps.result()


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
    rows, count, given = begun(data, k, options)
    counted = CountFamily(CountPasses(rows, count), "multinomial", counts=counts)
    family = VariationalMultinomial(counted, 1.0 / count if alpha is None else alpha, concentration)
    steps = steps_of(family, rows, count, given, options, "points")
    for _ in steps:
        pass
    return steps.result()
