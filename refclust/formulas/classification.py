"""Chapter 50: predicted classes against the truth. Rows of a table are true, columns predicted."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import isinf, prod
from typing import Final, TypeAlias

from refclust.errors import BadOption
from refclust.formulas.confusion import Confusion, LabelSets, Tally
from refclust.formulas.contingency import Count
from refclust.formulas.declared import INFINITY, metric
from refclust.formulas.undefined import Undefined, ratio
from refclust.formulas.vectors import Number
from refclust.numbers.reading import shown
from refclust.numbers.real import Rational, Real, exp, log, real, sqrt, total

Quotient: TypeAlias = Callable[[Tally], Real]
MeanMember: TypeAlias = tuple[
    Count, Tally, str
]  # a member of a mean: its weight, its counts, its name

AVERAGES: Final = ("binary", "macro", "micro", "weighted")
SET_AVERAGES: Final = ("samples", "macro", "micro", "weighted")
ZERO_DIVISIONS: Final = ("undefined", "0", "1", "skip", "present")
CLASSES: Final = {"average": AVERAGES, "zero_division": ZERO_DIVISIONS}
SETS: Final = {"average": SET_AVERAGES, "zero_division": ZERO_DIVISIONS}
POSITIVE: Final = {"has_positive": "average=binary"}  # only this average needs a positive class

# -- tables ---------------------------------------------------------------------------------


def confusion_table(
    truth: Sequence[Hashable],
    predicted: Sequence[Hashable],
    labels: Sequence[Hashable] | None = None,
    weights: Sequence[Count] | None = None,
) -> Confusion:
    """How many objects of each true class were predicted as each class.

    Defines: CE-CMK

    >>> confusion_table("xxyy", "xyyy").rows()
    [[1, 1], [0, 2]]
    """
    return Confusion.of(truth, predicted, labels, weights)


def counts(confusion: Confusion, k: int) -> Tally:
    """The true and false positives and negatives of a class against the rest.

    Defines: CE-COUNTS

    >>> counts(Confusion.of("xxyyz", "xyyyx"), 1)
    Tally(tp=2, fp=1, fn=0, tn=2)
    """
    tp = confusion.diagonal(k)
    fp, fn = confusion.col[k] - tp, confusion.row[k] - tp
    return Tally(tp, fp, fn, confusion.total - tp - fp - fn)


def two_by_two(confusion: Confusion) -> tuple[tuple[Count | Real, ...], ...]:
    """The table of the positive class and the rest, the positive class first.

    Defines: CE-CM2

    >>> two_by_two(Confusion.of([1, 1, 0, 0, 0], [1, 0, 0, 0, 1]))
    ((1, 1), (1, 2))
    """
    tp, fp, fn, tn = counts(confusion, confusion.positive_class)
    return ((tp, fn), (fp, tn))


# -- right and wrong ------------------------------------------------------------------------


def true_accuracy(
    law: Mapping[tuple[Hashable, Hashable], Number], classify: Callable[[Hashable], Hashable]
) -> Real:
    """The chance that a classifier is right, where the law of objects and classes is known.

    Defines: CE-ACCTRUE

    >>> law = {("a", 0): Fraction(1, 2), ("a", 1): Fraction(1, 6), ("b", 1): Fraction(1, 3)}
    >>> true_accuracy(law, {"a": 0, "b": 1}.get)
    Real('5/6')
    """
    return total(p for (x, y), p in law.items() if classify(x) == y)


@metric("Accuracy", evidence="confusion", range=(0, 1), better="higher", symmetric=True)
def accuracy(confusion: Confusion) -> Real:
    """The share of objects whose class was predicted.

    Defines: CE-ACC

    >>> accuracy(Confusion.of("xxyy", "xyyy"))
    Real('3/4')
    """
    return real(confusion.right) / confusion.total


@metric(
    "Error rate",
    evidence="confusion",
    range=(0, 1),
    better="lower",
    symmetric=True,
    aliases=("zero_one_loss",),
)
def error_rate(confusion: Confusion) -> Real:
    """The share of objects whose class was not predicted.

    Defines: CE-ERR

    >>> error_rate(Confusion.of("xxyy", "xyyy"))
    Real('1/4')
    """
    return 1 - accuracy(confusion)


@metric(
    "Accuracy of always guessing the majority",
    evidence="confusion",
    range=(0, 1),
    better="neither",
    aliases=("no_information_rate",),
)
def majority_share(confusion: Confusion) -> Real:
    """The share of the largest true class: the accuracy of guessing it always.

    Defines: CE-MAJ

    >>> majority_share(Confusion.of("xxxyy", "xyyyx"))
    Real('3/5')
    """
    return real(max(confusion.row)) / confusion.total


@metric("Expected cost", evidence="confusion", range=(-INFINITY, INFINITY), better="lower")
def expected_cost(confusion: Confusion) -> Real:
    """What a prediction costs on average.

    Defines: CE-COST

    >>> expected_cost(Confusion.of("xxyy", "xyyy"))
    Real('1/4')
    """
    terms = (cost(confusion, *cell) * n_kl for cell, n_kl in confusion.cells())
    return total(terms) / confusion.total


def cost(confusion: Confusion, k: int, l: int) -> Fraction:  # noqa: E741  (as in the clause)
    """What it costs to predict one class where another is true; a mistake costs 1 by default.

    Spec: CE-COST

    >>> cost(Confusion.of("xxyy", "xyyy"), 0, 1)
    Fraction(1, 1)
    """
    return Fraction(int(k != l)) if confusion.costs is None else confusion.costs[k][l]


@metric("Variance of the accuracy", evidence="confusion", range=(0, 0.25), better="neither")
def accuracy_variance(confusion: Confusion) -> Real:
    """The variance of the accuracy over test sets of this size, at the accuracy reached here.

    Defines: CE-VAR

    >>> accuracy_variance(Confusion.of("xxyy", "xyyy"))
    Real('3/64')
    """
    a = accuracy(confusion)
    return a * (1 - a) / confusion.total


# -- one class against the rest -------------------------------------------------------------


def class_precision(t: Tally) -> Real:
    """The share of what was predicted to be of the class that is.

    Defines: CE-PREC

    >>> class_precision(Tally(3, 1, 2, 4))
    Real('3/4')
    """
    return ratio(t.tp, t.tp + t.fp, undefined="nothing was predicted to be of the class")


def class_recall(t: Tally) -> Real:
    """The share of the class that was predicted to be of it.

    Defines: CE-REC

    >>> class_recall(Tally(3, 1, 2, 4))
    Real('3/5')
    """
    return ratio(t.tp, t.tp + t.fn, undefined="no object is of the class")


def class_specificity(t: Tally) -> Real:
    """The share of all else that was predicted to be something else.

    Defines: CE-SPEC

    >>> class_specificity(Tally(3, 1, 2, 4))
    Real('4/5')
    """
    return ratio(t.tn, t.tn + t.fp, undefined="every object is of the class")


def class_npv(t: Tally) -> Real:
    """The share of what was predicted to be something else that is.

    Defines: CE-NPV

    >>> class_npv(Tally(3, 1, 2, 4))
    Real('2/3')
    """
    return ratio(t.tn, t.tn + t.fn, undefined="everything was predicted to be of the class")


def class_fpr(t: Tally) -> Real:
    """The share of all else that was predicted to be of the class.

    Defines: CE-FPR

    >>> class_fpr(Tally(3, 1, 2, 4))
    Real('1/5')
    """
    return ratio(t.fp, t.tn + t.fp, undefined="every object is of the class")


def class_fnr(t: Tally) -> Real:
    """The share of the class that was predicted to be something else.

    Defines: CE-FNR

    >>> class_fnr(Tally(3, 1, 2, 4))
    Real('2/5')
    """
    return ratio(t.fn, t.tp + t.fn, undefined="no object is of the class")


def class_fdr(t: Tally) -> Real:
    """The share of what was predicted to be of the class that is not.

    Defines: CE-FDR

    >>> class_fdr(Tally(3, 1, 2, 4))
    Real('1/4')
    """
    return ratio(t.fp, t.tp + t.fp, undefined="nothing was predicted to be of the class")


def class_for(t: Tally) -> Real:
    """The share of what was predicted to be something else that is of the class.

    Defines: CE-FOR

    >>> class_for(Tally(3, 1, 2, 4))
    Real('1/3')
    """
    return ratio(t.fn, t.tn + t.fn, undefined="everything was predicted to be of the class")


def class_f1(t: Tally) -> Real:
    """The harmonic mean of precision and recall, from the counts.

    Defines: CE-F1

    >>> class_f1(Tally(3, 1, 2, 4))
    Real('2/3')
    """
    return ratio(2 * t.tp, 2 * t.tp + t.fp + t.fn, undefined=NEITHER)


def class_f_beta(t: Tally, beta: Number) -> Real:
    """The harmonic mean in which recall counts β² times as much as precision.

    Defines: CE-FBETA

    >>> class_f_beta(Tally(3, 1, 2, 4), 2)
    Real('5/8')
    """
    b = real(beta) ** 2
    return ratio((1 + b) * t.tp, (1 + b) * t.tp + b * t.fn + t.fp, undefined=NEITHER)


def class_overlap(t: Tally) -> Real:
    """The share of what is or was predicted to be of the class that is both.

    Defines: CE-JACC

    >>> class_overlap(Tally(3, 1, 2, 4))
    Real('1/2')
    """
    return ratio(t.tp, t.tp + t.fp + t.fn, undefined=NEITHER)


def class_lr_positive(t: Tally) -> Real:
    """How much likelier a positive prediction is for the class than for all else.

    Defines: CE-LRPOS

    >>> class_lr_positive(Tally(3, 1, 2, 4))
    Real('3')
    """
    return ratio(t.tp * (t.fp + t.tn), t.fp * (t.tp + t.fn), undefined=NO_RATES)


def class_lr_negative(t: Tally) -> Real:
    """How much likelier a negative prediction is for the class than for all else.

    Defines: CE-LRNEG

    >>> class_lr_negative(Tally(3, 1, 2, 4))
    Real('1/2')
    """
    return ratio(t.fn * (t.fp + t.tn), t.tn * (t.tp + t.fn), undefined=NO_RATES)


def class_odds_ratio(t: Tally) -> Real:
    """The odds of a positive prediction for the class over those for all else.

    Defines: CE-DOR

    >>> class_odds_ratio(Tally(3, 1, 2, 4))
    Real('6')
    """
    return ratio(t.tp * t.tn, t.fp * t.fn, undefined=NO_RATES)


def class_youden(t: Tally) -> Real:
    """Recall and specificity, less one.

    Defines: CE-YOUDEN

    >>> class_youden(Tally(3, 1, 2, 4))
    Real('2/5')
    """
    return class_recall(t) + class_specificity(t) - 1


def class_markedness(t: Tally) -> Real:
    """Precision and negative predictive value, less one.

    Defines: CE-MARK

    >>> class_markedness(Tally(3, 1, 2, 4))
    Real('5/12')
    """
    return class_precision(t) + class_npv(t) - 1


NEITHER: Final = "no object is or was predicted to be of the class"
NO_RATES: Final = "a rate is zero, or has no object to be counted on"

# -- averages -------------------------------------------------------------------------------


def micro_precision(tallies: Iterable[Tally]) -> Real:
    """Precision of the counts of all classes together.

    Defines: CE-MICROP

    >>> micro_precision(Confusion.of("xxyy", "xyyy").tallies())
    Real('3/4')
    """
    return class_precision(pooled(tallies))


def micro_recall(tallies: Iterable[Tally]) -> Real:
    """Recall of the counts of all classes together.

    Defines: CE-MICROR

    >>> micro_recall(Confusion.of("xxyy", "xyyy").tallies())
    Real('3/4')
    """
    return class_recall(pooled(tallies))


def micro_f1(tallies: Iterable[Tally]) -> Real:
    """The harmonic mean of micro precision and micro recall, from the counts.

    Defines: CE-MICROF1

    >>> micro_f1(Confusion.of("xxyy", "xyyy").tallies())
    Real('3/4')
    """
    return class_f1(pooled(tallies))


def class_scores(confusion: Confusion) -> tuple[tuple[Real, Real], ...]:
    """Precision and recall of each class against the rest.

    Defines: CE-CLASSPR

    >>> class_scores(Confusion.of("xxyy", "xyyy"))
    ((Real('1'), Real('1/2')), (Real('2/3'), Real('1')))
    """
    return tuple((class_precision(t), class_recall(t)) for t in confusion.tallies())


def pooled(tallies: Iterable[Tally]) -> Tally:
    """The counts of several classes together.

    Spec: CE-MICROP

    >>> pooled([Tally(1, 2, 3, 4), Tally(1, 0, 0, 1)])
    Tally(tp=2, fp=2, fn=3, tn=5)
    """
    tp, fp, fn, tn = map(sum, zip(*tallies, strict=True))
    return Tally(tp, fp, fn, tn)


def mean_over(parts: Iterable[MeanMember], quotient: Quotient, zero_division: str) -> Real:
    """The weighted mean of a quotient over classes, or over objects.

    Defines: CE-AVERAGE

    >>> parts = [(1, Tally(1, 0, 1, 2), "x"), (3, Tally(2, 1, 0, 1), "y")]
    >>> mean_over(parts, class_precision, "undefined")
    Real('3/4')
    """
    # What weighs nothing does not count; where all weigh nothing, a rule for 0/0 is a plain mean.
    counting = [part for part in parts if part[0] or zero_division != "undefined"]
    values = [(w, value_of(tally, quotient, zero_division, name)) for w, tally, name in counting]
    present = [(w, q) for w, q in values if q is not None]
    kept = [(w, q) for w, q in present if w] or [(1, q) for _, q in present]
    mass = sum(w for w, _ in kept)
    terms = total(q if w == 1 else w * q for w, q in kept)
    return ratio(terms, mass, undefined="no member of the mean counts")


def value_of(tally: Tally, quotient: Quotient, zero_division: str, name: str = "") -> Real | None:
    """The quotient of a class, or what stands in its place where it is 0/0.

    Defines: CE-ZERO

    >>> absent, missed = Tally(0, 0, 0, 3), Tally(0, 0, 1, 2)
    >>> [value_of(missed, class_precision, rule) for rule in ("0", "1", "skip", "present")]
    [Real('0'), Real('1'), None, Real('0')]
    >>> value_of(absent, class_precision, "present") is None
    True
    """
    try:
        return shown_as(quotient(counts_named(tally, name)), name)
    except Undefined as missing:
        if zero_division == "undefined" or isinf(missing.value):
            place = f" ({name})" if name else ""
            raise Undefined(missing.reason + place, missing.value) from None
        absent = tally.tp + tally.fp + tally.fn == 0
        if zero_division == "skip" or (zero_division == "present" and absent):
            return None
        return real(int(zero_division == "1"))


def averaged(confusion: Confusion, quotient: Quotient, average: str, zero_division: str) -> Real:
    """A quotient of the positive class, of all classes together, or its mean over classes.

    Spec: CE-AVERAGE, CE-ZERO, CE-POSITIVE

    >>> averaged(Confusion.of("xxyy", "xyyy"), class_recall, "macro", "undefined")
    Real('3/4')
    """
    if average == "binary":
        return alone(counts(confusion, confusion.positive_class), quotient, zero_division)
    tallies = confusion.tallies()
    if average == "micro":
        return alone(pooled(tallies), quotient, zero_division)
    weights = [1 if average == "macro" else confusion.row[k] for k in range(len(tallies))]
    names = [str(label) for label in confusion.labels[: len(tallies)]]
    return mean_over(zip(weights, tallies, names, strict=True), quotient, zero_division)


def alone(tally: Tally, quotient: Quotient, zero_division: str) -> Real:
    """A quotient that no mean is taken of; leaving it out leaves nothing.

    Spec: CE-ZERO

    >>> alone(Tally(0, 0, 1, 2), class_precision, "0")
    Real('0')
    """
    value = value_of(tally, quotient, zero_division)
    return quotient(tally) if value is None else value


def counts_named(tally: Tally, name: str) -> Tally:
    """The counts under the names that a derivation shows.

    Spec: CE-COUNTS

    >>> counts_named(Tally(1, 2, 3, 4), "x").fp
    Real('2')
    """
    place = f"({name})" if name else ""
    tp, fp, fn, tn = (
        real(count).named(sign + place)
        for count, sign in zip(tally, ("TP", "FP", "FN", "TN"), strict=True)
    )
    return Tally(tp, fp, fn, tn)


def shown_as(value: Real, name: str) -> Real:
    """The value of a class under the name that a derivation shows.

    Spec: CE-AVERAGE

    >>> shown_as(real(1), "x")
    Real('1')
    """
    return value.named(f"q({name})") if name else value


# -- metrics of a class, or averaged over classes ---------------------------------------------


@metric(
    "Precision",
    evidence="confusion",
    range=(0, 1),
    better="higher",
    aliases=("positive_predictive_value", "ppv"),
    choices=CLASSES,
    needs=POSITIVE,
    variants={"average": {"micro": "CE-MICROP", "macro": "CE-AVERAGE", "weighted": "CE-AVERAGE"}},
)
def precision(
    confusion: Confusion, *, average: str = "binary", zero_division: str = "undefined"
) -> Real:
    """Precision of the positive class, or averaged over classes.

    Spec: CE-PREC, CE-MICROP, CE-AVERAGE

    >>> precision(Confusion.of("xxyyy", "xyyyx"), average="macro")
    Real('7/12')
    """
    return averaged(confusion, class_precision, average, zero_division)


@metric(
    "Recall",
    evidence="confusion",
    range=(0, 1),
    better="higher",
    aliases=("sensitivity", "true_positive_rate"),
    choices=CLASSES,
    needs=POSITIVE,
    variants={"average": {"micro": "CE-MICROR", "macro": "CE-AVERAGE", "weighted": "CE-AVERAGE"}},
)
def recall(
    confusion: Confusion, *, average: str = "binary", zero_division: str = "undefined"
) -> Real:
    """Recall of the positive class, or averaged over classes.

    Spec: CE-REC, CE-MICROR, CE-AVERAGE

    >>> recall(Confusion.of("xxyyy", "xyyyx"), average="macro")
    Real('7/12')
    """
    return averaged(confusion, class_recall, average, zero_division)


@metric(
    "Specificity",
    evidence="confusion",
    range=(0, 1),
    better="higher",
    aliases=("true_negative_rate",),
    choices=CLASSES,
    needs=POSITIVE,
    variants={"average": {"macro": "CE-AVERAGE", "weighted": "CE-AVERAGE"}},
)
def specificity(
    confusion: Confusion, *, average: str = "binary", zero_division: str = "undefined"
) -> Real:
    """Specificity of the positive class, or averaged over classes.

    Spec: CE-SPEC, CE-AVERAGE

    >>> specificity(Confusion.of("xxyyy", "xyyyx"), average="macro")
    Real('7/12')
    """
    return averaged(confusion, class_specificity, average, zero_division)


@metric(
    "Negative predictive value",
    evidence="confusion",
    range=(0, 1),
    better="higher",
    aliases=("npv",),
    choices=CLASSES,
    needs=POSITIVE,
    variants={"average": {"macro": "CE-AVERAGE", "weighted": "CE-AVERAGE"}},
)
def negative_predictive_value(
    confusion: Confusion, *, average: str = "binary", zero_division: str = "undefined"
) -> Real:
    """Negative predictive value of the positive class, or averaged over classes.

    Spec: CE-NPV, CE-AVERAGE

    >>> negative_predictive_value(Confusion.of("xxyyy", "xyyyx"), average="macro")
    Real('7/12')
    """
    return averaged(confusion, class_npv, average, zero_division)


@metric(
    "False positive rate",
    evidence="confusion",
    range=(0, 1),
    better="lower",
    aliases=("fall_out",),
    choices=CLASSES,
    needs=POSITIVE,
    variants={"average": {"macro": "CE-AVERAGE", "weighted": "CE-AVERAGE"}},
)
def false_positive_rate(
    confusion: Confusion, *, average: str = "binary", zero_division: str = "undefined"
) -> Real:
    """False positive rate of the positive class, or averaged over classes.

    Spec: CE-FPR, CE-AVERAGE

    >>> false_positive_rate(Confusion.of("xxyyy", "xyyyx"), average="macro")
    Real('5/12')
    """
    return averaged(confusion, class_fpr, average, zero_division)


@metric(
    "False negative rate",
    evidence="confusion",
    range=(0, 1),
    better="lower",
    aliases=("miss_rate",),
    choices=CLASSES,
    needs=POSITIVE,
    variants={"average": {"macro": "CE-AVERAGE", "weighted": "CE-AVERAGE"}},
)
def false_negative_rate(
    confusion: Confusion, *, average: str = "binary", zero_division: str = "undefined"
) -> Real:
    """False negative rate of the positive class, or averaged over classes.

    Spec: CE-FNR, CE-AVERAGE

    >>> false_negative_rate(Confusion.of("xxyyy", "xyyyx"), average="macro")
    Real('5/12')
    """
    return averaged(confusion, class_fnr, average, zero_division)


@metric(
    "False discovery rate",
    evidence="confusion",
    range=(0, 1),
    better="lower",
    choices=CLASSES,
    needs=POSITIVE,
    variants={"average": {"macro": "CE-AVERAGE", "weighted": "CE-AVERAGE"}},
)
def false_discovery_rate(
    confusion: Confusion, *, average: str = "binary", zero_division: str = "undefined"
) -> Real:
    """False discovery rate of the positive class, or averaged over classes.

    Spec: CE-FDR, CE-AVERAGE

    >>> false_discovery_rate(Confusion.of("xxyyy", "xyyyx"), average="macro")
    Real('5/12')
    """
    return averaged(confusion, class_fdr, average, zero_division)


@metric(
    "False omission rate",
    evidence="confusion",
    range=(0, 1),
    better="lower",
    choices=CLASSES,
    needs=POSITIVE,
    variants={"average": {"macro": "CE-AVERAGE", "weighted": "CE-AVERAGE"}},
)
def false_omission_rate(
    confusion: Confusion, *, average: str = "binary", zero_division: str = "undefined"
) -> Real:
    """False omission rate of the positive class, or averaged over classes.

    Spec: CE-FOR, CE-AVERAGE

    >>> false_omission_rate(Confusion.of("xxyyy", "xyyyx"), average="macro")
    Real('5/12')
    """
    return averaged(confusion, class_for, average, zero_division)


@metric(
    "F1",
    evidence="confusion",
    range=(0, 1),
    better="higher",
    symmetric=True,
    choices=CLASSES,
    needs=POSITIVE,
    variants={"average": {"micro": "CE-MICROF1", "macro": "CE-AVERAGE", "weighted": "CE-AVERAGE"}},
)
def f1(confusion: Confusion, *, average: str = "binary", zero_division: str = "undefined") -> Real:
    """F1 of the positive class, or averaged over classes.

    Spec: CE-F1, CE-MICROF1, CE-AVERAGE

    >>> f1(Confusion.of("xxyyy", "xyyyx"), average="macro")
    Real('7/12')
    """
    return averaged(confusion, class_f1, average, zero_division)


@metric(
    "F-measure with weight β",
    evidence="confusion",
    range=(0, 1),
    better="higher",
    choices=CLASSES,
    needs=POSITIVE,
    variants={"average": {"macro": "CE-AVERAGE", "weighted": "CE-AVERAGE"}},
)
def f_beta(
    confusion: Confusion,
    *,
    beta: Rational = 1,
    average: str = "binary",
    zero_division: str = "undefined",
) -> Real:
    """F-measure of the positive class, or averaged over classes.

    Spec: CE-FBETA, CE-AVERAGE

    >>> f_beta(Confusion.of("xxyyy", "xyyyx"), average="macro")
    Real('7/12')
    """
    if beta < 0:
        raise BadOption(f"f_beta: beta={shown(beta)} must not be negative")
    return averaged(confusion, lambda t: class_f_beta(t, beta), average, zero_division)


@metric(
    "Jaccard index of classes",
    evidence="confusion",
    range=(0, 1),
    better="higher",
    symmetric=True,
    aliases=("threat_score", "critical_success_index"),
    choices=CLASSES,
    needs=POSITIVE,
    variants={"average": {"macro": "CE-AVERAGE", "weighted": "CE-AVERAGE"}},
)
def class_jaccard(
    confusion: Confusion, *, average: str = "binary", zero_division: str = "undefined"
) -> Real:
    """Jaccard index of the positive class, or averaged over classes.

    Spec: CE-JACC, CE-AVERAGE

    >>> class_jaccard(Confusion.of("xxyyy", "xyyyx"), average="macro")
    Real('5/12')
    """
    return averaged(confusion, class_overlap, average, zero_division)


@metric(
    "Positive likelihood ratio",
    evidence="confusion",
    range=(0, INFINITY),
    better="higher",
    aliases=("lr_plus",),
    choices=CLASSES,
    needs=POSITIVE,
    variants={"average": {"macro": "CE-AVERAGE", "weighted": "CE-AVERAGE"}},
)
def positive_likelihood_ratio(
    confusion: Confusion, *, average: str = "binary", zero_division: str = "undefined"
) -> Real:
    """Positive likelihood ratio of the positive class, or averaged over classes.

    Spec: CE-LRPOS, CE-AVERAGE

    >>> positive_likelihood_ratio(Confusion.of("xxyyy", "xyyyx"), average="macro")
    Real('17/12')
    """
    return averaged(confusion, class_lr_positive, average, zero_division)


@metric(
    "Negative likelihood ratio",
    evidence="confusion",
    range=(0, INFINITY),
    better="lower",
    aliases=("lr_minus",),
    choices=CLASSES,
    needs=POSITIVE,
    variants={"average": {"macro": "CE-AVERAGE", "weighted": "CE-AVERAGE"}},
)
def negative_likelihood_ratio(
    confusion: Confusion, *, average: str = "binary", zero_division: str = "undefined"
) -> Real:
    """Negative likelihood ratio of the positive class, or averaged over classes.

    Spec: CE-LRNEG, CE-AVERAGE

    >>> negative_likelihood_ratio(Confusion.of("xxyyy", "xyyyx"), average="macro")
    Real('17/24')
    """
    return averaged(confusion, class_lr_negative, average, zero_division)


@metric(
    "Diagnostic odds ratio",
    evidence="confusion",
    range=(0, INFINITY),
    better="higher",
    symmetric=True,
    aliases=("dor",),
    choices=CLASSES,
    needs=POSITIVE,
    variants={"average": {"macro": "CE-AVERAGE", "weighted": "CE-AVERAGE"}},
)
def diagnostic_odds_ratio(
    confusion: Confusion, *, average: str = "binary", zero_division: str = "undefined"
) -> Real:
    """Diagnostic odds ratio of the positive class, or averaged over classes.

    Spec: CE-DOR, CE-AVERAGE

    >>> diagnostic_odds_ratio(Confusion.of("xxyyy", "xyyyx"), average="macro")
    Real('2')
    """
    return averaged(confusion, class_odds_ratio, average, zero_division)


@metric(
    "Youden's J",
    evidence="confusion",
    range=(-1, 1),
    better="higher",
    aliases=("informedness",),
    choices=CLASSES,
    needs=POSITIVE,
    variants={"average": {"macro": "CE-AVERAGE", "weighted": "CE-AVERAGE"}},
)
def youden(
    confusion: Confusion, *, average: str = "binary", zero_division: str = "undefined"
) -> Real:
    """Youden's J of the positive class, or averaged over classes.

    Spec: CE-YOUDEN, CE-AVERAGE

    >>> youden(Confusion.of("xxyyy", "xyyyx"), average="macro")
    Real('1/6')
    """
    return averaged(confusion, class_youden, average, zero_division)


@metric(
    "Markedness",
    evidence="confusion",
    range=(-1, 1),
    better="higher",
    choices=CLASSES,
    needs=POSITIVE,
    variants={"average": {"macro": "CE-AVERAGE", "weighted": "CE-AVERAGE"}},
)
def markedness(
    confusion: Confusion, *, average: str = "binary", zero_division: str = "undefined"
) -> Real:
    """Markedness of the positive class, or averaged over classes.

    Spec: CE-MARK, CE-AVERAGE

    >>> markedness(Confusion.of("xxyyy", "xyyyx"), average="macro")
    Real('1/6')
    """
    return averaged(confusion, class_markedness, average, zero_division)


# -- metrics of all classes -------------------------------------------------------------------


@metric(
    "Mean F1 of the classes",
    evidence="confusion",
    range=(0, 1),
    better="higher",
    symmetric=True,
    choices={"zero_division": ZERO_DIVISIONS},
)
def macro_f1(confusion: Confusion, *, zero_division: str = "undefined") -> Real:
    """The mean of the F1 of the classes.

    Defines: CE-MACROF1

    >>> macro_f1(Confusion.of([0, 0, 0, 1, 2], [0, 1, 0, 1, 1]))
    Real('13/30')
    """
    return averaged(confusion, class_f1, "macro", zero_division)


@metric(
    "F1 of mean precision and mean recall",
    evidence="confusion",
    range=(0, 1),
    better="higher",
    symmetric=True,
    choices={"zero_division": ZERO_DIVISIONS},
)
def f1_of_means(confusion: Confusion, *, zero_division: str = "undefined") -> Real:
    """The harmonic mean of the mean precision and the mean recall of the classes.

    Defines: CE-F1MEANS

    >>> f1_of_means(Confusion.of([0, 0, 0, 1, 2], [0, 1, 0, 1, 1]), zero_division="0")
    Real('40/81')
    """
    p = averaged(confusion, class_precision, "macro", zero_division).named("P")
    r = averaged(confusion, class_recall, "macro", zero_division).named("R")
    return ratio(2 * p * r, p + r, undefined="no class was ever predicted rightly")


@metric(
    "Balanced accuracy",
    evidence="confusion",
    range=(-1, 1),
    better="higher",
    choices={"adjusted": ("no", "yes"), "zero_division": ZERO_DIVISIONS},
    variants={"adjusted": {"yes": "CE-BACCADJ"}},
)
def balanced_accuracy(
    confusion: Confusion, *, adjusted: str = "no", zero_division: str = "undefined"
) -> Real:
    """The mean recall of the classes, as it is or adjusted for chance.

    Spec: CE-BACC, CE-BACCADJ

    >>> balanced_accuracy(Confusion.of("xxyyy", "xyyyx"), adjusted="yes")
    Real('1/6')
    """
    b = mean_recall(confusion, zero_division)
    if adjusted == "no":
        return b
    recalls = [value_of(tally, class_recall, zero_division) for tally in confusion.tallies()]
    return above_chance(b, sum(recall is not None for recall in recalls))


def mean_recall(confusion: Confusion, zero_division: str = "undefined") -> Real:
    """The mean recall of the classes.

    Defines: CE-BACC

    >>> mean_recall(Confusion.of("xxyyy", "xyyyx"))
    Real('7/12')
    """
    return averaged(confusion, class_recall, "macro", zero_division)


def above_chance(b: Number, r: int) -> Real:
    """Balanced accuracy over r classes, so that guessing has 0 and being right 1.

    Defines: CE-BACCADJ

    >>> above_chance(Fraction(3, 4), 2)
    Real('1/2')
    """
    chance = Fraction(1, r)
    return ratio(real(b) - chance, 1 - chance, undefined="there is one class only")


@metric(
    "Geometric mean of the recalls of the classes",
    evidence="confusion",
    range=(0, 1),
    better="higher",
    aliases=("geometric_mean",),
)
def g_mean(confusion: Confusion) -> Real:
    """The geometric mean of the recalls of the classes.

    Defines: CE-GMEAN

    >>> g_mean(Confusion.of("xxyyy", "xyyyx")) == sqrt(Fraction(1, 3))
    True
    """
    recalls = [alone(tally, class_recall, "undefined") for tally in confusion.tallies()]
    product = prod(recalls, start=real(1))
    if product.sign() == 0:
        return real(0)
    return sqrt(product) if len(recalls) == 2 else exp(log(product) / len(recalls))


@metric(
    "Cohen's kappa",
    evidence="confusion",
    range=(-1, 1),
    better="higher",
    symmetric=True,
    aliases=("cohen_kappa",),
    choices={"weighting": ("none", "linear", "quadratic"), "order": ("meant", "any")},
    variants={"weighting": {"linear": "CE-KAPPAW", "quadratic": "CE-KAPPAW"}},
)
def kappa(confusion: Confusion, *, weighting: str = "none", order: str = "meant") -> Real:
    """Agreement of prediction and truth beyond chance, near misses weighted or not.

    Spec: CE-KAPPA, CE-KAPPAW

    >>> kappa(Confusion.of("xxyyy", "xyyyx"))
    Real('1/6')
    """
    if weighting == "none":
        return cohen_kappa(confusion)
    if order == "meant" and not confusion.in_order:
        raise BadOption(
            f"near misses need an order of the classes {confusion.names()} that means something: "
            "say labels=… in their order"
        )
    return weighted_kappa(confusion, 1 if weighting == "linear" else 2)


def cohen_kappa(confusion: Confusion) -> Real:
    """Agreement beyond what the margins would give by chance.

    Defines: CE-KAPPA

    >>> cohen_kappa(Confusion.of("xxyyy", "xyyyx"))
    Real('1/6')
    """
    n = confusion.total
    p_o = (real(confusion.right) / n).named("p_o")
    agreed = total(a * b for a, b in zip(confusion.row, confusion.col, strict=True))
    p_e = (agreed / real(n) ** 2).named("p_e")
    return ratio(p_o - p_e, 1 - p_e, undefined="chance alone agrees everywhere")


def weighted_kappa(confusion: Confusion, power: int) -> Real:
    """Agreement beyond chance, where a miss by several places counts more than a near one.

    Defines: CE-KAPPAW

    >>> weighted_kappa(Confusion.of([1, 1, 2, 3], [1, 2, 2, 1]), 2)
    Real('-1/4')
    """
    missed = total(abs(k - l) ** power * n_kl for (k, l), n_kl in confusion.cells())  # noqa: E741
    expected = total(
        abs(k - l) ** power * a * b
        for k, a in enumerate(confusion.row)
        for l, b in enumerate(confusion.col)  # noqa: E741
    )
    share = ratio(confusion.total * missed, expected, undefined="chance alone agrees everywhere")
    return 1 - share


@metric(
    "Matthews correlation",
    evidence="confusion",
    range=(-1, 1),
    better="higher",
    symmetric=True,
    aliases=("matthews_correlation", "phi_coefficient"),
)
def mcc(confusion: Confusion) -> Real:
    """The correlation of the indicators of true and predicted classes, of any number of classes.

    Defines: CE-MCC

    >>> mcc(Confusion.of([0, 0, 1, 1, 1], [0, 1, 1, 1, 0]))
    Real('1/6')
    """
    n, s = real(confusion.total), confusion.right
    agreed = total(a * b for a, b in zip(confusion.row, confusion.col, strict=True))
    true = (n**2 - total(a**2 for a in confusion.row)).named("T")
    predicted = (n**2 - total(b**2 for b in confusion.col)).named("P")
    return ratio(n * s - agreed, sqrt(true * predicted), undefined="a side has one class only")


# -- objects with several labels --------------------------------------------------------------


def object_tally(sets: LabelSets, i: int) -> Tally:
    """The labels of an object: predicted and true, predicted only, true only, neither.

    Defines: CE-SETS

    >>> object_tally(LabelSets.of([{"a", "b"}], [{"a"}]), 0)
    Tally(tp=1, fp=0, fn=1, tn=0)
    """
    y, z = sets.truth[i], sets.predicted[i]
    return Tally(len(y & z), len(z - y), len(y - z), len(sets.labels) - len(y | z))


@metric("Hamming loss", evidence="label_sets", range=(0, 1), better="lower", symmetric=True)
def hamming_loss(sets: LabelSets) -> Real:
    """The share of labels of objects that are predicted and not true, or true and not predicted.

    Defines: CE-HAMMING

    >>> hamming_loss(LabelSets.of([{"a", "b"}, {"b"}], [{"a"}, {"b"}]))
    Real('1/4')
    """
    wrong = total(
        sets.weight(i) * len(y ^ z)
        for i, (y, z) in enumerate(zip(sets.truth, sets.predicted, strict=True))
    )
    return ratio(wrong, sets.total * len(sets.labels), undefined="there is no label")


@metric("Subset accuracy", evidence="label_sets", range=(0, 1), better="higher", symmetric=True)
def subset_accuracy(sets: LabelSets) -> Real:
    """The share of objects whose labels were all predicted, and no other.

    Defines: CE-SUBSET

    >>> subset_accuracy(LabelSets.of([{"a", "b"}, {"b"}], [{"a"}, {"b"}]))
    Real('1/2')
    """
    exact = [y == z for y, z in zip(sets.truth, sets.predicted, strict=True)]
    return total(sets.weight(i) for i, equal in enumerate(exact) if equal) / sets.total


def over_sets(sets: LabelSets, quotient: Quotient, average: str, zero_division: str) -> Real:
    """A quotient averaged over objects, or over labels, or of all labels together.

    Defines: CE-SAMPLES

    >>> sets = LabelSets.of([{"a", "b"}, {"b"}], [{"a"}, {"b"}])
    >>> over_sets(sets, class_recall, "samples", "undefined")
    Real('3/4')
    """
    if average == "samples":
        objects = [(sets.weight(i), object_tally(sets, i)) for i in range(len(sets.truth))]
        parts = [(w, tally, f"object {i}") for i, (w, tally) in enumerate(objects)]
        return mean_over(parts, quotient, zero_division)
    tallies = sets.tallies()
    if average == "micro":
        return alone(pooled(tallies), quotient, zero_division)
    weights = [1 if average == "macro" else sets.support(k) for k in range(len(tallies))]
    names = map(str, sets.labels)
    return mean_over(zip(weights, tallies, names, strict=True), quotient, zero_division)


@metric(
    "Precision of sets of labels",
    evidence="label_sets",
    range=(0, 1),
    better="higher",
    choices=SETS,
)
def set_precision(
    sets: LabelSets, *, average: str = "samples", zero_division: str = "undefined"
) -> Real:
    """The share of the predicted labels that are true, averaged.

    Spec: CE-SAMPLES, CE-PREC

    >>> set_precision(LabelSets.of([{"a", "b"}, {"b"}], [{"a"}, {"b"}]))
    Real('1')
    """
    return over_sets(sets, class_precision, average, zero_division)


@metric(
    "Recall of sets of labels",
    evidence="label_sets",
    range=(0, 1),
    better="higher",
    choices=SETS,
)
def set_recall(
    sets: LabelSets, *, average: str = "samples", zero_division: str = "undefined"
) -> Real:
    """The share of the true labels that were predicted, averaged.

    Spec: CE-SAMPLES, CE-REC

    >>> set_recall(LabelSets.of([{"a", "b"}, {"b"}], [{"a"}, {"b"}]))
    Real('3/4')
    """
    return over_sets(sets, class_recall, average, zero_division)


@metric(
    "F-measure of sets of labels",
    evidence="label_sets",
    range=(0, 1),
    better="higher",
    choices=SETS,
)
def set_f(
    sets: LabelSets,
    *,
    beta: Rational = 1,
    average: str = "samples",
    zero_division: str = "undefined",
) -> Real:
    """The F-measure of predicted labels, averaged.

    Spec: CE-SAMPLES, CE-FBETA

    >>> set_f(LabelSets.of([{"a", "b"}, {"b"}], [{"a"}, {"b"}]))
    Real('5/6')
    """
    if beta < 0:
        raise BadOption(f"set_f: beta={shown(beta)} must not be negative")
    return over_sets(sets, lambda t: class_f_beta(t, beta), average, zero_division)


@metric(
    "Jaccard index of sets of labels",
    evidence="label_sets",
    range=(0, 1),
    better="higher",
    symmetric=True,
    choices=SETS,
)
def set_jaccard(
    sets: LabelSets, *, average: str = "samples", zero_division: str = "undefined"
) -> Real:
    """The share of true or predicted labels that are both, averaged.

    Spec: CE-SAMPLES, CE-JACC

    >>> set_jaccard(LabelSets.of([{"a", "b"}, {"b"}], [{"a"}, {"b"}]))
    Real('3/4')
    """
    return over_sets(sets, class_overlap, average, zero_division)
