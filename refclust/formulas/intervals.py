"""Chapter 54: intervals of rates. What a share of successes says about the chance of success."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import comb
from typing import Final, TypeAlias

from refclust.formulas.significance import beta_share, normal_tails
from refclust.numbers.real import Rational, Real, maximum, minimum, real, sqrt
from refclust.numbers.reals.binomial import binomial_tail
from refclust.numbers.reals.roots import root

HALF: Final = Fraction(1, 2)
Ends: TypeAlias = tuple[Real, Real]


def normal_quantile(level: Rational) -> Real:
    """The number z with so much of the standard normal law between −z and z.

    Defines: IV-Z

    >>> float(normal_quantile(Fraction(19, 20)))
    1.9599639845400543
    """
    alpha = 1 - Fraction(level)
    beyond = int(1 / alpha).bit_length() + 2  # the tails there are smaller than alpha
    return root(lambda z: alpha - normal_tails(z), 0, beyond).named("z")


def wald_interval(k: int, n: int, level: Rational) -> Ends:
    """The rate, and z standard errors to both sides.

    Defines: IV-WALD

    >>> [float(end) for end in wald_interval(5, 10, Fraction(19, 20))]
    [0.1901024838477192, 0.8098975161522808]
    """
    p, z = Fraction(k, n), normal_quantile(level)
    margin = z * sqrt(p * (1 - p) / n)
    return p - margin, p + margin


def wilson_interval(k: int, n: int, level: Rational) -> Ends:
    """The chances of which the rate lies at most z of their own standard errors away.

    Defines: IV-WILSON

    >>> [float(end) for end in wilson_interval(5, 10, Fraction(19, 20))]
    [0.23659309051256397, 0.7634069094874361]
    """
    p, z = Fraction(k, n), normal_quantile(level)
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    margin = z * sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return real(0) if k == 0 else middle - margin, real(1) if k == n else middle + margin


def wilson_corrected_interval(k: int, n: int, level: Rational) -> Ends:
    """Wilson's interval for a rate that is half a success farther out on either side.

    Defines: IV-WILSONCC

    >>> [float(end) for end in wilson_corrected_interval(5, 10, Fraction(19, 20))]
    [0.20142296959860717, 0.7985770304013928]
    """
    p, z = Fraction(k, n), normal_quantile(level)
    below = sqrt(z**2 - 2 - Fraction(1, n) + 4 * p * (n * (1 - p) + 1)) if k > 0 else real(0)
    above = sqrt(z**2 + 2 - Fraction(1, n) + 4 * p * (n * (1 - p) - 1)) if k < n else real(0)
    low = (2 * k + z**2 - 1 - z * below) / (2 * (n + z**2))
    high = (2 * k + z**2 + 1 + z * above) / (2 * (n + z**2))
    return (
        real(0) if k == 0 else maximum(0, low),
        real(1) if k == n else minimum(1, high),
    )


def agresti_coull_interval(k: int, n: int, level: Rational) -> Ends:
    """Wald's interval after z² more trials, half of them successes.

    Defines: IV-AGRESTI

    >>> [float(end) for end in agresti_coull_interval(5, 10, Fraction(19, 20))]
    [0.23659309051256397, 0.7634069094874361]
    """
    z = normal_quantile(level)
    trials = n + z**2
    p = (k + z**2 / 2) / trials
    margin = z * sqrt(p * (1 - p) / trials)
    return p - margin, p + margin


def clopper_pearson_interval(k: int, n: int, level: Rational) -> Ends:
    """The chances for which so few, or so many, successes are not rarer than half of 1 − level.

    Defines: IV-CLOPPER

    >>> [float(end) for end in clopper_pearson_interval(1, 1, Fraction(1, 2))]
    [0.25, 1.0]
    """
    rare, p = (1 - Fraction(level)) / 2, Fraction(k, n)
    low = root(lambda x: binomial_tail(k, n, x) - rare, 0, p) if k else real(0)
    high = root(lambda x: rare - binomial_tail(n - k, n, 1 - x), p, 1) if k < n else real(1)
    return low, high


def jeffreys_interval(k: int, n: int, level: Rational) -> Ends:
    """The middle of the beta law of the chance, after half a success and half a failure more.

    Defines: IV-JEFFREYS

    >>> [float(end) for end in jeffreys_interval(1, 1, Fraction(1, 2))]
    [0.597150078385516, 1.0]
    """
    rare, a, b = (1 - Fraction(level)) / 2, k + HALF, n - k + HALF
    low = root(lambda x: real(beta_share(x, a, b)) - rare, 0, 1) if k else real(0)
    high = root(lambda x: beta_share(x, a, b) - (1 - real(rare)), 0, 1) if k < n else real(1)
    return low, high


def resampled_law(k: int, n: int) -> dict[Fraction, int]:
    """In how many of the n^n ways to draw n of n outcomes again each rate comes out.

    Defines: IV-RESAMPLE

    >>> resampled_law(1, 2)
    {Fraction(0, 1): 1, Fraction(1, 2): 2, Fraction(1, 1): 1}
    """
    ways = {Fraction(j, n): comb(n, j) * k**j * (n - k) ** (n - j) for j in range(n + 1)}
    return {rate: count for rate, count in ways.items() if count}


def percentile_interval(law: Mapping[Fraction, int], level: Rational) -> tuple[Fraction, Fraction]:
    """The least values that reach half of 1 − level, and all but that half, of a law.

    Defines: IV-BOOT

    >>> percentile_interval({Fraction(j, 4): 1 for j in range(5)}, Fraction(1, 2))
    (Fraction(1, 4), Fraction(3, 4))
    """
    rare, draws = (1 - Fraction(level)) / 2, sum(law.values())
    return quantile(law, rare * draws), quantile(law, (1 - rare) * draws)


def quantile(law: Mapping[Fraction, int], reached: Fraction) -> Fraction:
    """The least value up to which so much of a law lies.

    Spec: IV-BOOT
    """
    so_far = 0
    for value in sorted(law):
        so_far += law[value]
        if so_far >= reached:
            return value
    return max(law)
