"""Variations of EM: other rules for responsibilities, shorter M-steps (chapter 30)."""

from __future__ import annotations

from array import array
from typing import Final, TypeVar

from refclust.data.dataset import Dataset
from refclust.fitting.draws import Draws
from refclust.kernels.mixtures.shared import HARD, SOFT, EMStep, Rule
from refclust.mixture.families.family import Collapsed, Densities, Family, Following, Point
from refclust.mixture.options import EMOptions

P = TypeVar("P")
D = TypeVar("D", bound=Densities)
M = TypeVar("M")

_MOST_TRIALS: Final = 20


def rule_of(options: EMOptions, densities: Densities, data: Dataset, draws: Draws) -> Rule:
    """How a pass over the rows makes responsibilities of posteriors.

    Spec: EM-ESTEP, CEM-ASSIGN, EM-VAR, EM-STOCH, EM-MC
    """
    match options.variation:
        case "stochastic" | "monte-carlo":
            numbers = array("d", (draws.next() for _ in range(data.n * options.samples)))
            return Rule(draws=numbers, samples=options.samples)
        case "hard":
            return HARD
        case "top":
            return Rule(top=min(options.top, densities.k))
        case _:
            return SOFT


def damped(
    family: Family[P, D, M],
    point: Point[P, D],
    whole: Following[P, D],
    step: EMStep[M],
    share: float,
) -> Following[P, D]:
    """Parameters on the way to those of the M-step that raise the bound, too.

    Spec: EM-GEM
    """
    expected_at = family.passes.expected
    least = expected_at(step.moments, point.densities) + point.log_prior
    for _ in range(_MOST_TRIALS):
        between = family.blended(point.parameters, whole.point.parameters, share)
        try:
            trial = family.point(between)
        except Collapsed:
            break
        expected = expected_at(step.moments, trial.densities)
        if expected + trial.log_prior >= least:
            return Following(trial, expected)
        share = (1.0 + share) / 2.0
    return whole
