"""Multinomial mixture: soft clusters of counts (chapter 31)."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Final, TypeAlias

from refclust.errors import BadOption
from refclust.fitting.checks import is_number
from refclust.fitting.draws import Draws, chosen, poisson
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
from refclust.mixture.options import MultinomialCall
from refclust.mixture.results import MixtureFit

_MOST_MEAN: Final = 1e6

CountFit: TypeAlias = MixtureFit[CountParameters]
CountSteps: TypeAlias = EMSteps[CountParameters, Terms, Tallies]


def _cell(x: float, theta: float) -> Parts | None:
    """x log theta.

    Spec: NB-LIK
    """
    if not x:
        return Fraction(0), ()
    return (Fraction(0), ((Fraction(x), Fraction(theta)),)) if theta else None


def _rows(parameters: CountParameters, draws: Draws, length: float | None) -> RowDraw:
    """Documents of Poisson lengths.

    Spec: NB-GEN, NB-POISSON, NB-GENSEQ, EM-SAMPLE
    """
    if length is None or not is_number(length) or not 0 <= length <= _MOST_MEAN:
        raise BadOption(
            f"the mean length of a document is {length!r}; a number from 0 to {_MOST_MEAN:.0f} is "
            "needed: a multinomial mixture knows words, not lengths"
        )
    reached = [list(accumulate(row)) for row in parameters.probabilities]
    mean = float(length)

    def draw(k: int) -> Vector:
        counts = [0.0] * len(reached[k])
        for _ in range(poisson(draws, mean)):
            counts[chosen(reached[k], draws.next())] += 1.0
        return tuple(counts)

    return draw


RECORD: Final = FamilyRecord(
    name="multinomial",
    title="a multinomial mixture",
    call=MultinomialCall,
    parameters=CountParameters,
    on=partial(words_on, "multinomial"),
    columns=columns_of,
    check=check_scores,
    posterior=partial(words_posterior, "multinomial"),
    left_out=nothing_left_out,
    exact=lambda parameters, arithmetic: CountJoint(
        parameters.weights, parameters.probabilities, _cell, arithmetic
    ),
    rows=_rows,
    example="texts/ -k 8 --m 1 --stop-words stop.txt -o texts.model.json",
)


@takes(MultinomialCall)
def multinomial_steps(call: MultinomialCall) -> CountSteps:
    """Begin a fit of a multinomial mixture and return its passes.

    Spec: MMIX-ALG, EM-ALG
    """
    return begun_by(RECORD, call)


@takes(MultinomialCall)
def multinomial_mixture(call: MultinomialCall) -> CountFit:
    """Fit a mixture of K distributions of words, with m imagined words, p m of each.

    Spec: MMIX-ALG, EM-RESTART

    >>> docs = [[4, 0], [5, 1], [0, 3]]
    >>> fit = multinomial_mixture(docs, 2, labels=["a", "a", "b"], limit=0)
    >>> tuple(fit.parameters.probabilities)
    ((0.9, 0.1), (0.0, 1.0))
    """
    return finished(multinomial_steps(**vars(call)))
