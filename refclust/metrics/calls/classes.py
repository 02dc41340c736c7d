"""What metrics say of each class by itself, and the report of all classes (chapters 50 and 52)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final

from refclust.data.accepting.spellings import spelled
from refclust.errors import BadOption
from refclust.formulas.confusion import Confusion, LabelSets
from refclust.formulas.contingency import Count
from refclust.formulas.evidence import Evidence
from refclust.formulas.judged import Probabilities
from refclust.metrics import catalogue
from refclust.metrics.calls.confusions import confusion
from refclust.metrics.calls.label_sets import label_sets
from refclust.metrics.calls.probabilities import probabilities
from refclust.metrics.drawn import report_frame, report_html
from refclust.metrics.score import Score, evaluate

__all__ = ["ClassRow", "Report", "classification_report", "per_class"]

_BUILDERS: Final = {
    "confusion": confusion,
    "probabilities": probabilities,
    "label_sets": label_sets,
}
_COLUMNS: Final = ("precision", "recall", "f1")


@spelled
def per_class(
    key: str, truth: Any, predicted: Any = None, *, profile: str | None = None, **keywords: Any
) -> dict[Hashable, Score]:
    """Score each class, or each label, by itself.

    A metric of the whole table, such as ``mcc``, is asked of the table of a class and all others.

    Spec: CE-CLASSPR, PB-OVR

    >>> per_class("recall", "xxyy", "xyyy")
    {'x': Score(0.5), 'y': Score(1.0)}
    """
    entry, options = catalogue.parse_key(key)
    averages = "average" in entry.options
    if entry.evidence not in _BUILDERS or not (averages or entry.evidence == "confusion"):
        raise BadOption(f"{entry.name} is a number of the whole, not of each class")
    evidence = _BUILDERS[entry.evidence](truth, predicted, **keywords)  # type: ignore[operator]
    if averages and entry.evidence != "probabilities":
        average = "binary" if entry.evidence == "confusion" else "macro"
        options = {**options, "average": average}
    return {
        label: evaluate(entry, part, dict(options), profile=profile)
        for label, part in _alone(evidence, averages=averages).items()
    }


def _alone(
    evidence: Confusion | Probabilities | LabelSets, *, averages: bool
) -> dict[Hashable, Evidence]:
    """The evidence of each class by itself."""
    if isinstance(evidence, Confusion):
        names = evidence.labels[: evidence.named]
        alone = evidence.against_rest if averages else evidence.collapsed
        return {label: alone(k) for k, label in enumerate(names)}
    names = evidence.classes if isinstance(evidence, Probabilities) else evidence.labels
    return {label: evidence.alone(k) for k, label in enumerate(names)}


@dataclass(frozen=True, slots=True)
class ClassRow:
    """A line of a report: of a class, or of an average over classes."""

    name: Hashable
    precision: Score
    recall: Score
    f1: Score
    support: Count


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """What there is to say of predicted classes at a glance, as data."""

    confusion: Confusion
    accuracy: Score
    classes: tuple[ClassRow, ...]
    averages: tuple[ClassRow, ...]  # micro, macro and weighted

    def __repr__(self) -> str:
        count = len(self.classes)
        return f"<Report: {count} classes, accuracy {self.accuracy}>"

    def _repr_html_(self) -> str:
        """The report for a notebook.

        Spec: OUT-HTML
        """
        return report_html(self)

    def to_frame(self) -> Any:
        """A ``pandas.DataFrame``, a row for each class and for each average."""
        return report_frame(self)


@spelled
def classification_report(
    labels_true: Any, labels_pred: Any = None, *, profile: str | None = None, **keywords: Any
) -> Report:
    """Precision, recall and F1 of each class and their averages, with the sizes of the classes.

    Spec: CE-CLASSPR, CE-AVERAGE, CE-ACC

    >>> report = classification_report("xxyy", "xyyy")
    >>> [(row.name, row.recall.fraction, row.support) for row in report.averages[1:]]
    [('macro', Fraction(3, 4), 4), ('weighted', Fraction(3, 4), 4)]
    """
    table = confusion(labels_true, labels_pred, **keywords)
    named = range(table.named)
    classes = tuple(
        _row(table.labels[k], table.against_rest(k), "binary", table.row[k], profile) for k in named
    )
    support = sum(table.row[k] for k in named)
    averages = tuple(
        _row(average, table, average, support, profile)
        for average in ("micro", "macro", "weighted")
    )
    accuracy = evaluate(catalogue.find("accuracy"), table, {}, profile=profile)
    return Report(table, accuracy, classes, averages)


def _row(
    name: Hashable, table: Confusion, average: str, support: Count, profile: str | None
) -> ClassRow:
    precision, recall, f1 = (
        evaluate(catalogue.find(key), table, {"average": average}, profile=profile)
        for key in _COLUMNS
    )
    return ClassRow(name, precision, recall, f1, support)
