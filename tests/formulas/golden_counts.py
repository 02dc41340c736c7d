"""Golden steps of Poisson and geometric mixtures answered by chapter 35 of the formula room."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

from refclust.formulas import counts, mixtures
from refclust.formulas.kmeans import centre
from refclust.formulas.mixtures import Log
from tests.formulas import golden_mixtures as golden

LAWS: Mapping[str, Any] = {"poisson": counts.poisson, "geometric": counts.geometric}
IMAGINED: Mapping[str, Any] = {
    "poisson": counts.without_factorials,
    "geometric": counts.geometric,
}
LIKELIHOODS: Mapping[str, Any] = {
    "poisson": counts.poisson_log_likelihood,
    "geometric": counts.geometric_log_likelihood,
}


class MeanStep(golden.Step):
    """A state of shares and means, and the rows with their shares."""

    @cached_property
    def mixture(self) -> Any:
        state = golden.number(self.given["state"])
        return state["weights"], state["means"]

    @property
    def p(self) -> Callable[[Any, Any], Any]:
        return lambda x, mu: counts.row_probability(x, mu, LAWS[self.kind])

    @cached_property
    def smoothing(self) -> tuple[Any, Any]:
        own = golden.number(self.given.get("p", []))
        return golden.number(self.given.get("m", "0")), own or centre(self.x, self.w)

    @cached_property
    def next(self) -> Any:
        columns = zip(*self.q, strict=True)
        mu = [counts.means(self.x, self.w, q_k, *self.smoothing) for q_k in columns]
        return mixtures.component_weights(self.q, self.w), mu

    def log_likelihood(self, mixture: Any) -> Log:
        found: Log = LIKELIHOODS[self.kind](self.x, self.w, mixture)
        return found

    def row(self, x: Any) -> Log:
        found: Log = LIKELIHOODS[self.kind]([x], [1], self.mixture)
        return found

    def certified(self) -> Fraction:
        """The middle of an interval; forty digits, because products of many powers lose some."""
        low, high = mixtures.certified(self.x, self.w, self.mixture, self.p, digits=40)
        return (Fraction(low) + Fraction(high)) / 2

    def log_prior(self, mu: Any) -> Log:
        return counts.log_prior(mu, *self.smoothing, IMAGINED[self.kind])


STEP: Mapping[str, Callable[[MeanStep], Any]] = {
    **golden.STEP,
    "certified_log_likelihood": MeanStep.certified,
    "next.means": lambda step: step.next[1],
    "log_prior": lambda step: step.log_prior(step.mixture[1]),
    "next.log_prior": lambda step: step.log_prior(step.next[1]),
}


def missed(case: Any) -> list[str]:
    """The keys of a golden case that the room misses: nothing but the nearest double will do."""
    step = MeanStep(case["input"])
    return [
        key
        for key, expected in case["expect"].items()
        if not golden.meets(expected, STEP[key](step), rounded=key.startswith("certified"))
    ]
