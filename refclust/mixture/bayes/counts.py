"""Multinomial and Bernoulli mixtures by variational Bayes (VB-MULT, VB-BERN, chapter 34).

Shares and words have Dirichlet priors: one of all words of a component, or one of each word, there
or not. The passes are those of the mixtures, with expected logarithms in the place of logarithms.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.kernels.mixtures.shared import floats
from refclust.kernels.mixtures.words import CountModel
from refclust.kernels.points import Vector
from refclust.mixture.bayes.beliefs import CountBeliefs
from refclust.mixture.bayes.family import Variational, check_positive
from refclust.mixture.families.counts.words import CountFamily
from refclust.mixture.families.family import Point
from refclust.numbers.argmin import ROUND
from refclust.numbers.special import digamma, dirichlet_divergence

Pair = Point[CountBeliefs, Terms]


@dataclass(frozen=True)
class VariationalCounts(Variational[CountBeliefs, Terms, Tallies]):
    """Beliefs about multinomial or Bernoulli mixtures on one data set.

    ``concentration`` is the prior weight of each word, or of its being there and of its not being.
    """

    family: CountFamily
    concentration: float = 1.0

    def __post_init__(self) -> None:
        """Refuse priors that are no distributions."""
        check_positive(alpha=self.alpha, concentration=self.concentration)

    @property
    def settings(self) -> dict[str, Any]:
        """The prior."""
        return {"alpha": self.alpha, "concentration": self.concentration}

    @property
    def _blank(self) -> CountBeliefs:
        return self.around([(0.0,) * self.family.passes.rows.data.d])

    def point(self, parameters: CountBeliefs) -> Pair:
        """Expected logarithms for a pass, and minus the divergence from the prior.

        Spec: VB-MULT, VB-BERN, MS-VIE, MS-VIELBO
        """
        k = len(parameters.alpha)
        offsets, slopes = array("d", expected_logs(parameters.alpha)), array("d")
        pairs = [(parameters.alpha, (self.alpha,) * k)]
        for c in range(k):
            dirichlets = parameters.dirichlets(c)
            pairs += [(eta, (self.concentration,) * len(eta)) for eta in dirichlets]
            base, words = word_terms([expected_logs(eta) for eta in dirichlets], parameters.kind)
            offsets[c] += base
            slopes.extend(words)
        divergence = [dirichlet_divergence(*pair) for pair in pairs]
        sizes = [dirichlet_size(*pair) for pair in pairs]
        return Point(
            parameters,
            Terms(offsets, slopes),
            -math.fsum(divergence),
            2**8 * ROUND * math.fsum(sizes),
        )

    def maximised(self, moments: Tallies, before: CountBeliefs | None) -> CountBeliefs:  # noqa: ARG002
        """Update the beliefs: the prior, and what was counted.

        Spec: VB-MULT, VB-BERN, MS-VIM
        """
        k, flat = len(moments.counts), floats(moments.sums)
        d = len(flat) // k
        return CountBeliefs(
            tuple(self.alpha + n for n in moments.counts),
            tuple(self._eta(n, flat[c * d : (c + 1) * d]) for c, n in enumerate(moments.counts)),
            self.family.kind,
        )

    def _eta(self, n: float, sums: Sequence[float]) -> Vector:
        if self.family.kind == "multinomial":
            return tuple(self.concentration + x for x in sums)
        # A word that is there in all rows is missing in none, but for rounding.
        pairs = ((x, max(n - x, 0.0)) for x in sums)
        return tuple(self.concentration + x for pair in pairs for x in pair)

    def around(self, rows: Sequence[Sequence[float]]) -> CountBeliefs:
        """Beliefs as if each component had seen one row.

        Spec: EM-INIT
        """
        ones = array("d", [1.0] * len(rows))
        return self.maximised(Tallies(ones, array("d", (x for row in rows for x in row))), None)


def word_terms(logs: Sequence[Sequence[float]], kind: CountModel) -> tuple[float, Sequence[float]]:
    """What a component has for all rows, and for each word in them, of logarithms of Dirichlets.

    A word that is not there costs the logarithm of that; one that is there gives it back.

    Spec: VB-MULT, VB-BERN, NB-LIK, BMIX-LL

    >>> word_terms([[-1.0, -2.0], [-3.0, -0.5]], "bernoulli")
    (-2.5, [1.0, -2.5])
    """
    if kind == "multinomial":
        return 0.0, logs[0]
    return math.fsum(missing for _, missing in logs), [there - missing for there, missing in logs]


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


def expected_logs(alpha: Sequence[float]) -> list[float]:
    """E[log share] under a Dirichlet distribution.

    Spec: VB-MULT
    """
    whole = digamma(math.fsum(alpha))
    return [digamma(a) - whole for a in alpha]
