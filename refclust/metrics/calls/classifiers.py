"""Tests of significance as calls on answers of classifiers or on measurements (chapter 53)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from refclust.data.accepting.door import labels_of
from refclust.data.accepting.spellings import spelled
from refclust.data.accepting.trust import items
from refclust.errors import BadNumber, EmptyInput, LabelLengthMismatch, WrongCount
from refclust.formulas.outcomes import Measurements, Outcomes
from refclust.metrics import catalogue
from refclust.metrics.catalogue import Entry, Formula
from refclust.metrics.contingency import exact_weights
from refclust.metrics.score import Score, evaluate
from refclust.numbers.reading import exact_value, shown

__all__ = [
    "ClassifierTest",
    "TrialTest",
    "classifier_test",
    "measurements",
    "outcomes",
    "trial_test",
]


@dataclass(frozen=True, slots=True)
class ClassifierTest:
    """A test of classifiers on one test set, ready to be called on the truth and their answers."""

    entry: Entry

    @spelled
    def __call__(
        self,
        labels_true: Any,
        *predictions: Any,
        weights: Iterable[Any] | None = None,
        profile: str | None = None,
        **options: Any,
    ) -> Score:
        """Compare the answers of two or more classifiers to the same objects."""
        evidence = outcomes(labels_true, *predictions, weights=weights)
        return evaluate(self.entry, evidence, options, profile=profile)

    def __repr__(self) -> str:
        return f"<refclust metric {self.entry.name}>"


@dataclass(frozen=True, slots=True)
class TrialTest:
    """A test of methods over several trials, ready to be called on what each of them reached."""

    entry: Entry

    @spelled
    def __call__(self, *methods: Any, profile: str | None = None, **options: Any) -> Score:
        """Compare what two or more methods reached in the same trials."""
        return evaluate(self.entry, measurements(*methods), options, profile=profile)

    def __repr__(self) -> str:
        return f"<refclust metric {self.entry.name}>"


def classifier_test(formula: Formula) -> ClassifierTest:
    """Return the test of classifiers that a formula declares."""
    return ClassifierTest(catalogue.ENTRIES[formula.__name__])


def trial_test(formula: Formula) -> TrialTest:
    """Return the test of measurements that a formula declares."""
    return TrialTest(catalogue.ENTRIES[formula.__name__])


def outcomes(
    labels_true: Any,
    *predictions: Any,
    weights: Iterable[Any] | None = None,
    names: Sequence[str] | None = None,
) -> Outcomes:
    """Count what classifiers said of the same objects.

    Spec: CONV-EVIDENCE, ST-MCNTAB

    >>> outcomes("xxyy", "xxyx", "xyyx").rights
    (3, 2)
    """
    truth = labels_of(labels_true)
    if not truth:
        raise EmptyInput("there is no object to compare classifiers on")
    if len(predictions) < 2:
        raise WrongCount(f"{len(predictions)} classifiers; at least 2 are compared")
    answers = [labels_of(labels) for labels in predictions]
    for place, labels in enumerate(answers, start=1):
        if len(labels) != len(truth):
            raise LabelLengthMismatch(
                f"classifier {place} has {len(labels)} answers for {len(truth)} objects"
            )
    counts = None if weights is None else exact_weights(weights, len(truth))
    return Outcomes.of(truth, answers, names=names, weights=counts)


def measurements(*methods: Any, names: Sequence[str] | None = None) -> Measurements:
    """What each method reached, trial by trial.

    Spec: CONV-EVIDENCE, ST-TTEST

    >>> measurements([1, 2], [0.5, 2]).values[0]
    (Fraction(1, 1), Fraction(1, 2))
    """
    if len(methods) < 2:
        raise WrongCount(f"{len(methods)} methods; at least 2 are compared")
    columns = [_numbers(values, place) for place, values in enumerate(methods, start=1)]
    if not columns[0]:
        raise EmptyInput("there is no trial to compare methods on")
    for place, column in enumerate(columns, start=1):
        if len(column) != len(columns[0]):
            raise LabelLengthMismatch(
                f"method {place} has {len(column)} trials, method 1 has {len(columns[0])}"
            )
    return Measurements.of(list(zip(*columns, strict=True)), names)


def _numbers(values: Any, place: int) -> list[Any]:
    listed = values.tolist() if hasattr(values, "tolist") else values

    def refusal() -> BadNumber:
        return BadNumber(f"method {place} is {shown(values)}, not a sequence of numbers")

    numbers = []
    for trial, value in enumerate(items(listed, refusal)):
        number = exact_value(value, f"trial {trial} of method {place}")
        if number is None:
            raise BadNumber(f"trial {trial} of method {place} is {shown(value)}, not a number")
        numbers.append(number)
    return numbers
