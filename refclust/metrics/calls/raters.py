"""Measures of agreement as calls on the judgements of several raters (chapter 51)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from refclust.data.accepting.door import labels_of
from refclust.data.accepting.spellings import spelled
from refclust.data.accepting.trust import items
from refclust.errors import (
    BadLabel,
    BadOption,
    BadTable,
    EmptyInput,
    RaggedRows,
    RefclustError,
    WrongCount,
)
from refclust.formulas.contingency import exact_count, listed, ordered_labels
from refclust.formulas.raters import Ratings
from refclust.metrics import catalogue
from refclust.metrics.catalogue import Entry, Formula
from refclust.metrics.contingency import exact_weights
from refclust.metrics.score import Score, evaluate
from refclust.numbers.reading import exact_value, shown

__all__ = ["RaterMetric", "rater_metric", "ratings", "ratings_of_counts"]


@dataclass(frozen=True, slots=True)
class RaterMetric:
    """A measure of agreement, ready to be called on judgements or on a table of counts."""

    entry: Entry

    @spelled
    def __call__(
        self,
        judgements: Any = None,
        *,
        counts: Any = None,
        categories: Iterable[Hashable] | None = None,
        missing: Hashable = None,
        weights: Iterable[Any] | None = None,
        profile: str | None = None,
        **options: Any,
    ) -> Score:
        """Measure how far raters agree: rows are objects, columns are raters, None is missing.

        Or give ``counts``: rows are objects, columns are categories, and the numbers say how many
        raters put the object into the category.
        """
        if (judgements is None) == (counts is None):
            raise BadOption("give either judgements (objects × raters) or counts= (× categories)")
        if counts is None:
            evidence = ratings(judgements, categories=categories, missing=missing, weights=weights)
        else:
            evidence = ratings_of_counts(counts, categories=categories, weights=weights)
        return evaluate(self.entry, evidence, options, profile=profile)

    def __repr__(self) -> str:
        return f"<refclust metric {self.entry.name}>"


def rater_metric(formula: Formula) -> RaterMetric:
    """Return the measure of agreement that a formula declares."""
    return RaterMetric(catalogue.ENTRIES[formula.__name__])


def ratings(
    judgements: Any,
    *,
    categories: Iterable[Hashable] | None = None,
    names: Sequence[str] | None = None,
    missing: Hashable = None,
    weights: Iterable[Any] | None = None,
) -> Ratings:
    """Count what raters said of the same objects: rows are objects, columns are raters.

    None, NaN and the value ``missing`` stand for a judgement that was not made. Categories are
    ordered by size where all of them are numbers, else as ``categories`` says or sorted.

    Spec: CONV-EVIDENCE, AG-UNITS

    >>> ratings([["x", "x", "*"], ["y", None, "x"]], missing="*").units
    {(2, 0): 1, (1, 1): 1}
    """
    rows = [_cells(row, i, missing) for i, row in enumerate(_rows(judgements))]
    if not rows:
        raise EmptyInput("there is no object to judge")
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise RaggedRows(f"object {i} has {len(row)} judgements, object 0 has {len(rows[0])}")
    if len(rows[0]) < 2:
        raise WrongCount(f"{len(rows[0])} raters; agreement needs at least 2")
    said = [judgement for row in rows for judgement in row if judgement is not None]
    order = _ordered(said) if categories is None else _distinct(categories)
    for judgement in said:
        if judgement not in order:
            raise BadLabel(f"a judgement is {shown(judgement)}, none of the given categories")
    times = None if weights is None else exact_weights(weights, len(rows))
    return Ratings.of(rows, categories=order, names=names, weights=times)


def ratings_of_counts(
    counts: Any,
    *,
    categories: Iterable[Hashable] | None = None,
    weights: Iterable[Any] | None = None,
) -> Ratings:
    """How often each category was said of each object: rows are objects, columns categories.

    Spec: CONV-EVIDENCE, AG-UNITS

    >>> ratings_of_counts([[3, 0], [2, 1]]).total
    2
    """
    rows = [_whole(row, i) for i, row in enumerate(_rows(counts))]
    if not rows:
        raise EmptyInput("there is no object to judge")
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise RaggedRows(f"object {i} has {len(row)} counts, object 0 has {len(rows[0])}")
    order = None if categories is None else _distinct(categories)
    if order is not None and len(order) != len(rows[0]):
        raise WrongCount(f"{len(order)} categories for {len(rows[0])} columns of counts")
    times = None if weights is None else exact_weights(weights, len(rows))
    return Ratings.of_counts(rows, categories=order, weights=times)


def _rows(table: Any) -> list[Any]:
    def refusal() -> RefclustError:
        return BadTable(f"rows of judgements, one for each object, are needed, not {shown(table)}")

    if isinstance(table, str | bytes):
        raise refusal()
    return items(listed(table), refusal)


def _cells(row: Any, i: int, missing: Hashable) -> tuple[Hashable | None, ...]:
    def refusal() -> RefclustError:
        return BadTable(f"object {i} is {shown(row)}; its judgements, one a rater, are needed")

    cells = items(listed(row), refusal)
    kept = [None if _is_missing(cell, missing) else cell for cell in cells]
    return labels_of(kept)


def _is_missing(cell: Any, missing: Hashable) -> bool:
    if cell is None or (isinstance(cell, float) and cell != cell):
        return True
    try:
        return missing is not None and bool(cell == missing)
    except (TypeError, ValueError):
        return False


def _whole(row: Any, i: int) -> tuple[int, ...]:
    def refusal() -> RefclustError:
        return BadTable(f"object {i} is {shown(row)}; its counts, one a category, are needed")

    counts = []
    for k, cell in enumerate(items(listed(row), refusal)):
        count = exact_count(cell, f"the count of object {i}, category {k}", BadTable)
        if count.denominator != 1:
            raise BadTable(f"the count of object {i}, category {k} is {shown(count)}, not whole")
        counts.append(int(count))
    return tuple(counts)


def _ordered(said: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Categories by size where all are numbers, or texts that read as numbers; else sorted."""
    order = ordered_labels(said)
    numbers = {category: exact_value(category, "a category") for category in order}
    if any(number is None for number in numbers.values()):
        return order
    return tuple(sorted(order, key=lambda category: numbers[category]))  # type: ignore[arg-type, return-value]


def _distinct(categories: Iterable[Hashable]) -> tuple[Hashable, ...]:
    order = labels_of(categories)
    if len(set(order)) != len(order) or None in order:
        raise BadOption(f"categories={shown(list(order))}: each is named once, and none is None")
    return order
