"""The evidence of a mixture estimated by importance sampling (MS-IS, chapter 34)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from refclust.backends.session import Provenance, Session
from refclust.data.accepting.door import dataset
from refclust.errors import BadOption, TooLarge
from refclust.fitting.checks import whole
from refclust.fitting.draws import Draws
from refclust.mixture.bayes.beliefs import CountBeliefs, GaussianBeliefs
from refclust.mixture.bayes.chain import AssignmentChain
from refclust.mixture.bayes.pareto import index_limit, pareto_index
from refclust.mixture.bayes.proposals import Model, Proposal, log_permanent, model_of
from refclust.mixture.results import MixtureFit
from refclust.numbers.logspace import logsumexp

__all__ = ["Evidence", "importance_estimate", "importance_sampling", "log_permanent"]

MOST_COMPONENTS: Final = 12
_LEAST_EFFECTIVE: Final = 10.0
_CHAINS: Final = 2
_BEFORE: Final = 20  # steps of a chain before anything is kept
_KEPT: Final = 8  # assignments kept of each chain
_BETWEEN: Final = 4  # steps from one that is kept to the next
_PARTS: Final = (1.0, 0.5)  # of the rows, in the beliefs of a proposal
_BATCHES: Final = 10
_MOST_APART: Final = 4.0  # errors between two estimates


@dataclass(frozen=True, slots=True)
class Reverse:
    """The log evidence as a chain of parameters sees it, and its standard error.

    Spec: MS-CHAIN
    """

    log_evidence: float
    standard_error: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """An estimate of the log evidence, how far it can be trusted, and why not.

    What neither the beliefs nor the chains came near is missing, and nothing here can tell.

    Spec: MS-IS
    """

    log_evidence: float
    effective_size: float  # how many of the draws count
    samples: int
    provenance: Provenance
    pareto_k: float | None = None  # the tail index of the weights, if there are enough of them
    chains: tuple[Reverse, ...] = ()  # the same number by another way

    @property
    def standard_error(self) -> float:
        """Of the log evidence, as the draws themselves let one estimate it.

        Spec: MS-IS
        """
        return math.sqrt(max(1.0 / self.effective_size - 1.0 / self.samples, 0.0))

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the estimate should not be trusted, one reason after another.

        Spec: MS-IS, MS-PARETO, MS-CHAIN
        """
        reasons: list[str] = []
        limit = index_limit(self.samples)
        if self.effective_size < _LEAST_EFFECTIVE:
            reasons.append(f"only {self.effective_size:.3g} of {self.samples} draws count")
        if self.pareto_k is None:
            reasons.append(f"{self.samples} draws are too few to see the tail of their weights")
        elif self.pareto_k > limit:
            reasons.append(
                f"the tail of the weights has the index {self.pareto_k:.2f}, and "
                f"{self.samples} draws are enough up to {limit:.2f}"
            )
        if not self.chains:
            reasons.append("no chain can follow weights that are no small whole numbers")
        for chain in self.chains:
            gap = chain.log_evidence - self.log_evidence
            error = math.hypot(chain.standard_error, self.standard_error)
            if not abs(gap) <= _MOST_APART * error + _ALWAYS:
                reasons.append(
                    f"a chain of parameters tells a log evidence that is {abs(gap):.3g} "
                    f"{'higher' if gap > 0 else 'lower'}, give or take {error:.2g}"
                )
        return tuple(reasons)

    @property
    def trustworthy(self) -> bool:
        """Whether nothing speaks against the estimate.

        Spec: MS-IS
        """
        return not self.doubts


_ALWAYS: Final = 2.0**-5  # what no chain of a few hundred steps can tell


def importance_sampling(
    fit: MixtureFit[GaussianBeliefs] | MixtureFit[CountBeliefs],
    data: Any,
    *,
    samples: int = 1000,
    seed: int = 0,
    backend: str | None = None,
    session: Session | None = None,
) -> Evidence:
    """Estimate the evidence by parameters drawn around a variational fit and two chains.

    Spec: MS-IS, MS-EVID

    >>> from refclust.mixture.bayes.fit import variational_multinomial
    >>> docs = [[1, 0], [0, 1]]
    >>> sampled = importance_sampling(variational_multinomial(docs, 1), docs, samples=20)
    >>> round(math.exp(sampled.log_evidence), 12), sampled.effective_size  # B(2, 2) / B(1, 1)
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
    draws = Draws(seed)
    model = model_of(fit, rows, session)
    chains = [model.chain(start, draws) for start in (fit.parameters, model.strewn(draws))]
    # With one component the beliefs are the posterior.
    proposal = Proposal(model.maker, (fit.parameters, *(kept(chains) if k > 1 else ())))
    log_weights = []
    for s in range(samples):
        drawn = proposal.draw(s, draws)
        log_weights.append(model.log_posterior(drawn) - proposal.log_density(drawn))
    log_evidence, effective = importance_estimate(log_weights)
    reverses = tuple(reverse(model, proposal, chain, samples) for chain in chains)
    return Evidence(
        log_evidence,
        effective,
        samples,
        session.provenance(),
        pareto_index(log_weights),
        reverses if model.whole else (),
    )


def kept(chains: Sequence[AssignmentChain]) -> list[Any]:
    """Beliefs from some states of the chains, each from all of the rows and from parts of them.

    Spec: MS-IS, MS-CHAIN
    """
    beliefs: list[Any] = []
    for chain in chains:
        for _ in range(_BEFORE):
            chain.step()
        for _ in range(_KEPT):
            for _ in range(_BETWEEN):
                state = chain.step()
            beliefs += [chain.after(state.shares, part) for part in _PARTS]
    return beliefs


def reverse(model: Model, proposal: Proposal, chain: AssignmentChain, samples: int) -> Reverse:
    """One over the mean of 1/v, over parameters of a chain; its error by means of batches.

    Spec: MS-CHAIN
    """
    size = max(samples // 8 // _BATCHES, 4)
    means: list[float] = []
    for _ in range(_BATCHES):
        states = [chain.step().drawn for _ in range(size)]
        logs = [proposal.log_density(drawn) - model.log_posterior(drawn) for drawn in states]
        means.append(logsumexp(logs) - math.log(size))
    mean = logsumexp(means) - math.log(_BATCHES)
    square = math.fsum((math.exp(x - mean) - 1.0) ** 2 for x in means)
    return Reverse(-mean, math.sqrt(square / (_BATCHES * (_BATCHES - 1))))


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
