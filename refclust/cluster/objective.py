"""What k-means makes small or large: exact numbers from what the kernels add up (chapter 10)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from refclust.cluster.results import Run
from refclust.errors import NotFinite
from refclust.numbers.nearest import nearest
from refclust.numbers.real import Real, sqrt, total


def exact_rss(square: Fraction, residuals: Sequence[Fraction]) -> Fraction:
    """The residual sum of squares, from the squared lengths of all rows and KER-RESIDUAL.

    Spec: KM-RSS

    >>> exact_rss(Fraction(5), [Fraction(-9, 2)])
    Fraction(1, 2)
    """
    return square + sum(residuals)


def exact_within(
    squares: Sequence[Fraction], residuals: Sequence[Fraction]
) -> tuple[Fraction, ...]:
    """The residual sum of squares of each cluster, from KER-SQUARES and KER-RESIDUAL.

    Spec: KM-RSS

    >>> exact_within([Fraction(5)], [Fraction(-9, 2)])
    (Fraction(1, 2),)
    """
    return tuple(square + residual for square, residual in zip(squares, residuals, strict=True))


def total_cosine(terms: Sequence[Fraction]) -> Real:
    """The sum of S.c / |c| over the clusters, from their signed squares.

    Spec: KM-COSOBJ

    >>> float(total_cosine([Fraction(36, 25), Fraction(-1, 4)]))
    0.7
    """
    return total([sqrt(t) if t >= 0 else -sqrt(-t) for t in terms])


def mean_square(rss: Fraction, sizes: Sequence[Fraction]) -> float:
    """The residual sum of squares per unit of weight.

    Spec: KM-AVGSQ

    >>> mean_square(Fraction(1), [Fraction(2), Fraction(1)])
    0.3333333333333333
    """
    return rounded(rss / sum(sizes))


def rounded(value: Fraction) -> float:
    """The nearest double of a rational.

    Spec: NUM-NEAR

    >>> rounded(Fraction(1, 3))
    0.3333333333333333
    """
    try:
        return nearest(value.numerator, value.denominator)
    except NotFinite as error:
        raise NotFinite(
            "the squared distances of these rows add up to more than the largest double: "
            f"{error}; divide the columns by a power of ten"
        ) from None


def best_run(runs: Sequence[Run]) -> int:
    """The run with the least RSS or the greatest total cosine, the earliest of equals.

    Spec: KM-RESTART
    """
    if not runs[0].cosine_terms:
        return min(range(len(runs)), key=lambda r: (runs[r].exact_rss, r))
    best = 0
    for r in range(1, len(runs)):
        if total_cosine(runs[r].cosine_terms) > total_cosine(runs[best].cosine_terms):
            best = r
    return best
