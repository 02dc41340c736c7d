"""Which features set a cluster apart (DESC-TOP of chapter 12).

Differences and variances are integers, so features are ordered exactly and numbers rounded once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nsmallest
from itertools import groupby
from math import lcm

from refclust.cluster.results import Centres
from refclust.data.dataset import Dataset, Features
from refclust.data.preparing.record import Preparation
from refclust.kernels.clusters.kmeans import ClusterSums
from refclust.kernels.points import Points, binary
from refclust.numbers.nearest import nearest, nearest_sqrt


@dataclass(frozen=True, slots=True)
class Trait:
    """A feature that sets a cluster apart.

    Spec: DESC-OVERALL, DESC-DIFF, DESC-STD
    """

    feature: int
    name: str
    mean: float
    overall: float
    difference: float
    standardised: float | None  # with data only


def model_traits(
    sizes: Sequence[Fraction],
    centres: Centres,
    features: Features | None,
    sparse: bool,
    top: int,
    plan: Preparation | None = None,
) -> list[tuple[Trait, ...]]:
    """The traits of clusters whose centres and sizes are all that is known.

    They are in the units of the user, if it is known what was done to the columns.

    Spec: DESC-OVERALL, DESC-DIFF, DESC-TOP, PREP-UNITS
    """
    d = len(centres[0])
    flat, shift = binary([x for centre in centres for x in centre])
    c = [flat[k * d : (k + 1) * d] for k in range(len(centres))]
    total = sum(sizes)
    # Every weight over one denominator, which cancels.
    common = _common_denominator(sizes)
    w = [int(size * common) for size in sizes]
    all_w = int(total * common)
    t = [0] * d
    for weight, centre in zip(w, c, strict=True):
        if weight:
            t = [have + weight * x for have, x in zip(t, centre, strict=True)]
    traits: list[tuple[Trait, ...]] = []
    for k, centre in enumerate(c):
        gaps = [x * all_w - s for x, s in zip(centre, t, strict=True)] if w[k] else []
        listed = [j for j, gap in enumerate(gaps) if gap > 0 or (gap and not sparse)]
        listed = nsmallest(top, listed, key=lambda j: (-abs(gaps[j]), j))
        traits.append(
            tuple(
                Trait(
                    feature=j,
                    name=str(j if features is None else features[j]),
                    mean=_value(plan, j, c[k][j], 1 << shift),
                    overall=_value(plan, j, t[j], all_w << shift),
                    difference=_difference(plan, j, gaps[j], all_w << shift),
                    standardised=None,
                )
                for j in listed
            )
        )
    return traits


def data_traits(
    data: Dataset, points: Points, sums: ClusterSums, top: int
) -> list[tuple[Trait, ...]]:
    """The traits of clusters of rows, in the units of the user.

    Spec: DESC-OVERALL, DESC-DIFF, DESC-STD, DESC-TOP, PREP-UNITS
    """
    plan = data.preparation
    # Over 2**weight_shift, 2**(shift + weight_shift) and 2**(2 shift + weight_shift); the powers
    # of two cancel but for one 2**shift, the unit of the numbers themselves.
    all_w, t = sum(sums.weights), [*map(sum, zip(*sums.sums, strict=True))]
    q = _column_squares(points)
    variance = [x * all_w - s * s for x, s in zip(q, t, strict=True)]
    traits: list[tuple[Trait, ...]] = []
    for w, s in zip(sums.weights, sums.sums, strict=True):
        gaps = [x * all_w - y * w for x, y in zip(s, t, strict=True)] if w else []
        listed = [j for j, gap in enumerate(gaps) if gap > 0 or (gap and data.kind == "dense")]
        traits.append(
            tuple(
                Trait(
                    feature=j,
                    name=data.feature_name(j),
                    mean=_value(plan, j, s[j], w << points.shift),
                    overall=_value(plan, j, t[j], all_w << points.shift),
                    difference=_difference(plan, j, gaps[j], w * all_w << points.shift),
                    standardised=_signed_root(gaps[j], w * w * variance[j]),
                )
                for j in _largest(listed, gaps, variance, w, top)
            )
        )
    return traits


def _value(plan: Preparation | None, j: int, top: int, bottom: int) -> float:
    """A number of a feature in the units of the user, rounded once.

    Spec: PREP-UNITS
    """
    if plan is None:
        return nearest(top, bottom)
    centre, divisor = plan.unit(j)
    value = centre + divisor * Fraction(top, bottom)
    return nearest(value.numerator, value.denominator)


def _difference(plan: Preparation | None, j: int, top: int, bottom: int) -> float:
    if plan is None:
        return nearest(top, bottom)
    value = plan.unit(j)[1] * Fraction(top, bottom)
    return nearest(value.numerator, value.denominator)


def _largest(
    listed: Iterable[int], gaps: Sequence[int], variance: Sequence[int], w: int, count: int
) -> list[int]:
    """The features with the largest squared z, in exact order, the lower feature of equals first.

    Spec: DESC-TOP
    """
    # Rounding keeps order, so doubles sort all but those that round to the same one.
    rough = {j: nearest(gaps[j] ** 2, w * w * variance[j]) for j in listed}
    order = sorted(rough, key=lambda j: (-rough[j], j))
    features: list[int] = []
    for _, group in groupby(order, key=rough.__getitem__):
        if len(features) >= count:
            break
        equals = list(group)
        if len(equals) > 1:
            equals.sort(key=lambda j: (-Fraction(gaps[j] ** 2, variance[j]), j))
        features += equals
    return features[:count]


def _column_squares(points: Points) -> list[int]:
    """For each feature the weighted sum of squares, as integers."""
    if points.dense:
        weighted = zip(points.weights, points.integers, strict=True)
        rows = ([w * x * x for x in row] for w, row in weighted)
        return [*map(sum, zip(*rows, strict=True))]
    squares = [0] * points.d
    for w, columns, values in zip(points.weights, points.columns, points.integers, strict=True):
        for column, value in zip(columns, values, strict=True):
            squares[column] += w * value * value
    return squares


def _signed_root(root: int, square: int) -> float:
    """root / sqrt(square), rounded once."""
    size = nearest_sqrt(root * root, square)
    return -size if root < 0 else size


def _common_denominator(sizes: Iterable[Fraction]) -> int:
    return lcm(*(size.denominator for size in sizes))
