"""The theory of EM as functions: the bound F(q, theta), divergence, and J = F + KL (chapter 30).

Responsibilities q are given as one row of K shares for every row of the data. Everything is worked
out from log p(x, k); divergences come from logarithms of posteriors, never from ratios, which
overflow where a posterior underflows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.errors import DimensionMismatch, NotFinite
from refclust.fitting.rows import Rows
from refclust.kernels.blocks import blocks
from refclust.kernels.points import Vector
from refclust.mixture.predict import Parameters, check_mixture, evaluated, with_left_out
from refclust.mixture.starts import check_row
from refclust.numbers.logspace import normalise


@dataclass(frozen=True, slots=True)
class Decomposition:
    """log p(X) taken apart: the bound, the divergence, and the two parts of the bound.

    Spec: EM-DECOMP, EM-EXPCDLL
    """

    log_likelihood: float  # J
    lower_bound: float  # F(q, theta)
    divergence: float  # KL(q || posterior)
    expected: float  # E_q[log p(X, Z)], the bound without its entropy
    entropy: float  # H(q)

    @property
    def gap(self) -> float:
        """J - F - KL, which is nothing but rounding.

        Spec: EM-DECOMP
        """
        if self.divergence == math.inf:
            raise NotFinite("the bound is minus infinity: q puts weight on what is impossible")
        return math.fsum((self.log_likelihood, -self.lower_bound, -self.divergence))


def decomposition(
    q: Iterable[Sequence[float]],
    parameters: Parameters,
    data: Any,
    *,
    family: str,
    backend: str | None = None,
) -> Decomposition:
    """Take log p(X) apart for any responsibilities.

    Spec: EM-DECOMP, EM-ELBO, EM-ELBOFACT, EM-EXPCDLL, IT-KL

    >>> from refclust.mixture.families.counts.parameters import CountParameters
    >>> two = CountParameters((0.5, 0.5), ((0.5, 0.5), (0.5, 0.5)))
    >>> found = decomposition([(0.5, 0.5)], two, [[1, 0]], family="multinomial")
    >>> found.divergence, found.lower_bound == found.log_likelihood
    (0.0, True)
    """
    rows = dataset(data)
    joint = log_joint(parameters, rows, family=family, backend=backend)
    shares = _checked(q, len(joint), len(joint[0]))
    weights = [1.0] * rows.n if rows.weights is None else rows.weights.tolist()
    likelihood, bound, divergence, expected, entropy = [], [], [], [], []
    for w, row, row_shares in zip(weights, joint, shares, strict=True):
        if not w:
            continue
        likelihood.append(w * row_log_likelihood(row))
        bound.append(w * row_bound(row_shares, row))
        divergence.append(w * row_divergence(row_shares, row))
        expected.append(w * _expected(row_shares, row))
        entropy.append(w * row_entropy(row_shares))
    return Decomposition(*map(_total, (likelihood, bound, divergence, expected, entropy)))


def lower_bound(
    q: Iterable[Sequence[float]], parameters: Parameters, data: Any, *, family: str
) -> float:
    """F(q, theta) = sum of q log(p(x, k) / q), the bound that E- and M-step raise by turns.

    Spec: EM-ELBO, EM-ELBOFACT, EM-Q
    """
    return decomposition(q, parameters, data, family=family).lower_bound


def divergence(
    q: Iterable[Sequence[float]], parameters: Parameters, data: Any, *, family: str
) -> float:
    """KL(q || p(z | X, theta)): what the bound lacks of log p(X).

    Spec: EM-DECOMP, EM-TIGHT, IT-KL
    """
    return decomposition(q, parameters, data, family=family).divergence


def expected_log_likelihood(
    q: Iterable[Sequence[float]], parameters: Parameters, data: Any, *, family: str
) -> float:
    """E_q[log p(X, Z)]: the bound without the entropy of q, with the same maximum over theta.

    Spec: EM-EXPCDLL, GMM-EXPCDLL
    """
    return decomposition(q, parameters, data, family=family).expected


def log_joint(
    parameters: Parameters, data: Any, *, family: str, backend: str | None = None
) -> list[Vector]:
    """log p(x, k) of every row and component.

    Spec: MIX-JOINT
    """
    rows = Rows(dataset(data), Session(backend))
    check_mixture(parameters, family, rows.data.d)
    posterior, left_out = evaluated(parameters, rows, family, full=True)
    assert posterior.joint is not None
    k = len(parameters.weights)
    return list(map(tuple, blocks(with_left_out(posterior.joint, left_out, k), k)))


def posteriors(
    parameters: Parameters, data: Any, *, family: str, backend: str | None = None
) -> list[Vector]:
    """The responsibilities that make the bound tight: p(k | x) of every row.

    Spec: EM-ESTEP, EM-TIGHT
    """
    return [
        tuple(map(math.exp, normalise(row)[0]))
        for row in log_joint(parameters, data, family=family, backend=backend)
    ]


def row_log_likelihood(joint: Sequence[float]) -> float:
    """log p(x), from log p(x, k).

    Spec: MIX-MARGLL

    >>> row_log_likelihood([0.0, -math.inf])
    0.0
    """
    peak = max(joint)
    return peak if peak == -math.inf else normalise(joint)[1]


def row_bound(q: Sequence[float], joint: Sequence[float]) -> float:
    """The bound of one row: sum of q (log p(x, k) - log q).

    Spec: EM-ELBOFACT

    >>> row_bound([1.0, 0.0], [-2.0, -1.0])
    -2.0
    """
    return _total(
        [share * (x - math.log(share)) for share, x in zip(q, joint, strict=True) if share]
    )


def row_divergence(q: Sequence[float], joint: Sequence[float]) -> float:
    """KL(q || posterior) of one row, from the logarithms of the posteriors.

    Spec: EM-DECOMP, IT-KL

    >>> row_divergence([0.5, 0.5], [-1e5, -1e5])
    0.0
    """
    if max(joint) == -math.inf:
        return math.inf  # there is no posterior that q could be near to
    logs = normalise(joint)[0]
    terms = [share * (math.log(share) - p) for share, p in zip(q, logs, strict=True) if share]
    # It is never negative; what rounding leaves below zero is nothing.
    return math.inf if math.inf in terms else max(math.fsum(terms), 0.0)


def row_entropy(q: Sequence[float]) -> float:
    """H(q) of one row, in nats.

    Spec: EM-EXPCDLL, IT-ENT

    >>> row_entropy([0.5, 0.5, 0.0])
    0.6931471805599453
    """
    return math.fsum(-share * math.log(share) for share in q if share)


def _expected(q: Sequence[float], joint: Sequence[float]) -> float:
    return _total([share * x for share, x in zip(q, joint, strict=True) if share])


def _total(terms: Sequence[float]) -> float:
    for end in (-math.inf, math.inf):
        if end in terms:
            return end
    return math.fsum(terms)


def _checked(q: Iterable[Sequence[float]], n: int, k: int) -> list[Sequence[float]]:
    responsibilities = list(q)
    if len(responsibilities) != n:
        raise DimensionMismatch(
            f"{len(responsibilities)} rows of responsibilities for {n} rows of data"
        )
    for i, row in enumerate(responsibilities):
        if len(row) != k:
            raise DimensionMismatch(f"row {i} has {len(row)} responsibilities for {k} components")
        check_row(row, f"the responsibilities of row {i}")
    return responsibilities
