"""Metrics of scores and probabilities, as calls on them and the true classes (chapter 52)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from refclust.data.accepting.door import labels_of
from refclust.data.accepting.spellings import spelled
from refclust.data.accepting.trust import items
from refclust.errors import BadNumber, BadOption, LabelLengthMismatch, RaggedRows, WrongCount
from refclust.formulas.confusion import usual_pair
from refclust.formulas.contingency import Count, listed, ordered_labels
from refclust.formulas.judged import Probabilities
from refclust.metrics import catalogue
from refclust.metrics.calls.confusions import UNSAID
from refclust.metrics.calls.label_sets import sets_of
from refclust.metrics.catalogue import Entry, Formula
from refclust.metrics.contingency import exact_weights
from refclust.metrics.score import Score, evaluate, evaluate_all
from refclust.numbers.reading import exact_value, refuse_long, shown

__all__ = ["ProbabilityMetric", "probabilities", "probability_metric", "score_probabilities"]


@dataclass(frozen=True, slots=True)
class ProbabilityMetric:
    """A metric of scores or probabilities, ready to be called on them and the true classes."""

    entry: Entry

    @spelled
    def __call__(
        self,
        labels_true: Any,
        scores: Any = None,
        *,
        labels: Iterable[Hashable] | None = None,
        weights: Iterable[Any] | None = None,
        positive: Hashable = UNSAID,
        several: bool = False,
        profile: str | None = None,
        **options: Any,
    ) -> Score:
        """Score the scores of the positive class, or a column of them for each class."""
        evidence = probabilities(
            labels_true, scores, labels=labels, weights=weights, positive=positive, several=several
        )
        return evaluate(self.entry, evidence, options, profile=profile)

    def __repr__(self) -> str:
        return f"<refclust metric {self.entry.name}>"


def probability_metric(formula: Formula) -> ProbabilityMetric:
    """Return the metric of scores that a formula declares."""
    return ProbabilityMetric(catalogue.ENTRIES[formula.__name__])


def score_probabilities(
    labels_true: Any, scores: Any = None, *, profile: str | None = None, **keywords: Any
) -> dict[str, Score]:
    """Score probabilities with every metric that they allow, at its default options.

    Spec: CONV-SCORE
    """
    return evaluate_all(probabilities(labels_true, scores, **keywords), profile=profile)


def probabilities(
    labels_true: Any,
    scores: Any = None,
    *,
    labels: Iterable[Hashable] | None = None,
    weights: Iterable[Any] | None = None,
    positive: Hashable = UNSAID,
    several: bool = False,
) -> Probabilities:
    """Take the true classes, and scores: of the positive class, or a column for each class.

    ``labels`` names the classes of the columns, in their order; without it the classes that occur
    are sorted. With ``several``, each object has a collection of true labels.

    Spec: PB-INPUT, CE-POSITIVE

    >>> probabilities(["no", "yes"], [0.5, 0.75], positive="yes").classes
    ('yes',)
    """
    if isinstance(labels_true, Probabilities):
        if scores is not None or labels is not None or weights is not None:
            raise BadOption("scores that are evidence already take nothing beside them")
        return labels_true
    rows = _rows(scores)
    names = None if labels is None else labels_of(labels)
    truth = (
        sets_of(labels_true, "true", names)
        if several
        else [frozenset([label]) for label in labels_of(labels_true)]
    )
    if len(truth) != len(rows):
        raise LabelLengthMismatch(
            f"{len(truth)} objects have true classes and {len(rows)} have scores"
        )
    counts = None if weights is None else tuple(exact_weights(weights, len(truth)))
    seen = ordered_labels(label for label_set in truth for label in label_set)
    if not several and len(rows[0] if rows else [0]) == 1:
        classes: tuple[Hashable, ...] = (_positive(seen if names is None else names, positive),)
    elif positive is not UNSAID:
        raise BadOption("positive=… goes with scores of one class; columns are named by labels=…")
    else:
        classes = _columns(seen, names, len(rows[0]) if rows else len(seen))
    place = {label: k for k, label in enumerate(classes)}
    right = tuple(frozenset(place[y] for y in label_set if y in place) for label_set in truth)
    return _without_zeros(classes, rows, right, counts, exclusive=not several)


def _positive(classes: tuple[Hashable, ...], positive: Hashable) -> Hashable:
    """The class that one column of scores is about."""
    if positive is not UNSAID:
        return positive
    pair = usual_pair(classes)
    if pair is not None:
        return pair[1]
    few = ", ".join(map(shown, classes[:5]))
    raise BadOption(
        f"which of the classes {few} are the scores about? Say positive=…, or give a column of "
        "scores for each class"
    )


def _columns(
    seen: tuple[Hashable, ...], names: tuple[Hashable, ...] | None, width: int
) -> tuple[Hashable, ...]:
    """The classes that the columns of scores are about."""
    classes = seen if names is None else names
    if len(classes) != width:
        raise WrongCount(
            f"{width} columns of scores for {len(classes)} classes; labels=… names the class of "
            "each column"
        )
    if len(set(classes)) < len(classes):
        raise BadOption("labels names a class twice")
    strange = next((label for label in seen if label not in set(classes)), UNSAID)
    if strange is not UNSAID:
        raise BadOption(f"the true class {shown(strange)} is not among labels, so has no column")
    return classes


def _without_zeros(
    classes: tuple[Hashable, ...],
    rows: list[tuple[Fraction, ...]],
    right: tuple[frozenset[int], ...],
    counts: tuple[Count, ...] | None,
    *,
    exclusive: bool,
) -> Probabilities:
    """Leave out objects without weight."""
    kept = [i for i in range(len(rows)) if counts is None or counts[i]]
    return Probabilities(
        classes,
        tuple(rows[i] for i in kept),
        tuple(right[i] for i in kept),
        None if counts is None else tuple(counts[i] for i in kept),
        exclusive,
    )


def _rows(scores: Any) -> list[tuple[Fraction, ...]]:
    """Read scores exactly, one row for each object."""

    def refusal() -> BadNumber:
        return BadNumber(f"the scores are {shown(scores)}, not a sequence of numbers or of rows")

    rows: list[tuple[Fraction, ...]] = []
    for i, row in enumerate(items(listed(scores), refusal)):
        row = listed(row)
        is_row = hasattr(row, "__iter__") and not isinstance(row, str)
        numbers = tuple(_score(value, i) for value in (items(row, refusal) if is_row else [row]))
        if rows and len(numbers) != len(rows[0]):
            raise RaggedRows(f"object {i} has {len(numbers)} scores, object 0 has {len(rows[0])}")
        rows.append(numbers)
    refuse_long({number for row in rows for number in row}, "exact arithmetic with these scores")
    return rows


def _score(value: Any, i: int) -> Fraction:
    number = exact_value(value, f"a score of object {i}")
    if number is None:
        raise BadNumber(f"a score of object {i} is {shown(value)}, not a finite number")
    return number
