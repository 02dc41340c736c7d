"""Chapter 52: scores and probabilities of classes against the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations, groupby, pairwise
from math import ceil, floor, inf
from typing import Final, NamedTuple, TypeAlias

from refclust.errors import BadOption
from refclust.formulas.contingency import Count
from refclust.formulas.declared import INFINITY, metric
from refclust.formulas.judged import Probabilities
from refclust.formulas.undefined import Undefined, ratio
from refclust.numbers.reading import shown
from refclust.numbers.real import Rational, Real, log, real, sqrt, total

Points: TypeAlias = tuple[tuple[Fraction, Fraction], ...]
ColumnMetric: TypeAlias = Callable[
    [Probabilities, int], Real
]  # a metric of one class against the rest

AVERAGES: Final = ("macro", "micro", "weighted")
ABSENT: Final = ("undefined", "skip", "0")
NO_POSITIVES: Final = "no object is of the class"
NO_NEGATIVES: Final = "every object is of the class"


class Reach(NamedTuple):
    """A threshold, and how many objects outside and inside a class have at least that score."""

    score: Fraction
    fp: Count
    tp: Count


def reached(judged: Probabilities, k: int = 0) -> tuple[Reach, ...]:
    """For each score of a class, the largest first, how many objects reach it.

    Defines: PB-INPUT

    >>> [(fp, tp) for _, fp, tp in reached(Probabilities.of_two([1, 0, 1], [3, 2, 2]))]
    [(0, 1), (1, 2)]
    """
    inside, column = judged.is_in(k), judged.column(k)
    falling = sorted(range(len(column)), key=lambda i: column[i], reverse=True)
    steps: list[Reach] = []
    fp: Count = 0
    tp: Count = 0
    for score, level in groupby(falling, key=lambda i: column[i]):
        for i in level:
            fp += 0 if inside[i] else judged.weight(i)
            tp += judged.weight(i) if inside[i] else 0
        steps.append(Reach(score, fp, tp))
    return tuple(steps)


# -- ranking --------------------------------------------------------------------------------


def roc_points(judged: Probabilities, k: int = 0) -> Points:
    """False and true positive rates as the threshold falls, from (0, 0) to (1, 1).

    Defines: PB-ROC

    >>> [tuple(map(str, point)) for point in roc_points(Probabilities.of_two([1, 0, 1], [3, 2, 1]))]
    [('0', '0'), ('0', '1/2'), ('1', '1/2'), ('1', '1')]
    """
    p = judged.support(k)
    n = judged.total - p
    steps = ((0, 0), *((fp, tp) for _, fp, tp in reached(judged, k)))
    return tuple((share(fp, n, NO_NEGATIVES), share(tp, p, NO_POSITIVES)) for fp, tp in steps)


def precision_recall_points(judged: Probabilities, k: int = 0) -> Points:
    """Recall and precision as the threshold falls.

    Defines: PB-PR

    >>> judged = Probabilities.of_two([1, 0, 1], [3, 2, 1])
    >>> [tuple(map(str, point)) for point in precision_recall_points(judged)]
    [('1/2', '1'), ('1/2', '1/2'), ('1', '2/3')]
    """
    p, steps = judged.support(k), reached(judged, k)
    return tuple((share(tp, p, NO_POSITIVES), Fraction(tp) / (tp + fp)) for _, fp, tp in steps)


def share(part: Count, whole: Count, reason: str) -> Fraction:
    """A share of a whole, undefined where there is no whole.

    Spec: CONV-UNDEF

    >>> share(1, 4, "nothing is there")
    Fraction(1, 4)
    """
    if whole == 0:
        raise Undefined(f"0/0: {reason}")
    return Fraction(part) / whole


def roc_area(judged: Probabilities, k: int = 0) -> Real:
    """The area under the polygon of false and true positive rates.

    Defines: PB-AUC

    >>> roc_area(Probabilities.of_two([1, 0, 1, 0], [4, 3, 3, 1]))
    Real('7/8')
    """
    points = roc_points(judged, k)
    return total((x - a) * (y + b) / 2 for (a, b), (x, y) in pairwise(points))


def partial_roc_area(judged: Probabilities, k: int, f: Fraction) -> Real:
    """The area up to a false positive rate f, so that guessing has 1/2 and being right 1.

    Defines: PB-PAUC

    >>> partial_roc_area(Probabilities.of_two([1, 0, 1, 0], [4, 3, 2, 1]), 0, Fraction(1, 2))
    Real('2/3')
    """
    points = roc_points(judged, k)
    area = Fraction()
    for (a, b), (x, y) in pairwise(points):
        end = min(x, f)
        if end > a:  # up to f, along the line to the next point
            area += (end - a) * (b + b + (y - b) * (end - a) / (x - a)) / 2
    least = f * f / 2
    return real(1 + (area - least) / (f - least)) / 2


def one_vs_rest(judged: Probabilities, column: ColumnMetric, average: str, absent: str) -> Real:
    """A metric of each class against the rest, averaged over classes or of all columns together.

    Defines: PB-OVR

    >>> judged = Probabilities.of_many("abb", [[2, 1], [1, 2], [2, 1]], "ab")
    >>> one_vs_rest(judged, roc_area, "macro", "undefined")
    Real('3/4')
    """
    if judged.is_binary:
        return column(judged, 0)
    if average == "micro":
        return column(together(judged), 0)
    weights = [1 if average == "macro" else judged.support(k) for k in range(len(judged.classes))]
    values = [(w, kept(column, judged, k, absent)) for k, w in enumerate(weights) if w]
    return mean(values)


def one_vs_one(judged: Probabilities, column: ColumnMetric, average: str, absent: str) -> Real:
    """A metric of each pair of classes, each of the two by its own scores, averaged over pairs.

    Defines: PB-OVO

    >>> judged = Probabilities.of_many("abb", [[2, 1], [1, 2], [2, 1]], "ab")
    >>> one_vs_one(judged, roc_area, "macro", "undefined")
    Real('3/4')
    """
    pairs: list[tuple[Count, Real | None]] = []
    for j, k in combinations(range(len(judged.classes)), 2):
        both = judged.only(j, k)
        values = [kept(column, both, label, absent) for label in (j, k)]
        present = [value for value in values if value is not None]
        w = 1 if average == "macro" else both.total
        pairs.append((w, total(present) / 2 if present else None))
    return mean(pairs)


def kept(column: ColumnMetric, judged: Probabilities, k: int, absent: str) -> Real | None:
    """The metric of a class, or nothing where it is 0/0 and may be left out of a mean.

    Spec: PB-OVR

    >>> kept(roc_area, Probabilities.of_two([1, 1], [1, 2]), 0, "skip") is None
    True
    """
    try:
        return column(judged, k).named(f"q({judged.classes[k]})")
    except Undefined as missing:
        if absent != "undefined":
            return None if absent == "skip" else real(0)
        raise Undefined(f"{missing.reason} ({judged.classes[k]})", missing.value) from None


def mean(values: Iterable[tuple[Count, Real | None]]) -> Real:
    """The weighted mean of what there is.

    Spec: PB-OVR

    >>> mean([(1, real(3)), (2, None), (3, real(1))])
    Real('3/2')
    """
    present = [(w, value) for w, value in values if value is not None]
    terms = total(value if w == 1 else w * value for w, value in present)
    return ratio(terms, sum(w for w, _ in present), undefined="no class has a value")


def together(judged: Probabilities) -> Probabilities:
    """All scores of all classes as one column, an object for each of them.

    Spec: PB-OVR

    >>> together(Probabilities.of_many("ab", [[2, 1], [1, 2]], "ab")).truth.count(frozenset([0]))
    2
    """
    columns = range(len(judged.classes))
    n = range(len(judged.scores))
    return Probabilities(
        ("all",),
        tuple((judged.scores[i][k],) for i in n for k in columns),
        tuple(frozenset([0] if k in judged.truth[i] else []) for i in n for k in columns),
        tuple(judged.weight(i) for i in n for k in columns),
    )


@metric(
    "Area under the ROC curve",
    evidence="probabilities",
    range=(0, 1),
    better="higher",
    aliases=("auroc",),
    choices={"average": AVERAGES, "absent": ABSENT, "pairing": ("ovr", "ovo")},
    variants={"pairing": {"ovo": "PB-OVO"}},
)
def roc_auc(
    judged: Probabilities,
    *,
    average: str = "macro",
    pairing: str = "ovr",
    absent: str = "undefined",
    max_fpr: Rational | None = None,
) -> Real:
    """The area under the ROC curve of one class, or averaged over classes or pairs of them.

    Spec: PB-AUC, PB-OVR, PB-OVO, PB-PAUC

    >>> roc_auc(Probabilities.of_two([1, 0, 1, 0], [4, 3, 3, 1]))
    Real('7/8')
    """
    column: ColumnMetric = roc_area
    if max_fpr is not None and max_fpr != 1:
        f = Fraction(max_fpr)
        if not 0 < f < 1:
            raise BadOption(f"roc_auc: max_fpr={shown(f)} must be above 0 and at most 1")
        column = lambda judged, k: partial_roc_area(judged, k, f)  # noqa: E731
    if pairing == "ovr" or judged.is_binary:
        return one_vs_rest(judged, column, average, absent)
    if average == "micro" or not judged.exclusive:
        raise BadOption(
            "roc_auc: pairs of classes have average=macro or weighted, of one class each"
        )
    return one_vs_one(judged, column, average, absent)


@metric(
    "Average precision",
    evidence="probabilities",
    range=(0, 1),
    better="higher",
    choices={"average": AVERAGES, "absent": ABSENT},
)
def average_precision(
    judged: Probabilities, *, average: str = "macro", absent: str = "undefined"
) -> Real:
    """Precision averaged over the steps of recall, of one class or averaged over classes.

    Spec: PB-AP, PB-OVR

    >>> average_precision(Probabilities.of_two([1, 0, 1], [3, 2, 1]))
    Real('5/6')
    """
    return one_vs_rest(judged, precision_steps, average, absent)


def precision_steps(judged: Probabilities, k: int = 0) -> Real:
    """The precisions at the thresholds, each by the recall it adds.

    Defines: PB-AP

    >>> precision_steps(Probabilities.of_two([1, 0, 1], [3, 2, 1]))
    Real('5/6')
    """
    points = precision_recall_points(judged, k)
    before = [Fraction(0), *(r for r, _ in points[:-1])]
    return total((r - b) * p for b, (r, p) in zip(before, points, strict=True))


@metric(
    "Top-k accuracy",
    evidence="probabilities",
    range=(0, 1),
    better="higher",
    choices={"ties": ("first", "last")},
    needs={"has_columns": ""},
)
def top_k_accuracy(judged: Probabilities, *, k: Rational = 2, ties: str = "first") -> Real:
    """The share of objects whose class is among the k of the largest scores.

    Defines: PB-TOPK

    >>> top_k_accuracy(Probabilities.of_many("ab", [[1, 3, 2], [3, 1, 2]], "abc"))
    Real('0')
    """
    if k.denominator != 1 or k < 1:
        raise BadOption(f"top_k_accuracy: k={shown(k)} must be a whole number above 0")
    ranks = [rank(row, judged.class_of(i), ties) for i, row in enumerate(judged.scores)]
    return total(judged.weight(i) for i, place in enumerate(ranks) if place < k) / judged.total


def rank(row: Sequence[Fraction], y: int, ties: str) -> int:
    """How many classes come before a class; of equal scores the first, or the last, comes first.

    Spec: PB-TOPK

    >>> rank([2, 3, 2], 2, "first"), rank([2, 3, 2], 2, "last")
    (2, 1)
    """
    equal = row[:y] if ties == "first" else row[y + 1 :]
    return sum(s > row[y] for s in row) + equal.count(row[y])


# -- several labels an object ---------------------------------------------------------------


@metric(
    "Ranking loss",
    evidence="probabilities",
    range=(0, 1),
    better="lower",
    needs={"has_ranking": ""},
)
def ranking_loss(judged: Probabilities) -> Real:
    """The mean share of pairs of a true and a false label whose scores are in the wrong order.

    Defines: PB-RANKLOSS

    >>> ranking_loss(Probabilities.of_many("ab", [[1, 3, 2], [2, 2, 1]], "abc"))
    Real('3/4')
    """
    return object_mean(judged, wrong_orders)


def wrong_orders(row: Sequence[Fraction], true: frozenset[int]) -> Fraction:
    """The share of pairs of a true and a false label in which the false one scores as high.

    Spec: PB-RANKLOSS

    >>> wrong_orders([1, 3, 2], frozenset([0, 2])), wrong_orders([1, 3], frozenset())
    (Fraction(1, 1), Fraction(0, 1))
    """
    false = [s for l, s in enumerate(row) if l not in true]  # noqa: E741  (the letter of the clause)
    wrong = sum(row[k] <= s for k in true for s in false)
    return Fraction(wrong, len(true) * len(false)) if true and false else Fraction(0)


@metric(
    "Coverage error",
    evidence="probabilities",
    range=(0, INFINITY),
    better="lower",
    needs={"has_ranking": ""},
)
def coverage_error(judged: Probabilities) -> Real:
    """How many labels of the largest scores it takes on average to cover all true ones.

    Defines: PB-COVERAGE

    >>> coverage_error(Probabilities.of_many("ab", [[1, 3, 2], [2, 2, 1]], "abc"))
    Real('5/2')
    """
    return object_mean(judged, lambda row, true: max((reaching(row, k) for k in true), default=0))


@metric(
    "Label ranking average precision",
    evidence="probabilities",
    range=(0, 1),
    better="higher",
    needs={"has_ranking": ""},
)
def label_ranking_average_precision(judged: Probabilities) -> Real:
    """Of the labels that score as high as a true one, the share of true ones, averaged.

    Defines: PB-LRAP

    >>> label_ranking_average_precision(Probabilities.of_many("ab", [[1, 3, 2], [2, 2, 1]], "abc"))
    Real('5/12')
    """
    return object_mean(judged, ranking_precision)


def ranking_precision(row: Sequence[Fraction], true: frozenset[int]) -> Fraction:
    """The mean over the true labels of the share of true ones among those that score as high.

    Spec: PB-LRAP

    >>> ranking_precision([1, 3, 2], frozenset([0, 1])), ranking_precision([1, 3], frozenset())
    (Fraction(5, 6), Fraction(1, 1))
    """
    if not true:
        return Fraction(1)
    shares = [Fraction(sum(row[j] >= row[k] for j in true), reaching(row, k)) for k in true]
    return sum(shares, Fraction()) / len(shares)


def reaching(row: Sequence[Fraction], k: int) -> int:
    """How many labels score as high as a label, itself among them.

    Spec: PB-COVERAGE

    >>> reaching([2, 3, 2], 0)
    3
    """
    return sum(s >= row[k] for s in row)


def object_mean(
    judged: Probabilities, value: Callable[[Sequence[Fraction], frozenset[int]], Rational]
) -> Real:
    """The mean over the objects of what their scores and true labels give.

    Spec: PB-RANKLOSS

    >>> object_mean(Probabilities.of_many("ab", [[1, 3], [2, 2]], "ab"), lambda row, _: max(row))
    Real('5/2')
    """
    rows = enumerate(zip(judged.scores, judged.truth, strict=True))
    values = total(judged.weight(i) * value(row, true) for i, (row, true) in rows)
    return real(values) / judged.total


# -- probabilities --------------------------------------------------------------------------


@metric(
    "Log loss",
    evidence="probabilities",
    range=(0, INFINITY),
    better="lower",
    needs={"are_probabilities": ""},
    aliases=("cross_entropy",),
)
def log_loss(judged: Probabilities, *, clip: Rational = 0) -> Real:
    """The mean negative logarithm of the probability of the true class.

    Defines: PB-LOGLOSS

    >>> log_loss(Probabilities.of_two([1, 0], [Fraction(1, 2), Fraction(1, 2)])) == log(2)
    True
    """
    if not 0 <= clip < Fraction(1, 2):
        raise BadOption(f"log_loss: clip={shown(clip)} must be at least 0 and below 1/2")
    weights: dict[Fraction, Count] = {}  # equal probabilities have one logarithm
    for i, p in enumerate(true_probabilities(judged)):
        p = min(max(p, Fraction(clip)), 1 - Fraction(clip))
        weights[p] = weights.get(p, 0) + judged.weight(i)
    if Fraction(0) in weights:
        raise Undefined("a true class has probability 0, and −log 0 is infinite", inf)
    return total(-w * log(p) for p, w in weights.items()) / judged.total


def true_probabilities(judged: Probabilities) -> list[Fraction]:
    """The probability of the true class of each object.

    Spec: PB-LOGLOSS

    >>> true_probabilities(Probabilities.of_two([1, 0], [Fraction(1, 3), Fraction(1, 4)]))
    [Fraction(1, 3), Fraction(3, 4)]
    """
    rows = judged.probabilities()
    if judged.is_binary:
        inside = judged.is_in(0)
        return [p if inside[i] else 1 - p for i, (p,) in enumerate(rows)]
    return [row[judged.class_of(i)] for i, row in enumerate(rows)]


@metric(
    "Brier score",
    evidence="probabilities",
    range=(0, 2),
    better="lower",
    needs={"are_probabilities": ""},
    choices={"half": ("auto", "no", "yes")},
)
def brier_score(judged: Probabilities, *, half: str = "auto") -> Real:
    """The mean squared error of the probabilities, summed over classes.

    Spec: PB-BRIER, PB-BRIERK

    >>> brier_score(Probabilities.of_two([1, 0], [Fraction(1, 2), 1]))
    Real('5/8')
    """
    if judged.is_binary:
        return squared_error(judged, 0)
    errors = summed_squared_errors(judged)
    halved = half == "yes" or (half == "auto" and len(judged.classes) == 2)
    return errors / 2 if halved else errors


def squared_error(judged: Probabilities, k: int) -> Real:
    """The mean squared distance of the probability of a class from 1 or 0.

    Defines: PB-BRIER

    >>> squared_error(Probabilities.of_two([1, 0], [Fraction(1, 2), 1]), 0)
    Real('5/8')
    """
    inside = judged.is_in(k)
    errors = (
        judged.weight(i) * (row[k] - inside[i]) ** 2 for i, row in enumerate(judged.probabilities())
    )
    return real(sum(errors)) / judged.total


def summed_squared_errors(judged: Probabilities) -> Real:
    """The mean squared distance of the probabilities from the truth, summed over classes.

    Defines: PB-BRIERK

    >>> summed_squared_errors(Probabilities.of_many("ab", [[1, 0], [Fraction(1, 2)] * 2], "ab"))
    Real('1/4')
    """
    return total(squared_error(judged, k) for k in range(len(judged.classes)))


@metric(
    "Hinge loss",
    evidence="probabilities",
    range=(0, INFINITY),
    better="lower",
    needs={"exclusive": ""},
)
def hinge_loss(judged: Probabilities) -> Real:
    """By how much the margins of the scores fall short of 1 on average.

    Defines: PB-HINGE

    >>> hinge_loss(Probabilities.of_two([1, 0], [Fraction(1, 2), -3]))
    Real('1/4')
    """
    margins = [margin(judged, i) for i in range(len(judged.scores))]
    short = sum(judged.weight(i) * max(Fraction(0), 1 - m) for i, m in enumerate(margins))
    return real(short) / judged.total


def margin(judged: Probabilities, i: int) -> Fraction:
    """The score of the true side of one column; of several, how far it leads all others.

    Spec: PB-HINGE

    >>> margin(Probabilities.of_many("a", [[3, 1, 2]], "abc"), 0)
    Fraction(1, 1)
    """
    row = judged.scores[i]
    if judged.is_binary:
        return row[0] if judged.truth[i] else -row[0]
    y = judged.class_of(i)
    return row[y] - max(s for k, s in enumerate(row) if k != y)


# -- calibration ----------------------------------------------------------------------------


class Bin(NamedTuple):
    """Objects of like confidence: their weight, how sure and how often right they are together."""

    weight: Count
    confidence: Fraction
    right: Count


def bin_of(p: Fraction, bins: int, closed: str) -> int:
    """The number of the bin, of equal widths, that a probability lies in, from 1.

    Defines: PB-BINS

    >>> [bin_of(Fraction(p, 4), 2, "right") for p in range(5)]
    [1, 1, 1, 2, 2]
    >>> [bin_of(Fraction(p, 4), 2, "left") for p in range(5)]
    [1, 1, 2, 2, 2]
    """
    return max(ceil(p * bins), 1) if closed == "right" else min(floor(p * bins) + 1, bins)


def calibration_bins(judged: Probabilities, bins: int, closed: str = "right") -> dict[int, Bin]:
    """The objects in bins of their confidence.

    Spec: PB-BINS

    >>> calibration_bins(Probabilities.of_two([1, 0], [Fraction(3, 4), Fraction(5, 8)]), 2)
    {2: Bin(weight=2, confidence=Fraction(11, 8), right=1)}
    """
    filled: dict[int, Bin] = {}
    for i, (p, right) in enumerate(confidences(judged)):
        m, w = bin_of(p, bins, closed), judged.weight(i)
        before = filled.get(m, Bin(0, Fraction(0), 0))
        sums = before.weight + w, before.confidence + w * p, before.right + (w if right else 0)
        filled[m] = Bin(*sums)
    return dict(sorted(filled.items()))


def confidences(judged: Probabilities) -> list[tuple[Fraction, bool]]:
    """How sure each object is, and whether it is right.

    One column says how sure it is of the positive class; of several the largest counts.

    Spec: PB-BINS

    >>> confidences(Probabilities.of_many("ab", [[Fraction(3, 4), Fraction(1, 4)]] * 2, "ab"))
    [(Fraction(3, 4), True), (Fraction(3, 4), False)]
    """
    rows = judged.probabilities()
    if judged.is_binary:
        return [(p, bool(judged.truth[i])) for i, (p,) in enumerate(rows)]
    return [(max(row), row.index(max(row)) == judged.class_of(i)) for i, row in enumerate(rows)]


def gaps(judged: Probabilities, bins: Rational, closed: str) -> list[tuple[Count, Fraction]]:
    """The weight of each bin, and how far its accuracy is from its confidence.

    Spec: PB-ECE

    >>> gaps(Probabilities.of_two([1, 0], [Fraction(3, 4), Fraction(5, 8)]), 2, "right")
    [(2, Fraction(3, 16))]
    """
    if bins.denominator != 1 or bins < 1:
        raise BadOption(f"bins={shown(bins)} must be a whole number above 0")
    filled = calibration_bins(judged, int(bins), closed).values()
    return [(b.weight, abs(b.right - b.confidence) / b.weight) for b in filled]


@metric(
    "Expected calibration error",
    evidence="probabilities",
    range=(0, 1),
    better="lower",
    needs={"are_probabilities": ""},
    aliases=("ece",),
    choices={"closed": ("right", "left"), "norm": ("l1", "l2")},
)
def expected_calibration_error(
    judged: Probabilities, *, bins: Rational = 15, closed: str = "right", norm: str = "l1"
) -> Real:
    """How far accuracy is from confidence in bins of like confidence, on average.

    Defines: PB-ECE

    >>> judged = Probabilities.of_two([1, 0], [Fraction(3, 4), Fraction(1, 4)])
    >>> expected_calibration_error(judged, bins=2)
    Real('1/4')
    """
    n, differences = judged.total, gaps(judged, bins, closed)
    if norm == "l1":
        return total(w * gap for w, gap in differences) / n
    return sqrt(total(w * gap**2 for w, gap in differences) / n)


@metric(
    "Maximum calibration error",
    evidence="probabilities",
    range=(0, 1),
    better="lower",
    needs={"are_probabilities": ""},
    aliases=("mce",),
    choices={"closed": ("right", "left")},
)
def maximum_calibration_error(
    judged: Probabilities, *, bins: Rational = 15, closed: str = "right"
) -> Real:
    """How far accuracy is from confidence in the worst bin of like confidence.

    Defines: PB-MCE

    >>> judged = Probabilities.of_two([1, 0], [Fraction(3, 4), 0])
    >>> maximum_calibration_error(judged, bins=2)
    Real('1/4')
    """
    return real(max(gap for _, gap in gaps(judged, bins, closed)))
