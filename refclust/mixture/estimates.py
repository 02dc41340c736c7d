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
