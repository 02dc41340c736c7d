"""Sums and products of probabilities kept as natural logarithms.

Realises the log-space clauses of chapter 05. These are the only transcendental functions that the
algorithms call on floats; each has a derived bound on its error, in units of u = 2**-53. The
bounds suppose that exp, expm1, log and log1p of the C library err by less than one ulp (at most
2u of the value), and leave out terms of order u**2 and below 2**-1074.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from refclust.errors import BadDistribution, EmptyInput, NotFinite

_LN2 = math.log(2.0)


def logsumexp(log_weights: Iterable[float]) -> float:
    """The logarithm of a sum of weights that are given by their logarithms.

    A logarithm of -inf is a weight of zero. The result does not depend on the order.

    Defines: NUM-LSE

    >>> logsumexp([-100000.0, -100000.0])
    -99999.30685281944
    """
    _, peak, excess = _shifted(log_weights)
    return peak + excess


def normalise(log_weights: Iterable[float]) -> tuple[tuple[float, ...], float]:
    """The logarithms of the weights' shares in their total, and the logarithm of the total.

    Two weights further apart than the largest double leave the smaller a share of zero, -inf.

    Defines: NUM-NORM

    >>> normalise([0.0, 0.0])
    ((-0.6931471805599453, -0.6931471805599453), 0.6931471805599453)
    """
    xs, peak, excess = _shifted(log_weights)
    if peak == -math.inf:
        raise BadDistribution(
            f"all {len(xs)} log-weights are -inf; weights that are all zero have no shares"
        )
    # Not x - (peak + excess): that would round at the size of the peak, and log-weights near
    # -1e5 would lose eleven digits of every share.
    return tuple((x - peak) - excess for x in xs), peak + excess


def log1mexp(x: float) -> float:
    """log(1 - exp(x)) for x <= 0: from the logarithm of a probability to that of its complement.

    Defines: NUM-L1ME

    >>> log1mexp(-1e-300)
    -690.7755278982137
    """
    if math.isnan(x) or x == math.inf:
        raise NotFinite(f"log1mexp was given {x!r}; a logarithm of a probability is needed")
    if x > 0:
        raise BadDistribution(f"log1mexp was given {x!r}; no probability has a logarithm above 0")
    if x == 0:
        return -math.inf
    # Each branch works where its inner function is small, so nothing cancels. The outer function
    # magnifies the inner 2u by at most 1/ln 2, at x = -ln 2, and adds 2u: below 5u of the value.
    if x > -_LN2:
        return math.log(-math.expm1(x))
    return math.log1p(-math.exp(x))


def xlogy(x: float, y: float) -> float:
    """x log y with 0 log y = 0, for y >= 0 (the limit that entropies need at y = 0).

    Defines: NUM-XLOGY

    >>> xlogy(0.0, 0.0), xlogy(2.0, 1.0), xlogy(1.0, 0.0)
    (0.0, 0.0, -inf)
    """
    if not (math.isfinite(x) and math.isfinite(y)):
        raise NotFinite(f"xlogy was given x = {x!r}, y = {y!r}; both must be finite")
    if y < 0:
        raise BadDistribution(f"xlogy was given y = {y!r}; a logarithm needs y >= 0")
    if x == 0:
        return 0.0
    if y == 0:
        return -math.copysign(math.inf, x)
    # 2u from the logarithm and u from the product: at most 3u of the value.
    product = x * math.log(y)
    if math.isinf(product):
        raise NotFinite(f"{x!r} log {y!r} is beyond the range of a double")
    return product


def _shifted(log_weights: Iterable[float]) -> tuple[tuple[float, ...], float, float]:
    """The log-weights, their maximum m, and L = log(sum of exp(x - m)), which is 0 or more.

    With d = m - x, the sum s of exp(-d) over all weights but one maximum, and n weights in all:
    the error of exp(x - m) is at most (d + 2)u of it, fsum adds u, log1p divides by 1 + s and adds
    2u. So L errs by at most  u (sum of (d + 3)exp(-d) / (1 + s) + 2L).  Since
    L + sum of d exp(-d) / (1 + s) is the entropy of the shares, at most ln n, this is never more
    than u (2 ln n + 3), and much less where one weight dominates.
    """
    xs = tuple(log_weights)
    if not xs:
        raise EmptyInput("no log-weights were given; at least one is needed")
    for position, x in enumerate(xs):
        if not x < math.inf:
            raise NotFinite(f"log-weight {position} is {x!r}; finite numbers and -inf are allowed")
    peak = max(xs)
    if peak == -math.inf:
        return xs, peak, 0.0
    # One maximum stays outside: log1p then keeps the digits of weights far below it, which
    # log(1 + s) would lose.
    top = xs.index(peak)
    rest = math.fsum(math.exp(x - peak) for x in xs[:top] + xs[top + 1 :])
    return xs, peak, math.log1p(rest)
