"""Classification metrics from their definitions: loops over objects and pairs of objects.

No counts of a table are shared between metrics: each goes through the objects again.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import ctx

from .significance_tests import PRECISION, number
from .values import Infinite, Json, Undefined, Value, divide, divide_root, encode
from .vectors_common import ball

mpmath: Any = importlib.import_module("mpmath")

F = Fraction
Triple = tuple[int, int, Fraction]  # true class, predicted class, weight
Test = Callable[[int, int], bool]


def mass(objects: Sequence[Triple], test: Test) -> Fraction:
    """The weight of the objects that pass a test of their true and predicted class."""
    return sum((w for y, z, w in objects if test(y, z)), F(0))


def everything(_y: int, _z: int) -> bool:
    """Every object."""
    return True


def is_class(k: int) -> Test:
    """Objects of a class."""
    return lambda y, _: y == k


def said_class(k: int) -> Test:
    """Objects that were predicted to be of a class."""
    return lambda _, z: z == k


def share(objects: Sequence[Triple], part: Test, whole: Test) -> Value:
    """The share of some objects among others."""
    return divide(mass(objects, lambda y, z: part(y, z) and whole(y, z)), mass(objects, whole))


def minus_one(left: Value, right: Value) -> Value:
    """The sum of two shares, less one."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left + right - 1
    return Undefined()


def over(top: Value, bottom: Value) -> Value:
    """A ratio of two shares."""
    if isinstance(top, Fraction) and isinstance(bottom, Fraction):
        return divide(top, bottom)
    return Undefined()


def of_class(objects: Sequence[Triple], k: int) -> dict[str, Value]:
    """Every quotient of a class against the rest, each from the objects."""
    is_k, said_k = is_class(k), said_class(k)
    not_k: Test = lambda y, _: y != k  # noqa: E731
    said_not: Test = lambda _, z: z != k  # noqa: E731
    either: Test = lambda y, z: k in (y, z)  # noqa: E731
    both: Test = lambda y, z: y == z == k  # noqa: E731
    tpr, fpr = share(objects, said_k, is_k), share(objects, said_k, not_k)
    fnr, tnr = share(objects, said_not, is_k), share(objects, said_not, not_k)
    ppv, npv = share(objects, is_k, said_k), share(objects, not_k, said_not)
    odds = divide(
        mass(objects, both) * mass(objects, lambda y, z: y != k and z != k),
        mass(objects, lambda y, z: y != k and z == k)
        * mass(objects, lambda y, z: y == k and z != k),
    )
    return {
        "precision": ppv,
        "recall": tpr,
        "specificity": tnr,
        "negative_predictive_value": npv,
        "false_positive_rate": fpr,
        "false_negative_rate": fnr,
        "false_discovery_rate": share(objects, not_k, said_k),
        "false_omission_rate": share(objects, is_k, said_not),
        "f1": f_measure(objects, k, F(1)),
        "f_beta[beta=2]": f_measure(objects, k, F(2)),
        "f_beta[beta=1/2]": f_measure(objects, k, F(1, 2)),
        "class_jaccard": share(objects, both, either),
        "positive_likelihood_ratio": over(tpr, fpr),
        "negative_likelihood_ratio": over(fnr, tnr),
        "diagnostic_odds_ratio": odds,
        "youden": minus_one(tpr, tnr),
        "markedness": minus_one(ppv, npv),
    }


def f_measure(objects: Sequence[Triple], k: int, beta: Fraction) -> Value:
    """Hits over a weighted mean of how many are of the class and how many were predicted."""
    hits = mass(objects, lambda y, z: y == z == k)
    true, said = mass(objects, is_class(k)), mass(objects, said_class(k))
    return divide((1 + beta**2) * hits, beta**2 * true + said)


def average(values: Sequence[Value], weights: Sequence[Fraction], rule: str = "undefined") -> Value:
    """A weighted mean under a rule for what is undefined."""
    pairs = list(zip(values, weights, strict=True))
    if rule == "undefined":
        pairs = [(v, w) for v, w in pairs if w]
        if any(isinstance(v, Undefined) for v, _ in pairs):
            return next(v for v, _ in pairs if not isinstance(v, Fraction))
    if any(isinstance(v, Infinite) for v, _ in pairs):
        return Infinite()
    if rule in ("0", "1"):
        pairs = [(F(rule) if isinstance(v, Undefined) else v, w) for v, w in pairs]
    kept = [(v, w) for v, w in pairs if isinstance(v, Fraction)]
    if rule != "undefined" and not any(w for _, w in kept):
        kept = [(v, F(1)) for v, _ in kept]
    return divide(sum((v * w for v, w in kept), F(0)), sum((w for _, w in kept), F(0)))


def kappa(objects: Sequence[Triple], power: int) -> Value:
    """One less the mean distance of truth and prediction, over that of all pairs of objects."""
    n = mass(objects, everything)

    def distance(y: int, z: int) -> int:
        return int(y != z) if power == 0 else abs(y - z) ** power

    seen = sum((w * distance(y, z) for y, z, w in objects), F(0)) / n
    chance = sum((v * w * distance(y, z) for y, _, v in objects for _, z, w in objects), F(0))
    ratio = divide(seen, chance / n**2)
    return 1 - ratio if isinstance(ratio, Fraction) else ratio


def mcc(objects: Sequence[Triple], classes: int) -> Value:
    """The correlation of the indicators of true and predicted classes, summed over classes."""
    n = mass(objects, everything)
    joint = left = right = F(0)
    for k in range(classes):
        a, b = mass(objects, is_class(k)) / n, mass(objects, said_class(k)) / n
        joint += sum((w * ((y == k) - a) * ((z == k) - b) for y, z, w in objects), F(0))
        left += sum((w * ((y == k) - a) ** 2 for y, z, w in objects), F(0))
        right += sum((w * ((z == k) - b) ** 2 for y, z, w in objects), F(0))
    return divide_root(joint, left * right)


def root(value: Value, k: int) -> dict[str, Json]:
    """The k-th root of a value."""
    if not isinstance(value, Fraction) or value in (0, 1):
        return encode(value)
    ctx.prec, mpmath.mp.dps = PRECISION, 200
    again = mpmath.root(mpmath.mpf(value.numerator) / value.denominator, k)
    return number(ball(value).root(k), again)


def logs(terms: Sequence[tuple[Fraction, Fraction]], n: Fraction) -> dict[str, Json]:
    """The mean of negative logarithms."""
    if any(p == 0 for p, _ in terms):
        return encode(Infinite())
    if all(p == 1 for p, _ in terms):
        return encode(F(0))
    ctx.prec, mpmath.mp.dps = PRECISION, 200
    first = -sum((ball(w) * ball(p).log() for p, w in terms), ball(F(0))) / ball(n)
    again = -sum(_mp(w) * mpmath.log(_mp(p)) for p, w in terms) / _mp(n)
    return number(first, again)


def _mp(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


# -- scores -----------------------------------------------------------------------------------

Scored = tuple[bool, Fraction, Fraction]  # in the class or not, score, weight


def auc(objects: Sequence[Scored]) -> Value:
    """The weight of pairs in the right order, equal scores half, among all pairs."""
    won = total = F(0)
    for inside, s, v in objects:
        for other, t, w in objects:
            if inside and not other:
                total += v * w
                won += v * w * (F(1) if s > t else F(1, 2) if s == t else F(0))
    return divide(won, total)


def partial_auc(objects: Sequence[Scored], f: Fraction) -> Value:
    """The standardised area up to a false positive rate, from strips between its corners."""
    points = roc(objects)
    if not isinstance(points, list):
        return points

    def height(x: Fraction, right: bool) -> Fraction:
        """The curve just right or just left of a rate."""
        below = [p for p in points if p[0] <= x]
        above = [p for p in points if p[0] >= x]
        level = [p for p in points if p[0] == x]
        if level:
            return max(y for _, y in level) if right else min(y for _, y in level)
        (a, b), (c, d) = below[-1], above[0]
        return b + (d - b) * (x - a) / (c - a)

    corners = sorted({x for x, _ in points if x < f} | {f})
    area = sum(
        ((b - a) * (height(a, True) + height(b, False)) / 2 for a, b in pairwise(corners)), F(0)
    )
    return F(1, 2) * (1 + (area - f * f / 2) / (f - f * f / 2))


def roc(objects: Sequence[Scored]) -> list[tuple[Fraction, Fraction]] | Undefined:
    """False and true positive rates at every threshold, each counted anew."""
    p = sum((w for inside, _, w in objects if inside), F(0))
    n = sum((w for inside, _, w in objects if not inside), F(0))
    if p == 0 or n == 0:
        return Undefined()
    points = [(F(0), F(0))]
    for t in sorted({s for _, s, _ in objects}, reverse=True):
        tp = sum((w for inside, s, w in objects if inside and s >= t), F(0))
        fp = sum((w for inside, s, w in objects if not inside and s >= t), F(0))
        points.append((fp / n, tp / p))
    return points


def precision_recall(objects: Sequence[Scored]) -> list[tuple[Fraction, Fraction]] | Undefined:
    """Recall and precision at every threshold, each counted anew."""
    p = sum((w for inside, _, w in objects if inside), F(0))
    if p == 0:
        return Undefined()
    points = []
    for t in sorted({s for _, s, _ in objects}, reverse=True):
        tp = sum((w for inside, s, w in objects if inside and s >= t), F(0))
        points.append((tp / p, tp / sum((w for _, s, w in objects if s >= t), F(0))))
    return points


def average_precision(objects: Sequence[Scored]) -> Value:
    """The mean, over objects of the class, of the precision at their own score."""
    inside = [(s, w) for positive, s, w in objects if positive]
    terms = [(w * share_above(objects, s), w) for s, w in inside]
    return divide(sum((t for t, _ in terms), F(0)), sum((w for _, w in terms), F(0)))


def share_above(objects: Sequence[Scored], t: Fraction) -> Fraction:
    """The share of the class among the objects with at least a score."""
    above = [(positive, w) for positive, s, w in objects if s >= t]
    return sum((w for positive, w in above if positive), F(0)) / sum((w for _, w in above), F(0))


def calibration(
    sure: Sequence[tuple[Fraction, bool, Fraction]], bins: int, *, left: bool = False
) -> list[tuple[Fraction, Fraction]]:
    """The weight and the gap of each bin, found by trying every bin."""
    gaps = []
    for m in range(1, bins + 1):
        low, high = F(m - 1, bins), F(m, bins)
        inside = [
            (c, right, w)
            for c, right, w in sure
            if (low <= c < high or (c == 1 and m == bins) if left else low < c <= high)
            or (c == 0 and m == 1)
        ]
        weight = sum((w for _, _, w in inside), F(0))
        if weight:
            gap = sum((w * (right - c) for c, right, w in inside), F(0))
            gaps.append((weight, abs(gap) / weight))
    return gaps
