"""What chapter 53 is given: classifiers on one test set, or measurements of several methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from refclust.formulas.contingency import Count
from refclust.formulas.evidence import Grid, Kind, objects
from refclust.formulas.vectors import Exact, Number, exact
from refclust.numbers.reading import counted


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The truth and what each classifier said, counted: equal answers stand once.

    Spec: CONV-EVIDENCE

    >>> outcomes = Outcomes.of("xxyy", ["xxyx", "xyyx"])
    >>> outcomes.rights, outcomes.total
    ((3, 2), 4)
    """

    names: tuple[str, ...]
    cells: Mapping[tuple[Hashable, tuple[Hashable, ...]], Count]  # (truth, answers): how often

    @classmethod
    def of(
        cls,
        truth: Sequence[Hashable],
        predictions: Sequence[Sequence[Hashable]],
        *,
        names: Sequence[str] | None = None,
        weights: Sequence[Count] | None = None,
    ) -> Outcomes:
        """Count what classifiers said of the same objects."""
        cells: Counter[tuple[Hashable, tuple[Hashable, ...]]] = Counter()
        answers = zip(*predictions, strict=True)
        for i, cell in enumerate(zip(truth, answers, strict=True)):
            cells[cell] += 1 if weights is None else weights[i]  # type: ignore[assignment]
        kept = {cell: count for cell, count in cells.items() if count}
        letters = [chr(ord("A") + i) if i < 26 else f"A{i}" for i in range(len(predictions))]
        return cls(tuple(letters if names is None else names), kept)

    @classmethod
    def of_counts(cls, a: Count, b: Count, c: Count, d: Count) -> Outcomes:
        """Two classifiers: both wrong, only the first right, only the second right, both right."""
        answers = {(0, 0): a, (1, 0): b, (0, 1): c, (1, 1): d}
        return cls(("A", "B"), {(1, cell): count for cell, count in answers.items() if count})

    @property
    def kind(self) -> Kind:
        """Several classifiers on one test set."""
        return "classifiers"

    @property
    def is_empty(self) -> bool:
        """Whether there is no object at all."""
        return not self.cells

    @property
    def is_integer(self) -> bool:
        """Whether every count is a whole number."""
        return all(count.denominator == 1 for count in self.cells.values())

    @property
    def is_small(self) -> bool:
        """Whether looking for a simpler exact form of a value is quick."""
        return self.total <= 1000

    @property
    def total(self) -> Count:
        """How many objects were classified."""
        return sum(self.cells.values())

    @property
    def patterns(self) -> Mapping[tuple[bool, ...], Count]:
        """How often each pattern of right and wrong answers occurs."""
        counts: dict[tuple[bool, ...], Count] = {}
        for (label, answers), count in self.cells.items():
            pattern = tuple(answer == label for answer in answers)
            counts[pattern] = counts.get(pattern, 0) + count
        return counts

    @property
    def rights(self) -> tuple[Count, ...]:
        """How many answers of each classifier are right."""
        return tuple(
            sum(count for pattern, count in self.patterns.items() if pattern[j])
            for j in range(len(self.names))
        )

    def size(self) -> str:
        """How much there is, in words."""
        return f"{objects(self.total)}, {counted(len(self.names), 'classifier')}"

    def grid(self) -> Grid | None:
        """McNemar's table of two classifiers, the right answers of more."""
        if len(self.names) != 2:
            right = tuple((name, (n,)) for name, n in zip(self.names, self.rights, strict=True))
            return Grid("right answers", ("right",), right)
        first, second = self.names
        of = self.patterns.get
        rows = (
            (f"{first} right", (of((True, True), 0), of((True, False), 0))),
            (f"{first} wrong", (of((False, True), 0), of((False, False), 0))),
        )
        columns = (f"{second} right", f"{second} wrong")
        sums = tuple(sum(numbers) for _, numbers in rows)
        below = tuple(map(sum, zip(*(numbers for _, numbers in rows), strict=True)))
        return Grid("objects by who is right", columns, rows, sums, below, self.total)


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """What each method reached in each trial: rows are folds or data sets, columns are methods.

    Spec: CONV-EVIDENCE

    >>> Measurements.of([[0.5, 0.25], [1, 1]]).differences
    (Fraction(1, 4), Fraction(0, 1))
    """

    names: tuple[str, ...]
    values: tuple[tuple[Exact, ...], ...]

    @classmethod
    def of(
        cls, values: Sequence[Sequence[Number]], names: Sequence[str] | None = None
    ) -> Measurements:
        """Take measurements trial by trial."""
        rows = tuple(tuple(map(exact, row)) for row in values)
        letters = [chr(ord("A") + i) if i < 26 else f"A{i}" for i in range(len(rows[0]))]
        return cls(tuple(letters if names is None else names), rows)

    @property
    def kind(self) -> Kind:
        """Several methods measured in several trials."""
        return "measurements"

    @property
    def is_empty(self) -> bool:
        """Whether there is no trial at all."""
        return not self.values

    @property
    def is_integer(self) -> bool:
        """A trial counts once."""
        return True

    @property
    def is_small(self) -> bool:
        """Whether looking for a simpler exact form of a value is quick."""
        return len(self.values) <= 64

    @property
    def total(self) -> int:
        """How many trials there are."""
        return len(self.values)

    @property
    def differences(self) -> tuple[Exact, ...]:
        """By how much the first method exceeds the second, trial by trial."""
        return tuple(row[0] - row[1] for row in self.values)

    def size(self) -> str:
        """How much there is, in words."""
        return f"{counted(self.total, 'trial')}, {counted(len(self.names), 'method')}"

    def grid(self) -> Grid | None:
        """The measurements, where they are few and rational."""
        if not all(isinstance(value, Fraction) for row in self.values for value in row):
            return None
        rows = tuple((i + 1, row) for i, row in enumerate(self.values))
        return Grid("rows are trials, columns are methods", self.names, rows)  # type: ignore[arg-type]
