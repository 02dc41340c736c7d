"""Geometric mixture: soft clusters of counts with long tails (chapter 35)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, TypeAlias

from refclust.fitting.draws import Draws
from refclust.fitting.options import takes
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.mixture.em import EMSteps
from refclust.mixture.families.counts.mean_record import mean_record
from refclust.mixture.families.counts.means import Law, MeanParameters
from refclust.mixture.families.exact import Parts
from refclust.mixture.fit import begun_by, finished
from refclust.mixture.options import MeansCall
from refclust.mixture.results import MixtureFit

GeometricSteps: TypeAlias = EMSteps[MeanParameters, Terms, Tallies]


def _slope(mu: float) -> float:
    """log(mu / (1 + mu)); for a large mean by way of 1 / mu, which loses no digits.

    Spec: GEO-LL
    """
    if not mu:
        return -math.inf
    return -math.log1p(1.0 / mu) if mu > 1.0 else math.log(mu) - math.log1p(mu)


def _cell(x: float, mu: float) -> Parts | None:
    """x log(mu / (1 + mu)) - log(1 + mu).

    Spec: GEO-LL
    """
    if not mu:
        return None if x else (Fraction(0), ())
    exact = Fraction(mu)
    logs = [(Fraction(x), exact / (1 + exact))] if x else []
    return Fraction(0), [*logs, (Fraction(-1), 1 + exact)]


def _draw(draws: Draws, mu: float) -> int:
    """How often something of chance mu / (1 + mu) happens before it does not.

    Spec: EM-SAMPLE, GEO-LL
    """
    tail = math.log1p(-draws.next())
    return int(tail / _slope(mu)) if mu else 0


RECORD: Final = mean_record(
    Law(
        "geometric",
        _slope,
        lambda mu: -math.log1p(mu),
        lambda _counts: 0.0,
        "x_j log(mu_kj / (1 + mu_kj)) - log(1 + mu_kj)",
        r"x_j\log\frac{\mu_{kj}}{1+\mu_{kj}}-\log(1+\mu_{kj})",
    ),
    _cell,
    _draw,
    title="a geometric mixture",
    example="visits.csv -k 3 --restarts 10 -o visits.model.json",
)


@takes(MeansCall)
def geometric_steps(call: MeansCall) -> GeometricSteps:
    """Begin a fit of a geometric mixture and return its passes.

    Spec: GEO-LL, EM-ALG
    """
    return begun_by(RECORD, call)


@takes(MeansCall)
def geometric_mixture(call: MeansCall) -> MixtureFit[MeanParameters]:
    """Fit a mixture of K components with a mean count for every column, with m imagined rows.

    Spec: GEO-LL, CM-MU, EM-RESTART

    >>> fit = geometric_mixture([[4, 0], [6, 0], [0, 3]], 2, labels=["a", "a", "b"])
    >>> fit.parameters.means
    ((5.0, 0.0), (0.0, 3.0))
    """
    return finished(geometric_steps(**vars(call)))
