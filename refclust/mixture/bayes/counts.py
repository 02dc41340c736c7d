"""Multinomial mixtures by variational Bayes: a bound on the evidence (VB-MULT, chapter 34).

Shares and words have Dirichlet priors; the passes are those of the multinomial mixture, with
expected logarithms in the place of logarithms.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from refclust.errors import BadOption
from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.kernels.mixtures.shared import Doubles, plain
from refclust.kernels.points import Vector
from refclust.mixture.families.count_parameters import CountParameters
from refclust.mixture.families.counts import CountFamily
from refclust.mixture.families.family import Following, Point
from refclust.mixture.families.gaussian_parameters import between, readable
from refclust.mixture.options import is_number
from refclust.mixture.passes import CountPasses
from refclust.numbers.argmin import ROUND
from refclust.numbers.reading import shown
from refclust.numbers.special import digamma, dirichlet_divergence


@dataclass(frozen=True, slots=True)
class CountBeliefs:
    """What is believed of the parameters: Dirichlet shares, and Dirichlet words of each component.

    Spec: VB-MULT
    """

    alpha: tuple[float, ...]
    eta: tuple[Vector, ...]

    def expected(self) -> CountParameters:
        """The mixture of expected shares and probabilities.

        Spec: VB-MULT

        >>> CountBeliefs((1.0, 3.0), ((1.0, 1.0), (1.0, 3.0))).expected().probabilities
        ((0.5, 0.5), (0.25, 0.75))
        """
        return CountParameters(_shares(self.alpha), tuple(map(_shares, self.eta)))


Pair = Point[CountBeliefs, Terms]


@dataclass(frozen=True)
class VariationalMultinomial:
    """Beliefs about multinomial mixtures on one data set.

    ``alpha`` is the prior weight of each share, ``concentration`` that of each word.
    """

    counted: CountFamily
    alpha: float
    concentration: float = 1.0

    def __post_init__(self) -> None:
        """Refuse priors that are no distributions."""
        for name, value in (("alpha", self.alpha), ("concentration", self.concentration)):
            if not is_number(value) or value <= 0:
                raise BadOption(f"{name} is {shown(value)}; a number above 0 is needed")

    @property
    def name(self) -> str:
        """The word for it."""
        return "variational-multinomial"

    @property
    def kernel(self) -> str:
        """The kernel that takes the time."""
        return self.counted.kernel

    @property
    def settings(self) -> dict[str, Any]:
        """The prior."""
        return {"alpha": self.alpha, "concentration": self.concentration}

    @property
    def unit(self) -> float:
        """Weights count as they are, beside those of the prior."""
        return 1.0

    @property
    def constant(self) -> float:
        """Nothing is left out.

        Spec: MMIX-LL
        """
        return self.counted.constant

    @property
    def passes(self) -> CountPasses:
        """The passes over its rows."""
        return self.counted.passes

    def point(self, parameters: CountBeliefs) -> Pair:
        """Expected logarithms for a pass, and minus the divergence from the prior.

        Spec: VB-MULT, MS-VIE, MS-VIELBO
        """
        k, d = len(parameters.alpha), len(parameters.eta[0])
        offsets = array("d", _expected_logs(parameters.alpha))
        slopes = array("d", (x for eta in parameters.eta for x in _expected_logs(eta)))
        prior = (self.concentration,) * d
        divergence = [dirichlet_divergence(parameters.alpha, (self.alpha,) * k)]
        divergence += [dirichlet_divergence(eta, prior) for eta in parameters.eta]
        sizes = [dirichlet_size(parameters.alpha, (self.alpha,) * k)]
        sizes += [dirichlet_size(eta, prior) for eta in parameters.eta]
        terms = Terms(offsets, slopes)
        return Point(parameters, terms, -math.fsum(divergence), 2**8 * ROUND * math.fsum(sizes))

    def maximised(self, moments: Tallies, before: CountBeliefs | None) -> CountBeliefs:  # noqa: ARG002
        """Update the beliefs: the prior, and what was counted.

        Spec: VB-MULT, MS-VIM
        """
        k, flat = len(moments.counts), plain(moments.sums)
        d = len(flat) // k
        return CountBeliefs(
            tuple(self.alpha + n for n in moments.counts),
            tuple(
                tuple(self.concentration + x for x in flat[c * d : (c + 1) * d]) for c in range(k)
            ),
        )

    def moments(self, q: Labels | Doubles, k: int) -> Tallies:
        """Add up the rows for given labels or responsibilities."""
        return self.counted.moments(q, k)

    def started(self, moments: Tallies, *, smooth: bool) -> CountBeliefs:  # noqa: ARG002
        """The first update.

        Spec: EM-INIT
        """
        return self.maximised(moments, None)

    def following(
        self, moments: Tallies, before: CountBeliefs | None
    ) -> Following[CountBeliefs, Terms]:
        """Make the variational M-step, ready for the next pass.

        Spec: MS-VIM
        """
        return Following(self.point(self.maximised(moments, before)))

    def sizes(self, moments: Tallies) -> tuple[float, ...]:
        """The weight of each component.

        Spec: MMIX-PI
        """
        return tuple(moments.counts)

    def around(self, rows: Sequence[Sequence[float]]) -> CountBeliefs:
        """Beliefs as if each component had seen one row.

        Spec: EM-INIT
        """
        ones = array("d", [1.0] * len(rows))
        return self.maximised(Tallies(ones, array("d", (x for row in rows for x in row))), None)

    def blended(self, one: CountBeliefs, other: CountBeliefs, share: float) -> CountBeliefs:
        """Beliefs on the way from one to another.

        Spec: EM-GEM
        """
        return CountBeliefs(
            between(one.alpha, other.alpha, share),
            tuple(between(a, b, share) for a, b in zip(one.eta, other.eta, strict=True)),
        )

    def without(self, parameters: CountBeliefs, component: int) -> CountBeliefs:
        """The beliefs about the other components.

        Spec: GMM-COLLAPSE
        """
        kept = [c for c in range(len(parameters.alpha)) if c != component]
        return CountBeliefs(
            tuple(parameters.alpha[c] for c in kept), tuple(parameters.eta[c] for c in kept)
        )

    def replaced(
        self, parameters: CountBeliefs, component: int, row: Sequence[float]
    ) -> CountBeliefs:
        """The beliefs with those about one component begun anew from a row.

        Spec: GMM-COLLAPSE
        """
        fresh = self.around([row])
        return CountBeliefs(
            tuple(fresh.alpha[0] if c == component else a for c, a in enumerate(parameters.alpha)),
            tuple(fresh.eta[0] if c == component else e for c, e in enumerate(parameters.eta)),
        )

    def told(self, parameters: CountBeliefs) -> dict[str, Any]:
        """Beliefs as plain values."""
        return {"alpha": list(parameters.alpha), "eta": [list(eta) for eta in parameters.eta]}

    def read(self, told: Any) -> CountBeliefs:
        """Beliefs from plain values, or given as such."""
        if isinstance(told, CountBeliefs):
            return told
        with readable("alpha and eta"):
            return CountBeliefs(
                tuple(map(float, told["alpha"])),
                tuple(tuple(map(float, eta)) for eta in told["eta"]),
            )

    def free_parameters(self, k: int) -> int:
        """How many numbers the mixture behind the beliefs is free to choose.

        Spec: MS-BIC
        """
        return self.counted.free_parameters(k)


def dirichlet_size(alpha: Sequence[float], prior: Sequence[float]) -> float:
    """The sizes of all terms of a divergence and of the expected logarithms that go with it.

    Logarithms of the gamma function err by less than 2**7 u of max(1, |value|), digamma by as much
    of max(1, |value|, 1/x); the latter counts twice: in the divergence and in the pass.

    Spec: EM-CONV
    """
    sums = (math.fsum(alpha), math.fsum(prior))
    sizes = [max(1.0, abs(math.lgamma(x))) for x in (*alpha, *prior, *sums)]
    whole = abs(digamma(sums[0]))
    sizes += [
        abs(a - b) * (max(1.0, abs(digamma(a)), 1.0 / a) + whole)
        for a, b in zip(alpha, prior, strict=True)
    ]
    return math.fsum(sizes)


def _expected_logs(alpha: Sequence[float]) -> list[float]:
    """E[log share] under a Dirichlet distribution."""
    whole = digamma(math.fsum(alpha))
    return [digamma(a) - whole for a in alpha]


def _shares(alpha: Sequence[float]) -> Vector:
    whole = math.fsum(alpha)
    return tuple(a / whole for a in alpha)
