"""What chapter 51 is given: several judgements of each object, some of which may be missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from refclust.errors import BadNumber
from refclust.formulas.contingency import Count, ordered_labels
from refclust.formulas.evidence import Grid, Kind, objects
from refclust.numbers.reading import counted, exact_value, shown

Judgements = tuple[Hashable | None, ...]  # of one object, rater by rater; None is missing


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Judgements, counted: objects that were judged alike stand once.

    Spec: CONV-EVIDENCE, AG-UNITS

    >>> ratings = Ratings.of([["x", "x"], ["x", "y"], ["y", None]])
    >>> ratings.categories, ratings.units
    (('x', 'y'), {(2, 0): 1, (1, 1): 1, (0, 1): 1})
    """

    categories: tuple[Hashable, ...]  # in their order
    units: Mapping[tuple[int, ...], Count]  # judgements by category: how many objects have them
    names: tuple[str, ...] = ()  # of the raters, where it is known who said what
    patterns: Mapping[Judgements, Count] = field(default_factory=dict)  # who said what: how often

    @classmethod
    def of(
        cls,
        judgements: Sequence[Judgements] | Sequence[Sequence[Hashable | None]],
        *,
        categories: Sequence[Hashable] | None = None,
        names: Sequence[str] | None = None,
        weights: Sequence[Count] | None = None,
    ) -> Ratings:
        """Count judgements: rows are objects, columns are raters, None is a missing judgement."""
        said = (judgement for row in judgements for judgement in row if judgement is not None)
        order = tuple(ordered_labels(said) if categories is None else categories)
        patterns: dict[Judgements, Count] = {}
        units: dict[tuple[int, ...], Count] = {}
        for i, row in enumerate(judgements):
            times = 1 if weights is None else weights[i]
            tally = Counter(row)
            unit = tuple(tally[category] for category in order)
            if times:
                patterns[tuple(row)] = patterns.get(tuple(row), 0) + times
                units[unit] = units.get(unit, 0) + times
        raters = len(judgements[0]) if judgements else 0
        letters = [chr(ord("A") + i) if i < 26 else f"A{i}" for i in range(raters)]
        return cls(order, units, tuple(letters if names is None else names), patterns)

    @classmethod
    def of_counts(
        cls,
        counts: Sequence[Sequence[int]],
        *,
        categories: Sequence[Hashable] | None = None,
        weights: Sequence[Count] | None = None,
    ) -> Ratings:
        """Take how often each category was said: rows are objects, columns are categories."""
        width = len(counts[0]) if counts else 0
        units: dict[tuple[int, ...], Count] = {}
        for i, row in enumerate(counts):
            times = 1 if weights is None else weights[i]
            if times:
                units[tuple(row)] = units.get(tuple(row), 0) + times
        return cls(tuple(range(1, width + 1) if categories is None else categories), units)

    @property
    def kind(self) -> Kind:
        """Several judgements of each object."""
        return "raters"

    @property
    def is_empty(self) -> bool:
        """Whether there is no object at all."""
        return not self.units

    @property
    def is_integer(self) -> bool:
        """Whether every object counts a whole number of times."""
        return all(times.denominator == 1 for times in self.units.values())

    @property
    def is_small(self) -> bool:
        """Whether looking for a simpler exact form of a value is quick."""
        return len(self.units) <= 1000

    @property
    def total(self) -> Count:
        """How many objects were judged."""
        return sum(self.units.values())

    @property
    def q(self) -> int:
        """How many categories there are."""
        return len(self.categories)

    @property
    def values(self) -> tuple[Fraction, ...]:
        """The categories as numbers, for scales on which differences mean something."""
        numbers = [exact_value(category, "a category") for category in self.categories]
        for category, number in zip(self.categories, numbers, strict=True):
            if number is None:
                raise BadNumber(f"the category {shown(category)} is no number, as this scale needs")
        return tuple(number for number in numbers if number is not None)

    def size(self) -> str:
        """How much there is, in words."""
        raters = f", {counted(len(self.names), 'rater')}" if self.names else ""
        categories = "1 category" if self.q == 1 else f"{self.q:,} categories"
        return f"{objects(self.total)}{raters}, {categories}"

    def grid(self) -> Grid | None:
        """How often each category was said, by whom where that is known."""
        if not self.names:
            said = [
                (category, (sum(unit[k] * times for unit, times in self.units.items()),))
                for k, category in enumerate(self.categories)
            ]
            return Grid("rows are categories", ("judgements",), tuple(said))
        by_rater: dict[tuple[Hashable, int], Count] = {}
        for pattern, times in self.patterns.items():
            for j, category in enumerate(pattern):
                if category is not None:
                    by_rater[category, j] = by_rater.get((category, j), 0) + times
        rows = tuple(
            (category, tuple(by_rater.get((category, j), 0) for j in range(len(self.names))))
            for category in self.categories
        )
        return Grid("rows are categories, columns are raters", self.names, rows)
