"""Of what the weights of importance sampling are made (MS-IS, chapter 34)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from refclust.backends.session import Session
from refclust.data.dataset import Dataset
from refclust.errors import BadOption
from refclust.fitting.draws import Draws
from refclust.fitting.rows import Rows
from refclust.kernels.mixtures.shared import floats, total
from refclust.mixture.bayes.beliefs import CountBeliefs, GaussianBeliefs
from refclust.mixture.bayes.chain import AssignmentChain, copies
from refclust.mixture.bayes.counts import VariationalCounts
from refclust.mixture.bayes.draws import CountDraws, GaussianDraws, dirichlet_log_density
from refclust.mixture.bayes.gaussian import VariationalGaussian
from refclust.mixture.families.counts.words import CountFamily
from refclust.mixture.families.gaussian.parameters import constant_of
from refclust.mixture.families.gaussian.steps import GaussianFamily
from refclust.mixture.passes import CountPasses, GaussianPasses
from refclust.mixture.results import MixtureFit
from refclust.numbers.logspace import logsumexp
from refclust.numbers.special import log_dirichlet


@dataclass(frozen=True)
class Model:
    """A mixture with its prior on one data set."""

    family: VariationalGaussian | VariationalCounts
    passes: Any
    constant: float  # what the densities of the passes leave out, for each unit of weight
    maker: Callable[[Any], Any]  # draws from beliefs
    k: int

    @cached_property
    def prior(self) -> Any:
        """Draws from the prior; without rows the beliefs are the prior."""
        nobody = array("i", [-1] * self.passes.rows.data.n)
        moments: Any = self.family.moments(nobody, 1)
        return self.maker(self.family.maximised(moments, None))

    @property
    def whole(self) -> bool:
        """Whether all weights are numbers of copies.

        Spec: MS-CHAIN
        """
        weights = self.passes.rows.data.weights
        return weights is None or all(copies(w) is not None for w in weights)

    def chain(self, beliefs: Any, draws: Draws) -> AssignmentChain:
        """A chain through the assignments that begins with parameters drawn from beliefs."""
        return AssignmentChain(self.family, self.passes, self.maker, self.k, draws, beliefs)

    def strewn(self, draws: Draws) -> Any:
        """Beliefs from rows shared out by chance, each to one component.

        Spec: MS-CHAIN
        """
        n = self.passes.rows.data.n
        labels = array("i", (min(int(draws.next() * self.k), self.k - 1) for _ in range(n)))
        moments: Any = self.family.moments(labels, self.k)
        return self.family.maximised(moments, None)

    def log_posterior(self, drawn: Any) -> float:
        """log p(X | theta) + log p(theta): the log posterior without its constant.

        Spec: MS-IS
        """
        return self._log_likelihood(drawn) + self._log_prior(drawn)

    def _log_likelihood(self, drawn: Any) -> float:
        each = floats(self.passes.posterior(drawn.densities(), full=False).log_likelihoods)
        weights = self.passes.rows.data.weights
        if weights is None:
            return total([x + self.constant for x in each])
        return total([w * (x + self.constant) for w, x in zip(weights, each, strict=True) if w])

    def _log_prior(self, drawn: Any) -> float:
        components = (self.prior.log_density(0, drawn, j) for j in range(self.k))
        alpha = (self.family.alpha,) * self.k
        common = self.prior.log_common(drawn)
        return math.fsum((dirichlet_log_density(alpha, drawn.log_shares), *components, common))


class Proposal:
    """The mean of some beliefs and of all their renamings.

    Spec: MS-IS
    """

    def __init__(self, maker: Callable[[Any], Any], beliefs: Sequence[Any]) -> None:
        self._turns = list(map(maker, beliefs))
        # Chains come back to where they were: beliefs that are equal but for names count once.
        alike: dict[Any, list[Any]] = {}
        for belief, turn in zip(beliefs, self._turns, strict=True):
            alike.setdefault(_nameless(belief), []).append(turn)
        self._parts = [
            (same[0], math.log(len(same) / len(beliefs)), log_dirichlet(same[0].alpha))
            for same in alike.values()
        ]

    def draw(self, s: int, draws: Draws) -> Any:
        """Draw number s: all beliefs take turns.

        Spec: MS-IS
        """
        return self._turns[s % len(self._turns)].draw(draws)

    def log_density(self, drawn: Any) -> float:
        """The log density of the whole mean at a draw.

        Spec: MS-IS
        """
        k = len(drawn.log_shares)
        terms = []
        for turn, log_share, constant in self._parts:
            matrix = [
                [
                    (turn.alpha[c] - 1.0) * drawn.log_shares[j] + turn.log_density(c, drawn, j)
                    for j in range(k)
                ]
                for c in range(k)
            ]
            common = turn.log_common(drawn)
            terms.append(log_share + constant + log_permanent(matrix) + common)
        return logsumexp(terms) - math.lgamma(k + 1)


def _nameless(beliefs: GaussianBeliefs | CountBeliefs) -> Any:
    if isinstance(beliefs, GaussianBeliefs):
        parts: Any = (beliefs.alpha, beliefs.beta, beliefs.nu, beliefs.means, beliefs.scales)
    else:
        parts = (beliefs.alpha, tuple(map(tuple, beliefs.eta)))
    return tuple(sorted(zip(*parts, strict=True)))


def log_permanent(matrix: Sequence[Sequence[float]]) -> float:
    """The log permanent of a matrix given by logarithms: the sum over all pairings.

    The first lines are paired with every subset of as many columns, in O(2^K K) steps.

    Spec: MS-IS

    >>> round(math.exp(log_permanent([[math.log(1), math.log(2)], [math.log(3), math.log(4)]])), 12)
    10.0
    """
    size = len(matrix)
    reached = {0: 0.0}
    for line in matrix:
        terms: dict[int, list[float]] = {}
        for taken, so_far in reached.items():
            for j in range(size):
                if not taken >> j & 1:
                    terms.setdefault(taken | 1 << j, []).append(so_far + line[j])
        reached = {taken: logsumexp(parts) for taken, parts in terms.items()}
    return reached[(1 << size) - 1]


def model_of(
    fit: MixtureFit[GaussianBeliefs] | MixtureFit[CountBeliefs], rows: Dataset, session: Session
) -> Model:
    """The model that a variational fit is about."""
    seen, beliefs, prior = Rows(rows, session), fit.parameters, dict(fit.settings)
    if isinstance(beliefs, GaussianBeliefs):
        passes = GaussianPasses(seen, len(beliefs.alpha))
        densities = GaussianFamily(passes, prior.pop("covariance"))
        gaussian = VariationalGaussian(densities, **prior)
        return Model(gaussian, passes, constant_of([0] * rows.d), GaussianDraws, len(beliefs.alpha))
    if isinstance(beliefs, CountBeliefs):
        counted = CountPasses(seen, len(beliefs.alpha))
        counts = VariationalCounts(CountFamily(counted, beliefs.kind, counts="fractional"), **prior)
        return Model(counts, counted, 0.0, CountDraws, len(beliefs.alpha))
    raise BadOption(
        f"a fit of the family {fit.family} has no beliefs to draw from; the fits of "
        "variational_gaussian, variational_multinomial and variational_bernoulli have"
    )
