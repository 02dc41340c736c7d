"""What a metric is given: the evidence behind a score, of any kind (chapter 00, CONV-EVIDENCE).

A contingency table is one kind; rows with a labelling, a confusion table, judged probabilities,
raters, and several classifiers on one test set are others. The formulas know their own kind; what
stands around them (scores, explanations, the command line) asks only what ``Evidence`` offers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, Protocol, TypeAlias

from refclust.numbers.reading import counted, told

Kind: TypeAlias = Literal[
    "labelings",  # a clustering against the truth: a contingency table
    "rows",  # rows and one labelling
    "proximities",  # rows and one labelling, or proximities and one labelling
    "memberships",  # shares of objects in clusters
    "two_memberships",  # shares of the same objects in the clusters of two clusterings
    "confusion",  # predicted classes against the truth: a confusion table
    "probabilities",  # scores or probabilities against the truth
    "label_sets",  # several labels an object, predicted and true
    "raters",  # several judgements of each object
    "classifiers",  # two or more classifiers on one test set
    "measurements",  # what several methods reached in several trials
]

LARGEST_GRID: Final = 15  # rows or columns; a larger table is told in words


@dataclass(frozen=True, slots=True)
class Grid:
    """A small table of numbers with names, to be shown beside a score."""

    caption: str  # such as: rows are clusters, columns are classes
    columns: tuple[object, ...]
    rows: tuple[tuple[object, tuple[int | Fraction, ...]], ...]
    row_sums: tuple[int | Fraction, ...] | None = None
    column_sums: tuple[int | Fraction, ...] | None = None
    total: int | Fraction | None = None

    @property
    def is_large(self) -> bool:
        """Whether the table is too large to be read."""
        return max(len(self.rows), len(self.columns)) > LARGEST_GRID


class Evidence(Protocol):
    """What every kind of evidence can say about itself."""

    @property
    def kind(self) -> Kind:
        """Which kind of metric can use it."""
        ...

    @property
    def is_empty(self) -> bool:
        """Whether there is no object at all."""
        ...

    @property
    def is_integer(self) -> bool:
        """Whether every count or weight is a whole number."""
        ...

    @property
    def is_small(self) -> bool:
        """Whether looking for a simpler exact form of a value is quick."""
        ...

    @property
    def total(self) -> int | Fraction:
        """How many objects there are, or how much they weigh."""
        ...

    def size(self) -> str:
        """How much there is, in words."""
        ...

    def grid(self) -> Grid | None:
        """A table worth showing, if there is one."""
        ...


def objects(total: int | Fraction) -> str:
    """How many objects there are, or how much they weigh, in words.

    >>> objects(1200), objects(Fraction(7, 2))
    ('1,200 objects', 'a weight of 7/2')
    """
    if total.denominator != 1:
        return f"a weight of {told(total)}"
    return counted(total.numerator, "object")
