"""What golden vectors ask about chapters 50 and 52 beside their metrics."""

from __future__ import annotations

from typing import Any

from refclust.formulas import classification, probabilities
from refclust.formulas.confusion import Confusion, LabelSets
from refclust.formulas.judged import Probabilities
from refclust.metrics.calls.confusions import confusion
from refclust.vectors.runners.functions.table import Functions


def _true_accuracy(law: list[list[Any]], decisions: list[int]) -> Any:
    chances = {(x, y): p for x, y, p in law}
    return classification.true_accuracy(chances, lambda x: decisions[x])  # type: ignore[call-overload]


def _counted(table: list[list[Any]]) -> Confusion:
    """The table of objects that are listed one by one, as often as it says."""
    cells = [(i, j, n) for i, row in enumerate(table) for j, n in enumerate(row)]
    truth, predicted, weights = zip(*cells, strict=True)
    return classification.confusion_table(truth, predicted, range(len(table)), weights)


def _object_tallies(
    sets_true: list[list[int]], sets_pred: list[list[int]], labels: list[int]
) -> Any:
    sets = LabelSets.of(list(map(set, sets_true)), list(map(set, sets_pred)), labels)
    return [classification.object_tally(sets, i) for i in range(len(sets_true))]


FUNCTIONS: Functions = {
    "rows": (lambda table: _counted(table).rows(), ("confusion",)),
    "tallies": (
        lambda rows: [classification.counts(confusion(rows), k) for k in range(len(rows))],
        ("confusion",),
    ),
    "two_by_two": (lambda rows: classification.two_by_two(confusion(rows)), ("confusion",)),
    "class_scores": (lambda rows: classification.class_scores(confusion(rows)), ("confusion",)),
    "micro_precision": (
        lambda rows: classification.micro_precision(confusion(rows).tallies()),
        ("confusion",),
    ),
    "micro_recall": (
        lambda rows: classification.micro_recall(confusion(rows).tallies()),
        ("confusion",),
    ),
    "micro_f1": (lambda rows: classification.micro_f1(confusion(rows).tallies()), ("confusion",)),
    "true_accuracy": (_true_accuracy, ("law", "decisions")),
    "object_tallies": (_object_tallies, ("sets_true", "sets_pred", "labels")),
    "reached": (
        lambda truth, scores: probabilities.reached(Probabilities.of_two(truth, scores)),
        ("truth", "scores"),
    ),
    "roc_points": (
        lambda truth, scores: probabilities.roc_points(Probabilities.of_two(truth, scores)),
        ("truth", "scores"),
    ),
    "precision_recall_points": (
        lambda truth, scores: probabilities.precision_recall_points(
            Probabilities.of_two(truth, scores)
        ),
        ("truth", "scores"),
    ),
    "bins_right": (
        lambda confidences, bins: [probabilities.bin_of(c, bins, "right") for c in confidences],
        ("confidences", "bins"),
    ),
    "bins_left": (
        lambda confidences, bins: [probabilities.bin_of(c, bins, "left") for c in confidences],
        ("confidences", "bins"),
    ),
}
