"""Chapter 35: counts by their means. Poisson and geometric mixtures.

Letters: x rows of counts, w weights, pi and mu the parameters, q shares, m imagined rows whose mean
in column j is p_j. A law is the probability of one count, given its mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from refclust.errors import FractionalCount, NegativeCount
from refclust.formulas import mixtures
from refclust.formulas.mixtures import Log, Mixture, Rows, Weights, logs
from refclust.formulas.multinomial import power, word_counts
from refclust.formulas.vectors import (
    Exact,
    Number,
    Vector,
    components,
    exact,
    product,
    scaled,
    sum_of,
    together,
    total,
)
from refclust.numbers.real import exp

Law: TypeAlias = Callable[[Exact, Exact], Exact]


def poisson_log_likelihood(x: Rows, w: Weights, mixture: Mixture) -> Log:
    """The logarithm of the probability of rows of counts under a Poisson mixture.

    Defines: PMIX-LL

    >>> from refclust.numbers.real import log
    >>> poisson_log_likelihood([[2]], [1], ([1], [[3]])) == log(Fraction(9, 2) * exp(-3))
    True
    """
    return mixtures.log_likelihood(x, w, mixture, lambda x_i, mu: row_probability(x_i, mu, poisson))


def geometric_log_likelihood(x: Rows, w: Weights, mixture: Mixture) -> Log:
    """The logarithm of the probability of rows of counts under a geometric mixture.

    Defines: GEO-LL

    >>> from refclust.numbers.real import log
    >>> geometric_log_likelihood([[2]], [1], ([1], [[1]])) == log(Fraction(1, 8))
    True
    """
    return mixtures.log_likelihood(
        x, w, mixture, lambda x_i, mu: row_probability(x_i, mu, geometric)
    )


def means(x: Rows, w: Weights, q: Sequence[Number], m: Number, p: Vector) -> Any:
    """The mean of each column in a component, from the shares of the rows that it has.

    Defines: CM-MU

    >>> means([[2, 0], [1, 1]], [1, 1], [1, 0.5], 0, [0, 0])
    (Fraction(5, 3), Fraction(1, 3))
    """
    n = total(exact(w_i) * exact(q_i) for w_i, q_i in zip(w, q, strict=True))
    return scaled(1 / (n + exact(m)), sum_of([word_counts(x, w, q), scaled(m, p)]))


def log_prior(mu: Sequence[Vector], m: Number, p: Vector, law: Law) -> Log:
    """The logarithm of the prior of which the means are the most probable value.

    Defines: CM-PRIOR

    >>> from refclust.numbers.real import log
    >>> log_prior([[3]], 2, [1], without_factorials) == 2 * log(3 * exp(-3))
    True
    """
    return logs(
        (exact(m), law(components(p)[j], mu_kj))
        for mu_k in mu
        for j, mu_kj in components(mu_k).items()
    )


# What several clauses share.


def row_probability(x: Vector, mu: Vector, law: Law) -> Exact:
    """The probability of a row of counts, its columns independent.

    Spec: CM-LL

    >>> row_probability([1, 0], [1, 1], geometric)
    Fraction(1, 8)
    """
    counts, means_of = together(x, mu)
    for x_j in counts.values():
        if x_j < 0:
            raise NegativeCount(f"a count is {x_j}; counts are at least 0")
        if not isinstance(x_j, Fraction) or x_j.denominator > 1:
            raise FractionalCount(f"a count is {x_j}; counts are whole numbers")
    nothing = Fraction(0)
    return product(
        law(counts.get(j, nothing), means_of.get(j, nothing)) for j in {**means_of, **counts}
    )


def poisson(x: Exact, mu: Exact) -> Exact:
    """The probability of a count whose mean is mu, by Poisson's law.

    Spec: PMIX-LL

    >>> poisson(Fraction(2), Fraction(3)) == exp(-3) * 9 / 2
    True
    """
    assert isinstance(x, Fraction)
    return without_factorials(x, mu) / math.factorial(x.numerator)


def without_factorials(x: Exact, mu: Exact) -> Exact:
    """What of Poisson's law depends on the mean; x may be a mean itself.

    Spec: PMIX-LL, CM-PRIOR

    >>> without_factorials(Fraction(0), Fraction(0))
    Fraction(1, 1)
    """
    if not mu:
        return power(Fraction(0), x) if x else Fraction(1)
    return power(mu, x) * exp(-mu)


def geometric(x: Exact, mu: Exact) -> Exact:
    """The probability of a count whose mean is mu, by the geometric law; x may be a mean itself.

    Spec: GEO-LL, CM-PRIOR

    >>> geometric(Fraction(2), Fraction(1))
    Fraction(1, 8)
    """
    return power(mu / (1 + mu), x) / (1 + mu) if x else 1 / (1 + mu)
