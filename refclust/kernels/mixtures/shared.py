"""What the kernels of all mixtures share: posteriors, rules for responsibilities, sums of a pass.

A pass over the rows computes for every row n and component k the logarithm of the joint density,
l_nk = log p(x_n, k), its logarithmic sum over k, and responsibilities q_nk made from it by a rule.
Realises EM-ESTEP and the restricted E-steps of chapter 30.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Generic, TypeVar

from refclust.kernels.blocks import Doubles as Doubles
from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.contracts.merging import concatenated
from refclust.kernels.registry import Merge

M = TypeVar("M", covariant=True)


@dataclass(frozen=True, slots=True)
class Rule:
    """How responsibilities are made of posteriors.

    ``top`` = m keeps the m most probable components of each row and shares one among them; 0 keeps
    all. ``draws`` holds ``samples`` random numbers for each row, row after row: each draws one
    component from the posterior, and the responsibilities are the shares of the draws.
    """

    top: int = 0
    draws: Doubles | None = None
    samples: int = 0


SOFT: Final = Rule()
HARD: Final = Rule(top=1)


@dataclass(frozen=True, slots=True)
class Posterior:
    """Of each row the most probable component and log p(x); if asked for, all log p(x, k)."""

    labels: Labels  # the lowest index of equals
    log_likelihoods: Doubles  # -inf where no component can have made the row
    joint: Doubles | None  # n times K, row after row


def merged_posteriors(parts: Sequence[Posterior]) -> Posterior:
    """What parts of the rows tell, in the order of the rows.

    Spec: KER-POSTERIOR, BK-MERGE
    """
    whole = [part.joint for part in parts if part.joint is not None]
    return Posterior(
        concatenated([part.labels for part in parts]),
        concatenated([part.log_likelihoods for part in parts]),
        concatenated(whole) if whole else None,
    )


ROW_BY_ROW: Final = Merge(merged_posteriors, ordered=True)


@dataclass(frozen=True, slots=True)
class EMStep(Generic[M]):
    """One pass: the objective at the parameters given, and the weighted sums for the M-step.

    ``log_likelihood`` is J, the weighted sum of log p(x); ``bound`` is F(q, theta) for the
    responsibilities used, which equals J if they are the posteriors; ``entropy`` is H(q).
    """

    log_likelihood: float
    bound: float
    entropy: float
    moments: M


@dataclass(frozen=True, slots=True)
class Shared:
    """The responsibilities of one row, log p(x), the bound with these responsibilities, H(q)."""

    q: tuple[float, ...]
    log_likelihood: float
    bound: float
    entropy: float


def shares(joint: Sequence[float], rule: Rule, draws: Sequence[float] = ()) -> Shared:
    """The responsibilities of one row, by a rule, with log p(x), the bound and the entropy.

    Spec: EM-ESTEP, EM-VAR, EM-STOCH, CEM-ASSIGN

    >>> shares((0.0, 0.0), HARD).q
    (1.0, 0.0)
    >>> shares((0.0, -math.inf), SOFT) == Shared((1.0, 0.0), 0.0, 0.0, 0.0)
    True
    """
    k, peak = len(joint), max(joint)
    if peak == -math.inf:
        return Shared((0.0,) * k, -math.inf, -math.inf, 0.0)
    # Shares come from x - peak, not from x - log p(x): near -1e5 that would cost eleven digits.
    weights = [math.exp(x - peak) for x in joint]
    mass = math.fsum(weights)
    total = peak + math.log(mass)
    if draws:
        return _drawn(joint, weights, mass, total, draws)
    if 0 < rule.top < k:
        # Sorting is stable: of equal components the one with the lowest index is kept.
        kept = frozenset(sorted(range(k), key=joint.__getitem__, reverse=True)[: rule.top])
        weights = [weight if i in kept else 0.0 for i, weight in enumerate(weights)]
        mass = math.fsum(weights)
    q = tuple(weight / mass for weight in weights)
    excess = math.log(mass)
    # -sum of q log q, with log q = (x - peak) - log mass, which no underflow can hurt.
    terms = (share * (excess - (x - peak)) for share, x in zip(q, joint, strict=True) if share)
    return Shared(q, total, peak + excess, math.fsum(terms))


def _drawn(
    joint: Sequence[float],
    weights: Sequence[float],
    mass: float,
    total: float,
    draws: Sequence[float],
) -> Shared:
    """Shares of components drawn from the posterior: the least k whose cumulated share is above."""
    reached = list(accumulate(weights))
    last = max(i for i, weight in enumerate(weights) if weight)
    counts = [0] * len(joint)
    for u in draws:
        counts[min(bisect_right(reached, u * mass), last)] += 1
    q = tuple(count / len(draws) for count in counts)
    terms = [(share, x) for share, x in zip(q, joint, strict=True) if share]
    entropy = math.fsum(-share * math.log(share) for share, _ in terms)
    return Shared(q, total, math.fsum(share * x for share, x in terms) + entropy, entropy)


def posterior(rows: Sequence[Sequence[float]], *, full: bool) -> Posterior:
    """Labels and log p(x) of rows whose log p(x, k) are given.

    Spec: EM-ESTEP, MIX-MARGLL

    >>> posterior([(0.0, 0.0)], full=False).log_likelihoods
    array('d', [0.6931471805599453])
    """
    labels = array("i", (row.index(max(row)) for row in rows))
    log_likelihoods = array("d", (shares(row, SOFT).log_likelihood for row in rows))
    joint = array("d", (x for row in rows for x in row)) if full else None
    return Posterior(labels, log_likelihoods, joint)


@dataclass(frozen=True, slots=True)
class Pass:
    """The sums over rows of a pass, and the weighted responsibilities of each component."""

    log_likelihood: float
    bound: float
    entropy: float
    columns: list[list[float]]


def passed(rows: Sequence[Sequence[float]], weights: Sequence[float] | None, rule: Rule) -> Pass:
    """Share out all rows by a rule.

    Spec: EM-ESTEP, KER-EMSTEP

    >>> passed([(0.0, 0.0), (0.0, -math.inf)], None, SOFT).columns
    [[0.5, 1.0], [0.5, 0.0]]
    """
    draws = () if rule.draws is None else rule.draws.tolist()
    s = rule.samples
    shared = [shares(row, rule, draws[i * s : (i + 1) * s]) for i, row in enumerate(rows)]
    if weights is not None:
        objectives = [
            # A row of weight 0 counts for nothing, even if no component can have made it.
            (w * row.log_likelihood, w * row.bound, w * row.entropy) if w else (0.0, 0.0, 0.0)
            for w, row in zip(weights, shared, strict=True)
        ]
        columns = [
            [w * q for w, q in zip(weights, column, strict=True)]
            for column in zip(*(row.q for row in shared), strict=True)
        ]
    else:
        objectives = [(row.log_likelihood, row.bound, row.entropy) for row in shared]
        columns = [list(column) for column in zip(*(row.q for row in shared), strict=True)]
    log_likelihood, bound, entropy = (
        -math.inf if -math.inf in terms else math.fsum(terms)
        for terms in zip(*objectives, strict=True)
    )
    return Pass(log_likelihood, bound, entropy, columns)


def total(terms: Sequence[float]) -> float:
    """The sum of terms, rounded once; -inf if one of them is.

    Spec: NUM-NEAR

    >>> total((0.1,) * 10), total((1.0, -math.inf))
    (1.0, -inf)
    """
    return -math.inf if -math.inf in terms else math.fsum(terms)


def floats(values: Doubles) -> list[float]:
    """The numbers of a buffer of any library, as a list.

    Spec: none (a change of clothes)

    >>> floats(array("d", [1, 2]))
    [1.0, 2.0]
    """
    listed: list[float] = memoryview(values).tolist()  # type: ignore[assignment]
    return listed


def weighted_shares(
    q: Labels | Doubles, k: int, weights: Sequence[float] | None
) -> list[list[float]]:
    """The weighted responsibilities of each component, from labels or from n times K shares.

    Spec: EM-MSTEP, KER-MOMENTS

    >>> weighted_shares(array("i", [1, 0, -1]), 2, None)
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    values = memoryview(q)
    if values.format == "i":
        labels = values.tolist()
        columns = [[float(label == c) for label in labels] for c in range(k)]
    else:
        flat = values.tolist()
        columns = [list(map(float, flat[c::k])) for c in range(k)]
    if weights is None:
        return columns
    return [[w * share for w, share in zip(weights, column, strict=True)] for column in columns]
