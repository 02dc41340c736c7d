"""Which columns and weights doubles can carry through a Gaussian mixture (GMM-RANGE, chapter 32).

Squares of numbers above 1e154 overflow, those of numbers below 1e-154 vanish. What is refused, and
with which words, may not depend on the backend: a pass only says which columns are in doubt, and
these are looked at here, scaled by powers of two.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from refclust.data.dataset import Dataset, Dense
from refclust.errors import NotFinite

# Component variances may be 16 u^2 of that of a column, and need their 53 bits and an inverse.
LEAST_VARIANCE: Final = 2.0**-860
MOST_SCATTER: Final = 2.0**1000
_USUAL_WEIGHTS: Final = 2.0**-60, 2.0**60
_MARGIN: Final = 4.0  # far more than what the variances of two backends differ by


def weight_unit(data: Dataset) -> float:
    """The weight that counts as one: 1, or a power of four if all weights are huge or tiny.

    Not of two: M-steps that take square roots of scatters keep their bits under powers of four.

    Spec: GMM-RANGE

    >>> from refclust.data.accepting.door import dataset
    >>> weight_unit(dataset([[0], [1]], weights=[3, 9]))
    1.0
    >>> weight_unit(dataset([[0], [1]], weights=[2.0**901, 2.0**901])) == 2.0**902
    True
    """
    if data.weights is None:
        return 1.0
    try:
        whole = math.fsum(data.weights)
    except OverflowError:
        raise NotFinite(
            "the weights add up to more than the largest double; divide them by a power of ten"
        ) from None
    least, most = _USUAL_WEIGHTS
    if least <= whole <= most:
        return 1.0
    exponent = math.frexp(whole)[1] - 1
    return math.ldexp(1.0, exponent - exponent % 2)


def in_units(data: Dataset, unit: float) -> Dataset:
    """The same rows with their weights divided by a unit.

    Spec: GMM-RANGE
    """
    if unit == 1.0 or data.weights is None:
        return data
    weights = array("d", (weight / unit for weight in data.weights))
    return replace(data, weights=memoryview(weights).toreadonly())


def total_weight(data: Dataset) -> float:
    """The weight of all rows together.

    Spec: GAU-MLEMU
    """
    return float(data.n) if data.weights is None else math.fsum(data.weights)


def check_columns(data: Dataset, variances: Sequence[float], *, spherical: bool) -> None:
    """Refuse columns whose squares overflow or vanish; infinite variances are in doubt as well.

    Of spherical covariances what counts is the one variance of all columns, so narrow ones are no
    matter as long as another is wide enough.

    Spec: GMM-RANGE
    """
    most = MOST_SCATTER / max(total_weight(data), 1.0)
    doubtful = [
        j
        for j, variance in enumerate(variances)
        if not _MARGIN * LEAST_VARIANCE <= variance <= most / _MARGIN
    ]
    deviations = {j: column_deviation(data, j) for j in doubtful}
    least, widest = math.sqrt(LEAST_VARIANCE), math.sqrt(most)
    refused = [j for j, deviation in deviations.items() if deviation > widest]
    if not spherical:
        refused += [j for j, deviation in deviations.items() if 0.0 < deviation < least]
    elif len(doubtful) == data.d:
        j = max(doubtful, key=lambda j: deviations[j])
        refused += [j] if 0.0 < deviations[j] < least else []
    if refused:
        j = refused[0]
        raise NotFinite(
            f"the standard deviation of column {data.feature_name(j)} is {deviations[j]:.3g}; so "
            f"that sums of squares are within the range of doubles, {least:.2g} to {widest:.2g} is "
            "allowed: multiply the column by a power of ten"
        )


def check_means(means: Sequence[Sequence[float]], centre: Sequence[float], weight: float) -> None:
    """Refuse means to start from so far from that of all rows that squares around them overflow.

    Spec: GMM-RANGE
    """
    widest = math.sqrt(MOST_SCATTER / max(weight, 1.0))
    for k, mean in enumerate(means):
        for x, c in zip(mean, centre, strict=True):
            if abs(x - c) > widest:
                raise NotFinite(
                    f"mean {k} of the parameters given is at {x!r}, the mean of the rows at "
                    f"{c:.3g}; so that sums of squares are within the range of doubles, they may "
                    f"be {widest:.2g} apart"
                )


def column_deviation(data: Dataset, j: int) -> float:
    """The standard deviation of a column, which its square need not be able to tell.

    Spec: GMM-RANGE

    >>> from refclust.data.accepting.door import dataset
    >>> column_deviation(dataset([[1e-200], [3e-200]]), 0), column_deviation(dataset([[7]]), 0)
    (1e-200, 0.0)
    """
    weights = [1.0] * data.n if data.weights is None else data.weights.tolist()
    pairs = [(x, w) for x, w in zip(_column(data, j), weights, strict=True) if w]
    low, high = min(pairs)[0], max(pairs)[0]
    if low == high:
        return 0.0
    exponent = math.frexp(max(-low, high))[1]
    scaled = [(math.ldexp(x, -exponent), w) for x, w in pairs]
    whole = math.fsum(w for _, w in scaled)
    mean = math.fsum(x * (w / whole) for x, w in scaled)
    variance = math.fsum((x - mean) ** 2 * (w / whole) for x, w in scaled)
    return math.ldexp(math.sqrt(variance), exponent)


def _column(data: Dataset, j: int) -> list[float]:
    """The numbers of one column, with its zeros."""
    matrix = data.matrix
    if isinstance(matrix, Dense):
        return list(map(float, matrix.values[j :: matrix.d]))
    rows = (data.row(i) for i in range(data.n))
    return [row.get(j, 0.0) if isinstance(row, dict) else row[j] for row in rows]


def lost_row(family: str) -> tuple[str, str]:
    """What no component can have made, and what helps, in the words of a family.

    Spec: none (words of a message)

    >>> lost_row("bernoulli")[1], lost_row("gaussian")[1]
    ('smooth the probabilities (m > 0)', 'check its numbers')
    """
    if family.endswith("gaussian"):  # a density is never 0, but the doubles end
        return "is too far from every component for doubles", "check its numbers"
    return "has probability zero under every component", "smooth the probabilities (m > 0)"
