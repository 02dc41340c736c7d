"""What chapter 50 is given: confusion tables, rows true and columns predicted; sets of labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from refclust.errors import BadOption
from refclust.formulas.contingency import Count, ordered_labels
from refclust.formulas.evidence import LARGEST_GRID, Grid, Kind, objects
from refclust.numbers.reading import counted, shown
from refclust.numbers.real import Real

Cells: TypeAlias = Mapping[tuple[int, int], Count]
NUMBERS: Final = (int, float, Fraction)
_SMALL: Final = 64  # cells
# Where the classes are those of one of these pairs, the second is the positive class.
_USUAL_PAIRS: Final[tuple[tuple[Hashable, Hashable], ...]] = (
    (0, 1),  # which False and True are equal to
    (-1, 1),
    ("0", "1"),
    ("-1", "1"),
    ("False", "True"),
    ("false", "true"),
)


class Tally(NamedTuple):
    """How one class fares against the rest: true and false positives and negatives."""

    tp: Count | Real
    fp: Count | Real
    fn: Count | Real
    tn: Count | Real


@dataclass(frozen=True, slots=True, eq=False)
class Confusion:
    """How many objects of each true class were predicted as each class.

    Spec: CE-CMK, CONV-EVIDENCE

    >>> confusion = Confusion.of("xxyy", "xyyy")
    >>> confusion.rows(), confusion.row, confusion.col, confusion.right
    ([[1, 1], [0, 2]], (2, 2), (1, 3), 3)
    """

    labels: tuple[Hashable, ...]  # the classes of rows and columns, in their order
    counts: Cells  # (true, predicted): how many; no zeros
    named: int  # averages are over so many classes, the first ones
    positive: int | None = None  # the class that binary metrics look at
    costs: tuple[tuple[Fraction, ...], ...] | None = None  # of predicting l where k is true
    in_order: bool = False  # whether the order of the classes means something
    row: tuple[Count, ...] = field(init=False, repr=False)
    col: tuple[Count, ...] = field(init=False, repr=False)
    total: Count = field(init=False, repr=False)
    right: Count = field(init=False, repr=False)  # objects whose class was predicted

    def __post_init__(self) -> None:
        row: list[Count] = [0] * len(self.labels)
        col: list[Count] = [0] * len(self.labels)
        for (k, l), n_kl in self.counts.items():  # noqa: E741  (the letters of the clause)
            row[k] += n_kl
            col[l] += n_kl
        for name, value in (("row", tuple(row)), ("col", tuple(col)), ("total", sum(row))):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "right", sum(map(self.diagonal, range(len(row)))))

    @classmethod
    def of(
        cls,
        truth: Sequence[Hashable],
        predicted: Sequence[Hashable],
        labels: Sequence[Hashable] | None = None,
        weights: Sequence[Count] | None = None,
    ) -> Confusion:
        """Count predicted classes against the true ones."""
        cells: Counter[tuple[Hashable, Hashable]] = Counter()
        for i, cell in enumerate(zip(truth, predicted, strict=True)):
            cells[cell] += 1 if weights is None else weights[i]  # type: ignore[assignment]
        return cls.of_cells(cells, labels)

    @classmethod
    def of_cells(
        cls,
        cells: Mapping[tuple[Hashable, Hashable], Count],
        labels: Sequence[Hashable] | None = None,
    ) -> Confusion:
        """Take counts of (true, predicted) classes; classes that ``labels`` lacks follow it."""
        kept = {cell: count for cell, count in cells.items() if count}
        seen = ordered_labels(label for cell in kept for label in cell)
        first = seen if labels is None else tuple(labels)
        names = (*first, *(label for label in seen if label not in set(first)))
        place = {label: k for k, label in enumerate(names)}
        counts = {(place[y], place[z]): count for (y, z), count in kept.items()}
        in_order = labels is not None or all(isinstance(y, NUMBERS) for y in names)
        table = cls(names, dict(sorted(counts.items())), len(first), in_order=in_order)
        return table.with_usual_positive()

    def with_usual_positive(self) -> Confusion:
        """The same table, with its positive class where the classes leave no doubt.

        A class that does not occur joins the table then, but no average counts it.
        """
        pair = usual_pair(self.labels)
        if pair is None:
            return self
        positive = pair[1]
        names = self.labels if positive in self.labels else (*self.labels, positive)
        return replace(self, labels=names, positive=names.index(positive))

    def with_positive(self, label: Hashable) -> Confusion:
        """The same table, with another positive class."""
        if label not in self.labels:
            raise BadOption(
                f"positive={shown(label)} is none of the classes {self.names()}; "
                "labels=… can name classes that do not occur"
            )
        return replace(self, positive=self.labels.index(label))

    def against_rest(self, k: int) -> Confusion:
        """The table of one class and all others."""
        return replace(self, positive=k)

    def collapsed(self, k: int) -> Confusion:
        """The table of two classes: one, and all others as one."""
        counts: dict[tuple[int, int], Count] = {}
        for (i, j), n_ij in self.cells():
            cell = int(i == k), int(j == k)
            counts[cell] = counts.get(cell, 0) + n_ij
        return Confusion(("all others", self.labels[k]), dict(sorted(counts.items())), 2, 1)

    def without_others(self) -> Confusion:
        """The objects whose classes, true and predicted, are both named."""
        inside = {cell: count for cell, count in self.counts.items() if max(cell) < self.named}
        kept = self.positive if self.positive is None or self.positive < self.named else None
        return replace(self, labels=self.labels[: self.named], counts=inside, positive=kept)

    @property
    def positive_class(self) -> int:
        """The positive class, where one is known."""
        if self.positive is None:
            raise BadOption(
                f"which of the classes {self.names()} is positive? Say positive=…, or take an "
                "average of all classes: average=macro, micro or weighted"
            )
        return self.positive

    def names(self) -> str:
        """The classes, in words."""
        few = [shown(label) for label in self.labels[:LARGEST_GRID]]
        return ", ".join(few) + (", …" if len(self.labels) > LARGEST_GRID else "")

    def diagonal(self, k: int) -> Count:
        """How many objects of a class were predicted as that class."""
        return self.counts.get((k, k), 0)

    def tally(self, k: int) -> Tally:
        """How a class fares against the rest."""
        tp = self.diagonal(k)
        fp, fn = self.col[k] - tp, self.row[k] - tp
        return Tally(tp, fp, fn, self.total - tp - fp - fn)

    def tallies(self) -> list[Tally]:
        """How each class that averages are over fares against the rest."""
        return [self.tally(k) for k in range(self.named)]

    def cells(self) -> Iterator[tuple[tuple[int, int], Count]]:
        """Yield the cells that are not empty, row by row."""
        return iter(self.counts.items())

    def rows(self) -> list[list[Count]]:
        """The table with its zeros, row by row."""
        full: list[list[Count]] = [[0] * len(self.labels) for _ in self.labels]
        for (k, l), n_kl in self.cells():  # noqa: E741
            full[k][l] = n_kl
        return full

    def transposed(self) -> Confusion:
        """The table with the roles of truth and prediction exchanged."""
        turned = {(l, k): n_kl for (k, l), n_kl in self.cells()}  # noqa: E741
        return replace(self, counts=dict(sorted(turned.items())))

    @property
    def kind(self) -> Kind:
        """Predicted classes against the truth."""
        return "confusion"

    @property
    def has_positive(self) -> bool:
        """Whether a positive class is known."""
        return self.positive is not None

    @property
    def is_empty(self) -> bool:
        """Whether there is no object at all."""
        return not self.counts

    @property
    def is_integer(self) -> bool:
        """Whether every cell is a whole number."""
        return all(n_kl.denominator == 1 for n_kl in self.counts.values())

    @property
    def is_small(self) -> bool:
        """Whether looking for a simpler exact form of a value is quick."""
        return len(self.counts) <= _SMALL

    def size(self) -> str:
        """How much there is, in words."""
        return f"{objects(self.total)} in {counted(len(self.labels), 'class')}"

    def grid(self) -> Grid | None:
        """The table with its margins."""
        if len(self.labels) > LARGEST_GRID:
            return None
        return Grid(
            "rows are true, columns are predicted classes",
            self.labels,
            tuple(zip(self.labels, map(tuple, self.rows()), strict=True)),
            self.row,
            self.col,
            self.total,
        )


@dataclass(frozen=True, slots=True, eq=False)
class LabelSets:
    """Objects with any number of labels each, true and predicted.

    Spec: CONV-EVIDENCE

    >>> sets = LabelSets.of([{"a", "b"}, {"b"}], [{"a"}, set()])
    >>> sets.labels, sets.tally(1), sets.size()
    (('a', 'b'), Tally(tp=0, fp=0, fn=2, tn=0), '2 objects, 2 labels')
    """

    labels: tuple[Hashable, ...]
    truth: tuple[frozenset[int], ...]  # the numbers of the labels of each object
    predicted: tuple[frozenset[int], ...]
    weights: tuple[Count, ...] | None = None

    @classmethod
    def of(
        cls,
        truth: Sequence[frozenset[Hashable] | set[Hashable]],
        predicted: Sequence[frozenset[Hashable] | set[Hashable]],
        labels: Sequence[Hashable] | None = None,
        weights: Sequence[Count] | None = None,
    ) -> LabelSets:
        """Take the sets of labels object by object; ``labels`` may name ones that never occur."""
        seen = ordered_labels(y for side in (truth, predicted) for ys in side for y in sorted_(ys))
        names = seen if labels is None else tuple(labels)
        place = {label: k for k, label in enumerate(names)}
        sides = [
            tuple(frozenset(place[label] for label in labels) for labels in side)
            for side in (truth, predicted)
        ]
        return cls(names, sides[0], sides[1], None if weights is None else tuple(weights))

    def weight(self, i: int) -> Count:
        """How often an object counts."""
        return 1 if self.weights is None else self.weights[i]

    def tally(self, k: int) -> Tally:
        """How a label fares: objects that should have it or not, and got it or not."""
        counts: Counter[tuple[bool, bool]] = Counter()
        for i, (y, z) in enumerate(zip(self.truth, self.predicted, strict=True)):
            counts[k in y, k in z] += self.weight(i)  # type: ignore[assignment]
        order = ((True, True), (False, True), (True, False), (False, False))
        return Tally(*(counts[cell] for cell in order))

    def alone(self, k: int) -> LabelSets:
        """One label by itself."""
        sides = [
            tuple(frozenset([0] if k in labels else []) for labels in side)
            for side in (self.truth, self.predicted)
        ]
        return LabelSets((self.labels[k],), sides[0], sides[1], self.weights)

    def support(self, k: int) -> Count:
        """How many objects should have a label."""
        return sum(self.weight(i) for i, y in enumerate(self.truth) if k in y)

    def tallies(self) -> list[Tally]:
        """How each label fares."""
        return [self.tally(k) for k in range(len(self.labels))]

    @property
    def kind(self) -> Kind:
        """Several labels an object, predicted and true."""
        return "label_sets"

    @property
    def is_empty(self) -> bool:
        """Whether there is no object at all."""
        return not self.total

    @property
    def is_integer(self) -> bool:
        """Whether every weight is a whole number."""
        return self.weights is None or all(w.denominator == 1 for w in self.weights)

    @property
    def is_small(self) -> bool:
        """Whether looking for a simpler exact form of a value is quick."""
        return len(self.truth) <= _SMALL

    @property
    def total(self) -> Count:
        """How many objects there are, or how much they weigh."""
        return sum(map(self.weight, range(len(self.truth))))

    def size(self) -> str:
        """How much there is, in words."""
        return f"{objects(self.total)}, {counted(len(self.labels), 'label')}"

    def grid(self) -> Grid:
        """How each label fares."""
        columns = ("both", "only predicted", "only true", "neither")
        rows = tuple((y, _counts(self.tally(k))) for k, y in enumerate(self.labels))
        return Grid("objects by label", columns, rows)


def _counts(tally: Tally) -> tuple[Count, ...]:
    return tuple(count for count in tally if not isinstance(count, Real))


def usual_pair(labels: Collection[Hashable]) -> tuple[Hashable, Hashable] | None:
    """The negative and the positive class, where the classes leave no doubt.

    Spec: CE-POSITIVE

    >>> usual_pair([True, False]), usual_pair(["yes", "no"])
    ((0, 1), None)
    """
    pairs = (pair for pair in _USUAL_PAIRS if labels and set(pair).issuperset(labels))
    return next(pairs, None)


def sorted_(labels: frozenset[Hashable] | set[Hashable]) -> tuple[Hashable, ...]:
    """The labels of a set in an order that does not change from run to run.

    >>> sorted_({"b", "a"})
    ('a', 'b')
    """
    return ordered_labels(sorted(labels, key=repr))
