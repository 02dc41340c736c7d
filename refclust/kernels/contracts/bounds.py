"""By how much the numbers of one row of a mixture may err (KER-POSTERIOR, KER-EMSTEP).

u is half a unit in the last place of 1. A family of densities tells for every component k of a row
a bound e_k on the error of l_k = log p(x, k), every operation being rounded once and sums being
taken in whatever order. K is the number of components, m the greatest l_k, H the entropy of q;
``exp`` and ``log`` may err by four units in the last place, 8 u. Of one answer then err, to first
order in e and u:

- log p(x) = m + log sum exp(l_k - m). Its derivative by l_k is q_k, so the e_k give sum q_k e_k.
  l_k - m is rounded by at most u |log q_k|, together u H <= u log K; exp gives 8 u, the sum
  (K - 1) u, its logarithm 8 u log K; and K + 7 + 9 log K < 2 K + 20 for every K. The last sum is
  rounded: u |log p(x)|. So sum q_k e_k + c + u |log p(x)| with c = (2 K + 20) u.
- q_k, relatively: r_k = e_k + sum q_j e_j + u |log q_k| + c, whether it is a quotient of exp or
  exp of a difference: the same terms as before, and one quotient.
- the sum of q_k over k: c of one, whatever the e_k, since they change all q together. This is lost
  by exp(l_k - log p(x)), where log p(x) is rounded by u |log p(x)|.
- -q log q summed over k: the sum of q (|log q| + 1) (r + (K + 12) u), log q being computed from q
  or from the l_k; it enters once as a factor, once by its own error.
- the bound F = sum q (l - log q) with q from a rule, if written out: sum q e, and c (1 + |F| + H),
  since l_k - log q_k = F for all k that are kept, and the sum of q errs by less than c. With draws
  the q are exact, and the same holds.

Where the rule has to choose (the m most probable, a draw) and the errors leave open which component
it is, both choices are right. The m greatest l, in order of size, err by no more than the greatest
e_k, whichever components they belong to: so F and H stay within their bounds, and only the share of
the last one kept is open, for each component tied with it. A draw that falls on an edge between two
shares, by no more than the edge may err, 2 (sum q_k e_k) + c, may be any.

Terms of second order are below a tenth if e_k <= 1/128. Where some e_k that matters is larger, so
are the e_k of any double computation: log p(x) and F may err by the greatest of them, for they are
1-Lipschitz in l, and q may be anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from refclust.kernels.mixtures.shared import SOFT, Rule, Shared, shares
from refclust.numbers.argmin import ROUND

BOTH: Final = 2.2  # two answers that keep a bound, and a tenth for terms of second order
_ROUGH: Final = 2.0**-7
_GONE: Final = 800.0  # exp of minus this is zero


@dataclass(frozen=True, slots=True)
class RowBounds:
    """Of one row: its terms, what each may err by in one answer, its q and what each may err by."""

    terms: tuple[float, float, float]  # log p(x), the bound, the entropy
    allowed: tuple[float, float, float]
    q: tuple[float, ...]
    slack: tuple[float, ...]


def elementary(k: int) -> float:
    """The error c of K exponentials, their sum and its logarithm.

    Spec: KER-POSTERIOR

    >>> elementary(1) / ROUND
    22.0
    """
    return (2 * k + 20) * ROUND


def log_error(joint: Sequence[float], errors: Sequence[float]) -> float:
    """By how much log p(x) may err in one answer.

    Spec: KER-POSTERIOR

    >>> log_error((-1.0,), (0.0,)) / ROUND
    23.0
    """
    shared = shares(joint, SOFT)
    if shared.log_likelihood == -math.inf:
        return 0.0
    return (
        _mixed(joint, errors, shared.q)
        + elementary(len(joint))
        + ROUND * abs(shared.log_likelihood)
    )


def row_bounds(
    joint: Sequence[float], errors: Sequence[float], rule: Rule, draws: Sequence[float]
) -> RowBounds:
    """All bounds of one row under a rule.

    Spec: KER-EMSTEP

    >>> row_bounds((0.0, -math.inf), (0.0, 0.0), SOFT, ()).q
    (1.0, 0.0)
    """
    shared, k = shares(joint, rule, draws), len(joint)
    terms = shared.log_likelihood, shared.bound, shared.entropy
    if shared.log_likelihood == -math.inf:
        return RowBounds(terms, (0.0, 0.0, 0.0), shared.q, (0.0,) * k)
    c = elementary(k)
    soft = shares(joint, SOFT)
    greatest = max(errors[i] for i in _reachable(joint, errors))
    mixed = _mixed(joint, errors, soft.q)
    of_log = mixed + c + ROUND * abs(shared.log_likelihood)
    of_bound = c * (1.0 + abs(shared.bound) + shared.entropy)
    if draws:
        return _of_draws(shared, joint, soft.q, errors, draws, (of_log, of_bound))
    if greatest > _ROUGH:
        allowed = of_log, greatest + of_bound, math.log(k) + c
        return RowBounds(terms, allowed, shared.q, (1.0,) * k)
    open_ = _tied(joint, errors, rule, shared.q)
    if any(open_):  # in order of size the l err by no more than the greatest error
        chosen, errors = greatest, (greatest,) * k
    else:
        chosen = _weighted(shared.q, errors)
    own = [(q, e + chosen + ROUND * abs(math.log(q)) + c) if q else (0.0, 0.0)
           for q, e in zip(shared.q, errors, strict=True)]  # fmt: skip
    entropy = math.fsum((q * abs(math.log(q)) + q) * (r + (k + 12) * ROUND) for q, r in own if q)
    slack = tuple(q * r + more for (q, r), more in zip(own, open_, strict=True))
    return RowBounds(terms, (of_log, chosen + of_bound, entropy), shared.q, slack)


def _of_draws(
    shared: Shared,
    joint: Sequence[float],
    q: Sequence[float],
    errors: Sequence[float],
    draws: Sequence[float],
    known: tuple[float, float],
) -> RowBounds:
    """Shares of draws are exact but for those draws that fall on an edge between components."""
    k, (of_log, of_bound) = len(joint), known
    edges = list(accumulate(q))[:-1]
    reach = BOTH * (2 * _mixed(joint, errors, q) + elementary(k))
    near = sum(any(abs(u - edge) <= reach for edge in edges) for u in draws) / len(draws)
    reached = [joint[i] for i in _reachable(joint, errors)]
    # Another component may be drawn as well, and the entropy is one of at most so many shares.
    of_entropy = math.log(min(k, len(draws))) if near else 0.0
    away = near * (max(reached) - min(reached)) + of_entropy
    rounding = (k + 12) * ROUND * (1.0 + shared.entropy)
    allowed = of_log, _weighted(shared.q, errors) + of_bound + away, rounding + of_entropy
    # A component without any share is never drawn, wherever a draw falls.
    slack = tuple(near if x > -math.inf else 0.0 for x in joint)
    return RowBounds(
        (shared.log_likelihood, shared.bound, shared.entropy), allowed, shared.q, slack
    )


def _tied(
    joint: Sequence[float], errors: Sequence[float], rule: Rule, q: Sequence[float]
) -> tuple[float, ...]:
    """The share that is open for each component: that of the last one kept, if it is tied."""
    k = len(joint)
    if not 0 < rule.top < k:
        return (0.0,) * k
    order = sorted(range(k), key=joint.__getitem__, reverse=True)
    last, first = order[rule.top - 1], order[rule.top]

    def tied(i: int, place: int) -> bool:
        upper, lower = (i, first) if place < rule.top else (last, i)
        return joint[upper] - joint[lower] <= BOTH * (errors[upper] + errors[lower])

    # The shares of tied components differ by less than exp(4 / 128).
    stake = q[last] * 1.04
    open_shares = [0.0] * k
    for place, i in enumerate(order):
        open_shares[i] = stake if tied(i, place) else 0.0
    return tuple(open_shares)


def _mixed(joint: Sequence[float], errors: Sequence[float], q: Sequence[float]) -> float:
    """What errors of l do to log p(x)."""
    greatest = max(errors[i] for i in _reachable(joint, errors))
    return greatest if greatest > _ROUGH else _weighted(q, errors)


def _weighted(q: Sequence[float], errors: Sequence[float]) -> float:
    return math.fsum(share * e for share, e in zip(q, errors, strict=True) if share)


def _reachable(joint: Sequence[float], errors: Sequence[float]) -> list[int]:
    """The components whose share may differ from zero."""
    peak = max(joint)
    least = peak - _GONE - 2 * errors[joint.index(peak)]
    return [i for i, (x, e) in enumerate(zip(joint, errors, strict=True)) if x + 2 * e >= least]
