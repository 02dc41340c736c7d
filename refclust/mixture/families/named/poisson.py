"""Poisson mixture: soft clusters of counts, each column by itself (chapter 35)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, TypeAlias

from refclust.fitting.draws import poisson
from refclust.fitting.options import takes
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.kernels.mixtures.words import log
from refclust.mixture.em import EMSteps
from refclust.mixture.families.counts.mean_record import mean_record
from refclust.mixture.families.counts.means import Law, MeanParameters
from refclust.mixture.families.exact import Parts
from refclust.mixture.fit import begun_by, finished
from refclust.mixture.options import MeansCall
from refclust.mixture.results import MixtureFit

PoissonSteps: TypeAlias = EMSteps[MeanParameters, Terms, Tallies]


def _factorials(counts: Sequence[float]) -> float:
    """Minus the sum of log x!.

    Spec: PMIX-LL
    """
    return math.fsum(-math.lgamma(x + 1.0) for x in counts if x > 1.0)


def _cell(x: float, mu: float) -> Parts | None:
    """x log mu - mu - log x!.

    Spec: PMIX-LL
    """
    if not mu:
        return None if x else (Fraction(0), ())
    logs = [(Fraction(x), Fraction(mu))] if x else []
    if x > 1:
        logs.append((Fraction(-1), Fraction(math.factorial(int(x)))))
    return -Fraction(mu), logs


RECORD: Final = mean_record(
    Law(
        "poisson",
        log,
        lambda mu: -mu,
        _factorials,
        "x_j log mu_kj - mu_kj - log x_j!",
        r"x_j\log\mu_{kj}-\mu_{kj}-\log x_j!",
    ),
    _cell,
    poisson,
    title="a Poisson mixture",
    example="visits.csv -k 3 --restarts 10 -o visits.model.json",
)


@takes(MeansCall)
def poisson_steps(call: MeansCall) -> PoissonSteps:
    """Begin a fit of a Poisson mixture and return its passes.

    Spec: PMIX-LL, EM-ALG
    """
    return begun_by(RECORD, call)


@takes(MeansCall)
def poisson_mixture(call: MeansCall) -> MixtureFit[MeanParameters]:
    """Fit a mixture of K components with a mean count for every column, with m imagined rows.

    Spec: PMIX-LL, CM-MU, EM-RESTART

    >>> fit = poisson_mixture([[4, 0], [6, 0], [0, 3]], 2, labels=["a", "a", "b"])
    >>> fit.parameters.means
    ((5.0, 0.0), (0.0, 3.0))
    """
    return finished(poisson_steps(**vars(call)))
