"""Metrics of objects with several labels, as calls on sets of labels (chapter 50)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from refclust.data.accepting.door import labels_of
from refclust.data.accepting.spellings import spelled
from refclust.data.accepting.trust import items
from refclust.errors import BadLabel, BadOption, LabelLengthMismatch, NotBinary, WrongCount
from refclust.formulas.confusion import LabelSets
from refclust.formulas.contingency import listed
from refclust.metrics import catalogue
from refclust.metrics.catalogue import Entry, Formula
from refclust.metrics.contingency import exact_weights
from refclust.metrics.score import Score, evaluate
from refclust.numbers.reading import shown

__all__ = ["LabelSetMetric", "label_set_metric", "label_sets", "sets_of"]


@dataclass(frozen=True, slots=True)
class LabelSetMetric:
    """A metric of predicted sets of labels, ready to be called on the sets."""

    entry: Entry

    @spelled
    def __call__(
        self,
        sets_true: Any,
        sets_pred: Any = None,
        *,
        labels: Iterable[Hashable] | None = None,
        weights: Iterable[Any] | None = None,
        indicators: bool = False,
        profile: str | None = None,
        **options: Any,
    ) -> Score:
        """Score predicted sets of labels against the true ones."""
        evidence = label_sets(
            sets_true, sets_pred, labels=labels, weights=weights, indicators=indicators
        )
        return evaluate(self.entry, evidence, options, profile=profile)

    def __repr__(self) -> str:
        return f"<refclust metric {self.entry.name}>"


def label_set_metric(formula: Formula) -> LabelSetMetric:
    """Return the metric of sets of labels that a formula declares."""
    return LabelSetMetric(catalogue.ENTRIES[formula.__name__])


def label_sets(
    sets_true: Any,
    sets_pred: Any = None,
    *,
    labels: Iterable[Hashable] | None = None,
    weights: Iterable[Any] | None = None,
    indicators: bool = False,
) -> LabelSets:
    """Take the true and the predicted labels of each object.

    Each object has a collection of labels, or with ``indicators`` a row of 0 and 1, a column for
    each label.

    Spec: CE-SETS

    >>> label_sets([["a", "b"], []], [["a"], ["b"]]).tally(1)
    Tally(tp=0, fp=1, fn=1, tn=0)
    """
    if isinstance(sets_true, LabelSets):
        if sets_pred is not None or labels is not None or weights is not None:
            raise BadOption("sets of labels that are evidence already take nothing beside them")
        return sets_true
    names = None if labels is None else labels_of(labels)
    truth, predicted = (
        _of_indicators(sets, side, names) if indicators else sets_of(sets, side, names)
        for sets, side in ((sets_true, "true"), (sets_pred, "predicted"))
    )
    if len(truth) != len(predicted):
        raise LabelLengthMismatch(
            f"{len(truth)} true and {len(predicted)} predicted sets of labels: both must be of the "
            "same objects"
        )
    if names is None and indicators and truth:
        names = tuple(range(len(_row(listed(sets_true)[0], "true", 0))))
    counts = None if weights is None else exact_weights(weights, len(truth))
    return LabelSets.of(truth, predicted, names, counts)


def sets_of(sets: Any, side: str, names: tuple[Hashable, ...] | None) -> list[frozenset[Hashable]]:
    """Take a collection of labels for each object, all of them among the names, if there are any.

    Spec: CE-SETS

    >>> sets_of([["a"], []], "true", None)
    [frozenset({'a'}), frozenset()]
    """
    collections = []
    for i, labels in enumerate(_objects(sets, side)):
        label_set = frozenset(labels_of(_row(labels, side, i)))
        strange = label_set.difference(label_set if names is None else names)
        if strange:
            raise BadOption(
                f"the {side} labels of object {i} hold {shown(min(strange, key=repr))}, which "
                "labels=… does not name"
            )
        collections.append(label_set)
    return collections


def _of_indicators(
    rows: Any, side: str, names: tuple[Hashable, ...] | None
) -> list[frozenset[Hashable]]:
    """Take a row of 0 and 1 for each object."""
    sets = []
    width = None if names is None else len(names)
    for i, cells in enumerate(_row(row, side, i) for i, row in enumerate(_objects(rows, side))):
        width = len(cells) if width is None else width
        if len(cells) != width:
            raise WrongCount(
                f"the {side} indicators of object {i} are {len(cells)}; {width} labels need {width}"
            )
        if not all(cell in (0, 1) for cell in cells):
            raise NotBinary(f"the {side} indicators of object {i} are not all 0 or 1")
        columns: tuple[Hashable, ...] = tuple(range(width)) if names is None else names
        sets.append(frozenset(name for name, cell in zip(columns, cells, strict=True) if cell))
    return sets


def _objects(sets: Any, side: str) -> list[Any]:
    def refusal() -> BadLabel:
        return BadLabel(f"the {side} sets of labels are {shown(sets)}, not a sequence of them")

    return items(listed(sets), refusal)


def _row(labels: Any, side: str, i: int) -> list[Any]:
    def refusal() -> BadLabel:
        return BadLabel(
            f"the {side} labels of object {i} are {shown(labels)}, not a collection of labels"
        )

    if isinstance(labels, str):  # whose letters are hardly meant
        raise refusal()
    return items(listed(labels), refusal)
