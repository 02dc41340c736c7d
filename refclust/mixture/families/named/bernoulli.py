"""Bernoulli mixture: soft clusters of zeros and ones (chapter 31)."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Final, TypeAlias

from refclust.fitting.draws import Draws
from refclust.fitting.options import takes
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.kernels.points import Vector
from refclust.mixture.em import EMSteps
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.counts.word_pass import (
    check_scores,
    columns_of,
    nothing_left_out,
    words_on,
    words_posterior,
)
from refclust.mixture.families.exact import CountJoint, Parts
from refclust.mixture.families.record import FamilyRecord, RowDraw
from refclust.mixture.fit import begun_by, finished
from refclust.mixture.options import BernoulliCall
from refclust.mixture.results import MixtureFit

CountFit: TypeAlias = MixtureFit[CountParameters]
CountSteps: TypeAlias = EMSteps[CountParameters, Terms, Tallies]


def _cell(x: float, theta: float) -> Parts | None:
    """log theta if it is there, log(1 - theta) if not.

    Spec: BMIX-LL
    """
    chance = Fraction(theta) if x else 1 - Fraction(theta)
    if not chance:
        return None
    return Fraction(0), () if chance == 1 and not x else ((Fraction(x or 1.0), chance),)


def _rows(parameters: CountParameters, draws: Draws, _length: float | None) -> RowDraw:
    """Rows of zeros and ones.

    Spec: EM-SAMPLE
    """

    def draw(k: int) -> Vector:
        return tuple(float(draws.next() < theta) for theta in parameters.probabilities[k])

    return draw


RECORD: Final = FamilyRecord(
    name="bernoulli",
    title="a Bernoulli mixture",
    call=BernoulliCall,
    parameters=CountParameters,
    on=partial(words_on, "bernoulli"),
    columns=columns_of,
    check=check_scores,
    posterior=partial(words_posterior, "bernoulli"),
    left_out=nothing_left_out,
    exact=lambda parameters, arithmetic: CountJoint(
        parameters.weights, parameters.probabilities, _cell, arithmetic
    ),
    rows=_rows,
    example="votes.csv -k 2 --label-column party --m 1",
)


@takes(BernoulliCall)
def bernoulli_steps(call: BernoulliCall) -> CountSteps:
    """Begin a fit of a Bernoulli mixture and return its passes.

    Spec: BMIX-LL, EM-ALG
    """
    return begun_by(RECORD, call)


@takes(BernoulliCall)
def bernoulli_mixture(call: BernoulliCall) -> CountFit:
    """Fit a mixture of K components that say which features are there, with m imagined rows.

    Spec: BMIX-LL, EM-RESTART

    >>> fit = bernoulli_mixture([[1, 0], [1, 0], [0, 1]], 2, labels=["a", "a", "b"])
    >>> tuple(fit.parameters.probabilities)
    ((1.0, 0.0), (0.0, 1.0))
    """
    return finished(bernoulli_steps(**vars(call)))
