"""Metrics of predicted classes as calls on labels, or on a confusion table (chapter 50)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from refclust.backends.session import Session
from refclust.data.accepting.door import labels_of
from refclust.data.accepting.spellings import spelled
from refclust.data.accepting.trust import items
from refclust.errors import BadNumber, BadOption, BadTable, WrongCount
from refclust.formulas.confusion import Confusion
from refclust.formulas.contingency import Cell, Count, cells_of_rows, listed
from refclust.metrics import catalogue
from refclust.metrics.catalogue import Entry, Formula
from refclust.metrics.contingency import contingency
from refclust.metrics.score import Score, evaluate, evaluate_all
from refclust.numbers.reading import exact_value, refuse_long, shown

__all__ = [
    "OTHERS",
    "UNSAID",
    "ConfusionMetric",
    "confusion",
    "confusion_metric",
    "score_predictions",
]

OTHERS: Final = ("keep", "drop")  # objects of classes that labels=… does not name


class _Unsaid:
    """Stands for: no positive class was named (``None`` may be a class)."""

    def __repr__(self) -> str:
        return "UNSAID"


UNSAID: Final = _Unsaid()


@dataclass(frozen=True, slots=True)
class ConfusionMetric:
    """A metric of predicted classes, ready to be called on labels or on a confusion table."""

    entry: Entry

    @spelled
    def __call__(
        self,
        labels_true: Any,
        labels_pred: Any = None,
        *,
        labels: Iterable[Hashable] | None = None,
        weights: Iterable[Any] | None = None,
        positive: Hashable = UNSAID,
        others: str = "keep",
        costs: Any = None,
        profile: str | None = None,
        backend: str | None = None,
        **options: Any,
    ) -> Score:
        """Score predicted classes against the true ones, or a table with the truth in its rows."""
        session = Session(backend)
        evidence = confusion(
            labels_true,
            labels_pred,
            labels=labels,
            weights=weights,
            positive=positive,
            others=others,
            costs=costs,
            session=session,
        )
        return evaluate(self.entry, evidence, options, profile=profile, session=session)

    def __repr__(self) -> str:
        return f"<refclust metric {self.entry.name}>"


def confusion_metric(formula: Formula) -> ConfusionMetric:
    """Return the metric of predicted classes that a formula declares."""
    return ConfusionMetric(catalogue.ENTRIES[formula.__name__])


def score_predictions(
    labels_true: Any,
    labels_pred: Any = None,
    *,
    profile: str | None = None,
    backend: str | None = None,
    **keywords: Any,
) -> dict[str, Score]:
    """Score predicted classes with every metric that they allow, at its default options.

    Spec: CONV-SCORE

    >>> score_predictions("xxyy", "xyyy")["accuracy"].fraction
    Fraction(3, 4)
    """
    session = Session(backend)
    evidence = confusion(labels_true, labels_pred, session=session, **keywords)
    return evaluate_all(evidence, profile=profile, session=session)


@spelled
def confusion(
    labels_true: Any,
    labels_pred: Any = None,
    *,
    labels: Iterable[Hashable] | None = None,
    weights: Iterable[Any] | None = None,
    positive: Hashable = UNSAID,
    others: str = "keep",
    costs: Any = None,
    session: Session | None = None,
) -> Confusion:
    """Count predicted classes against the true ones, or take a table with the truth in its rows.

    Spec: CE-CMK, CE-POSITIVE, CE-OTHERS

    >>> confusion("xxyy", "xyyy", labels="yx").rows()
    [[2, 0], [1, 1]]
    """
    names = None if labels is None else _distinct(labels)
    if isinstance(labels_true, Confusion):
        _refuse_extra(labels_pred, weights, names)
        table = labels_true
    elif labels_pred is None:
        _refuse_extra(labels_pred, weights, None)
        table = Confusion.of_cells(*_of_table(labels_true, names))
    else:
        counted = contingency(labels_true, labels_pred, weights=weights, session=session)
        cells: dict[Cell, Count] = {
            (counted.classes[j], counted.clusters[i]): n_ij for (i, j), n_ij in counted.cells()
        }
        table = Confusion.of_cells(cells, names)
    if others not in OTHERS:
        raise BadOption(f"others={shown(others)}; allowed: {', '.join(map(repr, OTHERS))}")
    if others == "drop":
        table = table.without_others().with_usual_positive()
    if positive is not UNSAID:
        table = table.with_positive(positive)
    return table if costs is None else replace(table, costs=_costs(costs, table))


def _distinct(labels: Iterable[Hashable]) -> tuple[Hashable, ...]:
    names = labels_of(labels)
    if not names:
        raise BadOption("labels names no class")
    twice = next((name for i, name in enumerate(names) if name in names[:i]), UNSAID)
    if twice is not UNSAID:
        raise BadOption(f"labels names {shown(twice)} twice")
    return names


def _refuse_extra(labels_pred: Any, weights: Any, names: tuple[Hashable, ...] | None) -> None:
    for name, value in (("labels_pred", labels_pred), ("weights", weights), ("labels", names)):
        if value is not None:
            raise BadOption(f"{name} goes with labels; a table has it already")


def _of_table(
    rows: Any, names: tuple[Hashable, ...] | None
) -> tuple[dict[Cell, Count], tuple[Hashable, ...]]:
    """The cells of a square table by the names of its classes, and those names."""
    cells = cells_of_rows(rows)
    height = 1 + max((i for i, _ in cells), default=-1)
    width = 1 + max((j for _, j in cells), default=-1)
    if height != width:
        raise BadTable(
            f"a confusion table has a row and a column for each class, not {height} rows and "
            f"{width} columns"
        )
    classes = tuple(range(height)) if names is None else names
    if len(classes) != height:
        raise WrongCount(f"{len(classes)} labels for a table of {height} classes")
    return {(classes[i], classes[j]): n_ij for (i, j), n_ij in cells.items()}, classes


def _costs(costs: Any, table: Confusion) -> tuple[tuple[Fraction, ...], ...]:
    """Read what each mistake costs: a row for each true class, a column for each predicted one."""
    size = len(table.labels)

    def refusal() -> BadNumber:
        return BadNumber(f"costs is {shown(costs)}, not a sequence of rows of numbers")

    rows = [items(listed(row), refusal) for row in items(listed(costs), refusal)]
    if len(rows) != size or any(len(row) != size for row in rows):
        raise WrongCount(
            f"costs needs {size} rows of {size} numbers, for the classes {table.names()}"
        )
    matrix = tuple(
        tuple(_cost(value, i, j) for j, value in enumerate(row)) for i, row in enumerate(rows)
    )
    refuse_long([cost for row in matrix for cost in row], "exact arithmetic with these costs")
    return matrix


def _cost(value: Any, i: int, j: int) -> Fraction:
    number = exact_value(value, f"the cost ({i}, {j})")
    if number is None:
        raise BadNumber(f"the cost ({i}, {j}) is {shown(value)}, not a finite number")
    return number
