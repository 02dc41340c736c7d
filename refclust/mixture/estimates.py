"""Estimates from weighted counts that mixtures and their supervised twins share (chapter 31).

The M-step of a multinomial mixture and the training of naive Bayes are the same functions: with
responsibilities of one and zero the sums over rows are the counts of each class (PROP-NB-6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def component_weights(counts: Sequence[float]) -> tuple[float, ...]:
    """The share of each component in the weight of all rows.

    Spec: MMIX-PI, GMM-PI, NB-PI, CEM-PI, QDA-PARAM

    >>> component_weights([1.0, 3.0])
    (0.25, 0.75)
    """
    whole = math.fsum(counts)
    return tuple(count / whole for count in counts)


def m_estimate(count: float, total: float, m: float, p: float) -> float:
    """(count + m p) / (total + m): a share, with m imagined observations of which p m are hits.

    Without any observation, real or imagined, it is p.

    Spec: NB-MEST, NB-THETA, NB-MEST1H

    >>> m_estimate(3, 10, 1, 0.5), m_estimate(3, 10, 0, 0.5), m_estimate(0, 0, 0, 0.25)
    (0.3181818181818182, 0.3, 0.25)
    """
    whole = total + m
    return (count + m * p) / whole if whole else p


def word_probabilities(sums: Sequence[float], m: float, p: Sequence[float]) -> tuple[float, ...]:
    """The probability of each word, from its weighted count in the rows of one component.

    Spec: MMIX-THETA, NB-THETA, NB-MLECOUNT, NB-MEST

    >>> word_probabilities([3.0, 1.0], 0.0, [0.5, 0.5])
    (0.75, 0.25)
    """
    tokens = math.fsum(sums)
    return tuple(m_estimate(x, tokens, m, share) for x, share in zip(sums, p, strict=True))


def presence_probabilities(
    sums: Sequence[float], rows: float, m: float, p: Sequence[float]
) -> tuple[float, ...]:
    """The probability that each word is there at all, from the weight of the rows that have it.

    Spec: BMIX-THETA, NB-MEST

    >>> presence_probabilities([3.0, 4.0], 4.0, 0.0, [0.5, 0.5])
    (0.75, 1.0)
    """
    # Both sums are rounded, so the weight of the rows that have a word may exceed that of all rows.
    return tuple(min(m_estimate(x, rows, m, share), 1.0) for x, share in zip(sums, p, strict=True))
