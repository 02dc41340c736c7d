"""Multinomial and Bernoulli mixtures: the family for the EM loop (chapter 31)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from refclust.errors import BadOption, DimensionMismatch
from refclust.fitting.memory import for_words
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.kernels.mixtures.shared import Doubles
from refclust.kernels.mixtures.words import CountModel, log
from refclust.kernels.points import Vector
from refclust.mixture.families.counts.parameters import (
    CountParameters,
    Counts,
    check_counts,
    check_parameters,
    estimated,
    terms_of,
)
from refclust.mixture.families.estimates import component_weights
from refclust.mixture.families.family import Collapsed, Following, Point
from refclust.mixture.families.gaussian.parameters import between, readable
from refclust.mixture.options import is_number
from refclust.mixture.passes import CountPasses
from refclust.numbers.argmin import ROUND
from refclust.numbers.reading import shown

Pair = Point[CountParameters, Terms]


@dataclass(frozen=True)
class CountFamily:
    """Multinomial or Bernoulli mixtures on one data set, with m imagined observations."""

    passes: CountPasses
    kind: CountModel = "multinomial"
    m: float = 0.0
    p: Vector = ()  # of each word; nothing: all alike
    counts: Counts = "whole"

    def __post_init__(self) -> None:
        """Refuse rows that are no counts, and imagined observations that are no distribution."""
        if not is_number(self.m) or self.m < 0:
            raise BadOption(f"m is {shown(self.m)}; a number of at least 0 is needed")
        d = self.passes.rows.data.d
        for_words(self.passes.k, d)
        if self.p and len(self.p) != d:
            raise DimensionMismatch(f"p has {len(self.p)} numbers, the rows {d} columns")
        if not all(0 <= share <= 1 for share in self.p):
            raise BadOption("p holds a number below 0 or above 1; probabilities are needed")
        if self.p and self.kind == "multinomial" and abs(math.fsum(self.p) - 1) > d * 2.0**-40:
            raise BadOption(
                f"p adds up to {math.fsum(self.p)!r}; in a mixture it must be a distribution"
            )
        check_counts(self.passes.rows.data, self.kind, self.counts)

    @property
    def name(self) -> str:
        """The word for it."""
        return self.kind

    @property
    def kernel(self) -> str:
        """The kernel that takes the time."""
        return "multinomial.em_step"

    @property
    def settings(self) -> dict[str, Any]:
        """The options of the family."""
        shares = list(self.p) or None
        return {"m": self.m, "p": shares, "counts": self.counts}

    @property
    def unit(self) -> float:
        """Weights count as they are: imagined words and rows are counted beside them."""
        return 1.0

    @property
    def constant(self) -> float:
        """Nothing is left out: the likelihood is that of sequences of words.

        Spec: MMIX-LL
        """
        return 0.0

    @cached_property
    def prior(self) -> Vector:
        """The share of each word among imagined observations.

        Spec: NB-MEST
        """
        d = self.passes.rows.data.d
        return self.p or ((1.0 / d,) * d if self.kind == "multinomial" else (0.5,) * d)

    def point(self, parameters: CountParameters) -> Pair:
        """Take logarithms.

        Spec: NB-LIK, BMIX-LL
        """
        terms = self.passes.terms(parameters, self.kind)
        return self._point(parameters, terms, self._log_prior(parameters))

    def moments(self, q: Labels | Doubles, k: int) -> Tallies:
        """Add up the rows for given labels or responsibilities."""
        return self.passes.moments(q, k)

    def sizes(self, moments: Tallies) -> tuple[float, ...]:
        """The weight of each component.

        Spec: MMIX-PI
        """
        return tuple(moments.counts)

    def following(
        self,
        moments: Tallies,
        before: CountParameters | None,  # noqa: ARG002
    ) -> Following[CountParameters, Terms]:
        """Make the M-step: shares of components and probabilities of words.

        Spec: EM-MSTEP, MMIX-PI, MMIX-THETA, BMIX-THETA, MMIX-Q
        """
        check_sizes(moments)
        words = self.passes.estimated(moments, self.m, self.prior, self.kind)
        parameters = estimated(moments, words)
        terms = terms_of(parameters, words.logs, self.kind)
        shares = (
            n * log(weight) for n, weight in zip(moments.counts, parameters.weights, strict=True)
        )
        expected = math.fsum((words.expected, *shares))
        return Following(self._point(parameters, terms, words.imagined), expected)

    def started(self, moments: Tallies, *, smooth: bool) -> CountParameters:
        """The M-step of a start; if smooth, no word that occurs begins with probability zero.

        Spec: EM-INIT
        """
        check_sizes(moments)
        if not smooth:
            return self.passes.parameters(moments, self.m, self.prior, self.kind)
        # With one imagined document like all documents together: EM would keep every zero.
        return self._like(moments)

    def around(self, rows: Sequence[Sequence[float]]) -> CountParameters:
        """Equal components, each like one row and one imagined row like all rows together.

        Spec: EM-INIT
        """
        k = len(rows)
        ones, flat = array("d", [1.0] * k), array("d", (x for row in rows for x in row))
        parameters = self._like(Tallies(ones, flat))
        return CountParameters((1.0 / k,) * k, parameters.probabilities)

    def blended(self, old: CountParameters, new: CountParameters, share: float) -> CountParameters:
        """Parameters on the way from one to another.

        Spec: EM-GEM
        """
        return CountParameters(
            between(old.weights, new.weights, share),
            tuple(
                between(a, b, share)
                for a, b in zip(old.probabilities, new.probabilities, strict=True)
            ),
        )

    def without(self, parameters: CountParameters, component: int) -> CountParameters:
        """The parameters of the other components.

        Spec: GMM-COLLAPSE
        """
        kept = [k for k in range(len(parameters.weights)) if k != component]
        return CountParameters(
            component_weights([parameters.weights[k] for k in kept]),
            tuple(parameters.probabilities[k] for k in kept),
        )

    def replaced(
        self, parameters: CountParameters, component: int, row: Sequence[float]
    ) -> CountParameters:
        """The parameters with one component anew, like a row and one imagined row.

        Spec: GMM-COLLAPSE
        """
        k = len(parameters.weights)
        others = math.fsum(w for i, w in enumerate(parameters.weights) if i != component)
        fresh = self.around([row]).probabilities[0]
        return CountParameters(
            tuple(
                1.0 / k if i == component else w / others * (k - 1) / k
                for i, w in enumerate(parameters.weights)
            ),
            tuple(
                fresh if i == component else old for i, old in enumerate(parameters.probabilities)
            ),
        )

    def content(self, parameters: CountParameters) -> dict[str, Any]:
        """Parameters as plain values."""
        return {
            "weights": list(parameters.weights),
            "probabilities": [list(row) for row in parameters.probabilities],
        }

    def read(self, content: Any) -> CountParameters:
        """Parameters from plain values, or given as such, checked.

        Spec: EM-INIT
        """
        if isinstance(content, CountParameters):
            parameters = content
        else:
            with readable("weights and probabilities"):
                parameters = CountParameters(
                    tuple(map(float, content["weights"])),
                    tuple(tuple(map(float, row)) for row in content["probabilities"]),
                )
        check_parameters(parameters, self.kind, self.passes.rows.data.d)
        # In one buffer: with many words that is made once, not in every step.
        return CountParameters(parameters.weights, CentreMatrix.of(parameters.probabilities))

    def free_parameters(self, k: int) -> int:
        """How many numbers the mixture is free to choose.

        Spec: MS-BIC
        """
        d = self.passes.rows.data.d
        return k - 1 + k * (d - 1 if self.kind == "multinomial" else d)

    def _point(self, parameters: CountParameters, terms: Terms, log_prior: float) -> Pair:
        """Parameters with the logarithm of their prior and what that may err by.

        Its terms have one sign; logarithms and products err by 8 u of each, their sum by u for each
        of them. As in a pass, imagined words are affected by probabilities that do not add up to
        one, or by 1 - theta.
        """
        d, k = self.passes.rows.data.d, len(parameters.weights)
        each = 8.0 * self.m * k * (1 if self.kind == "multinomial" else d)
        own = (k * d + 8) * abs(log_prior) if math.isfinite(log_prior) else 0.0
        return Point(parameters, terms, log_prior, ROUND * (own + each))

    def _log_prior(self, parameters: CountParameters) -> float:
        """The logarithm of the prior, up to a constant.

        Spec: MMIX-PRIOR
        """
        if not self.m:
            return 0.0
        terms: list[float] = []
        for row in parameters.probabilities:
            for theta, share in zip(row, self.prior, strict=True):
                terms.append(self.m * share * log(theta) if share else 0.0)
                if self.kind == "bernoulli" and share < 1.0:
                    terms.append(self.m * (1.0 - share) * log(1.0 - theta))
        return -math.inf if -math.inf in terms else math.fsum(terms)

    def _like(self, tallies: Tallies) -> CountParameters:
        """Components like their counts and one imagined row like all rows together."""
        m = self.m + self._length
        return self.passes.parameters(tallies, m, self._background, self.kind)

    @cached_property
    def _everybody(self) -> Tallies:
        return self.moments(array("i", bytes(4 * self.passes.rows.data.n)), 1)

    @cached_property
    def _length(self) -> float:
        """The size of one imagined row: the mean number of words, or one row."""
        if self.kind == "bernoulli":
            return 1.0
        return math.fsum(self._everybody.sums) / self._everybody.counts[0] or 1.0

    @cached_property
    def _background(self) -> Vector:
        """The probability of each word in all rows together, with the prior beside it."""
        everybody = self.passes.parameters(self._everybody, self.m, self.prior, self.kind)
        # A word that never occurs keeps its zero; one that always occurs must not be certain.
        rows = self._everybody.counts[0] + 1.0
        if self.kind == "bernoulli":
            return tuple(
                (theta * (rows - 1.0) + 0.5) / rows if theta else 0.0
                for theta in everybody.probabilities[0]
            )
        return everybody.probabilities[0]


def check_sizes(moments: Tallies) -> None:
    """Raise ``Collapsed`` for a component without rows."""
    for k, count in enumerate(moments.counts):
        if not count > 0:
            raise Collapsed(k, "has no rows any more")
