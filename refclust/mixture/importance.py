"""The evidence of a mixture estimated by importance sampling (MS-IS, chapter 34)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from refclust.backends.session import Provenance, Session
from refclust.cluster.options import whole
from refclust.cluster.seeding import Draws, Rows
from refclust.data.accept import dataset
from refclust.data.dataset import Dataset
from refclust.errors import BadOption, TooLarge
from refclust.kernels.mixture import plain, total
from refclust.mixture.beliefs import (
    CountDraws,
    GaussianDraws,
    dirichlet_log_density,
)
from refclust.mixture.counts import CountFamily
from refclust.mixture.gaussian import GaussianFamily
from refclust.mixture.gaussian_parameters import constant_of
from refclust.mixture.passes import CountPasses, GaussianPasses
from refclust.mixture.results import MixtureFit
from refclust.mixture.variational import VariationalGaussian
from refclust.mixture.variational_beliefs import GaussianBeliefs
from refclust.mixture.variational_counts import CountBeliefs, VariationalMultinomial
from refclust.numbers.logspace import logsumexp
from refclust.numbers.special import log_dirichlet

MOST_COMPONENTS: Final = 12
_LEAST_EFFECTIVE: Final = 10.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """An estimate of the log evidence, and how far it can be trusted.

    Both tell of what the draws have seen: a way to share out the rows that the beliefs do not know
    is missing from the estimate, and nothing here can tell.

    Spec: MS-IS
    """

    log_evidence: float
    effective_size: float  # how many of the draws count
    samples: int
    provenance: Provenance

    @property
    def standard_error(self) -> float:
        """Of the log evidence, as the draws themselves let one estimate it.

        Spec: MS-IS
        """
        return math.sqrt(max(1.0 / self.effective_size - 1.0 / self.samples, 0.0))

    @property
    def trustworthy(self) -> bool:
        """Whether enough draws count for the estimate to mean something."""
        return self.effective_size >= _LEAST_EFFECTIVE


def importance_sampling(
    fit: MixtureFit[GaussianBeliefs] | MixtureFit[CountBeliefs],
    data: Any,
    *,
    samples: int = 1000,
    seed: int = 0,
    backend: str | None = None,
    session: Session | None = None,
) -> Evidence:
    """Estimate the evidence by parameters drawn from the beliefs of a variational fit.

    Spec: MS-IS, MS-EVID

    >>> from refclust.mixture.bayes import variational_multinomial
    >>> docs = [[1, 0], [0, 1]]
    >>> found = importance_sampling(variational_multinomial(docs, 1), docs, samples=20)
    >>> round(math.exp(found.log_evidence), 12), found.effective_size  # B(2, 2) / B(1, 1) = 1/6
    (0.166666666667, 20.0)
    """
    whole("samples", samples, 1)
    rows = dataset(data)
    if rows.digest() != fit.digest:
        raise BadOption("the data are not those of the fit: other numbers, or other weights")
    k = len(fit.sizes)
    if k > MOST_COMPONENTS:
        raise TooLarge(
            f"{k} components can be renamed in too many ways; at most {MOST_COMPONENTS} are allowed"
        )
    session = Session(backend) if session is None else session
    model = _model(fit, rows, session)
    draws, log_weights = Draws(seed), []
    for _ in range(samples):
        drawn = model.proposal.draw(draws)
        log_weights.append(
            model.log_likelihood(drawn) + model.log_prior(drawn) - model.log_proposal(drawn)
        )
    log_evidence, effective = importance_estimate(log_weights)
    return Evidence(log_evidence, effective, samples, session.provenance())


def importance_estimate(log_weights: Iterable[float]) -> tuple[float, float]:
    """The logarithm of the mean weight, and the effective number of draws.

    Spec: MS-IS

    >>> importance_estimate([0.0, 0.0, -math.inf, -math.inf])
    (-0.6931471805599453, 2.0)
    """
    weights = list(log_weights)
    mean = logsumexp(weights) - math.log(len(weights))
    if mean == -math.inf:
        return mean, 1.0
    peak = max(weights)
    sizes = [math.exp(x - peak) for x in weights]
    effective = math.fsum(sizes) ** 2 / math.fsum(size * size for size in sizes)
    # Between 1 and the number of draws, by the inequality of Cauchy and Schwarz.
    return mean, min(max(effective, 1.0), float(len(weights)))


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


@dataclass(frozen=True, slots=True)
class _Model:
    """What the weight of a draw is made of."""

    passes: GaussianPasses | CountPasses
    constant: float  # what the densities of the passes leave out, for each unit of weight
    proposal: Any
    prior: Any  # of one component
    alpha: float  # of the prior of the shares

    def log_likelihood(self, drawn: Any) -> float:
        """log p(X | theta)."""
        passes: Any = self.passes
        each = plain(passes.posterior(drawn.densities(), full=False).log_likelihoods)
        weights = passes.rows.data.weights
        if weights is None:
            return total([x + self.constant for x in each])
        return total([w * (x + self.constant) for w, x in zip(weights, each, strict=True) if w])

    def log_prior(self, drawn: Any) -> float:
        """log p(theta)."""
        k = len(drawn.log_shares)
        own = (self.prior.log_density(0, drawn, j) for j in range(k))
        return math.fsum((dirichlet_log_density((self.alpha,) * k, drawn.log_shares), *own))

    def log_proposal(self, drawn: Any) -> float:
        """log r(theta): the mean of q over all renamings of the components."""
        alpha, k = self.proposal.alpha, len(drawn.log_shares)
        matrix = [
            [
                (alpha[c] - 1.0) * drawn.log_shares[j] + self.proposal.log_density(c, drawn, j)
                for j in range(k)
            ]
            for c in range(k)
        ]
        return log_dirichlet(alpha) + log_permanent(matrix) - math.lgamma(k + 1)


def _model(
    fit: MixtureFit[GaussianBeliefs] | MixtureFit[CountBeliefs], rows: Dataset, session: Session
) -> _Model:
    seen, beliefs = Rows(rows, session), fit.parameters
    nobody = array("i", [-1] * rows.n)  # without rows the beliefs are the prior
    if isinstance(beliefs, GaussianBeliefs):
        passes = GaussianPasses(seen, len(beliefs.alpha))
        gaussian = VariationalGaussian(GaussianFamily(passes, "VVV"), **fit.settings)
        prior = gaussian.maximised(gaussian.moments(nobody, 1), None)
        return _Model(
            passes,
            constant_of([0] * rows.d),
            GaussianDraws(beliefs),
            GaussianDraws(prior),
            gaussian.alpha,
        )
    if isinstance(beliefs, CountBeliefs):
        counted = CountPasses(seen, len(beliefs.alpha))
        family = CountFamily(counted, "multinomial", counts="fractional")
        multinomial = VariationalMultinomial(family, **fit.settings)
        words = multinomial.maximised(multinomial.moments(nobody, 1), None)
        return _Model(counted, 0.0, CountDraws(beliefs), CountDraws(words), multinomial.alpha)
    raise BadOption(
        f"a fit of the family {fit.family} has no beliefs to draw from; the fits of "
        "variational_gaussian and variational_multinomial have"
    )
