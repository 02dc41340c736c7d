"""The likelihood of bags of words: what multinomial coefficients add (MMIX-COEF, chapter 31)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from refclust.data.accepting.door import dataset


def log_coefficient(data: Any) -> float:
    """The logarithm of the number of sequences that share the counts of each row, added up.

    Sum over rows of w (log Gamma(L + 1) - sum of log Gamma(x + 1)), L the sum of a row: what to add
    to the log-likelihood of sequences to get that of counts. It does not depend on parameters.

    Spec: MMIX-COEF

    >>> round(math.exp(log_coefficient([[2, 1, 1]])), 9), log_coefficient([[3, 0], [0, 0]])
    (12.0, 0.0)
    """
    rows = dataset(data)
    terms: list[float] = []
    for i, row in enumerate(rows.rows()):
        weight = 1.0 if rows.weights is None else rows.weights[i]
        if weight:
            counts = list(row.values() if isinstance(row, dict) else row)
            terms.append(weight * row_log_coefficient(counts))
    return math.fsum(terms)


def row_log_coefficient(counts: Iterable[float]) -> float:
    """The logarithm of the multinomial coefficient of one row; fractions take gamma functions.

    Spec: MMIX-COEF

    >>> round(math.exp(row_log_coefficient([2.0, 1.0])), 9), row_log_coefficient([5.0])
    (3.0, 0.0)
    """
    present = [x for x in counts if x]
    if len(present) < 2:
        return 0.0  # one word has one order
    terms = [-math.lgamma(x + 1.0) for x in present]
    return math.fsum([math.lgamma(math.fsum(present) + 1.0), *terms])
