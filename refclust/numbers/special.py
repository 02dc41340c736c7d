"""The digamma function, and logarithms of beta and Wishart constants (chapter 34).

The logarithm of the gamma function is the standard library's; its derivative is not there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

# Bernoulli numbers over 2 j: psi(x) ~ log x - 1/(2x) - sum of B_2j / (2j x^2j).
_TERMS: Final = (
    1 / 12,
    -1 / 120,
    1 / 252,
    -1 / 240,
    1 / 132,
    -691 / 32760,
    1 / 12,
)
_ENOUGH: Final = 10.0


def digamma(x: float) -> float:
    """The derivative of the logarithm of the gamma function, for x > 0.

    The recurrence psi(x) = psi(x + 1) - 1/x leads to x >= 10, where the asymptotic series ends with
    a term below 1e-15; together it errs by less than 1e-14 max(1, |psi|, 1/x).

    Spec: VB-GAUSS, VB-MULT

    >>> digamma(2.0) - digamma(1.0) == 1.0
    True
    """
    parts = []
    while x < _ENOUGH:
        parts.append(-1.0 / x)
        x += 1.0
    inverse = 1.0 / (x * x)
    series = 0.0
    for term in reversed(_TERMS):
        series = inverse * (term + series)
    return math.fsum((*parts, math.log(x), -0.5 / x, -series))


def log_dirichlet(alpha: Sequence[float]) -> float:
    """The logarithm of the constant that makes a Dirichlet density integrate to one.

    Spec: VB-MULT

    >>> log_dirichlet([1.0, 1.0])
    0.0
    """
    return math.lgamma(math.fsum(alpha)) - math.fsum(map(math.lgamma, alpha))


def dirichlet_divergence(alpha: Sequence[float], prior: Sequence[float]) -> float:
    """KL between two Dirichlet distributions, the second the prior.

    Spec: VB-MULT

    >>> dirichlet_divergence([2.0, 3.0], [2.0, 3.0])
    0.0
    """
    whole = digamma(math.fsum(alpha))
    terms = [(a - b) * (digamma(a) - whole) for a, b in zip(alpha, prior, strict=True)]
    return math.fsum((log_dirichlet(alpha), -log_dirichlet(prior), *terms))


def log_wishart(log_determinant: float, nu: float, d: int) -> float:
    """The logarithm of the constant of a Wishart density whose scale has this log-determinant.

    Spec: VB-GAUSS
    """
    gammas = (-math.lgamma(0.5 * (nu - i)) for i in range(d))
    return math.fsum(
        (
            -0.5 * nu * log_determinant,
            -0.5 * nu * d * math.log(2.0),
            -0.25 * d * (d - 1) * math.log(math.pi),
            *gammas,
        )
    )


def expected_log_precision(log_determinant: float, nu: float, d: int) -> float:
    """E[log |L|] of a Wishart matrix L whose scale has this log-determinant.

    Spec: VB-GAUSS
    """
    return math.fsum(
        (log_determinant, d * math.log(2.0), *(digamma(0.5 * (nu - i)) for i in range(d)))
    )
