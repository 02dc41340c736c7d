"""Chapter 55: cross-validation. Every row is judged once by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction

from refclust.formulas.contingency import ordered_labels


def dealt(order: Sequence[int], k: int) -> tuple[tuple[int, ...], ...]:
    """Rows dealt out to k folds in turn, like cards.

    Defines: CE-KFOLD

    >>> dealt([2, 0, 1, 3, 4], 2)
    ((1, 2, 4), (0, 3))
    """
    return tuple(tuple(sorted(order[fold::k])) for fold in range(k))


def by_class(order: Sequence[int], labels: Sequence[Hashable]) -> list[int]:
    """Rows in an order, class after class.

    Defines: CE-STRAT

    >>> by_class([3, 0, 2, 1], "abab")
    [0, 2, 3, 1]
    """
    return [i for label in ordered_labels(labels) for i in order if labels[i] == label]


def pooled_rate(rights: Sequence[int], sizes: Sequence[int]) -> Fraction:
    """The share of right answers among those of all folds together.

    Defines: CE-POOLED

    >>> pooled_rate([2, 1], [2, 3])
    Fraction(3, 5)
    """
    return Fraction(sum(rights), sum(sizes))


def mean_rate(rights: Sequence[int], sizes: Sequence[int]) -> Fraction:
    """The mean over folds of the share of right answers.

    Defines: CE-FOLDMEAN

    >>> mean_rate([2, 1], [2, 3])
    Fraction(2, 3)
    """
    rates = [Fraction(right, size) for right, size in zip(rights, sizes, strict=True)]
    return sum(rates, Fraction()) / len(rates)
