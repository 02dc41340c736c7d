"""Shares of components, which mixtures and their supervised twins estimate alike (chapter 31)."""

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
